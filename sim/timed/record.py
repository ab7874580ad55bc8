"""What a timed run leaves: the actions that took place, and what the driver counted.

Rule of this file: values alone, times in whole picoseconds; what they come to is sim.timed.metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from model.core import Arrival, Input, NodeName, Received, TimerFired
from model.world import Action, Deliver, Inject, Restart, Timeout
from sim.timed.failures import Outage


class LogEntry(NamedTuple):
    """An action that took place: a step, from the start of its service until its effects took
    place, a crash or a restart.  Sorted, they are a path of model.world.

    rank: 0 a restart, 1 a step, 2 a crash.  what: the kind of message and the message.
    """

    done_ps: int
    rank: int
    order: int
    began_ps: int
    served_ps: int
    action: Action
    what: tuple[str, Any]


def log_step(
    node: NodeName,
    times_ps: tuple[int, int, int],
    order: int,
    input_: Input | None,
    kind: str,
) -> LogEntry:
    """times_ps: began, served, done.  input_: None for a restart.  kind: of the message."""
    began, served, done = times_ps
    action: Action
    what: tuple[str, Any]
    match input_:
        case Received(sender, message):
            action, what = Deliver(node, sender), (kind, message)
        case TimerFired(timer):
            action, what = Timeout(node, timer), ("timer", timer)
        case Arrival() as arrival:
            action, what = Inject(node, arrival), ("input", arrival)
        case None:
            action, what = Restart(node), ("restart", None)
    return LogEntry(done, int(input_ is not None), order, began, served, action, what)


class Sample(NamedTuple):
    """backup: events kept by all nodes together; queues: messages that wait or are in service, a
    crashable node each; of both the most since the last point."""

    at_ps: int
    backup: int
    queues: tuple[int, ...]


class Traffic(NamedTuple):
    """Messages sent, the events in them, their bytes, and the service time that they ask for."""

    messages: int
    events: int
    bytes: int
    service_ps: int


@dataclass(frozen=True, slots=True)
class TimedResult:
    """What happened.  ended_ps: when the last message was dealt with.  busy_ps: by node.  saves,
    saving_ps: writes to stable storage that were begun, and the time that they ask for.
    backup_mean: over time.  missed: crashes that did not happen: the node was down, or the protocol
    assumes single failures and was not at rest.  lost: messages to nodes that
    were.  queued: whose queues the points have."""

    events: int
    ended_ps: int
    notes: Mapping[str, int]
    traffic: Mapping[str, Traffic]
    busy_ps: Mapping[NodeName, int]
    saves: int
    saving_ps: int
    outages: tuple[Outage, ...]
    missed: int
    lost: int
    queued: tuple[NodeName, ...]
    points: tuple[Sample, ...]
    backup_peak: int
    backup_mean: float
    states: Mapping[NodeName, Any]
    durable: Mapping[NodeName, Any]
