"""The compiled part of the kernel: how far each partition is, step by step, after a failure.

Rule of this file: what sim.experiments.compiled compiles.  sim.experiments.su.kernel has the tables
and says what they mean; tests/families/progressive/test_kernel.py has the same with dictionaries.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.experiments.compiled import compiled

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


class CompiledRules(NamedTuple):
    """As sim.experiments.su.kernel.Rules, in steps; batch: 0 for none."""

    behind: int
    period: int
    store: int
    batch: int
    always: bool
    speed: float
    cores: float
    resumes: int


class TopologyTables(NamedTuple):
    """By partition.  operator, host: their numbers; operator 0 is the source, which has none.
    starts: the step from which it runs.  load: the cores that it needs to keep pace.  position: the
    step up to whose tuples it has processed all.  demand, ready: of this step.
    above: by operator, the operators that it reads.  used: by host, the cores asked for.
    front: by step and operator, the position of the partition that is furthest behind.
    """

    operator: Ints
    host: Ints
    starts: Ints
    load: Floats
    position: Floats
    demand: Floats
    ready: Floats
    above: Flags
    used: Floats
    front: Floats


@compiled
def recover(rules: CompiledRules, tables: TopologyTables) -> None:
    """Fill `front`."""
    behind, period, store, batch, always, speed, cores, resumes = rules
    operator, host, starts, load, position, demand, ready, above, used, front = tables
    steps, operators = front.shape
    source = -float(behind)
    position[:] = source
    ordered_until = -1
    for step in range(steps):
        ordered = batch > 0 and (always or ordered_until < 0 or step < ordered_until)
        used[:] = 0
        for at in range(len(operator)):
            demand[at] = 0.0
            if step < starts[at]:
                continue
            limit = math.inf
            for other in range(operators):
                if above[operator[at], other]:
                    limit = min(limit, front[step - 1, other] if step > 0 else -float(behind))
            if ordered:
                limit = math.floor((limit + behind) / batch) * batch - behind
            ready[at] = limit
            if limit > position[at]:
                demand[at] = min(1.0, (limit - position[at]) * load[at])
                used[host[at]] += demand[at]
        if step >= resumes:
            source = min(float(step + 1), source + speed)
        front[step, 0] = slowest = source
        for other in range(1, operators):
            front[step, other] = math.inf
        for at in range(len(operator)):
            if demand[at] > 0:
                granted = demand[at] * min(1.0, cores / used[host[at]])
                if granted < (ready[at] - position[at]) * load[at]:
                    position[at] += granted / load[at]
                else:
                    position[at] = ready[at]
            front[step, operator[at]] = min(front[step, operator[at]], position[at])
            slowest = min(slowest, position[at])
        if ordered_until < 0 and slowest >= period - behind:
            ordered_until = step + store
