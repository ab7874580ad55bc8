"""The choices of unaligned checkpoints: those of engines, and those that lose or repeat records.

Rule of this file: a choice is a field of UnalignedDesign; no step of a node.  The default of each
field is the right choice.
FLIP-76 (unaligned checkpoints); FLINK-19801 (rescaling from them); FLIP-547 (checkpoints during
recovery).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from model.protocol import Knob
from model.protocols.unaligned_checkpoints.savepoints import SavepointDesign
from model.uploads import SNAPSHOTS_KNOB, Snapshots


class Overtaking(Enum):
    """Which records a barrier overtakes.  FLIP-76: barriers overtake the buffers of a channel."""

    ALL = "all records in the input and output buffers"
    NONE = "none: an operator waits for the barriers of all inputs, and blocks an input after its"
    NOT_AT_WRITERS = "all, but at an operator before a sink none"


class Captures(Enum):
    """Which records on their way become part of a snapshot."""

    ALL = "those in input and output buffers, and those that come before the other barriers"
    NO_OUTPUTS = "those of the inputs alone"
    NO_INPUTS = "those in output buffers alone"
    AT_FIRST_BARRIER = "those in the buffers at the first barrier alone"
    ALL_BUT_RESTORED = "all but those that a restart has put into the input buffers"


class Redistribution(Enum):
    """Which instance receives the records on their way after a restart."""

    BY_KEY = "the instance that owns the key now"
    BY_CHANNEL = "the instance with the number of the one that the channel led to"
    TO_ALL = "every instance, and none drops the records of other keys"
    NONE = "no instance"


class StateOwners(Enum):
    """Which instance receives the state of a key after a restart."""

    BY_KEY = "the instance that owns the key group now"
    BY_NUMBER = "the instance with the number of the one that had it"


class Injection(Enum):
    """When a restarted instance takes the records on their way.  FLINK-16536: new data must not
    overtake them."""

    BEFORE_NEW = "before all new records"
    AFTER_NEW = "after the new records that were faster than the restart"


class Finishes(Enum):
    """When a checkpoint is complete.  A commit needs all outputs of the epoch at the sink."""

    WITH_SINKS = "when sources, operators and sinks have their parts"
    WITHOUT_SINKS = "when sources and operators have their parts"


@dataclass(frozen=True, slots=True)
class UnalignedDesign:
    """A protocol: one choice of each kind.

    layout: how many instances a keyed operator has in the runs of the pipeline, in turn; every
    restart begins the next run.  savepoints: None: the user takes none.
    """

    layout: tuple[int, ...] = (1,)
    overtaking: Overtaking = Overtaking.ALL
    captures: Captures = Captures.ALL
    redistribution: Redistribution = Redistribution.BY_KEY
    injection: Injection = Injection.BEFORE_NEW
    finishes: Finishes = Finishes.WITH_SINKS
    snapshots: Snapshots = Snapshots.SYNCHRONOUS
    owners: StateOwners = StateOwners.BY_KEY
    savepoints: SavepointDesign | None = None


KNOBS = (
    Knob(
        "overtaking",
        "",
        "Barriers overtake the records in buffers, or operators wait for all barriers.",
        (("unaligned", Overtaking.ALL), ("aligned", Overtaking.NONE)),
    ),
    SNAPSHOTS_KNOB,
)
"""The settings of users: each value is right."""
