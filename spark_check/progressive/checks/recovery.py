"""Queries that share operators, after a failure of all workers: in the order of a plan, or at once.

Rule of this file: the topologies, the predictions about them, and the comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from engine_check.check import Check, CheckSetting, engine_case
from model.plans.baselines import blocking
from model.plans.mended import mended
from model.plans.plan import Planner
from model.plans.schedule import schedule
from model.plans.supply import Host, Supply
from model.predicates import Where
from model.recovery import classify
from model.results.engine import EngineCase, EngineOutage
from spark_check.progressive.recovery import CORES, QueriesRecovery, recover
from spark_check.progressive.topology import Topology, TopologyPart, TopologyRow, bodies, draw_rows
from spark_check.runtime.java import learned
from spark_check.runtime.session import BRIEF, INTERPRETED, session
from spark_check.runtime.standalone import CONF, standalone

POLICIES: Mapping[str, Planner] = {"progressive": mended(), "blocking": blocking}
SESSION = {
    **BRIEF,
    **INTERPRETED,
    **CONF,
    "spark.executor.cores": str(CORES),
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


class PlannedRecovery(NamedTuple):
    """The runs of a profile.  rows, batches: of the source before the failure.  policies: names."""

    topology: Topology
    workers: int
    rows: int
    batches: int
    repeats: int
    policies: tuple[str, ...]


PARSE = TopologyPart("parse", None, Where("v", ">=", 0))
LARGE = TopologyPart("large", "parse", Where("v", ">=", 2))
QUICK = PlannedRecovery(
    Topology(
        (
            PARSE,
            TopologyPart("all", "parse", Where("v", ">=", 0)),
            TopologyPart("keys", "parse", Where("v", ">=", 1), distinct=True),
            LARGE,
        ),
        {"all": 1, "keys": 3, "large": 2},
    ),
    workers=2,
    rows=60,
    batches=3,
    repeats=1,
    policies=("progressive",),
)
FULL = PlannedRecovery(
    Topology(
        (
            PARSE,
            LARGE,
            TopologyPart("large-all", "large", Where("v", ">=", 0)),
            TopologyPart("large-keys", "large", Where("v", ">=", 0), distinct=True),
            TopologyPart("largest", "large", Where("v", ">=", 3)),
            TopologyPart("all", "parse", Where("v", ">=", 0)),
            TopologyPart("keys", "parse", Where("v", ">=", 1), distinct=True),
            TopologyPart("some", "parse", Where("v", ">=", 1)),
        ),
        {"large-all": 2, "large-keys": 2, "largest": 5, "all": 1, "keys": 3, "some": 1},
    ),
    workers=4,
    rows=2_000,
    batches=8,
    repeats=3,
    policies=("progressive", "blocking"),
)
PLANS = {"quick": QUICK, "full": FULL}


def predict(plan: PlannedRecovery, planner: Planner) -> list[list[str]]:
    """The queries that are available after each return, if all that the planner takes runs."""
    hosts = tuple(Host(Fraction(number), CORES) for number in range(plan.workers))
    steps = schedule(plan.topology.instance, Supply(hosts, Fraction(plan.workers)), planner)
    return [sorted(step.plan.queries) for step in steps]


def compare(
    plan: PlannedRecovery, policy: str, rows: list[TopologyRow], seen: QueriesRecovery
) -> EngineCase:
    """The case of a recovery under a policy."""
    expected = predict(plan, POLICIES[policy])
    outputs = {
        query: classify(bodies(plan.topology.expected(query, rows)), bodies(seen.output[query]))
        for query in plan.topology.priorities
    }
    total = sum(len(plan.topology.expected(query, rows)) for query in outputs)
    return engine_case(
        policy,
        {"available": expected, "output": dict.fromkeys(outputs, "precise")},
        {
            "available": seen.available,
            "output": {query: found.name.lower() for query, found in outputs.items()},
        },
        details={
            "rows before the failure": f"{seen.before} of {total}",
            "workers back, s": [round(at, 1) for at in seen.returned_s],
            "available, s": {query: round(at, 1) for query, at in seen.available_s.items()},
        },
        crashed=(EngineOutage("worker", "all at once"),) * plan.workers,
        over_time={
            "available queries": (
                tuple(zip(seen.returned_s, map(len, expected), strict=True)),
                tuple((at, n) for n, at in enumerate(sorted(seen.available_s.values()), 1)),
            )
        },
    )


def _run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    return tuple(_cases(setting, PLANS[setting.profile]))


def _conf() -> dict[str, str]:
    """Executors start sooner with the classes that the driver has kept."""
    return SESSION | {"spark.executor.extraJavaOptions": learned()}


def _cases(setting: CheckSetting, plan: PlannedRecovery) -> Iterator[EngineCase]:
    total = plan.repeats * len(plan.policies)
    with (
        standalone(setting.work / "cluster", plan.workers, CORES) as cluster,
        session(setting.work / "session", master=cluster.master, conf=_conf()) as spark,
    ):
        for repeat in range(plan.repeats):
            rows = draw_rows(repeat, plan.rows)
            started_s: list[float] = []
            for policy in plan.policies:
                setting.report("recoveries", repeat * len(plan.policies) + bool(started_s), total)
                seen = recover(
                    spark,
                    cluster,
                    plan.topology,
                    rows,
                    plan.batches,
                    POLICIES[policy],
                    setting.work / f"{policy}-{repeat}",
                    not_before=started_s,
                )
                started_s = seen.started_s
                yield compare(plan, policy, rows, seen)


CHECK = Check(
    "progressive",
    "Queries restarted in the order of a plan as killed workers return, and all at once",
    _run,
    notes=(
        "available: the queries that put out what came after the failure, after each worker's "
        "return and before the next.  Predicted by the schedule of the mended greedy algorithm, "
        "and of blocking recovery.",
        "Seconds are since the kill, and are reported only.  Under blocking recovery, workers "
        "are started no sooner than they were under progressive recovery.",
        "An operator is a streaming query of Spark and takes one core of the plan.  Spark reserves "
        "no cores for a query; the check starts no more operators than there are cores.",
    ),
)
