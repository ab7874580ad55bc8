"""An engine in micro-batches under continuous eventual checkpointing: its steps, and their cost.

Rule of this file: it plays the model's own node (model.protocols.cec.nodes), tuple by tuple; a
prediction knows nothing of the engine but where batches end and where it is crashed.

A batch is written as a whole: it is one segment of the log, and a crash leaves all of it, nothing
or a torn segment.  The background path runs between two batches of an incarnation: it checkpoints
each window whose footprint is `patience` tuples old.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.core import Note, Received, Role, Scope, Send, Site, Step, TimerFired
from model.errors import Invalid
from model.events import BEGINNING, Body, Event
from model.graph import chain
from model.log import Log
from model.protocols.cec.design import MENDED, CecDesign
from model.protocols.cec.messages import (
    CUT,
    IGNORED,
    SCANNED,
    Disk,
    LoggedBox,
    Record,
    Segment,
)
from model.protocols.cec.nodes import CHECK, boot, deploy, recover, step
from model.queues import Replay, Replayed
from sim.predictions.crashes import BatchCrash
from sim.predictions.linear import LinearCost

OPERATOR = "aggregate"


class DurablePart(StrEnum):
    """The durable part of a batch when a crash comes."""

    BEFORE = "before the write"
    """Nothing."""
    WITHIN = "within the write"
    """A torn segment."""
    STORED = "after the write"
    """All; the sink has received nothing of it."""
    SENT = "after the send"
    """All; the sink has received it."""
    RECOVERY = "in the recovery"
    """The log is read, and nothing else has happened; the batch has no meaning."""


class ExtentRestart(NamedTuple):
    """The contents of the log at a start, the first one, too.

    windows: N.  start: T.  newest: the stamp of the newest record.  scanned: the extent.  cut: torn
    segments.  replayed: tuples that are asked for.
    """

    windows: int
    start: int
    newest: int
    scanned: int
    cut: int
    replayed: int


class ExtentPrediction(NamedTuple):
    """restarts: of each incarnation that came to the end of its recovery.  ignored: by incarnation,
    tuples that were below a floor, in batches that were sent.  received: by the sink, with
    duplicates.  taken: the results that the sink takes, each number once.  log: all records."""

    restarts: tuple[ExtentRestart, ...]
    ignored: tuple[int, ...]
    received: int
    taken: tuple[Body, ...]
    log: tuple[Record, ...]


class ExtentCosts(NamedTuple):
    """Seconds.  scan: of the log, by records read.  load: of the eventual checkpoint and of the
    replay up to the newest record, by windows and replayed tuples.  batch_s: of the batch that had
    crashed."""

    scan: LinearCost
    load: LinearCost
    batch_s: float

    def recovery_s(self, read: int, loaded: int) -> float:
        """From the restart until the batch that had crashed is at the sink."""
        return self.scan.at(read) + self.load.at(loaded) + self.batch_s


def cuts(ends: Sequence[int], start: int, newest: int) -> list[int]:
    """Where the batches of an incarnation end, if those of the stream end with `ends`.

    The replay after place `start` comes in one batch at least up to the newest record's place.
    """
    return [end for end in ends if end > start and end >= newest]


def predict(
    box: Aggregate,
    bodies: Sequence[Body],
    ends: Sequence[int],
    patience: int,
    crashes: Iterable[BatchCrash[DurablePart]] = (),
    design: CecDesign = MENDED,
) -> ExtentPrediction:
    """The prediction for a stream that is complete from the beginning, in batches that end with the
    tuples of these places, with one crash an incarnation.

    Raises Invalid if a crash is in no batch of its incarnation.
    """
    plans: list[BatchCrash[DurablePart] | None] = [*crashes, None]
    run = BatchedNode(box, bodies, ends, patience, design)
    for number, plan in enumerate(plans):
        run.play(number, plan)
    log = (plain(record) for segment in run.stored for record in segment.records)
    return ExtentPrediction(
        tuple(run.restarts), tuple(run.ignored), run.received, tuple(run.taken), tuple(log)
    )


def plain(record: Record) -> Record:
    """The record without lineage, which is a ghost."""
    pane, out = record.pane, record.out
    return record._replace(
        pane=pane and pane._replace(of=frozenset()), out=out and out._replace(of=frozenset())
    )


class BatchedNode:
    """The node, the log as batches have left it, and a sink that takes results by number."""

    def __init__(
        self,
        box: Aggregate,
        bodies: Sequence[Body],
        ends: Sequence[int],
        patience: int,
        design: CecDesign,
    ) -> None:
        self.events = [Event((place,), body) for place, body in enumerate(bodies, 1)]
        self.ends, self.patience, self.design = ends, patience, design
        graph = chain((OPERATOR, LoggedBox(box, checks=True)))
        sites = deploy(design, Scope(graph, ())).sites
        self.site: Site = next(site for site in sites if site.role is Role.OPERATOR)
        self.source, self.sink = self.site.preds[0], self.site.succs[0]
        self.stored: list[Segment] = []
        self.restarts: list[ExtentRestart] = []
        self.ignored: list[int] = []
        self.received = 0
        self.taken: list[Body] = []
        self.notes: dict[str, int] = {}
        self.sent: list[Record] = []

    def play(self, incarnation: int, plan: BatchCrash[DurablePart] | None) -> None:
        """Run an incarnation up to its crash, or to the end of the stream."""
        self.notes.clear()
        found = self._start(incarnation)
        if plan is not None and plan.point is DurablePart.RECOVERY:
            self.sent.clear()
            return
        self.restarts.append(found)
        self.ignored.append(0)
        self._receive()
        now = max(found.start, 0)
        for number, end in enumerate(cuts(self.ends, found.start, found.newest)):
            self._batch(now, end, checks=number > 0)
            now = end
            if plan is not None and plan.batch == number:
                self._crash(plan.point)
                return
            self._store()
            self._receive()
        if plan is not None:
            raise Invalid(f"incarnation {incarnation} has no batch {plan.batch}: nothing crashes")

    def _start(self, incarnation: int) -> ExtentRestart:
        """Recover; the sink asks for the outputs that it lacks, and the source answers."""
        if incarnation == 0:
            self.state: Any = boot(self.site)
            return ExtentRestart(0, BEGINNING, BEGINNING, 0, 0, len(self.events))
        log: Log[Segment] = Log()
        after = recover(self.site, Disk(1, log.extend(self.stored)))
        self._take(after)
        sent = (effect for effect in after.effects if isinstance(effect, Send))
        (request,) = (send.message for send in sent if send.to == self.source)
        self.stored = [*self.state.disk.log]
        self.sent.clear()
        self._step(Received(self.sink, Replay(len(self.taken))))
        wanted = [event for event in self.events if request.wants(event)]
        start = wanted[0].sn[0] - 1 if wanted else len(self.events)
        self._step(Received(self.source, Replayed(request, start)))
        return ExtentRestart(
            windows=len(self.state.windows),
            start=request.after,
            newest=self.state.until,
            scanned=self.notes.get(SCANNED.name, 0),
            cut=self.notes.get(CUT.name, 0),
            replayed=len(wanted),
        )

    def _batch(self, now: int, end: int, *, checks: bool) -> None:
        """Process the tuples after `now` up to `end`.  checks: the background path comes first."""
        if checks:
            windows = sorted(self.state.windows, key=lambda one: (one.foot, one.opened, one.key))
            self.state = self.state._replace(windows=tuple(windows))
            for window in windows:
                if window.foot + self.patience <= now:
                    self._step(TimerFired(CHECK))
        for event in self.events[now:end]:
            self._step(Received(self.source, event))

    def _step(self, input_: Any) -> None:
        self._take(step(self.site, self.state, input_))

    def _take(self, after: Step) -> None:
        self.state = after.state
        for effect in after.effects:
            if isinstance(effect, Note):
                self.notes[effect.what.name] = self.notes.get(effect.what.name, 0) + effect.times
            elif isinstance(effect, Send) and isinstance(effect.message, Segment):
                self.sent += effect.message.records

    def _crash(self, point: DurablePart) -> None:
        if point is not DurablePart.BEFORE:
            self._store(torn=point is DurablePart.WITHIN)
        if point is DurablePart.SENT:
            self._receive()
        self.sent.clear()

    def _store(self, *, torn: bool = False) -> None:
        if self.sent:
            self.stored.append(Segment(len(self.stored) + 1, tuple(self.sent), torn))

    def _receive(self) -> None:
        """The sink receives the messages that were sent."""
        for record in self.sent:
            if record.out is not None:
                self.received += 1
                if record.results == len(self.taken) + 1:
                    self.taken.append(record.out.body)
        self.sent.clear()
        self.ignored[-1] += self.notes.pop(IGNORED.name, 0)
