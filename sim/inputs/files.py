"""Event files: a CSV or Parquet file as a stream of arrivals.

Rule of this file: a file is read as it is, or refused with one line; nothing is sorted, guessed
or left out.  Rows are counted from 1, without the header.

Time.  The model counts in whole steps, and a step is as small as the file needs: the largest of a
second, a millisecond, a microsecond and a nanosecond that every timestamp is a multiple of (ISO
8601 text in a CSV file, a timestamp type in a Parquet file); of numbers 1, 0.1, 0.01, ...  So no
time is rounded.  The first event is at time 0.
"""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from model.core import Arrival
from model.errors import Invalid, nearest
from model.machine.input_files import require_file
from sim.inputs.streams import arrivals

Column: TypeAlias = "pd.Series[Any]"

PARQUET = (".parquet", ".pq")
MISSING = ["", "NA", "NaN", "nan", "null", "NaT"]
"""The texts for "no value" in a CSV file; but an event type may have any name except ""."""

UNREADABLE = (
    *(OSError, EOFError, ValueError, pa.ArrowException),  # pandas' own errors are ValueErrors
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError),
    ImportError,  # of a compression that is not installed
)


HEADER_BYTES, MOST_COLUMNS = 1 << 20, 5_000
MOST_ROWS = 10_000_000
MOST_BYTES = 1_000_000_000
"""Of the texts of a Parquet file, unpacked."""
DIGITS = 9
"""The most digits that a time has after the point."""
EXACT = 2**53
"""Floats are exact for whole numbers below this."""


class EventTimes(NamedTuple):
    """The times of a file.  column: their name.  stamps: are they timestamps, or numbers?  steps:
    of the model, in one second of timestamps or in 1 of the column.  first: the time of the first
    event, as a timestamp or in steps."""

    column: str
    stamps: bool
    steps: int
    first: pd.Timestamp | int

    def show(self, time: int) -> str | int | float:
        """A time of the model as the file would have it."""
        if isinstance(self.first, pd.Timestamp):
            return (self.first + pd.Timedelta(time * (10**9 // self.steps), "ns")).isoformat()
        whole = self.first + time
        return whole if self.steps == 1 else whole / self.steps

    def units(self, unit_s: float, one_s: float) -> Fraction:
        """How many units of this length a step lasts.  one_s: the seconds of 1 in the column, if it
        has numbers."""
        each = Fraction(1) if self.stamps else Fraction(str(one_s))
        return each / self.steps / Fraction(str(unit_s))

    def __str__(self) -> str:
        if not self.stamps:
            return f"{1 / self.steps:g} of {self.column!r}"
        return {1: "1 s", 10**3: "1 ms", 10**6: "1 us", 10**9: "1 ns"}[self.steps]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A stream of events in time order; equal arrivals are one object, so long streams are small.

    clock: the time of a gap of 1.
    """

    name: str
    clock: EventTimes
    events: tuple[Arrival, ...]


def columns(path: Path) -> tuple[str, ...]:
    """The names of the columns of a file; () if it has no header that can be read."""
    try:
        _refuse_wide(path)
        names = pq.read_schema(path).names if path.suffix in PARQUET else pd.read_csv(path, nrows=0)
    except UNREADABLE:  # `load` reports it
        return ()
    return tuple(map(str, names))


def load(
    path: Path | str, type_column: str, time_column: str, attributes: Sequence[str] = ()
) -> Arrivals:
    """The events of a file, a row each, in the order of the file.

    attributes: further columns; their values travel with the events, missing ones are left out.
    Raises Invalid if the file cannot be read, has no rows or lacks a column, if a type or a time
    is missing, or if time goes backwards.
    """
    path = Path(path)
    wanted = list(dict.fromkeys((type_column, time_column, *attributes)))
    frame = _read(path, wanted, type_column)
    if frame.empty:
        raise Invalid(f"{path}: no events; there is a header, but no row below it")
    types = frame[type_column]
    unnamed = types.isna() | (types == "")
    if unnamed.any():
        raise Invalid(
            f"{path}: row {_first(unnamed)}: {type_column!r} is empty; give an event type"
        )
    times, clock = _times(path, frame[time_column], time_column)
    data = _data(frame, attributes)
    return Arrivals(path.name, clock, arrivals(times, [str(type_) for type_ in types], data))


def _read(path: Path, wanted: list[str], type_column: str) -> pd.DataFrame:
    """The wanted columns; event types as text."""
    if not path.exists():
        raise Invalid(f"{path}: there is no such file")
    try:
        _refuse_wide(path)
        if path.suffix in PARQUET:
            _check(path, [str(name) for name in pq.read_schema(path).names], wanted)
            _refuse_many(path, pq.read_metadata(path).num_rows)
            frame = _read_parquet(path, wanted)
        else:
            missing = dict.fromkeys(wanted, MISSING) | {type_column: [""]}
            frame = pd.read_csv(
                path,
                dtype={type_column: str},
                keep_default_na=False,
                na_values=missing,
                low_memory=False,
                nrows=MOST_ROWS + 1,
            )
            _refuse_many(path, len(frame))
            if not isinstance(frame.index, pd.RangeIndex):  # pandas took the surplus for an index
                raise ValueError("rows have more fields than the header")
            _check(path, [str(name) for name in frame.columns], wanted)
    except Invalid:
        raise
    except pd.errors.EmptyDataError:
        raise Invalid(f"{path}: the file is empty; it needs a header and rows below it") from None
    except UNREADABLE as error:
        kind = "Parquet" if path.suffix in PARQUET else "CSV"
        found = (error.strerror if isinstance(error, OSError) else None) or str(error)
        why = " ".join(found.split()) or type(error).__name__
        raise Invalid(f"{path}: cannot be read as {kind}: {why}") from None
    return frame[wanted]


def _refuse_wide(path: Path) -> None:
    """Raise Invalid for a place that is no file, and for a line of names too long for pandas."""
    require_file(path)
    with path.open("rb") as file:
        if file.readline(HEADER_BYTES).count(b",") >= MOST_COLUMNS:
            raise Invalid(f"{path}: it has more than {MOST_COLUMNS:,} columns; give fewer")


def _refuse_many(path: Path, rows: int) -> None:
    if rows > MOST_ROWS:
        raise Invalid(f"{path}: it has more than {MOST_ROWS:,} rows; give a part of it")


def _read_parquet(path: Path, wanted: list[str]) -> pd.DataFrame:
    """The wanted columns; each text of a column is read once, however often it comes."""
    for field in pq.read_schema(path):
        if field.name in wanted and pa.types.is_nested(field.type):
            raise Invalid(
                f"{path}: {field.name!r} is of type {field.type}; give a column of single values"
            )
    table = pq.read_table(path, columns=wanted, read_dictionary=wanted)
    size = 0
    for at, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            text = column.type.value_type
            size += sum(_decoded_bytes(chunk) for chunk in column.chunks)
            if size > MOST_BYTES:
                raise Invalid(f"{path}: its texts have more than {MOST_BYTES:,} bytes; give a part")
            table = table.set_column(at, table.field(at).name, _text(column.cast(text)))
        else:
            table = table.set_column(at, table.field(at).name, _text(column))
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Bytes as text, which some writers leave without that type; raises ArrowInvalid for others."""
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    if any(is_kind(column.type) for is_kind in kinds):
        return column.cast(pa.binary()).cast(pa.string())
    return column


def _decoded_bytes(chunk: pa.DictionaryArray) -> int:
    """The bytes of all values."""
    if pa.types.is_nested(chunk.type.value_type) or not len(chunk.dictionary):
        return 0
    lengths = np.array(pc.binary_length(chunk.dictionary).fill_null(0), dtype=np.int64)
    return int(lengths[chunk.indices.drop_null().to_numpy()].sum())


def _check(path: Path, columns: list[str], wanted: list[str]) -> None:
    for name in wanted:
        if name not in columns:
            raise Invalid(f"{path}: no column {name!r}{nearest(name, columns)}")


def _times(path: Path, column: Column, name: str) -> tuple[list[int], EventTimes]:
    """Times in steps from 0, and the length of a step."""
    absent = column.isna()
    if absent.any():
        raise Invalid(f"{path}: row {_first(absent)}: {name!r} is empty; every event needs a time")
    values = _measured(column)
    bad = values.isna()
    if not pd.api.types.is_datetime64_any_dtype(values):
        bad |= np.isinf(values.astype(float))
    if bad.any():
        row = _first(bad)
        raise Invalid(
            f"{path}: row {row}: {name!r} is {column.iloc[row - 1]!s}, which is neither a number "
            "nor an ISO 8601 timestamp"
        )
    back = values < values.shift()
    if back.any():
        row = _first(back)
        raise Invalid(
            f"{path}: row {row}: time goes backwards, from {column.iloc[row - 2]!s} to "
            f"{column.iloc[row - 1]!s}; sort the rows by {name!r}"
        )
    if pd.api.types.is_datetime64_any_dtype(values):
        since = (values - values.iloc[0]).to_numpy().astype("timedelta64[ns]").astype(np.int64)
        steps = next(10**k for k in (0, 3, 6, 9) if not (since % 10 ** (9 - k)).any())
        return (since // (10**9 // steps)).tolist(), EventTimes(name, True, steps, values.iloc[0])
    if pd.api.types.is_integer_dtype(values):
        whole = [int(value) for value in values.tolist()]
        return [value - whole[0] for value in whole], EventTimes(name, False, 1, whole[0])
    return _decimals(path, values.astype(float), name)


def _decimals(path: Path, values: Column, name: str) -> tuple[list[int], EventTimes]:
    """Times in steps of the largest power of ten that each number is a multiple of."""
    numbers = values.to_numpy()
    for digits in range(DIGITS + 1):
        with np.errstate(over="ignore"):  # too large a number is not exact
            scaled = np.rint(numbers * 10.0**digits)
        fits = (scaled / 10.0**digits == numbers) & (np.abs(scaled) < EXACT)
        if fits.all():
            whole = [int(value) for value in scaled.tolist()]
            return [value - whole[0] for value in whole], EventTimes(
                name, False, 10**digits, whole[0]
            )
    row = int(np.argmin(fits)) + 1
    raise Invalid(
        f"{path}: row {row}: {name!r} is {numbers[row - 1].item()!r}; times with more than "
        f"{DIGITS} digits after the point are not exact: round them, or write timestamps"
    )


def _measured(column: Column) -> Column:
    """The column as numbers or as timestamps, whichever fits more values; others become missing."""
    if pd.api.types.is_bool_dtype(column):
        return column.astype(float).where(column.isna())
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    numbers: Column = pd.to_numeric(column, errors="coerce")
    stamps: Column = pd.to_datetime(column.astype(str), errors="coerce", format="ISO8601", utc=True)
    return numbers if numbers.count() >= stamps.count() else stamps


def _data(frame: pd.DataFrame, attributes: Sequence[str]) -> list[tuple[Any, ...]] | None:
    if not attributes:
        return None
    columns = [
        [None if pd.isna(value) else value for value in frame[a].tolist()] for a in attributes
    ]
    return [
        tuple((a, value) for a, value in zip(attributes, row, strict=True) if value is not None)
        for row in zip(*columns, strict=True)
    ]


def _first(rows: Column) -> int:
    return int(np.argmax(rows.to_numpy())) + 1
