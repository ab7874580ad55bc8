"""Failures: the plan when which nodes crash, and the course of each crash.

Rule of this file: no event count or random point in a plan; a plan is data in picoseconds.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, repeat, takewhile
from typing import Annotated, Any, NamedTuple

from pydantic import Field, model_validator

from model.core import NodeName
from model.results.simulation import CrashCourse
from sim.timed.costs import PS, None_or_more, ScenarioTable, Some, picoseconds
from sim.timed.detector import FailureKind


class FailureTable(ScenarioTable):
    """Crashes of nodes, together; when is one of at_s, at_event, random and mean_between_s."""

    nodes: Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = ()
    """Operators that crash at once; they are one fault if they are a failure group."""
    host: str | None = None
    """In place of nodes: all operators on this host of [costs.hosts] crash at once."""
    kind: FailureKind | None = None
    """The failure, which decides how it is detected.  process: processes end, and their connections
    break; host: a host is gone, and no connection breaks; pause: processes are suspended for
    `pause_s`.  Without it: host with the key `host`, and process otherwise."""
    pause_s: Some | None = None
    """With kind = "pause": the time until the nodes wake.  If they were taken for crashed before
    that, they do nothing more."""
    at_s: None_or_more | None = None
    """At this time from the start."""
    at_event: Annotated[int, Field(ge=1)] | None = None
    """As the n-th input event, from 1, is handed out; all sources are counted together."""
    random: bool = False
    """At a point of the scenario's seed between the first and the last input event."""
    mean_between_s: Some | None = None
    """At points of the scenario's seed up to the last input event, with exponential gaps of this
    mean; the rate that `asif simulate --study` goes by."""
    within_s: Some | None = None
    """Each of these crashes comes later, by a time of the scenario's seed below this: with the
    interval of checkpoints here, a crash may come at any of their phases."""
    times: Annotated[int, Field(ge=1)] = 1
    """The number of such crashes."""
    every_s: Some | None = None
    """From one of several crashes to the next."""
    again_after_s: None_or_more | None = None
    """Each node crashes once more, so long after its restart, which is usually during its
    recovery."""
    restart_s: Annotated[tuple[None_or_more, ...], Field(strict=False)] = ()
    """For each of the nodes: from the detection to the restart; without it, and after a second
    crash, as [detector] says."""
    restart_quantiles_s: Annotated[tuple[None_or_more, ...], Field(strict=False)] = ()
    """In place of restart_s: each node's time is drawn from this distribution, given by its
    shortest time, its longest one and any number of quantiles between them, at equal shares."""

    @model_validator(mode="after")
    def _nodes_or_host(self) -> FailureTable:
        if bool(self.nodes) == (self.host is not None):
            raise ValueError("say who crashes: give one of nodes and host")
        if self.host is not None and self.restart_s:
            raise ValueError("restart_s goes with nodes; give restart_quantiles_s, or the nodes")
        return self

    @model_validator(mode="after")
    def _length_of_pause(self) -> FailureTable:
        if (self.kind == "pause") != (self.pause_s is not None):
            raise ValueError('kind = "pause" and pause_s go together: give both or neither')
        return self

    @model_validator(mode="after")
    def _one_restart(self) -> FailureTable:
        quantiles = self.restart_quantiles_s
        if quantiles and self.restart_s:
            raise ValueError("give one of restart_s and restart_quantiles_s")
        if len(quantiles) == 1 or list(quantiles) != sorted(quantiles):
            raise ValueError(
                "restart_quantiles_s: give two times or more, none below the one before"
            )
        return self

    @model_validator(mode="after")
    def _one_when(self) -> FailureTable:
        moments = (self.at_s, self.at_event, self.mean_between_s)
        if sum(one is not None for one in moments) + self.random != 1:
            raise ValueError(
                "say when: give one of at_s, at_event, random = true and mean_between_s"
            )
        if self.mean_between_s is not None and self.times > 1:
            raise ValueError("mean_between_s is a rate without an end; leave out times")
        if self.within_s is not None and self.at_s is None and self.at_event is None:
            raise ValueError("within_s goes with at_s or at_event; the others are random already")
        if (self.times > 1) != (self.every_s is not None):
            raise ValueError("times above 1 and every_s go together: give both or neither")
        if len(set(self.nodes)) < len(self.nodes):
            raise ValueError("nodes: a node is named twice")
        if self.restart_s and len(self.restart_s) != len(self.nodes):
            raise ValueError("restart_s: give one time for each of the nodes")
        return self


class TimedCrash(NamedTuple):
    """Crashes to come.  again_ps: the time from a restart to one more crash; None: no more.
    restart_ps: for each node, from the detection to the restart; (): as the detector says.
    pause_ps: of a pause, the time until the nodes wake."""

    at_ps: int
    nodes: tuple[NodeName, ...]
    again_ps: int | None = None
    restart_ps: tuple[int, ...] = ()
    kind: FailureKind = "process"
    pause_ps: int | None = None


def plan_crashes(
    failures: Sequence[FailureTable], times_ps: Sequence[int], seed: int
) -> tuple[TimedCrash, ...]:
    """The planned crashes in order.  times_ps: the times of the input events, in order."""
    return tuple(sorted(_plan_failures(failures, times_ps, seed), key=lambda plan: plan[:2]))


def _plan_failures(
    failures: Sequence[FailureTable], times_ps: Sequence[int], seed: int
) -> Iterator[TimedCrash]:
    for number, failure in enumerate(failures):
        chance = random.Random(f"{seed}: failure {number}")
        for at_ps in _moments(failure, times_ps, chance):
            yield plan_crash(failure, at_ps, chance)


def _moments(
    failure: FailureTable, times_ps: Sequence[int], chance: random.Random
) -> Iterator[int]:
    """The times of the crashes, in picoseconds."""
    if failure.mean_between_s is not None:
        rate = 1 / (failure.mean_between_s * PS)
        gaps = (chance.expovariate(rate) for _ in repeat(None))
        yield from takewhile(lambda at: at <= times_ps[-1], map(round, accumulate(gaps)))
        return
    if failure.at_s is not None:
        first = picoseconds(failure.at_s)
    elif failure.at_event is not None:
        first = times_ps[failure.at_event - 1]
    else:
        first = chance.randint(times_ps[0], times_ps[-1])
    within = picoseconds(failure.within_s or 0)
    for turn in range(failure.times):
        later = chance.randrange(within) if within else 0
        yield first + later + turn * picoseconds(failure.every_s or 0)


def plan_crash(failure: FailureTable, at_ps: int, chance: random.Random) -> TimedCrash:
    """A crash of the failure's nodes at this time; chance draws their restarts, if they vary."""
    again, quantiles = failure.again_after_s, failure.restart_quantiles_s
    restarts = failure.restart_s
    if quantiles:
        restarts = tuple(_quantile(quantiles, chance.random()) for _ in failure.nodes)
    return TimedCrash(
        at_ps,
        failure.nodes,
        None if again is None else picoseconds(again),
        tuple(map(picoseconds, restarts)),
        failure.kind or "process",
        None if failure.pause_s is None else picoseconds(failure.pause_s),
    )


def _quantile(quantiles: Sequence[float], share: float) -> float:
    """The time below which this share of the distribution is, straight between quantiles."""
    at, part = divmod(share * (len(quantiles) - 1), 1)
    low, high = quantiles[int(at)], quantiles[int(at) + 1]
    return low + part * (high - low)


@dataclass(slots=True)
class TimedOutage:
    """A crash and its course; a time is None if this never happened (or another crash came first).

    reached: the progress of the node before the crash (model.core.Gauges); None: not known.
    job: of the node (sim.timed.network.TimedNode).

    detected: by the failure detector.  restarted: the node runs again, without its state.
    restored: the node has its state again (its note says so; in a protocol without this note, the
    node begins to process events).  restoring_done: that step is done.  replayed: after that, its
    progress is the same as before.
    caught_up: the last event is done that was older than usual when the node began with it
    (sim.timed.ages).  known: the run knows it when an event of each sender is on time, and done.

    If another node with the same job takes over, it has replayed when it is as far; then nobody
    waits for the restart, and the other node has to catch up.

    server: who has replayed and does the job now.  behind: the senders of events (by job) whose
    last one was older than usual, or who have sent none since.  late: the last event that was older
    was done.  oldest: by sender, the hand-out of the oldest event after the restoring, and the
    age that is usual then.  again: the number of events after the restoring that were handed out
    before the crash.
    """

    node: NodeName
    crashed_ps: int
    detected_ps: int
    reached: Any = None
    job: NodeName = ""
    restarted_ps: int | None = None
    restored_ps: int | None = None
    restoring_done_ps: int | None = None
    replayed_ps: int | None = None
    caught_up_ps: int | None = None
    known_ps: int | None = None
    server: NodeName | None = None
    behind: set[NodeName] = field(default_factory=set)
    late_ps: int | None = None
    oldest: dict[NodeName, tuple[int, int]] = field(default_factory=dict)
    again: int = 0

    def serve(self, node: NodeName, senders: Iterable[NodeName]) -> None:
        """The node has replayed; it has caught up when the events of all senders are on time."""
        self.server, self.behind = node, set(senders)

    def serve_again(self, done: int) -> None:
        """A node that processes no event runs again then, and nothing is late by it any more."""
        self.restored_ps = self.restoring_done_ps = self.replayed_ps = done
        self.caught_up_ps = self.known_ps = done

    def catch_up(self, done: int) -> None:
        """No event is late any more with the step that is done then; the last late one decides."""
        if self.server is not None and self.replayed_ps is not None and self.caught_up_ps is None:
            self.caught_up_ps = max(self.replayed_ps, self.late_ps or 0)
            self.known_ps = done

    def forget_later(self, now: int) -> None:
        """The server crashes now: phases that would have ended later never end.

        An outage that goes on as the next one leaves no lateness behind: some of its events were
        to be done later.
        """
        if (self.restoring_done_ps or 0) > now:
            self.restored_ps = self.restoring_done_ps = None
        if (self.replayed_ps or 0) > now:
            self.replayed_ps = None
        if self.known_ps is None or self.known_ps > now:
            self.caught_up_ps = self.known_ps = self.server = self.late_ps = None
            self.behind, self.oldest, self.again = set(), {}, 0

    def is_reached(self, progress: Any) -> bool:
        """Is this at least the progress before the crash?"""
        if self.reached is None or progress is None:
            return self.reached is None
        if isinstance(progress, tuple):
            return all(now >= then for now, then in zip(progress, self.reached, strict=True))
        return bool(progress >= self.reached)

    def course(
        self, cut_off: bool = False, expected_catch_up_s: float | None = None
    ) -> CrashCourse:
        """The times and the phases between them, in seconds, and the findings of sim.timed.load."""
        again, restored = self.restarted_ps, self.restored_ps
        if restored is not None and (again is None or restored < again):
            again = self.detected_ps
        return CrashCourse(
            node=self.node,
            crashed_s=self.crashed_ps / PS,
            detected_s=self.detected_ps / PS,
            restarted_s=_between(0, self.restarted_ps),
            restored_s=_between(0, self.restored_ps),
            replayed_s=_between(0, self.replayed_ps),
            caught_up_s=_between(0, self.caught_up_ps),
            detection_s=_between(self.crashed_ps, self.detected_ps),
            restart_s=_between(self.detected_ps, again),
            redirection_s=_between(again, self.restored_ps),
            replay_s=_between(self.restored_ps, self.replayed_ps),
            catch_up_s=_between(self.replayed_ps, self.caught_up_ps),
            recovery_s=_between(self.crashed_ps, self.caught_up_ps),
            cut_off=cut_off,
            expected_catch_up_s=expected_catch_up_s,
        )


def recoveries(outages: Sequence[TimedOutage]) -> Iterator[tuple[int, int | None]]:
    """The recoveries: (time of the crash, time when the node had caught up, None if it never had).

    A further crash of a node that has not caught up belongs to the same recovery.
    """
    crashed: dict[NodeName, int] = {}
    for outage in outages:
        start = crashed.setdefault(outage.node, outage.crashed_ps)
        if outage.caught_up_ps is not None:
            del crashed[outage.node]
            yield start, outage.caught_up_ps
    for start in crashed.values():
        yield start, None


def _between(start: int | None, end: int | None) -> float | None:
    return None if start is None or end is None else (end - start) / PS
