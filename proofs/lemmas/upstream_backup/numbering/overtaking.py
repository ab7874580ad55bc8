"""Which engines let a younger window match first: strategies of patterns, and the smallest machine.

Rule of this file: it says which strategies of model.cep.patterns keep the order that first_window
asks for, and shows the smallest patterns and the smallest engine that do not.

The orders of NEXT and ANY are linear arithmetic with predicates of an integer, for ANY under one
quantifier: outside EPR; Z3 decides what is asked here at once.  The searches are finite.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import z3

from model.cep.patterns import Strategy
from model.evidence import Outcome
from model.results.answers import QueryKind
from model.results.grid import Cell, CellMark, Grid
from model.results.proofs import Erratum
from proofs.lemmas.upstream_backup import streams
from proofs.lemmas.upstream_backup.numbering import schemes
from proofs.lemmas.upstream_backup.windows import first_window
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery, smallest, sometimes


# --- which strategies keep the order ---------------------------------------------------------
class AnyPattern:
    """A pattern of any length at one event: `takes` says whether step d (from 0) takes it,
    `kills` whether the negated step that watches after d steps does."""

    def __init__(self) -> None:
        self.length = z3.Int("length")
        self.takes = z3.Function("takes", z3.IntSort(), first_window.BOOL)
        self.kills = z3.Function("kills", z3.IntSort(), first_window.BOOL)
        self.loops = z3.Function(
            "loops", z3.IntSort(), first_window.BOOL
        )  # the d-th step is a plus


def next_conditions(given: Given) -> Iterable[SolverQuery]:
    """NEXT: an engine's state is the progress of its one run, the order that of the integers.  A
    plus changes nothing: the run stays where it is, or goes on as soon as it can."""
    p = AnyPattern()
    old, young = z3.Ints("older younger")

    def killed(done: Any) -> Any:
        return z3.And(done > 0, p.kills(done))

    def after(done: Any) -> Any:
        from_ = z3.If(killed(done), 0, done)
        return z3.If(p.takes(from_), z3.If(from_ + 1 == p.length, 0, from_ + 1), from_)

    def completes(done: Any) -> Any:
        from_ = z3.If(killed(done), 0, done)
        return z3.And(p.takes(from_), from_ + 1 == p.length)

    bounds = [p.length >= 1, old >= 0, young >= 0, old < p.length, young < p.length]
    unguarded = given("no step is negated", z3.And(z3.Not(p.kills(old)), z3.Not(p.kills(young))))
    claims = (*bounds, unguarded)
    yield SolverQuery(first_window.START, QueryKind.CLAIM, (*claims, z3.Not(old >= 0)))
    yield SolverQuery(
        first_window.KEPT,
        QueryKind.CLAIM,
        (*claims, old >= young, z3.Not(completes(old)), z3.Not(after(old) >= after(young))),
    )
    yield SolverQuery(
        first_window.TOO,
        QueryKind.CLAIM,
        (*claims, old >= young, completes(young), z3.Not(completes(old))),
    )
    yield sometimes(
        "the younger one goes on and the older one does not",
        (*claims, old > young, after(old) == old, after(young) == young + 1),
    )


def any_conditions(given: Given) -> Iterable[SolverQuery]:
    """ANY: a state is the set of progresses that some run has reached, the order is inclusion.
    The run that has not begun is always among them.  Negation and plus are covered: what becomes
    of a run does not depend on the others."""
    p = AnyPattern()
    integer = z3.IntSort()
    old = z3.Function("older reached", integer, first_window.BOOL)
    young = z3.Function("younger reached", integer, first_window.BOOL)
    d = z3.Int("d")

    def alive(reached: Callable[[Any], Any], done: Any) -> Any:
        return z3.And(reached(done), z3.Or(done == 0, z3.Not(p.kills(done))))

    def takers(reached: Callable[[Any], Any], done: Any) -> Any:
        """Some run takes the event and has done so many steps then."""
        on = z3.And(alive(reached, done - 1), p.takes(done - 1))
        again = z3.And(alive(reached, done), p.loops(done - 1), p.takes(done - 1))
        return z3.And(done >= 1, done <= p.length, z3.Or(on, again))

    def after(reached: Callable[[Any], Any], done: Any) -> Any:
        # A run that is complete stays only to take more events with its last step, a plus.
        stays = z3.And(takers(reached, done), z3.Or(done < p.length, p.loops(done - 1)))
        return z3.Or(done == 0, alive(reached, done), stays)

    def completes(reached: Callable[[Any], Any]) -> Any:
        return takers(reached, p.length)

    def included(one: Callable[[Any], Any], other: Callable[[Any], Any]) -> Any:
        return z3.ForAll([d], z3.Implies(one(d), other(d)))

    def every(reached: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda done: after(reached, done)

    claims = (
        p.length >= 1,
        given("the older window has seen all that the younger has", included(young, old)),
    )
    yield SolverQuery(
        first_window.START,
        QueryKind.CLAIM,
        (p.length >= 1, old(0), z3.Not(included(lambda done: done == 0, old))),
    )
    yield SolverQuery(
        first_window.KEPT, QueryKind.CLAIM, (*claims, z3.Not(included(every(young), every(old))))
    )
    yield SolverQuery(
        first_window.TOO, QueryKind.CLAIM, (*claims, completes(young), z3.Not(completes(old)))
    )
    yield sometimes(
        "the older one completes a match alone",
        (*claims, old(0), young(0), completes(old), z3.Not(completes(young))),
    )


# --- smallest streams on which a younger window is first -------------------------------------
def overtaken(scenario: streams.SymbolicScenario) -> Any:
    """A window that opens with a later event completes a match, and the first one has not."""
    events = range(scenario.events)
    return streams.either(
        z3.And(
            scenario.one_run(streams.WindowPlace(opener, event)),
            *(
                z3.Not(scenario.one_run(streams.WindowPlace(0, before)))
                for before in range(event + 1)
            ),
        )
        for event in events
        for opener in range(1, event + 1)
    )


def smallest_word(
    strategy: Strategy, negation: bool, events: int, _given: Given
) -> Iterable[SolverQuery]:
    """No younger window is first on fewer events; on so many, one is."""

    def question(n: int, kind: QueryKind) -> SolverQuery:
        scenario = streams.SymbolicScenario(n, negation)
        return SolverQuery(
            f"a younger window is first on {n} event{'s' * (n > 1)}",
            kind,
            (*scenario.bounds, scenario.uses(strategy), overtaken(scenario)),
            partial(draw_word, scenario),
        )

    return smallest(question, range(1, events + 1))


def draw_word(scenario: streams.SymbolicScenario, model: Any) -> Grid:
    """Columns are events, rows windows; how it goes on in the older one and in the younger one."""
    found = scenario.read(model)
    events = range(scenario.events)
    completed = {
        opener: [
            event
            for event in range(opener, scenario.events)
            if model.eval(
                scenario.one_run(streams.WindowPlace(opener, event)), model_completion=True
            )
        ]
        for opener in events
    }
    ahead = [
        opener
        for opener in events
        if opener and completed[opener] and completed[opener][0] < min([*completed[0], len(events)])
    ]

    def cell(place: streams.WindowPlace) -> Cell:
        if place.event not in completed[place.opener]:
            return Cell("·", CellMark.DIM)
        return Cell("match", CellMark.BAD if place.opener else CellMark.GOOD)

    name, n = "window from event {}", scenario.events
    rows = (streams.window_row(name.format(o + 1), o, n, cell) for o in (0, *ahead))
    what = f"pattern {' '.join(found.pattern)} ({found.strategy.value}): a younger window is first"
    return Grid(what, streams.columns(found.word), tuple(rows))


# --- the smallest engine ---------------------------------------------------------------------
class FoundEngine(NamedTuple):
    """rows as model.cep.engines.Mealy has them; theta: the newest match acknowledged."""

    word: str
    rows: tuple[tuple[tuple[str, int, int], ...], ...]
    size: int
    slide: int
    theta: streams.WindowPlace


class SymbolicEngine:
    """n events of two types, and any engine of so many states: where it goes, when it matches."""

    def __init__(self, states: int, events: int) -> None:
        self.states = states
        self.types = [z3.Bool(f"event_{i + 1}_is_a") for i in range(events)]
        self._rows = [
            (
                letter,
                state,
                z3.BitVec(f"from {state} with {letter}", streams.BITS),
                z3.Bool(f"match in {state} with {letter}"),
            )
            for state in range(states)
            for letter in "ab"
        ]
        self._runs = {opener: self._run(opener, events) for opener in range(events)}
        self.windows = streams.CountedWindows(events, self._completed)

    @property
    def claims(self) -> tuple[Any, ...]:
        return (
            *(z3.ULT(target, self.states) for _, _, target, _ in self._rows),
            *self.windows.bounds,
            self.windows.acknowledged,
        )

    def read(self, model: Any) -> FoundEngine:
        windows = self.windows

        def true(condition: Any) -> bool:
            return bool(model.eval(condition, model_completion=True))

        return FoundEngine(
            "".join("a" if true(is_a) else "b" for is_a in self.types),
            tuple(
                tuple(
                    (letter, streams.value(model, target), int(true(match)))
                    for letter, from_, target, match in self._rows
                    if from_ == state
                )
                for state in range(self.states)
            ),
            streams.value(model, windows.size),
            streams.value(model, windows.slide),
            windows.read_theta(model),
        )

    def _run(self, opener: int, events: int) -> list[Any]:
        state = streams.small(0)
        found = []
        for event in range(opener, events):
            here = [
                (z3.And(state == from_, self.types[event] == (letter == "a")), target, match)
                for letter, from_, target, match in self._rows
            ]
            found.append(streams.either(z3.And(at, match) for at, _, match in here))
            state = streams.first_of((at, target) for at, target, _ in here)
        return found

    def _completed(self, place: streams.WindowPlace) -> Any:
        match = self._runs[place.opener][place.event - place.opener]
        return z3.If(match, streams.small(1), streams.small(0))


def not_in_first(windows: streams.CountedWindows) -> Any:
    """The first match of the windows kept is not in the first of them."""
    opener = windows.first_match(lambda place: streams.small(place.opener))
    return opener != windows.first_kept(streams.small)


ONE_STATE = 6
SIZES = (*product([1], range(1, ONE_STATE + 1)), (2, 1), (2, 2))
"""States and events of the engines and streams that are searched."""


def smallest_engine(_given: Given) -> Iterable[SolverQuery]:
    """Engines of one state always match first in the oldest window; of two, not even on two
    events."""

    def question(size: tuple[int, int], kind: QueryKind) -> SolverQuery:
        states, events = size
        machine = SymbolicEngine(states, events)
        return SolverQuery(
            f"{states} state{'s' * (states > 1)}, {events} event{'s' * (events > 1)}",
            kind,
            (*machine.claims, not_in_first(machine.windows)),
            partial(draw_engine, machine),
        )

    return smallest(question, SIZES)


def draw_engine(machine: SymbolicEngine, model: Any) -> Grid:
    found = machine.read(model)
    rows = "; ".join(
        f"in state {state} "
        + ", ".join(
            f"{letter} leads to {target}{' and matches' * match}" for letter, target, match in row
        )
        for state, row in enumerate(found.rows)
    )
    caption = f"windows of {found.size} events every {found.slide}; {rows}"
    numbering = schemes.pairs(machine.windows)
    return schemes.ReplayPicture(machine.windows, numbering, model).grid(found.word, caption)


# --- lemmas ----------------------------------------------------------------------------------
LEMMAS = (
    Lemma(
        name="first-window-next",
        statement=(
            "Sequences of any length without negation have this order under NEXT: the progress "
            "of the run."
        ),
        section="Agrawal et al., as adopted by Lima et al., III-A",
        expect=Outcome.HOLDS,
        build=next_conditions,
        fragment="linear integers with predicates",
    ),
    Lemma(
        name="first-window-any",
        statement=(
            "Sequences of any length have this order under ANY, with negation and plus (if the "
            "last step is not negated): the inclusion of the sets of progresses."
        ),
        section="Agrawal et al., as adopted by Lima et al., III-A",
        expect=Outcome.HOLDS,
        build=any_conditions,
        fragment="linear integers with predicates, one quantifier over them",
    ),
    Lemma(
        name="first-window-strict",
        statement=(
            "Under STRICT an older window that is open matches no later than a younger one: "
            "refuted, since a run that is killed forgets what it had in common with a new one."
        ),
        section="Agrawal et al., as adopted by Lima et al., III-A",
        expect=Outcome.REFUTED,
        build=partial(smallest_word, Strategy.STRICT, False, 4),
        scope=(
            f"streams of up to 4 events, patterns of up to 3 steps over 2 types, {streams.ONE_RUN}"
        ),
        fragment="finite",
    ),
    Lemma(
        name="first-window-negated",
        statement=(
            "Under NEXT with a negated step an older window that is open matches no later than a "
            "younger one: refuted, since the older one may be far enough to be killed."
        ),
        section="Agrawal et al., as adopted by Lima et al., III-A",
        expect=Outcome.REFUTED,
        build=partial(smallest_word, Strategy.NEXT, True, 4),
        scope=(
            "streams of up to 4 events, patterns of up to 3 positive steps over 2 types, "
            f"{streams.ONE_RUN}"
        ),
        fragment="finite",
    ),
    Lemma(
        name="first-window",
        statement=(
            "For every deterministic engine the first match of the windows kept is in the first "
            "of them: refuted by an engine of two states on two events."
        ),
        section="Lima et al., III-B4",
        expect=Outcome.REFUTED,
        build=smallest_engine,
        scope=f"engines of 1 state up to {ONE_STATE} events, of 2 states up to 2, over 2 types",
        fragment="finite",
        erratum=Erratum(
            "SN_seed, the x:y of the first match of the replay, numbers its first window.",
            "Lima et al., III-B2 and III-B4",
            "an engine of 2 states, 2 events, windows of 3 opening with every event",
            "the seed carries the number of the first window kept",
        ),
    ),
)
