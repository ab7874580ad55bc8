"""Models of Z3 as grids: what the symbols of a state are at several times.

Rule of this file: it reads a model, and knows neither transitions nor queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, TypeAlias

import z3

from model.results.grid import Cell, CellMark, Grid, GridRow
from proofs.prove.symbols import Symbol

CellOptions: TypeAlias = Sequence[tuple[Any, Cell]]
"""Cells with conditions: the first condition that is true in a model decides."""


def true(model: Any, formula: Any) -> bool:
    """Is the formula true in the model?"""
    return bool(z3.is_true(model.eval(formula, model_completion=True)))


def stream(
    model: Any,
    caption: str,
    columns: Iterable[str],
    lanes: Iterable[tuple[str, Iterable[CellOptions]]],
) -> Grid:
    """A picture of a stream: a lane is a label, and the options of its cell in each column.  A lane
    without cells is a heading."""
    names = tuple(columns)
    rows = []
    for label, choices in lanes:
        cells = [
            next((cell for condition, cell in options if true(model, condition)), Cell())
            for options in choices
        ]
        blank = [Cell()] * len(names)
        rows.append(GridRow(label, tuple(cells or blank), heading=not cells))
    return Grid(caption, names, tuple(rows))


def grid(
    state: Sequence[Symbol],
    model: Any,
    columns: Sequence[str],
    caption: str,
    times: Sequence[Mapping[str, int]],
) -> Grid:
    """A lane for each value of a symbol, a column for each of the `times`.  What stays the same in
    a run is left out.  times: by name of the symbol, its time; 0 where there is none."""
    rows = []
    for symbol in state:
        for args in _arguments(model, symbol, times):
            label = symbol.name
            if args:
                label += f"({', '.join(short(arg) for arg in args)})"
            texts = [short(_value(model, symbol, time.get(symbol.name, 0), args)) for time in times]
            if set(texts) == {"no"} or (len(times) > 2 and len(set(texts)) == 1):
                continue
            marks = [CellMark.PLAIN] + [
                CellMark.NEW if text != before else CellMark.PLAIN
                for before, text in pairwise(texts)
            ]
            rows.append(GridRow(label, tuple(map(Cell, texts, marks))))
    return Grid(caption, tuple(columns), (*rows, *_fixed(model, len(columns))))


def _fixed(model: Any, width: int) -> list[GridRow]:
    """What the symbols that never change are in this model: relations where they hold."""
    rows = []
    for declaration in sorted(model.decls(), key=lambda declaration: str(declaration.name())):
        name = declaration.name()
        if any(mark in name for mark in "@?#!") or declaration.arity() == 0:
            continue
        values = []
        domain = [declaration.domain(i) for i in range(declaration.arity())]
        for args in product(*(model.get_universe(sort) or () for sort in domain)):
            value = short(model.eval(declaration(*args), model_completion=True))
            if value != "no":
                shown = f"{name}({', '.join(map(short, args))})"
                values.append(shown if value == "yes" else f"{shown} = {value}")
        rows += [
            GridRow(value, (Cell("always", CellMark.DIM), *[Cell("", CellMark.DIM)] * (width - 1)))
            for value in values
        ]
    return rows


def _value(model: Any, symbol: Symbol, time: int, args: Sequence[Any]) -> Any:
    at = symbol.at(time)
    return model.eval(at(*args) if args else at, model_completion=True)


def _arguments(
    model: Any, symbol: Symbol, times: Sequence[Mapping[str, int]]
) -> list[tuple[Any, ...]]:
    """All arguments in a finite sort; for integers those that the model mentions."""
    found: list[tuple[Any, ...]] = [()]
    for position, sort in enumerate(symbol.domain):
        if sort == z3.BoolSort():
            values = [z3.BoolVal(False), z3.BoolVal(True)]
        elif sort.kind() == z3.Z3_UNINTERPRETED_SORT:
            values = model.get_universe(sort) or []
        else:
            values = _mentioned_integers(model, symbol, position, times)
        found = [(*args, value) for args in found for value in values]
    return found


def _mentioned_integers(
    model: Any, symbol: Symbol, position: int, times: Sequence[Mapping[str, int]]
) -> list[Any]:
    numbers: dict[str, Any] = {}
    for time in times:
        at = symbol.at(time.get(symbol.name, 0))
        interpretation = model[at]
        if isinstance(interpretation, z3.FuncInterp):
            for i in range(interpretation.num_entries()):
                value = interpretation.entry(i).arg_value(position)
                numbers[str(value)] = value
    for declaration in model.decls():
        if declaration.arity() == 0 and declaration.range() == symbol.domain[position]:
            numbers[str(model[declaration])] = model[declaration]
    return sorted(numbers.values(), key=lambda value: (len(str(value)), str(value)))[:8]


def short(value: Any) -> str:
    """`node!val!1` is node 1; booleans are yes and no."""
    text = str(value)
    if text in ("True", "False"):
        return "yes" if text == "True" else "no"
    return text.replace("!val!", "")
