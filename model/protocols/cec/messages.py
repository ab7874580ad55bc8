"""Continuous eventual checkpointing as values: records, segments, states of nodes, messages.

Rule of this file: no step of a node and no scan of a log; nodes.py and scan.py have these.
Sebepou and Magoutis, CEC, 2011, Sections II.B, III and IX.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box, Fed, Item, Out, Stream
from model.boxes.panes import Pane
from model.boxes.reorder import Ordered
from model.core import Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size, StateParts
from model.errors import Invalid
from model.events import BEGINNING, Body, Event
from model.log import Log
from model.queues import (
    TRIMMED,
    Inlet,
    Inlets,
    QueueState,
    Replay,
    Replayed,
    Restarted,
    Trim,
    message_size,
    show_message,
)

# --- what is counted -------------------------------------------------------------------------
G_OPEN_RECORDS = Quantity(
    "G_open records", "records", "a window opened, and its state went to the log"
)
R_RECORDS = Quantity("result records", "records", "a window closed, and its result went to the log")
SCANNED = Quantity("records scanned", "records", "a restart read a record of its log")
EARLY = Quantity(
    "scans that stopped early", "scans", "a restart found N footprints before the log's beginning"
)
NO_WINDOWS = Quantity("restarts without an open window", "restarts", "N was 0 at the crash")
IGNORED = Quantity(
    "replayed tuples ignored", "tuples", "a window or a key was beyond the replayed tuple"
)
CUT = Quantity("segments cut", "segments", "a restart left a torn or unreachable segment out")
LOG_TRIMMED = Quantity("segments let go", "segments", "a log let go of a segment")
EXTENT = Quantity("records in the extent", "records", "what a scan of the log would go through now")
TO_REPLAY = Quantity("tuples to replay", "tuples", "what a restart would ask upstream for now")
QUANTITIES = (
    G_OPEN_RECORDS,
    R_RECORDS,
    SCANNED,
    EARLY,
    NO_WINDOWS,
    IGNORED,
    CUT,
    LOG_TRIMMED,
    EXTENT,
    TO_REPLAY,
    TRIMMED,
)


# --- an operator and its disk ----------------------------------------------------------------
@dataclass(frozen=True)
class LoggedBox(Box):
    """An operator with the settings of its node; it computes what `box` computes.

    checks: may windows be checkpointed in the background?  writes: how many writes may be
    outstanding; 0: a node waits for each.  tears: may a crash leave half a write?  reads: is the
    log sent again read by read, rather than at once?  trims: do consumers acknowledge, so that
    producers let go?  groups: may a stream event hold the records of several tuples?  indexed: has
    the log an index, which a write of its own renews?  persists: is the log stored?  It is in
    memory else, and a restart begins with nothing.

    Raises Invalid for a log in memory with writes to a disk, and for a box that hands ticks on:
    records are of windows.
    """

    box: Box
    checks: bool = False
    writes: int = 0
    tears: bool = False
    reads: bool = False
    trims: bool = False
    groups: bool = False
    indexed: bool = False
    persists: bool = True

    def __post_init__(self) -> None:
        if not self.persists and (self.writes or self.tears or self.indexed or self.checks):
            raise Invalid("logged box: a log that is not stored; give no writes, index or checks")
        if isinstance(self.inner, Aggregate) and self.inner.hands_on:
            raise Invalid(
                "cec: an aggregate hands ticks on, which are results of no window; give one behind "
                "which no other closes windows by ticks"
            )

    @property
    def ordered(self) -> bool:
        """Do tuples enter in the order of their times, rather than of their arrival?"""
        return isinstance(self.box, Ordered)

    @property
    def inner(self) -> Box:
        """What tuples enter one by one."""
        return self.box.box if isinstance(self.box, Ordered) else self.box

    @property
    def horizon(self) -> int:
        return self.box.horizon

    @property
    def period(self) -> int:
        return self.box.period

    def begin(self, edges: int) -> Any:
        return self.box.begin(edges)

    def feed(self, state: Any, item: Item) -> tuple[Fed, ...]:
        return self.box.feed(state, item)

    def expire(self, state: Any) -> tuple[Fed, ...]:
        return self.box.expire(state)

    def order(self, inputs: tuple[Stream, ...]) -> Any:
        return self.box.order(inputs)


# --- the log ---------------------------------------------------------------------------------
class Kind(Enum):
    OPEN = "O"
    CHECK = "C"
    RESULT = "R"


class Record(NamedTuple):
    """A record of the log.

    opened: the place of the tuple that opened the window; with the key, the window's identity.
    pane: the window's state; of another operator than an aggregate, its whole state.  None in a
    result, and in the G_check of a key between windows.
    next: when the key's next window opens (model.boxes.aggregate.Turn).  n: open windows after the
    record.  stamp: of the newest tuple in the state.  results: how many results there were, this
    one included.  out: the result.  between: the key is between windows, and this is its footprint.
    places: the places in several inputs up to which their tuples are in the state; (): the stamp
    says it.
    """

    kind: Kind
    key: Any
    opened: int
    pane: Any
    next: Any
    n: int
    stamp: int
    results: int
    out: Out | None = None
    between: bool = False
    places: tuple[int, ...] = ()


class Segment(NamedTuple):
    """A stream event: records that are written together, its place in the log, from 1.

    torn: a crash came in the middle of the write; its checksum says so.
    """

    place: int
    records: tuple[Record, ...]
    torn: bool = False


class Disk(NamedTuple):
    """The durable value of a node: its log.

    begins: the place of the first segment that was not let go, so that a hole at the beginning is
    seen.  left: segments after the log that a restart has cut and that are still there.  indexed:
    the places of the segments that the index has, if there is one.
    """

    begins: int = 1
    log: Log[Segment] = Log()
    left: tuple[Segment, ...] = ()
    indexed: tuple[int, ...] = ()


# --- what nodes hold -------------------------------------------------------------------------
class KeyWindow(NamedTuple):
    """An open window, or a key between windows (no pane).

    opened: the place of the tuple that opened the window.  foot: the stamp of its newest record
    (tau_2); places: that record's; at: its segment.
    """

    key: Any
    opened: int
    pane: Any
    foot: int
    at: int
    places: tuple[int, ...] = ()


class Floor(NamedTuple):
    """Replayed tuples up to this stamp are in the state already.

    opened: of the window that ignores them; None: they also open no window of the key.
    """

    key: Any
    opened: int | None
    stamp: int


class NodeState(NamedTuple):
    """The state of an operator.

    windows: by their newest footprints, oldest first.  turns: (key, when its next window opens).
    floors: only while replayed tuples may be below one.  stamp: that of the last tuple (t_now).
    until: the stamp of the newest record at the last restart.  mark: how many segments there were
    before the last tuple, or at the restart: a window whose footprint is there may be checkpointed.
    due: a G_check waits for the tuple that enters next.  segments, results: how many there were.
    grouped: records of the stream event that has not ended.  waiting: segments that are not stored
    yet.  disk: the log, as it is stored.  sent: by output, the segment up to which everything was
    sent on; None: downstream has not asked yet.  reader: (the segment that is read next, the last
    one when the reading began); None: nobody reads.  released: by input, the place up to which
    upstream may let go.  acknowledged: by output, the result up to which downstream has
    acknowledged.  loaded: the node has restarted, and a producer has not answered yet.
    """

    inlets: Inlets = Inlets()
    windows: tuple[KeyWindow, ...] = ()
    turns: tuple[tuple[Any, Any], ...] = ()
    floors: tuple[Floor, ...] = ()
    stamp: int = BEGINNING
    until: int = BEGINNING
    mark: int = 0
    due: bool = False
    segments: int = 0
    results: int = 0
    grouped: tuple[Record, ...] = ()
    waiting: tuple[Segment, ...] = ()
    disk: Disk = Disk()
    sent: tuple[int | None, ...] = (0,)
    reader: tuple[int, int] | None = None
    released: tuple[int, ...] = (0,)
    acknowledged: tuple[int, ...] = (0,)
    loaded: bool = False


class CecSink(NamedTuple):
    inlet: Inlet = Inlet()


State = QueueState | NodeState | CecSink


# --- what is shown ---------------------------------------------------------------------------
def size(message: Any) -> Size:
    match message:
        case Segment(_, records):
            results = sum(record.kind is Kind.RESULT for record in records)
            control = len(records) - results
            if results:
                return Size(MessageKind.EVENT, results, control, name="results")
            return Size(MessageKind.CHECKPOINT, 0, control, name="checkpoints")
        case Disk(_, log):
            newest = log.last().records if log else ()
            results = sum(record.kind is Kind.RESULT for record in newest)
            items = len(newest) - results
            return Size(MessageKind.CHECKPOINT, 0, items, name="log", copies=results)
        case Event():
            return Size(MessageKind.EVENT, 1, name="events")
        case _:
            return message_size(message)


def states(value: Any) -> CarriedStates:
    """The parts of the operator's state in the newest segment of a log, or in a node's state."""
    match value:
        case Disk(_, log) if log:
            panes = [one for one in log.last().records if one.pane is not None]
            keys = {record.key for record in panes}
            return CarriedStates((StateParts(len(keys), len(panes)),), write=log.last())
        case NodeState(_, windows):
            open_ = sum(window.pane is not None for window in windows)
            keys = {window.key for window in windows} | {key for key, _ in value.turns}
            return CarriedStates((StateParts(len(keys), open_),))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message, a state or an output in a few words."""
    match value:
        case Segment(place, records, torn):
            return f"{place}: {' '.join(map(show_record, records))}{' torn' * torn}"
        case Disk(_, log):
            return " ".join(show_record(record) for s in log for record in s.records) or "-"
        case Event((place, *_), body):
            return f"{body.type}{place}@{body.time}"
        case Replay() | Replayed() | Restarted() | Trim():
            return show_message(value)
        case NodeState(windows=windows):
            return " ".join(f"{w.key}{_held(w.pane)}@{w.foot}" for w in windows) or "no window"
        case QueueState(place, _, kept):
            return f"{len(kept)} of {place}"
        case CecSink(Inlet(place)):
            return f"{place} taken"
        case (int(), Body(time, type_, data)):
            return f"{' '.join(map(_show_value, data)) or type_} @{time}"
    return ""


def show_record(record: Record) -> str:
    held = "" if record.out else _held(record.pane)
    return f"{record.kind.value}({record.key}{held})@{record.stamp} N{record.n}"


def _show_value(pair: Any) -> str:
    """A value of a result; a join's are the bodies of its tuples."""
    return f"{pair.type}@{pair.time}" if isinstance(pair, Body) else str(pair[1])


def _held(pane: Any) -> str:
    return f":{pane.held}" if isinstance(pane, Pane) else "" if pane else ":-"
