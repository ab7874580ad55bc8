"""Local graphs: the steps of each node alone that the search took, and those that it asked for.

Rule of this file: it learns and adds up; it decides nothing.  A state of a node is the number of
its value and, at a source, of its arrivals.  proofs.explore.collapse gives every answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from model.actions import Action, Deliver, Inject, Reread, Restart, Timeout
from model.choices import is_patient
from model.errors import StepFailed
from model.world import DOWN
from proofs.explore.collapse import Collapsed
from proofs.explore.evidence import ActionEvidence
from proofs.explore.views import CLOSED, CachedEffect, Marker, NodeView

State: TypeAlias = tuple[int, int]
Sent: TypeAlias = tuple[tuple[int, int], ...]
"""Pairs (field, number of the messages sent there)."""

MOST = 62
"""The bits of a word that are used."""
KINDS = 64

FAILS = 1 << 2 * KINDS - 1
"""The bit of a value after which the node may yet fail by itself."""

AWAY = 2
"""A state this number of asked steps away from those that were seen is asked nothing more."""


class Irreducible(Exception):
    """The protocol does something of which the rules of the reduction know nothing."""


class TooFar(Exception):
    """A state is too far away from all states that were seen."""


class LocalLabel(NamedTuple):
    """An action of a node, whatever its state.

    field: of the channel from which it takes a message; -1: none.  about: the message's number, or
    the action with its type (actions of two types may be equal as tuples).
    """

    field: int
    about: Any


class LocalStep(NamedTuple):
    """The result of an action at a node, and the evidence that it gives."""

    after: State
    sent: Sent
    evidence: ActionEvidence


class Kinds:
    """The kinds of messages: the type of a message, and the channel, numbered as they come.

    When there are too many kinds for the bits of a word, further ones share the last bit.
    """

    def __init__(self, collapsed: Collapsed) -> None:
        self._messages = collapsed.messages
        self.numbers: dict[tuple[int, type], int] = {}

    def number(self, field: int, message: int) -> int:
        """The number of the kind of a message (the number of the message alone)."""
        key = field, type(self._messages[message][0])
        return self.numbers.setdefault(key, min(len(self.numbers), MOST - 1))


class LocalGraph:
    """The states of one node, and the steps between them.

    known: by state, the labels of its steps, with the kind of the message; -1: none.  sends: by
    whether faults may come and the number of the node's value, all that it may still send: the
    channels, as bits, and then from bit KINDS on the kinds of messages; and FAILS.
    """

    def __init__(self, collapsed: Collapsed, view: NodeView, kinds: Kinds) -> None:
        self.kinds = kinds
        system = collapsed.system
        self.collapsed, self.view, self.node = collapsed, view, view.node
        self.at = view.fields[0]
        source = system.source_at.get(view.node)
        self.arrivals = -1 if source is None else collapsed.starts[2] + source
        self.first_channel = collapsed.starts[1]
        self.channels = list(view.fields[view.wide : view.budgets])
        self.incoming = sum(1 << (field - self.first_channel) for field in self.channels)
        self.known: dict[State, dict[LocalLabel, int]] = {}
        self.sends: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._before: tuple[dict[int, set[int]], dict[int, set[int]]] = ({}, {})
        self.changed: dict[int, None] = {}
        """The numbers whose `sends` have grown since somebody looked."""
        self.grown: list[tuple[State, LocalLabel, int]] = []
        """The messages that came first in a state since somebody looked, with their kinds."""
        self._steps: dict[tuple[State, LocalLabel], LocalStep | None] = {}
        self._offered: dict[State, list[LocalLabel]] = {}
        self._away: dict[State, int] = {}

    # --- learning ----------------------------------------------------------------------------
    def see(self, numbers: tuple[int, ...]) -> None:
        """The node was seen in a focus."""
        self._away[self._state(numbers)] = 0

    def learn(self, numbers: tuple[int, ...], action: Action, effect: CachedEffect) -> None:
        """Learn a step that the node may take in a focus."""
        if any(self._marks(messages) for _, messages in effect.sent):
            raise Irreducible(f"{self.node} resets channels by itself")
        state = self._state(numbers)
        label, after = self.label(numbers, action), self._after(state, effect)
        # Somebody of its group is down, and does not hear what it hears in other worlds.
        contents: list[Any] = [self.collapsed.messages[sent] for _, sent in effect.sent]
        if CLOSED not in contents or not self.step(state, label):
            self._learn_step(state, label, after, effect.sent)

    def learn_fault(self, before: int, after: int, sent: Sent) -> None:
        """Learn that a fault leads from one value to another one, and sends meanwhile."""
        self._edge(1, before, after, self._all_of(sent))

    def _learn_step(self, state: State, label: LocalLabel, after: State, sent: Sent) -> None:
        labels = self.known.setdefault(state, {})
        if label not in labels:
            labels[label] = kind = self.kinds.number(*label) if label.field >= 0 else -1
            if kind >= 0:
                self.grown.append((state, label, kind))
            mask = self._all_of(sent)
            if self.collapsed.values[self.at][after[0]].state is DOWN:
                mask |= FAILS
            for faults in (0, 1):
                self._edge(faults, state[0], after[0], mask)

    def _edge(self, faults: int, before: int, after: int, mask: int) -> None:
        sends, backward = self.sends[faults], self._before[faults]
        backward.setdefault(after, set()).add(before)
        todo = [(before, mask | sends.get(after, 0))]
        while todo:
            number, more = todo.pop()
            known = sends.get(number, 0)
            if more & ~known:
                sends[number] = known | more
                self.changed[number] = None
                todo += [(one, known | more) for one in backward.get(number, ())]

    # --- asking ------------------------------------------------------------------------------
    def step(self, state: State, label: LocalLabel) -> LocalStep | None:
        """The step of the node in this state; None: it cannot be, or it fails.  Raises TooFar."""
        key = state, label
        if key not in self._steps:
            away = self._away.get(state, 0)
            if away >= AWAY:
                raise TooFar
            self._steps[key] = step = self._ask(state, label)
            if step is not None:
                self._away.setdefault(step.after, away + 1)
        return self._steps[key]

    def is_possible(self, state: State, label: LocalLabel) -> bool:
        """May the node take this step in this state, if the message is there?"""
        node = self.collapsed.values[self.at][state[0]]
        match label:
            case LocalLabel(-1, (_, Restart())):
                return node.state is DOWN
            case LocalLabel(-1, (_, Timeout(_, timer))):
                return node.state is not DOWN and timer in node.timers
            case LocalLabel(-1, (_, Reread())):
                return bool(node.behind)
            case LocalLabel(-1, (_, Inject())):
                source = self.collapsed.system.source_at[self.node]
                length = self.collapsed.system.scope.inputs[source][1].length
                arrived = self.collapsed.values[self.arrivals][state[1]]
                return node.state is not DOWN and not node.behind and len(arrived) < length
        return node.state is not DOWN

    def offered(self, state: State) -> list[LocalLabel]:
        """The steps that the node may take in this state without a message."""
        if state not in self._offered:
            system, name = self.collapsed.system, self.node
            node = self.collapsed.values[self.at][state[0]]
            actions: list[Action] = [
                Timeout(name, timer) for timer in node.timers if not is_patient(system, timer)
            ]
            if name in system.source_at:
                alphabet = system.scope.inputs[system.source_at[name]][1].alphabet
                actions += [Reread(name), *(Inject(name, arrival) for arrival in alphabet)]
            labels = [LocalLabel(-1, (type(action), action)) for action in actions]
            self._offered[state] = [one for one in labels if self.is_possible(state, one)]
        return self._offered[state]

    def _ask(self, state: State, label: LocalLabel) -> LocalStep | None:
        if not self.is_possible(state, label):
            return None
        collapsed, view = self.collapsed, self.view
        field, about = label
        action: Action
        if field < 0:
            action = about[1]
        else:
            ends = collapsed.system.deployment.channels[field - self.first_channel]
            action = Deliver(self.node, ends[0])
        empty = CLOSED if collapsed.values[self.at][state[0]].state is DOWN else ()
        numbers = [state[0]]
        for other in view.fields[1 : view.wide]:
            numbers.append(state[1] if other == self.arrivals else 0)
        for other in self.channels:
            content = collapsed.messages[about] if other == field else empty
            numbers.append(collapsed.number(other, content))
        numbers += [collapsed.number(other, 0) for other in view.fields[view.budgets :]]
        focus = tuple(numbers)
        try:
            effect, evidence = collapsed.answer(view, focus, collapsed.alone(view, focus), action)
        except StepFailed:
            return None
        if any(self._marks(messages) for _, messages in effect.sent):
            return None
        step = LocalStep(self._after(state, effect), effect.sent, evidence)
        self._learn_step(state, label, step.after, step.sent)
        return step

    def ends_down(self, numbers: tuple[int, ...], effect: CachedEffect) -> bool:
        """Is the node down after this effect in a focus with these numbers?"""
        after = self._after(self._state(numbers), effect)
        return self.collapsed.values[self.at][after[0]].state is DOWN

    # --- values ------------------------------------------------------------------------------
    def label(self, numbers: tuple[int, ...], action: Action) -> LocalLabel:
        """The label of an action in a focus with these numbers."""
        if isinstance(action, Deliver):
            ends = action.sender, action.node
            field = self.first_channel + self.collapsed.system.channel_at[ends]
            number = numbers[self.view.fields.index(field)]
            return LocalLabel(
                field, self.collapsed.message_number(self.collapsed.values[field][number])
            )
        return LocalLabel(-1, (type(action), action))

    def _state(self, numbers: tuple[int, ...]) -> State:
        if self.arrivals < 0:
            return numbers[0], -1
        return numbers[0], numbers[self.view.fields.index(self.arrivals)]

    def _after(self, state: State, effect: CachedEffect) -> State:
        changed = dict(effect.changed)
        arrived = state[1] + changed.get(self.arrivals, 0) if self.arrivals >= 0 else -1
        return state[0] + changed.get(self.at, 0), arrived

    def channels_of(self, sent: Sent) -> int:
        """The channels on which something is sent, as bits."""
        mask, end = 0, self.collapsed.starts[2]
        for field, messages in sent:
            if field < end and any(
                type(m) is not Marker for m in self.collapsed.messages[messages]
            ):
                mask |= 1 << (field - self.first_channel)
        return mask

    def _all_of(self, sent: Sent) -> int:
        """The channels on which something is sent, and the kinds of messages."""
        mask, collapsed = self.channels_of(sent), self.collapsed
        for field, messages in sent:
            if field < collapsed.starts[2]:
                for one in collapsed.messages[messages]:
                    if type(one) is not Marker:
                        kind = self.kinds.number(field, collapsed.message_number((one,)))
                        mask |= 1 << (KINDS + kind)
        return mask

    def _marks(self, messages: int) -> bool:
        return any(type(one) is Marker for one in self.collapsed.messages[messages])
