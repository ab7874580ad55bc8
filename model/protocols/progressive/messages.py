"""Progressive recovery as values: messages, states of nodes, checkpoints.

Rule of this file: no step of a node; nodes.py and coordinator.py have these.
Su and Zhou, Progressive Recovery, 2016, Section 4.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from model.boxes.box import Lineage
from model.core import Lost, NodeName, Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.events import Body
from model.log import Log
from model.protocols.progressive.design import ProgressiveDesign

# --- what is counted -------------------------------------------------------------------------
GLOBAL = Quantity("global checkpoints", "checkpoints", "all parts of a checkpoint are stored")
ROLLED_BACK = Quantity(
    "healthy partitions rolled back", "partitions", "a partition that had not failed went back"
)
BLOCKING = Quantity("blocking recoveries", "recoveries", "a recovery waits for all partitions")
PROGRESSIVE = Quantity(
    "progressive recoveries", "recoveries", "a recovery begins without the failed partitions"
)
REJOINED = Quantity(
    "partitions that rejoin", "partitions", "a partition is restored while the others go on"
)
WITHDRAWN = Quantity(
    "results withdrawn", "results", "a result that was held at a sink is of an abandoned epoch"
)
QUANTITIES = (GLOBAL, ROLLED_BACK, BLOCKING, PROGRESSIVE, REJOINED, WITHDRAWN)


# --- what nodes know -------------------------------------------------------------------------
COORDINATOR = "coordinator"


class Members(NamedTuple):
    """The names of all other nodes."""

    sources: tuple[NodeName, ...]
    partitions: tuple[NodeName, ...]
    sinks: tuple[NodeName, ...]


class ProgressiveConfig(NamedTuple):
    """The knowledge of a node besides its site.

    source: the number of a source among all.  routes: for each successor the types of the tuples
    that it gets, None for all; () if all get everything.
    """

    design: ProgressiveDesign
    members: Members
    source: int = 0
    routes: tuple[tuple[str, ...] | None, ...] = ()


# --- messages --------------------------------------------------------------------------------
class Epoch(NamedTuple):
    """The time from one rollback to the next.

    start: the punctuation of the global checkpoint from which it goes on; 0: the beginning.
    progressive: it begins without the failed partitions.
    """

    number: int = 0
    start: int = 0
    progressive: bool = False


class DataTuple(NamedTuple):
    """A data tuple.  number: its local sequence number, from 1, which punctuations share."""

    epoch: Epoch
    number: int
    body: Body
    of: Lineage


class Punctuation(NamedTuple):
    """The end of the k-th batch, and the order to store a checkpoint."""

    epoch: Epoch
    number: int
    k: int


class BatchEnd(NamedTuple):
    """The end of a batch, and no order to store a checkpoint."""

    epoch: Epoch
    number: int


class Stored(NamedTuple):
    """To the coordinator: the sender's part of the k-th checkpoint is stored."""

    epoch: Epoch
    k: int


class Completed(NamedTuple):
    """To all: all parts of the k-th checkpoint are stored."""

    epoch: Epoch
    k: int


class Back(NamedTuple):
    """To the coordinator: the sender has restarted, and waits.  asked: it answers an inquiry."""

    asked: bool = False


class Rollback(NamedTuple):
    """To a partition: go back to the global checkpoint at the start of the epoch.

    rejoin: the sources have resumed.
    """

    epoch: Epoch
    rejoin: bool = False


class Inquiry(NamedTuple):
    """To a partition that was taken for dead: the order for it, if it is up."""

    order: Rollback


class RolledBack(NamedTuple):
    """To the coordinator: the sender has gone back."""

    epoch: Epoch


class Resume(NamedTuple):
    """To a source: send again what came after the start of the epoch, and go on."""

    epoch: Epoch


class Resend(NamedTuple):
    """To a producer: send again what has a greater number, and go on."""

    epoch: Epoch
    after: int


class Due(NamedTuple):
    """To the coordinator: the sender, a source, has punctuated the k-th time."""

    k: int


class Punctuate(NamedTuple):
    """To the other sources: punctuate up to the k-th time."""

    k: int


Item = DataTuple | Punctuation | BatchEnd


# --- what nodes hold -------------------------------------------------------------------------
class PunctuatingSource(NamedTuple):
    """A source: number and time of the newest item, its punctuations, the items that it keeps.

    idle: the periods without data so far, up to those of the design.  ends: the batches that it has
    ended apart from punctuations.  skipped: for each successor the items that it has not got.
    """

    epoch: Epoch = Epoch()
    number: int = 0
    now: int = 0
    k: int = 0
    kept: Log[Item] = Log()
    idle: int = 0
    ends: int = 0
    skipped: tuple[int, ...] = ()


class Inbox(NamedTuple):
    """An input of a partition: the number of the last item taken, and the items that wait."""

    place: int = 0
    held: tuple[Item, ...] = ()


class LocalCheckpoint(NamedTuple):
    """A partition's part of the k-th checkpoint.

    places: of the punctuation in each input.  number: of the punctuation in the output.  skipped:
    for each successor the items before it that the successor has not got.
    """

    k: int
    box: Any
    places: tuple[int, ...]
    number: int
    skipped: tuple[int, ...] = ()


class PartitionState(NamedTuple):
    """A partition.

    epoch: None after a restart, until a rollback.  number: of the last item that it sent.
    recovering: a progressive recovery is under way.  kept: sent items.  stored: its parts of the
    last global checkpoint and of later ones.  skipped: for each successor the items that it has not
    got; () if all get everything.
    """

    epoch: Epoch | None
    box: Any
    inboxes: tuple[Inbox, ...]
    number: int
    recovering: bool
    kept: Log[Item]
    stored: tuple[LocalCheckpoint, ...]
    skipped: tuple[int, ...] = ()


class Held(NamedTuple):
    """A result that waits for the k-th checkpoint."""

    k: int
    edge: int
    tuple: DataTuple


class Application(NamedTuple):
    """The application behind a query.

    places: the number of the last item of each input; None: any item is next.  passed: the greatest
    number that was ever handed on, by input.  marks: the last punctuation of each input.
    """

    epoch: Epoch
    places: tuple[int | None, ...]
    passed: tuple[int, ...]
    marks: tuple[int, ...]
    held: tuple[Held, ...] = ()


class CoordinatorPhase(Enum):
    """What the coordinator is doing.  WINDOW: it counts failures.  ROLLING: it waits for partitions
    to go back.  RUNNING: sources have resumed, and failed partitions rejoin one by one."""

    NORMAL = "normal"
    WINDOW = "counting failures"
    ROLLING = "rolling back"
    RUNNING = "recovering"


class Durable(NamedTuple):
    """What the coordinator keeps in stable storage: the epoch and the last global checkpoint."""

    epoch: Epoch = Epoch()
    complete: int = 0


class CoordinatorState(NamedTuple):
    """The coordinator.

    complete: the last global checkpoint.  stored: (partition or sink, k).  lost: the nodes that
    failed since the last recovery ended.  down: those that are not back.  waiting: those that have
    not gone back yet.
    """

    epoch: Epoch
    complete: int
    phase: CoordinatorPhase = CoordinatorPhase.NORMAL
    stored: frozenset[tuple[NodeName, int]] = frozenset()
    lost: frozenset[NodeName] = frozenset()
    down: frozenset[NodeName] = frozenset()
    waiting: frozenset[NodeName] = frozenset()


State = PunctuatingSource | PartitionState | Application | CoordinatorState


# --- what is shown ---------------------------------------------------------------------------
def size(message: Any) -> Size:
    """The size of a message or of a durable value.  Of a checkpoint only the newest is written."""
    match message:
        case DataTuple():
            return Size(MessageKind.EVENT, 1, name="tuples")
        case Punctuation() | BatchEnd() | Due() | Punctuate():
            return Size(MessageKind.CONTROL, name="punctuations")
        case Stored() | Completed():
            return Size(MessageKind.ACKNOWLEDGEMENT, name="checkpoint messages")
        case Durable():
            return Size(MessageKind.CHECKPOINT, 0, 1, name="coordinator's writes")
        case (LocalCheckpoint(), *_):
            return Size(MessageKind.CHECKPOINT, 0, 1, name="checkpoints")
        case _:
            return Size(MessageKind.RECOVERY, name="recovery messages")


def states(value: Any) -> CarriedStates:
    """The partition's state in its newest checkpoint, or in memory once it has gone back."""
    match value:
        case (LocalCheckpoint(), *_):
            return CarriedStates((value[-1].box,), write=value[-1])
        case PartitionState(Epoch(), box):
            return CarriedStates((box,))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message, a state or an output in a few words."""
    match value:
        case DataTuple(epoch, number, body):
            return f"{number}: {body.type}@{body.time}{_of(epoch)}"
        case Punctuation(epoch, number, k):
            return f"{number}: P{k}{_of(epoch)}"
        case BatchEnd(epoch, number):
            return f"{number}: end of batch{_of(epoch)}"
        case Stored(epoch, k):
            return f"stored P{k}{_of(epoch)}"
        case Completed(epoch, k):
            return f"complete P{k}{_of(epoch)}"
        case Rollback(epoch, rejoin):
            return f"{'rejoin' if rejoin else 'back'} at P{epoch.start}{_of(epoch)}"
        case Inquiry(order):
            return f"if up, {show(order)}"
        case RolledBack(epoch):
            return f"went back{_of(epoch)}"
        case Resume(epoch):
            return f"resume after P{epoch.start}{_of(epoch)}"
        case Resend(_, after):
            return f"resend after {after}"
        case Back():
            return "back"
        case Lost(node):
            return f"{node} is lost"
        case Due(k) | Punctuate(k):
            return f"punctuate P{k}"
        case PunctuatingSource(_, number, _, _, kept):
            return f"{len(kept)} of {number}"
        case PartitionState(None):
            return "waits for a rollback"
        case PartitionState(_, _, _, number, recovering):
            return f"at {number}" + (", recovering" if recovering else "")
        case Application(_, _, _, marks):
            return f"P{min(marks)}"
        case CoordinatorState(epoch, complete, phase):
            return f"P{complete}, {phase.value}{_of(epoch)}"
    return ""


def _of(epoch: Epoch) -> str:
    return f" (epoch {epoch.number})" if epoch.number else ""
