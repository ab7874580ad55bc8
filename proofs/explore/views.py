"""Views: the fields of a world that a node reads, and the answers of the model kept for them.

Rule of this file: values alone; `proofs.explore.collapse` asks the model and fills them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from dataclasses import field as own
from enum import Enum
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from model.actions import Action, Disturbance
from model.core import Input, NodeName, Step
from model.system import System
from proofs.explore.evidence import ActionEvidence
from proofs.explore.interning import own_key

CLOSED = "closed"
"""The content of a channel whose receiver is down: messages sent there are lost."""


class Marker(Enum):
    """Before the messages to append, or in their place: the effect of a crash on a channel."""

    CLEAR = "lose the content"
    CLOSE = "lose the content; the receiver is down"


CLEAR, CLOSE = Marker

Move: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]
"""A difference to add, and (channel field, number of the messages) to append."""


Whose: TypeAlias = tuple[NodeName, tuple[NodeName, ...]]


class Transitions(NamedTuple):
    """The moves of a node, by the condition under which they are possible.

    own: always, by itself.  inputs: always, from outside.  disturbances: always, as faults with a
    budget of their own.  faults: if crashes are granted.  patient: by itself, if no node has an own
    move.  late: crashes within these, if crashes are granted, too.

    Together: always: the first three kinds; granted: the first four; all: all six.
    """

    own: tuple[Move, ...]
    inputs: tuple[Move, ...]
    disturbances: tuple[Move, ...]
    faults: tuple[Move, ...]
    patient: tuple[Move, ...]
    late: tuple[Move, ...]
    always: tuple[Move, ...]
    granted: tuple[Move, ...]
    all: tuple[Move, ...]


FAULTS, PATIENT, LATE = map(Transitions._fields.index, ("faults", "patient", "late"))
"""The kinds of moves that a world may forbid, whatever the node's own view."""


class FieldChange(Enum):
    """The change of a field that varies within a focus: a channel, or a budget."""

    TAKEN = "the first message is gone"
    CLOSED = "the receiver is down"
    OPENED = "the receiver is up again, and the channel empty"
    SPENT = "one fault fewer may come"
    DOUBLED = "the first message comes once more, last"
    DELAYED = "the first message comes last"
    RESET = "all messages are gone"


DISTURBED = {
    Disturbance.LOSE: FieldChange.TAKEN,
    Disturbance.DOUBLE: FieldChange.DOUBLED,
    Disturbance.DELAY: FieldChange.DELAYED,
    Disturbance.RESET: FieldChange.RESET,
}


def change_value(before: Any, change: FieldChange) -> Any:
    """The value of a field after a change."""
    if change is FieldChange.SPENT:
        return before - 1
    if change is FieldChange.TAKEN:
        return before[1:]
    if change is FieldChange.CLOSED:
        return CLOSED
    if change is FieldChange.DOUBLED:
        return *before, before[0]
    if change is FieldChange.DELAYED:
        return *before[1:], before[0]
    return ()  # opened, or reset


class CachedEffect(NamedTuple):
    """The effect of an action in a focus.

    changed: what to add to the numbers of the fields in which the view has the focus's own numbers,
    by field.  after: the changes of the other fields, by field.  sent: the messages that the action
    sends.
    """

    changed: tuple[tuple[int, int], ...]
    after: tuple[tuple[int, FieldChange], ...]
    sent: tuple[tuple[int, int], ...]


class StepCache(NamedTuple):
    """The possible actions in any view with this focus, and the effect of each action.

    ends: where each of the kinds of `Transitions` ends among the actions.  evidence: of each one.
    """

    actions: tuple[Action, ...]
    cached: tuple[CachedEffect, ...]
    ends: tuple[int, ...]
    evidence: tuple[ActionEvidence, ...]

    def own(self) -> Iterator[tuple[int, Action, CachedEffect]]:
        """The actions that the node takes by itself, patient ones, too: (place, action, effect)."""
        own, _, _, faults, patient, _ = self.ends
        found = zip(range(own), self.actions, self.cached, strict=False)
        if patient == faults:
            return found
        more = ((at, self.actions[at], self.cached[at]) for at in range(faults, patient))
        return chain(found, more)


class NodeView(NamedTuple):
    """The fields that the actions of one node read and write, and the answers so far, by the
    numbers of these fields.

    group: () for the actions of the node alone; otherwise the view has the crashes at the node that
    take down this failure group, and no other actions.
    fields: those of the node come first; the fields that vary within a focus come last, from `wide`
    on: channels, and from `budgets` on how many faults may still come.  outgoing: channels and
    outputs; actions only append to these, clear or close them.
    """

    node: str
    group: tuple[str, ...]
    fields: tuple[int, ...]
    wide: int
    budgets: int
    pick: Callable[[tuple[int, ...]], tuple[int, ...]]
    outgoing: tuple[int, ...]
    table: dict[tuple[int, ...], Transitions]
    focuses: dict[tuple[int, ...], StepCache]
    answers: dict[tuple[Any, ...], tuple[CachedEffect, ActionEvidence]]
    actions: dict[tuple[int, ...], tuple[Action, ...]]

    @property
    def whose(self) -> Whose:
        """Whose actions they are: those of a node, or the crashes there of a group."""
        return self.node, self.group


@dataclass(frozen=True)
class CachedSystem(System):
    """The same system, which asks the protocol for no step twice."""

    known: dict[Hashable, tuple[Any, Any, Step]] = own(
        init=False, default_factory=dict, compare=False
    )

    def answer(
        self, name: NodeName, value: Any, input_: Input | None, disk: tuple[Any, ...] = ()
    ) -> Step:
        # Whoever explores keeps one copy of each state, so a look at which one it is will do; a
        # hash of a whole state at every step would not.
        asked: Any = (input_, disk) if disk else input_
        key = own_key((name, id(value), asked), asked, self.known, itemgetter(1))
        found = self.known.get(key)
        if found is None:  # the value is kept, so that no other one gets its id
            found = self.known[key] = value, asked, super().answer(name, value, input_, disk)
        return found[2]
