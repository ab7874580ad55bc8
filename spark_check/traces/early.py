"""What is wrong with two logs, as far as it shows before Spark starts: columns, broken lines.

Rule of this file: it complains of no column that Spark might find: one of JSON lines may come late.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from model.errors import Invalid, some_of
from spark_check.traces.lines import BLOCK, broken_line
from spark_check.traces.logs import OutputLog
from spark_check.traces.plain_tables import SMALL_BYTES
from spark_check.traces.roles import ColumnRoles, KnownColumns, check_names, check_roles, has_none

FIRST_LINES = 1000
"""Lines of JSON whose names are read."""


def check_early(logs: Sequence[OutputLog], asked: ColumnRoles) -> None:
    """Raises Invalid if a column that is asked for is in no row, or a line cannot be read."""
    check_roles(asked)
    known = [_all_columns(log) for log in logs]
    if None not in known:
        check_names(asked, logs, [one for one in known if one is not None])
    for option, names in asked.by_option.items():
        holders = logs if option != "ignore" else ()
        for name in names:
            for log in holders:
                if log.format == "json" and not _may_hold(log, name):
                    raise has_none(log, option, name, _first_names(log))
    for name in asked.ignore:
        if all(log.format == "json" and not _may_hold(log, name.split(".")[0]) for log in logs):
            every = sorted({one for log in logs for one in _first_names(log)})
            raise Invalid(f"--ignore {name}: no such column; there are {some_of(every)}")
    by_line = sum(log.size for log in logs) <= SMALL_BYTES
    for log in logs:
        if found := broken_line(log, by_line=by_line, surely=True):
            raise log.complain(found)


def _all_columns(log: OutputLog) -> KnownColumns | None:
    """The columns, if the files name them all."""
    if log.format == "csv":
        return KnownColumns(log.names)
    if log.format == "json":
        return None
    fields = [field for file in log.files for field in pq.read_schema(file)]
    folders = [file.relative_to(log.root).parts[:-1] for file in log.files if file != log.root]
    parts = [part.split("=")[0] for parts in folders for part in parts if "=" in part]
    names = dict.fromkeys([*(field.name for field in fields), *parts])
    paths = {path for field in fields for path in _paths(field.name, field.type)}
    return KnownColumns([*names], sorted(paths - names.keys()))


def _paths(path: str, type_: pa.DataType) -> Iterator[str]:
    yield path
    if pt.is_struct(type_):
        for field in type_:
            yield from _paths(f"{path}.{field.name}", field.type)


def _may_hold(log: OutputLog, name: str) -> bool:
    """May a line of JSON have this column?  False: certainly none has."""
    if name in _first_names(log) or json.dumps(name) != f'"{name}"':
        return True
    sought = f'"{name}"'.encode()
    for file in log.files:
        end = b""
        try:
            with pa.input_stream(file) as stream:
                while read := stream.read(BLOCK):
                    text = end + read
                    if sought in text or b"\\u" in text:  # an escape may spell the name
                        return True
                    end = text[-len(sought) :]
        except (OSError, pa.ArrowException):
            return True
    return False


def _first_names(log: OutputLog) -> list[str]:
    """The columns of the first lines of each file."""
    names: set[str] = set()
    for file in log.files:
        try:
            with pa.input_stream(file) as stream:
                lines = stream.read(BLOCK).splitlines()
            for line in islice(lines, FIRST_LINES):
                names |= {*json.loads(line)}
        except (ValueError, TypeError, OSError, pa.ArrowException):
            continue  # the last line of the block, or a broken one
    return sorted(names)
