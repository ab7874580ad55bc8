"""The durable log: a Parquet file for each batch that made records.

Rule of this file: no Spark and no window: it numbers, writes and cuts.  Which files count after a
crash is decided by model.protocols.cec.scan.

A file is written whole and fsynced under a temporary name, and then renamed: a batch is in the log
or is not.  On a store that cannot rename (`in_place`), a crash in the middle leaves a torn file
under its final name; the missing part is the end, where Parquet has the metadata.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from model.log import Log
from model.protocols.cec.design import CecDesign
from model.protocols.cec.messages import Disk, Kind, Record, Segment
from model.protocols.cec.scan import repair
from model.results.table import Row
from spark_check.cec.keyed_node import Made

SUFFIX, PART = ".parquet", ".part"
BINARY = ("pane", "next", "out")
"""Columns with pickled values."""
SCHEMA = pa.schema(
    [
        ("at", pa.int64()),
        ("kind", pa.string()),
        ("key", pa.string()),
        ("opened", pa.int64()),
        ("pane", pa.binary()),
        ("next", pa.binary()),
        ("n", pa.int64()),
        ("stamp", pa.int64()),
        ("results", pa.int64()),
        ("out", pa.binary()),
        ("between", pa.bool_()),
    ]
)
COLUMNS = (
    "at long, kind string, key string, opened long, pane binary, next binary, n long, stamp long, "
    "results long, out binary, between boolean"
)
"""The schema as Spark writes it.  at: the place of the record in the log, from 1."""


class End(NamedTuple):
    """The end of a log: how many files, records and results there are, and N."""

    file: int = 0
    at: int = 0
    n: int = 0
    results: int = 0


class Placed(NamedTuple):
    """A record and its place in the log."""

    at: int
    record: Record


def number(end: End, made: Iterable[Made]) -> list[Placed]:
    """The records of a batch in the order of the log, with their places, N and number of results.

    The order is that of the tuples; G_checks stand where the batch before ended.
    """
    placed = []
    order = attrgetter("record.stamp", "foot", "i", "record.key")
    for record, change, _, _ in sorted(made, key=order):
        end = end._replace(
            at=end.at + 1, n=end.n + change, results=end.results + (record.out is not None)
        )
        placed.append(Placed(end.at, record._replace(n=end.n, results=end.results)))
    return placed


def end_of(before: End, placed: Sequence[Placed]) -> End:
    """The end of the log once the file with these records is in it."""
    if not placed:
        return before
    at, record = placed[-1]
    return End(before.file + 1, at, record.n, record.results)


class RecordLog(NamedTuple):
    """The log in a folder.  in_place: files are written under their final names."""

    folder: str
    in_place: bool = False

    def path(self, file: int) -> Path:
        return Path(self.folder) / f"{file:06}{SUFFIX}"

    def write(
        self, file: int, placed: Sequence[Placed], half: Callable[[], object] = lambda: None
    ) -> None:
        """Write a file; `half` is called in the middle."""
        content = _encode(placed)
        final = self.path(file)
        path = final if self.in_place else final.with_suffix(PART)
        path.parent.mkdir(exist_ok=True)
        with path.open("wb") as stream:
            stream.write(content[: len(content) // 2])
            stream.flush()
            half()
            stream.write(content[len(content) // 2 :])
            stream.flush()
            os.fsync(stream.fileno())
        path.rename(final)

    def cut(self, design: CecDesign) -> tuple[list[Path], int]:
        """Delete the files that do not count after a crash: those that do, and how many did not."""
        files = {int(path.stem): path for path in Path(self.folder).glob(f"*{SUFFIX}")}
        segments = (Segment(file, (), _is_torn(files[file])) for file in sorted(files))
        log: Log[Segment] = Log()
        disk, cut = repair(design, Disk(1, log.extend(segments)))
        kept = [files.pop(segment.place) for segment in disk.log]
        for path in files.values():
            path.unlink()
        return kept, cut

    def read(self, paths: Iterable[Path] | None = None) -> Iterator[Placed]:
        """The records of these files, or of all."""
        for path in sorted(Path(self.folder).glob(f"*{SUFFIX}")) if paths is None else paths:
            table = pq.read_table(path)
            yield from decode(table.to_pylist())


def _is_torn(path: Path) -> bool:
    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return True
    return False


def count_rows(paths: Iterable[Path]) -> int:
    return sum(pq.read_metadata(path).num_rows for path in paths)


# --- records as rows -------------------------------------------------------------------------
def _encode(placed: Sequence[Placed]) -> bytes:
    rows = [
        {"at": at, **record._asdict(), "kind": record.kind.value, **_packed(record)}
        for at, record in placed
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), sink)
    return bytes(sink.getvalue())


def _packed(record: Record) -> dict[str, bytes | None]:
    return {name: pack(getattr(record, name)) for name in BINARY}


def pack(value: Any) -> bytes | None:
    return None if value is None else pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpack(value: bytes | None) -> Any:
    return None if value is None else pickle.loads(bytes(value))


def decode(rows: Iterable[Row]) -> Iterator[Placed]:
    """Rows of the log as records."""
    for row in rows:
        values = {**row, "kind": Kind(row["kind"]), **{n: unpack(row[n]) for n in BINARY}}
        yield Placed(values.pop("at"), Record(**values))
