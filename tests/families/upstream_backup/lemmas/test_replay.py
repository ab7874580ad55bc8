"""What is proved of a replay is so on the operator, and what is refuted goes wrong on it.

Rule of this file: no formula is trusted: counterexamples are run, and rules that are proved are
followed by the operator in small worlds.  That all queries answer as expected, and that every
hypothesis is needed, is in test_prove.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import pytest
import z3

from model.cep.denotation import Slice, slices
from model.cep.engines import Engine, Mealy
from model.cep.numbering import PAIRS, PAIRS_FROM_FIRST_WINDOW, TRIGGERED, Numbering
from model.cep.operator import Operator
from model.cep.savepoint import Savepoint
from model.cep.skips import covers
from model.cep.windows import CountWindows, Extent, PatternWindows, Splitter, TimeWindows
from model.core import Role, Site
from model.events import SN, Body, Event
from model.predicates import Type
from model.protocols.upstream_backup.design import UpstreamBackupConfig, UpstreamBackupDesign
from model.protocols.upstream_backup.protocol import PROTOCOL
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
    Scheme,
    Skipping,
    origin,
    push,
    restore,
    save,
)
from model.protocols.upstream_backup.scopes import ALTERNATING, SKIPPY, SUPPRESSED
from model.registry import protocols
from model.results.answers import Answer
from proofs.lemmas.upstream_backup.reference import FailureFreeRun, run_operator
from proofs.lemmas.upstream_backup.replay import abstraction, counterexamples, pairs
from proofs.lemmas.upstream_backup.replay import product as product_
from proofs.lemmas.upstream_backup.replay.counterexamples import Wrong
from proofs.prove.conformance import Comparison, Coverage, FormulaMisfit, Formulas, Path, compare
from proofs.prove.grounding import element
from proofs.prove.lemma import all_given
from proofs.prove.query import ask
from proofs.prove.structure import Structure
from proofs.prove.transition import transitions_taken


# --- counterexamples -------------------------------------------------------------------------
class FoundReplay(NamedTuple):
    """A run, as the operator of the model can be given it: events and windows counted from 0.

    opened: by event, the window that it opens.  rows: by state of the engine and event, the next
    state and how many matches are completed; state 0 is the first.  closing: by state, how many
    matches the end of a window completes.  first: the event that opens the first window kept.
    """

    opened: tuple[int | None, ...]
    expires: frozenset[tuple[int, int]]
    completes: frozenset[tuple[int, int]]
    rows: tuple[tuple[tuple[int, int], ...], ...]
    closing: tuple[int, ...]
    left_out: frozenset[int]
    first: int


def read(wrong: Wrong, model: Any) -> FoundReplay:
    """The run that a model describes."""

    def true(formula: Any) -> bool:
        return bool(z3.is_true(model.eval(formula, model_completion=True)))

    def all_(sort: Any, before: Any = None) -> list[Any]:
        """The elements of a sort, `before` being the first of them."""
        found = [model.eval(element(sort, i), True) for i in range(wrong.sizes[sort])]
        return sorted(found, key=lambda e: before is not None and not true(e == before))

    def at(elements: Sequence[Any], term: Any) -> int:
        return next(n for n, e in enumerate(elements) if true(e == term))

    steps = [s for s in transitions_taken(wrong.system, model, wrong.depth) if s.params]
    positions = [step.params[0] for step in steps]
    opened_by = {str(model.eval(product_.opener(v), True)): v for v in all_(product_.WINDOW)}
    windows = [opened_by[str(position)] for position in positions if str(position) in opened_by]
    states = all_(product_.STATE, product_.begin)
    outputs = all_(product_.OUTPUT, product_.none)

    def ends(relation: Any) -> frozenset[tuple[int, int]]:
        return frozenset(
            (event, window)
            for event, position in enumerate(positions)
            for window, term in enumerate(windows)
            if true(relation(position, term))
        )

    def cell(state: Any, position: Any) -> tuple[int, int]:
        after, found = product_.delta(state, position), product_.gives(state, position)
        return at(states, after), at(outputs, found)

    def window(position: Any) -> int | None:
        opens = (
            n for n, term in enumerate(windows) if true(product_.ORIGINAL.opens(position, term))
        )
        return next(opens, None)

    return FoundReplay(
        tuple(map(window, positions)),
        ends(product_.ORIGINAL.expires),
        ends(product_.ORIGINAL.completes),
        tuple(tuple(cell(state, position) for position in positions) for state in states),
        tuple(at(outputs, product_.closing(state)) for state in states),
        frozenset(n for n, step in enumerate(steps) if step.name == product_.LEAVE_OUT),
        at(positions, product_.opener(product_.first)),
    )


@dataclass(frozen=True)
class Scripted:
    """Windows that open and close where a counterexample says; times count events from 0."""

    found: FoundReplay
    counts: bool = False

    def opens(self, newest: Extent | None, event: Body) -> bool:
        del newest  # nothing is counted
        return self.found.opened[event.time] is not None

    def start(self, event: Body) -> int:
        return event.time

    def expires(self, window: Extent, event: Body) -> bool:
        return (event.time, self.found.opened[window.start]) in self.found.expires

    def completes(self, window: Extent, event: Body) -> bool:
        return (event.time, self.found.opened[window.start]) in self.found.completes


def found_by(wrong: Wrong) -> FoundReplay:
    seen: list[FoundReplay] = []
    *_, query = wrong.refute(all_given)
    assert query.show is not None
    draw = query.show

    def show(model: Any) -> Any:
        seen.append(read(wrong, model))
        return draw(model)

    asked = ask(replace(query, show=show))
    assert asked.answer is Answer.SAT
    return seen[-1]


def of(found: FoundReplay) -> Operator:
    rows = tuple(tuple((str(event), *cell) for event, cell in enumerate(row)) for row in found.rows)
    return Operator(Mealy(rows, found.closing), Scripted(found))


def run(
    operator: Operator, scheme: Scheme, start: Savepoint, events: list[Event]
) -> tuple[NumberedOperator, list[Event]]:
    state = restore(scheme, start)
    outputs: list[Event] = []
    for event in events:
        state, produced = push(operator, scheme, state, 0, event)
        outputs += produced
    return state, outputs


WRONG = {
    "skipping-opener": counterexamples.OPENER,
    "skipping-closer": counterexamples.CLOSER,
    "skipping-one-window": counterexamples.ONE_WINDOW,
}


@pytest.mark.parametrize("name", WRONG)
def test_the_operator_loses_the_match_too(name: str) -> None:
    found = found_by(WRONG[name])
    operator, start = of(found), origin(Scheme(), 1)
    assert found.first == 0, "the shortest run replays from the beginning"
    events = [Event((n + 1,), Body(n, str(n))) for n in range(len(found.opened))]
    state, original = run(operator, Scheme(), start, events)
    _, again = run(operator, Scheme(), start, events)
    assert again == original
    left = [event for n, event in enumerate(events) if n not in found.left_out]
    assert len(left) == len(events) - 1
    _, lossy = run(operator, Scheme(), start, left)
    assert set(original) - set(lossy)
    # The operator knows better: it would not report that event as skipped.
    (skips,) = state.skips
    (gone,) = found.left_out
    assert not covers(skips.after(()), events[gone].sn)


def test_lemmas_and_counterexamples_have_the_same_names() -> None:
    refuted = [lemma.name for lemma in counterexamples.LEMMAS if lemma.expect.value == "refuted"]
    assert refuted == list(WRONG)


# --- streams ---------------------------------------------------------------------------------
MACHINES = [
    Mealy(((("a", *one), ("b", *two)), (("a", *three), ("b", *four))))
    for one, two, three, four in product(product((0, 1), (0, 1)), repeat=4)
]
"""All with two states, two types and at most one match at a time."""

WINDOWS: tuple[Splitter, ...] = (
    CountWindows(3, 1),
    CountWindows(3, 2),
    TimeWindows(3, 2),
    PatternWindows(Type("a"), size=3),
    PatternWindows(Type("a"), span=4, closes_on=Type("b")),
)


class SavedRun(NamedTuple):
    """An operator, its input, what it produced, and a savepoint after some of it.

    events: all of them; known: those before the savepoint.
    """

    operator: Operator
    events: list[Event]
    known: int
    outputs: list[Event]
    state: NumberedOperator
    theta: int


def words(length: int) -> Iterator[list[Event]]:
    for word in product("ab", repeat=length):
        yield [Event((n,), Body(n, type_)) for n, type_ in enumerate(word, 1)]


def some_runs(
    length: int,
    every: int,
    engines: Sequence[Engine] = MACHINES,
    windows: Sequence[Splitter] = WINDOWS,
) -> Iterator[SavedRun]:
    """One of `every` streams of all engines, windows and words, and in it all acknowledgements."""
    scheme = Scheme()
    for at, case in enumerate(product(engines, windows, words(length))):
        engine, splitter, events = case
        if at % every:
            continue
        operator = Operator(engine, splitter)
        known = length - at // every % 3
        state, outputs = run(operator, scheme, origin(scheme, 1), events[:known])
        for theta in range(len(outputs)):
            yield SavedRun(operator, events, known, outputs, state, theta)


def telling_runs() -> Iterator[SavedRun]:
    """The engines of the findings: a later window matches first, a dropped one matches alone."""
    return some_runs(7, 5, [ALTERNATING, SUPPRESSED], [CountWindows(4, 1)])


# --- skipping --------------------------------------------------------------------------------
def skippable(operator: Operator, events: list[Event], first: int, at: int) -> bool:
    """The rule of the lemma, for the event at that place and the windows from `first` on."""
    bodies = [event.body for event in events]
    for number, window in enumerate(slices(operator, bodies), 1):
        if at == window.first:
            return False
        if number >= first and (at == window.closer or _uses(operator, bodies, window, at)):
            return False
    return True


def _uses(operator: Operator, bodies: list[Body], window: Slice, at: int) -> bool:
    if not window.first <= at <= window.last:
        return False
    state = operator.engine.begin()
    for body in bodies[window.first : at]:
        state = operator.engine.feed(state, body).state
    fed = operator.engine.feed(state, bodies[at])
    return fed.state != state or bool(fed.matches)


def test_events_that_only_dropped_windows_used_can_be_left_out() -> None:
    """The lemma's rule is right on the operator, and sharper than the operator's own."""
    scheme = Scheme()
    left_out = more = 0
    for case in some_runs(length=5, every=31):
        operator, events = case.operator, case.events
        theta = case.outputs[case.theta].sn
        saved = save(scheme, operator.splitter, case.state, theta)
        assert saved is not None
        _, savepoint, (ranges,) = saved
        first = savepoint.seed.window
        known = events[: case.known]
        replayed = [event for event in events if event.sn > savepoint.trim[0]]
        gone = {
            event.sn
            for at, event in enumerate(known)
            if event in replayed and skippable(operator, known, first, at)
        }
        reported = {event.sn for event in replayed if covers(ranges, event.sn)}
        assert reported <= gone
        left_out += len(gone)
        more += len(gone - reported)
        _, original = run(operator, scheme, origin(scheme, 1), events)
        kept = [event for event in replayed if event.sn not in gone]
        _, again = run(operator, scheme, savepoint, kept)
        assert again == [output for output in original if output.sn[-2] >= first]
    assert left_out > 100
    assert more > 10


# --- x:y -------------------------------------------------------------------------------------
def place_of(run_: FailureFreeRun, sn: SN) -> tuple[int, int]:
    """Position and window of a match, by its number as TRIGGERED has it."""
    numbers = {number: opened for opened, number in run_.numbers.items()}
    return run_.at[sn[1], sn[2:-2]], numbers[sn[-2]]


class NumberedTwice(NamedTuple):
    """An operator with the numbering under test beside one that names windows and triggers."""

    operator: Operator
    numbering: Numbering

    @property
    def schemes(self) -> tuple[Scheme, Scheme]:
        return Scheme(TRIGGERED, Skipping.OFF), Scheme(self.numbering, Skipping.OFF)

    def original(
        self, events: list[Event]
    ) -> tuple[FailureFreeRun, list[NumberedOperator], list[Event]]:
        """The run; the states and the output with the numbering under test."""
        named, numbered = self.schemes
        config = UpstreamBackupConfig(UpstreamBackupDesign(named), (), ())
        site = Site("A", Role.OPERATOR, self.operator, ("source",), ("sink",), config)
        run_ = run_operator(site, tuple((0, event) for event in events))
        states = [restore(numbered, origin(numbered, 1))]
        outputs: list[Event] = []
        for event in events:
            state, produced = push(self.operator, numbered, states[-1], 0, event)
            states.append(state)
            outputs += produced
        return run_, states, outputs


class Seeds(NamedTuple):
    """What a path shows: how many iterations are missed in the end, and condition (a)."""

    path: Path
    missed: int
    starts: bool
    misnumbered: bool


def replayed(twice: NumberedTwice, case: SavedRun) -> Seeds:
    """The path of the product that the operator takes when it is restored and replays all."""
    operator, events = case.operator, case.events
    run_, states, outputs = twice.original(events)
    named, numbered = twice.schemes
    before = run_.states[case.known]
    saved = save(named, operator.splitter, before, case.outputs[case.theta].sn)
    saved_again = save(numbered, operator.splitter, states[case.known], outputs[case.theta].sn)
    assert saved is not None
    assert saved_again is not None
    savepoint, published = saved[1], saved_again[1]
    assert savepoint.trim == published.trim
    start = sum(event.sn <= savepoint.trim[0] for event in events)
    opened = {number: at for at, number in run_.numbers.items()}[savepoint.seed.window]
    matched = [at for at in sorted(run_.matches) if at[1] >= opened]
    source = min(matched)[1]
    begun, missed = False, 0
    x_of = dict.fromkeys(range(len(events) + 1), 0)

    def x(at: int) -> int:
        return states[at + 1].sequencer[0]

    x_of |= {at: x(at) for at in range(start)}
    theirs, mine = restore(named, savepoint), restore(numbered, published)

    def replay(last: int, got: dict[int, Any], started: bool) -> dict[str, Any]:
        return abstraction.replay_state(run_, mine, last, got, started) | {
            "x_again": mine.sequencer[0],
            "begun": begun,
            "missed": missed,
        }

    def original(at: int, got: Any) -> dict[str, Any]:
        counts = {"x": x(at) if at >= 0 else 0, "x_of": {**x_of}}
        return abstraction.original_state(run_, at, got) | counts

    first = original(start - 1, {}) | replay(start - 1, {}, False)
    path = [first, first | {"replaying": True}]
    misnumbered = False
    for at in range(start, len(events)):
        theirs, names = push(operator, named, theirs, 0, events[at])
        mine, numbers = push(operator, numbered, mine, 0, events[at])
        places = [place_of(run_, event.sn) for event in names]
        got: dict[int, Any] = {}
        labels = {run_.at[w.opener]: w.number for w in (*mine.closed, *mine.open)}
        for (_, window), name, number in zip(places, names, numbers, strict=True):
            got[window] = (*got.get(window, ()), name.body.data)
            # What the formulas say that its number is, it is.
            assert number.sn == (mine.sequencer[0], labels[window])
            misnumbered |= number.sn != (x(at), run_.numbers[window])
        here = [window for position, window in run_.matches if position == at]
        missed += begun and bool(here) and not any(window >= opened for window in here)
        begun = begun or any(window >= opened for window in here)
        x_of[at] = x(at)
        state = original(at, run_.matches) | replay(at, got, True)
        processed = path[-1]["done_again"] | {at: True}
        path.append(state | {"done_again": processed})
    rigid = abstraction.rigid_structure(run_, opened, published.seed.window, run_.numbers[opened])
    more = {
        "seed_x": published.seed.number[0],
        "source": source,
        "sourced": run_.numbers[source],
        "mended": twice.numbering is PAIRS_FROM_FIRST_WINDOW,
    }
    rigid = Structure(rigid.sorts, {**rigid.symbols, **more})
    return Seeds(Path(rigid, tuple(path)), missed, source == opened, misnumbered)


@pytest.mark.slow
@pytest.mark.parametrize("numbering", [PAIRS, PAIRS_FROM_FIRST_WINDOW], ids=lambda n: str(n.name))
def test_the_operator_with_pairs_is_the_system_of_the_condition(numbering: Numbering) -> None:
    """Its every step is a transition, and the condition is exact in every state."""
    comparison = Comparison(Formulas(pairs.published(all_given)))
    account = Coverage()
    missed = late = wrong = right = 0
    for case in (*some_runs(6, 601), *telling_runs()):
        seeds = replayed(NumberedTwice(case.operator, numbering), case)
        drift = comparison.compare(seeds.path, account)
        assert drift is None
        missed += seeds.missed > 0
        late += not seeds.starts
        wrong += seeds.misnumbered
        right += not seeds.misnumbered
    assert set(account.transitions) == {"restore", "process"}
    assert min(missed, late, wrong, right) > 5


def test_a_wrong_condition_would_drift() -> None:
    """Without (b), the same comparison finds a match that has another number."""
    system = pairs.published(all_given)
    name = "if the condition holds, a match replayed has its x:y"
    holds = system.invariants[name]
    wrong = replace(system, invariants={name: lambda s: holds(_unmissed(s))})
    comparison = Comparison(Formulas(wrong))
    # The seed's y is mended, so that only x can be wrong.
    cases = (
        replayed(NumberedTwice(case.operator, PAIRS_FROM_FIRST_WINDOW), case)
        for case in telling_runs()
    )
    drifts = [comparison.compare(seeds.path, Coverage()) for seeds in cases]
    assert any(drift is not None and drift.formula == name for drift in drifts)


def _unmissed(moment: Any) -> Any:
    """The moment as if nothing had been missed."""

    class Unmissed:
        missed = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(moment, name)

    return Unmissed()


@pytest.mark.parametrize("engine", [ALTERNATING, SUPPRESSED])
def test_the_engines_of_the_findings_are_among_the_machines(engine: Mealy) -> None:
    assert engine in MACHINES


# --- drift -----------------------------------------------------------------------------------
QUICK = ("match at the end of the window", "serial processing", "pattern-opened windows", "diamond")


@pytest.mark.parametrize("name", QUICK)
def test_the_operator_does_what_the_product_does(name: str) -> None:
    (scope,) = (pinned.scope for pinned in PROTOCOL.evidence.scopes if pinned.name == name)
    ((_, account),) = compare(abstraction.ABSTRACTIONS, PROTOCOL, scope, limit=20_000).items()
    assert account.drift is None
    assert account.transitions["restore"]
    assert account.transitions["process"]
    if name == QUICK[0]:
        assert account.transitions["leave out"]
    if name == QUICK[2]:
        assert account.transitions["before the replay start"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["counted-windows", "opener-windows"])
def test_windows_that_open_elsewhere_drift(name: str) -> None:
    protocol = protocols()[f"upstream-backup:{name}"]
    ((_, account),) = compare(abstraction.ABSTRACTIONS, protocol, SKIPPY).items()
    assert account.drift is not None
    assert account.drift.kind is FormulaMisfit.INVARIANT
    assert account.drift.formula == "the same windows kept are open"
