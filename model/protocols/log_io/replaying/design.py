"""The choices of LOG.io about replay operators, which do not log the data of their outputs.

Rule of this file: as in log_io/design.py: a choice is a field, in every reading; the default is the
mended one, published() has the published ones.
LOG.io, Section 5: algorithms are cited at each choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from model.core import NodeName


class Asks(Enum):
    """When a replay operator is asked for data.  5.2: "when an operator OP fails", the replay
    operators before it are stopped and restarted; Algorithm 11, step 3: OP marks the inputs that it
    needs.  Here they go on, and replay beside their work: to be restarted is to crash, and that may
    come at any moment, too."""

    AT_FAILURE = "when an operator behind it fails"
    ONCE_MARKED = "when an operator behind it has marked its inputs"


class Regenerates(Enum):
    """Which outputs a restarted replay operator generates again.  Algorithm 10, step 2."""

    BY_STATE = 'if "restarted" the unassigned ones, if "replay" the marked ones'
    BOTH = "the unassigned and the marked ones"


class Marks(Enum):
    """Which outputs are undone after a replay.  Algorithm 10, step 4.2: "all output events to
    recover" have status "replay", and Algorithm 3 then sets these to "undone" (5.2)."""

    WHOLE_SETS = "all that were generated from the same Input Set"
    MARKED = "those that were undone before"


class Resets(Enum):
    """Who ends the status "replay" of an event.  5.2: the sender, in the adapted step 4 of
    Algorithm 3; Example 10: the receiver "marks it as undone", too."""

    SENDER = "the sender, before it sends the event"
    RECEIVER = "the receiver, when it has the data"


class GlobalState(Enum):
    """The global state with which outputs are generated again.  Algorithm 11, step 2: that of
    STATE; Algorithm 3, step 2, logs one for each Input Set."""

    LATEST = "the latest one"
    OF_SET = "that of the Input Set"


class Meanwhile(Enum):
    """What becomes of other events while an operator waits for replayed ones.  Algorithm 11, step
    4.a: they "are discarded", and the sender sends them again after the replayed ones."""

    DISCARDED = "they are discarded"
    HELD = "they wait"


class Running(Enum):
    """What an operator does about a replayed event for which it does not wait.  5.2: it "discards"
    it; Example 10: "the replay event will be filtered as obsolete" if it has been processed."""

    DISCARDS = "it discards it"
    FILTERS = "it takes it as any other"


class Accepts(Enum):
    """Which replayed events are taken without filtering by an operator that waits for some.
    5.2: "it accepts replay events without applying the filtering condition"."""

    ANY = "all"
    AWAITED = "those that it waits for"


class Sets(Enum):
    """The Input Sets of an event that is replayed.  Algorithm 11, step 4.a: it is "processed
    through the State Update phase", which assigns it; Algorithm 9, step 2.b, keeps its Input Set.
    """

    ANEW = "it is assigned again"
    KEPT = "those that it had"


class Keeps(Enum):
    """How long the done inputs of a replay operator are kept.  3.6 has "an exception" for them, and
    Section 5 does not say which."""

    AT_ONCE = "they are deleted when they are done"
    WHILE_LOGGED = "while an output that was made of them is logged"
    WHILE_AWAITED = "also while their receiver waits for their data"


class Old(Enum):
    """What becomes of the marks that a node made before it crashed.  Section 5 has no word."""

    KEPT = "they stay"
    CLEARED = "they go when it restarts, and it marks what it lacks now"


class Gone(Enum):
    """An input that an operator wants to mark, and that is no longer logged: what was made of it
    has been taken in the meantime.  Section 5 has no word."""

    UNNOTICED = "nobody hears of it"
    REPORTED = "the transaction says so"


class Logs(Enum):
    """What a replay operator logs after it has sent its outputs.  5.2, at the end: "output events
    are sent before logging their data"."""

    NOTHING = "nothing more"
    DATA = "the data of its outputs"
    ALL = "the whole transaction of Algorithm 3, step 4"


@dataclass(frozen=True, slots=True)
class Replaying:
    """Replay operators.  operators: their names in the graph."""

    operators: frozenset[NodeName]
    asks: Asks = Asks.ONCE_MARKED
    regenerates: Regenerates = Regenerates.BOTH
    marks: Marks = Marks.MARKED
    resets: Resets = Resets.RECEIVER
    state: GlobalState = GlobalState.OF_SET
    meanwhile: Meanwhile = Meanwhile.HELD
    running: Running = Running.FILTERS
    accepts: Accepts = Accepts.AWAITED
    sets: Sets = Sets.KEPT
    keeps: Keeps = Keeps.WHILE_AWAITED
    old: Old = Old.CLEARED
    gone: Gone = Gone.REPORTED
    logs: Logs = Logs.NOTHING


def published(replaying: Replaying) -> Replaying:
    """The same replay operators, word by word."""
    return replace(
        replaying,
        asks=Asks.AT_FAILURE,
        regenerates=Regenerates.BY_STATE,
        marks=Marks.WHOLE_SETS,
        resets=Resets.SENDER,
        state=GlobalState.LATEST,
        meanwhile=Meanwhile.DISCARDED,
        running=Running.DISCARDS,
        accepts=Accepts.ANY,
        sets=Sets.ANEW,
        keeps=Keeps.WHILE_LOGGED,
        old=Old.KEPT,
        gone=Gone.UNNOTICED,
    )
