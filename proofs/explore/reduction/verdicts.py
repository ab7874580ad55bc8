"""Verdicts: may one action of a node be taken before all that may come to the node meanwhile?

Rule of this file: both orders of two actions are asked of the model, and compared.

An action *commutes* with another one in a state of its node if both orders lead to the same state,
if each sends the same messages either way, if the messages on each channel come in the same order,
and if the other order shows no note and no crash point that was never seen.  A verdict is yes if
the action commutes with each action that may come before it, in each state to which these lead.
"""

from __future__ import annotations

from typing import NamedTuple

from proofs.explore.evidence import ActionEvidence
from proofs.explore.reduction.graphs import LocalGraph, LocalLabel, LocalStep, State, TooFar


class CommuteQuestion(NamedTuple):
    """Does the action commute with all that may come before it?

    live: the kinds of messages, as bits, that may come to the node.
    """

    node: int
    state: State
    label: LocalLabel
    live: int


class Diamond(NamedTuple):
    """Two actions in both orders: do they commute, up to the evidence?  after: the state after the
    other one alone.  shown: the evidence of the other order."""

    commutes: bool
    after: State
    shown: tuple[ActionEvidence, ...]


class CommuteVerdicts:
    """The verdicts asked for so far.  A yes may turn to no as the graphs grow; a no stays."""

    def __init__(self, graphs: list[LocalGraph]) -> None:
        self.graphs = graphs
        self.known: dict[CommuteQuestion, bool] = {}
        self._diamonds: dict[tuple[int, State, LocalLabel, LocalLabel], Diamond | None] = {}
        self._far: dict[CommuteQuestion, None] = {}
        self._shown: dict[CommuteQuestion, list[ActionEvidence]] = {}
        self._rest_on: dict[tuple[int, State], dict[CommuteQuestion, None]] = {}

    def ask(self, question: CommuteQuestion) -> bool:
        known = self.known.get(question)
        if known is None:
            known = self.known[question] = self._judge(question)
        return known

    def ask_far(self) -> list[CommuteQuestion]:
        """Ask again what led too far away from all that had been seen then; returns the questions
        that are answered with yes now."""
        far, self._far = [*self._far], {}
        for question in far:
            self.known[question] = self._judge(question)
        return [question for question in far if self.known[question]]

    def renew(self) -> list[CommuteQuestion]:
        """After a search: ask again where the graphs have grown, and whether all that another order
        would have shown was seen.  Returns the questions that are answered with no now."""
        turned = []
        while stale := self._stale():
            for question in stale:
                if self.known[question] and not self._judge(question):
                    turned.append(question)
                    self.known[question] = False
        for question, shown in self._shown.items():
            if self.known[question] and any(map(self._is_new, shown)):
                turned.append(question)
                self.known[question] = False
        return turned

    def _stale(self) -> dict[CommuteQuestion, None]:
        stale: dict[CommuteQuestion, None] = {}
        for node, graph in enumerate(self.graphs):
            for state, other, kind in graph.grown:
                for question in self._rest_on.get((node, state), ()):
                    if question.live >> kind & 1 and other.field != question.label.field:
                        stale[question] = None
            graph.grown.clear()
        return stale

    def _judge(self, question: CommuteQuestion) -> bool:
        try:
            return self._commutes(question)
        except TooFar:
            self._far[question] = None
            return False

    def _commutes(self, question: CommuteQuestion) -> bool:
        node, start, label, _ = question
        graph = self.graphs[node]
        seen, todo, ends = {start}, [start], []
        shown: list[ActionEvidence] = []
        while todo:
            before = todo.pop()
            first = graph.step(before, label)
            if first is None:
                return False
            ends += [before, first.after]
            for other in self._others(question, before, first.after):
                diamond = self._diamond(node, before, label, other)
                if diamond is None:
                    continue
                if not diamond.commutes:
                    return False
                shown += diamond.shown
                if diamond.after not in seen:
                    seen.add(diamond.after)
                    todo.append(diamond.after)
        for state in ends:
            self._rest_on.setdefault((node, state), {})[question] = None
        if shown:
            self._shown[question] = shown
        return True

    def _others(self, question: CommuteQuestion, before: State, after: State) -> list[LocalLabel]:
        """The actions that may come before the one in question: those that the state itself
        offers, and all messages that are known to come in it, or to come just afterwards."""
        node, _, label, live = question
        graph = self.graphs[node]
        field = label.field
        found = [other for other in graph.offered(before) if other != label]
        seen, then = graph.known.get(before, {}), graph.known.get(after, {})
        for other, kind in seen.items():
            if kind >= 0 and live >> kind & 1 and other.field != field:
                found.append(other)
        for other, kind in then.items():
            if kind >= 0 and live >> kind & 1 and other.field != field and other not in seen:
                found.append(other)
        return found

    def _diamond(
        self, node: int, before: State, label: LocalLabel, other: LocalLabel
    ) -> Diamond | None:
        """Both orders of the two actions; None if the other one cannot come first."""
        key = node, before, label, other
        if key not in self._diamonds:
            self._diamonds[key] = self._draw(self.graphs[node], before, label, other)
        return self._diamonds[key]

    def _draw(
        self, graph: LocalGraph, before: State, label: LocalLabel, other: LocalLabel
    ) -> Diamond | None:
        if not graph.is_possible(before, other):
            return None
        first, then = graph.step(before, label), graph.step(before, other)
        if first is None or then is None:
            return Diamond(False, before, ())
        one, two = graph.step(first.after, other), graph.step(then.after, label)
        if one is None or two is None:
            return Diamond(False, before, ())
        commutes = (
            one.after == two.after
            and one.sent == then.sent
            and two.sent == first.sent
            and not _order_matters(graph.collapsed.messages, first, then)
        )
        alike = then.evidence == one.evidence and two.evidence == first.evidence
        return Diamond(commutes, then.after, () if alike else (then.evidence, two.evidence))

    def _is_new(self, shown: ActionEvidence) -> bool:
        """Is there a kind of notes or a crash point that nobody saw before?"""
        known = self.graphs[0].collapsed.evidence
        return not (shown.points <= known.points and shown.notes.keys() <= known.notes.keys())


def _order_matters(messages: list[tuple[object, ...]], one: LocalStep, other: LocalStep) -> bool:
    """Do both send on one channel, so that the order of the messages shows?"""
    sent = dict(one.sent)
    return any(
        field in sent
        and messages[sent[field]] + messages[number] != messages[number] + messages[sent[field]]
        for field, number in other.sent
    )
