"""What a pipeline of LOG.io does whose operators run in the micro-batches of an engine.

Rule of this file: it plays the model's own nodes (model.protocols.log_io.nodes); of the engine it
knows where batches end, and that each batch is a task, which has no memory of the task before.

So in the model all operators crash and restart between two batches; within a crashed batch they
crash together, between two effects of a step.  The engine hands a crashed batch to the next task
again, whole; the source forgets what is logged of it, which is the model's replayable read action.
The log is what lasts of a connection: it holds an event until its receiver has assigned it.  An
operator waits for the answer to its write before it takes another input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from model.boxes.stateless import Relay
from model.boxes.triggered import Triggered
from model.core import Arrival, Inputs, Scope, Send
from model.errors import Invalid
from model.events import Body
from model.graph import chain
from model.oracle import oracle
from model.protocol import Protocol
from model.protocols.log_io.deployment import reader_of
from model.protocols.log_io.design import Design, Writes
from model.protocols.log_io.lineage.design import Capture
from model.protocols.log_io.lineage.queries import backward
from model.protocols.log_io.messages import Assign, Check, Commit, Executed, Restored, Write
from model.protocols.log_io.places import LOG
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.tables import Context, LoggedEvent, Tables
from model.system import System
from model.world import (
    Action,
    Crash,
    Deliver,
    Inject,
    Restart,
    apply,
    initial,
    input_of,
    progress,
    real_effects,
    response,
)
from sim.predictions.log_io.points import MIDDLE, SINK, SOURCE, WRITER, CrashPlan, CrashPoint

EXTERNAL = "stream"
"""The source of the model's graph: what the engine reads."""
READER = reader_of(EXTERNAL)
TASK = (READER, MIDDLE, WRITER)
"""The model's operators, which one task runs."""
NAMES = {READER: SOURCE}
"""Nodes that are called otherwise on the engine."""
PAIRS = Triggered((2,), group="type", of="time")
"""Input Sets of two events of one type.  The time of an event is its place in the stream."""
GRAPH = chain((MIDDLE, PAIRS), (WRITER, Relay()), source=EXTERNAL, sink=SINK)
CHECKABLE = Design(lineage=Capture())
PLAIN = replace(CHECKABLE, writes=Writes.PLAIN)
"""The external system cannot say whether a write has taken effect (Section 4.4)."""


class Logged(NamedTuple):
    """What the log has at a crash, or in the end.  undone: rows, as texts.  contexts: likewise."""

    undone: tuple[str, ...]
    contexts: tuple[str, ...]


class Work(NamedTuple):
    """What the tasks between two crashes did.  transactions: of the log.  replayed: rows of undone
    inputs that were read again.  writes: into the external system."""

    transactions: int
    replayed: int
    writes: int = 0

    @property
    def commits(self) -> int:
        """How often something was made durable."""
        return self.transactions + self.writes


class Predicted(NamedTuple):
    """crashed: the log at each crash.  ended: in the end.  rows: of the external system, in order.
    lineage: for each write, by number, the events of the stream behind it.  writes, checks: that
    the external system was asked for.  work: of each incarnation, the last one to the end."""

    crashed: tuple[Logged, ...]
    ended: Logged
    rows: tuple[Body, ...]
    lineage: tuple[tuple[int, ...], ...]
    writes: int
    checks: int
    work: tuple[Work, ...]


def predict(
    types: str, ends: Sequence[int], crashes: Sequence[CrashPlan], design: Design = CHECKABLE
) -> Predicted:
    """The prediction for events of these types, one a letter, in batches with these ends.

    Raises Invalid if a crash never comes, since its operator does not pass there so often.
    """
    return PipelineRun(types, tuple(ends), design).play(crashes)


def expected(types: str) -> tuple[Body, ...]:
    """The rows of the external system after a run without failures, from the oracle."""
    arrivals = {EXTERNAL: [Arrival(1, type_) for type_ in types]}
    ((outs,),) = oracle(GRAPH, arrivals).values()
    return outs


# --- the run ---------------------------------------------------------------------------------
class PipelineRun:
    """A run of the model in batches."""

    def __init__(self, types: str, ends: tuple[int, ...], design: Design) -> None:
        self.types, self.ends = types, ends
        self.system = System(_protocol(design), _scope(types))
        self.world = initial(self.system)
        self.writes = self.checks = self.transactions = self.replayed = self.written = 0

    def play(self, crashes: Sequence[CrashPlan]) -> Predicted:
        left = [*crashes]
        crashed: list[Logged] = []
        work: list[Work] = []
        passes: dict[tuple[str, CrashPoint], int] = {}
        for begin, end in pairwise((0, *self.ends)):
            for type_ in self.types[begin:end]:
                self.world = apply(self.system, self.world, Inject(EXTERNAL, Arrival(1, type_)))
            while self.task(left[0] if left else None, passes):
                crashed.append(logged(self.tables))
                left.pop(0)
                passes.clear()
                work.append(self.spent())
        if left:
            raise Invalid(f"{left[0]}: the pipeline does not pass there so often")
        work.append(self.spent())
        tables = self.tables
        rows = tuple(body for _, body in self.world.outputs[0])
        return Predicted(
            tuple(crashed),
            logged(tables),
            rows,
            tuple(_behind(tables)),
            self.writes,
            self.checks,
            tuple(work),
        )

    @property
    def tables(self) -> Tables:
        state = self.world.nodes[self.system.node_at[LOG]].state
        assert isinstance(state, Tables)
        return state

    def task(self, plan: CrashPlan | None, passes: dict[tuple[str, CrashPoint], int]) -> bool:
        """A task of the batch that has come: does it crash?"""
        if not any(isinstance(one, Restart) for one in self.actions()):
            self.world = apply(self.system, self.world, Crash(READER, False, TASK))
        while actions := self.actions():
            action = min(actions, key=_order)
            for operator, point, at in self.stops(action):
                number = passes.get((operator, point), 0)
                passes[operator, point] = number + 1
                if plan == (operator, point, number):
                    assert isinstance(action, Deliver)
                    self.act(action._replace(crash_after=at, group=TASK))
                    return True
            self.act(action)
        return False

    def actions(self) -> list[Deliver | Restart]:
        found = (
            one for name in self.system.sites for one in progress(self.system, self.world, name)
        )
        return [one for one in found if isinstance(one, Deliver | Restart)]

    def act(self, action: Deliver | Restart) -> None:
        for effect in real_effects(response(self.system, self.world, action).effects)[
            : action.crash_after
        ]:
            message = effect.message if isinstance(effect, Send) else None
            self.writes += isinstance(message, Write)
            self.checks += isinstance(message, Check)
            self.transactions += isinstance(message, Assign | Commit | Executed)
        message = self.message(action)
        if isinstance(message, Restored) and action.crash_after != 0:
            self.replayed += len(message.assigned)
        self.world = apply(self.system, self.world, action)

    def message(self, action: Action) -> object:
        if not isinstance(action, Deliver):
            return None
        return getattr(input_of(self.system, self.world, action), "message", None)

    def stops(self, action: Deliver | Restart) -> Iterator[tuple[str, CrashPoint, int]]:
        """The points that the action passes: operator, point, and the effects before it."""
        if action.node not in TASK:
            return
        node, message = NAMES.get(action.node, action.node), self.message(action)
        if isinstance(message, Restored):
            yield node, CrashPoint.RESTARTED, 0
        assigned: set[int] = set()
        effects = real_effects(response(self.system, self.world, action).effects)
        for at, effect in enumerate(effects):
            match effect.message if isinstance(effect, Send) else None:
                case Check():
                    yield node, CrashPoint.ASKED, at + 1
                case Assign(_, _, insets):
                    assigned.update(insets)
                    yield node, CrashPoint.SENT, at
                    yield node, CrashPoint.ASSIGNED, at + 1
                case Commit(inset=inset):
                    if isinstance(message, Restored) and inset and inset not in assigned:
                        yield node, CrashPoint.COMPLETED, at
                    yield node, CrashPoint.GENERATED, at
                    yield node, CrashPoint.LOGGED, at + 1
                case Write():
                    yield node, CrashPoint.WRITTEN, at + 1
                case Executed():
                    yield node, CrashPoint.DONE, at + 1

    def spent(self) -> Work:
        """The work since the last call."""
        found = Work(self.transactions, self.replayed, self.writes - self.written)
        self.transactions = self.replayed = 0
        self.written = self.writes
        return found


def _protocol(design: Design) -> Protocol:
    return PROTOCOL.vary(design=design)


def _scope(types: str) -> Scope:
    alphabet = tuple(Arrival(1, type_) for type_ in sorted({*types}))
    return Scope(GRAPH, ((EXTERNAL, Inputs(alphabet, len(types))),))


def _order(action: Deliver | Restart) -> tuple[int, int, bool]:
    """A task first restarts all operators, then recovers all of them, in the order of the pipeline;
    then each one takes all that has come for it.  A writer waits for the answer to its write."""
    place = TASK.index(action.node) if action.node in TASK else -1
    if isinstance(action, Restart):
        return 0, place, False
    return (1 if action.sender == LOG else 2), place, action.sender != SINK


# --- the log in words ------------------------------------------------------------------------
def logged(tables: Tables) -> Logged:
    undone = (row for row in tables.events if not row.done)
    return Logged(
        tuple(sorted(map(_row_text, undone))),
        tuple(sorted(_context_text(*one) for one in tables.contexts)),
    )


def _row_text(row: LoggedEvent) -> str:
    return row_text(NAMES.get(row.sender, row.sender), row.receiver, row.number, row.inset)


def row_text(sender: str, receiver: str, number: int, inset: int) -> str:
    """An undone row of EVENT_LOG."""
    return f"{sender}>{receiver} {number}" + (f" in set {inset}" if inset else "")


def _context_text(node: str, context: Context) -> str:
    place = (context.box,) if node == READER else ()
    numbers = (*place, *context.last, *context.sent, context.insets)
    return context_text(NAMES.get(node, node), numbers)


def context_text(operator: str, numbers: Sequence[int]) -> str:
    """A row of STATE.  numbers: of the source the place in the stream, of others the greatest
    number received; then the latest one sent, and that of the newest Input Set."""
    return f"{operator} {' '.join(map(str, numbers))}"


def _behind(tables: Tables) -> Iterator[tuple[int, ...]]:
    """The events of the stream behind each write, from the rows of lineage."""
    for row in tables.used:
        if row.receiver == SINK:
            yield tuple(sorted(event[2] for event in backward(tables, row[:3])))
