"""Su and Zhou, Figure 5: relative latency and available queries after a correlated failure.

Rule of this file: which runs are made, and the numbers of the paper in terms of them.

A query is recovered when all its partitions run.  Its latency is the age of its newest complete
result at the application, which gets it at once, or when a global checkpoint contains it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from model.results.table import Row
from sim.experiments.experiment import Experiment
from sim.experiments.published import value
from sim.experiments.su.attach import HOSTS, SOURCE
from sim.experiments.su.figure5_summary import summary
from sim.experiments.su.kernel import Floats, Partition, Rules, committed, run
from sim.experiments.su.setting import (
    ALWAYS,
    BATCH_S,
    BATCHES_S,
    COMMITTED,
    CORES,
    FRESH_S,
    NEVER,
    PARAMETERS,
    PERIOD_S,
    POLICIES,
    RATE,
    RECOVERY,
    SPEED,
    STEP_S,
    TUPLES_S,
    Drawn,
    draw,
    place,
    reads,
    rules,
    steps,
)

EVENTS = 1_200_000
HOPS = 3
SETTLE_S = 60
"""Seconds without a failure after which latencies are stable; twice as long as they take."""


class Course(NamedTuple):
    """The course of a recovery, by interval and query.  age: of the newest result, in seconds.
    recovered: the share of the interval in which the query was recovered."""

    age: Floats
    recovered: Floats


def rows(seed: int, events: int) -> Sequence[Row]:
    """For each policy and each way, averages of each interval since the failure; and, for each
    length of a batch, the latency without failures."""
    drawn, count = draw(seed), round(events / RATE / STEP_S)
    found: list[Row] = [
        {
            "what": "latency",
            "batch_s": batch_s,
            "stable_s": float(_stable(seed, ALWAYS, False, batch_s).mean()),
        }
        for batch_s in BATCHES_S
    ]
    found += _loads(drawn, count)
    for policy in POLICIES:
        partitions = place(drawn, policy)
        load = busy_cores(partitions)
        for order in (NEVER, RECOVERY, ALWAYS):
            setting = rules(drawn, order)
            front = run(reads(drawn.instance), partitions, setting, count)
            starts = _recovered_from(drawn, partitions)
            ways = {order: front}
            if order == RECOVERY:
                every = np.repeat(committed(front, setting)[:, None], front.shape[1], axis=1)
                ways[COMMITTED] = every
            for way, positions in ways.items():
                stable = _stable(seed, order, way == COMMITTED)
                course = _course(positions[:, 1:], starts)
                found.append(
                    {
                        "what": "course",
                        "policy": policy,
                        "way": way,
                        "seed": seed,
                        "first_s": float(starts.min()) * STEP_S,
                        "last_s": float(starts.max()) * STEP_S,
                        "first_result_s": _first_result_s(positions[:, 1:], starts, setting),
                        "stable_s": float(stable.mean()),
                        "busiest_cores": max(load.values()),
                        "formula_s": caught_up_s(partitions, drawn.behind),
                        **_averages(course, stable),
                    }
                )
    return found


def _loads(drawn: Drawn, count: int) -> Iterator[Row]:
    """For each load, when all partitions have caught up, in a run and by the formula."""
    for policy in POLICIES:
        for tuple_s in TUPLES_S:
            partitions = place(drawn, policy, tuple_s)
            front = run(reads(drawn.instance), partitions, rules(drawn, NEVER), count)
            cores = sum(busy_cores(partitions).values())
            yield {
                "what": "load",
                "policy": policy,
                "tuple_s": tuple_s,
                "load": cores / CORES / HOSTS,
                "found_s": behind_until_s(front),
                "formula_s": caught_up_s(partitions, drawn.behind),
            }


def behind_until_s(front: Floats) -> float:
    """The last time at which an operator is further behind than its hops, of which there are 3."""
    late = np.arange(1, len(front) + 1) - front.min(axis=1)
    return float(np.flatnonzero(late > HOPS)[-1] + 1) * STEP_S


def busy_cores(partitions: Sequence[Partition]) -> dict[int, float]:
    """For each host, the cores that its partitions need to keep pace."""
    load = defaultdict[int, float](float)
    for one in partitions:
        load[one.host] += one.load
    return load


def caught_up_s(partitions: Sequence[Partition], behind: int) -> float:
    """The formula: when all hosts have caught up, if none waits for another one.

    A partition that starts has as much work as its load times the steps that it has missed.  A host
    of C cores, whose partitions need B of them to keep pace, has C - B for this work.  A partition
    of load L has one thread, and processes at most 1 / L seconds of the stream in a second; the
    source begins with the first partition, and sends at most SPEED seconds in a second.
    """
    first = min(one.starts for one in partitions)
    source = first + (first + behind) / (SPEED - 1)
    alone = [one.starts + (one.starts + behind) / (1 / one.load - 1) for one in partitions]
    ends = [
        _host_caught_up([one for one in partitions if one.host == host], behind)
        for host in {one.host for one in partitions}
    ]
    return STEP_S * max(source, *alone, *ends)


def _host_caught_up(partitions: Sequence[Partition], behind: int) -> float:
    """The step at which a host has done the work of all its partitions."""
    work = needed = now = 0.0
    for one in sorted(partitions, key=lambda one: one.starts):
        work = max(0.0, work - (CORES - needed) * (one.starts - now))
        work += one.load * (one.starts + behind)
        needed += one.load
        now = one.starts
    return now + work / (CORES - needed)


def _recovered_from(drawn: Drawn, partitions: Sequence[Partition]) -> Floats:
    """For each query, the step from which it is recovered."""
    names = [operator.name for operator in drawn.instance.operators]
    starts = [
        max(one.starts for one in partitions if one.operator == at + 1) for at in range(len(names))
    ]
    return np.array(
        [
            max(starts[names.index(name)] for name in query.operators)
            for query in drawn.instance.queries
        ],
        np.float64,
    )


def _first_result_s(front: Floats, starts: Floats, setting: Rules) -> float:
    """When the first query hands on a result of a replayed tuple; the end if none does."""
    handed_on = (front > -setting.behind) & (np.arange(len(front))[:, None] >= starts)
    some = handed_on.any(axis=1)
    return float(some.argmax() + 1 if some.any() else len(front)) * STEP_S


def _course(front: Floats, starts: Floats) -> Course:
    """Averages of whole intervals."""
    each = steps(PERIOD_S)
    whole = len(front) // each * each
    at = np.arange(whole)[:, None]
    age = (at + 1 - front[:whole]) * STEP_S
    recovered = (at >= starts).astype(np.float64)
    queries = front.shape[1]
    return Course(
        age.reshape(-1, each, queries).mean(axis=1),
        recovered.reshape(-1, each, queries).mean(axis=1),
    )


def _averages(course: Course, stable: Floats) -> dict[str, list[float | None]]:
    """Over the queries, by interval."""
    relative = course.age / stable
    recovered = course.recovered == 1
    available = recovered & (relative < value("su-threshold"))
    return {
        "relative": _mean(relative, recovered),
        "available": available.sum(axis=1).astype(float).tolist(),
        "fresh": (recovered & (course.age < FRESH_S)).sum(axis=1).astype(float).tolist(),
    }


def _mean(values: Floats, where: Any) -> list[float | None]:
    """The mean over the queries that are recovered; None without one."""
    return [
        float(row[flags].mean()) if flags.any() else None
        for row, flags in zip(values, where, strict=True)
    ]


@cache
def _stable(seed: int, order: str, at_checkpoints: bool, batch_s: float = BATCH_S) -> Floats:
    """l_s of each query: the mean age without a failure, in seconds.

    The hosts are those of BestCase.  The order of a recovery is off in normal operation.
    """
    drawn = draw(seed)
    setting = rules(drawn, ALWAYS if order == ALWAYS else NEVER, batch_s)._replace(behind=0)
    partitions = [one._replace(starts=0) for one in place(drawn, "BestCase")]
    front = run(reads(drawn.instance), partitions, setting, 2 * steps(SETTLE_S))
    if at_checkpoints:
        front = np.repeat(committed(front, setting)[:, None], front.shape[1], axis=1)
    ages = np.arange(1, len(front) + 1)[:, None] - front[:, 1:]
    stable: Floats = ages[steps(SETTLE_S) :].mean(axis=0) * STEP_S
    return stable


FIG5 = Experiment(
    name="su-fig5",
    title="Relative latency and available queries after a correlated failure (Fig. 5)",
    source=SOURCE,
    parameters=PARAMETERS,
    seeds=25,
    events=EVENTS,
    rows=rows,
    summary=summary,
)
EXPERIMENTS = (FIG5,)
