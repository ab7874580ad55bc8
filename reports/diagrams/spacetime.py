"""A space-time diagram as SVG (`svg`) and in characters (`text`): lanes are nodes, time runs down.

Rule of this file: no row for two moments.  The text of a row stands above its line; arrows leave
below the line and arrive along it, so that labels do not meet.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape
from typing import Any

from model.costs import MessageKind
from model.results.culprit import Culprit
from model.results.story import Story
from reports import palette
from reports.diagrams.picture import Picture
from reports.diagrams.shapes import circle, cross, line, n, path, polygon, rect, sheet
from reports.diagrams.shapes import text as words_at
from reports.diagrams.terminal import style, text
from reports.diagrams.timeline import (
    CRASH,
    DECIDED,
    RESTART,
    Arrow,
    Timeline,
    TimelineMoment,
    captions,
    timeline,
)

__all__ = ["picture", "style", "svg", "text"]

# All lengths in CSS pixels; text is monospaced, so its width is known.
_CHAR = 6.65
_ROW = 36
_STRAY = 17
_HEAD = 46
_NUMBERS = 30
_NARROWEST = 140
_STUB = 40
_NOTE = 14
_RULE = 24
_CAPTION = 22
_TITLE = 22
_LANE: dict[str, Any] = {"colour": palette.DIM, "width": 1.5}
_DOWN: dict[str, Any] = {"colour": palette.BAD, "width": 1.5, "dashes": (3, 4), "kind": "down"}
_COLOURS = {
    "": palette.FG,
    "dim": palette.DIM,
    "bad": palette.text_of(palette.BAD),
    "good": palette.text_of(palette.GOOD),
}
"""The colour of each kind of text."""
_SHORT = 34
"""The length of a line of notes in characters."""
_LINE = 96
"""The length of a line of a caption in characters."""


def picture(
    story: Story, *, title: str = "", caption: str = "", culprit: Culprit | None = None
) -> Picture:
    """The diagram for a file.  title: the protocol and the scope of the run."""
    return Picture(svg(story, title=title, caption=caption, culprit=culprit))


def svg(story: Story, *, title: str = "", caption: str = "", culprit: Culprit | None = None) -> str:
    """The diagram as one self-contained <svg>.

    caption: the property that the run violates.  culprit: the fault of this run, which is marked.
    """
    return _Sheet(timeline(story, culprit), captions(caption, culprit), title).draw()


@dataclass
class _Sheet:
    """The places of lanes and rows, and the elements drawn so far, in three layers."""

    line: Timeline
    captions: tuple[str, ...]
    title: str
    head: float = field(init=False)
    numbers: float = field(init=False)
    xs: list[float] = field(init=False)
    ys: list[float] = field(init=False)
    bottom: float = field(init=False)
    width: float = field(init=False)
    under: list[str] = field(default_factory=list)
    arrows: list[str] = field(default_factory=list)
    over: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        numbers = map(self.line.number, range(len(self.line.moments)))
        self.head = _HEAD + _TITLE * len(_wrap(self.title))
        self.numbers = max([_NUMBERS, *(_wide(number) + 10 for number in numbers)])
        gaps = self._gaps()
        self.xs = [sum(gaps[: lane + 1]) for lane in range(len(self.line.lanes))]
        legend = sum(width + 28 + _wide(name) for _, width, name in self._meanings())
        captions = [
            _wide(line) * 1.1 + 24 for one in (self.title, *self.captions) for line in _wrap(one)
        ]
        self.width = max([sum(gaps), legend, _wide(DECIDED) + self.numbers + 24, *captions])
        self.ys = []
        y: float = self.head + 34
        for at, moment in enumerate(self.line.moments):
            y += _NOTE * max(0, len(_lines(moment)) - 1)
            self.ys.append(y)
            below = len(moment.stray) + bool(moment.crash) + bool(moment.lost)
            y += max(_ROW, 31 + _STRAY * below, 20 + 16 * len(moment.emits))
            y += _RULE * (at == self.line.decided)
        self.bottom = y

    def draw(self) -> str:
        for lane in range(len(self.line.lanes)):
            self._lane(lane)
        for at, moment in enumerate(self.line.moments):
            self._moment(at, moment)
            if at == self.line.decided:
                self._rule(at)
        for row, words in enumerate(_wrap(self.title)):
            self._text(12, 18 + _TITLE * row, words, "name")
        self._legend(self.bottom + 48)
        height = self.bottom + 62
        for place, caption in enumerate(self.captions):
            for words in _wrap(caption):
                height += _CAPTION
                self._text(12, height - 12, words, "dim" if place else "name bad")
        about = (
            f"{self.title}: " * bool(self.title)
            + f"Space-time diagram: {max(self.line.steps, default=0)} steps on "
        )
        about += ", ".join(self.line.lanes)
        about += "".join(f"; {one[:1].lower()}{one[1:]}" for one in self.captions)
        parts = [*self.under, *self.arrows, *self.over]
        return sheet(parts, self.width, height, about=about, mono=True)

    # --- where things are ----------------------------------------------------------------
    def _gaps(self) -> list[float]:
        """The gaps left of each lane and right of the last, as wide as the widest thing in each."""
        lanes = self.line.lanes
        needs: list[list[float]] = [[_NARROWEST] for _ in range(len(lanes) + 1)]
        needs[0] = [_wide(lanes[0]) / 2 + self.numbers + 20]
        needs[-1] = [_wide(lanes[-1]) / 2 + 20]
        for left, right, need in zip(lanes, lanes[1:], needs[1:], strict=False):
            need.append((_wide(left) + _wide(right)) / 2 + 44)
        for at, moment in enumerate(self.line.moments):
            free = moment.lane + (moment.side > 0)
            edge = 0 if free else self.numbers
            needs[free] += [_wide(note) + 24 + edge for note in _lines(moment)]
            if moment.handed:
                edge = 0 if moment.lane else self.numbers
                needs[moment.lane].append(_wide(moment.handed) + 40 + edge)
            if moment.crash:
                free = moment.lane + (self._crash_side(at) > 0)
                edge = 0 if free else self.numbers
                needs[free].append(_wide(moment.crash) + 30 + edge)
            needs[moment.lane + 1] += [_wide(one.words) + 24 for one in moment.emits]
            if moment.lost:
                needs[moment.lost.lane + 1].append(_wide(moment.lost.words) + 30)
            if arrow := moment.taken:
                into = arrow.receiver + (arrow.sender > arrow.receiver)
                needs[into].append(_wide(arrow.label) + 56)
            for arrow in moment.stray:
                out = arrow.sender + (arrow.receiver > arrow.sender)
                needs[out].append(_STUB + _wide(arrow.label) + 26)
        return [max(need) for need in needs]

    def _crash_side(self, at: int) -> int:
        """The side of the lane for the words of a crash: away from arrows that leave, +1 right."""
        leave = [arrow.receiver > arrow.sender for arrow in self.line.arrows if arrow.sent_at == at]
        return -1 if any(leave) and all(leave) else 1

    def _below(self, at: int, place: int) -> float:
        return self.ys[at] + 8 + _STRAY * (place + 1)

    # --- what is drawn -------------------------------------------------------------------
    def _lane(self, lane: int) -> None:
        x, name = self.xs[lane], self.line.lanes[lane]
        half = _wide(name) / 2 + 12
        top, end = self.head - 4, self.bottom
        since: float = top
        for stretch in self.line.down[lane]:
            moment = self.line.moments[stretch.start]
            start = self.ys[stretch.start]
            if moment.crash:
                start = self._below(stretch.start, len(moment.stray))
            stop = self.ys[stretch.stop] if stretch.stop < len(self.ys) else end
            self.under.append(line(x, since, x, start, **_LANE))
            self.under.append(line(x, start, x, stop, **_DOWN))
            since = stop
        self.under.append(line(x, since, x, end, **_LANE))
        for y in (self.head - 28, end):
            box = rect(x - half, y, 2 * half, 24, fill=palette.BG, colour=palette.FG)
            self.over.append(box)
            self._text(x, y + 16, name, "name", "middle")

    def _moment(self, at: int, moment: TimelineMoment) -> None:
        x, y = self.xs[moment.lane], self.ys[at]
        since = x if moment.handed else self.numbers
        self.under.append(line(since, y, self.width - 12, y, palette.RULE))
        self._text(self.numbers - 6, y + 4, self.line.number(at), "dim", "end")
        if moment.handed:
            self._text(x - 34, y + 4, moment.handed, "", "end")
            look = palette.MESSAGES[MessageKind.EVENT]
            drawn = path(((x - 30, y), (x - 8, y)), look.colour) + _head(x - 5, y, 1, look.colour)
            self.arrows.append(f'<g class="arrow event">{drawn}</g>')
        if moment.taken:
            self._draw_taken(at, moment.taken)
        for place, arrow in enumerate(moment.stray):
            self._draw_stray(at, place, arrow)
        self._mark(moment, x, y)
        anchor = "start" if moment.side > 0 else "end"
        style = "bad" if moment.mark == CRASH else ""
        notes = _lines(moment)
        for row, note in enumerate(notes):
            here = y - 6 - _NOTE * (len(notes) - 1 - row)
            self._text(x + 10 * moment.side, here, note, style, anchor)
        crashed = y
        if moment.crash:
            crashed = self._below(at, len(moment.stray))
            self.over.append(cross(x, crashed, 6))
            side = self._crash_side(at)
            anchor = "start" if side > 0 else "end"
            self._text(x + 12 * side, crashed + 4, moment.crash, "bad", anchor)
        self.over += [cross(self.xs[lane], crashed, 6) for lane in moment.others]
        for row, emitted in enumerate(moment.emits):
            here = y + 15 + 16 * row
            self._text(x + 10, here, emitted.words, "bad" if emitted.wrong else "good")
        if moment.lost:
            here = self._below(at, len(moment.stray) + bool(moment.crash))
            self._text(self.xs[moment.lost.lane] + 12, here + 4, moment.lost.words, "bad")

    def _rule(self, at: int) -> None:
        """Draw the line below a moment after which no continuation of the run is right."""
        following = self.ys[at + 1] if at + 1 < len(self.ys) else self.bottom
        notes = _lines(self.line.moments[at + 1]) if at + 1 < len(self.ys) else ()
        y = following - 22 - _NOTE * max(0, len(notes) - 1)
        self.over.append(line(12, y, self.width - 12, y, palette.BAD, 1.5, (8, 4), "decided"))
        wide = _wide(DECIDED) + 8
        ground = rect(self.numbers - 4, y - 16, wide, 15, fill=palette.BG, colour=palette.BG)
        self.over.append(ground)
        self._text(self.numbers, y - 5, DECIDED, "bad")

    def _mark(self, moment: TimelineMoment, x: float, y: float) -> None:
        if moment.mark == CRASH:
            self.over.append(cross(x, y, 6))
        elif moment.mark == RESTART:
            self.over.append(_restart(x, y, 5))
        else:
            self.over.append(circle(x, y, 4, fill=palette.FG))

    def _draw_taken(self, at: int, arrow: Arrow) -> None:
        """Draw an arrow that slants down to the row of the moment, then runs level into the lane
        under its label."""
        x1, y1 = self.xs[arrow.sender], self.ys[arrow.sent_at]
        x2, y2 = self.xs[arrow.receiver], self.ys[at]
        way = 1 if x2 > x1 else -1
        level = x2 - way * (_wide(arrow.label) + 22)
        tip = x2 - way * 5
        look = palette.MESSAGES[arrow.kind]
        drawn = path(((x1, y1), (level, y2), (tip - way * 4, y2)), look.colour, 1.4, look.dashes)
        self._arrow(arrow, drawn + _head(tip, y2, way, look.colour), tip - way * 12, y2 - 5, way)

    def _draw_stray(self, at: int, place: int, arrow: Arrow) -> None:
        """Draw the stub of a message that is lost or still on its way."""
        x1, y1 = self.xs[arrow.sender], self.ys[at]
        way = 1 if arrow.receiver > arrow.sender else -1
        x2, y2 = x1 + way * _STUB, self._below(at, place)
        end = cross(x2, y2, 4) if arrow.lost else _restart(x2, y2, 3)
        look = palette.MESSAGES[arrow.kind]
        corners = ((x1, y1), (x1 + way * 14, y2), (x2 - way * 5, y2))
        drawn = path(corners, look.colour, 1.4, look.dashes)
        self._arrow(arrow, drawn + end, x2 + way * 9, y2 + 4, -way)

    def _arrow(self, arrow: Arrow, drawn: str, x: float, y: float, way: int) -> None:
        lanes = self.line.lanes
        fate = "lost" if arrow.lost else "on its way"
        if arrow.taken_at is not None:
            fate = f"taken in step {self.line.steps[arrow.taken_at]}"
        about = (
            f"{arrow.kind.value} {arrow.label}: {lanes[arrow.sender]} to {lanes[arrow.receiver]}, "
        )
        about += f"sent in step {self.line.steps[arrow.sent_at]}, {fate}"
        kind, title = arrow.kind.value, f"<title>{escape(about)}</title>"
        self.arrows.append(f'<g class="arrow {kind}">{title}{drawn}</g>')
        colour = palette.MESSAGES[arrow.kind].text
        anchor = "end" if way > 0 else "start"
        self.over.append(words_at(x, y, arrow.label, colour=colour, anchor=anchor, kind=kind))

    def _legend(self, y: float) -> None:
        x: float = 12
        for mark, width, name in self._meanings():
            self.over.append(f'<g transform="translate({n(x)} {n(y - 4)})">{mark}</g>')
            self._text(x + width + 6, y, name, "dim")
            x += width + 6 + _wide(name) + 22

    def _meanings(self) -> list[tuple[str, float, str]]:
        """The legend of the kinds of messages and marks that occur: (drawn from (0, 0), width,
        meaning)."""
        kinds: dict[palette.PlotLook, set[str]] = {}
        for arrow in self.line.arrows:
            kinds.setdefault(palette.MESSAGES[arrow.kind], set()).add(arrow.kind.value)
        found: list[tuple[str, float, str]] = [
            (_sample(look), 36, " / ".join(sorted(names)))
            for look, names in sorted(kinds.items(), key=lambda item: min(item[1]))
        ]
        if any(self.line.down):
            found.append((cross(5, 0, 5), 10, "crash"))
            found.append((line(0, 0, 18, 0, **_DOWN), 18, "down"))
        if any(moment.mark == RESTART for moment in self.line.moments):
            found.append((_restart(5, 0, 5), 10, "restart"))
        if any(arrow.lost for arrow in self.line.arrows):
            found.append((cross(4, 0, 4), 8, "message lost"))
        if any(arrow.taken_at is None and not arrow.lost for arrow in self.line.arrows):
            found.append((_restart(3, 0, 3), 6, "message on its way"))
        if self.line.circle:
            found.append((_sign("↻", "dim"), 14, "repeats without end"))
        if self.line.has_culprit:
            found.append((_sign("✗", "bad"), 10, "wrong, or lost for ever"))
        return found

    def _text(self, x: float, y: float, what: str, kind: str = "", anchor: str = "start") -> None:
        self.over.append(_words(x, y, what, kind, anchor))


def _words(x: float, y: float, what: str, kind: str, anchor: str = "start") -> str:
    """Words as their kind, of _COLOURS, has them."""
    first, *_ = [one for one in kind.split() if one in _COLOURS] or [""]
    name = "name" in kind
    return words_at(
        *(x, y, what),
        colour=_COLOURS[first],
        anchor=anchor,
        size=12 if name else 0,
        bold=name,
        kind=kind,
    )


def _lines(moment: TimelineMoment) -> list[str]:
    """The notes of a moment, in lines that do not make its lane too wide."""
    lines: list[str] = []
    for part in moment.parts:
        if lines and len(lines[-1]) + 3 + len(part) <= _SHORT:
            lines[-1] += f" · {part}"
        else:
            lines += textwrap.wrap(part, _SHORT)
    return lines


def _wrap(caption: str) -> list[str]:
    return textwrap.wrap(caption, _LINE)


def _wide(what: str) -> float:
    return _CHAR * len(what)


def _sign(sign: str, kind: str) -> str:
    return _words(0, 4, sign, kind)


def _sample(look: palette.PlotLook) -> str:
    return path(((0, 0), (30, 0)), look.colour, 1.4, look.dashes) + _head(36, 0, 1, look.colour)


def _restart(x: float, y: float, radius: float) -> str:
    return circle(x, y, radius, fill=palette.BG, colour=palette.FG, width=2)


def _head(x: float, y: float, way: int, colour: str) -> str:
    back = x - way * 8
    return polygon(((x, y), (back, y - 4), (back, y + 4)), colour)
