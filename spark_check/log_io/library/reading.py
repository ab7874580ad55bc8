"""A log that is only read: opened without a change, and each failure is one line.

Rule of this file: it opens and closes, and asks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spark_check.log_io.library.log import Log


@contextmanager
def read_log(place: str) -> Iterator[Log]:
    """A context with a log in which nothing is written, and beside which nothing is.

    Raises LogError, one line that names the place without its secrets, if the place has no log, or
    if its database fails while it is opened or read.
    """
    with Log(place, read_only=True) as log:
        yield log
