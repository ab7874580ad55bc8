"""Tables for a terminal: no word is cut, and no number is parted from its unit, at any width.

Rule of this file: a table of rich in, the same table out, for a number of columns.  It has a frame
where there is room, otherwise none; columns for which there is no room stand below their row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.box import HEAVY_HEAD
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from reports.lines import widest_piece, wrapped

NEAT = 24
"""A column of sentences has at least this width; a narrower one stands below its row."""
BELOW = 2
"""The indent of the lines below a row."""
SOFT = "\u00ad"
"""In a header: a long word may be parted here, behind a hyphen."""


class _Cells(NamedTuple):
    """A column with its cells.  right: numbers."""

    header: Text
    cells: tuple[Text, ...]
    right: bool

    @property
    def natural(self) -> int:
        """The width without any line break of ours."""
        return _widest_line((_whole(self.header), *self.cells))

    @property
    def least(self) -> int:
        """The width with which it is read well."""
        every = (_parted(self.header), *self.cells)
        widest = max(widest_piece(one.plain) for one in every)
        return max(widest, min(_widest_line(every), NEAT))

    def heading(self, width: int) -> list[Text]:
        """The lines of the header; its words are parted where they do not fit."""
        whole = _whole(self.header)
        fits = widest_piece(whole.plain) <= width
        return wrapped(whole if fits else _parted(self.header), width)


def _widest_line(texts: Iterable[Text]) -> int:
    return max((cell_len(line) for one in texts for line in one.plain.split("\n")), default=0)


def _whole(header: Text) -> Text:
    return Text(header.plain.replace(SOFT, ""), style=header.style)


def _parted(header: Text) -> Text:
    """The header with a new line at each place where it may be parted."""
    plain = header.plain.replace(f"-{SOFT}", SOFT).replace(SOFT, "-\n")
    return Text(plain, style=header.style)


def fit(table: Table, width: int) -> RenderableType:
    """The table for a number of columns."""
    every = [_column(one) for one in table.columns]
    columns = [one for at, one in enumerate(every) if not at or any(one.cells) or not one.cells]
    title = [] if table.title is None else wrapped(_text(table.title), width)
    if table.box is HEAVY_HEAD:
        widths = _widths(columns, width - 3 * len(columns) - 1)
        if widths is not None:
            return Group(*title, _framed(table, columns, widths))
    gap = 1 + table.padding[1]
    beside = [*range(len(columns))]
    while (widths := _widths([columns[at] for at in beside], width - gap * len(beside) + gap)) is (
        None
    ):
        if len(beside) == 1:
            widths = [width]
            break
        beside.remove(max(beside[1:], key=lambda at: columns[at].natural))
    return Group(*title, Text("\n").join(_open(columns, beside, widths, gap, width)))


def _column(column: Column) -> _Cells:
    return _Cells(_text(column.header), tuple(map(_text, column.cells)), column.justify == "right")


def _text(cell: object) -> Text:
    """A cell as it is: a bracket is no markup."""
    return cell if isinstance(cell, Text) else Text(str(cell))


def _widths(columns: Sequence[_Cells], room: int) -> list[int] | None:
    """The widths of columns side by side; None: there is no room for them."""
    widths = [one.least for one in columns]
    spare = room - sum(widths)
    if spare < 0:
        return None
    for at, one in sorted(enumerate(columns), key=lambda pair: pair[1].natural):
        more = min(spare, one.natural - widths[at])
        widths[at] += more
        spare -= more
    return widths


def _framed(table: Table, columns: Sequence[_Cells], widths: Sequence[int]) -> Table:
    drawn = Table()
    for one, width in zip(columns, widths, strict=True):
        header = _aligned(one, one.heading(width), width)
        drawn.add_column(header, width=width, no_wrap=True, overflow="ignore")
    for at, row in enumerate(table.rows):
        cells = [
            _aligned(one, wrapped(one.cells[at], width), width)
            for one, width in zip(columns, widths, strict=True)
        ]
        drawn.add_row(*cells, end_section=row.end_section)
    return drawn


def _aligned(column: _Cells, lines: Iterable[Text], width: int) -> Text:
    """The lines of a cell, as wide as its column: rich aligns nothing that it does not wrap."""
    return Text("\n").join(_padded(column, line, width) for line in lines)


def _padded(column: _Cells, line: Text, width: int) -> Text:
    room = " " * (width - cell_len(line.plain))
    return Text.assemble(room, line) if column.right else line + room


# --- without a frame -------------------------------------------------------------------------
def _open(
    columns: Sequence[_Cells], beside: Sequence[int], widths: Sequence[int], gap: int, width: int
) -> Iterator[Text]:
    """The lines of a table without a frame.  beside: the columns that stand side by side."""
    shown = [columns[at] for at in beside]
    if any(one.header.plain for one in shown):
        headers = [one.heading(width) for one, width in zip(shown, widths, strict=True)]
        for line in _row(headers, shown, widths, gap):
            line.stylize("bold")
            yield line
        yield Text("─" * min(width, sum(widths) + gap * (len(widths) - 1)))
    for at in range(len(shown[0].cells)):
        cells = [wrapped(one.cells[at], room) for one, room in zip(shown, widths, strict=True)]
        yield from _row(cells, shown, widths, gap)
        for number, one in enumerate(columns):
            if number not in beside and one.cells[at].plain:
                yield from _below(_whole(one.header), one.cells[at], width)


def _row(
    cells: Iterable[Sequence[Text]], columns: Sequence[_Cells], widths: Sequence[int], gap: int
) -> Iterator[Text]:
    """The lines of a row, as many as its tallest cell has.  cells: the lines of each."""
    for parts in zip_longest(*cells, fillvalue=Text()):
        line = Text()
        for part, column, width in zip(parts, columns, widths, strict=True):
            line.append_text(_padded(column, part, width))
            line.append(" " * gap)
        line.rstrip()
        yield line


def _below(header: Text, cell: Text, width: int) -> Iterable[Text]:
    """The lines of a cell that stands below its row, after the name of its column."""
    name = " ".join(header.plain.split())
    name = f"{name}: " if name else ""
    return wrapped(Text.assemble(" " * BELOW, name, Text(" ").join(cell.split("\n"))), width, 2)
