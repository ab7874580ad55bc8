"""What is proved of savepoints is so on the operator, and what is refuted goes wrong on it.

Rule of this file: no formula is trusted: counterexamples are run, and what is proved is looked for
in small worlds, with windows as model.oracle has them.  That all queries answer as expected, and
that every hypothesis is needed, is in test_prove.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import pytest
import z3

from model.cep.denotation import Slice, slices
from model.cep.engines import Engine, Mealy
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.patterns import Strategy, sequence
from model.cep.savepoint import Savepoint
from model.cep.skips import covers
from model.cep.windows import CountWindows, PatternWindows, Splitter, TimeWindows
from model.core import Scope
from model.events import Body, Event
from model.predicates import Type
from model.protocols.upstream_backup.layouts import Drawing, KeptWindow
from model.protocols.upstream_backup.protocol import PROTOCOL
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
    Scheme,
    origin,
    push,
    restore,
    save,
)
from model.protocols.upstream_backup.scopes import ALTERNATING, SKIPPY, SUPPRESSED
from model.registry import protocols
from model.results.answers import Answer
from model.results.grid import CellMark, Grid
from model.system import System
from proofs.explore.edges import edges
from proofs.lemmas.upstream_backup.streams import BITS, WindowPlace
from proofs.lemmas.upstream_backup.windows import abstraction, counterexamples, savepoints
from proofs.lemmas.upstream_backup.windows.counterexamples import FoundRecount, Recount
from proofs.lemmas.upstream_backup.windows.savepoints import COUNTED, TIMED, WindowKind
from proofs.prove.conformance import Comparison, Coverage, FormulaMisfit, Formulas, Path, compare
from proofs.prove.lemma import all_given
from proofs.prove.query import ask


# --- one operator, saved and restored --------------------------------------------------------
class Matched(NamedTuple):
    """opener: the place of the event that opened the window, counted from 0."""

    opener: int
    event: int
    match: tuple[Body, ...]


class WindowedRun:
    """One operator; remembers what it did."""

    def __init__(self, operator: Operator, scheme: Scheme, start: Savepoint) -> None:
        self.operator, self.scheme = operator, scheme
        self.state = restore(scheme, start)
        self.outputs: list[Event] = []
        self.windows: dict[int, KeptWindow] = {}

    def push(self, event: Event) -> None:
        self.state, outputs = push(self.operator, self.scheme, self.state, 0, event)
        self.outputs += outputs
        self.windows |= {window.number: window for window in kept(self.state)}

    def save(self, theta: Event) -> tuple[Savepoint, tuple[int, ...]]:
        """The savepoint, and which events it says were skipped."""
        saved = save(self.scheme, self.operator.splitter, self.state, theta.sn)
        assert saved is not None
        self.state, savepoint, (ranges,) = saved
        last = self.state.last[0][0]
        return savepoint, tuple(n for n in range(last) if covers(ranges, (n + 1,)))

    @property
    def layout(self) -> list[tuple[int, int | None]]:
        """Opener and closer of each window; no closer that the window does not hold."""
        return [
            (window.opener[1][0] - 1, window.closer and window.closer[1][0] - 1)
            for window in self.windows.values()
        ]

    @property
    def matched(self) -> list[Matched]:
        return [
            Matched(
                self.windows[output.sn[-2]].opener[1][0] - 1,
                output.sn[2] - 1,
                output.body.data,
            )
            for output in self.outputs
        ]


def kept(state: NumberedOperator) -> list[KeptWindow]:
    return [*state.closed, *state.open]


def events_of(word: str, gaps: tuple[int, ...] = ()) -> list[Event]:
    times = [sum(gaps[: n + 1]) if gaps else n + 1 for n in range(len(word))]
    return [
        Event((n + 1,), Body(time, type_))
        for n, (time, type_) in enumerate(zip(times, word, strict=True))
    ]


# --- counterexamples -------------------------------------------------------------------------
CASES = {name: Recount(*search) for name, search in counterexamples.SEARCHES.items()}


def test_all_counterexamples_are_run() -> None:
    assert [lemma.name for lemma in counterexamples.LEMMAS] == [*CASES]


class RunAndReplay(NamedTuple):
    original: WindowedRun
    again: WindowedRun
    savepoint: Savepoint
    left_out: tuple[int, ...]


def replayed(found: FoundRecount, drawing: Drawing) -> RunAndReplay:
    operator = Operator(sequence("a"), CountWindows(found.size, found.slide))
    scheme = Scheme(drawing=drawing)
    original = WindowedRun(operator, scheme, origin(scheme, 1))
    events = events_of(found.word)
    for event in events[: found.saved]:
        original.push(event)
    (theta,) = (
        output
        for output, matched in zip(original.outputs, original.matched, strict=True)
        if (matched.opener, matched.event) == found.theta
    )
    savepoint, skipped = original.save(theta)
    for event in events[found.saved :]:
        original.push(event)
    (trim,) = savepoint.trim
    left_out = tuple(event for event in skipped if events[event].sn > trim)
    again = WindowedRun(operator, scheme, savepoint)
    for place, event in enumerate(events):
        if event.sn > trim and place not in left_out:
            again.push(event)
    return RunAndReplay(original, again, savepoint, left_out)


def expected(run: RunAndReplay) -> list[Matched]:
    """What the windows kept matched in the original run."""
    (trim,) = run.savepoint.trim
    start = trim[0] if trim else 0
    return [matched for matched in run.original.matched if matched.opener >= start]


@pytest.mark.parametrize("name", CASES)
def test_the_operator_goes_wrong_too(name: str) -> None:
    recount, models = CASES[name], list[FoundRecount]()
    lemma = next(lemma for lemma in counterexamples.LEMMAS if lemma.name == name)

    def show(model: Any) -> Grid:
        models.append(recount.read(model))
        return counterexamples.draw(recount, model)

    asked = ask(replace([*lemma.build(all_given)][-1], show=show))
    assert asked.answer is Answer.SAT
    assert asked.grid is not None
    (found,) = models
    drawing = recount.drawing
    run = replayed(found, drawing)
    assert run.left_out == found.left_out
    assert run.left_out
    assert run.again.matched != expected(run)
    corrected = replayed(found, Drawing.LAYOUT)
    assert corrected.left_out == run.left_out
    assert corrected.again.matched == expected(corrected) == expected(run)
    bad = [
        row.label for row in asked.grid.rows if any(cell.mark is CellMark.BAD for cell in row.cells)
    ]
    wrong = {*run.again.matched} ^ {*expected(run)}
    assert bad == [f"window from event {n + 1}" for n in sorted({opener for opener, *_ in wrong})]


def test_what_the_openers_miss_is_where_windows_end() -> None:
    """Windows of 3, every 2: a4 is new in the window from a1."""
    found = FoundRecount("abaa", 3, 2, WindowPlace(0, 0), 3, (1,))
    run = replayed(found, Drawing.OPENERS)
    assert [opener for opener, _ in run.again.layout] == [
        opener for opener, _ in run.original.layout
    ]
    surplus = {*run.again.matched} - {*expected(run)}
    assert {(opener, event) for opener, event, _ in surplus} == {(0, 3)}
    assert {*expected(run)} <= {*run.again.matched}


# --- the encoding of counterexamples against the operator ------------------------------------
def founds(events: int) -> Iterator[FoundRecount]:
    """All streams, windows, matches acknowledged and times of saving."""
    words = map("".join, product("ab", repeat=events))
    sizes, slides = range(1, events + 2), range(1, events + 1)
    for word, size, slide in product(words, sizes, slides):
        for theta in range(events):
            for opener in range(0, theta + 1, slide):
                if word[theta] == "a" and theta - opener < size:
                    for saved in range(theta + 1, events + 1):
                        yield FoundRecount(word, size, slide, WindowPlace(opener, theta), saved, ())


def assigned(recount: Recount, found: FoundRecount) -> z3.ModelRef:
    windows = recount.windows
    solver = z3.Solver()
    solver.add(
        *(is_a == (type_ == "a") for is_a, type_ in zip(recount.types, found.word, strict=True)),
        windows.size == z3.BitVecVal(found.size, BITS),
        windows.slide == found.slide,
        windows.theta_opener == found.theta.opener,
        windows.theta_event == found.theta.event,
        recount.saved == found.saved,
    )
    assert solver.check() == z3.sat
    return solver.model()


@pytest.mark.parametrize("drawing", [Drawing.NOTHING, Drawing.OPENERS])
def test_the_encoding_is_the_operator(drawing: Drawing) -> None:
    recount = Recount(3, drawing)
    windows = recount.windows
    matches = [recount.match(place) for place in windows.places]
    again = [recount.match_again(place) for place in windows.places]
    gone = [
        z3.And(recount.left_out(event), z3.Or([windows.kept(opener) for opener in range(event)]))
        for event in recount.events
    ]
    # One number says it all: asking for each truth value takes much longer.
    bits = [z3.If(one, z3.BitVecVal(1, 1), 0) for one in (*matches, *again, *gone)]
    together = z3.Concat(bits)
    cases = 0
    for found in founds(3):
        run = replayed(found, drawing)
        answers = assigned(recount, found).eval(together, model_completion=True).as_long()
        wanted = [
            *((place.opener, place.event) in places(expected(run)) for place in windows.places),
            *((place.opener, place.event) in places(run.again.matched) for place in windows.places),
            *(event in run.left_out for event in recount.events),
        ]
        assert f"{answers:0{len(bits)}b}" == "".join("01"[is_so] for is_so in wanted), found
        cases += 1
    assert cases > 200


def places(matched: list[Matched]) -> set[tuple[int, int]]:
    return {(opener, event) for opener, event, _ in matched}


# --- what is proved, looked for --------------------------------------------------------------
TIMES = (TimeWindows(3, 1), TimeWindows(3, 2), TimeWindows(2, 3), TimeWindows(4, 2, grid=True))
PATTERNS = (
    PatternWindows(Type("a"), span=3),
    PatternWindows(Type("a"), closes_on=Type("b")),
    PatternWindows(Type("a"), size=2),
    PatternWindows(Type("a"), size=3, span=4),
)
COUNTS = (CountWindows(2, 1), CountWindows(3, 2), CountWindows(1, 2), CountWindows(4, 3))
SPLITTERS: tuple[Splitter, ...] = (*TIMES, *PATTERNS, *COUNTS)
ENGINES: tuple[Engine, ...] = (
    sequence("a"),
    one_run("a", "b"),
    one_run("a", "!b"),
    sequence("a", "b", strategy=Strategy.ANY),
    ALTERNATING,
    SUPPRESSED,
    Mealy(((("a", 1, 0),), (("b", 0, 2),))),
)


def operators() -> Iterator[Operator]:
    for splitter, engine, parallel in product(SPLITTERS, ENGINES, (True, False)):
        yield Operator(engine, splitter, parallel=parallel)


def streams(length: int) -> Iterator[list[Event]]:
    for word, gaps in product(product("ab", repeat=length), ((1,) * length, (1, 2) * length)):
        yield events_of("".join(word), gaps[:length])


class SavedCase(NamedTuple):
    """An operator that has consumed `events`, then answers the acknowledgement of `theta`."""

    operator: Operator
    events: list[Event]
    run: WindowedRun
    savepoint: Savepoint
    skipped: tuple[int, ...]

    @property
    def start(self) -> int:
        """How many events are trimmed."""
        (trim,) = self.savepoint.trim
        return trim[0] if trim else 0

    @property
    def windows(self) -> list[Slice]:
        return list(slices(self.operator, [event.body for event in self.events]))


def cases(operator: Operator, length: int) -> Iterator[SavedCase]:
    for events in streams(length):
        run = WindowedRun(operator, Scheme(), origin(Scheme(), 1))
        for event in events:
            run.push(event)
        for theta in [*run.outputs]:
            saving = WindowedRun(operator, Scheme(), origin(Scheme(), 1))
            saving.state, saving.windows = run.state, {**run.windows}
            saving.outputs = [*run.outputs]
            yield SavedCase(operator, events, saving, *saving.save(theta))


@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
def test_nothing_trimmed_is_in_a_window_kept(splitter: Splitter) -> None:
    trimmed = 0
    for operator in operators():
        if operator.splitter != splitter:
            continue
        for case in cases(operator, 5):
            first = kept(case.run.state)[0].number
            for window in case.windows[first - 1 :]:
                assert window.first >= case.start
            waiting = {produced.sn[-2] for produced in case.run.state.pending}
            assert all(number >= first for number in waiting)
            trimmed += bool(case.start)
    assert trimmed


@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
def test_windows_open_and_close_where_they_did(splitter: Splitter) -> None:
    left_out = 0
    for operator in operators():
        if operator.splitter != splitter:
            continue
        for case in cases(operator, 4):
            first = kept(case.run.state)[0].number
            later = Event((5,), Body(case.events[-1].body.time + 1, "a"))
            again = WindowedRun(operator, Scheme(), case.savepoint)
            for place, event in enumerate(case.events):
                if place >= case.start and place not in case.skipped:
                    again.push(event)
            for run in (again, case.run):
                run.push(later)
            windows = list(slices(operator, [e.body for e in (*case.events, later)]))
            drawn = [
                (window.first, window.closer if window.closer == window.last else None)
                for window in windows[first - 1 :]
            ]
            assert again.layout == drawn
            assert case.run.layout[first - 1 :] == drawn
            left_out += any(place >= case.start for place in case.skipped)
    # Where every event opens a window nothing can be left out.
    assert left_out or getattr(splitter, "slide", None) == 1


# --- drift -----------------------------------------------------------------------------------
(TWICE,) = (a for a in abstraction.ABSTRACTIONS if a.name == "windows twice")


def scope_of(name: str) -> Scope:
    (scope,) = (pinned.scope for pinned in PROTOCOL.evidence.scopes if pinned.name == name)
    return scope


@pytest.mark.slow
def test_layouts_are_followed_and_left() -> None:
    """All of the transitions, in two scopes."""
    taken = set[str]()
    for name in ("match at the end of the window", "pattern-opened windows"):
        (account,) = compare([TWICE], PROTOCOL, scope_of(name)).values()
        assert account.drift is None
        taken |= {*account.transitions}
    assert taken == {transition.name for transition in TWICE.system(all_given).transitions}


@pytest.mark.slow
def test_windows_without_a_layout_come_back_in_time() -> None:
    (account,) = compare([TWICE], PROTOCOL, scope_of("time windows")).values()
    assert account.drift is None
    assert account.transitions["leave out"]
    assert account.transitions["before the replay start"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["counted-windows", "opener-windows"])
def test_windows_that_open_elsewhere_drift(name: str) -> None:
    protocol = protocols()[f"upstream-backup:{name}"]
    (account,) = compare([TWICE], protocol, SKIPPY).values()
    assert account.drift is not None


@pytest.mark.slow
def test_notices_do_not_drift() -> None:
    """Skips that are reported ahead of a savepoint, with the layout."""
    protocol = protocols()["upstream-backup:notices"]
    for pinned in protocol.evidence.scopes:
        for account in compare(
            abstraction.ABSTRACTIONS, protocol, pinned.scope, limit=30_000
        ).values():
            assert account.drift is None


def first_trim(kind: WindowKind, scope: Scope) -> Path:
    """A path of one step, with which something is trimmed."""
    system = System(PROTOCOL, scope)
    paths = abstraction.trim_paths(kind, system)
    return next(
        path
        for edge in edges(PROTOCOL, scope)
        for path in paths(*edge)
        if path.states[0]["trimmed"] != path.states[-1]["trimmed"]
    )


TRIMMED = "no event trimmed is in a window kept, or in one that opens later"


@pytest.mark.parametrize(
    ("kind", "name"), [(TIMED, "time windows"), (COUNTED, "every event matches, two crashes")]
)
def test_trimming_one_event_too_many_drifts(kind: WindowKind, name: str) -> None:
    path = first_trim(kind, scope_of(name))
    comparison = Comparison(Formulas(savepoints.trimming(kind, all_given)))
    assert comparison.compare(path, Coverage()) is None
    before, after = path.states[0], path.states[-1]
    trimmed: Mapping[int, bool] = after["trimmed"]
    one_more = max(event for event, gone in trimmed.items() if gone) + 1
    edited = path._replace(states=(before, {**after, "trimmed": {**trimmed, one_more: True}}))
    drift = comparison.compare(edited, Coverage())
    assert drift is not None
    assert drift.kind is FormulaMisfit.INVARIANT
    assert drift.formula == TRIMMED, kind
