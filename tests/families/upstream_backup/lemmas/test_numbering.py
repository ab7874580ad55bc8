"""What Z3 finds about numbers and windows is so on the operator, and so is what it rules out.

Rule of this file: no formula is trusted: counterexamples are run, and smaller runs, and the numbers
that the formulas give any run are compared with the operator's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest
import z3
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from model.cep.engines import Engine, Mealy
from model.cep.numbering import PAIRS, PAIRS_FROM_FIRST_WINDOW, SCALAR, Numbering
from model.cep.one_run import one_run
from model.cep.patterns import Strategy, sequence
from model.evidence import Outcome
from model.protocols.upstream_backup.protocol import PROTOCOL
from model.results.answers import QueryKind
from proofs.lemmas.upstream_backup.numbering import overtaking, replays, schemes
from proofs.lemmas.upstream_backup.numbering.overtaking import SymbolicEngine
from proofs.lemmas.upstream_backup.streams import (
    STEPS,
    FoundStream,
    SymbolicScenario,
    WindowPlace,
    value,
)
from proofs.lemmas.upstream_backup.windows import first_window, first_window_abstraction
from proofs.prove.conformance import compare
from proofs.prove.lemma import Lemma, all_given
from proofs.prove.query import SolverQuery
from tests.families.upstream_backup.lemmas.numbered_run import NumberedRun, events


def engine_of(steps: Sequence[str], strategy: Strategy) -> Engine:
    """As the formulas have it: one run at a time, or every choice."""
    if strategy is Strategy.ANY:
        return sequence(*steps, strategy=strategy)
    return one_run(*steps, strategy=strategy)


def original(found: FoundStream, numbering: Numbering) -> NumberedRun:
    pattern = engine_of(found.pattern, found.strategy)
    return NumberedRun(pattern, found.word, found.size, found.slide, numbering)


# --- counterexamples -------------------------------------------------------------------------
LEMMAS = {
    lemma.name: lemma for lemma in (*replays.LEMMAS, *first_window.LEMMAS, *overtaking.LEMMAS)
}


def refuting(lemma: Lemma) -> tuple[SolverQuery, int, Any]:
    """The query that refutes it, its place, and a model."""
    queries = list(lemma.build(all_given))
    ((size, query),) = [
        (i, query) for i, query in enumerate(queries, 1) if query.kind is QueryKind.COUNTEREXAMPLE
    ]
    solver = z3.Solver()
    solver.add(*query.claims)
    assert solver.check() == z3.sat
    return query, size, solver.model()


def found(name: str) -> FoundStream:
    _, size, model = refuting(LEMMAS[name])
    return SymbolicScenario(size).read(model)


@pytest.mark.parametrize(
    ("name", "numbering"),
    [
        ("pairs-first-window", PAIRS),
        ("pairs-iterations", PAIRS_FROM_FIRST_WINDOW),
        ("scalar-parallel", SCALAR),
    ],
)
def test_a_replay_found_misnumbers_on_the_operator(name: str, numbering: Numbering) -> None:
    example = found(name)
    run_ = original(example, numbering)
    thetas = [i for i in range(len(run_.produced)) if run_.place(i) == example.theta]
    assert thetas
    assert run_.misnumbered(thetas[-1])


def test_two_matches_share_a_pair_on_the_operator() -> None:
    assert original(found("pairs-shared"), PAIRS).shared


def test_corrected_y_removes_the_counterexample() -> None:
    run_ = original(found("pairs-first-window"), PAIRS_FROM_FIRST_WINDOW)
    assert not any(run_.misnumbered(i) for i in range(len(run_.produced)))


def test_every_refuted_lemma_is_replayed_here() -> None:
    assert {lemma.name for lemma in REFUTED} == {
        "pairs-shared",
        "pairs-first-window",
        "pairs-iterations",
        "scalar-parallel",
        "first-window-strict",
        "first-window-negated",
        "first-window",
    }


REFUTED = [
    lemma
    for lemma in (*replays.LEMMAS, *first_window.LEMMAS, *overtaking.LEMMAS)
    if lemma.expect is Outcome.REFUTED
]


@pytest.mark.parametrize("lemma", REFUTED, ids=lambda lemma: lemma.name)
def test_what_is_drawn_is_a_table(lemma: Lemma) -> None:
    for query in lemma.build(all_given):
        if query.kind is QueryKind.COUNTEREXAMPLE:
            assert query.show is not None
            grid = query.show(refuting(lemma)[2])
            assert all(len(row.cells) == len(grid.columns) for row in grid.rows)
            assert any(cell.mark == "bad" for row in grid.rows for cell in row.cells)


# --- nothing smaller -------------------------------------------------------------------------
PATTERNS = [
    ("a", *rest) for length in range(3) for rest in product("ab", repeat=length)
]  # the other patterns are these with the types exchanged
NEGATED = ["", "!a", "!b"]


def runs(
    n: int, numbering: Numbering, strategies: tuple[Strategy, ...] = tuple(Strategy)
) -> Iterator[NumberedRun]:
    """Every stream of n events, every pattern, strategy and window."""
    engines = [engine_of(pattern, s) for pattern in PATTERNS for s in strategies]
    words = ["".join(letters) for letters in product("ab", repeat=n)]
    for engine, word, size, slide in product(engines, words, range(1, n + 2), range(1, n + 1)):
        yield NumberedRun(engine, word, size, slide, numbering)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbering", "below"),
    [(PAIRS, 4), (PAIRS_FROM_FIRST_WINDOW, 5), (SCALAR, 3)],
    ids=["pairs", "pairs from the first window", "scalar"],
)
def test_no_smaller_replay_misnumbers(numbering: Numbering, below: int) -> None:
    for n in range(1, below):
        for run_ in runs(n, numbering):
            assert not any(run_.misnumbered(i) for i in range(len(run_.produced)))


def test_no_smaller_run_shares_a_pair() -> None:
    assert not any(run_.shared for n in (1, 2) for run_ in runs(n, PAIRS))


# --- the formulas give every run the operator's numbers --------------------------------------
@cache
def formulas(n: int, name: str) -> tuple[SymbolicScenario, schemes.NumberingScheme, z3.Solver]:
    numbered = {
        "pairs": schemes.pairs,
        "pairs from the first window kept": schemes.pairs_from_first_window,
        "scalar": schemes.scalar,
    }[name]
    scenario = SymbolicScenario(n, negation=True)
    solver = z3.Solver()
    solver.add(*scenario.claims)
    return scenario, numbered(scenario.windows), solver


@st.composite
def founds(draw: st.DrawFn) -> FoundStream:
    n = draw(st.integers(1, 7))
    pattern = list(draw(st.sampled_from(PATTERNS)))
    for step in range(len(pattern) - 1, 0, -1):
        pattern[step:step] = filter(None, [draw(st.sampled_from(NEGATED))])
    return FoundStream(
        draw(st.text("ab", min_size=n, max_size=n)),
        tuple(pattern),
        draw(st.sampled_from(Strategy)),
        draw(st.integers(1, n + 1)),
        draw(st.integers(1, n)),
        WindowPlace(0, 0),
    )


def values(scenario: SymbolicScenario, found: FoundStream) -> list[Any]:
    """The formulas that say: this scenario is this one."""
    windows = scenario.windows
    steps: list[str] = []
    negated: dict[int, str] = {}
    for step in found.pattern:
        if step.startswith("!"):
            negated[len(steps)] = step[1]
        else:
            steps.append(step)
    return [
        *_letters(scenario.types, found.word),
        *_letters(scenario.steps, steps),
        *(scenario.negated[done] == (done in negated) for done in range(STEPS)),
        *(scenario.negates_a[done] == (type_ == "a") for done, type_ in negated.items()),
        scenario.length == len(steps),
        scenario.strategy == tuple(Strategy).index(found.strategy),
        windows.size == found.size,
        windows.slide == found.slide,
        windows.theta_opener == found.theta.opener,
        windows.theta_event == found.theta.event,
    ]


def _letters(are_a: Sequence[Any], letters: Sequence[str]) -> list[Any]:
    return [is_a == (letter == "a") for is_a, letter in zip(are_a, letters, strict=False)]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(founds(), st.sampled_from([PAIRS, PAIRS_FROM_FIRST_WINDOW, SCALAR]), st.data())
def test_the_formulas_number_as_the_operator_does(
    found: FoundStream, numbering: Numbering, data: st.DataObject
) -> None:
    run_ = original(found, numbering)
    assume(run_.produced)
    acknowledged = data.draw(st.integers(0, len(run_.produced) - 1))
    found = found._replace(theta=run_.place(acknowledged))
    scenario, scheme, solver = formulas(len(found.word), numbering.name)
    windows = scenario.windows
    assert solver.check(values(scenario, found)) == z3.sat
    model = solver.model()
    assert scenario.read(model) == found

    copies = {place: value(model, windows.completed(place)) for place in windows.places}
    places = [run_.place(i) for i in range(len(run_.produced))]
    assert {place: n for place, n in copies.items() if n} == {p: places.count(p) for p in places}
    for match in run_.replay(acknowledged):
        if match.copy == 0:  # the others follow from it
            assert z3.is_true(model.eval(windows.kept(match.place.opener)))
            assert schemes.text(model, scheme.original[match.place]) == ":".join(
                map(str, match.original)
            )
            assert schemes.text(model, scheme.replayed[match.place]) == ":".join(
                map(str, match.replayed)
            )
    assert z3.is_true(model.eval(replays.misnumbered(windows, scheme))) == run_.misnumbered(
        acknowledged
    )


# --- the first match of the windows kept -----------------------------------------------------
def test_the_engine_found_matches_first_in_a_younger_window() -> None:
    lemma = LEMMAS["first-window"]
    _, at, model = refuting(lemma)
    found = SymbolicEngine(*overtaking.SIZES[at - 1]).read(model)
    run_ = NumberedRun(Mealy(found.rows), found.word, found.size, found.slide, PAIRS)
    thetas = [i for i in range(len(run_.produced)) if run_.place(i) == found.theta]
    assert run_.misnumbered(thetas[-1])
    mended = NumberedRun(
        Mealy(found.rows), found.word, found.size, found.slide, PAIRS_FROM_FIRST_WINDOW
    )
    assert not mended.misnumbered(thetas[-1])


@pytest.mark.parametrize(("states", "longest"), [(1, 4), (2, 1)])
def test_no_smaller_engine_does(states: int, longest: int) -> None:
    moves = list(product(range(states), (0, 1)))
    for flat in product(moves, repeat=2 * states):
        rows = tuple(
            (("a", *flat[2 * state]), ("b", *flat[2 * state + 1])) for state in range(states)
        )
        for n in range(1, longest + 1):
            for letters, size, slide in product(
                product("ab", repeat=n), range(1, n + 2), range(1, n + 1)
            ):
                run_ = NumberedRun(Mealy(rows), "".join(letters), size, slide, PAIRS)
                assert not any(run_.misnumbered(i) for i in range(len(run_.produced)))


def first_match(pattern: Engine, word: str) -> int:
    """How many events it takes, from the end of the word, that are left; -1 if there is none."""
    state = pattern.begin()
    for left, body in zip(
        range(len(word) - 1, -1, -1), (event.body for event in events(word)), strict=True
    ):
        state, matches, _ = pattern.feed(state, body)
        if matches:
            return left
    return -1


def overtaken(pattern: Engine, word: str) -> bool:
    return any(
        first_match(pattern, word[opener:]) > first_match(pattern, word)
        for opener in range(1, len(word))
    )


@pytest.mark.parametrize(
    ("name", "strategy"),
    [("first-window-strict", Strategy.STRICT), ("first-window-negated", Strategy.NEXT)],
)
def test_a_younger_window_is_first_on_the_engine(name: str, strategy: Strategy) -> None:
    _, size, model = refuting(LEMMAS[name])
    found = SymbolicScenario(size, negation=True).read(model)
    assert found.strategy is strategy
    assert overtaken(engine_of(found.pattern, strategy), found.word)


def test_no_younger_window_is_first_on_fewer_events() -> None:
    for pattern, strategy in product(PATTERNS, Strategy):
        for negated in product(NEGATED, repeat=len(pattern) - 1):
            steps = [pattern[0]]
            for not_, step in zip(negated, pattern[1:], strict=True):
                steps += [not_, step] if not_ else [step]
            engine = engine_of(steps, strategy)
            for n in range(1, 4):
                for letters in product("ab", repeat=n):
                    assert not overtaken(engine, "".join(letters))


TYPES_OF_STEPS = st.sampled_from(["a", "b", "c", "a+", "b+", "c+"])


@st.composite
def ordered(draw: st.DrawFn) -> Engine:
    """A pattern that is proved to match first in the oldest window."""
    steps = draw(st.lists(TYPES_OF_STEPS, min_size=1, max_size=5))
    strategy = draw(st.sampled_from([Strategy.NEXT, Strategy.ANY]))
    if strategy is Strategy.ANY:
        for step in range(len(steps) - 1, 0, -1):
            steps[step:step] = draw(st.lists(st.sampled_from(["!a", "!b", "!c"]), max_size=1))
    return engine_of(steps, strategy)


@settings(max_examples=300)
@given(ordered(), st.text("abc", max_size=9))
def test_no_younger_window_is_first_under_next_and_any(pattern: Engine, word: str) -> None:
    assert not overtaken(pattern, word)


@pytest.mark.parametrize("name", ["count windows", "time windows", "two input edges"])
def test_the_operator_takes_the_steps_that_are_proved(name: str) -> None:
    (scope,) = [pinned.scope for pinned in PROTOCOL.evidence.scopes if pinned.name == name]
    (account,) = compare(
        first_window_abstraction.ABSTRACTIONS, PROTOCOL, scope, limit=4_000
    ).values()
    assert account.drift is None
    taken = {"an event", "an event and theta"}
    if name == "time windows":
        taken.add("windows expire")
    assert set(account.transitions) == taken
