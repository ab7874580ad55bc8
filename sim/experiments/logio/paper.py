"""The setting of the LOG.io paper, Section 9: pipelines, and costs in seconds.

Rule of this file: the parts that all figures share.  A cost is calibrated on one published number,
and that number is compared with nothing.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import cache

from model.results.experiment import Parameter
from sim.experiments.logio.study import (
    PipelineCosts,
    PipelineRecovery,
    PipelineTask,
    StudiedPipeline,
)
from sim.experiments.published import value

SOURCE = "LOG.io, Section 9"
BOTTLENECK_S = 250.0
"""The work of the slowest operator, in every pipeline of the paper: 50 * 5 s, 500 * 0.5 s, ..."""
FIRST_S = 2 * 0.5 + 0.05 + 5
"""OP3's first output in series 1: two events, the work of OP2 and its own."""
INTERVALS_S = (15.0, 30.0, 45.0)


class FigureReading(Enum):
    """The points that the text leaves open, for all figures.

    BOUNDED: connections take as many events under ABS as under LOG.io, and hold an operator back
    when they are full (7.1, 9.1; 9.3.2 on Figure 8).  UNBOUNDED: they never do.  Then an epoch has
    as many events as the source generates in an interval, as 9.3.2 counts them; but a restart under
    LOG.io delays nothing unless the operator is the slowest.  SNAPSHOT: UNBOUNDED, and ABS costs
    time for each snapshot, and no share of all work; 9.4 says that the interval does not matter.
    """

    BOUNDED = "bounded connections"
    UNBOUNDED = "unbounded connections"
    SNAPSHOT = "a cost a snapshot"


CHOSEN = FigureReading.BOUNDED
"""The reading that is compared; the others are beside it."""
READINGS = {
    PipelineRecovery.LOG: (FigureReading.BOUNDED, FigureReading.UNBOUNDED),
    PipelineRecovery.SNAPSHOTS: (
        FigureReading.BOUNDED,
        FigureReading.UNBOUNDED,
        FigureReading.SNAPSHOT,
    ),
}


# --- the pipelines ---------------------------------------------------------------------------
def linear(events: int, period_s: float, op3_s: float, batch: int, ends: int) -> StudiedPipeline:
    """Use case 1.  9.3.2 says of series 1 that OP3 gathers two events; its counts of outputs in
    series 2 and 3 (500 of 1,000, 2,500 of 5,000) say so of them, too."""
    return StudiedPipeline(
        events,
        period_s,
        (
            PipelineTask("OP2", ("OP1",), 0.050),
            PipelineTask("OP3", ("OP2",), op3_s, 2, grows=2),
            PipelineTask("OP4", ("OP3",), 0.0, batch, writes=True),
            PipelineTask("OP5", ("OP4",)),
        ),
        ends,
    )


def parallel(*, synchronised: bool) -> StudiedPipeline:
    """Use case 2: OP2 and OP3 have the same input, and OP4 takes the outputs of both."""
    gathers = {"OP2": 50, "OP3": 100} if synchronised else 100
    return StudiedPipeline(
        1000,
        0.1,
        (
            PipelineTask("OP2", ("OP1",), 0.050),
            PipelineTask("OP3", ("OP1",), 0.5, 2, grows=2),
            PipelineTask("OP4", ("OP2", "OP3"), 0.0, gathers, writes=True),
            PipelineTask("OP5", ("OP4",)),
        ),
        5 if synchronised else 15,
    )


def replicated(
    events: int, period_s: float, op3_s: float, batch: int, ends: int
) -> StudiedPipeline:
    """Use case 3: a dispatcher, two replicas, and a merger that writes.  9.2 has a writer after the
    merger, 9.3.4 has one operator; here it is one."""
    return StudiedPipeline(
        events,
        period_s,
        (
            PipelineTask("OP2", ("OP1",), deals=True),
            PipelineTask("OP3.1", ("OP2",), op3_s),
            PipelineTask("OP3.2", ("OP2",), op3_s),
            PipelineTask("OP4", ("OP3.1", "OP3.2"), 0.0, batch, writes=True),
            PipelineTask("OP5", ("OP4",)),
        ),
        ends,
    )


SLOW = linear(100, 0.5, 5.0, 10, 5)
MIDDLE = linear(1000, 0.1, 0.5, 100, 5)
FAST = linear(5000, 0.03, 0.1, 250, 10)
REPLICAS = replicated(1000, 0.1, 0.5, 100, 10)
FAST_REPLICAS = replicated(5000, 0.03, 0.1, 200, 25)


# --- the costs -------------------------------------------------------------------------------
def _start_s() -> float:
    """A start of all pods: the first time, and after each failure under ABS.

    Figure 5 has it: until OP4's first input FIRST_S pass, which are lost, and the pipeline starts
    once more.  The overhead is in % of the run without a protocol, which has a start, too.
    """
    added = (value("fig5-abs-1") - value("fig7-abs-normal")) / 100
    return (added * (FIRST_S - 5 + BOTTLENECK_S) - FIRST_S) / (1 - added)


START_S = _start_s()
BASELINE_S = FIRST_S - 5 + BOTTLENECK_S + START_S


def _seconds(id_: str) -> float:
    """A published overhead in seconds; it is in % of the baseline."""
    return value(id_) / 100 * BASELINE_S


@cache
def costs(recovery: PipelineRecovery, reading: FigureReading) -> PipelineCosts:
    """The costs of a protocol in a reading; each from one published number."""
    if recovery is PipelineRecovery.NONE:
        return PipelineCosts()
    if reading is FigureReading.SNAPSHOT:  # OP1 generates for 100 s: seven markers delay OP3
        return PipelineCosts(snapshot_s=_seconds("fig7-abs-normal") / 7, restart_s=START_S)
    room = _room() if reading is FigureReading.BOUNDED else None
    if recovery is PipelineRecovery.SNAPSHOTS:
        share = _seconds("fig7-abs-normal") / BOTTLENECK_S
        return PipelineCosts(share=share, restart_s=START_S, room=room)
    each_s = _transaction_s()
    byte_s = (_seconds("fig6-10mb") / 50 - 3 * each_s) / 20e6
    return PipelineCosts(each_s, each_s, byte_s=byte_s, restart_s=_restart_s(), room=room)


def _transaction_s() -> float:
    """A transaction of LOG.io: OP3 of series 2 has three for each output, which has two inputs.

    9.3.2 on Figure 9: without the data of outputs a run is 8 % shorter, "so the processing cost of
    every small log update is a limiting factor".
    """
    return _seconds("fig7-log-normal") / 500 / 3


def _restart_s() -> float:
    """The warm restart of a pod (7.1), by the third failure of Figure 5: OP3 has five outputs to
    make, so no connection is full, and the run is longer by the rest of the restart."""
    each_s = 5 + 3 * _transaction_s()
    return _seconds("fig5-log-3") - 50 * 3 * _transaction_s() + 5 * each_s


def _room() -> int:
    """The events that a connection takes, by the three failures of Figure 7: while OP4 restarts,
    OP3 makes as many, and one more, which it holds.  The run is longer by the rest of the restart,
    which is the mean of three: 12.9, 6.1 and 11.5 % of the baseline."""
    stalled_s = (_seconds("fig7-log-3") - _seconds("fig7-log-normal")) / 3
    return round((_restart_s() - stalled_s) / (0.5 + 3 * _transaction_s())) - 1


def with_lineage(one: PipelineCosts) -> PipelineCosts:
    """The costs with a row for each output, which in series 2 cost 1.2 % of the time without."""
    share = value("lineage-1000") / 100
    return replace(one, lineage_s=share * (BASELINE_S + _seconds("fig7-log-normal")) / 500)


def _setting() -> tuple[Parameter, ...]:
    log, abs_ = costs(PipelineRecovery.LOG, CHOSEN), costs(PipelineRecovery.SNAPSHOTS, CHOSEN)
    lineage_s = with_lineage(log).lineage_s
    return (
        Parameter("event", "10 KB", "9.3.2"),
        Parameter("OP3 of use case 1", "an output of two inputs", "9.3.2: its counts of outputs"),
        Parameter("connections", "bounded, under both protocols", "7.1, 9.1; others beside"),
        Parameter("baseline", f"{BASELINE_S:.0f} s", "start and work; 9.1 has 5 to 6 minutes"),
        Parameter("start of the pipeline", f"{START_S:.0f} s", "by Figure 5: ABS, 1 failure"),
        Parameter("ABS in normal operation", f"{abs_.share:.1%} of the work", "by Figure 7: ABS"),
        Parameter("transaction of LOG.io", f"{1000 * log.assign_s:.0f} ms", "by Figure 7: LOG.io"),
        Parameter("restart of a pod", f"{log.restart_s:.0f} s", "by Figure 5: LOG.io, 3 failures"),
        Parameter("room of a connection", log.room, "by Figure 7: LOG.io, 3 failures"),
        Parameter("byte in LOG.io's log", f"{1e9 * log.byte_s:.0f} ns", "by Figure 6, 10 MB"),
        Parameter("row of lineage", f"{1000 * lineage_s:.1f} ms", "by 9.3.2, 1,000 events"),
        Parameter("chance", "none", "the paper's numbers are means of 10 runs"),
    )


SETTING = _setting()
"""The values that all figures share.  A number by which a cost is calibrated is compared with
nothing."""
