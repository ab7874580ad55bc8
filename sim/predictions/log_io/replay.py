"""A pipeline of LOG.io whose operators run in the micro-batches of an engine.

Rule of this file: it plays the model's own nodes (model.protocols.log_io.nodes); of the engine it
knows where batches end, and that each batch is a task, which has no memory of the task before.

So in the model all operators crash and restart between two batches; within a crashed batch they
crash together, between two effects of a step.  The engine hands a crashed batch to the next task
again, whole; the source forgets the part that is logged, which is the model's replayable read
action.  The log is the lasting part of a connection: it holds an event until its receiver has
assigned it.  An operator waits for the answer to its write before it takes another input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from model.actions import Deliver, OwnStep, Restart, Timeout
from model.boxes.stateless import Relay
from model.boxes.triggered import Triggered
from model.core import Arrival, Inputs, Scope, Send
from model.errors import Invalid
from model.events import Body
from model.graph import chain
from model.oracle import oracle
from model.play import Play
from model.protocol import Protocol
from model.protocols.log_io.deployment import reader_of
from model.protocols.log_io.design import LineageCapture, LogIoDesign, WriteSupport
from model.protocols.log_io.lineage.queries import backward
from model.protocols.log_io.messages import Assign, Check, Commit, Executed, Restored, Write
from model.protocols.log_io.places import LOG
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.tables import ContextRow, LogDatabase, LoggedEvent
from model.world import real_effects
from sim.predictions.log_io.points import MIDDLE, SINK, SOURCE, WRITER, StepCrash, StepPoint

EXTERNAL = "stream"
"""The source of the model's graph, which the engine reads."""
READER = reader_of(EXTERNAL)
TASK = (READER, MIDDLE, WRITER)
"""The model's operators, which one task runs."""
NAMES = {READER: SOURCE}
"""Nodes that are called otherwise on the engine."""
PAIRS = Triggered((2,), group="type", of="time")
"""Input Sets of two events of one type.  The time of an event is its place in the stream."""
GRAPH = chain((MIDDLE, PAIRS), (WRITER, Relay()), source=EXTERNAL, sink=SINK)
CHECKABLE = LogIoDesign(lineage=LineageCapture())
PLAIN = replace(CHECKABLE, writes=WriteSupport.PLAIN)
"""The external system cannot say whether a write has taken effect (Section 4.4)."""


class LogContents(NamedTuple):
    """The contents of the log at a crash, or in the end.  undone: rows, as texts.  contexts:
    likewise."""

    undone: tuple[str, ...]
    contexts: tuple[str, ...]


class TaskWork(NamedTuple):
    """The work of the tasks between two crashes.  transactions: of the log.  replayed: rows of
    undone inputs that were read again.  writes: into the external system."""

    transactions: int
    replayed: int
    writes: int = 0

    @property
    def commits(self) -> int:
        """How often something was made durable."""
        return self.transactions + self.writes


class PipelinePrediction(NamedTuple):
    """crashed: the log at each crash.  ended: in the end.  rows: of the external system, in order.
    lineage: for each write, by number, the events of the stream behind it.  writes, checks: that
    the external system was asked for.  work: of each incarnation, the last one to the end."""

    crashed: tuple[LogContents, ...]
    ended: LogContents
    rows: tuple[Body, ...]
    lineage: tuple[tuple[int, ...], ...]
    writes: int
    checks: int
    work: tuple[TaskWork, ...]


def predict(
    types: str, ends: Sequence[int], crashes: Sequence[StepCrash], design: LogIoDesign = CHECKABLE
) -> PipelinePrediction:
    """The prediction for events of these types, one a letter, in batches with these ends.

    Raises Invalid if a crash never comes, since its operator does not pass there so often.
    """
    return PipelineRun(types, tuple(ends), design).run(crashes)


def expected(types: str) -> tuple[Body, ...]:
    """The rows of the external system after a run without failures, from the oracle."""
    arrivals = {EXTERNAL: [Arrival(1, type_) for type_ in types]}
    ((outs,),) = oracle(GRAPH, arrivals).values()
    return outs


# --- the run ---------------------------------------------------------------------------------
class PipelineRun:
    """A run of the model in batches."""

    def __init__(self, types: str, ends: tuple[int, ...], design: LogIoDesign) -> None:
        self.types, self.ends = types, ends
        self.play = Play(_protocol(design), _scope(types))
        self.writes = self.checks = self.transactions = self.replayed = self.written = 0

    def run(self, crashes: Sequence[StepCrash]) -> PipelinePrediction:
        left = [*crashes]
        crashed: list[LogContents] = []
        work: list[TaskWork] = []
        passes: dict[tuple[str, StepPoint], int] = {}
        for begin, end in pairwise((0, *self.ends)):
            self.play.inject(EXTERNAL, *(Arrival(1, type_) for type_ in self.types[begin:end]))
            while self.task(left[0] if left else None, passes):
                crashed.append(logged(self.tables))
                left.pop(0)
                passes.clear()
                work.append(self.spent())
        if left:
            raise Invalid(f"{left[0]}: the pipeline does not pass there so often")
        work.append(self.spent())
        tables = self.tables
        rows = tuple(body for _, body in self.play.outputs(SINK))
        return PipelinePrediction(
            tuple(crashed),
            logged(tables),
            rows,
            tuple(_behind(tables)),
            self.writes,
            self.checks,
            tuple(work),
        )

    @property
    def tables(self) -> LogDatabase:
        state = self.play.state(LOG)
        assert isinstance(state, LogDatabase)
        return state

    def task(self, plan: StepCrash | None, passes: dict[tuple[str, StepPoint], int]) -> bool:
        """A task of the batch that has come: does it crash?"""
        if not any(isinstance(one, Restart) for one in self.play.ready()):
            self.play.crash(READER, TASK)
        for action in self.play.steps(_order):
            for operator, point, at in self.stops(action):
                number = passes.get((operator, point), 0)
                passes[operator, point] = number + 1
                if plan == (operator, point, number):
                    assert isinstance(action, Deliver)
                    crashed = action._replace(crash_after=at, group=TASK)
                    self.count(crashed)
                    self.play.do(crashed)
                    return True
            self.count(action)
        return False

    def count(self, action: OwnStep) -> None:
        """Count the requests in an action that comes now."""
        for effect in real_effects(self.play.effects(action))[: action.crash_after]:
            message = effect.message if isinstance(effect, Send) else None
            self.writes += isinstance(message, Write)
            self.checks += isinstance(message, Check)
            self.transactions += isinstance(message, Assign | Commit | Executed)
        message = self.play.message(action)
        if isinstance(message, Restored) and action.crash_after != 0:
            self.replayed += len(message.assigned)

    def stops(self, action: OwnStep) -> Iterator[tuple[str, StepPoint, int]]:
        """The points that the action passes: operator, point, and the effects before it."""
        if action.node not in TASK:
            return
        node, message = NAMES.get(action.node, action.node), self.play.message(action)
        if isinstance(message, Restored):
            yield node, StepPoint.RESTARTED, 0
        assigned: set[int] = set()
        effects = real_effects(self.play.effects(action))
        for at, effect in enumerate(effects):
            match effect.message if isinstance(effect, Send) else None:
                case Check():
                    yield node, StepPoint.ASKED, at + 1
                case Assign(_, _, insets):
                    assigned.update(insets)
                    yield node, StepPoint.SENT, at
                    yield node, StepPoint.ASSIGNED, at + 1
                case Commit(inset=inset):
                    if isinstance(message, Restored) and inset and inset not in assigned:
                        yield node, StepPoint.COMPLETED, at
                    yield node, StepPoint.GENERATED, at
                    yield node, StepPoint.LOGGED, at + 1
                case Write():
                    yield node, StepPoint.WRITTEN, at + 1
                case Executed():
                    yield node, StepPoint.DONE, at + 1

    def spent(self) -> TaskWork:
        """The work since the last call."""
        found = TaskWork(self.transactions, self.replayed, self.writes - self.written)
        self.transactions = self.replayed = 0
        self.written = self.writes
        return found


def _protocol(design: LogIoDesign) -> Protocol:
    return PROTOCOL.vary(design=design)


def _scope(types: str) -> Scope:
    alphabet = tuple(Arrival(1, type_) for type_ in sorted({*types}))
    return Scope(GRAPH, ((EXTERNAL, Inputs(alphabet, len(types))),))


def _order(action: OwnStep) -> tuple[int, int, bool] | None:
    """A task first restarts all operators, then recovers all of them, in the order of the pipeline;
    then each one takes all that has come for it.  A writer waits for the answer to its write."""
    if isinstance(action, Timeout):
        return None
    place = TASK.index(action.node) if action.node in TASK else -1
    if isinstance(action, Restart):
        return 0, place, False
    assert isinstance(action, Deliver)
    return (1 if action.sender == LOG else 2), place, action.sender != SINK


# --- the log in words ------------------------------------------------------------------------
def logged(tables: LogDatabase) -> LogContents:
    undone = (row for row in tables.events if not row.done)
    return LogContents(
        tuple(sorted(map(_row_text, undone))),
        tuple(sorted(_context_text(*one) for one in tables.contexts)),
    )


def _row_text(row: LoggedEvent) -> str:
    return row_text(NAMES.get(row.sender, row.sender), row.receiver, row.number, row.inset)


def row_text(sender: str, receiver: str, number: int, inset: int) -> str:
    """An undone row of EVENT_LOG."""
    return f"{sender}>{receiver} {number}" + (f" in set {inset}" if inset else "")


def _context_text(node: str, context: ContextRow) -> str:
    place = (context.box,) if node == READER else ()
    numbers = (*place, *context.last, *context.sent, context.insets)
    return context_text(NAMES.get(node, node), numbers)


def context_text(operator: str, numbers: Sequence[int]) -> str:
    """A row of STATE.  numbers: of the source the place in the stream, of others the greatest
    number received; then the latest one sent, and that of the newest Input Set."""
    return f"{operator} {' '.join(map(str, numbers))}"


def _behind(tables: LogDatabase) -> Iterator[tuple[int, ...]]:
    """The events of the stream behind each write, from the rows of lineage."""
    for row in tables.used:
        if row.receiver == SINK:
            yield tuple(sorted(event[2] for event in backward(tables, row[:3])))
