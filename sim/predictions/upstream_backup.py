"""The counts of a run of upstream backup in micro-batches, given its batches and its crashes.

Rule of this file: it orders the actions of model.play as an engine does that works in batches, and
counts; the protocol decides the effect of an action.  No time passes here.

One operator between a source and a sink.  For each batch, in this order: the events up to its end
have arrived at the source; the operator's acknowledgements of the batch before reach the source
(acknowledgements lag by one batch); the operator takes the events; the sink takes the operator's
outputs; the operator takes the sink's acknowledgements.  A crash of the operator loses the messages
that are on their way to it and from it.  Lima et al., Sections II-B and III.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from model.actions import Deliver, Restart
from model.core import DISCARDED, REPLAYED, Arrival, Inputs, NodeName, Role, Scope
from model.events import Body, Event
from model.graph import Graph
from model.play import Play
from model.protocol import Protocol


class BackupPoint(StrEnum):
    """Where in a batch the operator may crash; an engine's steps in between change nothing here."""

    PLANNED = "planned"
    """The events of the batch have arrived; the batch before is not acknowledged."""
    ACKED = "acked"
    """The batch before is acknowledged; the operator has no event of this batch."""
    PROCESSED = "processed"
    """The operator has taken the events; the sink has none of their outputs."""
    TAKEN = "taken"
    """The sink has taken the outputs; its acknowledgements have not reached the operator."""
    SAVED = "saved"
    """The operator has made its savepoints; they are on their way to the source."""


class Incarnation(NamedTuple):
    """One life of the operator.  ends: the number of the last event of each batch, in order.
    crash: where the operator crashes in the last of the batches; None: the operator does not."""

    ends: tuple[int, ...]
    crash: BackupPoint | None = None


class PredictedCounts(NamedTuple):
    """outputs: that the sink passed on.  replayed: events in the backup, at each restart.  handed:
    events that the operator received, in each incarnation.  discarded: duplicates that the sink
    dropped.  peak, left: most events in the backup at a time, and those in the backup at the end.
    trimmed: the number up to which the source has trimmed."""

    outputs: tuple[Body, ...]
    replayed: tuple[int, ...]
    handed: tuple[int, ...]
    discarded: int
    peak: int
    left: int
    trimmed: int


def predict(
    protocol: Protocol,
    graph: Graph,
    arrivals: Sequence[Arrival],
    incarnations: Sequence[Incarnation],
) -> PredictedCounts:
    """The counts of a run of a chain source -> operator -> sink, given its batches and crashes."""
    run = BatchedRun(protocol, graph, arrivals, len(incarnations))
    for number, (ends, crash) in enumerate(incarnations):
        run.begin(restart=number > 0)
        for at, end in enumerate(ends):
            last = at == len(ends) - 1
            run.batch(end, first=at == 0, crash=crash if last else None)
        if crash is not None and not ends:
            run.crash()
    return run.result()


class BatchedRun:
    """The world of one run, and the counts in it."""

    def __init__(
        self, protocol: Protocol, graph: Graph, arrivals: Sequence[Arrival], incarnations: int
    ):
        source = next(name for name, _ in graph.nodes if not graph.preds(name))
        inputs = ((source, Inputs((), len(arrivals))),)
        self.play = Play(protocol, Scope(graph, inputs, crashes=incarnations))
        by_role = {site.role: site.name for site in self.play.system.deployment.sites}
        self.source, self.operator, self.sink = (
            by_role[role] for role in (Role.SOURCE, Role.OPERATOR, Role.SINK)
        )
        self.coming = iter(arrivals)
        self.replayed: list[int] = []
        self.handed: list[int] = []
        self.peak = 0

    def begin(self, restart: bool) -> None:
        """Start the operator; at a restart it receives its savepoint, and its replay begins."""
        self.handed.append(0)
        if not restart:
            return
        before = self.play.notes[self.source, REPLAYED.name]
        self.play.do(Restart(self.operator))
        self.all(self.source, self.operator)
        self.play.do(Deliver(self.operator, self.source))
        self.replayed.append(self.play.notes[self.source, REPLAYED.name] - before)

    def batch(self, end: int, first: bool, crash: BackupPoint | None) -> None:
        """Run a batch up to its crash point, or to its end."""
        for point in BackupPoint:
            self.part(point, end, first)
            if point is crash:
                self.crash()
                return

    def part(self, point: BackupPoint, end: int, first: bool) -> None:
        """Do the actions before `point` in a batch.  first: does no other precede it?"""
        match point:
            case BackupPoint.PLANNED:
                self.arrive(end)
            case BackupPoint.ACKED:
                if not first:
                    self.all(self.source, self.operator)
            case BackupPoint.PROCESSED:
                self.events(end)
            case BackupPoint.TAKEN:
                self.all(self.sink, self.operator)
            case BackupPoint.SAVED:
                self.all(self.operator, self.sink)

    def arrive(self, end: int) -> None:
        while self.play.state(self.source).latest < end:
            self.play.inject(self.source, next(self.coming))
            self.peak = max(self.peak, self.backup())

    def crash(self) -> None:
        self.play.crash(self.operator, drops=True)

    def events(self, end: int) -> None:
        """Deliver the events up to `end` to the operator."""
        while (head := self.head(self.source, self.operator)) is not None:
            assert isinstance(head, Event)
            if head.sn > (end,):
                return
            self.play.do(Deliver(self.operator, self.source))
            self.handed[-1] += 1

    def all(self, node: NodeName, sender: NodeName) -> None:
        while self.head(sender, node) is not None:
            self.play.do(Deliver(node, sender))

    def head(self, sender: NodeName, node: NodeName) -> Any:
        channel = self.play.channel(sender, node)
        return channel[0] if channel else None

    def backup(self) -> int:
        return len(self.play.state(self.source).outlets[0].backup)

    def result(self) -> PredictedCounts:
        outputs = self.play.outputs(self.sink)
        acked = self.play.state(self.source).outlets[0].acked
        return PredictedCounts(
            tuple(body for _, body in outputs),
            tuple(self.replayed),
            tuple(self.handed),
            self.play.notes[self.sink, DISCARDED.name],
            self.peak,
            self.backup(),
            acked[0] if acked else 0,
        )
