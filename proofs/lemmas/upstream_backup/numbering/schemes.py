"""Numberings as published, written out over short streams, and how a replay with one is drawn.

Rule of this file: it gives matches their numbers, in the original run and in the replay; wrong
numbers are searched for elsewhere.  Lima et al., III-B3 and III-B4; model.cep.numbering.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import z3

from model.results.grid import Cell, CellMark, Grid, GridRow, lane
from proofs.lemmas.upstream_backup import streams
from proofs.prove.drawing import true

Number: TypeAlias = tuple[Any, ...]
"""The parts of a number: (x, y), or one scalar."""

PlaceNumbers: TypeAlias = Mapping[streams.WindowPlace, Number]
"""The number of the first match in each place."""

Opened: TypeAlias = Callable[[int], Any]
"""Whether the run at hand has the window that this event opens: a replay has only those kept."""


class NumberingScheme(NamedTuple):
    """The numbers of a run and of its replay, and the seed that the savepoint holds."""

    original: PlaceNumbers
    replayed: PlaceNumbers
    seed: Number

    def wrong(self, place: streams.WindowPlace) -> Any:
        """The replay gives the match there another number."""
        parts = zip(self.original[place], self.replayed[place], strict=True)
        return z3.Or(*(one != other for one, other in parts))


def everything(_opener: int) -> Any:
    return z3.BoolVal(True)


def pair_numbers(
    windows: streams.CountedWindows, opened: Opened, before: Any, first: Any
) -> PlaceNumbers:
    """x:y (III-B4): x grows with every iteration that produced an event, y names the window.
    before: the x of the iteration before the run; first: its first window's y."""
    numbers, x = {}, before
    for event in range(windows.events):
        places = [streams.WindowPlace(opener, event) for opener in range(event + 1)]
        produced = (z3.And(opened(place.opener), windows.matched(place)) for place in places)
        x = z3.If(streams.either(produced), x + 1, x)
        for place in places:
            older = (z3.And(opened(j), windows.opens(j)) for j in range(place.opener))
            numbers[place] = x, first + streams.count(older)
    return numbers


def scalar_numbers(windows: streams.CountedWindows, opened: Opened, before: Any) -> PlaceNumbers:
    """1, 2, 3, ... (III-B3).  before: the number of the match before the run."""
    numbers, latest = {}, before
    for place in windows.places:
        numbers[place] = (latest + 1,)
        more = windows.completed(place)
        latest = z3.If(opened(place.opener), latest + more, latest)
    return numbers


def pairs(windows: streams.CountedWindows) -> NumberingScheme:
    """The scheme as published: the seed is the x:y of the first match of the windows kept."""
    original = pair_numbers(windows, everything, streams.small(0), streams.small(1))
    return _pairs_from(windows, original, windows.first_match(lambda place: original[place][1]))


def pairs_from_first_window(windows: streams.CountedWindows) -> NumberingScheme:
    """x as published; the seed's y is the number of the first window kept."""
    original = pair_numbers(windows, everything, streams.small(0), streams.small(1))
    y = windows.first_kept(lambda opener: original[streams.WindowPlace(opener, opener)][1])
    return _pairs_from(windows, original, y)


def _pairs_from(windows: streams.CountedWindows, original: PlaceNumbers, y: Any) -> NumberingScheme:
    x = windows.first_match(lambda place: original[place][0])
    return NumberingScheme(original, pair_numbers(windows, windows.kept, x - 1, y), (x, y))


def scalar(windows: streams.CountedWindows) -> NumberingScheme:
    """The seed is the number of the first match of the windows kept."""
    original = scalar_numbers(windows, everything, streams.small(0))
    seed = windows.first_match(lambda place: original[place][0])
    return NumberingScheme(original, scalar_numbers(windows, windows.kept, seed - 1), (seed,))


# --- drawing ---------------------------------------------------------------------------------
def text(model: Any, number: Number) -> str:
    """The number in a model, as x:y."""
    return ":".join(str(streams.value(model, part)) for part in number)


def replay_grid(
    windows: streams.CountedWindows, scheme: NumberingScheme, model: Any, word: str, caption: str
) -> Grid:
    """Columns are events, rows windows with the numbers of their matches, before and after."""
    n = windows.events
    openers = [event for event in range(n) if true(model, windows.opens(event))]
    kept = [opener for opener in openers if true(model, windows.kept(opener))]

    def cell(place: streams.WindowPlace, again: bool) -> Cell:
        if not true(model, windows.holds(place)):
            return Cell()
        copies = streams.value(model, windows.completed(place))
        if not copies:
            return Cell("·", CellMark.DIM)
        number = text(model, scheme.original[place])
        if again and true(model, scheme.wrong(place)):
            return Cell(f"{text(model, scheme.replayed[place])}, was {number}", CellMark.BAD)
        if again:
            return Cell(number, CellMark.GOOD)
        if copies > 1 and len(scheme.seed) == 2:
            return Cell(f"{number}, {copies} times", CellMark.BAD)
        return Cell(number, CellMark.PLAIN if place.opener in kept else CellMark.DIM)

    def windows_of(of: list[int], again: bool) -> list[GridRow]:
        names = {o: f"window {openers.index(o) + 1}{', dropped' * (o not in kept)}" for o in of}
        return [streams.window_row(names[o], o, n, partial(cell, again=again)) for o in of]

    theta = windows.read_theta(model)
    acked = {theta.event: f"up to {text(model, scheme.original[theta])}"}
    saved = {
        **dict.fromkeys(range(kept[0]), "deleted"),
        kept[0]: f"seed {text(model, scheme.seed)}",
    }
    rows = (
        streams.heading("original run", n),
        *windows_of(openers, again=False),
        _notes("acknowledgement", acked, n),
        _notes("savepoint", saved, n),
        streams.heading("replay", n),
        *windows_of(kept, again=True),
    )
    return Grid(caption, streams.columns(word), rows)


def _notes(label: str, texts: Mapping[int, str], events: int) -> GridRow:
    marks = [CellMark.NEW if event in texts else CellMark.PLAIN for event in range(events)]
    return lane(label, [texts.get(event, "") for event in range(events)], marks)
