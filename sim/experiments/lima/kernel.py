"""The kernel: a failure-recovery cycle of sim.experiments.lima.cycle at compiled speed, for
campaigns.

Rule of this file: tables, their growth and their results; sim.experiments.lima.kernel_loops
processes the events.  tests/families/upstream_backup/test_kernel.py compares the outcomes with
those of sim.experiments.lima.cycle, and so with the model.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.cep.numbering import PAIRS, Seed
from model.cep.savepoint import Savepoint
from model.errors import Invalid
from sim.experiments.lima import kernel_loops as loops
from sim.experiments.lima.cycle import (
    CODES,
    ComplexEvent,
    CycleOutcome,
    CycleSetting,
    EventArrays,
    Sent,
    Theta,
    check,
)
from sim.experiments.lima.kernel_loops import BackupSettingCompiled, BackupTables, Hand


@dataclass(frozen=True, slots=True)
class BackupRun:
    """A CycleOutcome in arrays, with columns as in sim.experiments.lima.kernel_loops.

    triggers: a row each event that completed a match.  made: the window number of each complex
    event.  sent: a row each savepoint or notice.  ranges: rows (from, to).
    Processor time: before_s of normal processing before the failure, recovery_s of restore and
    replay, after_s of what came then.
    """

    setting: CycleSetting
    times: NDArray[np.int64]
    triggers: NDArray[np.int32]
    made: NDArray[np.int32]
    before: int
    sent: NDArray[np.int32]
    ranges: NDArray[np.int32]
    replayed: NDArray[np.int64]
    backup: int
    peak: int
    windows: int
    before_s: float
    recovery_s: float
    after_s: float

    @property
    def passed_on(self) -> int:
        return int(self.passed_by_trigger.sum())

    @property
    def passed_by_trigger(self) -> NDArray[np.int32]:
        """How many complex events each trigger passed on."""
        return self.triggers[:, loops.END] - self.triggers[:, loops.FRESH]

    @property
    def saves(self) -> int:
        return len(self.sent) - int(self.sent[:, loops.NOTICE].sum())

    def outcome(self) -> CycleOutcome:
        """The same outcome in the words of the model."""
        return CycleOutcome(
            tuple(self._made()),
            self.before,
            tuple(self._sent()),
            tuple(self.replayed.tolist()),
            self.backup,
            self.peak,
            self.windows,
        )

    def _made(self) -> Iterator[ComplexEvent]:
        pairs = self.setting.numbering is PAIRS
        windows = self.made.tolist()
        for x, at, _, begin, end, fresh in self.triggers.tolist():
            for row, window in enumerate(windows[begin:end], begin):
                number = (x, window) if pairs else (int(self.times[at - 1]), 0, at, window, 0)
                yield ComplexEvent(number, at, row >= fresh)

    def _sent(self) -> Iterator[Sent]:
        begin = 0
        for after, trim, x, window, end, notice in self.sent.tolist():
            number = (x, window) if self.setting.numbering is PAIRS else ()
            savepoint = Savepoint(Seed(number, window), ((trim,) if trim else (),))
            ranges = tuple(
                (max((low,), savepoint.trim[0]), (high,))
                for low, high in self.ranges[begin:end].tolist()
                if high > trim
            )
            yield Sent(after, savepoint, ranges, bool(notice))
            begin = end


def run(stream: EventArrays, setting: CycleSetting, *, rounds: int = 1) -> BackupRun:
    """Run a cycle.  Raises Invalid for a cycle that cannot be run.

    rounds: how often to restore and replay, each time as if it were the first; the mean is
    measured.  One replay takes a few microseconds, and to call the compiled code takes as long.
    """
    check(stream, setting)
    if rounds < 1:
        raise Invalid(f"{rounds} rounds of recovery: give at least 1")
    count = len(stream.types)
    end = count if setting.fail_after is None else setting.fail_after
    machine = _Machine(stream, setting)
    clock = [time.process_time()]
    machine.restore()
    machine.advance(machine.all, 0, end)
    clock.append(time.process_time())
    now = machine.tables.now
    before = int(now[loops.MADE])
    replayed = np.zeros(0, np.int64)
    if setting.fail_after is None:
        clock += clock[-1:] * 2
    else:
        replay = machine.backup(end)
        replayed = replay.places[:-1]
        clock.append(time.process_time())
        machine.recover(replay, rounds)
        clock.append(time.process_time())
        machine.advance(machine.all, end, count)
    clock.append(time.process_time())
    begun, failed, reset, resumed, ended = clock
    return BackupRun(
        setting,
        stream.times,
        machine.tables.triggers[: now[loops.TRIGGERS]],
        machine.tables.made[: now[loops.MADE]],
        before,
        machine.tables.sent[: now[loops.SENT]],
        machine.tables.ranges[: now[loops.RANGES]],
        replayed,
        int(now[loops.BACKUP]),
        int(now[loops.PEAK]),
        int(now[loops.MOST]),
        failed - begun,
        (resumed - reset) / rounds,
        ended - resumed,
    )


class _Machine:
    """The tables of one run, and the operations on them."""

    def __init__(self, stream: EventArrays, setting: CycleSetting) -> None:
        self.types, self.times = map(np.ascontiguousarray, stream)
        count = len(self.types)
        pattern = np.array(setting.pattern, np.uint8)
        after = np.zeros(CODES, np.uint8)
        after[pattern] = np.roll(pattern, -1)
        self.rules = BackupSettingCompiled(
            pattern,
            after,
            min(count, setting.size // setting.slide + 1),
            setting.size,
            setting.slide,
            setting.interval,
            setting.skip,
            setting.notice_every or 0,
            setting.numbering is PAIRS,
            setting.theta is Theta.LAST,
        )
        self.first_time = int(self.times[0]) if count else 0
        span = int(self.times[-1]) - self.first_time if count else 0
        windows = min(count, span // setting.slide + 1)
        rows = count // 4 + 64  # untouched memory costs nothing
        # The allocator keeps one block for the next run.  Several would go back to the system, and
        # page faults would take a quarter of the time of each run.
        block = np.empty(16 * rows, np.int32)
        triggers, made, ranges, sent = np.split(block, [6 * rows, 8 * rows, 10 * rows])
        self.tables = BackupTables(
            now=np.zeros(loops.SCALARS, np.int64),
            first=np.full(CODES, -1),
            following=np.empty(windows, np.int64),
            windows=np.empty((windows, 3), np.int64),
            triggers=triggers.reshape(rows, 6),
            made=made,
            ranges=ranges.reshape(rows, 2),
            sent=sent.reshape(rows, 6),
        )
        self.tables.now[[loops.SEED_X, loops.SEED_WINDOW]] = 1
        self.all = Hand(self.types, self.times, np.zeros(0, np.int64), False)

    def restore(self) -> None:
        loops.restore(self.tables, self.first_time, 1)

    def advance(self, hand: Hand, at: int, end: int) -> None:
        """Push the events from index `at` to before `end`, with longer tables as needed."""
        while (at := loops.advance(self.rules, self.tables, hand, at, end)) < end:
            tables = self.tables
            self.tables = tables._replace(
                triggers=_longer(tables.triggers),
                made=_longer(tables.made),
                ranges=_longer(tables.ranges),
                sent=_longer(tables.sent),
            )
        if not hand.replay:
            loops.count(self.tables.now, end)

    def recover(self, backup: Hand, rounds: int) -> None:
        failed = self.tables.now.copy()
        at = loops.recover(self.rules, self.tables, backup, self.first_time, failed, rounds)
        self.advance(backup, at, len(backup.types))

    def backup(self, upto: int) -> Hand:
        """The upstream backup, the last event pushed being `upto`."""
        now = self.tables.now
        low, high = self.tables.ranges[: now[loops.REPORTED]].T
        trimmed = bisect_right(high, now[loops.TRIM])
        low, high = low[trimmed:], high[trimmed:]
        places = np.arange(now[loops.TRIM] + 1, upto + 1)
        begun = np.searchsorted(low, places, side="right")  # ranges that begin before or there
        ended = np.searchsorted(high, places)
        places = places[begun == ended]
        after = np.append(places, upto + 1)
        return Hand(self.types[places - 1], self.times[places - 1], after, True)


def _longer(table: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.concatenate([table, np.empty_like(table)])
