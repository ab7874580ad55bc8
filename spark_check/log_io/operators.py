"""The operators of the pipeline: a source, one that pairs events, and one that writes the pairs.

Rule of this file: what an operator does at each step of the paper's algorithms, and where it can be
stopped; no Spark.

Operators are connected by the log: an operator reads the events that are logged for it and have no
Input Set.  So a committed transaction has also sent its outputs (Algorithm 3, step 5), and a
restarted operator sends nothing again (Algorithm 7, step 1).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine_check.breakpoints import Breakpoints
from sim.predictions.log_io.points import MIDDLE, SINK, SOURCE, WRITER, StepPoint
from spark_check.log_io.external import ExternalBook, WrittenPair
from spark_check.log_io.library import (
    Connection,
    Context,
    Event,
    InputSet,
    Log,
    Scope,
    capture,
    execute_writes,
    write_action,
)

OUT, IN = "out", "in"
EVENTS = Connection(SOURCE, OUT, MIDDLE, IN)
PAIRS = Connection(MIDDLE, OUT, WRITER, IN)
CAPTURE = capture((EVENTS, PAIRS), Scope((SOURCE, OUT), (WRITER, SINK)), writes=[(WRITER, SINK)])


class PipelineStops(NamedTuple):
    """The breakpoints of one of the pipelines that share a Spark."""

    breakpoints: Breakpoints
    world: str

    def place(self, operator: str, point: StepPoint) -> str:
        return f"{self.world} {operator} {point}"

    def here(self, operator: str, point: StepPoint) -> None:
        self.breakpoints.here(self.place(operator, point))


class SourceOnSpark:
    """A replayable read action: Spark hands over a batch again, whole, if it was not committed.

    Global state: the number of the last event that is logged.  Algorithm 1, step 3; Algorithm 6.
    """

    def __init__(self, log: Log, stops: PipelineStops) -> None:
        self.log, self.stops = log, stops
        self.context, self.offset = Context(), 0

    def on_recovery(self) -> None:
        self.stops.here(SOURCE, StepPoint.RESTARTED)
        if found := self.log.get_proc_state(SOURCE):
            _, state, self.context = found
            self.offset = json.loads(state)

    def take(self, rows: Iterable[tuple[int, str]]) -> None:
        for number, type_ in rows:
            if number > self.offset:
                self.send(number, type_)

    def send(self, number: int, type_: str) -> None:
        """Algorithm 1, step 2.c: an output and the offset, in one transaction."""
        self.context, sent = self.context.send(OUT)
        self.offset = number
        self.stops.here(SOURCE, StepPoint.GENERATED)
        with self.log.begin_transaction() as transaction:
            state = self.log.get_state_id(SOURCE)
            transaction.log_source_event(Event(*EVENTS, sent, json.dumps([type_, number]).encode()))
            transaction.store_state(state, json.dumps(number).encode(), self.context)
        self.stops.here(SOURCE, StepPoint.LOGGED)


class GenerativeFunction(NamedTuple):
    """The generative function of an operator.  limit: so many inputs complete an Input Set.  out:
    the connection of its outputs, or the name of one to an external system."""

    operator: str
    limit: int
    out: Connection | str

    def key(self, event: Event) -> str:
        """Which Input Set the event goes into: that of its type, or one of its own."""
        return str(event.number if self.limit == 1 else json.loads(event.body)[0])

    def compute(self, inputs: Sequence[Event]) -> bytes:
        if len(inputs) == 1:
            return inputs[0].body
        (type_, first), (_, second) = (json.loads(event.body) for event in inputs)
        return WrittenPair(type_, first, second).to_json().encode()


FUNCTIONS = (GenerativeFunction(MIDDLE, 2, PAIRS), GenerativeFunction(WRITER, 1, SINK))


class StoppedWrites(NamedTuple):
    """The book as the library wants it: an external system, with breakpoints behind each answer."""

    operator: str
    book: ExternalBook
    stops: PipelineStops

    def execute(self, write: Event) -> None:
        self.book.write(write.number, write.body.decode())
        self.stops.here(self.operator, StepPoint.WRITTEN)

    def is_done(self, write: Event) -> bool:
        if not self.book.checkable:
            return False
        done = self.book.has(write.number)
        self.stops.here(self.operator, StepPoint.ASKED)
        return done


class OpenInputSet(NamedTuple):
    """An Input Set that is not complete, and its inputs so far."""

    in_set: InputSet
    inputs: list[Event]


class OperatorOnSpark:
    """A Middle operator or a Writer: Algorithms 2, 3, 5, 7, 8 and 9.  Event state: Input Sets."""

    def __init__(
        self, log: Log, stops: PipelineStops, function: GenerativeFunction, book: ExternalBook
    ) -> None:
        self.log, self.stops, self.function = log, stops, function
        self.name = function.operator
        self.systems = {SINK: StoppedWrites(self.name, book, stops)}
        self.context = Context()
        self.sets: dict[str, OpenInputSet] = {}

    # --- recovery: Algorithms 7 to 9 ---------------------------------------------------------
    def on_recovery(self) -> None:
        self.stops.here(self.name, StepPoint.RESTARTED)
        if found := self.log.get_proc_state(self.name):  # 9.1
            _, _, self.context = found
        self.write(check=True)  # 7.2, Algorithm 8
        for event, in_set, seen in self.log.fetch_ack_events(self.name, self.context):  # 9.2
            self.sets.setdefault(in_set.key, OpenInputSet(in_set, []))
            if seen:
                self.sets[in_set.key].inputs.append(event)
            elif self.update(event, in_set):
                self.stops.here(self.name, StepPoint.COMPLETED)
                self.generate(in_set.key)

    # --- state update: Algorithm 2 -----------------------------------------------------------
    def step(self) -> bool:
        """Process the inputs that have come; False: there are none."""
        found = self.log.fetch_new_events(self.name)
        for event in found.events:
            self.take(event)
        return bool(found.events)

    def take(self, event: Event) -> None:
        if not self.context.check_event(event):  # 2.1
            return
        self.stops.here(self.name, StepPoint.SENT)
        key = self.function.key(event)
        if key not in self.sets:
            self.context, new = self.context.new_in_set(key)
            self.sets[key] = OpenInputSet(new, [])
        in_set = self.sets[key].in_set
        order = self.context.order_of(event)
        if self.log.assign_in_sets(event, [in_set], order):  # 2.2
            self.stops.here(self.name, StepPoint.ASSIGNED)
            if self.update(event, in_set):  # 2.3
                self.generate(key)

    def update(self, event: Event, in_set: InputSet) -> bool:
        """Put the event into its Input Set: is the set complete?"""
        self.context = self.context.see(event, [in_set])
        gathered = self.sets[in_set.key].inputs
        gathered.append(event)
        return len(gathered) >= self.function.limit

    # --- generation: Algorithms 3 and 5 ------------------------------------------------------
    def generate(self, key: str) -> None:
        in_set, gathered = self.sets.pop(key)
        state = self.log.get_state_id(self.name)  # 3.2
        output = self.number(self.function.compute(gathered))  # 3.3
        self.stops.here(self.name, StepPoint.GENERATED)
        with self.log.begin_transaction() as transaction:  # 3.4
            transaction.log_state_event(state, in_set.number)
            transaction.log_output_events(self.name, in_set.number, [output])
            transaction.store_state(state, b"", self.context)
        self.stops.here(self.name, StepPoint.LOGGED)
        self.write(check=False)  # 3.6, Algorithm 5

    def number(self, body: bytes) -> Event:
        out = self.function.out
        if isinstance(out, str):
            self.context, number = self.context.send(out)
            return write_action(self.name, out, number, body)
        self.context, number = self.context.send(out.sender_port)
        return Event(*out, number, body)

    def write(self, *, check: bool) -> None:
        """Execute the pending writes; there is at most one."""
        if self.log.get_write_actions(self.name):
            execute_writes(self.log, self.name, self.systems, check=check)
            self.stops.here(self.name, StepPoint.DONE)


class TaskOperators(NamedTuple):
    """The operators of a task, which have recovered."""

    source: SourceOnSpark
    operators: tuple[OperatorOnSpark, ...]

    def run(self, rows: Iterable[tuple[int, str]]) -> None:
        """Hand a batch to the source, and let all operators run until nothing is left to do."""
        self.source.take(sorted(rows))
        while True:
            stepped = [operator.step() for operator in self.operators]
            if not any(stepped):
                return


def recover(log: Log, book: ExternalBook, stops: PipelineStops) -> TaskOperators:
    """All operators of a task.  It has no memory of the task before it, so each task recovers."""
    source = SourceOnSpark(log, stops)
    operators = tuple(OperatorOnSpark(log, stops, function, book) for function in FUNCTIONS)
    source.on_recovery()
    for operator in operators:
        operator.on_recovery()
    return TaskOperators(source, operators)
