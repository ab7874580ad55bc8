"""One array of skip ranges, or one SN_trim, for all input edges: the smallest runs that lose one.

Rule of this file: it is the system of ranges, as published, in worlds of a few events.  That
fewer events are not enough is proved for runs of any length, by induction in worlds of that size.
The searches are finite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from z3 import And, BoolVal, Const, ForAll, Implies, Not, Or

from model.evidence import Outcome
from model.results.answers import QueryKind
from model.results.grid import Cell, CellMark, Grid
from model.results.proofs import Erratum
from proofs.lemmas.upstream_backup.skip_ranges import ranges
from proofs.lemmas.upstream_backup.skip_ranges.ranges import a, e, g, h, n
from proofs.prove.drawing import CellOptions, stream, true
from proofs.prove.grounding import element, ground
from proofs.prove.lemma import Given, Lemma, all_given
from proofs.prove.query import SolverQuery, smallest
from proofs.prove.symbols import AtTime
from proofs.prove.transition import TransitionSystem, bounded, transitions_taken


class SharedRanges(NamedTuple):
    """The numbers that edges share.  distinct: no two events of any edges have one number.

    events, steps: of the smallest run that deletes too much.
    """

    shares: str
    distinct: bool
    one_array: bool
    events: int
    steps: int

    @property
    def system(self) -> TransitionSystem:
        same = ranges.of_any_edge if self.distinct else ranges.of_one_edge
        shared = ranges.array(g) == ranges.array(h)
        own = ForAll([g, h], shared if self.one_array else Implies(shared, g == h))
        axioms = {ranges.UNIQUE: ranges.same_number(same), "arrays": own}
        trims = partial(ranges.trims_per_edge, all_given) if self.one_array else ranges.one_trim
        return ranges.arrays(all_given, self.shares, ranges.IN_TURN, trims, axioms)

    def sizes(self, events: int) -> dict[Any, int]:
        arrays = 1 if self.one_array else 2
        edges = {ranges.EDGE: 2, ranges.ARRAY: arrays}
        return {ranges.EVENT: events, **edges, ranges.NUMBER: events + 1}

    def numbered(self, count: int) -> list[Any]:
        """The names of the numbers, without loss of generality: 0 (nothing), 1, 2, ... in
        order; those of the events, too, if all differ."""
        numbers = [element(ranges.NUMBER, i) for i in range(count + 1)]
        events = [element(ranges.EVENT, i) for i in range(count)]
        order = [
            ranges.le(one, other) == (i <= j)
            for i, one in enumerate(numbers)
            for j, other in enumerate(numbers)
        ]
        named = (ranges.sn(x) == numbers[i] for i, x in enumerate(events, 1) if self.distinct)
        return [ranges.nothing == numbers[0], *order, *named]

    def draw(self, model: Any) -> Grid:
        """Columns are steps, lanes the events of both edges by their numbers: where each is."""
        moments = [self.system.moment(time) for time in range(self.steps + 1)]
        edges = [element(ranges.EDGE, i) for i in range(2)]
        known = [element(ranges.EVENT, i) for i in range(self.events)]

        def name(one: Any) -> str:
            if one.sort() == ranges.EDGE:
                at = next(i for i, edge in enumerate(edges, 1) if true(model, edge == one))
                return f"edge {at}"
            below = [true(model, ranges.le(ranges.sn(other), ranges.sn(one))) for other in known]
            numbers = [
                str(model.eval(ranges.sn(x))) for x, is_ in zip(known, below, strict=True) if is_
            ]
            return f"{len({*numbers})} of {name(ranges.edge(one))}"

        def where(one: Any, s: AtTime) -> CellOptions:
            number, its = ranges.sn(one), ranges.array(ranges.edge(one))
            covered = Or(s.made(its, number), ranges.in_run(s, its, number))
            return (
                (And(s.deleted(one), s.needed(one)), Cell("deleted, needed", CellMark.BAD)),
                (s.deleted(one), Cell("deleted", CellMark.DIM)),
                (s.sent(ranges.edge(one), number), Cell("covered, on its way")),
                (covered, Cell("covered")),
                (s.passed(one), Cell("processed")),
                (BoolVal(True), Cell("to come", CellMark.DIM)),
            )

        taken = transitions_taken(self.system, model, self.steps)
        columns = (" ".join([step.name, *map(name, step.params)]) for step in taken)
        lanes = sorted((name(one), [where(one, s) for s in moments]) for one in known)
        caption = f"{self.shares} for two edges, {self.events} events"
        return stream(model, caption, ("at first", *columns), lanes)

    def plain(self) -> list[Any]:
        """To be drawn: what is shared does it alone, and the acknowledgement covers all that it
        may."""
        ended, sent = (self.system.moment(self.steps - back) for back in (2, 1))
        if self.one_array:
            alone = ForAll([g], sent.trim(g) == ranges.nothing)
            covered = Or(ended.made(ranges.array(g), n), ranges.in_run(ended, ranges.array(g), n))
        else:
            alone = ForAll([a], Not(ended.running(a)))
            covered = ranges.le(n, sent.trim(g))
        return [alone, ForAll([g, n], sent.sent(g, n) == covered)]


PUBLISHED = SharedRanges("one array of skip ranges", True, True, events=3, steps=4)
OVERLAPPING = SharedRanges("one array, numbers an edge", False, True, events=2, steps=3)
ONE_TRIM = SharedRanges("one SN_trim", True, False, events=2, steps=3)


# --- searches --------------------------------------------------------------------------------
def refute(design: SharedRanges, _given: Given) -> Iterable[SolverQuery]:
    """Fewer events than the design's are not enough in runs of any length; these are, in its
    steps."""
    return smallest(partial(question, design), range(1, design.events + 1))


def question(design: SharedRanges, events: int, kind: QueryKind) -> SolverQuery:
    """Is one of `events` events deleted although it is needed?"""
    system, sizes, numbers = design.system, design.sizes(events), design.numbered(events)
    name = f"one that is needed is deleted, of {events} event{'s' * (events > 1)}"
    if kind is QueryKind.CLAIM:
        claims = ground([*numbers, *_breaks(system)], sizes)
        return SolverQuery(f"{name}, in a run of any length", kind, tuple(claims))
    assuming = [*numbers, *design.plain()]
    found = bounded(system, ranges.DELETED, design.steps, kind, sizes, assuming)
    return replace(found, name=name, show=design.draw)


def _breaks(system: TransitionSystem) -> list[Any]:
    """Not inductive: the claim is wrong at first or after some transition.  Of so few events all
    are ends of ranges, so that the passed ones do not matter."""
    wanted = [*(v for name, v in ranges.INVARIANTS.items() if name != ranges.LAST), _ends]
    start = system.moment(0)
    cases = [And(system.init(start), _not_all(wanted, start))]
    for transition in system.transitions:
        params = [Const(f"{transition.name} {name}", sort) for name, sort in transition.params]
        after = system.after(transition)
        step = transition.relation(start, after, *params)
        cases.append(And(*(holds(start) for holds in wanted), step, _not_all(wanted, after)))
    return [*system.axioms.values(), Or(*cases)]


def _not_all(wanted: Iterable[Callable[[AtTime], Any]], s: AtTime) -> Any:
    return Not(And(*(holds(s) for holds in wanted)))


def _ends(s: AtTime) -> Any:
    """A run begins and ends with an event, and that is not needed."""
    ends = And(s.lo(a) != ranges.nothing, s.hi(a) != ranges.nothing)
    skipped = ForAll([e], Implies(ranges.ends_run(s, e), Not(s.needed(e))))
    return And(ForAll([a], Implies(s.running(a), ends)), skipped)


# --- lemmas ----------------------------------------------------------------------------------
def shared(
    name: str, statement: str, section: str, design: SharedRanges, erratum: Erratum | None = None
) -> Lemma:
    scope = f"up to {design.events} events on 2 edges"
    build = partial(refute, design)
    return Lemma(name, statement, section, Outcome.REFUTED, build, scope, "finite", erratum)


ORDER = "any global order of numbers is allowed, and any deterministic merge."
LEMMAS = (
    shared(
        "ranges-coalesced",
        "One array of skip ranges serves all input edges, if numbers are global and increase on "
        "every edge: refuted, since a run of skipped events covers numbers of another edge that "
        "are yet to come where the merge does not follow the numbers.",
        "Lima et al., III-A",
        PUBLISHED,
        Erratum(
            "It is completely safe to delete from all output queues what the skip-ranges array "
            f"covers; {ORDER}",
            "Lima et al., II-A and III-A",
            "3 events on two input edges",
            "one array of ranges an input edge, or a merge in the order of the numbers",
        ),
    ),
    shared(
        "ranges-coalesced-overlapping",
        "One array of skip ranges serves all input edges if every edge has numbers of its own: "
        "refuted, since the range of a skipped event covers another edge's event of that number.",
        "Lima et al., III-A",
        OVERLAPPING,
    ),
    shared(
        "trim-coalesced",
        "One SN_trim, the number of the event before the replay start, serves all input edges, if "
        "numbers are global and increase on every edge: refuted, since an event of another edge "
        "with a smaller number may be yet to come.",
        "Lima et al., II-B and III-B2",
        ONE_TRIM,
        Erratum(
            "Events with numbers up to SN_trim can safely be deleted from the output queues of all "
            f"predecessors; {ORDER}",
            "Lima et al., II-A, II-B and III-B2",
            "2 events, one on each of two input edges",
            "one SN_trim an input edge, or a merge in the order of the numbers",
        ),
    ),
)
