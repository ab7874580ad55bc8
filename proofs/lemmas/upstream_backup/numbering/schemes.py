"""Numberings as published, written out over short streams, and how a replay with one is drawn.

Rule of this file: it gives matches their numbers, in the original run and in the replay; what is
wrong with them is searched for elsewhere.  The numberings are those of model.cep.numbering; Lima et
al., III-B3 and III-B4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import z3

from model.results.grid import Cell, CellMark, Grid, GridRow, lane
from proofs.lemmas.upstream_backup import streams

Opened = Callable[[int], Any]
"""Whether the run at hand has the window that this event opens: a replay has only those kept."""


def everything(_opener: int) -> Any:
    return z3.BoolVal(True)


@dataclass(frozen=True)
class Pairs:
    """x:y (III-B4).  before: the x of the iteration before the run; first: its first window's y."""

    windows: streams.CountedWindows
    opened: Opened
    before: Any
    first: Any

    def x(self, event: int) -> Any:
        """One more for every iteration that produced something."""
        return self._x[event]

    @cached_property
    def _x(self) -> tuple[Any, ...]:
        sums = []
        latest = self.before
        for event in range(self.windows.events):
            produced = streams.either(
                z3.And(self.opened(place.opener), self.windows.matched(place))
                for place in self.windows.places
                if place.event == event
            )
            latest = z3.If(produced, latest + 1, latest)
            sums.append(latest)
        return tuple(sums)

    def y(self, opener: int) -> Any:
        older = (z3.And(self.opened(j), self.windows.opens(j)) for j in range(opener))
        return self.first + streams.count(older)

    def text(self, model: Any, place: streams.WindowPlace) -> str:
        x, y = self.x(place.event), self.y(place.opener)
        return f"{streams.value(model, x)}:{streams.value(model, y)}"


@dataclass(frozen=True)
class Scalar:
    """1, 2, 3, ... (III-B3).  before: the number of the match before the run."""

    windows: streams.CountedWindows
    opened: Opened
    before: Any

    def number(self, place: streams.WindowPlace) -> Any:
        """The number of the first match there."""
        return self._numbers[place]

    @cached_property
    def _numbers(self) -> dict[streams.WindowPlace, Any]:
        numbers = {}
        latest = self.before
        for place in self.windows.places:
            numbers[place] = latest + 1
            more = self.windows.completed(place)
            latest = z3.If(self.opened(place.opener), latest + more, latest)
        return numbers

    def text(self, model: Any, place: streams.WindowPlace) -> str:
        return str(streams.value(model, self.number(place)))


class NumberingScheme(NamedTuple):
    """The numbers of a run and of its replay.  wrong: the replay gives the match there another
    number.  seed: what the savepoint says, for drawing."""

    original: Pairs | Scalar
    replayed: Pairs | Scalar
    wrong: Callable[[streams.WindowPlace], Any]
    seed: Callable[[Any], str]


def pairs(windows: streams.CountedWindows) -> NumberingScheme:
    """The scheme as published: the seed is the x:y of the first match of the windows kept."""
    original = Pairs(windows, everything, streams.small(0), streams.small(1))
    x = windows.first_match(lambda place: original.x(place.event))
    y = windows.first_match(lambda place: original.y(place.opener))
    return _compare(windows, original, x, y)


def pairs_from_first_window(windows: streams.CountedWindows) -> NumberingScheme:
    """x as published; the seed's y is the number of the first window kept."""
    original = Pairs(windows, everything, streams.small(0), streams.small(1))
    x = windows.first_match(lambda place: original.x(place.event))
    return _compare(windows, original, x, windows.first_kept(original.y))


def _compare(windows: streams.CountedWindows, original: Pairs, x: Any, y: Any) -> NumberingScheme:
    replayed = Pairs(windows, windows.kept, x - 1, y)
    return NumberingScheme(
        original,
        replayed,
        lambda place: z3.Or(
            original.x(place.event) != replayed.x(place.event),
            original.y(place.opener) != replayed.y(place.opener),
        ),
        lambda model: f"{streams.value(model, x)}:{streams.value(model, y)}",
    )


def scalar(windows: streams.CountedWindows) -> NumberingScheme:
    """The seed is the number of the first match of the windows kept."""
    original = Scalar(windows, everything, streams.small(0))
    seed = windows.first_match(original.number)
    replayed = Scalar(windows, windows.kept, seed - 1)
    return NumberingScheme(
        original,
        replayed,
        lambda place: original.number(place) != replayed.number(place),
        lambda model: str(streams.value(model, seed)),
    )


# --- drawing ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class ReplayPicture:
    """A replay that a model describes: columns are events, rows windows with the numbers of their
    matches, before and after."""

    windows: streams.CountedWindows
    scheme: NumberingScheme
    model: Any

    def true(self, condition: Any) -> bool:
        return bool(self.model.eval(condition, model_completion=True))

    def original(self, place: streams.WindowPlace) -> Cell:
        if not self.true(self.windows.holds(place)):
            return Cell()
        number = self.scheme.original.text(self.model, place)
        copies = streams.value(self.model, self.windows.completed(place))
        if not copies:
            return Cell("·", CellMark.DIM)
        if copies > 1 and isinstance(self.scheme.original, Pairs):
            return Cell(f"{number}, {copies} times", CellMark.BAD)
        kept = self.true(self.windows.kept(place.opener))
        return Cell(number, CellMark.PLAIN if kept else CellMark.DIM)

    def replayed(self, place: streams.WindowPlace) -> Cell:
        if not self.true(self.windows.holds(place)):
            return Cell()
        if not self.true(self.windows.matched(place)):
            return Cell("·", CellMark.DIM)
        number = self.scheme.replayed.text(self.model, place)
        if self.true(self.scheme.wrong(place)):
            was = self.scheme.original.text(self.model, place)
            return Cell(f"{number}, was {was}", CellMark.BAD)
        return Cell(number, CellMark.GOOD)

    def grid(self, word: str, caption: str) -> Grid:
        events = range(self.windows.events)
        openers = [event for event in events if self.true(self.windows.opens(event))]
        names = {opener: f"window {number}" for number, opener in enumerate(openers, 1)}
        kept = [opener for opener in openers if self.true(self.windows.kept(opener))]
        labels = {o: name + ", dropped" * (o not in kept) for o, name in names.items()}
        theta = self.windows.read_theta(self.model)
        acked = f"up to {self.scheme.original.text(self.model, theta)}"
        seed = f"seed {self.scheme.seed(self.model)}"
        saved = ["deleted"] * kept[0] + [seed] + [""] * (len(events) - kept[0] - 1)
        rows = (
            streams.heading("original run", len(events)),
            *(streams.window_row(labels[o], o, len(events), self.original) for o in openers),
            _notes("acknowledgement", [acked * (event == theta.event) for event in events]),
            _notes("savepoint", saved),
            streams.heading("replay", len(events)),
            *(streams.window_row(names[o], o, len(events), self.replayed) for o in kept),
        )
        return Grid(caption, streams.columns(word), rows)


def _notes(label: str, texts: list[str]) -> GridRow:
    return lane(label, texts, [CellMark.NEW if text else CellMark.PLAIN for text in texts])
