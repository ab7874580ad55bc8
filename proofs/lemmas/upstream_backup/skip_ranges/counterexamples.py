"""One array of skip ranges, or one SN_trim, for all input edges: the smallest runs that lose one.

Rule of this file: it is the system of ranges, as published, in worlds of a few events.  That
fewer events are not enough is proved for runs of any length, by induction in worlds of that size.
The searches are finite.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import z3
from z3 import And, Const, ForAll, Implies, Not, Or

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.skip_ranges import ranges
from proofs.prove.grid import Cell, CellMark, Grid, GridRow
from proofs.prove.grounding import element, ground
from proofs.prove.kinds import QueryKind
from proofs.prove.lemma import Erratum, Given, Lemma, all_given
from proofs.prove.query import Query, smallest
from proofs.prove.transition import Moment, TransitionSystem, bounded, transitions_taken

a = Const("a", ranges.ARRAY)
e = Const("e", ranges.EVENT)
g, h = z3.Consts("g h", ranges.EDGE)
n = Const("n", ranges.NUMBER)


# --- the designs -----------------------------------------------------------------------------
class SharedRanges(NamedTuple):
    """What edges share.  distinct: no two events of any edges have one number.

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
        axioms = {
            ranges.UNIQUE: ranges.same_number(same),
            "arrays": ForAll([g, h], shared if self.one_array else Implies(shared, g == h)),
        }
        trims = partial(ranges.trims_per_edge, all_given) if self.one_array else ranges.one_trim
        return ranges.arrays(all_given, self.shares, ranges.IN_TURN, trims, axioms)

    def sizes(self, events: int) -> dict[Any, int]:
        return {
            ranges.EVENT: events,
            ranges.EDGE: 2,
            ranges.ARRAY: 1 if self.one_array else 2,
            ranges.NUMBER: events + 1,
        }


PUBLISHED = SharedRanges("one array of skip ranges", True, True, events=3, steps=4)
OVERLAPPING = SharedRanges("one array, numbers an edge", False, True, events=2, steps=3)
ONE_TRIM = SharedRanges("one SN_trim", True, False, events=2, steps=3)


# --- the counterexample ----------------------------------------------------------------------
class FoundRun(NamedTuple):
    """A run with two edges.

    events: (edge, number) of each.  steps: what is done, with the event or edge concerned.
    lost: the events that are deleted and needed.
    """

    events: tuple[tuple[int, int], ...]
    steps: tuple[tuple[str, int | None], ...]
    lost: tuple[int, ...]


def refute(design: SharedRanges, _given: Given) -> Iterable[Query]:
    """Fewer events are not enough in runs of any length; so many are, in so many steps."""
    return smallest(partial(question, design), range(1, design.events + 1))


def question(design: SharedRanges, events: int, kind: QueryKind) -> Query:
    """Is one of so many events deleted although it is needed?"""
    system, sizes = design.system, design.sizes(events)
    name = f"one that is needed is deleted, of {events} event{'s' * (events > 1)}"
    if kind is QueryKind.CLAIM:
        claims = [*number_events(events, design.distinct), *_breaks(system)]
        return Query(f"{name}, in a run of any length", kind, tuple(ground(claims, sizes)))
    assuming = [*number_events(events, design.distinct), *plain(design, system)]
    query = bounded(system, ranges.DELETED, design.steps, kind, sizes, assuming)
    return replace(query, name=name, show=partial(draw, design, system))


def _breaks(system: TransitionSystem) -> list[Any]:
    """Not inductive: what is wanted is wrong at first or after some transition.  Of so few events
    all are ends of ranges, so that what has been passed does not matter."""
    wanted = [
        *(ranges.INVARIANTS[name] for name in ranges.INVARIANTS if name != ranges.LAST),
        _ends,
    ]
    start = system.moment(0)
    cases = [And(system.init(start), _not_all(wanted, start))]
    for transition in system.transitions:
        params = [Const(f"{transition.name} {name}", sort) for name, sort in transition.params]
        after = system.after(transition)
        step = transition.relation(start, after, *params)
        cases.append(And(*(holds(start) for holds in wanted), step, _not_all(wanted, after)))
    return [*system.axioms.values(), Or(*cases)]


def _not_all(wanted: Iterable[Callable[[Moment], Any]], s: Moment) -> Any:
    return Not(And(*(holds(s) for holds in wanted)))


def _ends(s: Moment) -> Any:
    """A run begins and ends with an event, and that is not needed."""
    ends = And(s.lo(a) != ranges.nothing, s.hi(a) != ranges.nothing)
    skipped = ForAll([e], Implies(ranges.ends_run(s, e), Not(s.needed(e))))
    return And(ForAll([a], Implies(s.running(a), ends)), skipped)


def number_events(count: int, distinct: bool) -> list[Any]:
    """What the numbers are called, without loss of generality: 0 (nothing), 1, 2, ... in order."""
    numbers = [element(ranges.NUMBER, i) for i in range(count + 1)]
    events = [element(ranges.EVENT, i) for i in range(count)]
    return [
        ranges.nothing == numbers[0],
        *(
            ranges.le(one, other) == (i <= j)
            for i, one in enumerate(numbers)
            for j, other in enumerate(numbers)
        ),
        *(ranges.sn(event) == numbers[i] for i, event in enumerate(events, 1) if distinct),
    ]


def plain(design: SharedRanges, system: TransitionSystem) -> list[Any]:
    """To be drawn: what is shared does it alone, and the acknowledgement covers all that it may."""
    ended, sent = (system.moment(design.steps - back) for back in (2, 1))
    if design.one_array:
        alone = ForAll([g], sent.trim(g) == ranges.nothing)
        covered = Or(ended.made(ranges.array(g), n), ranges.in_run(ended, ranges.array(g), n))
    else:
        alone = ForAll([a], Not(ended.running(a)))
        covered = ranges.le(n, sent.trim(g))
    return [alone, ForAll([g, n], sent.sent(g, n) == covered)]


def read(design: SharedRanges, system: TransitionSystem, model: Any) -> FoundRun:
    def value(term: Any) -> Any:
        return model.eval(term, model_completion=True)

    def true(term: Any) -> bool:
        return bool(z3.is_true(value(term)))

    elements = [element(ranges.EVENT, i) for i in range(design.events)]
    edges = [element(ranges.EDGE, i) for i in range(2)]

    def place(event: Any) -> tuple[int, int]:
        at = next(i for i, one in enumerate(edges) if true(ranges.edge(event) == one))
        below = {
            str(value(ranges.sn(other)))
            for other in elements
            if true(ranges.before(ranges.sn(other), ranges.sn(event)))
        }
        return at, len(below) + 1

    def concerned(params: tuple[Any, ...]) -> int | None:
        if not params:
            return None
        (param,) = params
        known = elements if param.sort() == ranges.EVENT else edges
        return next(i for i, one in enumerate(known) if true(param == one))

    end = system.moment(design.steps)
    taken = transitions_taken(system, model, design.steps)
    return FoundRun(
        tuple(map(place, elements)),
        tuple((step.name, concerned(step.params)) for step in taken),
        tuple(i for i, x in enumerate(elements) if true(And(end.deleted(x), end.needed(x)))),
    )


def draw(design: SharedRanges, system: TransitionSystem, model: Any) -> Grid:
    """Columns are steps; what upstream of each edge holds, the arrays, and what is on its way."""
    found = read(design, system, model)
    moments = [system.moment(time) for time in range(design.steps + 1)]

    def true(term: Any) -> bool:
        return bool(z3.is_true(model.eval(term, model_completion=True)))

    def backup(via: int, s: Moment) -> Cell:
        texts, lost = [], False
        for i, (of, number) in sorted(enumerate(found.events), key=lambda item: item[1]):
            if of == via:
                gone = true(s.deleted(element(ranges.EVENT, i)))
                lost = lost or (gone and i in found.lost)
                texts.append(f"({number} deleted)" if gone else str(number))
        return Cell(" ".join(texts), CellMark.BAD if lost else CellMark.PLAIN)

    def covered(inside: Callable[[Any], Any]) -> Cell:
        numbers = {
            number: true(inside(ranges.sn(element(ranges.EVENT, i))))
            for i, (_, number) in enumerate(found.events)
        }
        return Cell(ranges_of([number for number in sorted(numbers) if numbers[number]]))

    def in_array(s: Moment) -> Cell:
        one = element(ranges.ARRAY, 0)
        return covered(lambda number: Or(s.made(one, number), ranges.in_run(s, one, number)))

    arrays_ = (GridRow("the array", tuple(map(in_array, moments))),) if design.one_array else ()

    return Grid(
        f"{design.shares} for two edges, {design.events} events",
        ("at first", *(step_of(found, name, at) for name, at in found.steps)),
        (
            *(
                GridRow(f"held upstream of edge {via + 1}", tuple(backup(via, s) for s in moments))
                for via in range(2)
            ),
            *arrays_,
            *(
                GridRow(
                    f"on its way to edge {via + 1}",
                    tuple(covered(partial(s.sent, element(ranges.EDGE, via))) for s in moments),
                )
                for via in range(2)
            ),
        ),
    )


def step_of(found: FoundRun, name: str, at: int | None) -> str:
    if at is None:
        return name
    if name == "receive":
        return f"edge {at + 1} receives it"
    via, number = found.events[at]
    return f"{name} {number} of edge {via + 1}"


def ranges_of(numbers: list[int]) -> str:
    """1, 2, 3, 5: 1-3 5-5."""
    starts = [x for x in numbers if x - 1 not in numbers]
    ends = [x for x in numbers if x + 1 not in numbers]
    return " ".join(f"{lo}-{hi}" for lo, hi in zip(starts, ends, strict=True))


# --- lemmas ----------------------------------------------------------------------------------
LEMMAS = (
    Lemma(
        name="ranges-coalesced",
        statement=(
            "One array of skip ranges serves all input edges, if numbers are global and increase "
            "on every edge: refuted, since a run of skipped events covers numbers of another "
            "edge that are yet to come where the merge does not follow the numbers."
        ),
        section="Lima et al., III-A",
        expect=Outcome.REFUTED,
        build=partial(refute, PUBLISHED),
        scope="up to 3 events on 2 edges",
        fragment="finite",
        erratum=Erratum(
            "It is completely safe to delete from all output queues what the skip-ranges array "
            "covers; any global order of numbers is allowed, and any deterministic merge.",
            "Lima et al., II-A and III-A",
            "3 events on two input edges",
            "one array of ranges an input edge, or a merge in the order of the numbers",
        ),
    ),
    Lemma(
        name="ranges-coalesced-overlapping",
        statement=(
            "One array of skip ranges serves all input edges if every edge has numbers of its own: "
            "refuted, since the range of a skipped event covers another edge's event of that "
            "number."
        ),
        section="Lima et al., III-A",
        expect=Outcome.REFUTED,
        build=partial(refute, OVERLAPPING),
        scope="up to 2 events on 2 edges",
        fragment="finite",
    ),
    Lemma(
        name="trim-coalesced",
        statement=(
            "One SN_trim, the number of the event before the replay start, serves all input edges, "
            "if numbers are global and increase on every edge: refuted, since an event of "
            "another edge with a smaller number may be yet to come."
        ),
        section="Lima et al., II-B and III-B2",
        expect=Outcome.REFUTED,
        build=partial(refute, ONE_TRIM),
        scope="up to 2 events on 2 edges",
        fragment="finite",
        erratum=Erratum(
            "Events with numbers up to SN_trim can safely be deleted from the output queues of all "
            "predecessors; any global order of numbers is allowed, and any deterministic merge.",
            "Lima et al., II-A, II-B and III-B2",
            "2 events, one on each of two input edges",
            "one SN_trim an input edge, or a merge in the order of the numbers",
        ),
    ),
)
