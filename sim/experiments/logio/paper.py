"""The setting of the LOG.io paper, Section 9: pipelines, and costs in seconds.

Rule of this file: what all figures share.  A cost is calibrated on one published number, and that
number is compared with nothing.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import cache

from sim.experiments.experiment import Parameter
from sim.experiments.logio.pipeline import Costs, Pipeline, Recovery, Task
from sim.experiments.published import value

SOURCE = "LOG.io, Section 9"
BASELINE_S = 330.0
BOTTLENECK_S = 250.0
"""The work of the slowest operator, in every pipeline of the paper: 50 * 5 s, 500 * 0.5 s, ..."""
DEPLOY_S = BASELINE_S - BOTTLENECK_S
INTERVALS_S = (15.0, 30.0, 45.0)


class Reading(Enum):
    """What the text leaves open, by protocol."""

    BOUNDED = "bounded connections"
    UNBOUNDED = "unbounded connections"
    SHARE = "a share of the work"
    SNAPSHOT = "a cost a snapshot"


READINGS = {
    Recovery.NONE: (Reading.UNBOUNDED,),
    Recovery.LOG: (Reading.BOUNDED, Reading.UNBOUNDED),
    Recovery.SNAPSHOTS: (Reading.SHARE, Reading.SNAPSHOT),
}


# --- the pipelines ---------------------------------------------------------------------------
def linear(events: int, period_s: float, op3_s: float, batch: int, ends: int) -> Pipeline:
    """Use case 1.  9.3.2 says of series 1 that OP3 gathers two events; its counts of outputs in
    series 2 and 3 (500 of 1,000, 2,500 of 5,000) say so of them, too."""
    return Pipeline(
        events,
        period_s,
        (
            Task("OP2", ("OP1",), 0.050),
            Task("OP3", ("OP2",), op3_s, 2, grows=2),
            Task("OP4", ("OP3",), 0.0, batch, writes=True),
            Task("OP5", ("OP4",)),
        ),
        ends,
    )


def parallel(*, synchronised: bool) -> Pipeline:
    """Use case 2: OP2 and OP3 have the same input, and OP4 takes the outputs of both."""
    gathers = {"OP2": 50, "OP3": 100} if synchronised else 100
    return Pipeline(
        1000,
        0.1,
        (
            Task("OP2", ("OP1",), 0.050),
            Task("OP3", ("OP1",), 0.5, 2, grows=2),
            Task("OP4", ("OP2", "OP3"), 0.0, gathers, writes=True),
            Task("OP5", ("OP4",)),
        ),
        5 if synchronised else 15,
    )


def replicated(events: int, period_s: float, op3_s: float, batch: int, ends: int) -> Pipeline:
    """Use case 3: a dispatcher, two replicas, and a merger that writes.  9.2 has a writer after the
    merger, 9.3.4 has one operator; here it is one."""
    return Pipeline(
        events,
        period_s,
        (
            Task("OP2", ("OP1",), deals=True),
            Task("OP3.1", ("OP2",), op3_s),
            Task("OP3.2", ("OP2",), op3_s),
            Task("OP4", ("OP3.1", "OP3.2"), 0.0, batch, writes=True),
            Task("OP5", ("OP4",)),
        ),
        ends,
    )


SLOW = linear(100, 0.5, 5.0, 10, 5)
MIDDLE = linear(1000, 0.1, 0.5, 100, 5)
FAST = linear(5000, 0.03, 0.1, 250, 10)
REPLICAS = replicated(1000, 0.1, 0.5, 100, 10)
FAST_REPLICAS = replicated(5000, 0.03, 0.1, 200, 25)


# --- the costs -------------------------------------------------------------------------------
def _seconds(id_: str) -> float:
    """A published overhead in seconds; it is in % of the baseline."""
    return value(id_) / 100 * BASELINE_S


@cache
def costs(recovery: Recovery, reading: Reading) -> Costs:
    """The costs of a protocol in a reading; each from one published number.

    assign_s, generate_s: OP3 is the slowest of series 2, with two inputs an output; OP2 is that of
    series 3, with one.  restart_s: the first failure of Figure 5, after OP4's first input, which
    came 1 + 0.05 + 5 s from the start.  room: what OP3 makes while OP4 restarts in Figure 7, but
    for the time by which the run is longer.
    """
    share = _seconds("fig7-abs-normal") / BOTTLENECK_S
    restart_s = _seconds("fig5-abs-1") - _seconds("fig7-abs-normal") - (1 + 0.05 + 5)
    if recovery is Recovery.SNAPSHOTS:
        if reading is Reading.SHARE:
            return Costs(share=share, restart_s=restart_s)
        return Costs(snapshot_s=_seconds("fig7-abs-normal") / 7, restart_s=restart_s)
    if recovery is Recovery.NONE:
        return Costs()
    op3_s = _seconds("fig7-log-normal") / 500
    op2_s = _seconds("fig9-log-normal") / 5000
    assign_s = op3_s - op2_s
    stalled_s = _seconds("fig7-log-1") - _seconds("fig7-log-normal")
    each_s = 0.5 + op3_s
    return Costs(
        assign_s=assign_s,
        generate_s=op2_s - assign_s,
        byte_s=(_seconds("fig6-10mb") / 50 - op3_s) / 20e6,
        room=round((restart_s - stalled_s) / each_s) if reading is Reading.BOUNDED else None,
        restart_s=restart_s,
    )


def with_lineage(one: Costs) -> Costs:
    """The costs with a row for each output, which in series 2 cost 1.2 % of the time without."""
    share = value("lineage-1000") / 100
    return replace(one, lineage_s=share * (BASELINE_S + _seconds("fig7-log-normal")) / 500)


SETTING = (
    Parameter("baseline", f"{BASELINE_S:.0f} s", "9.1 has 5 to 6 minutes; the numbers are lost"),
    Parameter(
        "start of the pipeline",
        f"{DEPLOY_S:.0f} s",
        f"the baseline but for {BOTTLENECK_S:.0f} s, the work of the slowest operator",
    ),
    Parameter("event", "10 KB", "9.3.2"),
    Parameter("OP3 of use case 1", "an output of two inputs", "9.3.2: its counts of outputs"),
    Parameter("an input in LOG.io's log", "from Figures 7 and 9", "normal operation"),
    Parameter("an output in LOG.io's log", "from Figures 7 and 9", "normal operation"),
    Parameter("a byte in LOG.io's log", "from Figure 6, 10 MB", "OP3's output is as its inputs"),
    Parameter("ABS in normal operation", "from Figure 7", "a share of the work, or a snapshot"),
    Parameter("restart", "from Figure 5, first failure", "of an operator and of the pipeline"),
    Parameter("room of a connection", "from Figure 7, first failure", "LOG.io, 9.3.2"),
    Parameter("chance", "none", "the paper's numbers are means of 10 runs"),
)
