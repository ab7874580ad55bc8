"""Listing 1: a source to subclass, whose reading cannot be repeated, with its recovery.

Rule of this file: each step names its algorithm and step; nothing here knows what is read.
LOG.io, Sections 3.3, 4.2 and 6.3.1; Algorithms 1 and 6.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Sequence

from spark_check.log_io.library.capture import Connection
from spark_check.log_io.library.context import Context
from spark_check.log_io.library.log import Log
from spark_check.log_io.library.values import ActionInfo, Event, LogError


class Source(ABC):
    """Executes read actions one after the other, and sends their effect event by event.

    A subclass has `read`.  out: the connection to the next operator.  connection: the name of the
    one to the system that is read.  Global state: the offset into the effect of the read action
    under way.

    The effect is kept in the log until it is sent.  If it is too large for a row, a subclass stores
    it elsewhere: `store`, `load` and `discard`.

    An exception that leaves a step leaves the source as after a crash: the next step recovers.
    """

    def __init__(self, log: Log, out: Connection, connection: str) -> None:
        self.log, self.out, self.name, self.connection = log, out, out.sender, connection
        self._context = Context()
        self._action: ActionInfo | None = None
        self._effect: Sequence[bytes] = ()
        self._offset = 0
        self._runs = False

    # --- what a subclass says ----------------------------------------------------------------
    @abstractmethod
    def read(self) -> Sequence[bytes]:
        """Read the system: the bodies of the events, which may be none."""

    def ready(self, number: int) -> bool:
        """Is it time for the read action with this number, from 1?  Else the step does nothing."""
        return True

    def store(self, number: int, effect: Sequence[bytes]) -> bytes:
        """Store the effect of a read action, whole or not at all: a reference to it."""
        return json.dumps([b64encode(one).decode() for one in effect]).encode()

    def load(self, reference: bytes) -> Sequence[bytes]:
        """The effect that is stored there."""
        return [b64decode(one) for one in json.loads(reference)]

    def discard(self, number: int) -> None:  # noqa: B027  # what is in the log is dropped there
        """Discard the effect of a read action, if it is still stored, whole or in part."""

    # --- Listing 1 ---------------------------------------------------------------------------
    def step(self) -> bool:
        """Begin a read action, or send the next event of the one under way; False: there was
        nothing to do.

        The first step, and the one after an exception, recovers.
        """
        if not self._runs:
            self.recover()
            return True
        self._runs = False  # and so it stays if an exception leaves this step
        stepped = self._step()
        self._runs = True
        return stepped

    def _step(self) -> bool:
        if self._action is None:
            number = self.log.get_action_id(self.name, self.connection)
            if not self.ready(number):
                return False
            self._begin(number)
        elif self._offset < len(self._effect):
            self._send_next(self._action)
        else:
            if not self._effect:
                self.log.done_event(_event_of(self._action))  # 2.c(3), without a last event
            self._drop(self._action)
        return True

    def _begin(self, number: int) -> None:
        action = ActionInfo(self.name, self.connection, number, f"reading {number}")
        self._offset = 0
        state = self.log.get_state_id(self.name)
        self.log.initialize_read_action(action, state, self._state(), self._context)  # step 1
        reference = self.store(number, self.read())  # step 2.a
        self.log.complete_read_action(action, reference)  # step 2.b
        self._action, self._effect = action, self.load(reference)

    def _send_next(self, action: ActionInfo) -> None:
        """Step 2.c."""
        self._context, number = self._context.send(self.out.sender_port)
        body = self._effect[self._offset]
        self._offset += 1
        with self.log.begin_transaction() as transaction:
            transaction.log_source_event(Event(*self.out, number, body))
            state = self.log.get_state_id(self.name)
            transaction.store_state(state, self._state(), self._context)
            if self._offset == len(self._effect):
                transaction.done_event(_event_of(action))
        # The event is in the log, which is the connection: it is sent.

    def _drop(self, action: ActionInfo) -> None:
        """Step 2.d."""
        self.log.drop_read_action(action, lambda: self.discard(action.action_id))
        self._action, self._effect = None, ()

    def _state(self) -> bytes:
        return json.dumps(self._offset).encode()

    def recover(self) -> None:
        """Algorithm 6.  Step 1 sends nothing: what is logged is sent."""
        self._runs = False
        self._context, self._action, self._effect = Context(), None, ()
        if found := self.log.get_proc_state(self.name):  # step 2
            _, state, self._context = found
            self._offset = json.loads(state)
            self._recover_action()
        self._runs = True

    def _recover_action(self) -> None:
        action = self.log.get_read_action(self.name, self.connection)
        if action is None:
            raise LogError(f"{self.name}: it has a state, and no read action on {self.connection}")
        number = action.info.action_id
        if action.complete and action.done:
            self._drop(action.info)  # step 3.a
        elif action.complete and action.reference is not None:
            self._action = action.info  # step 3.b: the next step goes on at the stored offset
            self._effect = self.load(action.reference)
        else:
            self.discard(number)  # step 4.a: the action is executed again
            self._begin(number)


def _event_of(action: ActionInfo) -> Event:
    return Event(action.operator, action.connection, action.operator, "", action.action_id, b"")
