"""Duplicates that are not discarded, and replays that begin too late: what they do to an edge.

Rule of this file: the system of duplicates.py without one of its hypotheses, a smallest run each,
and how such a run reads.  Smallest among the runs that do without the transitions left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from z3 import And, Const, ForAll, Not, is_true

from model.core import Outcome
from proofs.lemmas.upstream_backup.duplicates import edge
from proofs.prove.grid import Cell, Grid, Mark, Row
from proofs.prove.grounding import Sizes
from proofs.prove.kinds import Kind
from proofs.prove.lemma import Given, Lemma, dropped
from proofs.prove.query import Query, smallest
from proofs.prove.transition import Moment, TransitionSystem, bounded, transitions_taken

e = Const("e", edge.EVENT)

UNTOUCHED = ("producer crashes", "producer crashes, mute", "producer is restored", "discard")
"""What there is not if the producer does not crash."""


def _without(
    hypothesis: str,
    invariant: str,
    depth: int,
    left_out: tuple[str, ...],
    sizes: Sizes | None = None,
) -> Callable[[Given], Iterator[Query]]:
    """No run of fewer steps breaks the invariant; one of so many does, if every event is needed.

    left_out: transitions that the run is to do without.
    """

    def build(_: Given) -> Iterator[Query]:
        broken = edge.only(edge.system(dropped(hypothesis)), *edge.SPURIOUS, *left_out)

        def question(length: int, kind: Kind) -> Query:
            if kind is Kind.CLAIM:
                return bounded(broken, invariant, length)
            all_needed = ForAll([e], Not(edge.unneeded(e)))
            query = bounded(broken, invariant, length, kind, sizes, [all_needed])
            return replace(query, show=partial(draw, broken, length, query.name))

        return smallest(question, range(depth + 1))

    return build


SMALL = {edge.EVENT: 2, edge.NUMBER: 3, edge.MESSAGE: 3}


# --- drawing ---------------------------------------------------------------------------------
class Shown:
    """A model: its events in the order of their numbers, its messages in that of the channel."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.events = sorted(model.get_universe(edge.EVENT) or (), key=self._rank_of)
        messages = model.get_universe(edge.MESSAGE) or ()
        self.messages = sorted(
            messages, key=lambda m: sum(self.true(edge.before(k, m)) for k in messages)
        )

    def true(self, formula: Any) -> bool:
        return bool(is_true(self._model.eval(formula, model_completion=True)))

    def rank(self, place: Any) -> int:
        """How many events have this number or a smaller one."""
        return sum(
            self.true(edge.le(edge.number(e), place))
            for e in self._model.get_universe(edge.EVENT) or ()
        )

    def _rank_of(self, e: Any) -> int:
        return self.rank(edge.number(e))

    def step(self, name: str, params: tuple[Any, ...]) -> str:
        """Messages by the number that they bear, places by the number of the last event."""
        if not params:
            return name
        (what,) = params
        return f"{name} {self.rank(edge.stamp(what) if what.sort() == edge.MESSAGE else what)}"


def draw(whole: TransitionSystem, depth: int, caption: str, model: Any) -> Grid:
    """Lanes: the producer, what is on its way, the successor; and an event each."""
    shown = Shown(model)
    moments = [whole.moment(time) for time in range(depth + 1)]

    def state(flag: Any) -> Cell:
        return Cell("up") if shown.true(flag) else Cell("down", Mark.BAD)

    def effect(s: Moment, e: Any) -> Cell:
        if shown.true(s.doubled(e)):
            return Cell("twice", Mark.BAD)
        if shown.true(s.done(e)):
            return Cell("done", Mark.GOOD)
        missing = And(edge.due(s, e), edge.le(edge.number(e), s.heard))
        return Cell("lost", Mark.BAD) if shown.true(missing) else Cell()

    def on_its_way(s: Moment) -> Cell:
        numbers = [
            shown.rank(edge.stamp(m)) for m in shown.messages if shown.true(edge.in_flight(s, m))
        ]
        return Cell(" ".join(map(str, numbers)))

    rows = [
        Row("producer", tuple(state(s.running) for s in moments)),
        Row("on its way", tuple(map(on_its_way, moments))),
        Row("successor", tuple(state(s.listening) for s in moments)),
        Row("heard", tuple(Cell(str(shown.rank(s.heard))) for s in moments)),
        *(
            Row(f"effect of {shown.rank(edge.number(e))}", tuple(effect(s, e) for s in moments))
            for e in shown.events
        ),
    ]
    taken = transitions_taken(whole, model, depth)
    steps = (shown.step(step.name, step.params) for step in taken)
    return Grid(caption, ("at first", *steps), tuple(rows))


LEMMAS = (
    Lemma(
        name="duplicates-undiscarded",
        statement="If old numbers are not discarded, one crash of the producer gives an event its "
        "effect twice.",
        section="Lima et al., III-B2",
        expect=Outcome.REFUTED,
        build=_without(edge.DISCARD, edge.ONCE, 6, ("successor crashes", "acknowledge")),
        scope="runs of up to 6 steps; the successor is a sink, and nothing is acknowledged",
    ),
    Lemma(
        name="duplicates-late-restore",
        statement="If a producer is restored beyond what its successor has heard, the successor "
        "loses an event and does not notice.",
        section="Lima et al., III-B2",
        expect=Outcome.REFUTED,
        build=_without(edge.RESTORED, edge.ALL, 4, ("successor crashes",)),
        scope="runs of up to 4 steps; the successor does not crash",
    ),
    Lemma(
        name="duplicates-late-replay",
        statement="If the backup begins beyond the savepoint from which a successor is restored, "
        "the successor loses an event and does not notice.",
        section="Lima et al., III-B2",
        expect=Outcome.REFUTED,
        build=_without(
            edge.REPLAYED, edge.ALL, 7, UNTOUCHED, {edge.EVENT: 2, edge.NUMBER: 3, edge.MESSAGE: 3}
        ),
        scope="runs of up to 7 steps; the producer does not crash",
    ),
)
