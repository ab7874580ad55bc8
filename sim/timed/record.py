"""The record of a timed run: the actions that took place, and the driver's counts.

Rule of this file: no computation (sim.timed.metrics); values alone, times in whole picoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from model.actions import Action, Deliver, Inject, Restart, Timeout
from model.core import Arrival, Input, NodeName, Received, Site, TimerFired
from model.results.simulation import Checkpoints
from sim.timed.failures import TimedOutage


class LogEntry(NamedTuple):
    """An action that took place: a crash, a restart, or a step, from the start of its service
    until its effects took place.  The sorted entries are a path of model.world.

    rank: 0 for a restart, 1 for a step or a crash.  what: a message, after its kind.
    """

    done_ps: int
    rank: int
    order: int
    began_ps: int
    served_ps: int
    action: Action
    what: tuple[str, Any]


def log_step(
    site: Site,
    times_ps: tuple[int, int, int],
    order: int,
    input_: Input | None,
    kind: str,
) -> LogEntry:
    """The entry of a step or restart.

    times_ps: began, served, done.  input_: None for a restart.  kind: the kind of the message.
    """
    node, (began, served, done) = site.name, times_ps
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
            kept = (0,) * len(site.files)  # a crash loses all writes without a sync
            action, what = Restart(node, kept=kept), ("restart", None)
    return LogEntry(done, int(input_ is not None), order, began, served, action, what)


class SeriesPoint(NamedTuple):
    """A point of the series, with the largest values since the last point.

    backup: events kept by all nodes together.  queues: messages that wait or are in service, one
    number for each crashable node.  memory: bytes held at this moment, one number for each node.
    """

    at_ps: int
    backup: int
    queues: tuple[int, ...]
    memory: tuple[int, ...]


class SentMessages(NamedTuple):
    """The number of messages, the events in them, their bytes, and the service that they ask
    for."""

    messages: int
    events: int
    bytes: int
    service_ps: int


class Asked(NamedTuple):
    """The work that the input asked of nodes and links, in picoseconds.

    until_ps: the time of the last input event.  service: by node that may crash, also after this
    time.  growing: the part of it that grows with the events: work for each that a node receives
    or sends, without savepoints, batches and other messages.  wire: the time for which messages
    occupy the link, by (sender, receiver), or by a host and "other hosts".  hosts: the service on
    each core of a host, in the mean.  sharing: the nodes that may have to wait for a core.
    """

    until_ps: int
    service: Mapping[NodeName, int]
    growing: Mapping[NodeName, int]
    wire: Mapping[tuple[NodeName, NodeName], int]
    hosts: Mapping[str, int] = {}
    sharing: frozenset[NodeName] = frozenset()


@dataclass(frozen=True, slots=True)
class TimedResult:
    """The result of a timed run.

    ended_ps: the time at which the last message was processed.  busy_ps: by node.  saves,
    saving_ps: writes to stable storage that were begun, and the time that they ask for.
    saved_bytes: of the writes of nodes to their own storage; others are messages to a store.
    backup_mean: the mean over time.  missed: crashes that did not happen, because the node was
    down, or because the protocol assumes single failures and was not at rest.  lost: messages to
    nodes that were down.  in_vain: events that were sent to nodes that were down, or that nodes had
    not processed when they crashed.  queued: the nodes whose queues the points have.
    memory_peak, memory_peaks: the most bytes in the memory of all nodes together, and of each, at
    the points and whenever the backup was larger than ever before.
    """

    events: int
    ended_ps: int
    notes: Mapping[str, int]
    traffic: Mapping[str, SentMessages]
    busy_ps: Mapping[NodeName, int]
    saves: int
    saving_ps: int
    saved_bytes: int
    outages: tuple[TimedOutage, ...]
    missed: int
    lost: int
    in_vain: int
    asked: Asked
    queued: tuple[NodeName, ...]
    points: tuple[SeriesPoint, ...]
    backup_peak: int
    backup_mean: float
    memory_peak: int
    memory_peaks: Mapping[NodeName, int]
    states: Mapping[NodeName, Any]
    durable: Mapping[NodeName, Any]
    checkpoints: Checkpoints | None = None
