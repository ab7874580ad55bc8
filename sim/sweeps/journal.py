"""A journal: what is done, kept as it is done, so that a kill at any moment loses nothing kept.

Rule of this file: it knows nothing of what it keeps but its ids.  An entry is a line; a line that
was cut short never was.  One process at a time writes, which a lock sees to that its kernel
releases whenever and however the process ends.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from model.errors import Invalid


class Journal:
    """entries: by id; of several with one id, the last.  Use `journal`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.entries, whole = _read(file)
        file.truncate(whole)
        file.seek(whole)

    def add(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """On return they are on disk.  Each says with `run` what its id is."""
        for entry in entries:
            self._file.write(json.dumps(entry).encode() + b"\n")
            self.entries[entry["run"]] = entry
        self._file.flush()
        os.fsync(self._file.fileno())


def entries(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """What is kept, by id; nothing if there is no journal.  For a look: it leaves no trace."""
    try:
        with path.open("rb") as file:
            return _read(file)[0]
    except OSError:
        return {}


@contextmanager
def journal(path: Path, *, fresh: bool = False) -> Iterator[Journal]:
    """fresh: forget what is there.  Raises Invalid if the file cannot be written, or another
    process has it."""
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
            yield Journal(file)
        except OSError as error:
            raise Invalid(f"{path}: cannot be written: {error.strerror}") from error


def _read(file: IO[bytes]) -> tuple[dict[str, Mapping[str, Any]], int]:
    """Entries, and how many bytes they are: those after them were cut short."""
    found: dict[str, Mapping[str, Any]] = {}
    whole = 0
    for line in file:
        if not line.endswith(b"\n"):
            break
        whole += len(line)
        entry = json.loads(line)
        found[entry["run"]] = entry
    return found, whole
