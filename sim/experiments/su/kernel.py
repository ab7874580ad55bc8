"""The kernel: how far behind each operator is, from a failure until it has caught up.

Rule of this file: a topology, rules and results; sim.experiments.su.kernel_loops runs the steps.

Position.  Tuples come at a constant rate, so the place of a partition in its input is a time: the
moment up to whose tuples it has processed all.  All times are in steps since the failure.  The age
of an operator's newest complete result is the time that has passed since the position of its
partition that is furthest behind; every partition reads from all partitions of the operators above.

A step.  A partition that runs takes the tuples that the operators above processed in the step
before, as far as the cores of its host go.  It has one thread.  If the partitions of a host ask for
more cores than there are, each gets the same share of its request.  So without a failure an
operator is as many steps behind as it is hops away from the source.

Failure.  All partitions go back to the global checkpoint, `behind` steps before the failure, and
start when the plan says.  The source sends again from there, at most `speed` times as fast.

Order.  With order preservation, a partition takes whole batches.  A batch has the tuples that the
source sent in `batch` steps.  This ends with the recovery: when the first punctuation after the
rollback has passed all partitions, and `store` steps later their parts of the global checkpoint are
stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.experiments.su.kernel_loops import CompiledRules, TopologyTables, recover

Floats = NDArray[np.float64]


class Partition(NamedTuple):
    """A partition that runs on a host from a step on.  load: the cores that it needs to keep
    pace."""

    operator: int
    load: float
    host: int
    starts: int


class Rules(NamedTuple):
    """behind: the age of the global checkpoint at the failure.  period: from one punctuation to the
    next.  store: from the last partition that a punctuation passes to the global checkpoint.
    batch: of ordered processing; None: without order.  always: order also in normal operation.
    speed: of the source's replay.  cores: of a host."""

    behind: int
    period: int
    store: int
    batch: int | None
    always: bool
    speed: float
    cores: float


def run(
    above: Mapping[int, Sequence[int]], partitions: Sequence[Partition], rules: Rules, steps: int
) -> Floats:
    """For each step and operator, the position at the end of the step.

    above: for each operator from 1 on, the operators that it reads; 0 is the source.
    """
    count, operators = len(partitions), len(above) + 1
    reads = np.zeros((operators, operators), np.bool_)
    for operator, others in above.items():
        reads[operator, [*others]] = True
    starts = np.array([one.starts for one in partitions], np.int64)
    tables = TopologyTables(
        operator=np.array([one.operator for one in partitions], np.int64),
        host=np.array([one.host for one in partitions], np.int64),
        starts=starts,
        load=np.array([one.load for one in partitions]),
        position=np.zeros(count),
        demand=np.zeros(count),
        ready=np.zeros(count),
        above=reads,
        used=np.zeros(1 + max(one.host for one in partitions)),
        front=np.zeros((steps, operators)),
    )
    compiled = CompiledRules(
        rules.behind,
        rules.period,
        rules.store,
        rules.batch or 0,
        rules.always,
        rules.speed,
        rules.cores,
        resumes=int(starts.min()),
    )
    recover(compiled, tables)
    return tables.front


def committed(front: Floats, rules: Rules) -> Floats:
    """For each step, the position of the newest global checkpoint that is complete."""
    slowest = front.min(axis=1)
    passed: Floats = np.floor((slowest + rules.behind) / rules.period) * rules.period - rules.behind
    late: Floats = np.full_like(passed, -float(rules.behind))
    late[rules.store :] = passed[: len(passed) - rules.store]
    return late
