"""The rules by which one action of a node is taken in place of all that is possible in a world.

Rule of this file: facts about moves and states, as sets of channels; proofs.explore.search.loops
puts them together in each world.

Let `a` be an action that a node takes by itself.  It is taken alone if no other order of `a` and of
all that may come before it could be noticed:

1. Whatever may come to its node before `a` commutes with it (proofs.explore.reduction.verdicts).
2. A restart, or a step in which the node fails, is taken alone only if nothing may be sent to the
   node meanwhile: that would be lost.
3. An action that sends to a prompt site is taken alone only if no other client may send there.
4. `a` sends nothing to a node that is down and will return, or that may crash, or fail by itself,
   and return.
5. Where a crash may come, neither the node nor the sender of the message that it takes may crash.
"""

from __future__ import annotations

from typing import NamedTuple

from model.actions import Action, Restart
from model.core import NodeName
from model.world import DOWN
from proofs.explore.collapse import Collapsed
from proofs.explore.reduction.graphs import FAILS, MOST, Irreducible, Kinds, LocalGraph, LocalLabel
from proofs.explore.reduction.verdicts import CommuteVerdicts
from proofs.explore.views import CachedEffect, Marker, NodeView, StepCache


class MoveRule(NamedTuple):
    """The facts about a move; sets of channels are bits.

    label: its number; -1: it is never taken alone.  takes: the channel from which it takes a
    message; -1: none.  silent: nothing may be sent there meanwhile.  heard: it sends there, or a
    prompt site does within it.  calm: no crash meets it.
    """

    label: int
    takes: int = -1
    silent: int = 0
    heard: int = 0
    calm: bool = False


NEVER = MoveRule(-1)


class FocusRules(NamedTuple):
    """The rules of the moves in a focus, and those of all its moves together: silent, heard, and
    heard if a crash may come."""

    moves: list[MoveRule]
    silent: int
    heard: int
    heard_in_crashes: int


class _Fact(NamedTuple):
    """The facts about an effect, which many focuses share."""

    move: MoveRule
    silent: int
    heard: int


class ReductionRules:
    """The rules for a system, with all that was learned of its nodes so far.

    new_kinds: messages with the numbers of their kinds since somebody looked: rows (channel,
    message, kind).  Raises Irreducible if the system cannot be reduced.
    """

    def __init__(self, collapsed: Collapsed) -> None:
        system = self.system = collapsed.system
        self.collapsed = collapsed
        ends = self.ends = system.deployment.channels
        if len(ends) > MOST:
            raise Irreducible(f"more than {MOST} channels")
        self.views = [view for view in collapsed.views if not view.group]
        self.kinds = Kinds(collapsed)
        self.graphs = [LocalGraph(collapsed, view, self.kinds) for view in self.views]
        self.verdicts = CommuteVerdicts(self.graphs)
        self.labels: list[LocalLabel] = []
        self.new_kinds: list[tuple[int, int, int]] = []
        self._label_numbers: dict[LocalLabel, int] = {}
        self._facts: dict[int, _Fact] = {}  # by identity: `collapsed` keeps the effects
        risky = system.victims & system.returning
        self.at_risk = sum(1 << at for at, (_, to) in enumerate(ends) if to in risky)
        self.of_victims = sum(1 << at for at, (who, _) in enumerate(ends) if who in system.victims)
        self.outgoing = [
            sum(1 << at for at, (who, _) in enumerate(ends) if who == view.node)
            for view in self.views
        ]
        self.receivers = [system.node_at[to] for _, to in ends]
        self.grouped = [any(v.node in group for group in system.groups) for v in self.views]
        for view in collapsed.views:
            for numbers, found in view.focuses.items():
                self.learn(view, numbers, found)

    def learn(self, view: NodeView, numbers: tuple[int, ...], found: StepCache) -> FocusRules:
        """Learn all that may happen in a focus; returns its rules."""
        own, inputs, always, faults, *_ = found.ends
        if not view.group:
            self.graphs[view.fields[0]].see(numbers)
        moves, silent, heard, in_crashes = [], 0, 0, 0
        for at, (action, effect) in enumerate(zip(found.actions, found.cached, strict=True)):
            fact = self._facts.get(id(effect))
            if fact is None:
                if at < inputs:
                    self.graphs[view.fields[0]].learn(numbers, action, effect)
                elif always <= at < faults:
                    self._learn_fault(view, numbers, effect)
                fact = self._facts[id(effect)] = self._fact(
                    view, numbers, action, effect, faulty=at >= always
                )
            alone = at < own and not (own > 1 and isinstance(action, Restart))  # one way of several
            moves.append(fact.move if alone else NEVER)
            silent |= fact.silent
            in_crashes |= fact.heard if at < faults else 0
            heard |= fact.heard if at < always else 0
        return FocusRules(moves, silent, heard, in_crashes)

    def _learn_fault(self, view: NodeView, numbers: tuple[int, ...], effect: CachedEffect) -> None:
        """Learn a fault, at each node whose value it changes."""
        at = {field: place for place, field in enumerate(view.fields[: view.wide])}
        changed = {field: by for field, by in effect.changed if field < self.collapsed.starts[1]}
        for field, by in (changed or {view.fields[0]: 0}).items():
            before = numbers[at[field]]
            self.graphs[field].learn_fault(before, before + by, effect.sent)

    def _fact(
        self,
        view: NodeView,
        numbers: tuple[int, ...],
        action: Action,
        effect: CachedEffect,
        *,
        faulty: bool,
    ) -> _Fact:
        self._enter_kinds(effect)
        if view.group:
            return _Fact(NEVER, 0, 0)
        graph, system = self.graphs[view.fields[0]], self.system
        silent, heard = 0, graph.channels_of(effect.sent)
        for client, site in self._asked(heard):
            for at, (who, to) in enumerate(self.ends):
                silent |= (to == site and who != client) << at
                heard |= (who == site and to != view.node) << at
        if isinstance(action, Restart) or (not faulty and graph.ends_down(numbers, effect)):
            silent |= graph.incoming
        if view.node in system.prompt:
            return _Fact(NEVER, silent, heard)
        label = graph.label(numbers, action)
        takes = label.field - graph.first_channel if label.field >= 0 else -1
        met = view.node in system.victims or (takes >= 0 and self.of_victims >> takes & 1)
        return _Fact(MoveRule(self._number(label), takes, silent, heard, not met), silent, heard)

    def _enter_kinds(self, effect: CachedEffect) -> None:
        collapsed = self.collapsed
        first, end = collapsed.starts[1:3]
        for field, messages in effect.sent:
            for one in collapsed.messages[messages] if field < end else ():
                if type(one) is not Marker:
                    message = collapsed.message_number((one,))
                    self.new_kinds.append(
                        (field - first, message, self.kinds.number(field, message))
                    )

    def _number(self, label: LocalLabel) -> int:
        number = self._label_numbers.setdefault(label, len(self.labels))
        if number == len(self.labels):
            self.labels.append(label)
        return number

    def lost(self, node: int, number: int) -> int:
        """The channels to a node that lose their messages until it restarts, if it is down so or
        may fail by itself."""
        graph = self.graphs[node]
        down = self.collapsed.values[node][number].state is DOWN
        fails = graph.sends[1].get(number, 0) & FAILS
        return graph.incoming if (down or fails) and self._returns(node) else 0

    def _returns(self, node: int) -> bool:
        return self.views[node].node in self.system.returning

    def _asked(self, heard: int) -> list[tuple[NodeName, NodeName]]:
        """The prompt sites that may act within an action that sends on these channels, each with
        the client that sends to it."""
        found: list[tuple[NodeName, NodeName]] = []
        todo = [end for at, end in enumerate(self.ends) if heard >> at & 1]
        while todo:
            who, to = todo.pop()
            if to in self.system.prompt and (who, to) not in found:
                found.append((who, to))
                todo += [end for end in self.ends if end[0] == to]
        return found
