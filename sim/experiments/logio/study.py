"""A study: a pipeline, its protocol, its costs and its failures; and the outcome of a run.

Rule of this file: values alone, and no number of the paper (sim.experiments.logio.paper).
LOG.io, Sections 3 and 9.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import NamedTuple


class PipelineRecovery(Enum):
    """The protocol of a pipeline."""

    NONE = "baseline"
    LOG = "LOG.io"
    SNAPSHOTS = "ABS"


@dataclass(frozen=True, slots=True)
class PipelineTask:
    """An operator that makes one output of each Input Set.

    inputs: its predecessors.  gathers: how many inputs a set has, of any predecessor, or by
    predecessor.  work_s: a generation.  deals: each output goes to one successor, in turn.  writes:
    a writer; under ABS it hands on its outputs at the end of an epoch.  grows: how many times an
    input's size an output has.
    """

    name: str
    inputs: tuple[str, ...]
    work_s: float = 0.0
    gathers: int | Mapping[str, int] = 1
    deals: bool = False
    writes: bool = False
    grows: int = 1


@dataclass(frozen=True, slots=True)
class StudiedPipeline:
    """events: of the source SOURCE, which generates one every period_s.  tasks: in the order of the
    data's way; the last one ends the run with its `ends`-th input."""

    events: int
    period_s: float
    tasks: tuple[PipelineTask, ...]
    ends: int


SOURCE = "OP1"


@dataclass(frozen=True, slots=True)
class PipelineCosts:
    """Times in seconds.

    assign_s, generate_s: transactions of LOG.io: an update for each input and for the success of
    each write, and the log of an output.  lineage_s: the lineage row of an output.  byte_s: a byte
    of an output in the log, beyond those of the events with which generate_s was measured.  room:
    how many events a connection takes; None: any number.  share: the work that ABS adds to all
    work.  snapshot_s: its extra time for a snapshot.  restart_s: of an operator, and of the whole
    pipeline, whose operators start at the same time.
    """

    assign_s: float = 0.0
    generate_s: float = 0.0
    lineage_s: float = 0.0
    byte_s: float = 0.0
    room: int | None = None
    share: float = 0.0
    snapshot_s: float = 0.0
    restart_s: float = 0.0


class Failure(NamedTuple):
    """A failure of an operator with so many inputs, before it makes an output of the last one, or
    at a time of the run.  9.3.2, Figure 8: with 10 inputs, two a set, OP3 has made 4 outputs."""

    task: str
    after: int | None = None
    at_s: float = inf


@dataclass(frozen=True, slots=True)
class PipelineStudy:
    """A pipeline, its protocol and its failures.  interval_s: from a marker to the next.
    event_bytes: the size of the source's events, beyond the one that costs were measured with."""

    pipeline: StudiedPipeline
    recovery: PipelineRecovery
    costs: PipelineCosts
    failures: tuple[Failure, ...] = ()
    interval_s: float = inf
    event_bytes: float = 0.0


class PipelineOutcome(NamedTuple):
    """seconds: until the last input of the last operator.  lost_s: by failure, the work of the
    slowest operator that is done again.  transactions: of LOG.io.  snapshots: of operators.  made:
    by failure after an input, the numbers of events that the source and the operator had made."""

    seconds: float
    lost_s: tuple[float, ...]
    transactions: int
    snapshots: int
    made: tuple[tuple[int, int], ...] = ()
