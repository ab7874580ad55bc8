"""Duplicates that are not discarded, and replays that begin too late: what they do to an edge.

Rule of this file: the system of edge without one of its hypotheses, a smallest run each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from z3 import And, ForAll, Not, Or

from model.evidence import Outcome
from model.results.grid import Cell, CellMark, Grid
from proofs.lemmas.readings import shortest
from proofs.lemmas.upstream_backup.duplicates import edge
from proofs.prove.drawing import CellOptions, stream, true
from proofs.prove.grounding import Sizes
from proofs.prove.lemma import Given, Lemma, without
from proofs.prove.query import SolverQuery
from proofs.prove.symbols import AtTime
from proofs.prove.transition import StepTaken, TransitionSystem, transitions_taken


def draw(faulty: TransitionSystem, claim: str, steps: int, model: Any) -> Grid:
    """Lanes: the two ends, and of each event whether it is on its way, and its effect.  Events are
    known by their rank among the numbers, from 1."""
    moments = [faulty.moment(time) for time in range(steps + 1)]
    events, sent = (model.get_universe(sort) or () for sort in (edge.EVENT, edge.MESSAGE))

    def rank(place: Any) -> int:
        return sum(true(model, edge.le(edge.number(one), place)) for one in events)

    def end(up: Any) -> CellOptions:
        return (up, Cell("up")), (Not(up), Cell("down", CellMark.BAD))

    def effect(one: Any, s: AtTime) -> CellOptions:
        coming = Or(
            *(And(edge.in_flight(s, message), edge.event(message) == one) for message in sent)
        )
        lost = And(edge.due(s, one), edge.le(edge.number(one), s.heard), Not(s.done(one)))
        return (
            (s.doubled(one), Cell("done twice", CellMark.BAD)),
            (lost, Cell("lost", CellMark.BAD)),
            (And(coming, s.done(one)), Cell("done, on its way")),
            (coming, Cell("on its way")),
            (s.done(one), Cell("done", CellMark.GOOD)),
        )

    def column(step: StepTaken) -> str:
        of = (edge.stamp(place) if place.sort() == edge.MESSAGE else place for place in step.params)
        return " ".join([step.name, *(str(rank(place)) for place in of)])

    taken = transitions_taken(faulty, model, steps)
    lanes = [
        ("producer", [end(s.running) for s in moments]),
        ("successor", [end(s.listening) for s in moments]),
    ]
    for one in sorted(events, key=lambda one: rank(edge.number(one))):
        lanes.append((f"event {rank(edge.number(one))}", [effect(one, s) for s in moments]))
    columns = ("at first", *map(column, taken))
    return stream(model, f"broken after {steps} steps: {claim}", columns, lanes)


def broken(
    hypothesis: str, claim: str, steps: int, *left_out: str, sizes: Sizes | None = None
) -> Callable[[Given], Iterator[SolverQuery]]:
    """The claim that breaks without a hypothesis, and after how many steps; smallest among the runs
    that do without the transitions left out.  In the run drawn every event is needed."""
    faulty = edge.only(edge.system(without(hypothesis)), *left_out)
    needed = ForAll([edge.e], Not(edge.unneeded(edge.e)))
    picture = partial(draw, faulty, claim, steps)
    return lambda _: shortest(faulty, claim, steps, sizes, [needed], picture)


UNTOUCHED = ("producer crashes", "producer crashes, mute", "producer is restored", "discard")
"""What there is not if the producer does not crash."""
TWO = {edge.EVENT: 2, edge.NUMBER: 3, edge.MESSAGE: 3}
refuted = partial(Lemma, section=edge.PAPER, expect=Outcome.REFUTED)
LEMMAS = (
    refuted(
        "duplicates-undiscarded",
        "If old numbers are not discarded, one crash of the producer gives an event its effect "
        "twice.",
        build=broken(edge.DISCARD, edge.ONCE, 6, "successor crashes", "acknowledge"),
        scope="runs of up to 6 steps; the successor is a sink, and nothing is acknowledged",
    ),
    refuted(
        "duplicates-late-restore",
        "If a producer is restored beyond what its successor has heard, the successor loses an "
        "event and does not notice.",
        build=broken(edge.RESTORED, edge.ALL, 4, "successor crashes"),
        scope="runs of up to 4 steps; the successor does not crash",
    ),
    refuted(
        "duplicates-late-replay",
        "If the backup begins beyond the savepoint from which a successor is restored, the "
        "successor loses an event and does not notice.",
        build=broken(edge.REPLAYED, edge.ALL, 7, *UNTOUCHED, sizes=TWO),
        scope="runs of up to 7 steps; the producer does not crash",
    ),
)
