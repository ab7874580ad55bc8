"""Grids: pictures made of columns and lanes, for counterexamples.

Rule of this file: a grid says nothing about how it is drawn; columns are events
or states in order, rows are lanes, a mark says how a cell matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple


class CellMark(StrEnum):
    PLAIN = ""
    GOOD = "good"
    BAD = "bad"
    DIM = "dim"
    NEW = "new"


class Cell(NamedTuple):
    text: str = ""
    mark: CellMark = CellMark.PLAIN


class GridRow(NamedTuple):
    """heading: the label alone counts, the row begins a group of lanes."""

    label: str
    cells: tuple[Cell, ...]
    heading: bool = False


class Grid(NamedTuple):
    caption: str
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]


def lane(label: str, texts: Iterable[str], marks: Sequence[CellMark] | None = None) -> GridRow:
    """A row of texts, plain unless `marks` has one for each."""
    cells = list(texts)
    marks = marks or [CellMark.PLAIN] * len(cells)
    return GridRow(label, tuple(Cell(t, m) for t, m in zip(cells, marks, strict=True)))
