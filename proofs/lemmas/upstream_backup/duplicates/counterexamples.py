"""Duplicates that are not discarded, and replays that begin too late: what they do to an edge.

Rule of this file: the system of edge without one of its hypotheses, a smallest run each, and how
such a run is drawn.  Smallest among the runs that do without the transitions left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from z3 import And, Const, ForAll, Not, is_true

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.duplicates import edge
from proofs.prove.grid import Cell, CellMark, Grid, GridRow
from proofs.prove.grounding import Sizes
from proofs.prove.kinds import QueryKind
from proofs.prove.lemma import Given, Lemma, without
from proofs.prove.query import Query, smallest
from proofs.prove.transition import Moment, TransitionSystem, bounded, transitions_taken

e = Const("e", edge.EVENT)

UNTOUCHED = ("producer crashes", "producer crashes, mute", "producer is restored", "discard")
"""What there is not if the producer does not crash."""


class FoundEdgeRun(NamedTuple):
    """A run of the edge.  Events are known by their rank among the numbers, from 1.

    steps: transitions, each with the event concerned.  twice, lost: the events that have had their
    effect twice in the end, and those that have none although a later one was heard.
    """

    steps: tuple[tuple[str, int | None], ...]
    twice: tuple[int, ...]
    lost: tuple[int, ...]


class BrokenEdge(NamedTuple):
    """The edge without a hypothesis: the invariant that breaks, and after how many steps.

    left_out: transitions that the run is to do without.  sizes: of the world that is drawn.
    """

    hypothesis: str
    invariant: str
    depth: int
    left_out: tuple[str, ...]
    sizes: Sizes | None = None

    @property
    def system(self) -> TransitionSystem:
        return edge.only(edge.system(without(self.hypothesis)), *edge.SPURIOUS, *self.left_out)

    def question(self, depth: int, kind: QueryKind) -> Query:
        """Does a run of so many steps break the invariant?  In the one drawn every event is
        needed."""
        if kind is QueryKind.CLAIM:
            return bounded(self.system, self.invariant, depth)
        all_needed = ForAll([e], Not(edge.unneeded(e)))
        query = bounded(self.system, self.invariant, depth, kind, self.sizes, [all_needed])
        return replace(query, show=partial(draw, self, query.name))

    def read(self, model: Any) -> FoundEdgeRun:
        """The run that a model describes."""
        found = EdgeModel(model)
        end = self.system.moment(self.depth)
        steps = transitions_taken(self.system, model, self.depth)
        return FoundEdgeRun(
            tuple((step.name, found.event_of(step.params)) for step in steps),
            tuple(found.number(e) for e in found.events if found.true(end.doubled(e))),
            tuple(found.number(e) for e in found.events if found.true(lost(end, e))),
        )


def refute(broken: BrokenEdge, _given: Given) -> Iterator[Query]:
    """No run of fewer steps breaks the invariant; one of so many does."""
    return smallest(broken.question, range(broken.depth + 1))


def lost(s: Moment, event: Any) -> Any:
    """The successor has heard a later event and has not had this one, which it needs."""
    heard = edge.le(edge.number(event), s.heard)
    return And(edge.due(s, event), heard, Not(s.done(event)))


UNDISCARDED = BrokenEdge(edge.DISCARD, edge.ONCE, 6, ("successor crashes", "acknowledge"))
LATE_RESTORE = BrokenEdge(edge.RESTORED, edge.ALL, 4, ("successor crashes",))
LATE_REPLAY = BrokenEdge(
    edge.REPLAYED, edge.ALL, 7, UNTOUCHED, {edge.EVENT: 2, edge.NUMBER: 3, edge.MESSAGE: 3}
)


# --- drawing ---------------------------------------------------------------------------------
class EdgeModel:
    """A model: its events in the order of their numbers, its messages in that of the channel."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.events = sorted(model.get_universe(edge.EVENT) or (), key=self.number)
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

    def number(self, event: Any) -> int:
        """The rank of the event."""
        return self.rank(edge.number(event))

    def event_of(self, params: tuple[Any, ...]) -> int | None:
        """The event that a transition concerns: of a message, or the last one up to a place."""
        if not params:
            return None
        (what,) = params
        return self.rank(edge.stamp(what) if what.sort() == edge.MESSAGE else what)


def draw(broken: BrokenEdge, caption: str, model: Any) -> Grid:
    """Lanes: the producer, what is on its way, the successor; and an event each."""
    found = EdgeModel(model)
    moments = [broken.system.moment(time) for time in range(broken.depth + 1)]

    def state(flag: Any) -> Cell:
        return Cell("up") if found.true(flag) else Cell("down", CellMark.BAD)

    def effect(s: Moment, e: Any) -> Cell:
        if found.true(s.doubled(e)):
            return Cell("twice", CellMark.BAD)
        if found.true(s.done(e)):
            return Cell("done", CellMark.GOOD)
        return Cell("lost", CellMark.BAD) if found.true(lost(s, e)) else Cell()

    def on_its_way(s: Moment) -> Cell:
        sent = [m for m in found.messages if found.true(edge.in_flight(s, m))]
        return Cell(" ".join(str(found.rank(edge.stamp(m))) for m in sent))

    rows = [
        GridRow("producer", tuple(state(s.running) for s in moments)),
        GridRow("on its way", tuple(map(on_its_way, moments))),
        GridRow("successor", tuple(state(s.listening) for s in moments)),
        GridRow("heard", tuple(Cell(str(found.rank(s.heard))) for s in moments)),
        *(
            GridRow(f"effect of {found.number(e)}", tuple(effect(s, e) for s in moments))
            for e in found.events
        ),
    ]
    steps = (
        name if event is None else f"{name} {event}" for name, event in broken.read(model).steps
    )
    return Grid(caption, ("at first", *steps), tuple(rows))


LEMMAS = (
    Lemma(
        name="duplicates-undiscarded",
        statement="If old numbers are not discarded, one crash of the producer gives an event its "
        "effect twice.",
        section="Lima et al., III-B2",
        expect=Outcome.REFUTED,
        build=partial(refute, UNDISCARDED),
        scope="runs of up to 6 steps; the successor is a sink, and nothing is acknowledged",
    ),
    Lemma(
        name="duplicates-late-restore",
        statement="If a producer is restored beyond what its successor has heard, the successor "
        "loses an event and does not notice.",
        section="Lima et al., III-B2",
        expect=Outcome.REFUTED,
        build=partial(refute, LATE_RESTORE),
        scope="runs of up to 4 steps; the successor does not crash",
    ),
    Lemma(
        name="duplicates-late-replay",
        statement="If the backup begins beyond the savepoint from which a successor is restored, "
        "the successor loses an event and does not notice.",
        section="Lima et al., III-B2",
        expect=Outcome.REFUTED,
        build=partial(refute, LATE_REPLAY),
        scope="runs of up to 7 steps; the producer does not crash",
    ),
)
