"""A space-time diagram in characters: lanes are columns, time runs downwards.

Rule of this file: no message is drawn twice.  A message is drawn where it ends: as an arrow in the
row of the moment that takes it, or as a stub with a cross where it was lost.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from model.results.culprit import Culprit
from model.results.story import Story
from reports.diagrams import run_list
from reports.diagrams.long_runs import shorten
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
from reports.lines import widest_piece

WIDTH, USUAL = 100, 80
"""The width of a drawing in a file; and the one that decides which moments of a long run are drawn,
so that wider terminals have the same words."""
_MARKS = {CRASH: "✕", RESTART: "○"}
_NARROWEST = 14
_MARGIN, _PITCH = 5, 2
"""The least room for the number of a moment, and between two lanes."""
_STYLES = (
    (r"(?m)^ *(↻ *)?\d+", "dim"),
    (r"‹\d+›", "dim"),
    (r"✕( crash.*)?|┊|this step fails", "red"),
    (r"⇒ .*", "green"),
    (r"⇒ ✗ .*|✗ .*", "bold red"),
    (r"○( restart)?", "yellow"),
    (r"↻", "red"),
)
_STAYS = "\u00a0"
"""A space at which no line ends."""
_LEGEND = "● step   ○ restart   ✕ crash, or lost   ◦ still on its way   ┊ down   ‹n› sent in step n"


def text(
    story: Story,
    *,
    width: int = WIDTH,
    caption: str = "",
    culprit: Culprit | None = None,
    most: int | None = None,
) -> str:
    """The diagram in plain characters, no line longer than `width`.

    It is at least 40 columns wide.  Too many lanes for the width make it a list.  most: leave out
    moments in the middle, so that it has no more rows than this below its heading.
    """
    line, width = timeline(story, culprit), max(width, 40)
    rows, drawn = _drawn(line, width) if most is None else _low(line, width, most)
    usual = drawn if most is None or width == USUAL else _drawn(line, USUAL)[1]
    rows += shorten(drawn, most, line.decisive, [*map(len, usual)])
    legend = _LEGEND + ("   ↻ repeats without end" if line.circle else "")
    legend += "   ✗ wrong" if line.has_culprit else ""
    whole = "   ".join(one.replace(" ", _STAYS) for one in legend.split("   "))
    rows += ["", *(row.replace(_STAYS, " ") for row in textwrap.wrap(whole, width))]
    for paragraph in captions(caption, culprit):
        rows += textwrap.wrap(paragraph, width)
    return "\n".join(row.rstrip() for row in rows) + "\n"


def _drawn(line: Timeline, width: int) -> tuple[list[str], list[list[str]]]:
    """The heading, and the rows of each moment: a list where lanes have no room for their words."""
    columns = _columns(line, width)
    if columns is None or run_list.is_too_narrow(line, width):
        return [], _listed(line, width)
    grid = _Grid(line, width, columns)
    return grid.heading(), [grid.rows(at, moment) for at, moment in enumerate(line.moments)]


def _low(line: Timeline, width: int, most: int) -> tuple[list[str], list[list[str]]]:
    """As it is drawn, but as a list where lanes need too many rows, and the usual width has a list.

    Otherwise a wider terminal would need more rows than the usual one for the same moments.
    """
    heading, drawn = _drawn(line, width)
    if heading and sum(map(len, drawn)) > most and not _drawn(line, USUAL)[0]:
        return [], _listed(line, width)
    return heading, drawn


def _listed(line: Timeline, width: int) -> list[list[str]]:
    return [run_list.rows(line, at, width) for at in range(len(line.moments))]


@dataclass(frozen=True, slots=True)
class Diagram:
    """The diagram for rich: as wide as the console, with colours on a terminal."""

    story: Story
    culprit: Culprit | None = None
    most: int | None = None

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        drawn = text(
            self.story,
            width=options.max_width,
            culprit=self.culprit,
            most=self.most,
        )
        shown = Text(drawn, end="")
        for pattern, style in _STYLES:
            shown.highlight_regex(pattern, style)
        yield shown


def style(story: Story, *, culprit: Culprit | None = None, most: int | None = None) -> Diagram:
    """The diagram for console.print."""
    return Diagram(story, culprit, most)


def _columns(line: Timeline, width: int) -> list[int] | None:
    """The columns of the lanes; each gap is as wide as its content, or as wide as possible.

    None: some gap is too narrow for one of its words.
    """
    lanes = len(line.lanes)
    needs = [[_NARROWEST] for _ in range(lanes + 1)]  # left of each lane, and right of the last
    least = [[_MARGIN], *([_PITCH] for _ in range(lanes))]
    needs[0] = [len(line.lanes[0]) // 2 + 4]
    needs[-1] = [len(line.lanes[-1]) // 2 + 1]
    for at, words, around, breaks in _texts(line):
        needs[at].append(len(words) + around)
        least[at].append(widest_piece(words) + around if breaks else 0)
    gaps, least_gaps = [max(need) for need in needs], [max(one) for one in least]
    if sum(least_gaps) > width:
        return None
    while sum(gaps) > width:
        widest = max(range(lanes + 1), key=lambda at: gaps[at] - least_gaps[at])
        gaps[widest] -= 1
    return [sum(gaps[: at + 1]) for at in range(lanes)]


def _texts(line: Timeline) -> Iterator[tuple[int, str, int, bool]]:
    """The texts of all moments: (gap, words, columns around them, do they go on below?)."""
    for moment in line.moments:
        yield moment.lane + (moment.side > 0), moment.notes, 4, True
        after = moment.lane + 1
        if moment.handed:
            yield moment.lane, moment.handed.replace(" ", "\u00a0"), 8, True
        if moment.crash:
            yield after, moment.crash, 4, True
        for emitted in moment.emits:
            yield moment.lane + (moment.side > 0), emitted.words, 4, True
        if moment.lost:
            yield moment.lost.lane + 1, moment.lost.words, 3, True
        if arrow := moment.taken:
            into = arrow.receiver + (arrow.sender > arrow.receiver)
            yield into, _label(line, arrow), 8, False
        for arrow in moment.stray:
            yield arrow.sender + (arrow.receiver > arrow.sender), arrow.label, 9, False


def _label(line: Timeline, arrow: Arrow) -> str:
    return f"{arrow.label} ‹{line.steps[arrow.sent_at]}›"


def _wrapped(words: str, room: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        words, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


class _Grid:
    """The columns of the lanes, and the functions that draw into a row."""

    def __init__(self, line: Timeline, width: int, columns: Sequence[int]) -> None:
        self.line = line
        self.width = width
        self.columns = columns

    def heading(self) -> list[str]:
        """The names of the lanes, in as many rows as they need side by side; then the lanes."""
        rows: list[list[str]] = []
        ends: list[int] = []
        for name, column in zip(self.line.lanes, self.columns, strict=True):
            start = max(0, min(column - len(name) // 2, self.width - len(name)))
            at = next((row for row, end in enumerate(ends) if end < start), len(rows))
            if at == len(rows):
                rows.append([" "] * self.width)
                ends.append(-1)
            _write(rows[at], start, name)
            ends[at] = start + len(name)
        return [*("".join(row) for row in rows), self._lanes(-1)]

    def rows(self, at: int, moment: TimelineMoment) -> list[str]:
        """The row of the moment, and the rows that it needs above and below."""
        cells = list(self._lanes(at, mark=False))
        number = self.line.number(at)
        _write(cells, 0, f"{number:>3}" if self.line.is_first(at) else number)
        x = self.columns[moment.lane]
        cells[x] = _MARKS.get(moment.mark, "●")
        crossed = [self.columns[lane] for lane in moment.others]
        if not moment.crash:
            for column in crossed:
                cells[column] = "✕"
        above, below = [], []
        if moment.handed:
            label = f"{moment.handed} ─▶"
            _write(cells, max(4, x - len(label)), label)
        if moment.taken:
            above = self._arrow(at, cells, moment.taken)
        rows = self._add_notes(at, cells, moment)
        for arrow in moment.stray:
            below.append(self._stub(at, arrow))
        if moment.crash:
            row = list(self._lanes(at))
            for column in (x, *crossed):
                row[column] = "✕"
            below += self._beside(at, row, moment.lane, moment.crash)
        if moment.lost:
            below += self._beside(at, list(self._lanes(at)), moment.lost.lane, moment.lost.words)
        if at == self.line.decided:
            below.append(self._rule(at, DECIDED))
        return [*above, *rows, *below]

    def _rule(self, at: int, words: str) -> str:
        """A row across all lanes, below a moment."""
        cells = [cell.replace(" ", "╌") for cell in self._lanes(at)]
        _write(cells, max(0, min(_MARGIN, self.width - len(words) - 2)), f" {words} ")
        return "".join(cells)

    def _lanes(self, at: int, *, mark: bool = True) -> str:
        """A row with lanes alone.  mark: as the lanes are after the moment, otherwise before it."""
        cells = [" "] * self.width
        for lane, column in enumerate(self.columns):
            cells[column] = "┊" if self.line.is_down(lane, at if mark else at - 1) else "│"
        return "".join(cells)

    def _arrow(self, at: int, cells: list[str], arrow: Arrow) -> list[str]:
        """Draw an arrow; its label inside its last gap, or else in a row above."""
        start, end = self.columns[arrow.sender], self.columns[arrow.receiver]
        low, high = min(start, end), max(start, end)
        for x in range(low + 1, high):
            cells[x] = "┼" if x in self.columns else "─"
        cells[start] = "├" if start < end else "┤"
        right = start < end
        cells[end - 1 if right else end + 1] = "▶" if right else "◀"
        label = f" {_label(self.line, arrow)} "
        near = self.columns[arrow.receiver + (-1 if right else 1)]
        room = abs(end - near) - 4
        if len(label) <= room:
            middle = min(end, near) + 2 + (room - len(label) + 1) // 2
            _write(cells, middle, label)
            return []
        above = list(self._lanes(at, mark=False))
        _write(above, max(0, min(low + 1, self.width - len(label))), label)
        return ["".join(above)]

    def _add_notes(self, at: int, cells: list[str], moment: TimelineMoment) -> list[str]:
        """The row with the notes on its free side, and further rows for the rest of the notes."""
        x = self.columns[moment.lane]
        edges = [4, *self.columns, self.width]
        right = moment.side > 0
        room = edges[moment.lane + 2] - x - 3 if right else x - edges[moment.lane] - 3
        notes = _wrapped(moment.notes, max(room, 6))
        for emitted in moment.emits:
            notes += _wrapped(emitted.words, max(room, 6), "  ")
        rows = [cells, *(list(self._lanes(at)) for _ in notes[1:])]
        for row, note in zip(rows, notes, strict=False):
            _write(row, x + 2 if right else max(4, x - 1 - len(note)), note)
        return ["".join(row) for row in rows]

    def _beside(self, at: int, cells: list[str], lane: int, words: str) -> list[str]:
        """The row with words right of a lane, and further rows for the rest of the words."""
        x = self.columns[lane]
        edges = [*self.columns, self.width]
        lines = _wrapped(words, max(edges[lane + 1] - x - 3, 6))
        rows = [cells, *(list(self._lanes(at)) for _ in lines[1:])]
        for row, line in zip(rows, lines, strict=True):
            _write(row, x + 2, line)
        return ["".join(row) for row in rows]

    def _stub(self, at: int, arrow: Arrow) -> str:
        cells = list(self._lanes(at))
        x = self.columns[arrow.sender]
        end = "✕" if arrow.lost else "◦"
        if arrow.receiver > arrow.sender:
            _write(cells, x, f"├─ {arrow.label} ─{end}")
        else:
            stub = f"{end}─ {arrow.label} ─┤"
            _write(cells, max(0, x + 1 - len(stub)), stub)
        return "".join(cells)


def _write(cells: list[str], at: int, what: str) -> None:
    room = len(cells) - at
    if len(what) > room:
        what = what[: max(room - 1, 0)] + "…"
    for offset, char in enumerate(what):
        cells[at + offset] = char
