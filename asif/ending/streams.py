"""Standard streams to which printing never fails.

Rule of this file: no word is printed here.  A command prints as if all went well; in the end
`failure` says whether its output was lost.

A reader that is gone (a closed pipe, a closed descriptor) wanted no more: that is no failure.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from contextlib import suppress

NOBODY_READS = {errno.EPIPE, errno.EBADF, errno.ECONNRESET, errno.ESHUTDOWN}
"""The errors of a stream whose reader is gone."""


class PatientFile(io.FileIO):
    """A file descriptor whose writes never raise.  error: the first error of a write."""

    error: OSError | None = None

    def write(self, data: object) -> int:
        """Write all bytes, or pass over those that nobody takes; return the number of bytes."""
        rest = memoryview(data).cast("B")  # type: ignore[arg-type]
        size = len(rest)
        while rest and self.error is None:
            try:
                written = super().write(rest)
                if written is None:  # a pipe that does not block, and is full
                    select.select([], [self], [])
                else:
                    rest = rest[written:]
            except OSError as error:
                self.error = error
        return size


def open_all() -> None:
    """Have the descriptors 0, 1 and 2 open: else the next file that is opened becomes one of
    them, and receives what is printed."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free


def make_patient() -> None:
    """Replace the standard output and the standard error by patient ones.

    A stream that somebody has put in their place stays as it is.
    """
    if sys.stdout is sys.__stdout__:
        sys.stdout = sys.__stdout__ = _patient(sys.stdout, 1)  # type: ignore[misc]
    if sys.stderr is sys.__stderr__:
        sys.stderr = sys.__stderr__ = _patient(sys.stderr, 2)  # type: ignore[misc]


def _patient(stream: io.TextIOWrapper | object, descriptor: int) -> io.TextIOWrapper:
    """A stream as this one, on the same descriptor; what cannot be encoded is escaped."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    with suppress(AttributeError, OSError, ValueError):
        stream.flush()  # type: ignore[union-attr]
    file = PatientFile(descriptor, "w", closefd=False)
    buffered = io.BufferedWriter(file)
    lines = descriptor == 2 or file.isatty()
    return io.TextIOWrapper(buffered, encoding, "backslashreplace", line_buffering=lines)


def failure() -> OSError | None:
    """The error that lost a part of the standard output, unless nobody reads it."""
    with suppress(ValueError):  # a closed stream
        sys.stdout.flush()
    file = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    error = file.error if isinstance(file, PatientFile) else None
    return None if error is None or error.errno in NOBODY_READS else error
