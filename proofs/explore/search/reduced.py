"""The reduced search: in many worlds one action in place of all, for the same worlds at rest.

Rule of this file: the tables of the choice, and passes until nothing new is learned.  The facts
come from proofs.explore.reduction; docs/explanation/reduction.md gives the argument.

A choice rests on all steps that nodes were seen to take so far.  So the search is done again as
long as it has learned something on which an earlier choice might rest.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from model.core import Guarantee, Observation
from model.observations import Looks
from model.world import replace_item
from proofs.explore.collapse import Collapsed
from proofs.explore.reduction.graphs import KINDS, MOST, Irreducible
from proofs.explore.reduction.rules import ReductionRules
from proofs.explore.reduction.verdicts import CommuteQuestion
from proofs.explore.search import loops
from proofs.explore.search.compiled import FIRST_ROOM, CompiledSearch, Keys, widen
from proofs.explore.search.judge import Judge
from proofs.explore.search.loops import Choice
from proofs.explore.search.meter import Meter
from proofs.explore.search.rest import Suspects
from proofs.explore.views import NodeView, StepCache

LEARNING = 3
"""From this pass on a verdict that led too far away stays a no."""
WORD = (1 << KINDS) - 1
HALF = 31
"""The kinds of a question are two numbers, with this number of bits each."""


class ReducedSearch(CompiledSearch):
    """A search under way that chooses.

    passes: how often it began.  stable: the last pass has learned nothing new.
    breaks: may a property of every world be violated?  Every run comes to rest, and the outputs by
    then begin with those before.  So the property is asked of all beginnings, too.
    Raises Irreducible.
    """

    def __init__(self, collapsed: Collapsed, judge: Judge) -> None:
        if judge.always_looks != Looks():
            raise Irreducible("a property looks inside of every world")
        rules = self.rules = ReductionRules(collapsed)
        self.places: dict[CommuteQuestion, int] = {}
        self.entered = [0] * len(rules.graphs)
        self.kinds_entered = 0
        self.verdict_keys = Keys(loops.QUESTION)
        self.changed = False
        self.passes = 0
        self.stable = False
        self.breaks = False
        self._asked: set[tuple[object, object]] = set()
        super().__init__(collapsed, judge)
        self._renew()

    def levels(self, until: Guarantee | None, meter: Meter) -> bool:
        """As CompiledSearch.levels, once nothing new is learned."""
        while True:
            self.passes += 1
            self.changed = False
            complete = super().levels(until, meter)
            self._renew()
            self.stable = not self.changed
            if self.stable or meter.why:
                return complete
            self._begin_again()

    def _begin_again(self) -> None:
        """Forget all worlds but the first, and nothing else."""
        at = self.at
        at[loops.COUNT], at[loops.TRANSITIONS], at[loops.QUIESCENT] = 1, 0, 0
        self.depth, self.violation = 0, None
        self._fill_slots(len(self.tables.slots))

    def edges(self, suspects: Suspects) -> NDArray[np.int64]:
        """As PlainSearch.edges, between worlds that were visited."""
        if not suspects:
            return np.zeros((0, 2), np.int64)
        found = super().edges(suspects)
        return found[found[:, 1] >= 0]

    # --- tables ------------------------------------------------------------------------------
    def _choice(self) -> Choice:
        rules, collapsed = self.rules, self.collapsed
        nodes, channels = len(rules.graphs), len(collapsed.system.deployment.channels)
        return Choice(
            nodes=nodes,
            channels=collapsed.starts[1],
            open=channels,
            arrivals=np.array([graph.arrivals for graph in rules.graphs], np.int64),
            incoming=np.array([graph.incoming for graph in rules.graphs], np.uint64),
            outgoing=np.array(rules.outgoing, np.uint64),
            heeds=np.zeros(nodes, np.uint64),
            only=np.zeros(channels, np.uint64),
            grouped=np.array(rules.grouped, np.bool_),
            of_victims=np.uint64(rules.of_victims),
            at_risk=np.uint64(rules.at_risk),
            sends=np.zeros((2, nodes, FIRST_ROOM, 2), np.uint64),
            kinds=np.full((channels, FIRST_ROOM), -1, np.int8),
            lost=np.zeros((nodes, FIRST_ROOM), np.uint64),
            labels=np.full(FIRST_ROOM, -1, np.int32),
            takes=np.full(FIRST_ROOM, -1, np.int64),
            silent=np.zeros(FIRST_ROOM, np.uint64),
            heard=np.zeros(FIRST_ROOM, np.uint64),
            calm=np.zeros(FIRST_ROOM, np.bool_),
            all_silent=np.zeros(FIRST_ROOM, np.uint64),
            all_heard=np.zeros((FIRST_ROOM, 2), np.uint64),
            verdict_slots=self.verdict_keys.slots,
            verdict_keys=self.verdict_keys.keys,
            verdicts=np.zeros(FIRST_ROOM, np.bool_),
        )

    def _learn(self, view: NodeView, numbers: tuple[int, ...], found: StepCache) -> None:
        rules = self.rules.learn(view, numbers, found)
        self._enter_kinds()
        c, focus = self.tables.choice, self.focuses.count - 1
        first, end = self.moves - len(found.cached), self.moves
        labels, takes = widen(c.labels, end), widen(c.takes, end)
        silent, heard, calm = widen(c.silent, end), widen(c.heard, end), widen(c.calm, end)
        for move, rule in enumerate(rules.moves, first):
            labels[move], takes[move], silent[move], heard[move], calm[move] = rule
        all_silent, all_heard = widen(c.all_silent, focus + 1), widen(c.all_heard, focus + 1)
        all_silent[focus], all_heard[focus] = rules.silent, (rules.heard, rules.heard_in_crashes)
        choice = c._replace(
            labels=labels,
            takes=takes,
            silent=silent,
            heard=heard,
            calm=calm,
            all_silent=all_silent,
            all_heard=all_heard,
        )
        self.tables = self.tables._replace(choice=choice)
        self._renew_sends()

    def _enter_kinds(self) -> None:
        """Enter the kinds of messages that were met since the last call."""
        c, messages = self.tables.choice, len(self.collapsed.messages)
        if messages > c.kinds.shape[1]:
            kinds = np.full((len(c.kinds), 2 * messages), -1, np.int8)
            kinds[:, : c.kinds.shape[1]] = c.kinds
            c = c._replace(kinds=kinds)
            self.tables = self.tables._replace(choice=c)
        for channel, message, kind in self.rules.new_kinds:
            c.kinds[channel, message] = kind
        self.rules.new_kinds.clear()

    def _renew_sends(self) -> None:
        """Enter what nodes may send by all that is known now."""
        c = self.tables.choice
        kinds = self.rules.kinds.numbers
        for (field, _), kind in islice(kinds.items(), self.kinds_entered, None):
            channel, self.changed = field - c.channels, True
            c.heeds[self.rules.receivers[channel]] |= np.uint64(1 << kind)
            if kind < MOST - 1:
                c.only[channel] |= np.uint64(1 << kind)
        self.kinds_entered = len(kinds)
        most = max(len(self.collapsed.values[graph.at]) for graph in self.rules.graphs)
        if most > c.lost.shape[1]:
            room = 2 * most
            sends = np.zeros((2, c.nodes, room, 2), np.uint64)
            lost = np.zeros((c.nodes, room), np.uint64)
            sends[:, :, : c.lost.shape[1]], lost[:, : c.lost.shape[1]] = c.sends, c.lost
            c = c._replace(sends=sends, lost=lost)
            self.tables = self.tables._replace(choice=c)
        for node, graph in enumerate(self.rules.graphs):
            for number in graph.changed:
                self.changed = True
                for faults in (0, 1):
                    all_ = graph.sends[faults].get(number, 0)
                    c.sends[faults, node, number] = all_ & WORD, all_ >> KINDS
                c.lost[node, number] = self.rules.lost(node, number)
            graph.changed.clear()
            known, values = self.entered[node], self.collapsed.values[node]
            for number in range(known, len(values)):
                c.lost[node, number] = self.rules.lost(node, number)
            self.entered[node] = len(values)

    def _answer_rest(self) -> None:
        super()._answer_rest()
        if self.judge.always:
            self._look_back(self._seen(Looks()))

    def _look_back(self, seen: Observation) -> None:
        todo = [seen]
        while todo:
            seen = todo.pop()
            if (seen.arrivals, seen.outputs) not in self._asked:
                self._asked.add((seen.arrivals, seen.outputs))
                self.breaks = self.breaks or self.judge.broken(seen) is not None
                for sink, put in enumerate(seen.outputs):
                    if put:
                        before = replace_item(seen.outputs, sink, put[:-1])
                        todo.append(seen._replace(outputs=before))

    # --- verdicts ----------------------------------------------------------------------------
    def _answers(self) -> dict[int, Callable[[], None]]:
        return {**super()._answers(), loops.NO_VERDICT: self._answer_verdict}

    def _answer_verdict(self) -> None:
        node, value, arrivals, label, low, high = self.question.tolist()
        question = CommuteQuestion(
            node, (value, arrivals), self.rules.labels[label], low | high << HALF
        )
        verdict = self.rules.verdicts.ask(question)
        number = self.verdict_keys.add(self.question)
        self.places[question] = number
        c = self.tables.choice
        verdicts = widen(c.verdicts, number + 1)
        verdicts[number] = verdict
        keys = self.verdict_keys
        choice = c._replace(verdict_slots=keys.slots, verdict_keys=keys.keys, verdicts=verdicts)
        self.tables = self.tables._replace(choice=choice)
        self._renew_sends()

    def _renew(self) -> None:
        """Ask the verdicts again on which what was learned since may bear."""
        verdicts = self.rules.verdicts
        for question in (
            *verdicts.renew(),
            *(verdicts.ask_far() if self.passes < LEARNING else ()),
        ):
            self.changed = True
            if question in self.places:
                place = self.places[question]
                self.tables.choice.verdicts[place] = verdicts.known[question]
        self._renew_sends()
