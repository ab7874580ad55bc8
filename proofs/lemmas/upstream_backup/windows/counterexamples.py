"""Count windows in a replay that counts for itself: the smallest streams on which they differ.

Rule of this file: counterexamples alone; what makes windows come back is in layouts.

One operator matches every a, in count windows of any size and slide.  One match is acknowledged; a
savepoint is computed after any event from then on; the replay lacks the events that the savepoint
reports as skipped (in no match, opening and filling no window).  The fragment is finite: booleans
and small bitvectors, no quantifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import z3
from z3 import ULE, ULT, And, BoolVal, If, Implies, Not, Or

from model.evidence import Outcome
from model.protocols.upstream_backup.layouts import Drawing
from model.results.answers import QueryKind
from model.results.grid import Cell, CellMark, Grid
from model.results.proofs import Erratum
from proofs.lemmas.upstream_backup import streams
from proofs.lemmas.upstream_backup.streams import WindowPlace, either, small
from proofs.prove.drawing import CellOptions, stream, true
from proofs.prove.lemma import Lemma
from proofs.prove.query import SolverQuery, smallest


class FoundRecount(NamedTuple):
    """A counterexample, as the operator of the model takes it.

    theta: the match acknowledged, by its place.  saved: how many events had been consumed when
    its savepoint was computed.  left_out: which events the replay lacks, counted from 0.
    """

    word: str
    size: int
    slide: int
    theta: WindowPlace
    saved: int
    left_out: tuple[int, ...]


class Recount:
    """n events of two types, their savepoint and their replay, symbolic.

    drawing: what the savepoint says of windows.  all_listed: is it computed after the last window
    of the stream has opened?
    """

    def __init__(self, events: int, drawing: Drawing, all_listed: bool = False) -> None:
        self.events, self.drawing, self.all_listed = range(events), drawing, all_listed
        self.types = [z3.Bool(f"event_{i + 1}_is_a") for i in self.events]
        self.saved = z3.BitVec("events before the savepoint", streams.BITS)
        self.windows = streams.CountedWindows(
            events, lambda place: If(self.types[place.event], small(1), small(0))
        )
        self.opens_again = [*self._opens_again()]

    @property
    def claims(self) -> tuple[Any, ...]:
        windows, saved = self.windows, self.saved
        listed = [Implies(windows.opens(event), ULT(event, saved)) for event in self.events]
        return (
            *windows.bounds,
            windows.acknowledged,
            ULT(windows.theta_event, saved),
            ULE(saved, len(self.events)),
            *(listed if self.all_listed else ()),
        )

    def left_out(self, event: int) -> Any:
        """No window used the event before the savepoint; none opens or ends with it."""
        windows, openers = self.windows, range(event + 1)
        used = either(windows.matched(WindowPlace(opener, event)) for opener in openers)
        fills = either(
            And(windows.opens(opener), windows.size == event - opener + 1) for opener in openers
        )
        return And(ULT(event, self.saved), Not(Or(used, windows.opens(event), fills)))

    # --- the replay --------------------------------------------------------------------------
    def replayed(self, event: int) -> Any:
        kept = either(self.windows.kept(opener) for opener in range(event + 1))
        return And(kept, Not(self.left_out(event)))

    def listed(self, event: int) -> Any:
        return And(self.windows.kept(event), ULT(event, self.saved))

    def _opens_again(self) -> Iterator[Any]:
        """Where windows open again: as listed up to the last opener, from there on by counting."""
        begun, since = BoolVal(False), small(0)
        for event in self.events:
            here = self.replayed(event)
            opens = And(here, Or(Not(begun), z3.UGE(since, self.windows.slide)))
            if self.drawing is Drawing.OPENERS:
                listing = either(map(self.listed, self.events[event:]))
                opens = If(listing, And(here, self.listed(event)), opens)
            yield opens
            since = If(opens, small(1), If(here, since + 1, since))
            begun = Or(begun, opens)

    def holds_again(self, place: WindowPlace) -> Any:
        """Windows close when as many events have been replayed as they hold."""
        held = streams.count(map(self.replayed, range(place.opener, place.event + 1)))
        here = And(self.opens_again[place.opener], self.replayed(place.event))
        return And(here, ULE(held, self.windows.size))

    def match(self, place: WindowPlace) -> Any:
        return And(self.windows.kept(place.opener), self.windows.matched(place))

    def match_again(self, place: WindowPlace) -> Any:
        return And(self.holds_again(place), self.types[place.event])

    @property
    def wrong(self) -> Any:
        """Some match of a window kept is lost, or some match is new."""
        return either(self.match(p) != self.match_again(p) for p in self.windows.places)

    # --- a model -----------------------------------------------------------------------------
    def read(self, model: Any) -> FoundRecount:
        windows = self.windows
        kept = [event for event in self.events if true(model, windows.kept(event))]
        gone = (
            event for event in self.events if kept[0] < event and true(model, self.left_out(event))
        )
        return FoundRecount(
            streams.letters(model, self.types),
            streams.value(model, windows.size),
            streams.value(model, windows.slide),
            windows.read_theta(model),
            streams.value(model, self.saved),
            tuple(gone),
        )


def draw(recount: Recount, model: Any) -> Grid:
    """Columns are events, rows windows; first the original run, then the replay."""
    found, windows, events = recount.read(model), recount.windows, recount.events
    nothing = Cell("·", CellMark.DIM)

    def original(place: WindowPlace) -> CellOptions:
        return [(windows.matched(place), Cell("match")), (windows.holds(place), nothing)]

    def again(place: WindowPlace) -> CellOptions:
        was, is_ = recount.match(place), recount.match_again(place)
        lost = And(was, Not(is_)), Cell("lost", CellMark.BAD)
        new = And(is_, Not(was)), Cell("match", CellMark.BAD)
        right = is_, Cell("match", CellMark.GOOD)
        return [lost, new, right, (recount.holds_again(place), nothing)]

    def lanes(cell: Callable[[WindowPlace], CellOptions]) -> Iterator[tuple[str, list[Any]]]:
        for opener in events:
            if true(model, Or(windows.opens(opener), recount.opens_again[opener])):
                places = [WindowPlace(opener, event) for event in events[opener:]]
                yield f"window from event {opener + 1}", [[]] * opener + [*map(cell, places)]

    def note(word: str, of: Callable[[int], bool]) -> list[CellOptions]:
        return [[(BoolVal(of(event)), Cell(word))] for event in events]

    theta = found.theta
    return stream(
        model,
        f"windows of {found.size} events every {found.slide}; every a matches; "
        f"acknowledged: event {theta.event + 1} in the window from {theta.opener + 1}",
        streams.columns(found.word),
        (
            ("original run", ()),
            *lanes(original),
            ("after this event", note("savepoint", lambda event: event + 1 == found.saved)),
            ("replay", ()),
            ("skipped events", note("left out", lambda event: event in found.left_out)),
            *lanes(again),
        ),
    )


# --- lemmas ----------------------------------------------------------------------------------
SEARCHES = {
    "layout-counted": (3, Drawing.NOTHING, False),
    "layout-openers": (3, Drawing.OPENERS, False),
    "layout-openers-told": (4, Drawing.OPENERS, True),
}
"""The events of a smallest stream, what the savepoint says, whether it lists all windows."""

CORRECTION = "the savepoint also says which events filled windows, and the counts at its frontier"


def refuted(name: str, statement: str, section: str, claim: tuple[str, str] | None = None) -> Lemma:
    """claim: of the paper, and the size of its counterexample."""
    events, drawing, all_listed = SEARCHES[name]

    def question(n: int, kind: QueryKind) -> SolverQuery:
        recount = Recount(n, drawing, all_listed)
        asked = f"a match is lost or new, {n} event{'s' * (n > 1)}"
        return SolverQuery(asked, kind, (*recount.claims, recount.wrong), partial(draw, recount))

    return Lemma(
        name,
        statement,
        section,
        Outcome.REFUTED,
        lambda _: smallest(question, range(1, events + 1)),
        f"streams of up to {events} events, windows of any size and slide",
        "finite",
        claim and Erratum(claim[0], section, claim[1], CORRECTION),
    )


LEMMAS = (
    refuted(
        "layout-counted",
        "Count windows come back by counting the events replayed, if the events that opened and "
        "filled windows are kept: refuted; 3 events.  An event that was skipped changes no "
        "engine's state, but it counts for the splitter.  III-B5 says as much of x:y pairs; it is "
        "so with any numbers, unless the splitter counts by their distance.",
        "Lima et al., III-A",
        (
            "Preserving the events that cause windows to open or close ensures that during "
            "recovery the splitter produces the same windows.",
            "3 events, count windows; it is right for windows that count no events",
        ),
    ),
    refuted(
        "layout-openers",
        "Count windows come back if the savepoint says which events opened windows: refuted; "
        "3 events.  How many events have passed since the last of them is missing.",
        "Lima et al., III-B5",
        (
            "Which events caused windows to open is information enough to split windows during "
            "recovery.",
            "3 events, 4 if all events that open windows are known",
        ),
    ),
    refuted(
        "layout-openers-told",
        "Count windows come back if the savepoint says which events opened windows, and no window "
        "opens after it is computed: refuted; 4 events.  Where windows end is missing.",
        "Lima et al., III-B5",
    ),
)
