"""Locks: one process at a time writes in a place.

Rule of this file: no waiting.  The second process is refused in one line, the same everywhere.

A lock goes with the process that holds it, however that ends: the kernel releases it, and no child
inherits it, neither one that was forked nor one that runs another program.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from model.errors import Invalid
from model.machine import supervision

LOCK = ".asif-lock"
"""The lock of a folder: this file in it, which stays when the lock is released."""

WAIT = "wait for its end"
REMEDY = f"{WAIT}, or give another folder"
_HELD: set[int] = set()
"""The descriptors of the locks that this process holds."""


@contextmanager
def held(path: Path, what: str, remedy: str = REMEDY) -> Iterator[None]:
    """A context that one process at a time can be in.

    path: the file of the lock, which is made if it is missing; it holds the number of the process.
    what: the thing that the lock is for, as in "build/spark".  remedy: for one who is refused, as
    an imperative.  Raises Invalid in one line, and changes nothing, if another process is in the
    context or the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise Invalid(f"{path}: cannot be written: {error.strerror}") from error
    try:
        try:
            _take(lock, path, what, remedy)
        except OSError as error:
            raise Invalid(f"{path}: cannot be written: {error.strerror}") from error
        yield
    finally:
        _HELD.discard(lock)
        os.close(lock)


def _take(lock: int, path: Path, what: str, remedy: str) -> None:
    """Take the lock of an open file.  Raises Invalid or OSError."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        words = f"{what}: another process{_number(lock)} works there; {remedy}"
        raise Invalid(words) from None
    if os.pread(lock, 20, 0).strip(b"0123456789\n"):
        raise Invalid(f"{path}: asif needs this name, and did not write what is there; move it")
    _HELD.add(lock)
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{supervision.started()}\n".encode(), 0)


def _number(lock: int) -> str:
    """The number of the process that holds a lock, as far as it is known."""
    found = os.pread(lock, 20, 0).strip()
    return f" ({found.decode()})" if found.isdigit() else ""


def _forget() -> None:
    """In a forked child: the locks are its parent's, and end with that."""
    for lock in _HELD:
        os.close(lock)
    _HELD.clear()


os.register_at_fork(after_in_child=_forget)
