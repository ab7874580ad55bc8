"""The choices of progressive recovery: what the paper's words allow, and the mends.

Rule of this file: a choice is a field of ProgressiveDesign, in every reading that the paper's words
allow; no step of a node.  The default of each field is the mended choice; PUBLISHED has the
published ones.  Su and Zhou, Progressive Recovery, 2016: sections are cited at each choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from model.protocol import Knob


class Order(Enum):
    """When a partition with several inputs processes a batch in a fixed order.  4: the order "is
    turned on in the beginning of the recovery", and off with the buffers."""

    ALWAYS = "always"
    RECOVERY = "while the system recovers progressively"
    NEVER = "never"


class Accepts(Enum):
    """The items that a partition takes from an input, by their local sequence numbers.  4: it "can
    skip duplicate tuples by checking the sequence numbers"."""

    NEXT = "the one that follows the last one, and no other"
    UNSEEN = "all that come after the last one"
    ALL = "all"


class Numbers(Enum):
    """The items that a local sequence number counts, where tuples go to the partition of their key.
    4: "each partition attaches a local sequence number that increases monotonically to each of its
    output tuples".  Who takes all that is unseen needs no more than monotone numbers."""

    CONNECTION = "those that go to the same partition"
    SENDER = "all that the sender sends"


class Fence(Enum):
    """What becomes of an item that was sent before a rollback and arrives after it.  No word."""

    EPOCH = "it carries the number of an older epoch, and is dropped"
    NONE = "it is taken like any other"


class Outputs(Enum):
    """When a result is handed to the application.  4: "to guarantee exactly-once processing"."""

    AT_ONCE = "as soon as it arrives"
    NUMBERED = "as soon as it arrives, unless its number was handed on before"
    COMMITTED = "when the global checkpoint that contains it is complete"


class Ends(Enum):
    """What ends a progressive recovery: "when a new global checkpoint is completely created" (4).
    A partition that fails may have stored its part before."""

    ALL_BACK = "a global checkpoint, of which all parts were stored by partitions that are up"
    CHECKPOINT = "a global checkpoint, no matter who is up"


class Sinks(Enum):
    """Who takes part in a global checkpoint: "all the partitions" (4)."""

    ACKNOWLEDGE = "partitions, and the application behind the sinks"
    SILENT = "partitions"


class CoordinatorMemory(Enum):
    """What the coordinator knows after a crash.  4: "The control bolt is stateless" and its
    heartbeats are in ZooKeeper."""

    DURABLE = "the epoch and the last global checkpoint"
    STATELESS = "nothing"


class Punctuates(Enum):
    """When a source punctuates.  4: "Punctuations are generated periodically".

    A run of the model comes to rest, so it has the periods that count: those with data, the first
    one after a recovery begins, and as many others as `idle` says.
    """

    PERIODIC = "at the end of each period, with or without data"
    DATA = "at the end of a period with data, against the words of the paper"


class Batches(Enum):
    """Where a batch ends that is processed in one order.  4: "The source-buffered data would be
    divided into mini-batches"; no word on who divides new data, and where."""

    PUNCTUATED = "at a punctuation"
    MARKED = "at a punctuation, or at a mark of its own while a checkpoint is under way"


class Suspicion(Enum):
    """The answer to a partition that is taken for dead.  4: the coordinator "detects node failures
    by checking their heartbeats in ZooKeeper"; no word on a heartbeat that is only late."""

    ASKED = "orders go to it, too; if it is up, it answers, and reports its parts again"
    AWAITED = "the coordinator waits until it is back"


class Buffering(Enum):
    """Who keeps outputs besides the sources.  4: adaptive buffering, and its two rivals."""

    ADAPTIVE = "partitions, from the rollback of a progressive recovery to its end"
    UPSTREAM = "partitions, always"
    SOURCE = "nobody, so that every recovery waits for all failed partitions"


class LateFailures(Enum):
    """What happens when the failures exceed the threshold after blocking recovery began.  4: "if
    the total number of failed nodes is higher than a threshold within a specific time window"."""

    SWITCHES = "the recovery begins again, progressively"
    STAYS = "the recovery stays blocking"


class Replacements(Enum):
    """Whether new nodes take the place of failed ones.  1: "One cannot assume an instant
    availability of sufficient resources"."""

    COME = "each failed partition restarts, sooner or later"
    NEVER = "a failed partition stays down"


@dataclass(frozen=True, slots=True)
class ProgressiveDesign:
    """A protocol: one choice of each kind.

    overlap: a source punctuates while a checkpoint is under way.  threshold: the most failures that
    are recovered by blocking.  idle: the periods of a source without data that no recovery asks
    for.  suspicion: the default is right where the detector never errs, and costs no message.
    """

    order: Order = Order.ALWAYS
    accepts: Accepts = Accepts.NEXT
    numbers: Numbers = Numbers.CONNECTION
    fence: Fence = Fence.EPOCH
    outputs: Outputs = Outputs.NUMBERED
    ends: Ends = Ends.ALL_BACK
    sinks: Sinks = Sinks.ACKNOWLEDGE
    coordinator: CoordinatorMemory = CoordinatorMemory.DURABLE
    punctuates: Punctuates = Punctuates.PERIODIC
    batches: Batches = Batches.PUNCTUATED
    suspicion: Suspicion = Suspicion.AWAITED
    replacements: Replacements = Replacements.COME
    buffering: Buffering = Buffering.ADAPTIVE
    late: LateFailures = LateFailures.SWITCHES
    overlap: bool = False
    threshold: int = 1
    idle: int = 0


KNOBS = (
    Knob(
        "buffering",
        "",
        "Who keeps outputs besides the sources: partitions, from the rollback of a progressive "
        "recovery to its end; partitions, always; or nobody, and a recovery waits for all hosts.",
        (
            ("adaptive", Buffering.ADAPTIVE),
            ("upstream", Buffering.UPSTREAM),
            ("source", Buffering.SOURCE),
        ),
    ),
    Knob(
        "threshold",
        "nodes",
        "The most failed nodes for which a recovery waits; with more it is progressive.",
        least=0,
    ),
    Knob(
        "late",
        "",
        "Further failures in a recovery that waits: it begins again, progressively, or it stays.",
        (("switches", LateFailures.SWITCHES), ("stays", LateFailures.STAYS)),
    ),
    Knob(
        "overlap",
        "",
        "A source punctuates while a checkpoint is under way.",
        ((False, False), (True, True)),
    ),
)
"""What users may set: all values are right."""

PUBLISHED = ProgressiveDesign(
    order=Order.RECOVERY,
    accepts=Accepts.UNSEEN,
    fence=Fence.NONE,
    outputs=Outputs.AT_ONCE,
    ends=Ends.CHECKPOINT,
    sinks=Sinks.SILENT,
    coordinator=CoordinatorMemory.STATELESS,
)
"""The reading that is nearest to the paper's words."""
