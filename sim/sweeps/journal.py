"""A journal: finished entries, kept on disk at once, so that a kill at any moment loses none.

Rule of this file: it knows nothing of its entries but their ids.  An entry is a line; a line that
was cut short is ignored.  One process at a time writes: a lock ensures this, which the kernel
releases however the process ends.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from model.errors import Invalid
from model.results.table import Row


class SweepJournal:
    """entries: by id; of several with one id, the last.  Use `journal`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.entries, whole = _read(file)
        file.truncate(whole)
        file.seek(whole)

    def add(self, entries: Iterable[Row]) -> None:
        """Append entries; on return they are on disk.  The key `run` of each is its id."""
        for entry in entries:
            self._file.write(json.dumps(entry).encode() + b"\n")
            self.entries[entry["run"]] = entry
        self._file.flush()
        os.fsync(self._file.fileno())


def entries(path: Path) -> Mapping[str, Row]:
    """The entries, by id; empty if there is no journal.  It changes nothing on disk."""
    try:
        with path.open("rb") as file:
            return _read(file)[0]
    except OSError:
        return {}


@contextmanager
def journal(path: Path, *, fresh: bool = False) -> Iterator[SweepJournal]:
    """Open a journal to write.  fresh: delete its entries.  Raises Invalid if the file cannot be
    written, or another process writes it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise Invalid(f"{path}: cannot be written: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Invalid(
                f"{path}: another process is writing there; wait for it, or choose another folder"
            ) from None
        if fresh:
            file.truncate(0)
        file.seek(0)
        try:
            yield SweepJournal(file)
        except OSError as error:
            raise Invalid(f"{path}: cannot be written: {error.strerror}") from error


def _read(file: IO[bytes]) -> tuple[dict[str, Row], int]:
    """The entries, and their number of bytes: the bytes after them were cut short."""
    found: dict[str, Row] = {}
    whole = 0
    for line in file:
        if not line.endswith(b"\n"):
            break
        whole += len(line)
        entry = json.loads(line)
        found[entry["run"]] = entry
    return found, whole
