"""Journals: finished entries, kept on disk at once, so that a kill at any moment loses none.

Rule of this file: it knows nothing of its entries but their ids.  An entry is a line of JSON with a
checksum; a line whose checksum is wrong is named and passed over.  Who writes
holds a lock (model.machine.locks).
"""

from __future__ import annotations

import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from model.errors import Invalid
from model.machine.files import refuse_unwritable
from model.machine.marks import NAME
from model.results.plain import MADE_BY
from model.results.table import Row

_LINE = re.compile(rb'(.*), "crc32": "([0-9a-f]{8})"\}\n?', re.DOTALL)
SHOWN = 3
"""The damaged lines that a message names."""


class Resumption(NamedTuple):
    """How a journal that is there is opened.

    fresh: its entries are deleted.  force: so is a file that asif did not write.
    """

    fresh: bool = False
    force: bool = False


RESUME = Resumption()


class RunJournal:
    """entries: by id; of several with one id, the last.  Use `journal`."""

    def __init__(self, file: IO[bytes], key: str, entries: dict[Any, Row]) -> None:
        self._file, self._key = file, key
        self.entries = entries

    def add(self, entries: Iterable[Row]) -> None:
        """Append entries; on return they are on disk.  Raises Invalid if the disk is full, say."""
        added = [*entries]
        try:
            _write(self._file, b"".join(map(_line, added)))
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _unwritable(self._file.name, error) from error
        self.entries |= {entry[self._key]: entry for entry in added}


def entries(path: Path, key: str) -> Mapping[Any, Row]:
    """The entries by id, the value of this key; empty if there is no journal.  Nothing is
    changed."""
    try:
        with path.open("rb") as file:
            return _read(file, key).entries
    except OSError:
        return {}


@contextmanager
def journal(path: Path, key: str, how: Resumption = RESUME) -> Iterator[RunJournal]:
    """Open a journal to write.

    key: that of the id of an entry.  A line on the standard error names damaged lines.  Raises
    Invalid if the file cannot be written, or if asif did not write its content.
    """
    fresh = how.fresh
    with ExitStack() as opened:
        try:
            found = _JournalContent({}, True, 0, ())
            if path.exists() and not path.is_file():
                raise Invalid(f"{path}: asif keeps finished work there, and it is no file; move it")
            if path.is_file():
                with path.open("rb") as old:
                    found = _read(old, key)
            if not found.ours:
                refuse_unwritable([path], force=how.force)
                fresh = True
            path.parent.mkdir(parents=True, exist_ok=True)
            file = opened.enter_context(path.open("ab", buffering=0))
            _begin(file, found, fresh)
        except OSError as error:
            raise _unwritable(path, error) from error
        if found.damaged and not fresh:
            print(f"asif: {path}: {_damage(found.damaged)}", file=sys.stderr)
        yield RunJournal(file, key, {} if fresh else found.entries)


class _JournalContent(NamedTuple):
    """ours: has asif written it?  whole: the bytes before a last line that was cut short.  damaged:
    the numbers of other lines than entries, from 1.  ended: does the last whole line end?"""

    entries: dict[Any, Row]
    ours: bool
    whole: int
    damaged: tuple[int, ...]
    ended: bool = True


def _begin(file: IO[bytes], found: _JournalContent, fresh: bool) -> None:
    """Make the file one to append to: of whole lines, the first of them the header."""
    whole = 0 if fresh else found.whole
    file.truncate(whole)
    if not whole:
        _write(file, _HEADER)
    elif not found.ended:
        _write(file, b"\n")


def _write(file: IO[bytes], content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def _read(file: IO[bytes], key: str) -> _JournalContent:
    found: dict[Any, Row] = {}
    damaged, whole, first, ended = [], 0, b"", True
    for number, line in enumerate(file, 1):
        first = first or line
        entry = _entry(line)
        if entry is None or not (key in entry or line.rstrip(b"\n") == _HEADER.rstrip(b"\n")):
            damaged.append(number)
            if not line.endswith(b"\n"):
                break
        elif key in entry:
            found[entry[key]] = entry
        whole += len(line)
        ended = line.endswith(b"\n")
    earlier = first.startswith(f'{{"{key}": '.encode())  # a journal without checksums
    ours = bool(found) or first == _HEADER or _HEADER.startswith(first) or earlier
    return _JournalContent(found, ours, whole, tuple(damaged), ended)


def _line(entry: Row) -> bytes:
    """The line of an entry: its JSON, with the CRC-32 of that as its last key."""
    text = json.dumps(entry).encode()
    return text[:-1] + f', "crc32": "{zlib.crc32(text):08x}"}}\n'.encode()


def _entry(line: bytes) -> Row | None:
    """The entry in a line; None if the line is not as it was written."""
    found = _LINE.fullmatch(line)
    if found is None or zlib.crc32(found[1] + b"}") != int(found[2], 16):
        return None
    entry: Row = json.loads(found[1] + b"}")
    return entry


_HEADER = _line({MADE_BY: NAME})
"""The first line of a journal."""


def _damage(lines: tuple[int, ...]) -> str:
    more = len(lines) - SHOWN
    named = ", ".join(map(str, lines[:SHOWN])) + (f" and {more} more" if more > 0 else "")
    some = f"line {named} is" if len(lines) == 1 else f"lines {named} are"
    return f"{some} damaged and passed over; the others count"


def _unwritable(path: Path | str, error: OSError) -> Invalid:
    return Invalid(f"{path}: cannot be written: {error.strerror}")
