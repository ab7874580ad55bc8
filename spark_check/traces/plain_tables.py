"""The tables of small logs, read in this process: Parquet, JSON lines and CSV.

Rule of this file: it raises NotPlain for all that it is not certain to read as `traces.columns`
does on Spark.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from model.results.table import Row
from spark_check.traces.logs import OutputLog
from spark_check.traces.roles import no_field_left

SMALL_BYTES = 10_000_000
"""Of both logs, and of the text in each log, which may be packed."""
MOST_BYTES = 100_000_000
"""Of each log of Parquet, as its files say it: unpacked, each text once."""
SMALL_ROWS = 200_000
"""Of each log, where its files say it."""
LONG = 1 << 63
FIRST = datetime(1900, 1, 1, tzinfo=UTC)
"""Spark has another calendar for some times before."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Columns: TypeAlias = Mapping[str, list[Any]]


class NotPlain(Exception):
    """Only Spark can read this as Spark does."""


class ObjectKind(NamedTuple):
    """The kind of a column whose values are objects: that of each field, by name."""

    fields: tuple[tuple[str, Kind], ...]


Kind: TypeAlias = str | ObjectKind
"""A word, as "whole", or the kinds of fields."""


class PlainTable(NamedTuple):
    """A log.  kinds: of the columns, in Spark's order.  columns: their values.  files: the number
    of rows in each file."""

    kinds: Mapping[str, Kind]
    columns: Columns
    files: Sequence[int]

    @property
    def names(self) -> list[str]:
        return list(self.kinds)


def wider(one: Kind, other: Kind) -> Kind:
    """The kind that holds the values of both.  Raises NotPlain if none does."""
    if one == other:
        return one
    if "nothing" in (one, other):
        return other if one == "nothing" else one
    if {one, other} == {"whole", "float"}:
        return "float"
    if isinstance(one, ObjectKind) and isinstance(other, ObjectKind):
        kinds = dict(one.fields)
        for name, kind in other.fields:
            kinds[name] = wider(kinds.get(name, "nothing"), kind)
        return ObjectKind(tuple(sorted(kinds.items())))
    raise NotPlain


def kind_without(name: str, kind: Kind, paths: Sequence[str]) -> Kind:
    """As `fields.type_without`."""
    if not paths or not isinstance(kind, ObjectKind):
        return kind
    left = []
    for field, inner in kind.fields:
        if field not in paths:
            begin = f"{field}."
            below = [path.removeprefix(begin) for path in paths if path.startswith(begin)]
            left.append((field, kind_without(f"{name}.{field}", inner, below)))
    if not left:
        raise no_field_left(name)
    return ObjectKind(tuple(left))


def paths_of(name: str, kind: Kind) -> Iterator[str]:
    """The column, and the fields in it."""
    yield name
    if isinstance(kind, ObjectKind):
        for field, inner in kind.fields:
            yield from paths_of(f"{name}.{field}", inner)


# --- Parquet ---------------------------------------------------------------------------------
def _parquet(log: OutputLog) -> PlainTable:
    files = [pq.ParquetFile(file, read_dictionary=_texts(file)) for file in log.files]
    if any("=" in part for file in log.files for part in file.parts[len(log.root.parts) : -1]):
        raise NotPlain  # the names of folders are values of columns
    if sum(file.metadata.num_rows for file in files) > SMALL_ROWS:
        raise NotPlain
    footers = [file.metadata for file in files]
    groups = [one.row_group(at) for one in footers for at in range(one.num_row_groups)]
    if sum(group.total_byte_size for group in groups) > MOST_BYTES:
        raise NotPlain
    first = files[0].schema_arrow
    for file in files:
        physical = [file.schema.column(at).physical_type for at in range(len(file.schema))]
        if not file.schema_arrow.equals(first) or "INT96" in physical:
            raise NotPlain
    if len(set(first.names)) < len(first.names):
        raise NotPlain
    table = pa.concat_tables(file.read() for file in files)
    kinds, columns = {}, {}
    for field, column in zip(first, table.columns, strict=True):
        kinds[field.name], columns[field.name] = _arrow(field.type, column)
    return PlainTable(kinds, columns, [file.metadata.num_rows for file in files])


def _texts(file: Path) -> list[str]:
    """The columns of texts."""
    texts = pa.string(), pa.large_string()
    return [field.name for field in pq.read_schema(file) if field.type in texts]


def _arrow(type_: pa.DataType, column: pa.ChunkedArray) -> tuple[str, list[Any]]:
    if pt.is_dictionary(type_) and type_.value_type in (pa.string(), pa.large_string()):
        return "text", [one for chunk in column.chunks for one in _shared(chunk)]
    if pt.is_signed_integer(type_):
        return "whole", column.to_pylist()
    if pt.is_float64(type_):
        return "float", column.to_pylist()
    if pt.is_boolean(type_):
        return "truth", column.to_pylist()
    if pt.is_date32(type_):
        return "date", _recent(column.to_pylist(), FIRST.date())
    if pt.is_timestamp(type_) and type_.unit == "ns":  # whole numbers for Spark, too
        return "whole", column.cast(pa.int64()).to_pylist()
    if pt.is_timestamp(type_) and type_.unit in ("us", "ms"):
        zone = "timestamp" if type_.tz else "timestamp without a zone"
        whole = column.cast(pa.timestamp("us", type_.tz)).cast(pa.int64()).to_pylist()
        first = (FIRST - EPOCH) // timedelta(microseconds=1)
        return zone, _recent(whole, first)
    raise NotPlain


def _shared(chunk: pa.DictionaryArray) -> Iterator[str | None]:
    """The values of a chunk: equal ones are one object, however long and however many."""
    values = chunk.dictionary.to_pylist()
    return (None if at is None else values[at] for at in chunk.indices.to_pylist())


def _recent(values: list[Any], first: date | int) -> list[Any]:
    if any(value is not None and value < first for value in values):
        raise NotPlain
    return values


# --- text ------------------------------------------------------------------------------------
def _lines(log: OutputLog) -> Iterable[list[str]]:
    """The lines of each file that are not empty."""
    for file in log.files:
        with pa.input_stream(file) as stream:
            text = stream.read(SMALL_BYTES + 1)
        lines = text.decode("utf-8").replace("\r\n", "\n").split("\n")
        if len(text) > SMALL_BYTES or any("\r" in line or "\ufeff" in line for line in lines):
            raise NotPlain
        if any(line and not line.strip() for line in lines):
            raise NotPlain
        yield [line for line in lines if line]


def _json(log: OutputLog) -> PlainTable:
    files = [[_object(line) for line in lines] for lines in _lines(log)]
    rows = [row for file in files for row in file]
    names = sorted({name for row in rows for name in row})
    columns = {name: [row.get(name) for row in rows] for name in names}
    kinds = {name: _json_kind(values) for name, values in columns.items()}
    return PlainTable(kinds, columns, list(map(len, files)))


JSON_KINDS = {type(None): "nothing", bool: "truth", int: "whole", float: "float", str: "text"}


EMPTY = re.compile(r"\{\s*\}")
NEGATIVE_ZERO = re.compile(r":\s*-0(\.0*)?([eE][+-]?\d+)?\s*[,}]")


def _json_kind(values: Sequence[Any]) -> Kind:
    """The kind of a column, or of a field in all objects that hold it."""
    kind: Kind = "nothing"
    for type_ in {*map(type, values)} - {dict}:
        kind = wider(kind, JSON_KINDS[type_])
    objects = [value for value in values if type(value) is dict]
    if objects:
        names = sorted({name for one in objects for name in one})
        inner = ((name, _json_kind([one.get(name) for one in objects])) for name in names)
        kind = wider(kind, ObjectKind(tuple(inner)))
    return kind


def _object(line: str) -> Row:
    try:
        found = json.loads(line, object_pairs_hook=_pairs, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise NotPlain from None
    if not isinstance(found, dict) or "\\u" in line:
        raise NotPlain
    inner = [value for value in found.values() if type(value) is dict]
    if inner and (EMPTY.search(line) or NEGATIVE_ZERO.search(line)):
        raise NotPlain  # objects are compared by their text
    return found


def _pairs(pairs: Sequence[tuple[str, Any]]) -> Row:
    found = dict(pairs)
    kinds = (*JSON_KINDS, dict)
    if len(found) < len(pairs) or any(type(value) not in kinds for value in found.values()):
        raise NotPlain
    numbers = [value for value in found.values() if type(value) in (int, float)]
    if any(value - value != 0 for value in numbers):
        raise NotPlain
    if any(type(value) is int and not -LONG <= value < LONG for value in numbers):
        raise NotPlain
    return found


def _refuse(_: str) -> NoReturn:
    raise NotPlain


VALUE = r'(?:[^",]*|"(?:[^"]|"")+")'
CSV_LINE = re.compile(f"{VALUE}(?:,{VALUE})*")
"""A line with whole values, of which none is "": Spark reads that as no null."""


def _csv(log: OutputLog) -> PlainTable:
    files = []
    for lines in _lines(log):
        if not all(map(CSV_LINE.fullmatch, lines)):
            raise NotPlain
        rows = list(csv.reader(lines[1:], strict=True))
        if any(len(row) != len(log.names) for row in rows):
            raise NotPlain
        files.append(rows)
    columns = {
        name: [row[at] or None for rows in files for row in rows]
        for at, name in enumerate(log.names)
    }
    return PlainTable(dict.fromkeys(log.names, "text"), columns, list(map(len, files)))


READERS = {"parquet": _parquet, "json": _json, "csv": _csv}
