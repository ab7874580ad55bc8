"""The compiled part of the kernel: one operator and its environment, event by event, in arrays.

Rule of this file: functions that sim.experiments.compiled compiles, and no others.  They share
their arrays and constants, so they stay in one file of more than 400 lines.
sim.experiments.lima.cycle defines a cycle, and model.cep.operator an operator.

Why it is fast.  Under skip-till-next-match, one run at a time (model.cep.one_run), windows whose
automata are in the same state do the same from then on until they close.  So windows are kept in
one list a state, the oldest first, and lists only ever join.  An event matters if it opens or
closes a window, or if the list of some state waits for its type; all others are passed over in a
loop of three comparisons, and enter the skip ranges, counts and savepoints a run at a time.  The
part that all complex events of a trigger share is written once, and a save looks at triggers, not
at complex events.

Windows of a life (from deployment or a restore to a failure) are indexed from 0; a window's
number is its index + NUMBERED.  A place is a position in the stream, from 1; 0 is before the first.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.experiments.compiled import compiled, inlined

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
PENDING = 6  # the first trigger after those that a save has acknowledged
RUN = 7  # place of the first event after the one kept or sent last; to LAST it is a skip range
SKIPPED = 8  # events in skip ranges not yet sent; counted for notices only
BOUND = 9  # the time at which a window opens or closes next
# Of the savepoint sent last, from which a restore starts:
SEED_X, SEED_WINDOW, TRIM = 10, 11, 12
TRIMMED = 13  # KEPT before its replay start
# Of the environment:
HEARD_X, HEARD_WINDOW = 14, 15  # the greatest number heard
ACKED = 16  # acknowledgements since the last save
THETA_X, THETA_WINDOW = 17, 18  # the first of them, or the last (BackupSettingCompiled)
BACKUP, PEAK = 19, 20  # events in the upstream backup: now, at most
COUNTED = 21  # the index up to which events have been counted in BACKUP
MOST = 22  # windows open at once, at most
TRIGGERS, MADE, RANGES, SENT = 23, 24, 25, 26  # rows used
REPORTED = 27  # ranges that have been sent
LIVED = 28  # triggers before this life
LEADER = 29  # the first trigger of a window kept, or one before it
SCALARS = 30

# --- columns of `windows`: the time of its start, the place consumed before its opener, KEPT then
START, BEFORE, KEPT_BEFORE = range(3)
# --- columns of `triggers`, the events that complete a match in one or more windows: x of the
# numbers (with TRIGGERED, the place), place, index of the oldest window open then, rows in `made`
# (from, to before), the first row that is passed on (those before it are duplicates)
X, PLACE, RETAINED, BEGIN, END, FRESH = range(6)
# --- columns of `ranges`
FROM, TO = range(2)
# --- columns of `sent`: place consumed last, savepoint, RANGES after it, is it a notice
AFTER, SENT_TRIM, SENT_X, SENT_WINDOW, SENT_RANGES, NOTICE = range(6)


ONE = np.uint64(1)
"""The hottest loop counts without a sign: numba need not ask for indices from the end there."""


class BackupSettingCompiled(NamedTuple):
    """after: by type code, the next one in the pattern, the first after the last.  open: windows
    that may be open at once.  notice_every: 0 for no notices.  pairs: number as published.  last:
    save for the last complex event acknowledged, not the first."""

    pattern: Codes
    after: Codes
    open: int
    size: int
    slide: int
    interval: int
    skip: bool
    notice_every: int
    pairs: bool
    last: bool


class BackupTables(NamedTuple):
    """first: by type code, the oldest window that waits for the type, -1 if none.  following: by
    window, the next one in the same state, -1 if none; lists are walked, so this is no column of
    `windows`, which would cost a multiplication a step.  made: the complex events' window numbers;
    in a trigger they rise."""

    now: Ints
    first: Ints
    following: Ints
    windows: Ints
    triggers: Rows
    made: Rows
    ranges: Rows
    sent: Rows


class Hand(NamedTuple):
    """Events on hand.  places: only if these are not index + 1 (a replay); one more than there are
    events, the last is that of the event after them."""

    types: Codes
    times: Ints
    places: Ints
    replay: bool


@compiled
def restore(tables: BackupTables, bound: int, place: int) -> None:
    """Reset the operator and start a life from the savepoint sent last.

    bound: the time of the first event, or before.  place: that of the first event.
    """
    now = tables.now
    now[OLDEST] = now[OPENED] = 0
    now[NUMBERED] = now[SEED_WINDOW]
    now[ITERATION] = now[SEED_X] - 1
    now[LAST] = now[TRIM]
    now[KEPT] = now[TRIMMED] = 0
    now[PENDING] = now[LIVED] = now[LEADER] = now[TRIGGERS]
    now[RANGES] = now[REPORTED]
    now[RUN] = place
    now[SKIPPED] = 0
    now[BOUND] = bound
    tables.first[:] = -1


@compiled
def advance(
    rules: BackupSettingCompiled, tables: BackupTables, hand: Hand, at: int, end: int
) -> int:
    """Push events `at` to before `end` (indices); gives where it stopped: at `end`, or before an
    event for which a table may be too short."""
    pattern, after, _, size, slide, interval, skip, notice_every, pairs, last_saved = rules
    now, first, following, windows, triggers, made, ranges, sent = tables
    types, times, places, replay = hand
    final = pattern[len(pattern) - 1]
    last, kept, run, row, bound = now[LAST], now[KEPT], now[RUN], now[RANGES], now[BOUND]
    while at < end:
        stop = min(end, at + _room(rules, tables, row))
        if stop == at:
            break
        if notice_every > 0:
            stop = min(stop, at + notice_every - now[SKIPPED])
        while at < stop:
            begun = at
            cursor, limit = np.uint64(at), np.uint64(stop)
            while cursor < limit and times[cursor] < bound and first[types[cursor]] < 0:
                cursor += ONE
            at = int(np.int64(cursor))
            if at > begun:
                last = places[at - 1] if replay else at
                if notice_every > 0:
                    now[SKIPPED] += at - begun
                if not skip:
                    kept += at - begun
                    run = last + 1
                if at == stop:
                    break
            if times[at] >= bound:
                _split(now, first, following, windows, pattern, times[at], size, slide, last, kept)
                bound = now[BOUND]
            row = _end_run(ranges, row, run, last)
            kept += 1
            last = places[at] if replay else at + 1
            kind = types[at]
            at += 1
            run = places[at] if replay else at + 1
            group = first[kind]
            if group < 0:
                continue
            if kind == final:
                now[LAST], now[KEPT], now[RANGES] = last, kept, row
                _match(now, following, triggers, made, group, last, pairs)
                ahead = len(types) - at if replay else -1
                _hear(now, windows, triggers, made, sent, at, ahead, interval, pairs, last_saved)
            first[kind] = -1
            first[after[kind]] = _joined(following, group, first[after[kind]])
        if notice_every > 0 and now[SKIPPED] >= notice_every:
            row = _end_run(ranges, row, run, last)
            run = places[at] if replay else at + 1
            now[LAST], now[KEPT], now[RANGES] = last, kept, row
            _send(now, sent, at, len(types) - at if replay else -1, True)
    now[LAST], now[KEPT], now[RANGES], now[RUN] = last, kept, row, run
    return at


@inlined
def _room(rules: BackupSettingCompiled, tables: BackupTables, row: int) -> int:
    """How many events can be pushed before a table may be too short.  row: ranges used."""
    now = tables.now
    produced = min(len(tables.made) - now[MADE], len(tables.sent) - now[SENT]) // (rules.open + 1)
    written = min(len(tables.triggers) - now[TRIGGERS], len(tables.ranges) - row - 1)
    room: int = max(0, min(produced, written))
    return room


@compiled
def recover(
    rules: BackupSettingCompiled,
    tables: BackupTables,
    backup: Hand,
    bound: int,
    failed: Ints,
    rounds: int,
) -> int:
    """Restore and replay, over and over; gives where the last round stopped, as `advance` does.

    failed: a copy of `now` at the failure.
    """
    at = 0
    for _ in range(rounds):
        for entry in range(SCALARS):  # numba would allocate a copy to assign it whole
            tables.now[entry] = failed[entry]
        restore(tables, bound, backup.places[0])
        at = advance(rules, tables, backup, 0, len(backup.types))
    return at


@inlined
def count(now: Ints, upto: int) -> None:
    """Count the events that are not a replay, up to index `upto`, into the backup."""
    now[BACKUP] += upto - now[COUNTED]
    now[COUNTED] = upto
    now[PEAK] = max(now[PEAK], now[BACKUP])


# --- the operator --------------------------------------------------------------------------------
@inlined
def _split(
    now: Ints,
    first: Ints,
    following: Ints,
    windows: Ints,
    pattern: Codes,
    time: int,
    size: int,
    slide: int,
    last: int,
    kept: int,
) -> None:
    """Close and open windows as model.cep.windows.TimeWindows does."""
    oldest, opened = now[OLDEST], now[OPENED]
    while oldest < opened and time >= windows[oldest, START] + size:
        for kind in pattern:
            if first[kind] == oldest:
                first[kind] = following[oldest]
                break
        oldest += 1
    if opened == 0 or time >= windows[opened - 1, START] + slide:
        following[opened] = -1
        windows[opened, START] = time
        windows[opened, BEFORE] = last
        windows[opened, KEPT_BEFORE] = kept
        first[pattern[0]] = _joined(following, first[pattern[0]], opened)
        opened += 1
    bound = windows[opened - 1, START] + slide
    if oldest < opened:
        bound = min(bound, windows[oldest, START] + size)
    now[BOUND] = bound
    now[OLDEST] = oldest
    now[OPENED] = opened
    now[MOST] = max(now[MOST], opened - oldest)


@inlined
def _joined(following: Ints, one: int, other: int) -> int:
    """Two lists of windows as one, the oldest first."""
    if one < 0:
        return other
    if other < 0:
        return one
    if other < one:
        one, other = other, one
    head = one
    while other >= 0:
        after = following[one]
        if after < 0 or after > other:
            following[one] = other
            other = after
        one = following[one]
    return head


@inlined
def _match(
    now: Ints, following: Ints, triggers: Rows, made: Rows, window: int, place: int, pairs: bool
) -> None:
    """Each window of a list produces a complex event, the oldest first."""
    now[ITERATION] += 1
    trigger, row, numbered = now[TRIGGERS], now[MADE], now[NUMBERED]
    triggers[trigger, X] = now[ITERATION] if pairs else place
    triggers[trigger, PLACE] = place
    triggers[trigger, RETAINED] = now[OLDEST]
    triggers[trigger, BEGIN] = row
    while window >= 0:
        made[row] = window + numbered
        row += 1
        window = following[window]
    triggers[trigger, END] = row
    now[TRIGGERS] = trigger + 1
    now[MADE] = row


@inlined
def _end_run(ranges: Rows, row: int, run: int, last: int) -> int:
    """Write the skip range that ends at `last`, if there is one; gives the rows used."""
    if run > last:
        return row
    ranges[row, FROM] = run
    ranges[row, TO] = last
    return row + 1


# --- the environment -----------------------------------------------------------------------------
# at: index of the next event.  ahead: events of the replay still to come; -1: this is no replay.
@inlined
def _hear(
    now: Ints,
    windows: Ints,
    triggers: Rows,
    made: Rows,
    sent: Rows,
    at: int,
    ahead: int,
    interval: int,
    pairs: bool,
    last: bool,
) -> None:
    """Pass on and acknowledge the complex events of the last trigger."""
    trigger = now[TRIGGERS] - 1
    x, row, end = triggers[trigger, X], triggers[trigger, BEGIN], triggers[trigger, END]
    if x <= now[HEARD_X]:
        while row < end and (x < now[HEARD_X] or made[row] <= now[HEARD_WINDOW]):
            row += 1
    triggers[trigger, FRESH] = row
    if row == end:
        return
    now[HEARD_X] = x
    now[HEARD_WINDOW] = made[end - 1]
    acked = now[ACKED]
    while row < end:
        upto = min(end, row + interval - acked)
        if acked == 0 or last:
            now[THETA_X] = x
            now[THETA_WINDOW] = made[upto - 1 if last else row]
        acked += upto - row
        row = upto
        if acked == interval:
            acked = 0
            _save(now, windows, triggers, made, sent, at, ahead, pairs)
    now[ACKED] = acked


@inlined
def _save(
    now: Ints,
    windows: Ints,
    triggers: Rows,
    made: Rows,
    sent: Rows,
    at: int,
    ahead: int,
    pairs: bool,
) -> None:
    """save(A, theta), for theta and the complex events before it."""
    x, number = now[THETA_X], now[THETA_WINDOW]
    trigger = now[PENDING]
    while trigger < now[TRIGGERS] and (
        triggers[trigger, X] < x
        or (triggers[trigger, X] == x and made[triggers[trigger, BEGIN]] <= number)
    ):
        trigger += 1
    if trigger == now[LIVED]:
        return
    now[PENDING] = trigger
    retained = triggers[trigger - 1, RETAINED]
    now[SEED_WINDOW] = retained + now[NUMBERED]
    if pairs:
        # The first trigger of a window kept.  Here it is always one of the first of them: no
        # younger window overtakes it, their automata would be in one state before.
        trigger = now[LEADER]
        while made[triggers[trigger, END] - 1] < now[SEED_WINDOW]:
            trigger += 1
        now[LEADER] = trigger
        now[SEED_X] = triggers[trigger, X]
    now[TRIM] = windows[retained, BEFORE]
    now[TRIMMED] = windows[retained, KEPT_BEFORE]
    _send(now, sent, at, ahead, False)


@inlined
def _send(now: Ints, sent: Rows, at: int, ahead: int, notice: bool) -> None:
    """A savepoint or a notice goes upstream; then the backup holds the pushed events that a replay
    needs, and the rest of a replay under way."""
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
