"""Listings 2 and 3: a middle operator that writes, with several functions, and its recovery.

Rule of this file: each step names its algorithm and step; what the functions compute is data.
LOG.io, Sections 6.3.2 and 6.4; Algorithms 2, 3, 5, 7, 8 and 9.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from asif.log_io import (
    Connection,
    Context,
    Event,
    Log,
    execute_writes,
    write_action,
)
from docs.examples.log_io.external import Book, Sale


class Function(NamedTuple):
    """A generative function: each of its Input Sets gathers inputs of one group.

    limits: in turn; the n-th Output Set needs limits[n % len(limits)] inputs, so the triggering
    condition depends on the global state.  out: a connection to an operator, or the name of one to
    an external system, on which the output is a write action.
    """

    group: Callable[[Sale], str]
    limits: tuple[int, ...]
    compute: Callable[[Sequence[Sale]], Sale]
    out: Connection | str


class Writes:
    """A book as the library wants it: an external system with checkable writes."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def execute(self, write: Event) -> None:
        self._book.write(write.number, write.body.decode())

    def is_done(self, write: Event) -> bool:
        return self._book.has(write.number)


class Middle:
    """Global state: how many Output Sets each function has made.  Event state: the Input Sets."""

    def __init__(
        self, log: Log, name: str, functions: Sequence[Function], books: Mapping[str, Book]
    ) -> None:
        self.log, self.name, self.functions = log, name, functions
        self.systems = {connection: Writes(book) for connection, book in books.items()}
        self.context = Context(functions=len(functions))
        self.made = [0] * len(functions)
        self.sets: dict[tuple[int, str], tuple[int, list[Sale]]] = {}

    # --- Listing 2 ---------------------------------------------------------------------------
    def step(self) -> bool:
        """Process the inputs that have come; False: there are none."""
        events = self.log.fetch_new_events(self.name)
        for event in events:
            self.take(event)
        return bool(events)

    def take(self, event: Event) -> None:
        """Algorithm 2."""
        if not self.context.check_event(event):  # step 1
            return
        sale: Sale = json.loads(event.body)
        keys = [(at, one.group(sale)) for at, one in enumerate(self.functions)]
        in_sets = [self.set_of(key) for key in keys]
        order = self.context.order_of(event)
        if self.log.assign_in_sets(event, in_sets, order):  # step 2
            for key, in_set in zip(keys, in_sets, strict=True):
                self.update(event, key, in_set)

    def set_of(self, key: tuple[int, str]) -> int:
        """The Input Set under way with this key, or a new one."""
        if key not in self.sets:
            self.context, number = self.context.new_in_set(key[0])
            self.sets[key] = number, []
        return self.sets[key][0]

    def update(self, event: Event, key: tuple[int, str], in_set: int) -> None:
        """Algorithm 2, the rest of step 2, and step 3."""
        self.context = self.context.see(event, in_set)
        gathered = self.sets[key][1]
        gathered.append(json.loads(event.body))
        limits = self.functions[key[0]].limits
        if len(gathered) >= limits[self.made[key[0]] % len(limits)]:
            self.generate(key)

    def generate(self, key: tuple[int, str]) -> None:
        """Algorithm 3."""
        in_set, gathered = self.sets.pop(key)
        function = self.functions[key[0]]
        body = json.dumps(function.compute(gathered)).encode()
        self.made[key[0]] += 1
        state = self.log.get_state_id(self.name)  # step 2
        output = self.number(function.out, body)  # step 3
        with self.log.begin_transaction() as transaction:  # step 4
            transaction.log_state_event(state, in_set)
            transaction.log_output_events(self.name, in_set, [output])
            transaction.store_state(state, json.dumps(self.made).encode(), self.context)
        # Step 5: the event is in the log, which is the connection: it is sent.
        execute_writes(self.log, self.name, self.systems, check=False)  # step 6

    def number(self, out: Connection | str, body: bytes) -> Event:
        port = out if isinstance(out, str) else out.sender_port
        self.context, number = self.context.send(port)
        if isinstance(out, str):
            return write_action(self.name, out, number, body)
        return Event(*out, number, body)

    # --- Listing 3 ---------------------------------------------------------------------------
    def on_recovery(self) -> None:
        """Algorithm 7, step 1, sends nothing, for what is logged is sent; then the rest."""
        found = self.log.get_proc_state(self.name)  # Algorithm 9, step 1
        if found:
            _, state, self.context = found
            self.made = json.loads(state)
        execute_writes(self.log, self.name, self.systems, check=True)  # Algorithm 8
        for event, in_set, seen in self.log.fetch_ack_events(self.name, self.context):  # 9, step 2
            at = self.context.function_of(in_set)
            key = at, self.functions[at].group(json.loads(event.body))
            self.sets.setdefault(key, (in_set, []))
            if seen:
                self.sets[key][1].append(json.loads(event.body))
            else:
                self.update(event, key, in_set)
