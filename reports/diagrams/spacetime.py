"""A space-time diagram as SVG (`svg`) and in characters (`text`): lanes are nodes, time runs down.

Rule of this file: no row for two moments.  The text of a row stands above its line; arrows leave
below the line and arrive along it, so that labels do not meet.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape

from model.costs import MessageKind
from model.results.culprit import Culprit
from model.results.story import Story
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
from reports.safe_text import visible

__all__ = ["style", "svg", "text"]

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
_SHORT = 34
"""The length of a line of notes in characters."""
_LINE = 96
"""The length of a line of a caption in characters."""

_CLASSES = {
    MessageKind.EVENT: "event",
    MessageKind.ACKNOWLEDGEMENT: "ack",
    MessageKind.RECOVERY: "recovery",
    MessageKind.CONTROL: "mark",
    MessageKind.CHECKPOINT: "state",
    MessageKind.UPLOAD: "state",
    MessageKind.COPY: "state",
    MessageKind.DETERMINANT: "state",
}
"""The style of each kind of messages."""

STYLE = """
.st{--st-bg:var(--bg,Canvas);--st-event:#1d5fbf;--st-ack:#a04a00;--st-recovery:#7a3fb0;
--st-mark:#56707f;--st-bad:#c01c28;--st-good:#19703a;color:var(--fg,CanvasText);
color-scheme:light dark;background:var(--st-bg);
font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media(prefers-color-scheme:dark){.st{--st-event:#7db4ff;--st-ack:#f0a35e;--st-recovery:#c79bff;
--st-mark:#9db4c0;--st-bad:#ff7b7b;--st-good:#6fd08c}}
.st text{fill:currentColor;paint-order:stroke;stroke:var(--st-bg);stroke-width:4px;
stroke-linejoin:round}
.st .name{font-weight:600;font-size:12px}
.st .dim{opacity:.72}
.st .box{fill:var(--st-bg);stroke:currentColor}
.st .lane{stroke:currentColor;stroke-width:1.5;opacity:.55}
.st .down{stroke:var(--st-bad);stroke-width:1.5;stroke-dasharray:3 4}
.st .decided{stroke:var(--st-bad);stroke-width:1.5;stroke-dasharray:8 4}
.st .rule{stroke:currentColor;opacity:.1}
.st .dot{fill:currentColor}
.st .restart{fill:var(--st-bg);stroke:currentColor;stroke-width:2}
.st path.cross.cross{stroke:var(--st-bad);stroke-width:2.5;stroke-dasharray:none;
fill:none;stroke-linecap:round}
.st .bad{fill:var(--st-bad)}
.st .good{fill:var(--st-good)}
.st .arrow path{fill:none;stroke-width:1.4}
.st .event path{stroke:var(--st-event)}.st .event polygon,.st .event text{fill:var(--st-event)}
.st .ack path{stroke:var(--st-ack)}.st .ack polygon,.st .ack text{fill:var(--st-ack)}
.st .mark path{stroke:var(--st-mark)}.st .mark polygon,.st .mark text{fill:var(--st-mark)}
.st .recovery path{stroke:var(--st-recovery);stroke-dasharray:6 3}
.st .recovery polygon,.st .recovery text{fill:var(--st-recovery)}
.st .state path{stroke:var(--st-good)}.st .state polygon,.st .state text{fill:var(--st-good)}
""".strip()


def svg(story: Story, *, caption: str = "", culprit: Culprit | None = None) -> str:
    """The diagram as one self-contained <svg>, readable on light and dark ground; if the page sets
    `--bg` and `--fg`, the diagram uses these colours.

    caption: the property that the run violates.  culprit: the fault of this run, which is marked.
    """
    return _Sheet(timeline(story, culprit), captions(caption, culprit)).draw()


@dataclass
class _Sheet:
    """The places of lanes and rows, and the elements drawn so far, in three layers."""

    line: Timeline
    captions: tuple[str, ...]
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
        self.numbers = max([_NUMBERS, *(_wide(number) + 10 for number in numbers)])
        gaps = self._gaps()
        self.xs = [sum(gaps[: lane + 1]) for lane in range(len(self.line.lanes))]
        legend = sum(width + 28 + _wide(name) for _, width, name in self._meanings())
        captions = [_wide(line) * 1.1 + 24 for one in self.captions for line in _wrap(one)]
        self.width = max([sum(gaps), legend, _wide(DECIDED) + self.numbers + 24, *captions])
        self.ys = []
        y: float = _HEAD + 34
        for at, moment in enumerate(self.line.moments):
            y += _NOTE * max(0, len(_lines(moment)) - 1)
            self.ys.append(y)
            below = len(moment.stray) + bool(moment.crash) + bool(moment.lost)
            y += max(_ROW, 31 + _STRAY * below, 14 + 16 * len(moment.emits))
            y += _RULE * (at == self.line.decided)
        self.bottom = y

    def draw(self) -> str:
        for lane in range(len(self.line.lanes)):
            self._lane(lane)
        for at, moment in enumerate(self.line.moments):
            self._moment(at, moment)
            if at == self.line.decided:
                self._rule(at)
        self._legend(self.bottom + 48)
        height = self.bottom + 62
        for place, caption in enumerate(self.captions):
            for line in _wrap(caption):
                height += _CAPTION
                self._text(12, height - 12, line, "dim" if place else "name bad")
        about = f"Space-time diagram: {max(self.line.steps, default=0)} steps on "
        about += ", ".join(self.line.lanes)
        about += "".join(f"; {one[:1].lower()}{one[1:]}" for one in self.captions)
        drawn = "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" class="st" role="img" '
                f'viewBox="0 0 {_n(self.width)} {_n(height)}" width="{_n(self.width)}" '
                f'height="{_n(height)}" aria-label="{escape(about)}">',
                f"<style>{STYLE}</style>",
                *self.under,
                *self.arrows,
                *self.over,
                "</svg>",
            ]
        )
        return visible(drawn)

    # --- where things are ----------------------------------------------------------------
    def _gaps(self) -> list[float]:
        """The gaps left of each lane and right of the last, as wide as the widest thing in each."""
        lanes = self.line.lanes
        needs: list[list[float]] = [[_NARROWEST] for _ in range(len(lanes) + 1)]
        needs[0] = [_wide(lanes[0]) / 2 + self.numbers + 20]
        needs[-1] = [_wide(lanes[-1]) / 2 + 20]
        for left, right, need in zip(lanes, lanes[1:], needs[1:], strict=False):
            need.append((_wide(left) + _wide(right)) / 2 + 44)
        for moment in self.line.moments:
            free = moment.lane + (moment.side > 0)
            edge = 0 if free else self.numbers
            needs[free] += [_wide(note) + 24 + edge for note in _lines(moment)]
            if moment.handed:
                edge = 0 if moment.lane else self.numbers
                needs[moment.lane].append(_wide(moment.handed) + 40 + edge)
            if moment.crash:
                needs[moment.lane + 1].append(_wide(moment.crash) + 30)
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

    def _below(self, at: int, place: int) -> float:
        return self.ys[at] + 8 + _STRAY * (place + 1)

    # --- what is drawn -------------------------------------------------------------------
    def _lane(self, lane: int) -> None:
        x, name = self.xs[lane], self.line.lanes[lane]
        half = _wide(name) / 2 + 12
        top, end = _HEAD - 4, self.bottom
        since: float = top
        for stretch in self.line.down[lane]:
            moment = self.line.moments[stretch.start]
            start = self.ys[stretch.start]
            if moment.crash:
                start = self._below(stretch.start, len(moment.stray))
            stop = self.ys[stretch.stop] if stretch.stop < len(self.ys) else end
            self.under.append(_line(x, since, x, start, "lane"))
            self.under.append(_line(x, start, x, stop, "down"))
            since = stop
        self.under.append(_line(x, since, x, end, "lane"))
        for y in (_HEAD - 28, end):
            self.over.append(
                f'<rect class="box" x="{_n(x - half)}" y="{_n(y)}" width="{_n(2 * half)}" '
                f'height="24" rx="5"/>'
            )
            self._text(x, y + 16, name, "name", "middle")

    def _moment(self, at: int, moment: TimelineMoment) -> None:
        x, y = self.xs[moment.lane], self.ys[at]
        self.under.append(_line(self.numbers, y, self.width - 12, y, "rule"))
        self._text(self.numbers - 6, y + 4, self.line.number(at), "dim", "end")
        if moment.handed:
            self._text(x - 34, y + 4, moment.handed, "", "end")
            self.arrows.append(
                f'<g class="arrow event">{_path(((x - 30, y), (x - 8, y)))}{_head(x - 5, y, 1)}</g>'
            )
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
            self.over.append(_cross(x, crashed, 6))
            self._text(x + 12, crashed + 4, moment.crash, "bad")
        self.over += [_cross(self.xs[lane], crashed, 6) for lane in moment.others]
        for row, emitted in enumerate(moment.emits):
            here = y + (8 if notes and moment.side > 0 else 4) + 16 * row
            self._text(x + 10, here, emitted.words, "bad" if emitted.wrong else "good")
        if moment.lost:
            here = self._below(at, len(moment.stray) + bool(moment.crash))
            self._text(self.xs[moment.lost.lane] + 12, here + 4, moment.lost.words, "bad")

    def _rule(self, at: int) -> None:
        """Draw the line below a moment after which no continuation of the run is right."""
        following = self.ys[at + 1] if at + 1 < len(self.ys) else self.bottom
        notes = _lines(self.line.moments[at + 1]) if at + 1 < len(self.ys) else ()
        y = following - 22 - _NOTE * max(0, len(notes) - 1)
        self.over.append(_line(12, y, self.width - 12, y, "decided"))
        self._text(self.numbers, y - 5, DECIDED, "bad")

    def _mark(self, moment: TimelineMoment, x: float, y: float) -> None:
        if moment.mark == CRASH:
            self.over.append(_cross(x, y, 6))
        elif moment.mark == RESTART:
            self.over.append(f'<circle class="restart" cx="{_n(x)}" cy="{_n(y)}" r="5"/>')
        else:
            self.over.append(f'<circle class="dot" cx="{_n(x)}" cy="{_n(y)}" r="4"/>')

    def _draw_taken(self, at: int, arrow: Arrow) -> None:
        """Draw an arrow that slants down to the row of the moment, then runs level into the lane
        under its label."""
        x1, y1 = self.xs[arrow.sender], self.ys[arrow.sent_at]
        x2, y2 = self.xs[arrow.receiver], self.ys[at]
        way = 1 if x2 > x1 else -1
        level = x2 - way * (_wide(arrow.label) + 22)
        tip = x2 - way * 5
        path = _path(((x1, y1), (level, y2), (tip - way * 4, y2)))
        self._arrow(arrow, path + _head(tip, y2, way), tip - way * 12, y2 - 5, way)

    def _draw_stray(self, at: int, place: int, arrow: Arrow) -> None:
        """Draw the stub of a message that is lost or still on its way."""
        x1, y1 = self.xs[arrow.sender], self.ys[at]
        way = 1 if arrow.receiver > arrow.sender else -1
        x2, y2 = x1 + way * _STUB, self._below(at, place)
        if arrow.lost:
            end = _cross(x2, y2, 4)
        else:
            end = f'<circle class="restart" cx="{_n(x2)}" cy="{_n(y2)}" r="3"/>'
        path = _path(((x1, y1), (x1 + way * 14, y2), (x2 - way * 5, y2)))
        self._arrow(arrow, path + end, x2 + way * 9, y2 + 4, -way)

    def _arrow(self, arrow: Arrow, drawn: str, x: float, y: float, way: int) -> None:
        lanes = self.line.lanes
        fate = "lost" if arrow.lost else "on its way"
        if arrow.taken_at is not None:
            fate = f"taken in step {self.line.steps[arrow.taken_at]}"
        about = (
            f"{arrow.kind.value} {arrow.label}: {lanes[arrow.sender]} to {lanes[arrow.receiver]}, "
        )
        about += f"sent in step {self.line.steps[arrow.sent_at]}, {fate}"
        style = _CLASSES[arrow.kind]
        title = f"<title>{escape(about)}</title>"
        self.arrows.append(f'<g class="arrow {style}">{title}{drawn}</g>')
        self.over.append(f'<g class="{style}">')
        self._text(x, y, arrow.label, "", "end" if way > 0 else "start")
        self.over.append("</g>")

    def _legend(self, y: float) -> None:
        x: float = 12
        for mark, width, name in self._meanings():
            self.over.append(f'<g transform="translate({_n(x)} {_n(y - 4)})">{mark}</g>')
            self._text(x + width + 6, y, name, "dim")
            x += width + 6 + _wide(name) + 22

    def _meanings(self) -> list[tuple[str, float, str]]:
        """The legend of the kinds of messages and marks that occur: (drawn from (0, 0), width,
        meaning)."""
        kinds: dict[str, set[str]] = {}
        for arrow in self.line.arrows:
            kinds.setdefault(_CLASSES[arrow.kind], set()).add(arrow.kind.value)
        line = _path(((0, 0), (18, 0))) + _head(24, 0, 1)
        found: list[tuple[str, float, str]] = [
            (f'<g class="arrow {style}">{line}</g>', 24, " / ".join(sorted(names)))
            for style, names in sorted(kinds.items())
        ]
        if any(self.line.down):
            found.append((_cross(5, 0, 5), 10, "crash"))
            found.append((_line(0, 0, 18, 0, "down"), 18, "down"))
        if any(moment.mark == RESTART for moment in self.line.moments):
            found.append(('<circle class="restart" cx="5" r="5"/>', 10, "restart"))
        if any(arrow.lost for arrow in self.line.arrows):
            found.append((_cross(4, 0, 4), 8, "message lost"))
        if any(arrow.taken_at is None and not arrow.lost for arrow in self.line.arrows):
            found.append(('<circle class="restart" cx="3" r="3"/>', 6, "message on its way"))
        if self.line.circle:
            found.append((_sign("↻", "dim"), 14, "repeats without end"))
        if self.line.has_culprit:
            found.append((_sign("✗", "bad"), 10, "wrong, or lost for ever"))
        return found

    def _text(self, x: float, y: float, what: str, style: str = "", anchor: str = "start") -> None:
        self.over.append(
            f'<text x="{_n(x)}" y="{_n(y)}" class="{style}" text-anchor="{anchor}">'
            f"{escape(what)}</text>"
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


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _sign(sign: str, style: str) -> str:
    return f'<text x="0" y="4" class="{style}" text-anchor="start">{sign}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"/>'


def _path(points: tuple[tuple[float, float], ...]) -> str:
    return f'<path d="M{" L".join(f"{_n(x)} {_n(y)}" for x, y in points)}"/>'


def _head(x: float, y: float, way: int) -> str:
    back = x - way * 8
    return f'<polygon points="{_n(x)},{_n(y)} {_n(back)},{_n(y - 4)} {_n(back)},{_n(y + 4)}"/>'


def _cross(x: float, y: float, r: float) -> str:
    return (
        f'<path class="cross" d="M{_n(x - r)} {_n(y - r)} L{_n(x + r)} {_n(y + r)} '
        f'M{_n(x - r)} {_n(y + r)} L{_n(x + r)} {_n(y - r)}"/>'
    )
