"""Grids drawn: columns are events or states, rows are lanes (`laid_out`, `text`, `style`).

Rule of this file: no knowledge of the meaning of a grid.  Colour alone never distinguishes a mark.
Columns that do not fit beside the others go below them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from model.results.grid import Cell, CellMark, Grid, GridRow

WIDTH = 98
SIGNS = {CellMark.GOOD: "✓", CellMark.BAD: "✗", CellMark.NEW: "▸"}
_MEANINGS = {
    CellMark.GOOD: "as it should be",
    CellMark.BAD: "wrong",
    CellMark.NEW: "new here",
    CellMark.DIM: "does not count",
}
_STYLES = {"good": "green", "bad": "bold red", "new": "cyan", "dim": "dim", "head": "bold"}
_WIDEST_CELL, _WIDEST_LABEL, _NEAT = 26, 34, 9
"""Widths in characters; a column with a name shorter than _NEAT is as wide as the name."""


class _Facts(NamedTuple):
    """Lanes with one text throughout: the text, and the labels of the lanes."""

    text: str
    labels: tuple[str, ...]


# --- what is drawn -----------------------------------------------------------------------------
def _facts(grid: Grid) -> tuple[_Facts, ...]:
    """The facts, which are listed below the lanes: each would take a row with empty cells."""
    found: dict[str, list[str]] = {}
    for row in filter(_is_fact, grid.rows):
        found.setdefault(row.cells[0].text, []).append(row.label)
    return tuple(_Facts(text, tuple(labels)) for text, labels in found.items())


def _is_fact(row: GridRow) -> bool:
    """Is the row dim throughout, with words in the first cell alone?"""
    cells = row.cells
    return (
        len(cells) > 1
        and all(cell.mark is CellMark.DIM for cell in cells)
        and _has_words(cells[0].text)
        and not any(cell.text for cell in cells[1:])
    )


def _lanes(grid: Grid) -> list[GridRow]:
    return [row for row in grid.rows if row.heading or not _is_fact(row)]


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _marks(grid: Grid) -> list[CellMark]:
    """The marks that the legend explains: a dim dot needs no word."""
    cells = [cell for row in _lanes(grid) for cell in row.cells if cell.text]
    used = {cell.mark for cell in cells if cell.mark is not CellMark.DIM or _has_words(cell.text)}
    return [mark for mark in _MEANINGS if mark in used]


# --- for a page ----------------------------------------------------------------------------------
class LaidOutGrid(NamedTuple):
    """A grid as a page draws it: a table, then the facts, then the legend.

    lanes: the rows, but for the facts.  facts: (text, labels of the lanes with this one text).
    legend: (mark, sign, meaning).
    """

    caption: str
    columns: tuple[str, ...]
    lanes: tuple[LaidOutLane, ...]
    facts: tuple[tuple[str, tuple[str, ...]], ...]
    legend: tuple[tuple[str, str, str], ...]


class LaidOutLane(NamedTuple):
    """cells: (text with its sign, mark); none below a heading."""

    label: str
    cells: tuple[tuple[str, str], ...]


def laid_out(grid: Grid) -> LaidOutGrid:
    """The grid as a page draws it."""
    lanes = [
        LaidOutLane(row.label, () if row.heading else tuple(map(_signed, row.cells)))
        for row in _lanes(grid)
    ]
    facts = tuple((one.text, one.labels) for one in _facts(grid))
    legend = tuple((mark.value, SIGNS.get(mark, "(…)"), _MEANINGS[mark]) for mark in _marks(grid))
    return LaidOutGrid(grid.caption, grid.columns, tuple(lanes), facts, legend)


def _signed(cell: Cell) -> tuple[str, str]:
    return _add_sign(cell), cell.mark.value


# --- characters --------------------------------------------------------------------------------
_Line: TypeAlias = list[tuple[str, str]]
"""A line of texts, each with its mark ("head" for captions and headings)."""


def text(grid: Grid, *, width: int = WIDTH) -> str:
    """The grid as lines of characters, the caption first; if possible, no line is longer than
    `width`."""
    return "".join(f"{line.plain}\n" for line in _styled(grid, width))


@dataclass(frozen=True, slots=True)
class DrawnGrid:
    """The grid for rich: as wide as the console, with colours on a terminal.

    indent: the columns before each line.
    """

    grid: Grid
    indent: int = 0

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        for line in _styled(self.grid, options.max_width - self.indent):
            yield Text.assemble(" " * self.indent, line) if line else Text()


def style(grid: Grid, *, indent: int = 0) -> DrawnGrid:
    """The grid for console.print."""
    return DrawnGrid(grid, indent)


def _styled(grid: Grid, width: int) -> Iterator[Text]:
    for line in _lines(grid, width):
        shown = Text.assemble(*((part, _STYLES.get(mark, "")) for part, mark in line))
        shown.rstrip()
        yield shown


def _lines(grid: Grid, width: int) -> Iterator[_Line]:
    yield from ([(part, "head")] for part in textwrap.wrap(grid.caption, width))
    rows = _lanes(grid)
    indent = 2 if any(row.heading for row in rows) else 0
    labels = [row.label for row in rows if not row.heading]
    beside = min(max(map(len, labels), default=0), _WIDEST_LABEL, width // 2) + indent
    for block in _blocks(grid, rows, width - beside):
        yield []
        yield from _row("", [(grid.columns[at], "head") for at, _ in block], beside, block)
        for row in rows:
            if row.heading:
                yield from ([(part, "head")] for part in textwrap.wrap(row.label, width))
            else:
                cells = [(_add_sign(row.cells[at]), row.cells[at].mark) for at, _ in block]
                yield from _row(row.label, cells, beside, block, indent)
    yield from _below(grid, width)


def _below(grid: Grid, width: int) -> Iterator[_Line]:
    for fact in _facts(grid):
        line = f"{fact.text}: {', '.join(fact.labels)}"
        yield []
        yield from ([(p, "dim")] for p in textwrap.wrap(line, width, subsequent_indent="  "))
    if marks := _marks(grid):
        yield []
        yield from _flow([(f"{SIGNS.get(m, '(…)')} {_MEANINGS[m]}", m) for m in marks], width)


def _flow(parts: Iterable[tuple[str, str]], width: int) -> Iterator[_Line]:
    """Lines with as many parts side by side as fit."""
    line: _Line = []
    for part, mark in parts:
        if line and sum(len(before) for before, _ in line) + len(part) > width:
            yield line
            line = []
        line += [(part, mark), ("   ", "")]
    yield line


def _blocks(grid: Grid, rows: Iterable[GridRow], room: int) -> list[list[tuple[int, int]]]:
    """The blocks of columns that stand side by side, each column with its width."""
    lanes = [row.cells for row in rows if not row.heading]
    blocks: list[list[tuple[int, int]]] = []
    left = 0
    for at, name in enumerate(grid.columns):
        needs = [min(len(name), _NEAT), *map(len, name.split())]
        needs += [len(_add_sign(cells[at])) for cells in lanes]
        wide = max(1, min(max(needs), _WIDEST_CELL, room - 2))
        if not blocks or wide + 2 > left:
            blocks.append([])
            left = room
        blocks[-1].append((at, wide))
        left -= wide + 2
    return blocks


def _row(
    label: str,
    cells: Sequence[tuple[str, str]],
    beside: int,
    block: Sequence[tuple[int, int]],
    indent: int = 0,
) -> Iterator[_Line]:
    """The lines of a row: as many as the tallest cell has."""
    texts = [(label, ""), *cells]
    widths = [max(1, beside - indent), *(width for _, width in block)]
    wrapped = [textwrap.wrap(what, w) for (what, _), w in zip(texts, widths, strict=True)]
    for at in range(max(1, *map(len, wrapped))):
        line: _Line = [(" " * indent, "")]
        for parts, (_, mark), width in zip(wrapped, texts, widths, strict=True):
            part = parts[at] if at < len(parts) else ""
            line += [(part, mark), (" " * (width - len(part) + 2), "")]
        yield line


def _add_sign(cell: Cell) -> str:
    words, mark = cell.text, cell.mark
    if mark is CellMark.DIM and _has_words(words):
        return f"({words})"
    return f"{SIGNS[mark]} {words}" if mark in SIGNS and words else words
