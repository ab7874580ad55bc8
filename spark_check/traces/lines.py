"""Lines of text logs that cannot be read, by file and number.

Rule of this file: the text of a log is UTF-8.  Which lines are whole, Spark decides: where a line
is surely not, it is named before Spark starts; where Spark has failed, the first suspect is named.
"""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from spark_check.traces.logs import OutputLog

BLOCK = 1 << 20
"""Bytes that are read at once."""
GZIP = 31
"""zlib's word for the format of gzip."""
CUT = "is not whole (cut off by a crash, perhaps)"
DAMAGED = f"{CUT}: the packed file ends there, or is damaged"
DEEP = "has objects or arrays too deep within each other"
SWOLLEN = "is not read: the packed file has more than {:,} times its size; unpack it first"
TIMES, FREE_BYTES = 1_000, 100_000_000
"""The most bytes of a packed file, for each of its own; any file may have the second number."""
NO_OBJECT = "is no JSON object"
NOT_TEXT = "is not UTF-8"


class BrokenLine(Exception):
    """The text says why.  number: of the line, from 1."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(why)
        self.number = number


def broken_line(log: OutputLog, *, by_line: bool, surely: bool) -> str | None:
    """The first line that cannot be read, and why.

    by_line: is each line looked at, or only whether all are text?  surely: None if Spark might
    read the line.
    """
    if log.format == "parquet":
        return None
    for file in log.files:
        try:
            for number, block in _blocks(file):
                lines = _decoded(number, block)
                if by_line:
                    _check_lines(log, number, lines.split("\n"), surely)
        except BrokenLine as broken:
            of = f" of {file.name}" if len(log.files) > 1 or log.root.is_dir() else ""
            return f"line {broken.number:,}{of} {broken}"
    return None


def _blocks(file: Path) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines, with the number of their first line."""
    number, total = 1, 0
    begun: list[bytes] = []  # of a line that goes on
    most = TIMES * file.stat().st_size + FREE_BYTES
    try:
        with pa.input_stream(file) as stream:
            while read := stream.read(BLOCK):
                total += len(read)
                if total > most:
                    raise BrokenLine(number, SWOLLEN.format(TIMES))
                end, line_end, rest = read.rpartition(b"\n")
                if line_end:
                    whole = b"".join([*begun, end])
                    yield number, whole
                    number += whole.count(b"\n") + 1
                    begun.clear()
                begun.append(rest)
    except (OSError, pa.ArrowException):
        if file.suffix == ".gz":
            number = _lines_of_cut(file) + 1
        raise BrokenLine(number, DAMAGED) from None
    if left := b"".join(begun):
        yield number, left


def _lines_of_cut(file: Path) -> int:
    """The number of whole lines that a damaged file still gives."""
    count, unpack = 0, zlib.decompressobj(GZIP)
    with file.open("rb") as packed, suppress(zlib.error):
        while read := packed.read(BLOCK):
            while read:
                count += unpack.decompress(read).count(b"\n")
                read = unpack.unused_data
                if unpack.eof:
                    unpack = zlib.decompressobj(GZIP)
    return count


def _decoded(number: int, block: bytes) -> str:
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BrokenLine(number + block[: error.start].count(b"\n"), NOT_TEXT) from None


def _check_lines(log: OutputLog, number: int, lines: list[str], surely: bool) -> None:
    for at, line in enumerate(lines, number):
        text = line.removesuffix("\r")
        if not text.strip() or "\r" in text or (log.format == "csv" and at == 1):
            continue
        why = _json(text, surely) if log.format == "json" else _csv(text, log, surely)
        if why:
            raise BrokenLine(at, why)


def _json(line: str, surely: bool) -> str | None:
    try:
        found = json.loads(line)
    except RecursionError:
        return DEEP
    except ValueError as error:
        if not isinstance(error, json.JSONDecodeError):  # a number of thousands of digits
            return None
        at_end = error.pos >= len(line.rstrip()) or error.msg.startswith("Unterminated")
        return CUT if at_end or not surely else None
    return None if isinstance(found, dict) or surely else NO_OBJECT


def _csv(line: str, log: OutputLog, surely: bool) -> str | None:
    if '"' in line and surely:
        return None
    try:
        (row,) = csv.reader([line], strict=True)
    except csv.Error:
        return f"{CUT}: a quote is open"
    if len(row) == len(log.names):
        return None
    fields = "1 field" if len(row) == 1 else f"{len(row):,} fields"
    return f"has {fields}, and there are {len(log.names):,} columns"
