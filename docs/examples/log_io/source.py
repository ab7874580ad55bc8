"""Listing 1: a source operator whose read action cannot be replayed, and its recovery.

Rule of this file: each step names its algorithm and step; nothing here knows what is read.
LOG.io, Section 6.3.1; Algorithms 1 and 6.
"""

from __future__ import annotations

import json
import typing

from asif.log_io import ActionInfo, Connection, Context, Event, Log
from docs.examples.log_io.external import EffectStore, Sale


class Readable(typing.Protocol):
    def read(self) -> list[Sale]: ...


class Source:
    """Executes read actions one after the other, and sends each sale of their effect as an event.

    out: the connection to the next operator.  reads: from which system.  times: how often.
    Global state: the offset into the effect of the read action under way.
    """

    def __init__(
        self, log: Log, out: Connection, reads: Readable, store: EffectStore, times: int
    ) -> None:
        self.log, self.out, self.name = log, out, out.sender
        self.reads, self.store, self.times = reads, store, times
        self.context = Context()
        self.action: ActionInfo | None = None
        self.effect: list[Sale] = []
        self.offset = 0
        self.done = 0

    def step(self) -> bool:
        """Begin a read action, or send the next output of the one under way; False: all is done."""
        if self.action is None:
            if self.done == self.times:
                return False
            self.begin(self.log.get_action_id(self.name, "till"))
        elif self.offset < len(self.effect):
            self.send_next(self.action)
        else:
            self.drop(self.action)
        return True

    def begin(self, number: int) -> None:
        action = ActionInfo(self.name, "till", number, "read all sales")
        self.offset = 0
        state = self.log.get_state_id(self.name)
        self.log.initialize_read_action(action, state, self.serialize(), self.context)  # step 1
        reference = self.store.store(number, self.reads.read())  # step 2.a
        self.log.complete_read_action(action, reference.encode())  # step 2.b
        self.action, self.effect = action, self.store.load(reference)

    def send_next(self, action: ActionInfo) -> None:
        """Step 2.c."""
        self.context, number = self.context.send(self.out.sender_port)
        body = json.dumps(self.effect[self.offset]).encode()
        self.offset += 1
        with self.log.begin_transaction() as transaction:
            transaction.log_source_event(Event(*self.out, number, body))
            state = self.log.get_state_id(self.name)
            transaction.store_state(state, self.serialize(), self.context)
            if self.offset == len(self.effect):
                transaction.done_event(
                    Event(self.name, action.connection, self.name, "", action.action_id, b"")
                )
        # The event is in the log, which is the connection: it is sent.

    def drop(self, action: ActionInfo) -> None:
        """Step 2.d."""
        self.log.drop_read_action(action, lambda: self.store.discard(action.action_id))
        self.action, self.effect, self.done = None, [], action.action_id

    def serialize(self) -> bytes:
        return json.dumps(self.offset).encode()

    def on_recovery(self) -> None:
        """Algorithm 6.  Step 1 sends nothing: what is logged is sent."""
        found = self.log.get_proc_state(self.name)  # step 2
        if found is None:
            return
        _, state, self.context = found
        self.offset = json.loads(state)
        action = self.log.get_read_action(self.name, "till")
        assert action is not None
        self.done = action.info.action_id - 1
        if action.complete and action.done:
            self.drop(action.info)  # step 3.a
        elif action.complete:
            assert action.reference is not None
            self.action = action.info  # step 3.b: send_next goes on at the stored offset
            self.effect = self.store.load(action.reference.decode())
        else:
            number = action.info.action_id  # step 4.a: the action is executed again
            self.store.discard(number)
            self.begin(number)
