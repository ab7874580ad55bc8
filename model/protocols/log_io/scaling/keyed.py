"""A key-based operator: it has a state of its own for each key, which moves with the key.

Rule of this file: no step of a node, and no row of the log.
LOG.io, Section 7.1: "if OP builds a key-based event state, all events with the same key value must
be sent to the same replica".  The key of an event is its type, as the dispatcher has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from model.boxes.box import Fed, Item
from model.boxes.counted import Counted
from model.boxes.triggered import Triggered
from model.errors import Invalid
from model.events import BEGINNING, Body
from model.graph import Graph
from model.protocols.log_io.design import Replicas
from model.protocols.log_io.operators.logic import Each, Gathering, Logic, SetKey, logic_of
from model.protocols.log_io.scaling.share import box_of

STATE = "global state"
"""The key of the Input Set that a moved state is: one event, which makes no output."""


class KeyPart(NamedTuple):
    """The state of an operator for one key.

    counted: inputs that have updated its global state at another replica, by their numbers here.
    """

    key: str
    state: Any
    counted: tuple[int, ...] = ()


class KeyedState(NamedTuple):
    """The state of a key-based operator.  silent: has the newest input updated its global state at
    another replica?  Then it triggers nothing here."""

    parts: tuple[KeyPart, ...] = ()
    silent: bool = False


class MovedState(Body):
    """The global state of a key as an event of the dispatcher: its type is the key."""

    __slots__ = ()

    @property
    def part(self) -> KeyPart | None:
        """None: the replica before has stored none."""
        part: KeyPart | None = self.data[0]
        return part

    def with_numbers(self, numbers: dict[int, int]) -> MovedState:
        """The event after its next move, which gives the events behind it other numbers."""
        part = self.part
        if part is not None:
            part = part._replace(counted=tuple(numbers[one] for one in part.counted))
        return moved_state(self.type, part)


def moved_state(key: str, part: KeyPart | None) -> MovedState:
    return MovedState(BEGINNING, key, (part,))


def has_state(logic: Logic, name: str) -> bool:
    """Does a replica have a global state that its later outputs show?

    Raises Invalid for an operator whose events may be in several Input Sets: an event that moves
    would come into all of them again, also into one that is done.
    """
    match logic:
        case Gathering(Triggered() as box):
            return isinstance(box, Counted) or len(box.limits) > 1
        case Each():
            return bool(logic.begin(1) != ())
    raise Invalid(
        f"log-io: an event of {name} may be in several Input Sets, so no replica of it can come or "
        "go; give an operator of one function"
    )


def is_keyed(replicas: Replicas, graph: Graph) -> bool:
    """Have the replicas a global state, which has to move with its key?"""
    specs = graph.specs
    names = (replicas.first, replicas.second)
    first, second = (has_state(logic_of(box_of(one, specs[one])), one) for one in names)
    return first or second


@dataclass(frozen=True)
class Keyed:
    """The logic of an operator, for each key apart.  The key of an Input Set is (key, its key)."""

    logic: Logic
    functions = 1
    several = True
    overlaps = False

    @property
    def asks(self) -> str:
        return self.logic.asks

    @property
    def gathers(self) -> bool:
        return self.logic.gathers

    def begin(self, _ports: int) -> KeyedState:
        return KeyedState()

    def assign(self, state: KeyedState, item: Item) -> tuple[SetKey, ...]:
        if isinstance(item.body, MovedState):
            return ((item.body.type, STATE),)
        part = self._part(state, item.body.type)
        return tuple((part.key, key) for key in self.logic.assign(part.state, item))

    def update(self, state: KeyedState, item: Item, key: SetKey) -> KeyedState:
        part = self._part(state, key[0])
        if isinstance(item.body, MovedState):
            return _with(state, item.body.part or KeyPart(key[0], self.logic.begin(1)))
        if _number(item) in part.counted:
            return self.gather(state, item, key)._replace(silent=True)
        return _with(state, part._replace(state=self.logic.update(part.state, item, key[1])))

    def gather(self, state: KeyedState, item: Item, key: SetKey) -> KeyedState:
        if isinstance(item.body, MovedState):
            return state
        part = self._part(state, key[0])
        return _with(state, part._replace(state=self.logic.gather(part.state, item, key[1])))

    def ready(self, state: KeyedState, key: SetKey) -> bool:
        inner = self._part(state, key[0]).state
        return not state.silent and (key[1] == STATE or self.logic.ready(inner, key[1]))

    def generate(self, state: KeyedState, key: SetKey) -> tuple[Fed, ...]:
        if key[1] == STATE:
            return (Fed(state),)
        part = self._part(state, key[0])
        fed = self.logic.generate(part.state, key[1])
        return tuple(Fed(_with(state, part._replace(state=one.state)), one.outs) for one in fed)

    def size(self, state: KeyedState, key: SetKey) -> int:
        return 1 if key[1] == STATE else self.logic.size(self._part(state, key[0]).state, key[1])

    def global_state(self, state: KeyedState) -> KeyedState:
        parts = (one._replace(state=self.logic.global_state(one.state)) for one in state.parts)
        return KeyedState(tuple(parts))

    def has_inputs(self, state: KeyedState) -> bool:
        return any(self.logic.has_inputs(one.state) for one in state.parts)

    def newest(self, _edge: int, _key: SetKey) -> tuple[int, int]:
        return 0, 0

    def request(self, sender: str, number: int) -> Any:
        return self.logic.request(sender, number)

    def _part(self, state: KeyedState, key: str) -> KeyPart:
        found = (one for one in state.parts if one.key == key)
        return next(found, KeyPart(key, self.logic.begin(1)))


def _with(state: KeyedState, part: KeyPart) -> KeyedState:
    others = (one for one in state.parts if one.key != part.key)
    return KeyedState(tuple(sorted((*others, part), key=lambda one: one.key)))


def _number(item: Item) -> int:
    """The number of an input on the only port of a replica."""
    (only,) = item.of
    return only.place
