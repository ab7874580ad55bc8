"""Count windows in a replay that counts for itself: the smallest streams on which they differ.

Rule of this file: counterexamples alone; what makes windows come back is in layouts.

What is encoded: one operator that matches every a, count windows of any size and slide, one
acknowledgement, a savepoint computed after any event from then on, and a replay without the events
that it reports as skipped (in no match, opening and filling no window).  The fragment is finite:
booleans and small bitvectors, no quantifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import z3
from z3 import And, Implies, Not, Or

from model.evidence import Outcome
from model.protocols.upstream_backup.layouts import Drawing
from model.results.answers import QueryKind
from model.results.grid import Cell, CellMark, Grid, GridRow, lane
from model.results.proofs import Erratum
from proofs.lemmas.upstream_backup import streams
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery, smallest


class FoundRecount(NamedTuple):
    """A counterexample, as the operator of the model takes it.

    theta: the match acknowledged, by its place.  saved: how many events had been consumed when
    its savepoint was computed.  left_out: which events the replay lacks, counted from 0.
    """

    word: str
    size: int
    slide: int
    theta: streams.WindowPlace
    saved: int
    left_out: tuple[int, ...]


class Recount:
    """n events of two types and all that happens to them, symbolic.

    drawing: what the savepoint says of windows.  all_listed: is it computed after the last window
    of the stream has opened?
    """

    def __init__(self, events: int, drawing: Drawing, all_listed: bool = False) -> None:
        self.events = range(events)
        self.types = [z3.Bool(f"event_{i + 1}_is_a") for i in self.events]
        self.saved = z3.BitVec("events before the savepoint", streams.BITS)
        self.windows = streams.CountedWindows(events, self._matched)
        self.drawing = drawing
        self.all_listed = all_listed
        self.opens_again: list[Any] = []
        self._replay()

    def _matched(self, place: streams.WindowPlace) -> Any:
        return z3.If(self.types[place.event], streams.small(1), streams.small(0))

    @property
    def claims(self) -> tuple[Any, ...]:
        windows, saved = self.windows, self.saved
        return (
            *windows.bounds,
            windows.acknowledged,
            z3.ULT(windows.theta_event, saved),
            z3.ULE(saved, len(self.events)),
            *(
                Implies(windows.opens(event), z3.ULT(event, saved))
                for event in self.events
                if self.all_listed
            ),
        )

    # --- what is left out --------------------------------------------------------------------
    def fills(self, event: int) -> Any:
        """It is the last of a window."""
        windows = self.windows
        return streams.either(
            And(windows.opens(opener), windows.size == event - opener + 1)
            for opener in range(event + 1)
        )

    def left_out(self, event: int) -> Any:
        """No window used it before the savepoint was computed, nor depends on it."""
        windows = self.windows
        used = streams.either(
            windows.matched(streams.WindowPlace(opener, event)) for opener in range(event + 1)
        )
        needed = Or(used, windows.opens(event), self.fills(event))
        return And(z3.ULT(event, self.saved), Not(needed))

    def replayed(self, event: int) -> Any:
        kept = streams.either(self.windows.kept(opener) for opener in range(event + 1))
        return And(kept, Not(self.left_out(event)))

    # --- the replay --------------------------------------------------------------------------
    def listed(self, event: int) -> Any:
        return And(self.windows.kept(event), z3.ULT(event, self.saved))

    def _replay(self) -> None:
        """Where windows open again: as listed up to the last opener, from there on by counting."""
        begun, since = z3.BoolVal(False), streams.small(0)
        for event in self.events:
            here = self.replayed(event)
            opens = And(here, Or(Not(begun), z3.UGE(since, self.windows.slide)))
            if self.drawing is Drawing.OPENERS:
                listing = streams.either(
                    self.listed(later) for later in self.events if later >= event
                )
                opens = z3.If(listing, And(here, self.listed(event)), opens)
            self.opens_again.append(opens)
            since = z3.If(opens, streams.small(1), z3.If(here, since + 1, since))
            begun = Or(begun, opens)

    def holds_again(self, place: streams.WindowPlace) -> Any:
        """Windows close when as many events have been replayed as they hold."""
        held = streams.count(self.replayed(e) for e in range(place.opener, place.event + 1))
        return And(
            self.opens_again[place.opener],
            self.replayed(place.event),
            z3.ULE(held, self.windows.size),
        )

    def match(self, place: streams.WindowPlace) -> Any:
        return And(self.windows.kept(place.opener), self.windows.matched(place))

    def match_again(self, place: streams.WindowPlace) -> Any:
        return And(self.holds_again(place), self.types[place.event])

    @property
    def wrong(self) -> Any:
        """Some match of a window kept is lost, or some match is new."""
        places = self.windows.places
        return streams.either(self.match(place) != self.match_again(place) for place in places)

    # --- what a model says -------------------------------------------------------------------
    def read(self, model: Any) -> FoundRecount:
        true = partial(_true, model)
        windows = self.windows
        return FoundRecount(
            "".join("a" if true(is_a) else "b" for is_a in self.types),
            streams.value(model, windows.size),
            streams.value(model, windows.slide),
            windows.read_theta(model),
            streams.value(model, self.saved),
            tuple(e for e in self.events if true(self.left_out(e)) and self._after(true, e)),
        )

    def _after(self, true: Callable[[Any], bool], event: int) -> bool:
        return any(true(self.windows.kept(opener)) for opener in range(event))


def _true(model: Any, condition: Any) -> bool:
    return bool(z3.is_true(model.eval(condition, model_completion=True)))


def draw(recount: Recount, model: Any) -> Grid:
    """Columns are events, rows windows; first the original run, then the replay."""
    true = partial(_true, model)
    found, windows, events = recount.read(model), recount.windows, len(recount.events)
    theta = found.theta

    def original(place: streams.WindowPlace) -> Cell:
        if not true(windows.holds(place)):
            return Cell()
        if not true(windows.matched(place)):
            return Cell("·", CellMark.DIM)
        acknowledged = (place.event, place.opener) <= (theta.event, theta.opener)
        return Cell("match", CellMark.DIM if acknowledged else CellMark.PLAIN)

    def again(place: streams.WindowPlace) -> Cell:
        mine, theirs = true(recount.match_again(place)), true(recount.match(place))
        if mine != theirs:
            return Cell("match" if mine else "lost", CellMark.BAD)
        if mine:
            return Cell("match", CellMark.GOOD)
        return Cell("·", CellMark.DIM) if true(recount.holds_again(place)) else Cell()

    def rows(
        cell: Callable[[streams.WindowPlace], Cell], opens: Callable[[int], Any]
    ) -> list[GridRow]:
        name = "window from event {}"
        all_ = [streams.window_row(name.format(o + 1), o, events, cell) for o in recount.events]
        bad = [any(cell.mark is CellMark.BAD for cell in row.cells) for row in all_]
        return [row for o, row in enumerate(all_) if bad[o] or true(opens(o))]

    gone = ["left out" * (event in found.left_out) for event in recount.events]
    saved = ["savepoint" * (event + 1 == found.saved) for event in recount.events]
    return Grid(
        f"windows of {found.size} events every {found.slide}; every a matches; "
        f"acknowledged: event {theta.event + 1} in the window from {theta.opener + 1}",
        streams.columns(found.word),
        (
            streams.heading("original run", events),
            *rows(original, windows.opens),
            lane("after this event", saved),
            streams.heading("replay", events),
            lane("skipped events", gone, [CellMark.DIM] * events),
            *rows(again, lambda opener: recount.opens_again[opener]),
        ),
    )


def refute(drawing: Drawing, all_listed: bool, events: int, _given: Given) -> Iterable[SolverQuery]:
    """No shorter stream differs; one of so many events does."""

    def question(n: int, kind: QueryKind) -> SolverQuery:
        recount = Recount(n, drawing, all_listed)
        return SolverQuery(
            f"a match is lost or new, {n} event{'s' * (n > 1)}",
            kind,
            (*recount.claims, recount.wrong),
            partial(draw, recount),
        )

    return smallest(question, range(1, events + 1))


COUNTED, OPENERS, ALL_LISTED = 3, 3, 4
"""Events of the smallest streams."""
SCOPE = "streams of up to {} events, windows of any size and slide"
CORRECTION = "the savepoint also says which events filled windows, and the counts at its frontier"

LEMMAS = (
    Lemma(
        name="layout-counted",
        statement="Count windows come back by counting the events replayed, if the events that "
        f"opened and filled windows are kept: refuted; {COUNTED} events.  An event that was "
        "skipped changes no engine's state, but it counts for the splitter.  III-B5 says as much "
        "of x:y pairs; it is so with any numbers, unless the splitter counts by their distance.",
        section="Lima et al., III-A",
        expect=Outcome.REFUTED,
        build=partial(refute, Drawing.NOTHING, False, COUNTED),
        scope=SCOPE.format(COUNTED),
        fragment="finite",
        erratum=Erratum(
            "Preserving the events that cause windows to open or close ensures that during "
            "recovery the splitter produces the same windows.",
            "Lima et al., III-A",
            f"{COUNTED} events, count windows; it is right for windows that count no events",
            CORRECTION,
        ),
    ),
    Lemma(
        name="layout-openers",
        statement="Count windows come back if the savepoint says which events opened windows: "
        f"refuted; {OPENERS} events.  How many events have passed since the last of them is "
        "missing.",
        section="Lima et al., III-B5",
        expect=Outcome.REFUTED,
        build=partial(refute, Drawing.OPENERS, False, OPENERS),
        scope=SCOPE.format(OPENERS),
        fragment="finite",
        erratum=Erratum(
            "Which events caused windows to open is information enough to split windows during "
            "recovery.",
            "Lima et al., III-B5",
            f"{OPENERS} events, {ALL_LISTED} if all events that open windows are known",
            CORRECTION,
        ),
    ),
    Lemma(
        name="layout-openers-told",
        statement="Count windows come back if the savepoint says which events opened windows, and "
        f"no window opens after it is computed: refuted; {ALL_LISTED} events.  Where windows end "
        "is missing.",
        section="Lima et al., III-B5",
        expect=Outcome.REFUTED,
        build=partial(refute, Drawing.OPENERS, True, ALL_LISTED),
        scope=SCOPE.format(ALL_LISTED),
        fragment="finite",
    ),
)
