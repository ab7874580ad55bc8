"""Views: the fields of a world that a node reads, and the answers of the model kept for them.

Rule of this file: values alone; `proofs.explore.collapse` asks the model and fills them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from dataclasses import field as own
from enum import Enum
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from model.core import Input, NodeName, Step
from model.system import System
from model.world import Action
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


class Transitions(NamedTuple):
    """The actions that the node takes by itself, its inputs from outside, and its faults."""

    own: tuple[Move, ...]
    inputs: tuple[Move, ...]
    faults: tuple[Move, ...]


class CachedEffect(NamedTuple):
    """The effect of an action in a focus.

    changed: what to add to the numbers of the fields in which the view has the focus's own numbers,
    by field.  after: the values after the action for the other fields, by field.  sent: the
    messages that the action sends.
    """

    changed: tuple[tuple[int, int], ...]
    after: tuple[tuple[int, Any], ...]
    sent: tuple[tuple[int, int], ...]


class StepCache(NamedTuple):
    """The possible actions in any view with this focus, and the effect of each action.

    own: the number of actions that the node takes by itself; they come first.  inputs: the number
    of own actions and inputs together.  The other actions are faults.
    """

    actions: tuple[Action, ...]
    cached: tuple[CachedEffect, ...]
    own: int
    inputs: int


class NodeView(NamedTuple):
    """The fields that the actions of one node read and write, and the answers so far, by the
    numbers of these fields.

    group: () for the actions of the node alone; otherwise the view has the crashes at the node that
    take down this failure group, and no other actions.
    fields: those of the node come first; the fields that vary within a focus come last, from `wide`
    on.  outgoing: channels and outputs; actions only append to these, clear or close them.
    """

    node: str
    group: tuple[str, ...]
    fields: tuple[int, ...]
    wide: int
    pick: Callable[[tuple[int, ...]], tuple[int, ...]]
    outgoing: tuple[int, ...]
    table: dict[tuple[int, ...], Transitions]
    focuses: dict[tuple[int, ...], StepCache]
    answers: dict[tuple[Any, ...], tuple[CachedEffect, ActionEvidence]]
    actions: dict[tuple[int, ...], tuple[Action, ...]]


@dataclass(frozen=True)
class CachedSystem(System):
    """The same system, which asks the protocol for no step twice."""

    known: dict[Hashable, tuple[Any, Input | None, Step]] = own(
        init=False, default_factory=dict, compare=False
    )

    def answer(self, name: NodeName, value: Any, input_: Input | None) -> Step:
        # Whoever explores keeps one copy of each state, so a look at which one it is will do; a
        # hash of a whole state at every step would not.
        key = own_key((name, id(value), input_), input_, self.known, itemgetter(1))
        found = self.known.get(key)
        if found is None:  # the value is kept, so that no other one gets its id
            found = self.known[key] = value, input_, super().answer(name, value, input_)
        return found[2]
