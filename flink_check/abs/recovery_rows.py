"""The recovery that the rows of an appending sink show: each row has an event and a time.

Rule of this file: it reads rows, and no engine; event n is due at a time that the caller knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from statistics import median
from typing import NamedTuple

from model.errors import Invalid

CALM = 100
"""So many rows before the kill show how soon after it is due an event usually has its row."""
ON_TIME_S = 0.02
"""An event is on time if its row comes at most so much later than usual."""


class RowTime(NamedTuple):
    """A row of the sink: the number of its event, and when it was written, in seconds."""

    event: int
    at_s: float


class RowsRecovery(NamedTuple):
    """first_s: when the first row after the kill was written, in seconds since the epoch.
    recovery_s: from the kill until the last row before an event is on time again.  replayed: rows
    of events that had a row before.  service_s: from one row to the next, between these two times,
    in the mean."""

    first_s: float
    recovery_s: float
    replayed: int
    service_s: float


def read_recovery(
    rows: Sequence[RowTime], killed_s: float, due_s: Callable[[int], float]
) -> RowsRecovery:
    """The recovery from a kill.

    rows: in the order in which they were written, up to the next kill.  The rows after the restart
    begin where an event comes that is not new: until then, rows that were on their way are written.
    Raises Invalid if no event comes twice, or none is on time again.
    """
    tops = list(accumulate((row.event for row in rows), max))
    back = next(
        (
            at
            for at in range(1, len(rows))
            if rows[at].event <= tops[at - 1] and rows[at].at_s > killed_s
        ),
        None,
    )
    if back is None:
        raise Invalid("no event has a row before the kill and another after it")
    before, after, top = rows[:back], rows[back:], tops[back - 1]
    usual_s = median(row.at_s - due_s(row.event) for row in before[-CALM:])
    caught_up = next(
        (
            at
            for at, (event, at_s) in enumerate(after)
            if event > top and at_s - due_s(event) <= usual_s + ON_TIME_S
        ),
        None,
    )
    if caught_up is None or caught_up < 2:
        raise Invalid("after the kill, the rows do not come late and then as soon as before")
    first_s, end_s = after[0].at_s, after[caught_up - 1].at_s
    return RowsRecovery(
        first_s,
        end_s - killed_s,
        sum(row.event <= top for row in after),
        (end_s - first_s) / (caught_up - 1),
    )
