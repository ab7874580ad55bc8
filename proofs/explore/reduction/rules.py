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

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from model.actions import Deliver, Restart
from model.core import NodeName
from model.observations import Looks
from model.world import DOWN
from proofs.explore.collapse import Collapsed
from proofs.explore.reduction.graphs import FAILS, MOST, Irreducible, Kinds, Label, LocalGraph
from proofs.explore.reduction.verdicts import Verdicts
from proofs.explore.search.judge import Judge
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


class Rules:
    """The rules for a system, with all that was learned of its nodes so far.

    Raises Irreducible if the system cannot be reduced.
    """

    def __init__(self, collapsed: Collapsed, judge: Judge) -> None:
        system = self.system = collapsed.system
        self.collapsed = collapsed
        if judge.always_looks != Looks():
            raise Irreducible("a property looks inside of every world")
        if len(system.deployment.channels) > MOST:
            raise Irreducible(f"more than {MOST} channels")
        self.views = [view for view in collapsed.views if not view.group]
        self.kinds = Kinds(collapsed)
        self.graphs = [LocalGraph(collapsed, view, self.kinds) for view in self.views]
        self.verdicts = Verdicts(self.graphs)
        self.labels: list[Label] = []
        self._label_numbers: dict[Label, int] = {}
        ends = system.deployment.channels
        risky = system.victims & system.returning
        self.at_risk = sum(1 << at for at, (_, to) in enumerate(ends) if to in risky)
        self.of_victims = sum(1 << at for at, (who, _) in enumerate(ends) if who in system.victims)
        self.outgoing = [
            sum(1 << at for at, (who, _) in enumerate(ends) if who == view.node)
            for view in self.views
        ]
        self.receivers = [system.node_at[to] for _, to in system.deployment.channels]
        self.grouped = [any(v.node in group for group in system.groups) for v in self.views]
        for view in collapsed.views:
            for numbers, found in view.focuses.items():
                self.learn(view, numbers, found)

    # --- learning ----------------------------------------------------------------------------
    def learn(self, view: NodeView, numbers: tuple[int, ...], found: StepCache) -> None:
        """Learn all that may happen in a focus."""
        if not view.group:
            self.graphs[view.fields[0]].learn(numbers, found)
        for effect in found.cached[found.ends[2] : found.ends[3]]:
            at = {field: place for place, field in enumerate(view.fields[: view.wide])}
            more = {field: by for field, by in effect.changed if field < self.collapsed.starts[1]}
            for field, by in (more or {view.fields[0]: 0}).items():
                before = numbers[at[field]]
                self.graphs[field].learn_fault(before, before + by, effect.sent)

    def of_focus(self, view: NodeView, found: StepCache) -> tuple[int, int, int]:
        """Of all moves in a focus: the channels on which nothing may be sent meanwhile, and those
        on which they send, without faults and with them."""
        if view.group:
            return 0, 0, 0
        graph = self.graphs[view.fields[0]]
        always = self._meets(view, graph, found.cached[: found.ends[2]])
        silent, heard = self._meets(view, graph, found.cached[: found.ends[3]])
        if any(isinstance(action, Restart) for action in found.actions):
            silent |= graph.incoming
        return silent, always[1], heard

    def _meets(
        self, view: NodeView, graph: LocalGraph, effects: Iterable[CachedEffect]
    ) -> tuple[int, int]:
        silent = heard = 0
        for effect in effects:
            heard |= graph.channels_of(effect.sent)
        ends = self.system.deployment.channels
        for client, site in self._asked(heard):
            for at, (who, to) in enumerate(ends):
                silent |= (to == site and who != client) << at
                heard |= (who == site and to != view.node) << at
        return silent, heard

    def kinds_sent(self, found: StepCache) -> Iterator[tuple[int, int, int]]:
        """The messages sent in a focus: (channel, message, its kind)."""
        collapsed = self.collapsed
        first, end = collapsed.starts[1:3]
        for field, messages in {row for effect in found.cached for row in effect.sent}:
            if field < end:
                for one in collapsed.messages[messages]:
                    if type(one) is not Marker:
                        message = collapsed.message_number((one,))
                        yield field - first, message, self.kinds.number(field, message)

    # --- facts -------------------------------------------------------------------------------
    def moves(self, view: NodeView, numbers: tuple[int, ...], found: StepCache) -> list[MoveRule]:
        """The rules of all moves in a focus."""
        if view.group or view.node in self.system.prompt:
            return [NEVER] * len(found.actions)
        own = found.actions[: found.ends[0]]
        ways = sum(isinstance(action, Restart) for action in own)
        rules = [NEVER] * len(found.actions)
        graph = self.graphs[view.fields[0]]
        for at, (action, effect) in enumerate(zip(own, found.cached, strict=False)):
            if ways > 1:  # a restart is one of several
                continue
            silent, heard = self._meets(view, graph, (effect,))
            if ways or graph.ends_down(numbers, effect):
                silent |= graph.incoming
            calm = view.node not in self.system.victims and not (
                isinstance(action, Deliver) and action.sender in self.system.victims
            )
            label = graph.label(numbers, action)
            takes = label.field - graph.first_channel if label.field >= 0 else -1
            rules[at] = MoveRule(self._number(label), takes, silent, heard, calm)
        return rules

    def _number(self, label: Label) -> int:
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
        ends, found = self.system.deployment.channels, []
        todo = [end for at, end in enumerate(ends) if heard >> at & 1]
        while todo:
            who, to = todo.pop()
            if to in self.system.prompt and (who, to) not in found:
                found.append((who, to))
                todo += [end for end in ends if end[0] == to]
        return found
