"""The choices of checkpoint roll-backward: what the paper's words allow, and the mends.

Rule of this file: a choice is a field of CrbDesign, in every reading that the paper's words allow;
no step of a node.  The default of each field is the mended choice, but for those that no output
shows (`answers`, `reminds`); PUBLISHED has the published ones.  Sebepou and Magoutis, CEC, 2011:
sections are cited at each choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from model.protocol import Knob
from model.queues import Stamp


class Mode(Enum):
    """What the operator does while a checkpoint is stored.  I: "copy-on-write"."""

    SYNCHRONOUS = "it waits"
    COPY_ON_WRITE = "it goes on, beside a copy of its state"


class Replays(Enum):
    """The tuples that a restart asks for.  I: those "that postdate the checkpoint"; II.A: "from
    that point forward"."""

    AFTER = "those after the stamp of the checkpoint"
    FROM = "those from the stamp of the checkpoint"


class Acknowledges(Enum):
    """When upstream may let go of the tuples in a checkpoint.  II.A: "are taking checkpoints ...
    and send acknowledgments"."""

    CAPTURED = "when the checkpoint is captured"
    STORED = "when the checkpoint is stored"


class Instant(Enum):
    """When a part of a checkpoint is read.  II.A: a "point-in-time consistent view"."""

    CAPTURE = "when the checkpoint is captured"
    COMPLETION = "when the checkpoint is stored"


class Queue(Enum):
    """The output queue in a checkpoint.  II.A: "the full checkpoint includes" it."""

    CAPTURE = "as of the capture"
    COMPLETION = "as of the end of storing"
    NEVER = "it is left out; its number alone is there"


class Parts(Enum):
    """When a part of a checkpoint counts.  II.A: "checkpointed in-sync with its output queue"."""

    IN_SYNC = "once all parts are stored"
    APART = "once it is stored itself"


class Previous(Enum):
    """What becomes of the previous checkpoint.  II.A: "decide what the most recent ... is"."""

    KEPT = "it stays until the new one is whole"
    DROPPED = "it goes when the new one is begun"


class Resumes(Enum):
    """What downstream asks for when upstream has restarted, which makes outputs again.  No word."""

    NUMBER = "outputs with a greater number than the last one"
    LATER = "outputs with a greater time than the last one"
    SINCE = "outputs with the time of the last one, or a greater time"
    EVERYTHING = "all that there is"


class RestartAnswers(Enum):
    """When a restarted operator answers downstream, which has outputs that it must make again.
    II.A: a node that "is asked to replay tuples that it has to reconstruct" recovers first; no word
    on the answer."""

    WITH_OUTPUT = "with the first output that downstream does not have"
    MADE_AGAIN = "as soon as it has made the last output that downstream has"


class Reminds(Enum):
    """Whether a consumer acknowledges once more when a producer has restarted.  II: queues preserve
    results "until receiving an acknowledgment", and a checkpoint may be older than that."""

    NEVER = "it does not"
    ANSWERED = "when the producer has answered"


@dataclass(frozen=True, slots=True)
class CrbDesign:
    """A protocol: one choice of each kind.

    stamp: of the point from which a restart asks for tuples.  windows, position: when these parts
    of a checkpoint are read, if the operator goes on meanwhile; the position is that of the last
    tuple in the state.
    """

    mode: Mode = Mode.COPY_ON_WRITE
    stamp: Stamp = Stamp.PLACE
    replays: Replays = Replays.AFTER
    acknowledges: Acknowledges = Acknowledges.STORED
    windows: Instant = Instant.CAPTURE
    position: Instant = Instant.CAPTURE
    queue: Queue = Queue.CAPTURE
    parts: Parts = Parts.IN_SYNC
    previous: Previous = Previous.KEPT
    resumes: Resumes = Resumes.NUMBER
    answers: RestartAnswers = RestartAnswers.WITH_OUTPUT
    reminds: Reminds = Reminds.NEVER


KNOBS = (
    Knob(
        "mode",
        "",
        "While a checkpoint is stored, the operator goes on beside a copy of its state, or waits.",
        (("copy-on-write", Mode.COPY_ON_WRITE), ("synchronous", Mode.SYNCHRONOUS)),
    ),
)
"""What users may set: both modes are right."""

PUBLISHED = CrbDesign(
    mode=Mode.SYNCHRONOUS,
    stamp=Stamp.TIME,
    replays=Replays.AFTER,
    resumes=Resumes.EVERYTHING,
)
"""The reading that is nearest to the paper's words: tuples have times and no numbers, a restart
asks for those that postdate the checkpoint, and downstream takes what comes."""
