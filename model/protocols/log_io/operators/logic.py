"""An operator as LOG.io sees it: it assigns events to Input Sets, and generates outputs from them.

Rule of this file: no step of a node, and no row of the log; what is particular to a box is here.
LOG.io, Section 2.1: State Update, Triggering, Generation.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import Box, Fed, Item, Moment
from model.boxes.hourly import Hourly
from model.boxes.stateless import AnyOf
from model.boxes.triggered import Functions, Sets, Triggered
from model.core import NodeName
from model.protocols.log_io.messages import Look, Query
from model.protocols.log_io.places import SERVICE
from model.protocols.log_io.writing.lookup import Lookup

SetKey: TypeAlias = Any
"""Distinguishes the Input Sets under way of an operator; each has an InSet_ID besides."""


class Logic(typing.Protocol):
    """The interface of an operator.  A state has the global state and the event states.

    asks: the site that its read actions ask; empty: it has none.  gathers: has an Input Set several
    events?  several: may several Input Sets be under way, so that the order of their events shows?
    functions: the number of its generative functions.  overlaps: may an event be in several Input
    Sets of one function?  The key of an event is then the tuple of the keys of these.
    """

    @property
    def asks(self) -> NodeName: ...
    @property
    def gathers(self) -> bool: ...
    @property
    def several(self) -> bool: ...
    @property
    def functions(self) -> int: ...
    @property
    def overlaps(self) -> bool: ...

    def begin(self, ports: int) -> Any:
        """The state before the first event."""

    def assign(self, state: Any, item: Item) -> tuple[SetKey, ...]:
        """The Input Sets that the event belongs to, one for each function."""

    def update(self, state: Any, item: Item, key: SetKey) -> Any:
        """The state with the event in its global state, and in the event state of an Input Set."""

    def gather(self, state: Any, item: Item, key: SetKey) -> Any:
        """The same, of an event that has updated the global state before."""

    def ready(self, state: Any, key: SetKey) -> bool:
        """The triggering condition: may outputs be generated from the Input Set now?"""

    def generate(self, state: Any, key: SetKey) -> tuple[Fed, ...]:
        """The next state, and the outputs of an Input Set: one answer for each result of a read."""

    def size(self, state: Any, key: SetKey) -> int:
        """How many events the Input Set has."""

    def global_state(self, state: Any) -> Any:
        """The state without its event states, which the undone events make anew."""

    def has_inputs(self, state: Any) -> bool:
        """Does the global state hold inputs of earlier Input Sets?"""

    def newest(self, edge: int, key: SetKey) -> tuple[int, int]:
        """The edge of an event and the place of the function of its Input Set, if there are several
        functions: the conditions of the others may not have seen the event yet."""

    def request(self, sender: NodeName, number: int) -> Any:
        """The read action for an event, as the message to `asks`."""


def logic_of(box: Box) -> Logic:
    """The interface of the operator that a box is."""
    match box:
        case Hourly():
            return Overlapping(box)
        case Functions():
            return Several(box)
        case Triggered():
            return Gathering(box)
        case Lookup():
            return Looking(box)
    return Each(box)


class Fresh(NamedTuple):
    """A state with the event from which outputs are generated at once."""

    before: Any
    item: Item


@dataclass(frozen=True)
class Each:
    """An operator of which each event is an Input Set of its own; all its state is global."""

    box: Box
    gathers = several = overlaps = False
    functions = 1

    @property
    def asks(self) -> NodeName:
        return SERVICE if isinstance(self.box, AnyOf) else ""

    def begin(self, ports: int) -> Any:
        return self.box.begin(ports)

    def assign(self, _state: Any, item: Item) -> tuple[SetKey, ...]:
        return (item.of,)

    def update(self, state: Any, item: Item, _key: SetKey) -> Fresh:
        return Fresh(state, item)

    gather = update

    def ready(self, _state: Fresh, _key: SetKey) -> bool:
        return True

    def generate(self, state: Fresh, _key: SetKey) -> tuple[Fed, ...]:
        return self.box.feed(state.before, state.item)

    def size(self, _state: Fresh, _key: SetKey) -> int:
        return 1

    def global_state(self, state: Any) -> Any:
        return state

    def has_inputs(self, state: Any) -> bool:
        return bool(state != ())

    def newest(self, _edge: int, _key: SetKey) -> tuple[int, int]:
        return 0, 0

    def request(self, _sender: NodeName, _number: int) -> Query | Look:
        return Query()


@dataclass(frozen=True)
class Looking(Each):
    """An operator that reads what the operator before it has written (Section 3.5.1)."""

    box: Lookup

    @property
    def asks(self) -> NodeName:
        return self.box.system

    def generate(self, state: Fresh, _key: SetKey) -> tuple[Fed, ...]:
        return self.box.look(state.before, state.item)

    def request(self, sender: NodeName, number: int) -> Look:
        return Look(sender, number)


@dataclass(frozen=True)
class Gathering:
    """An operator that gathers events in Input Sets for one generative function."""

    box: Triggered
    asks = ""
    gathers = True
    overlaps = False
    functions = 1

    @property
    def several(self) -> bool:
        return self.box.group is not None

    def begin(self, ports: int) -> Sets:
        return self.box.begin(ports)

    def assign(self, _state: Sets, item: Item) -> tuple[SetKey, ...]:
        return self.box.keys(item)

    def update(self, state: Sets, item: Item, _key: SetKey) -> Sets:
        return self.box.gather(self.box.count(state), item)

    def gather(self, state: Sets, item: Item, _key: SetKey) -> Sets:
        return self.box.gather(state, item)

    def ready(self, state: Sets, key: SetKey) -> bool:
        return self.box.is_ready(state, key)

    def generate(self, state: Sets, key: SetKey) -> tuple[Fed, ...]:
        return (self.box.generate(state, key),)

    def size(self, state: Sets, key: SetKey) -> int:
        return len(dict(state.open)[key])

    def global_state(self, state: Sets) -> Sets:
        return Sets((), state.done)

    def has_inputs(self, _state: Sets) -> bool:
        return False

    def newest(self, _edge: int, _key: SetKey) -> tuple[int, int]:
        return 0, 0

    def request(self, sender: NodeName, number: int) -> Any:
        raise NotImplementedError("it has no read action")


@dataclass(frozen=True)
class Overlapping:
    """An operator with one function whose Input Sets overlap: windows of hours (Examples 4 and 7).

    The InSet_ID of a window is its hour ("an InSet_ID can be defined as an hour"), from 1 on.
    """

    box: Hourly
    asks = ""
    gathers = several = overlaps = True
    functions = 1

    def begin(self, ports: int) -> Sets:
        return self.box.begin(ports)

    def assign(self, _state: Sets, item: Item) -> tuple[tuple[Moment, ...]]:
        return (self.box.keys(item),)

    def insets(self, key: tuple[Moment, ...]) -> tuple[int, ...]:
        """The numbers of the Input Sets with these keys."""
        return tuple(hour.time + 1 for hour in key)

    def key(self, inset: int) -> Moment:
        """The key of the Input Set with this number."""
        return Moment(inset - 1)

    def update(self, state: Sets, item: Item, key: tuple[Moment, ...]) -> Sets:
        return self.box.gather(state, item, key)

    gather = update

    def ready(self, state: Sets, _key: tuple[Moment, ...]) -> bool:
        return bool(self.complete(state))

    def complete(self, state: Sets) -> tuple[Moment, ...]:
        """The keys of the Input Sets that outputs may be generated from, those of other events
        included."""
        return self.box.complete(state)

    def generate(self, state: Sets, key: Moment) -> tuple[Fed, ...]:
        return (self.box.generate(state, key),)

    def size(self, state: Sets, key: Moment) -> int:
        return len(dict(state.open)[key])

    def global_state(self, _state: Sets) -> Sets:
        return Sets()

    def has_inputs(self, _state: Sets) -> bool:
        return False

    def newest(self, _edge: int, _key: SetKey) -> tuple[int, int]:
        return 0, 0

    def request(self, sender: NodeName, number: int) -> Any:
        raise NotImplementedError("it has no read action")


@dataclass(frozen=True)
class Several:
    """An operator with several generative functions, each with Input Sets of its own (3.1).

    The key of an Input Set is (place of the function, its key); the state is one for each function.
    """

    box: Functions
    asks = ""
    gathers = several = True
    overlaps = False

    @property
    def functions(self) -> int:
        return len(self.box.parts)

    def begin(self, ports: int) -> tuple[Sets, ...]:
        return self.box.begin(ports)

    def assign(self, _state: tuple[Sets, ...], item: Item) -> tuple[SetKey, ...]:
        return self.box.keys(item)

    def update(self, state: tuple[Sets, ...], item: Item, key: SetKey) -> tuple[Sets, ...]:
        at, part = key[0], self._part(key)
        return _with(state, at, part.update(state[at], item, key[1]))

    def gather(self, state: tuple[Sets, ...], item: Item, key: SetKey) -> tuple[Sets, ...]:
        at, part = key[0], self._part(key)
        return _with(state, at, part.gather(state[at], item, key[1]))

    def ready(self, state: tuple[Sets, ...], key: SetKey) -> bool:
        return self._part(key).ready(state[key[0]], key[1])

    def generate(self, state: tuple[Sets, ...], key: SetKey) -> tuple[Fed, ...]:
        at = key[0]
        (fed,) = self._part(key).generate(state[at], key[1])
        return (fed._replace(state=_with(state, at, fed.state)),)

    def size(self, state: tuple[Sets, ...], key: SetKey) -> int:
        return self._part(key).size(state[key[0]], key[1])

    def global_state(self, state: tuple[Sets, ...]) -> tuple[Sets, ...]:
        return tuple(Sets((), one.done) for one in state)

    def has_inputs(self, _state: tuple[Sets, ...]) -> bool:
        return False

    def newest(self, edge: int, key: SetKey) -> tuple[int, int]:
        return edge, key[0]

    def request(self, sender: NodeName, number: int) -> Any:
        raise NotImplementedError("it has no read action")

    def _part(self, key: SetKey) -> Gathering:
        return Gathering(self.box.parts[key[0]])


def _with(state: tuple[Sets, ...], at: int, sets: Sets) -> tuple[Sets, ...]:
    return (*state[:at], sets, *state[at + 1 :])
