"""The compiled part of the kernel: one operator and its environment, event by event, in arrays.

Rule of this file: what numba compiles, and what Python runs as it is where there is no numba.
sim.experiments.lima.cycle defines a cycle, and model.cep.operator an operator.

Why it is fast.  Under skip-till-next-match, windows whose automata are in the same state do the
same from then on until they close.  So windows are kept in one list a state, the oldest first, and
lists only ever join.  An event matters if it opens or closes a window, or if the list of some
state waits for its type; all others are passed over in a loop of three comparisons, and enter the
skip ranges, counts and savepoints a run at a time.

Windows of a life (from deployment or a restore to a failure) are indexed from 0; a window's
number is its index + NUMBERED.  A place is a position in the stream, from 1; 0 is before the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

try:
    import numba
except ImportError:
    COMPILED = False

    def compiled(function: F) -> F:
        return function
else:
    COMPILED = True

    # Nothing is allocated here, so no references need counting, which would take half the time.
    OPTIONS: dict[str, Any] = {"cache": True, "_nrt": False}

    def compiled(function: F) -> F:
        jitted: F = numba.njit(**OPTIONS)(function)
        return jitted


Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.uint8]
Rows: TypeAlias = NDArray[np.int32]

# --- entries of `now` --------------------------------------------------------------------------
# Of the operator, in this life:
OLDEST = 0  # the oldest window open
OPENED = 1  # windows opened
NUMBERED = 2  # the number of window 0
ITERATION = 3  # x of x:y: how many events have triggered a complex event
LAST = 4  # place of the event consumed last
KEPT = 5  # events consumed that a replay needs
PENDING = 6  # the first complex event not yet acknowledged by a save
RUN_FROM, RUN_TO = 7, 8  # the skip range that may still grow; RUN_FROM is 0 if there is none
SKIPPED = 9  # events in skip ranges not yet sent
BOUND = 10  # the time at which a window opens or closes next
# Of the savepoint sent last, from which a restore starts:
SEED_X, SEED_WINDOW, TRIM = 11, 12, 13
TRIMMED = 14  # KEPT before its replay start
# Of the environment:
HEARD_X, HEARD_WINDOW = 15, 16  # the greatest number heard
ACKED = 17  # acknowledgements since the last save
THETA_X, THETA_WINDOW = 18, 19  # the first of them, or the last (CompiledSetting)
BACKUP, PEAK = 20, 21  # events in the upstream backup: now, at most
COUNTED = 22  # the index up to which events have been counted in BACKUP
MOST = 23  # windows open at once, at most
MADE, RANGES, SENT = 24, 25, 26  # rows used
REPORTED = 27  # ranges that have been sent
LEADER = 28  # the first complex event of a window kept, or one before it
SCALARS = 29

# --- columns of `windows`: the next window in the same state (-1: none), the time of its start, the
# place consumed before its opener, and KEPT then
FOLLOWING, START, BEFORE, KEPT_BEFORE = range(4)
# --- columns of `made`, the complex events: x of the number (with TRIGGERED, the place), window
# number, place of the trigger, index of the oldest window open then, was it passed on
X, WINDOW, PLACE, RETAINED, PASSED = range(5)
# --- columns of `ranges`
FROM, TO = range(2)
# --- columns of `sent`: place consumed last, savepoint, RANGES after it, is it a notice
AFTER, SENT_TRIM, SENT_X, SENT_WINDOW, SENT_RANGES, NOTICE = range(6)


ONE = np.uint64(1)
"""The hottest loop counts without a sign: numba need not ask for indices from the end there."""


class CompiledSetting(NamedTuple):
    """step_of: by type code, its step in the pattern, or the number of steps.  notice_every: 0
    for no notices.  pairs: number as published.  last: save for the last complex event
    acknowledged, not the first."""

    step_of: Ints
    pattern: Ints
    size: int
    slide: int
    interval: int
    skip: bool
    notice_every: int
    pairs: bool
    last: bool


class Tables(NamedTuple):
    """wanted: by type code, whether a window waits for it.  first: the oldest window in each state,
    -1 if none; one state more than the pattern has steps stays empty."""

    now: Ints
    wanted: Codes
    first: Ints
    windows: Ints
    made: Rows
    ranges: Rows
    sent: Rows


class Hand(NamedTuple):
    """Events on hand; places only if these are not index + 1 (a replay)."""

    types: Codes
    times: Ints
    places: Ints
    replay: bool


@compiled
def restore(tables: Tables, bound: int) -> None:
    """Reset the operator and start a life from the savepoint sent last.

    bound: the time of the first event, or before.
    """
    now = tables.now
    now[OLDEST] = now[OPENED] = 0
    now[NUMBERED] = now[SEED_WINDOW]
    now[ITERATION] = now[SEED_X] - 1
    now[LAST] = now[TRIM]
    now[KEPT] = now[TRIMMED] = 0
    now[PENDING] = now[LEADER] = now[MADE]
    now[RANGES] = now[REPORTED]
    now[RUN_FROM] = now[SKIPPED] = 0
    now[BOUND] = bound
    tables.first[:] = -1
    tables.wanted[:] = 0


@compiled
def advance(rules: CompiledSetting, tables: Tables, hand: Hand, at: int, end: int) -> int:
    """Push events `at` to before `end` (indices); gives where it stopped: at `end`, or before an
    event for which a table may be too short."""
    step_of, pattern, size, slide, interval, skip, notice_every, pairs, last = rules
    now, wanted, first, windows, made, ranges, sent = tables
    types, times, places, replay = hand
    steps = len(pattern)
    bound = now[BOUND]
    while at < end:
        begun = at
        stop = end
        if notice_every > 0:
            stop = min(end, at + notice_every - now[SKIPPED])
        cursor, limit = np.uint64(at), np.uint64(stop)
        while cursor < limit and times[cursor] < bound and wanted[types[cursor]] == 0:
            cursor += ONE
        at = int(np.int64(cursor))
        if at > begun:
            now[LAST] = places[at - 1] if replay else at
            if skip:
                if now[RUN_FROM] == 0:
                    now[RUN_FROM] = places[begun] if replay else begun + 1
                now[RUN_TO] = now[LAST]
                now[SKIPPED] += at - begun
            else:
                now[KEPT] += at - begun
            if at == stop:
                if notice_every > 0 and now[SKIPPED] >= notice_every:
                    _send(now, ranges, sent, at, len(places) - at if replay else -1, True)
                continue

        rows = now[OPENED] - now[OLDEST] + 2
        if (
            now[MADE] + rows > len(made)
            or now[RANGES] + rows > len(ranges)
            or now[SENT] + rows > len(sent)
        ):
            break
        if times[at] >= bound:
            _split(now, wanted, first, windows, pattern, times[at], size, slide)
            bound = now[BOUND]
        if now[RUN_FROM] > 0:
            _end_run(now, ranges)
        place = places[at] if replay else at + 1
        now[KEPT] += 1
        now[LAST] = place
        step = step_of[types[at]]
        group = first[step]
        at += 1
        if group < 0:
            continue
        target = step + 1
        if target == steps:
            target = 0
            row = now[MADE]
            _match(now, windows, made, group, place, pairs)
            ahead = len(places) - at if replay else -1
            _hear(now, windows, made, ranges, sent, row, at, ahead, interval, pairs, last)
        first[step] = -1
        wanted[pattern[step]] = 0
        first[target] = _joined(windows, group, first[target])
        wanted[pattern[target]] = 1
    return at


@compiled
def recover(
    rules: CompiledSetting, tables: Tables, backup: Hand, bound: int, failed: Ints, rounds: int
) -> int:
    """Restore and replay, over and over; gives where the last round stopped, as `advance` does.

    failed: a copy of `now` at the failure.
    """
    at = 0
    for _ in range(rounds):
        for entry in range(SCALARS):  # numba would allocate a copy to assign it whole
            tables.now[entry] = failed[entry]
        restore(tables, bound)
        at = advance(rules, tables, backup, 0, len(backup.places))
    return at


@compiled
def count(now: Ints, upto: int) -> None:
    """Count the events that are not a replay, up to index `upto`, into the backup."""
    now[BACKUP] += upto - now[COUNTED]
    now[COUNTED] = upto
    now[PEAK] = max(now[PEAK], now[BACKUP])


# --- the operator --------------------------------------------------------------------------------
@compiled
def _split(
    now: Ints,
    wanted: Codes,
    first: Ints,
    windows: Ints,
    pattern: Ints,
    time: int,
    size: int,
    slide: int,
) -> None:
    """Close and open windows as model.cep.windows.TimeWindows does."""
    oldest, opened = now[OLDEST], now[OPENED]
    while oldest < opened and time >= windows[oldest, START] + size:
        for state in range(len(pattern)):
            if first[state] == oldest:
                first[state] = windows[oldest, FOLLOWING]
                if first[state] < 0:
                    wanted[pattern[state]] = 0
                break
        oldest += 1
    if opened == 0 or time >= windows[opened - 1, START] + slide:
        windows[opened, FOLLOWING] = -1
        windows[opened, START] = time
        windows[opened, BEFORE] = now[LAST]
        windows[opened, KEPT_BEFORE] = now[KEPT]
        first[0] = _joined(windows, first[0], opened)
        wanted[pattern[0]] = 1
        opened += 1
    bound = windows[opened - 1, START] + slide
    if oldest < opened:
        bound = min(bound, windows[oldest, START] + size)
    now[BOUND] = bound
    now[OLDEST] = oldest
    now[OPENED] = opened
    now[MOST] = max(now[MOST], opened - oldest)


@compiled
def _joined(windows: Ints, one: int, other: int) -> int:
    """Two lists of windows as one, the oldest first."""
    if one < 0:
        return other
    if other < 0:
        return one
    if other < one:
        one, other = other, one
    head = one
    while other >= 0:
        after = windows[one, FOLLOWING]
        if after < 0 or after > other:
            windows[one, FOLLOWING] = other
            other = after
        one = windows[one, FOLLOWING]
    return head


@compiled
def _match(now: Ints, windows: Ints, made: Rows, window: int, place: int, pairs: bool) -> None:
    """Each window of a list produces a complex event, the oldest first."""
    now[ITERATION] += 1
    x = now[ITERATION] if pairs else place
    oldest, numbered, row = now[OLDEST], now[NUMBERED], now[MADE]
    while window >= 0:
        made[row, X] = x
        made[row, WINDOW] = window + numbered
        made[row, PLACE] = place
        made[row, RETAINED] = oldest
        row += 1
        window = windows[window, FOLLOWING]
    now[MADE] = row


@compiled
def _end_run(now: Ints, ranges: Rows) -> None:
    row = now[RANGES]
    ranges[row, FROM] = now[RUN_FROM]
    ranges[row, TO] = now[RUN_TO]
    now[RANGES] = row + 1
    now[RUN_FROM] = 0


# --- the environment -----------------------------------------------------------------------------
# at: index of the next event.  ahead: events of the replay still to come; -1: this is no replay.
@compiled
def _hear(
    now: Ints,
    windows: Ints,
    made: Rows,
    ranges: Rows,
    sent: Rows,
    row: int,
    at: int,
    ahead: int,
    interval: int,
    pairs: bool,
    last: bool,
) -> None:
    """Pass on and acknowledge the complex events of one iteration, from `row` on."""
    x = made[row, X]
    end, acked = now[MADE], now[ACKED]
    while row < end:
        window = made[row, WINDOW]
        fresh = x > now[HEARD_X] or (x == now[HEARD_X] and window > now[HEARD_WINDOW])
        made[row, PASSED] = fresh
        row += 1
        if fresh:
            now[HEARD_X] = x
            now[HEARD_WINDOW] = window
            if acked == 0 or last:
                now[THETA_X] = x
                now[THETA_WINDOW] = window
            acked += 1
            if acked == interval:
                acked = 0
                _save(now, windows, made, ranges, sent, at, ahead, pairs)
    now[ACKED] = acked


@compiled
def _save(
    now: Ints,
    windows: Ints,
    made: Rows,
    ranges: Rows,
    sent: Rows,
    at: int,
    ahead: int,
    pairs: bool,
) -> None:
    """save(A, theta), for theta and the complex events before it."""
    x, number = now[THETA_X], now[THETA_WINDOW]
    row = now[PENDING]
    while row < now[MADE] and (
        made[row, X] < x or (made[row, X] == x and made[row, WINDOW] <= number)
    ):
        row += 1
    if row == now[PENDING]:
        return
    now[PENDING] = row
    retained = made[row - 1, RETAINED]
    now[SEED_WINDOW] = retained + now[NUMBERED]
    if pairs:
        # The first complex event of the windows kept.  Here it is always one of the first window:
        # no younger window overtakes it, their automata would be in one state before.
        row = now[LEADER]
        while made[row, WINDOW] < now[SEED_WINDOW]:
            row += 1
        now[LEADER] = row
        now[SEED_X] = made[row, X]
    now[TRIM] = windows[retained, BEFORE]
    now[TRIMMED] = windows[retained, KEPT_BEFORE]
    _send(now, ranges, sent, at, ahead, False)


@compiled
def _send(now: Ints, ranges: Rows, sent: Rows, at: int, ahead: int, notice: bool) -> None:
    """A savepoint or a notice goes upstream; then the backup holds what a replay needs of the
    events pushed, and what of a replay is still to come."""
    if now[RUN_FROM] > 0:
        _end_run(now, ranges)
    if ahead < 0:
        count(now, at)
    now[BACKUP] = now[KEPT] - now[TRIMMED] + max(ahead, 0)
    now[REPORTED] = now[RANGES]
    now[SKIPPED] = 0
    row = now[SENT]
    sent[row, AFTER] = now[LAST]
    sent[row, SENT_TRIM] = now[TRIM]
    sent[row, SENT_X] = now[SEED_X]
    sent[row, SENT_WINDOW] = now[SEED_WINDOW]
    sent[row, SENT_RANGES] = now[RANGES]
    sent[row, NOTICE] = notice
    now[SENT] = row + 1
