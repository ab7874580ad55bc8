"""Listings 2 and 3: a Middle operator and a Sink to subclass, with their recovery.

Rule of this file: each step names its algorithm and step; what an operator computes is the user's.

LOG.io, Sections 3.4 to 3.6, 4.3, 6.3.2 and 6.4; Algorithms 2, 3, 5, 7, 8 and 9.  All Input Sets
that an input completes end in one transaction (Transaction.log_output_events says why).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from spark_check.log_io.library.capture import Connection
from spark_check.log_io.library.context import Context
from spark_check.log_io.library.log import Log
from spark_check.log_io.library.values import Event, InputSet, event_name, write_action
from spark_check.log_io.library.writes import External, execute_writes

Made: TypeAlias = tuple[Connection | str, bytes]
"""An output: its connection to an operator, or the name of one to an external system; its body."""


class Operator(ABC):
    """A Middle operator.  A subclass has `in_sets`, `completed` and `generate`; most need no more.

    name: in the log.  systems: the external systems that it writes to, by connection.  state: the
    global state, at first `new_state()`; it changes in `update` and `generate` alone, and is stored
    with each Output Set.  inputs: of each open Input Set, by key; the Input Sets as they began.
    New inputs come from the log itself.

    An exception that leaves a step leaves the operator as after a crash: the next step recovers.
    """

    def __init__(self, log: Log, name: str, systems: Mapping[str, External] | None = None) -> None:
        self.log, self.name, self.systems = log, name, dict(systems or {})
        self.state: Any = None
        self._context = Context()
        self.inputs: dict[str, list[Event]] = {}
        self._in_sets: dict[str, InputSet] = {}
        self._runs = False

    # --- what a subclass says ----------------------------------------------------------------
    @abstractmethod
    def in_sets(self, event: Event) -> Iterable[str]:
        """The keys of the Input Sets that an input goes into, as windows or items; of those that
        are not open, a new one begins.  None: the input only changes the state.  The answer is
        logged, so it may be another one after a restart."""

    @abstractmethod
    def completed(self, event: Event) -> Iterable[str]:
        """The keys of the open Input Sets that are complete, now that the input is in its own ones
        and has changed the state (the triggering condition)."""

    @abstractmethod
    def generate(self, key: str, inputs: Sequence[Event]) -> Iterable[Made]:
        """The Output Set of an Input Set; it may change the state."""

    def update(self, event: Event) -> None:  # noqa: B027  # many have nothing to change
        """Change the global state by an input."""

    def new_state(self) -> Any:
        """The global state before the first input."""
        return None

    def serialize(self, state: Any) -> bytes:
        """The state as the log keeps it: JSON, if a subclass has no other way."""
        return json.dumps(state).encode()

    def deserialize(self, body: bytes) -> Any:
        """The state that `serialize` has made these bytes of."""
        return json.loads(body)

    # --- Listing 2 ---------------------------------------------------------------------------
    def step(self) -> bool:
        """Process some of the inputs that have come; False: there was nothing to do.

        The first step, and the one after an exception, recovers.
        """
        recovers = not self._runs
        if recovers:
            self.recover()
        self._runs = False  # and so it stays if an exception leaves this step
        found = self.log.fetch_new_events(self.name)
        for event in found.events:
            self._take(event)
        self._runs = True
        return recovers or bool(found.events)

    def _take(self, event: Event) -> None:
        """Algorithm 2."""
        if not self._context.check_event(event):  # step 1
            return
        in_sets = [self._in_set(key) for key in _keys(self.in_sets(event))]
        order = self._context.order_of(event)
        if not in_sets or self.log.assign_in_sets(event, in_sets, order):  # step 2
            self._process(event, in_sets)

    def _in_set(self, key: str) -> InputSet:
        if key in self._in_sets:
            return self._in_sets[key]
        self._context, in_set = self._context.new_in_set(key)
        return in_set

    def _process(self, event: Event, in_sets: Sequence[InputSet]) -> None:
        """Algorithm 2, the rest of step 2, and step 3: of all Input Sets, and then of all functions
        (Section 3.4 has the update of the global state before)."""
        self._context = self._context.see(event, in_sets)
        self.update(event)
        self._gather(event, in_sets)
        completed = _keys(self.completed(event))
        if completed or not in_sets:
            self._generate(completed, [] if in_sets else [event])

    def _gather(self, event: Event, in_sets: Iterable[InputSet]) -> None:
        for one in in_sets:
            self._in_sets[one.key] = one
            self.inputs.setdefault(one.key, []).append(event)

    def _generate(self, keys: Sequence[str], done: Sequence[Event]) -> None:
        """Algorithm 3 for each of these Input Sets, in one transaction; with it, inputs that have
        none are done."""
        state = self.log.get_state_id(self.name)  # step 2
        output_sets = [self._output_set(key) for key in keys]  # step 3
        with self.log.begin_transaction() as transaction:  # step 4
            transaction.log_state_event(state, *(in_set for in_set, _ in output_sets))
            for in_set, outputs in output_sets:
                transaction.log_output_events(self.name, in_set, outputs)
            for event in done:
                transaction.done_event(event)
            transaction.store_state(state, self.serialize(self.state), self._context)
        # Step 5: the events are in the log, which is the connection: they are sent.
        if any(not one.sender_port for _, outputs in output_sets for one in outputs):
            execute_writes(self.log, self.name, self.systems, check=False)  # step 6

    def _output_set(self, key: str) -> tuple[int, list[Event]]:
        if key not in self.inputs:
            raise ValueError(f"{self.name}: completed gives {key!r}: no such Input Set is open")
        number, inputs = self._in_sets.pop(key).number, self.inputs.pop(key)
        return number, [self._number(*one) for one in self.generate(key, inputs)]

    def _number(self, out: Connection | str, body: bytes) -> Event:
        if isinstance(out, str):
            self._context, number = self._context.send(out)
            return write_action(self.name, out, number, body)
        self._context, number = self._context.send(out.sender_port)
        return Event(*out, number, body)

    # --- Listing 3 ---------------------------------------------------------------------------
    def recover(self) -> None:
        """Algorithm 7, step 1, sends nothing, for what is logged is sent; then the rest."""
        self._runs = False
        self._context, self.state = Context(), self.new_state()
        self.inputs, self._in_sets = {}, {}
        if found := self.log.get_proc_state(self.name):  # Algorithm 9, step 1
            _, body, self._context = found
            self.state = self.deserialize(body)
        execute_writes(self.log, self.name, self.systems, check=True)  # Algorithm 8
        replays = self.log.fetch_ack_events(self.name, self._context)
        for _, rows in groupby(replays, key=lambda one: one.event.key):  # Algorithm 9, step 2
            events, in_sets, seen = zip(*rows, strict=True)
            if seen[0]:
                self._gather(events[0], in_sets)
            else:
                self._process(events[0], in_sets)
        self._runs = True


def _keys(found: Iterable[str]) -> list[str]:
    """Each key once."""
    if isinstance(found, str):
        raise TypeError(f"{found!r} is one key: return a list of keys")
    return [*dict.fromkeys(found)]


class Sink(Operator):
    """An operator that writes each input into an external system; a subclass may have `write`.

    connection: the name of the one to the system.
    """

    def __init__(self, log: Log, name: str, connection: str, system: External) -> None:
        super().__init__(log, name, {connection: system})
        self.connection = connection

    def write(self, event: Event) -> bytes:
        """The body of the write of an input."""
        return event.body

    def in_sets(self, event: Event) -> Iterable[str]:
        return (event_name(event.key),)

    def completed(self, event: Event) -> Iterable[str]:
        return self.in_sets(event)

    def generate(self, _key: str, inputs: Sequence[Event]) -> Iterable[Made]:
        return [(self.connection, self.write(one)) for one in inputs]
