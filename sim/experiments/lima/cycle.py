"""One failure-recovery cycle of one operator, as in Lima et al., Section IV, run on the model.

Rule of this file: the execution environment only: it keeps the upstream backup, hears and
acknowledges complex events, and decides when to save and when to fail.  The operator is that of
model.protocols.upstream_backup.savepoints.  sim.experiments.lima.kernel is the same for a million
events, and a test compares the two.

The environment.  Each event enters the upstream backup and is pushed.  Complex events are popped
at once.  A complex event whose number is not greater than all numbers before is a duplicate and is
discarded; any other is passed on and acknowledged.  With each `interval`-th acknowledgement
save(A, theta) is called for one of those acknowledged since the last call (Theta), and its result
is sent upstream.
The failure resets the operator alone: its neighbours know the numbers received and the
acknowledgements that wait.  The last savepoint sent is restored, the backup is replayed, and the
input goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.cep.numbering import PAIRS, TRIGGERED, Numbering
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.savepoint import Savepoint
from model.cep.skips import Ranges, covers
from model.cep.windows import TimeWindows
from model.errors import Invalid
from model.events import NOTHING, SN, Body, Event
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
    Scheme,
    Skipping,
    notice,
    origin,
    push,
    restore,
    save,
)

CODES = 256
"""How many type codes there are."""
BLOCK = 2**16
"""How many events are checked at a time: one array of all answers costs more than the check."""


class EventArrays(NamedTuple):
    """Events by position: type codes and times (time units, never decreasing)."""

    types: NDArray[np.uint8]
    times: NDArray[np.int64]


class Theta(Enum):
    """The complex event that save(A, theta) is called for, of those acknowledged since the last
    call.  The last never keeps more of the backup; both are safe, as all are acknowledged.
    """

    FIRST = "the first, as Section IV says"
    LAST = "the last, the newest that save may be called for"


@dataclass(frozen=True, slots=True)
class CycleSetting:
    """A cycle's parameters.

    pattern: distinct type codes, a sequence searched under skip-till-next-match, one run at a time
    (model.cep.one_run).
    size, slide: of time windows, in time units (model.cep.windows.TimeWindows, anchored).
    interval: S_i, the acknowledgements between two savepoints.  fail_after: the failure comes
    when so many events have been processed; None: no failure.  skip: collect skip ranges.
    notice_every: send a skip notice after this number of skipped events (Section IV, last
    paragraph); None: skip ranges travel with savepoints only.  numbering: PAIRS, as published, or
    TRIGGERED, the corrected one.  theta: which of the acknowledged complex events save is called
    for (Section IV: the first).
    """

    pattern: tuple[int, ...]
    size: int
    slide: int
    interval: int = 8
    fail_after: int | None = None
    skip: bool = True
    notice_every: int | None = None
    numbering: Numbering = TRIGGERED
    theta: Theta = Theta.FIRST

    def __post_init__(self) -> None:
        TimeWindows(self.size, self.slide)
        if not self.pattern or len(set(self.pattern)) < len(self.pattern):
            raise Invalid(f"pattern {self.pattern}: give one or more event types, all distinct")
        if not (min(self.pattern) >= 0 and max(self.pattern) < CODES):
            raise Invalid(f"pattern {self.pattern}: type codes are 0 to {CODES - 1}")
        if self.interval < 1:
            raise Invalid(f"save interval {self.interval}: it must be at least 1")
        if self.notice_every is not None and self.notice_every < 1:
            raise Invalid(f"notice every {self.notice_every} events: it must be at least 1")
        if self.notice_every is not None and not self.skip:
            raise Invalid("notices without skip ranges: set skip, or leave out notice_every")
        if self.numbering not in (PAIRS, TRIGGERED):
            raise Invalid(
                f"numbering {self.numbering.name!r}: a cycle runs with pairs or triggered"
            )


class ComplexEvent(NamedTuple):
    """A complex event: its number, the position of the event that triggered it, and whether it
    was passed on (no duplicate)."""

    sn: SN
    at: int
    passed_on: bool


class Sent(NamedTuple):
    """The message upstream after the event at position `after`: a savepoint, or the last one again
    with a skip notice."""

    after: int
    savepoint: Savepoint
    ranges: Ranges
    notice: bool


class CycleOutcome(NamedTuple):
    """The outcome of a cycle.  Positions start at 1.

    before: how many of `made` came before the failure.  replayed: positions of the events in the
    upstream backup at the failure.  backup, peak: events in it at the end, and at most.
    windows: open at once, at most.
    """

    made: tuple[ComplexEvent, ...]
    before: int
    sent: tuple[Sent, ...]
    replayed: tuple[int, ...]
    backup: int
    peak: int
    windows: int


def check(stream: EventArrays, setting: CycleSetting) -> None:
    """Raises Invalid unless `setting` can be run on `stream`."""
    types, times = stream
    if len(types) != len(times):
        raise Invalid(f"stream: {len(types)} types and {len(times)} times; one each an event")
    if types.dtype != np.uint8 or times.dtype != np.int64:
        raise Invalid(f"stream: {types.dtype} types, {times.dtype} times; give uint8 and int64")
    for begin in range(0, len(times), BLOCK):
        block = times[begin : begin + BLOCK + 1]
        late = block[1:] < block[:-1]
        if late.any():
            at = begin + int(late.argmax()) + 2
            raise Invalid(f"stream: event {at} is earlier than the one before it")
    if setting.fail_after is not None and not 0 <= setting.fail_after <= len(types):
        raise Invalid(f"failure after {setting.fail_after} events: there are 0 to {len(types)}")


def run_cycle(stream: EventArrays, setting: CycleSetting) -> CycleOutcome:
    """Run a cycle on the model, slowly.  Raises Invalid for a cycle that cannot be run."""
    check(stream, setting)
    types, times = (array.tolist() for array in stream)
    events = [
        Event((at,), Body(time, str(type_), (at,)))
        for at, (type_, time) in enumerate(zip(types, times, strict=True), 1)
    ]
    environment = _Environment(setting)
    if setting.fail_after is None:
        environment.feed(events)
        return environment.outcome((), len(environment.made))
    environment.feed(events[: setting.fail_after])
    before = len(environment.made)
    replayed = environment.recover()
    environment.feed(events[setting.fail_after :])
    return environment.outcome(replayed, before)


class _Environment:
    """The moving parts of a cycle."""

    def __init__(self, setting: CycleSetting) -> None:
        skipping = Skipping.PER_EDGE if setting.skip else Skipping.OFF
        self.setting = setting
        self.scheme = Scheme(setting.numbering, skipping)
        self.windows = TimeWindows(setting.size, setting.slide)
        self.operator = Operator(one_run(*map(str, setting.pattern)), self.windows)
        self.savepoint = origin(self.scheme, 1)
        self.state = restore(self.scheme, self.savepoint)
        self.backup: list[Event] = []
        self.heard: SN = NOTHING
        self.acked: list[SN] = []
        self.made: list[ComplexEvent] = []
        self.sent: list[Sent] = []
        self.peak = self.most = 0

    def feed(self, events: Sequence[Event]) -> None:
        for event in events:
            self.backup.append(event)
            self.peak = max(self.peak, len(self.backup))
            self._push(event)

    def recover(self) -> tuple[int, ...]:
        """Reset, restore and replay: the positions of the events replayed."""
        self.state = restore(self.scheme, self.savepoint)
        replay = tuple(self.backup)
        for event in replay:
            self._push(event)
        return tuple(event.sn[0] for event in replay)

    def outcome(self, replayed: tuple[int, ...], before: int) -> CycleOutcome:
        made, sent = tuple(self.made), tuple(self.sent)
        return CycleOutcome(made, before, sent, replayed, len(self.backup), self.peak, self.most)

    def _push(self, event: Event) -> None:
        self.state, produced = push(self.operator, self.scheme, self.state, 0, event)
        self.most = max(self.most, len(self.state.records))
        every = self.setting.notice_every
        if every is not None and self.state.skipped >= every:
            sent = notice(self.scheme, self.windows, self.state, self.savepoint)
            self._send(event, *sent, is_notice=True)
        for theta in produced:
            fresh = theta.sn > self.heard
            self.made.append(ComplexEvent(theta.sn, theta.body.data[-1].data[0], fresh))
            if fresh:
                self.heard = theta.sn
                self.acked.append(theta.sn)
            if len(self.acked) == self.setting.interval:
                acked = self.acked[0 if self.setting.theta is Theta.FIRST else -1]
                saved = save(self.scheme, self.windows, self.state, acked)
                self.acked.clear()
                if saved is not None:
                    self._send(event, *saved, is_notice=False)

    def _send(
        self,
        event: Event,
        state: NumberedOperator,
        savepoint: Savepoint,
        skips: tuple[Ranges, ...],
        *,
        is_notice: bool,
    ) -> None:
        (ranges,) = skips
        self.state, self.savepoint = state, savepoint
        self.sent.append(Sent(event.sn[0], savepoint, ranges, is_notice))
        (trim,) = savepoint.trim
        self.backup = [e for e in self.backup if e.sn > trim and not covers(ranges, e.sn)]
