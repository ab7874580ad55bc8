"""Which engines let a younger window match first: strategies of patterns, and the smallest machine.

Rule of this file: it says which strategies keep the order that first_window asks for, and shows the
smallest patterns and the smallest engine that do not.  STRICT and NEXT are model.cep.one_run's.

The orders of NEXT and ANY are linear arithmetic with predicates of an integer, for ANY under one
quantifier: outside EPR; Z3 decides what is asked here at once.  The searches are finite.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import z3
from z3 import And, ForAll, Function, If, Implies, Int, Ints, Not, Or

from model.cep.patterns import Strategy
from model.evidence import Outcome
from model.results.answers import QueryKind
from model.results.grid import Cell, CellMark, Grid
from model.results.proofs import Erratum
from proofs.lemmas.upstream_backup import streams
from proofs.lemmas.upstream_backup.numbering import schemes
from proofs.lemmas.upstream_backup.windows import first_window
from proofs.prove.drawing import true
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery, smallest, sometimes

# --- which strategies keep the order ---------------------------------------------------------
INT, BOOL = z3.IntSort(), z3.BoolSort()
length = Int("length")
"""Of a pattern, at one event."""
takes = Function("takes", INT, BOOL)
"""Does step d (from 0) take the event?"""
kills = Function("kills", INT, BOOL)
"""Does the negated step that watches after d steps take it?"""
loops = Function("loops", INT, BOOL)
"""Is the d-th step a plus?"""


def ordered(start: Any, claims: Any, kept: Any, too: Any) -> Iterator[SolverQuery]:
    """The three conditions of first_window, with their hypotheses."""
    yield SolverQuery(first_window.START, QueryKind.CLAIM, start)
    yield SolverQuery(first_window.KEPT, QueryKind.CLAIM, (*claims, *kept))
    yield SolverQuery(first_window.TOO, QueryKind.CLAIM, (*claims, *too))


def next_conditions(given: Given) -> Iterator[SolverQuery]:
    """NEXT: an engine's state is the progress of its one run, the order that of the integers.  A
    plus changes nothing: the run stays where it is, or goes on as soon as it can."""
    old, young = Ints("older younger")

    def begins(done: Any) -> Any:
        return If(And(done > 0, kills(done)), 0, done)

    def after(done: Any) -> Any:
        next_ = begins(done) + 1
        return If(takes(begins(done)), If(next_ == length, 0, next_), begins(done))

    def completes(done: Any) -> Any:
        return And(takes(begins(done)), begins(done) + 1 == length)

    bounds = [length >= 1, old >= 0, young >= 0, old < length, young < length]
    unguarded = given("no step is negated", And(Not(kills(old)), Not(kills(young))))
    claims = (*bounds, unguarded)
    yield from ordered(
        (*claims, Not(old >= 0)),
        claims,
        (old >= young, Not(completes(old)), Not(after(old) >= after(young))),
        (old >= young, completes(young), Not(completes(old))),
    )
    yield sometimes(
        "the younger one goes on and the older one does not",
        (*claims, old > young, after(old) == old, after(young) == young + 1),
    )


Reached: TypeAlias = Callable[[Any], Any]
"""Has some run done so many steps?"""


def any_conditions(given: Given) -> Iterator[SolverQuery]:
    """ANY: a state is the set of progresses that some run has reached, the order is inclusion.
    The run that has not begun is always among them.  Negation and plus are covered: runs do not
    depend on each other."""
    old, young = (Function(f"{age} reached", INT, BOOL) for age in ("older", "younger"))
    d = Int("d")

    def alive(reached: Reached, done: Any) -> Any:
        return And(reached(done), Or(done == 0, Not(kills(done))))

    def takers(reached: Reached, done: Any) -> Any:
        """Some run takes the event and has done so many steps then."""
        on = And(alive(reached, done - 1), takes(done - 1))
        again = And(alive(reached, done), loops(done - 1), takes(done - 1))
        return And(done >= 1, done <= length, Or(on, again))

    def after(reached: Reached, done: Any) -> Any:
        # A run that is complete stays only to take more events with its last step, a plus.
        stays = And(takers(reached, done), Or(done < length, loops(done - 1)))
        return Or(done == 0, alive(reached, done), stays)

    def included(one: Reached, other: Reached) -> Any:
        return ForAll([d], Implies(one(d), other(d)))

    seen = given("the older window has seen all that the younger has", included(young, old))
    claims = (length >= 1, seen)
    older, younger = takers(old, length), takers(young, length)
    yield from ordered(
        (length >= 1, old(0), Not(included(lambda done: done == 0, old))),
        claims,
        (Not(included(partial(after, young), partial(after, old))),),
        (younger, Not(older)),
    )
    yield sometimes(
        "the older one completes a match alone", (*claims, old(0), young(0), older, Not(younger))
    )


# --- smallest streams on which a younger window is first -------------------------------------
class OvertakingSearch:
    """Streams of n events on which a window that opens with a later event completes a match, and
    the first window has not."""

    def __init__(self, strategy: Strategy, negation: bool, events: int) -> None:
        self.scenario = streams.SymbolicScenario(events, negation)
        self.events = range(events)
        self.claims = (
            *self.scenario.bounds,
            self.scenario.uses(strategy),
            streams.either(map(self.ahead, self.events[1:])),
        )

    def completes(self, opener: int, event: int) -> Any:
        return self.scenario.one_run(streams.WindowPlace(opener, event))

    def ahead(self, opener: int) -> Any:
        """The window from this event on completes a match, and the first window none by then."""
        return streams.either(
            And(
                self.completes(opener, event),
                *(Not(self.completes(0, before)) for before in range(event + 1)),
            )
            for event in self.events[opener:]
        )

    def draw(self, model: Any) -> Grid:
        """Columns are events, rows the oldest window and those that are first."""
        found = self.scenario.read(model)

        def cell(place: streams.WindowPlace) -> Cell:
            if not true(model, self.completes(*place)):
                return Cell("·", CellMark.DIM)
            return Cell("match", CellMark.BAD if place.opener else CellMark.GOOD)

        pattern = f"{' '.join(found.pattern)} ({found.strategy.value})"
        rows = (
            streams.window_row(f"window from event {o + 1}", o, len(self.events), cell)
            for o in self.events
            if o == 0 or true(model, self.ahead(o))
        )
        caption = f"pattern {pattern}: a younger window is first"
        return Grid(caption, streams.columns(found.word), tuple(rows))


def smallest_word(
    strategy: Strategy, negation: bool, events: int, _: Given
) -> Iterator[SolverQuery]:
    """No younger window is first on fewer events; on n events, one is."""

    def question(n: int, kind: QueryKind) -> SolverQuery:
        search = OvertakingSearch(strategy, negation, n)
        what = f"a younger window is first on {n} event{'s' * (n > 1)}"
        return SolverQuery(what, kind, search.claims, search.draw)

    return smallest(question, range(1, events + 1))


# --- the smallest engine ---------------------------------------------------------------------
class FoundEngine(NamedTuple):
    """rows as model.cep.engines.Mealy has them; theta: the newest match acknowledged."""

    word: str
    rows: tuple[tuple[tuple[str, int, int], ...], ...]
    size: int
    slide: int
    theta: streams.WindowPlace


class SymbolicEngine:
    """n events of two types, and any engine of some states: where it goes, when it matches."""

    def __init__(self, states: int, events: int) -> None:
        self.types = [z3.Bool(f"event_{i + 1}_is_a") for i in range(events)]
        self._rows = {
            (state, letter): (
                z3.BitVec(f"from {state} with {letter}", streams.BITS),
                z3.Bool(f"match in {state} with {letter}"),
            )
            for state in range(states)
            for letter in "ab"
        }
        self._runs = {opener: self._run(opener, events) for opener in range(events)}
        self.windows = streams.CountedWindows(events, self._completed)
        targets = (z3.ULT(target, states) for target, _ in self._rows.values())
        self.claims = (*targets, *self.windows.bounds, self.windows.acknowledged)

    def _run(self, opener: int, events: int) -> list[Any]:
        state = streams.small(0)
        found = []
        for event in range(opener, events):
            here = [
                (And(state == from_, self.types[event] == (letter == "a")), target, match)
                for (from_, letter), (target, match) in self._rows.items()
            ]
            found.append(streams.either(And(at, match) for at, _, match in here))
            state = streams.first_of((at, target) for at, target, _ in here)
        return found

    def _completed(self, place: streams.WindowPlace) -> Any:
        match = self._runs[place.opener][place.event - place.opener]
        return If(match, streams.small(1), streams.small(0))

    @property
    def not_in_first(self) -> Any:
        """The first match of the windows kept is not in the first of them."""
        opener = self.windows.first_match(lambda place: streams.small(place.opener))
        return opener != self.windows.first_kept(streams.small)

    def read(self, model: Any) -> FoundEngine:
        moves = [
            (letter, streams.value(model, target), int(true(model, match)))
            for (_, letter), (target, match) in self._rows.items()
        ]
        return FoundEngine(
            "".join("a" if true(model, is_a) else "b" for is_a in self.types),
            tuple(zip(moves[::2], moves[1::2], strict=True)),
            streams.value(model, self.windows.size),
            streams.value(model, self.windows.slide),
            self.windows.read_theta(model),
        )

    def draw(self, model: Any) -> Grid:
        found = self.read(model)
        moves = (
            f"in state {state} "
            + ", ".join(
                f"{type_} leads to {to}{' and matches' * match}" for type_, to, match in row
            )
            for state, row in enumerate(found.rows)
        )
        caption = f"windows of {found.size} events every {found.slide}; {'; '.join(moves)}"
        scheme = schemes.pairs(self.windows)
        return schemes.replay_grid(self.windows, scheme, model, found.word, caption)


ONE_STATE = 6
SIZES = (*product([1], range(1, ONE_STATE + 1)), (2, 1), (2, 2))
"""States and events of the engines and streams that are searched."""


def smallest_engine(_: Given) -> Iterator[SolverQuery]:
    """Engines of one state always match first in the oldest window; of two, not even on two
    events."""

    def question(size: tuple[int, int], kind: QueryKind) -> SolverQuery:
        states, events = size
        engine = SymbolicEngine(states, events)
        what = f"{states} state{'s' * (states > 1)}, {events} event{'s' * (events > 1)}"
        return SolverQuery(what, kind, (*engine.claims, engine.not_in_first), engine.draw)

    return smallest(question, SIZES)


# --- lemmas ----------------------------------------------------------------------------------
AGRAWAL = "Agrawal et al., as adopted by Lima et al., III-A"
STEPS = "patterns of up to 3 {}steps over 2 types"
LEMMAS = (
    Lemma(
        "first-window-next",
        "Sequences of any length without negation have this order under NEXT: the progress of the "
        "run.",
        AGRAWAL,
        Outcome.HOLDS,
        next_conditions,
        fragment="linear integers with predicates",
    ),
    Lemma(
        "first-window-any",
        "Sequences of any length have this order under ANY, with negation and plus (if the last "
        "step is not negated): the inclusion of the sets of progresses.",
        AGRAWAL,
        Outcome.HOLDS,
        any_conditions,
        fragment="linear integers with predicates, one quantifier over them",
    ),
    Lemma(
        "first-window-strict",
        "Under STRICT an older window that is open matches no later than a younger one: refuted, "
        "since a run that is killed forgets what it had in common with a new one.",
        AGRAWAL,
        Outcome.REFUTED,
        partial(smallest_word, Strategy.STRICT, False, 4),
        f"streams of up to 4 events, {STEPS.format('')}, {streams.ONE_RUN}",
        "finite",
    ),
    Lemma(
        "first-window-negated",
        "Under NEXT with a negated step an older window that is open matches no later than a "
        "younger one: refuted, since the older one may be far enough to be killed.",
        AGRAWAL,
        Outcome.REFUTED,
        partial(smallest_word, Strategy.NEXT, True, 4),
        f"streams of up to 4 events, {STEPS.format('positive ')}, {streams.ONE_RUN}",
        "finite",
    ),
    Lemma(
        "first-window",
        "For every deterministic engine the first match of the windows kept is in the first of "
        "them: refuted by an engine of two states on two events.",
        "Lima et al., III-B4",
        Outcome.REFUTED,
        smallest_engine,
        f"engines of 1 state up to {ONE_STATE} events, of 2 states up to 2, over 2 types",
        "finite",
        Erratum(
            "SN_seed, the x:y of the first match of the replay, numbers its first window.",
            "Lima et al., III-B2 and III-B4",
            "an engine of 2 states, 2 events, windows of 3 opening with every event",
            "the seed carries the number of the first window kept",
        ),
    ),
)
