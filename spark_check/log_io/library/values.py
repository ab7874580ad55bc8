"""What an operator logs and what recovery reads: events, read actions, states.

Rule of this file: frozen values; no SQL, and no decision of the protocol.

The paper writes null for a port that an event does not have, and for the Input Set of an event
that has none.  A key cannot hold null, so the library writes "" and 0.
LOG.io, Sections 2.1 and 3.2.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Key: TypeAlias = tuple[str, str, str, int]
"""What identifies an event: sender, its port, the receiver's port, number."""


def event_name(key: Key) -> str:
    """The event as people write it, as in ledger.book#3."""
    sender, port, receiver_port, number = key
    return f"{sender}.{port or receiver_port}#{number}"


UNDONE, DONE = "undone", "done"
COMPLETE, INCOMPLETE = "complete", "incomplete"
NAME = re.compile(r"[^.:#\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
"""What an operator, a port or a connection may be called: an event is asked for as
OPERATOR.PORT#NUMBER, and a scope as FROM:TO."""
UNSTORED = re.compile(r"[\x00\ud800-\udfff]")
BYTES = (bytes, bytearray, memoryview)
MOST_BYTES = 500_000_000
"""Of an event's body and header, or of a state: both databases can store them, and return them."""
GREATEST = 2**63 - 1
"""The greatest number of a column."""


@lru_cache(1024)
def check_names(*names: str) -> None:
    """Raise ValueError for a name that no query could ask for."""
    for name in names:
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r}: give a name without . : # and control characters")


def check_bytes(value: object, name: Callable[[], str]) -> None:
    """Raise TypeError for a value of the event or state `name` that is no bytes, and LogError for
    one that is too large."""
    if not isinstance(value, BYTES):
        raise TypeError(f"{name()}: give bytes, not {type(value).__name__}: encode a text")
    size = memoryview(value).nbytes
    if size > MOST_BYTES:
        raise LogError(
            f"{name()}: {size:,} bytes are more than {MOST_BYTES:,}: store them elsewhere, and log"
            " a reference to them"
        )


def integer(value: object, name: Callable[[], str], least: int = 0) -> int:
    """The value as an int.  Raises LogError for one that is no integer, as 1.5, "7" or True, and
    for one that no column can hold."""
    if type(value) is int:
        found = value
    elif isinstance(value, bool) or not hasattr(value, "__index__"):
        kind = type(value).__name__
        raise LogError(f"{name()}: give an integer, not {kind} {_short(value)}")
    else:
        found = operator.index(value)
    if not least <= found <= GREATEST:
        raise LogError(f"{name()}: {_short(found)} is not from {least} to {GREATEST}")
    return found


def _short(value: object) -> str:
    """The value in a few characters; an int may have too many digits for a text."""
    if isinstance(value, int) and abs(value) > GREATEST:
        return f"a number of {value.bit_length()} bits"
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:39]}..."


class Event(NamedTuple):
    """A row of EVENT_LOG without its Input Set, and its row of EVENT_DATA.

    number: the event_ID, from 1 on each output port or connection, without gaps.  A port has one
    connection; for two receivers, an operator sends an event on two ports.  A write action has
    sender_port "" and its connection as receiver_port; a read action has its connection as
    sender_port and receiver_port "".  The receiver of both is their operator.
    """

    sender: str
    sender_port: str
    receiver: str
    receiver_port: str
    number: int
    body: bytes
    header: bytes = b""

    @property
    def key(self) -> Key:
        return self.sender, self.sender_port, self.receiver_port, self.number

    @property
    def port(self) -> str:
        """The port or connection of the sender that numbers the event."""
        return self.sender_port or self.receiver_port

    def checked(self) -> Event:
        """The event as a database can hold it.

        Raises ValueError for its names, TypeError for a body or header that is no bytes, and
        LogError for its number or its size.  SQLite would keep a text as it comes, and recovery
        could not read it.
        """
        check_names(
            self.sender, self.receiver, *filter(None, (self.sender_port, self.receiver_port))
        )
        for value in (self.body, self.header):
            check_bytes(value, lambda: event_name(self.key))
        number = integer(self.number, lambda: f"the number of an event of {self.sender}", 1)
        return self if number is self.number else self._replace(number=number)


def write_action(operator: str, connection: str, number: int, body: bytes) -> Event:
    """The event that is a write action on a connection to an external system (Section 3.5.1)."""
    return Event(operator, "", operator, connection, number, body)


class InputSet(NamedTuple):
    """An Input Set of an operator.  key: what its inputs have in common, as a window or an item; it
    is in the log, and an operator that restarts receives it with each input.
    """

    number: int
    key: str = ""

    def checked(self) -> InputSet:
        """The Input Set as a database can hold it.  Raises for its number or its key."""
        number = integer(self.number, lambda: "the number of an Input Set")
        if number < 1:
            raise ValueError(f"Input Set {number}: Input Sets are numbered from 1")
        if not isinstance(self.key, str):
            raise TypeError(f"Input Set {self.number}: its key is a text, not {self.key!r}")
        if UNSTORED.search(self.key):
            raise ValueError(f"Input Set {self.number}: no database can store {self.key!r}")
        return self if number is self.number else self._replace(number=number)


class NewEvents(NamedTuple):
    """Inputs that have no Input Set yet.  more: there are others, which the limit cut off."""

    events: list[Event]
    more: bool


class Replay(NamedTuple):
    """An undone input that a restarted operator processes again (Algorithm 9, step 2).

    in_set: the one Input Set that it goes into again.  seen: the triggering conditions looked at it
    before the stored global state was made, so it only goes into its Input Set, and triggers
    nothing.
    """

    event: Event
    in_set: InputSet
    seen: bool


class StateInfo(NamedTuple):
    """What identifies a row of STATE."""

    operator: str
    state_id: int

    def checked(self) -> StateInfo:
        """The state as a database can hold it.  Raises ValueError or LogError."""
        check_names(self.operator)
        number = integer(self.state_id, lambda: f"the number of a state of {self.operator}", 1)
        return StateInfo(self.operator, number)


class ActionInfo(NamedTuple):
    """What identifies a row of READ_ACTION, and what the action does."""

    operator: str
    connection: str
    action_id: int
    description: str = ""

    def checked(self) -> ActionInfo:
        """The action as a database can hold it.  Raises ValueError or LogError."""
        check_names(self.operator, self.connection)
        named = f"the number of a read action of {self.operator}"
        return self._replace(action_id=integer(self.action_id, lambda: named, 1))


class ReadAction(NamedTuple):
    """The latest row of READ_ACTION of a connection, and what EVENT_LOG and EVENT_DATA have of it.

    complete: its status.  done: its event is done, or has been removed.  reference: to the stored
    effect; None: the row of EVENT_DATA is not there yet, or no longer.
    """

    info: ActionInfo
    complete: bool
    done: bool
    reference: bytes | None


class ReadEffect(NamedTuple):
    """A side-effect read that a generation used, kept for lineage (Algorithm 4).

    action_id: the next number of the connection (Context.send).
    """

    connection: str
    action_id: int
    reference: bytes


class LogError(Exception):
    """A step that the log refuses; its transaction changes nothing."""


class LogInterrupted(LogError):
    """A transaction or a query that its database has interrupted: the connection broke, for one.

    All that was committed is in the log.  An operator steps again, and recovers.
    """


class InputSetGone(LogError):
    """No undone event has this Input Set: the events of a replica have been moved (3.5.1, 7.2)."""
