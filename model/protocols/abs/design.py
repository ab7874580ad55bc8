"""The choices of asynchronous barrier snapshotting: what the paper's words allow, and the mends.

Rule of this file: a choice is a field of AbsDesign, in every reading that the paper's words allow;
no step of a node.  The default of each field is the mended choice.
LOG.io, Sections 1, 8.1.1 and 9.1; a section is cited at each choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from model.protocol import EndNeeds, Knob, SinkNeed, SourceNeed
from model.uploads import SNAPSHOTS_KNOB, Snapshots


class Alignment(Enum):
    """When an operator with several inputs makes its snapshot, and what it does with its inputs.
    8.1.1: "it blocks the channel from where the new marker has been received"; 1: "when an operator
    receives the markers of a given epoch on all its inputs"; 9.1: "unaligned checkpoints"."""

    STRICT = "after the last marker; what follows a marker waits for the snapshot"
    OPEN = "after the last marker; what follows a marker is processed at once"
    FIRST = "at the first marker; what comes before the other markers is in no snapshot"
    UNALIGNED = "at the first marker; what comes before the other markers is in the snapshot"


class Completes(Enum):
    """When an epoch is complete.  1: "when all operators checkpoint their state"; 8.1.1: "once all
    the sink operators have received the snapshot marker and executed their relative snapshots"."""

    ALL = "when all nodes have made their snapshots"
    WRITERS = "when all writers have made their snapshots"


class WriteMode(Enum):
    """How a writer changes the external system.  8.1.1: pre-committed with the snapshot, "once a
    global epoch is reached" committed; 9.1: without two-step commit, "write actions are idempotent"
    or "transactional"."""

    TWO_PHASES = "pre-commit with the snapshot, commit when the epoch is complete"
    AT_ONCE = "each output when it is made"
    IDEMPOTENT = "each output when it is made, with a number that the external system checks"
    WITH_SNAPSHOT = "one transaction with the snapshot"
    CHECKED = "one transaction with the snapshot, unless there is one with the epoch's number"
    COUNTED = "one transaction with the snapshot, without the outputs whose numbers are there"


class Settles(Enum):
    """What a restart does with pre-committed changes.  8.1.1 has no word on it."""

    BY_EPOCH = "commit those of complete epochs, drop the others"
    DROP = "drop all"
    COMMIT = "commit all"


class CoordinatorStorage(Enum):
    """What the coordinator has after a crash of its own.  No word on it.  8.1.1 has snapshots on "a
    reliable storage" and restarts "from the last complete epoch stored in the snapshot storage"."""

    NEVER_FAILS = "it never crashes"
    NOTHING = "nothing"
    EPOCHS = "the last complete epoch with its snapshots"
    EPOCHS_AND_RUNS = "the last complete epoch with its snapshots, and the number of the run"


class Decides(Enum):
    """When a complete epoch is stored.  8.1.1 commits "once a global epoch is reached"; a
    coordinator of two-phase commit stores its decision first."""

    STORED_FIRST = "before any node knows of it"
    ANNOUNCED_FIRST = "after all nodes are informed"


class CoordinatorRestart(Enum):
    """What a restarted coordinator does.  1: "a failure of one operator ... triggers a restart of
    the pipeline"; the coordinator is no operator."""

    ROLLS_BACK = "it restarts all nodes from the last complete epoch"
    ASKS = "it asks all nodes for the numbers of their runs, then restarts them"
    GOES_ON = "it ends an epoch, and restarts no node"


class Pauses(Enum):
    """When an epoch may begin.  No word on it; engines have a minimum pause between checkpoints."""

    NONE = "as soon as the epoch before is complete"
    MINIMUM = "a while after the epoch before is complete"


class Sources(Enum):
    """What a source sends again.  8.1.1: "ABS requires that the data sources be replayable"; 9.1:
    this "is not guaranteed by the ABS protocol"."""

    REPLAYABLE = "the records after the last complete epoch, from its memory"
    SEEKING = "the records after the last complete epoch, from a log that it reads again"
    ONCE = "nothing"


class Generations(Enum):
    """What a node does with a message from before the restart.  No word on it."""

    DROPPED = "it drops the message"
    TAKEN = "it takes the message"


class Places(Enum):
    """Where a restart runs the tasks.  No word on it; Apache Flink takes any free slot."""

    SAME = "where they were; a task that is suspected has to come up again"
    OTHERS = "elsewhere, at once; a task that is up goes on until its place is needed"


class Fences(Enum):
    """The answer of the external system to a change of a run that is over.  No word on it."""

    NONE = "it takes the change"
    RUNS = "it refuses the change, once it has had one of a later run"


@dataclass(frozen=True, slots=True)
class AbsDesign:
    """A protocol: one choice of each kind.

    prompt_store, prompt_system: the snapshot storage (with the coordinator) and the external system
    take what they are sent at once; without it a node does not wait for their answer.  A
    coordinator that may crash never takes anything at once.
    """

    alignment: Alignment = Alignment.STRICT
    completes: Completes = Completes.ALL
    writes: WriteMode = WriteMode.TWO_PHASES
    settles: Settles = Settles.BY_EPOCH
    generations: Generations = Generations.DROPPED
    sources: Sources = Sources.REPLAYABLE
    snapshots: Snapshots = Snapshots.SYNCHRONOUS
    pauses: Pauses = Pauses.NONE
    coordinator: CoordinatorStorage = CoordinatorStorage.NEVER_FAILS
    decides: Decides = Decides.STORED_FIRST
    returns: CoordinatorRestart = CoordinatorRestart.ROLLS_BACK
    places: Places = Places.SAME
    fences: Fences = Fences.NONE
    prompt_store: bool = True
    prompt_system: bool = True


KNOBS = (
    Knob(
        "alignment",
        "",
        "An operator with several inputs waits for all markers, or takes what is on its way into "
        "the snapshot.",
        (("aligned", Alignment.STRICT), ("unaligned", Alignment.UNALIGNED)),
    ),
    Knob(
        "writes",
        "",
        "A writer commits an epoch in two phases, or writes each output at once with its number.",
        (("two-phases", WriteMode.TWO_PHASES), ("idempotent", WriteMode.IDEMPOTENT)),
    ),
    SNAPSHOTS_KNOB,
    Knob(
        "pauses",
        "",
        "An epoch begins when a source asks for it, or at least `costs.timers.pause` after the end "
        "of the one before.",
        (("none", Pauses.NONE), ("minimum", Pauses.MINIMUM)),
    ),
    Knob(
        "sources",
        "",
        "A source keeps the events of open epochs in its memory, or reads them again from a log.",
        (("replayable", Sources.REPLAYABLE), ("seeking", Sources.SEEKING)),
    ),
)
"""The settings of users: all are right, but idempotent writes need deterministic operators."""


def ends(design: AbsDesign) -> EndNeeds:
    """The abilities of sources and sinks that a design needs."""
    sources = {Sources.ONCE: SourceNeed.NOTHING, Sources.REPLAYABLE: SourceNeed.KEEPS}
    source = sources.get(design.sources, SourceNeed.SEEKS)
    sink = {WriteMode.AT_ONCE: SinkNeed.NOTHING, WriteMode.IDEMPOTENT: SinkNeed.REMEMBERS}
    return EndNeeds(source, sink.get(design.writes, SinkNeed.TRANSACTS))
