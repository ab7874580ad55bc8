"""Grids: pictures made of columns and lanes, for counterexamples.

Rule of this file: a grid is plain data and says nothing about how it is drawn; columns are events
or states in order, rows are lanes, a mark says how a cell matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple


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

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "caption": self.caption,
            "columns": list(self.columns),
            "rows": [
                {
                    "label": row.label,
                    "heading": row.heading,
                    "cells": [{"text": cell.text, "mark": cell.mark.value} for cell in row.cells],
                }
                for row in self.rows
            ],
        }


def lane(label: str, texts: Iterable[str], marks: Sequence[CellMark] | None = None) -> GridRow:
    """A row of texts, plain unless `marks` has one for each."""
    cells = list(texts)
    marks = marks or [CellMark.PLAIN] * len(cells)
    return GridRow(label, tuple(Cell(t, m) for t, m in zip(cells, marks, strict=True)))
