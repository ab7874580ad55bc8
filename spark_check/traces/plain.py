"""Small logs of plain values, read into this process: without Spark, a comparison takes no time.

Rule of this file: it reads what it is certain to read as `traces.columns` does on Spark, and
nothing else: for every other log, it returns None, and Spark reads it or says what is wrong.

Plain are whole numbers, 64-bit floats, texts, truth values, dates and timestamps in Parquet; JSON
lines without arrays; CSV with a line for each row.  Types must agree without a conversion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from math import nan
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from model.errors import Invalid
from model.results.table import Row
from spark_check.traces.closeness import NO_FLOATS, is_close_to_two
from spark_check.traces.logs import OutputLog
from spark_check.traces.near import close_rows
from spark_check.traces.plain_tables import (
    EPOCH,
    READERS,
    SMALL_BYTES,
    Columns,
    Kind,
    NotPlain,
    ObjectKind,
    PlainTable,
    kind_without,
    paths_of,
    wider,
)
from spark_check.traces.roles import ColumnRoles, KnownColumns, check_names

Values: TypeAlias = tuple[Any, ...]


class PlainRow(NamedTuple):
    """key, identity, content: values to be compared.  order: a sort key.  of: the inputs.  shown:
    as JSON.  file, number: the place, from 0 and from 1."""

    key: Values
    identity: Values
    content: Values
    order: Values
    of: tuple[str, ...]
    shown: Row
    file: int
    number: int


class PlainLogs(NamedTuple):
    """The rows of both logs, in order, and the kinds of the columns that are compared."""

    rows: tuple[list[PlainRow], list[PlainRow]]
    kinds: Mapping[str, Kind]


Tables: TypeAlias = tuple[PlainTable, PlainTable]


def read_tables(logs: Sequence[OutputLog]) -> Tables | None:
    """Both logs as they are; None if they are not small, or not plain."""
    if sum(log.size for log in logs) > SMALL_BYTES:
        return None
    try:
        one, other = (READERS[log.format](log) for log in logs)
    except (NotPlain, UnicodeError, OSError, pa.ArrowException):
        return None
    return one, other


def plain_rows(
    tables: Tables, logs: Sequence[OutputLog], asked: ColumnRoles, close: float | None = None
) -> PlainLogs | None:
    """The rows; None if their columns are not plain.  Raises Invalid as Spark's part does.

    close: a tolerance for floats, as in `traces.closeness`.
    """
    check_names(asked, logs, [_known(table) for table in tables])
    try:
        kinds, numeric = _kinds(tables, logs, asked, close)
    except NotPlain:
        return None
    left_out = (*asked.ignore, *asked.lineage)
    compared = {name: kind for name, kind in kinds.items() if name not in left_out}
    values = [
        {name: _convert(table.columns[name], kind) for name, kind in kinds.items()}
        for table in tables
    ]
    if close is not None:
        floats = [name for name, kind in compared.items() if kind == "float"]
        _bring_close(values[0], values[1], [*compared], floats, close)
    rows = [
        list(_rows(columns, table.files, kinds, [*compared], numeric, asked))
        for columns, table in zip(values, tables, strict=True)
    ]
    return PlainLogs((rows[0], rows[1]), compared)


def _known(table: PlainTable) -> KnownColumns:
    paths = (path for name, kind in table.kinds.items() for path in paths_of(name, kind))
    return KnownColumns(table.names, [path for path in paths if path not in table.names])


Ranks: TypeAlias = Mapping[str, Callable[[Any], Any]]


def _kinds(
    tables: Tables, logs: Sequence[OutputLog], asked: ColumnRoles, close: float | None
) -> tuple[dict[str, Kind], Ranks]:
    """Of each column that is used its kind, and of those of --order how they are ranked."""
    one, other = tables
    kinds = {
        name: _common(name, (kind, other.kinds[name]), one.names, logs, asked)
        for name, kind in one.kinds.items()
        if name in asked.lineage or name in asked.order or name not in asked.ignore
    }
    if any(isinstance(kinds[name], ObjectKind) for name in asked.order):
        raise NotPlain
    numeric = {name: _number(name, tables) for name in asked.order}
    if close is not None and all(log.format == "csv" for log in logs):
        texts = [name for name in kinds if name not in (*asked.ignore, *asked.lineage)]
        floats = [name for name in texts if _number(name, tables) is float]
        kinds |= dict.fromkeys(floats, "float")
        numeric |= dict.fromkeys({*floats} & {*asked.order}, float)
    return kinds, numeric


def _rows(
    columns: Columns,
    files: Sequence[int],
    kinds: Mapping[str, Kind],
    compared: Sequence[str],
    numeric: Ranks,
    asked: ColumnRoles,
) -> Iterable[PlainRow]:
    places = ((file, number) for file, n in enumerate(files) for number in range(1, n + 1))
    for at, (file, number) in enumerate(places):
        row = {name: values[at] for name, values in columns.items()}
        of = tuple(one for name in asked.lineage for one in _inputs(row[name]))
        yield PlainRow(
            _values(row, asked.key),
            _values(row, (*asked.key, *asked.identity)) if asked.identity else (),
            _values(row, compared),
            tuple(_rank(row[name], numeric[name]) for name in asked.order),
            of,
            {n: list(of) if n in asked.lineage else _shown(v, kinds[n]) for n, v in row.items()},
            file,
            number,
        )


def _bring_close(
    reference: Columns,
    actual: Columns,
    compared: Sequence[str],
    floats: Sequence[str],
    close: float,
) -> None:
    """Give rows of ACTUAL the floats of the row of REFERENCE to which they are close."""
    if not floats:
        raise Invalid(f"--close {close:g}: {NO_FLOATS}")
    exact = [name for name in compared if name not in floats]
    known: dict[Values, dict[Values, None]] = {}
    for rest, numbers in zip(_tuples(reference, exact), _tuples(reference, floats), strict=True):
        known.setdefault(rest, {})[numbers] = None
    new: dict[Values, list[tuple[int, Values]]] = {}
    rows = zip(_tuples(actual, exact), _tuples(actual, floats), strict=True)
    for at, (rest, numbers) in enumerate(rows):
        if rest in known and numbers not in known[rest]:
            new.setdefault(rest, []).append((at, numbers))
    for rest, some in new.items():
        others = [*known[rest]]
        found = close_rows([numbers for _, numbers in some], others, close)
        for (at, _), meant in zip(some, found, strict=True):
            if len(meant) > 1:
                raise is_close_to_two(close, {name: actual[name][at] for name in floats})
            for one in meant:
                for name, value in zip(floats, others[one], strict=True):
                    actual[name][at] = nan if value is NAN else value


def _tuples(columns: Columns, names: Sequence[str]) -> Iterable[Values]:
    rows = len(next(iter(columns.values())))
    return (tuple(_same(columns[name][at]) for name in names) for at in range(rows))


# --- values ----------------------------------------------------------------------------------
def _convert(values: list[Any], kind: Kind) -> list[Any]:
    """The values as their kind has them; objects become tuples of the values of their fields."""
    if isinstance(kind, ObjectKind):
        objects = [value or {} for value in values]
        fields = [_convert([one.get(name) for one in objects], k) for name, k in kind.fields]
        rows = zip(values, zip(*fields, strict=True), strict=True)
        return [None if value is None else row for value, row in rows]
    if kind != "float":
        return values
    return [value if value is None else float(value) for value in values]


def _values(row: Row, names: Iterable[str]) -> Values:
    """Values that are equal if Spark calls them the same: NaN equals NaN."""
    return tuple(_same(row[name]) for name in names)


def _same(value: Any) -> Any:
    return NAN if value != value else value


NAN = "NaN", "that is equal to itself"


def _rank(value: Any, number: Callable[[Any], Any]) -> tuple[int, Any]:
    """A sort key: null is first, NaN is last."""
    if value is None:
        return 0, 0
    if value != value:
        return 2, 0
    return 1, number(value)


def _shown(value: Any, kind: Kind) -> Any:
    """As Spark writes it to JSON."""
    if value is None:
        return None
    if isinstance(kind, ObjectKind):
        inner = zip(kind.fields, value, strict=True)
        return {name: _shown(one, field_kind) for (name, field_kind), one in inner}
    if kind == "float" and value - value != 0:
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(value)]
    if kind == "date":
        return str(value)
    if kind.startswith("timestamp"):
        moment = EPOCH + timedelta(microseconds=value)
        text = moment.replace(tzinfo=None).isoformat(timespec="milliseconds")
        return text if kind == "timestamp without a zone" else f"{text}Z"
    return value


def _inputs(value: Any) -> list[str]:
    return [] if value is None else [one for one in re.split(r"\s+", str(value)) if one]


WHOLE = re.compile(r"[+-]?\d{1,18}")
FLOAT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
MAYBE = re.compile(
    r"[\s\x00-\x20]*([+-]?(\d*(\.\d*)?([eE][+-]?\d*)?|nan|inf|infinity)[dfl]?|0x.*)?[\s\x00-\x20]*",
    re.IGNORECASE,
)
"""Texts that Spark might read as a number."""


def _number(name: str, tables: Sequence[PlainTable]) -> Callable[[Any], Any]:
    """How a column of --order is ranked: text as numbers if all values of both logs are some."""
    if any(table.kinds[name] not in ("text", "nothing") for table in tables):
        return _same
    values = {value for table in tables for value in table.columns[name] if value is not None}
    if all(WHOLE.fullmatch(value) for value in values):
        return int
    if all(FLOAT.fullmatch(value) for value in values):
        return float
    numbers = (WHOLE.fullmatch(value) or FLOAT.fullmatch(value) for value in values)
    if all(number or MAYBE.fullmatch(value) for number, value in zip(numbers, values, strict=True)):
        raise NotPlain
    return str


def _common(
    name: str,
    kinds: tuple[Kind, Kind],
    names: Sequence[str],
    logs: Sequence[OutputLog],
    asked: ColumnRoles,
) -> Kind:
    """The kind of a column in both logs, without the fields that are ignored."""
    if name in asked.lineage:
        if {*kinds} <= {"text", "whole", "nothing"}:
            return kinds[0]
        raise NotPlain
    left_out = asked.ignored_fields(name, names)
    one, other = (kind_without(name, kind, left_out) for kind in kinds)
    if one == other:
        return one
    if all(log.format == "json" for log in logs):  # types are inferred from both
        return wider(one, other)
    raise NotPlain
