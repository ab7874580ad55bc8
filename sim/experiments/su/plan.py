"""Su and Zhou, Section 5: how near the published plans come to the best ones (ours).

Rule of this file: the paper measures no plan; every number here is ours.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from model.plans.baselines import blocking, topological
from model.plans.design import READINGS
from model.plans.greedy import Undefined, greedy
from model.plans.instance import Instance
from model.plans.lookahead import best_schedule
from model.plans.mended import mended
from model.plans.optimum import optimal
from model.plans.plan import NOTHING, Planner
from model.plans.schedule import Schedule, schedule, served
from model.plans.supply import Supply
from model.results.experiment import Parameter
from model.results.table import Row
from sim.experiments.experiment import Experiment
from sim.experiments.su.plan_summary import (
    ON_FIGURE4,
    PARTS,
    RATES,
    SHARING,
    SIZES,
    TIMED,
    summary,
)
from sim.plans.draw import COSTS, FAILED, PARTITIONS, draw_figure4, draw_instance, draw_supply

QUERIES = range(3, 11)
PRIORITIES = {"equal": range(1, 2), "1 to 5": range(1, 6)}
RESOURCES = (0.1, 0.9)

PLANNERS: Mapping[str, Planner] = {
    **{name: greedy(design) for name, design in READINGS.items() if name != "counted-failed"},
    "one seed": mended(1),
    "two seeds": mended(2),
    "topological": topological,
    "optimum": optimal,
}
"""`counted-failed` plans as `meant` does."""


def rows(seed: int, events: int) -> Sequence[Row]:
    """Random instances: each algorithm beside the optimum; then schedules and times.

    A row is of an algorithm, a sharing and a kind of priorities, with the counts of its ratios.
    """
    draw = Random(f"{seed}: plans")
    counts: dict[tuple[str, float, str], Counter[int | None]] = {}
    for at in range(events):
        sharing, kind = SHARING[at % len(SHARING)], [*PRIORITIES][at // len(SHARING) % 2]
        instance = draw_instance(draw, draw.choice(QUERIES), sharing, PRIORITIES[kind])
        resources = round(draw.uniform(*RESOURCES) * instance.total)
        best = _value(instance, resources, optimal)
        for name, planner in PLANNERS.items():
            ratio = _ratio(_value(instance, resources, planner), best)
            counts.setdefault((name, sharing, kind), Counter())[ratio] += 1
    found: list[Row] = [
        {
            "what": "plans",
            "algorithm": name,
            "sharing": sharing,
            "priorities": kind,
            "undefined": ratios.pop(None, 0),
            "ratios": [[ratio or 0, count] for ratio, count in ratios.items()],
        }
        for (name, sharing, kind), ratios in counts.items()
    ]
    return [
        *found,
        *_schedules(draw, events // 50),
        *_figure4(draw, events // 200),
        *_times(draw, max(1, events // 100)),
    ]


def _ratio(ours: int | None, best: int | None) -> int | None:
    """Whole parts of the optimum, all if there is nothing to recover; None without a plan."""
    if ours is None or best is None:
        return None
    return PARTS * ours // best if best else PARTS


def _value(instance: Instance, resources: int, planner: Planner) -> int | None:
    """The operators that the plan recovers; None if the algorithm has no plan."""
    try:
        return instance.value(planner(instance, resources, NOTHING).queries)
    except Undefined:
        return None


# --- over time -------------------------------------------------------------------------------
HOSTS, ONLINE_QUERIES = 8, 8
ONLINE: Mapping[str, Planner] = {
    "blocking": blocking,
    "topological": topological,
    "greedy": greedy(READINGS["meant"]),
    "two seeds": mended(2),
    "optimum now": optimal,
}


def _schedules(draw: Random, times: int) -> Iterator[Row]:
    """Minutes until a query is recovered, weighted by priority, for each rate and each sharing."""
    for rate in RATES:
        for sharing in SHARING:
            sums = defaultdict[str, float](float)
            for _ in range(times):
                instance = draw_instance(draw, ONLINE_QUERIES, sharing, PRIORITIES["1 to 5"])
                supply = draw_supply(draw, instance.total, HOSTS, rate)
                for name, planner in ONLINE.items():
                    steps = schedule(instance, supply, planner)
                    sums[name] += _minutes(instance, supply, steps)
                steps = best_schedule(instance, supply)
                sums["optimum over time"] += _minutes(instance, supply, steps)
            for name, total in sums.items():
                yield {
                    "what": "schedules",
                    "algorithm": name,
                    "sharing": sharing,
                    "rate": rate,
                    "minutes": total / times,
                }


def _figure4(draw: Random, times: int) -> Iterator[Row]:
    """The share of the optimum over time that is served on the paper's topology."""
    for _ in range(times):
        instance, supply = draw_figure4(draw)
        best = served(instance, best_schedule(instance, supply))
        for name in ON_FIGURE4:
            steps = schedule(instance, supply, ONLINE[name])
            share = float(served(instance, steps) / best)
            yield {"what": "figure 4", "algorithm": name, "share": share}


def _minutes(instance: Instance, supply: Supply, steps: Schedule) -> float:
    """Everything is recovered in the end; so each query that is not served waits."""
    return float(supply.until - served(instance, steps) / instance.value(instance.needs))


def _times(draw: Random, times: int) -> Iterator[Row]:
    """Processor seconds of a plan, for numbers of queries."""
    for queries in SIZES:
        seconds = defaultdict[str, float](float)
        for _ in range(times):
            instance = draw_instance(draw, queries, 2 / queries, PRIORITIES["1 to 5"])
            for name in TIMED:
                started = time.process_time()
                PLANNERS[name](instance, instance.total // 2, NOTHING)
                seconds[name] += time.process_time() - started
        for name in TIMED:
            row = {"what": "times", "algorithm": name, "queries": queries}
            yield {**row, "seconds": seconds[name] / times}


PLAN = Experiment(
    name="su-plan",
    title="Recovery plans: greedy beside the optimum, on random instances (ours)",
    source="Su and Zhou, Section 5; no plan is measured there",
    parameters=(
        Parameter("queries", [*QUERIES], "our choice; the paper has 15"),
        Parameter("operators", "as many as queries", "our choice; so in the paper"),
        Parameter("partitions", PARTITIONS, "VI; a partition failed with probability 0.8"),
        Parameter("probability of failure", FAILED, "VI: 8 of 10 nodes"),
        Parameter("cost of a partition", [*COSTS], "our choice, uniform, one for each operator"),
        Parameter("sharing", list(SHARING), "the probability that a query needs an operator"),
        Parameter("priorities", list(PRIORITIES), "III: 1 by default"),
        Parameter("resources", list(RESOURCES), "uniform, shares of the whole cost; our choice"),
        Parameter("hosts", HOSTS, "VI; exponential gaps, equal capacities"),
        Parameter("hosts a minute", list(RATES), "our choice; VI has 8 within 4 minutes"),
        Parameter(
            "Figure 4", "random where the text is silent", "VI; O5 to O14 read 1 to 3 windows"
        ),
        Parameter("sizes", list(SIZES), "for processor time; our choice"),
    ),
    seeds=50,
    events=200,
    rows=rows,
    summary=summary,
    ours=True,
)
EXPERIMENTS = (PLAN,)
