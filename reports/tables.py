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


class _Cells(NamedTuple):
    """A column with its cells.  right: numbers."""

    header: Text
    cells: tuple[Text, ...]
    right: bool

    @property
    def natural(self) -> int:
        """The width without any line break of ours."""
        lines = (line for one in (self.header, *self.cells) for line in one.plain.split("\n"))
        return max(map(cell_len, lines), default=0)

    @property
    def least(self) -> int:
        """The width with which it is read well."""
        widest = max(widest_piece(one.plain) for one in (self.header, *self.cells))
        return max(widest, min(self.natural, NEAT))


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
        header = _lines(one.header, width)
        drawn.add_column(
            header,
            justify="right" if one.right else "left",
            width=width,
            no_wrap=True,
            overflow="ignore",
        )
    for at, row in enumerate(table.rows):
        cells = [_lines(one.cells[at], width) for one, width in zip(columns, widths, strict=True)]
        drawn.add_row(*cells, end_section=row.end_section)
    return drawn


def _lines(text: Text, width: int) -> Text:
    return Text("\n").join(wrapped(text, width))


# --- without a frame -------------------------------------------------------------------------
def _open(
    columns: Sequence[_Cells], beside: Sequence[int], widths: Sequence[int], gap: int, width: int
) -> Iterator[Text]:
    """The lines of a table without a frame.  beside: the columns that stand side by side."""
    shown = [columns[at] for at in beside]
    if any(one.header.plain for one in shown):
        headers = [Text(one.header.plain, style="bold") for one in shown]
        yield from _row(headers, shown, widths, gap)
        yield Text("─" * min(width, sum(widths) + gap * (len(widths) - 1)))
    for at in range(len(shown[0].cells)):
        yield from _row([one.cells[at] for one in shown], shown, widths, gap)
        for number, one in enumerate(columns):
            if number not in beside and one.cells[at].plain:
                yield from _below(one.header.plain, one.cells[at], width)


def _row(
    cells: Sequence[Text], columns: Sequence[_Cells], widths: Sequence[int], gap: int
) -> Iterator[Text]:
    """The lines of a row, as many as its tallest cell has."""
    tall = (wrapped(cell, width) for cell, width in zip(cells, widths, strict=True))
    for parts in zip_longest(*tall, fillvalue=Text()):
        line = Text()
        for part, column, width in zip(parts, columns, widths, strict=True):
            room = " " * (width - cell_len(part.plain))
            line.append_text(Text.assemble(room, part) if column.right else part + room)
            line.append(" " * gap)
        line.rstrip()
        yield line


def _below(header: str, cell: Text, width: int) -> Iterable[Text]:
    """The lines of a cell that stands below its row, after the name of its column."""
    name = " ".join(header.replace("-\n", "-").split())
    name = f"{name}: " if name else ""
    return wrapped(Text.assemble(" " * BELOW, name, Text(" ").join(cell.split("\n"))), width, 2)
