"""The choices of continuous eventual checkpointing: what the paper's words allow, and the mends.

Rule of this file: a choice is a field of CecDesign, in every reading that the paper's words allow;
no step of a node.  The default of each field is the mended choice; PUBLISHED has the published
ones.  Sebepou and Magoutis, CEC, 2011: sections are cited at each choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from model.protocol import Knob
from model.queues import Stamp


class WindowCount(Enum):
    """The records that carry N, the number of open windows.  II.B "Constructing an EC" has it on
    checkpoints, III has a field of every tuple."""

    CHECKPOINTS = "G_open and G_check; a result changes nothing"
    FOOTPRINTS = "G_open and G_check; a result counts as a footprint"
    EVERY = "every record, as of after it"


class Bound(Enum):
    """A bound at a stamp.  II.B: replay t > T, and window w_i ignores t < t_i."""

    WITH = "the tuple of the stamp, too"
    WITHOUT = "not the tuple of the stamp"


class Checked(Enum):
    """The stamp of a G_check.  III: "the tuple entering the operator", or the one "processed"."""

    ENTERING = "that of the tuple that enters and is not in the state yet"
    PROCESSED = "that of the last tuple in the state"


class Closed(Enum):
    """What a replay knows of windows that closed within the extent.  II.B."""

    FORGOTTEN = "nothing: their tuples open windows again"
    FLOORS = "the stamp of the newest record of each key"


class Empty(Enum):
    """T if no window is open (N = 0), where the paper's minimum is over nothing.  II.B."""

    START = "the beginning of the stream"
    LIVE = "none, unless the log is empty: nothing is replayed"
    NEVER = "none: nothing is replayed"
    NEWEST = "the stamp of the newest record"


class WriteUnit(Enum):
    """What a write holds, whole or not at all.  II.B: a record; IX: a stream event."""

    RECORD = "one record"
    TUPLE = "all records that one tuple made"


class Background(Enum):
    """When a window may be checkpointed after a restart.  III: nothing forbids any moment."""

    ALWAYS = "at once"
    FOOTPRINT = "at once; its stamp is never below that of the window's footprint"
    CAUGHT_UP = "when the replay has passed the newest record of the log"


class Load(Enum):
    """What loading an eventual checkpoint leaves in the log.  III: the EC-load stream."""

    WRITES = "a record of each window, as it is loaded"
    SILENT = "nothing"


class Identity(Enum):
    """What makes two footprints footprints of one window.  II.B; IV: a window per item_id."""

    KEY = "the key"
    OPENING = "the key and the tuple that opened the window"


class WindowPhase(Enum):
    """Where the next window of a key begins, if windows overlap (II) or leave gaps (not in II)."""

    UNRECORDED = "is derived from the open window, if there is one"
    RECORDED = "stands in every record; a key between windows has a footprint, too"


class Content(Enum):
    """The content of a G_check.  II.B: (S, type, N, t)."""

    RESULT = "the result so far and no more"
    STATE = "also the number of tuples, the start of the window and its opening"


class Damage(Enum):
    """What becomes of a log with a torn or missing record.  II.B: "discard the record"."""

    SKIP = "the record is left out"
    CUT = "the record and all after it are left out"


class CutRecords(Enum):
    """When records that a restart cuts from a damaged log are gone from the disk.  II.B."""

    STORED = "before the next write"
    OVERWRITTEN = "when a new record is written in its place"


class Forward(Enum):
    """What is sent on when a write completes, with several outstanding.  IX."""

    COMPLETED = "what was written"
    PREFIX = "what was written before the first write that is still outstanding"


class CatchUp(Enum):
    """What is sent on while a reader goes through the log.  IX has the reader that catches up, and
    no word on writes that complete meanwhile."""

    LIVE = "what a write completes, at once; the reader ends where the log ended"
    READER = "what the reader reads; the reader ends when it reaches the end"


class Position(Enum):
    """What a record says of several inputs.  V: a time in "both input streams"."""

    SCALAR = "one stamp for all"
    VECTOR = "the place in each"


class Interleaving(Enum):
    """The order in which a replay takes the tuples of several inputs.  V has no word for it."""

    ANEW = "as they come again"
    LOGGED = "what the newest record covers, then the rest"


class IndexRepair(Enum):
    """The index of stream events after a restart.  IX: "reconcile" it with the log."""

    REBUILT = "it gets the entries of the segments that the log has"
    CUT = "the log is cut where the index ends"
    STORED = "nothing: it stays as it was stored"


class Unstored(Enum):
    """How long results stay in memory if their stream is not persisted.  II and IX disagree."""

    ACKNOWLEDGED = "until all downstream nodes have acknowledged them"
    SENT = "until they are sent"


class LogTrim(Enum):
    """What a node may let go of in its own log.  II: results until they are acknowledged."""

    ACKNOWLEDGED = "everything that downstream has acknowledged"
    EXTENT = "of that, what is before the extent"


class InputTrim(Enum):
    """What a node acknowledges to upstream, which lets go of it.  II.A."""

    PROCESSED = "what it has processed"
    STORED = "what the stored footprints no longer need"


@dataclass(frozen=True, slots=True)
class CecDesign:
    """A protocol: one choice of each kind.

    stamp: of records, replays and floors.  replay: from T, with or without T.  ignore: a window
    ignores tuples up to the stamp of its footprint, with or without that stamp.  resume: what
    downstream asks for, by its last result's time or place.
    """

    count: WindowCount = WindowCount.EVERY
    stamp: Stamp = Stamp.PLACE
    replay: Bound = Bound.WITHOUT
    ignore: Bound = Bound.WITH
    checked: Checked = Checked.PROCESSED
    closed: Closed = Closed.FLOORS
    empty: Empty = Empty.NEWEST
    write: WriteUnit = WriteUnit.TUPLE
    background: Background = Background.CAUGHT_UP
    load: Load = Load.SILENT
    identity: Identity = Identity.OPENING
    phase: WindowPhase = WindowPhase.RECORDED
    content: Content = Content.STATE
    damage: Damage = Damage.CUT
    discard: CutRecords = CutRecords.STORED
    forward: Forward = Forward.PREFIX
    catch_up: CatchUp = CatchUp.READER
    position: Position = Position.VECTOR
    interleaving: Interleaving = Interleaving.LOGGED
    index: IndexRepair = IndexRepair.REBUILT
    unstored: Unstored = Unstored.ACKNOWLEDGED
    log_trim: LogTrim = LogTrim.EXTENT
    input_trim: InputTrim = InputTrim.STORED
    resume: Stamp = Stamp.PLACE


KNOBS = (
    Knob(
        "count",
        "",
        "Which records of the log say how many windows are open: all, or those of windows that "
        "opened or were checkpointed, so that a scan may go back further.",
        (("every record", WindowCount.EVERY), ("checkpoints", WindowCount.CHECKPOINTS)),
    ),
)
"""What users may set: both are right."""

MENDED = CecDesign()
PUBLISHED = CecDesign(
    count=WindowCount.CHECKPOINTS,
    stamp=Stamp.TIME,
    replay=Bound.WITHOUT,
    ignore=Bound.WITHOUT,
    checked=Checked.ENTERING,
    closed=Closed.FORGOTTEN,
    empty=Empty.START,
    write=WriteUnit.RECORD,
    background=Background.ALWAYS,
    load=Load.SILENT,
    identity=Identity.KEY,
    phase=WindowPhase.UNRECORDED,
    content=Content.RESULT,
    damage=Damage.SKIP,
    discard=CutRecords.STORED,
    forward=Forward.COMPLETED,
    catch_up=CatchUp.READER,
    position=Position.SCALAR,
    interleaving=Interleaving.ANEW,
    index=IndexRepair.REBUILT,
    unstored=Unstored.SENT,
    log_trim=LogTrim.ACKNOWLEDGED,
    input_trim=InputTrim.STORED,
    resume=Stamp.TIME,
)
"""The reading of every choice that is nearest to the paper's words (warrants.py has the words)."""
