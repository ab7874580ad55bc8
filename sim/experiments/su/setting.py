"""The setting of Su and Zhou, Section 6: topology, load, placement, and the policies of Figure 5.

Rule of this file: the givens of a run; no step of it.  Each point that the text leaves open is a
parameter with its reason.

The eight killed nodes have all sinks, so all 15 queries fail, with all their partitions.  The
source is on one of the two other nodes, which take no failed partition, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import NamedTuple

import numpy as np

from model.plans.baselines import best_case, blocking, topological
from model.plans.design import MEANT
from model.plans.greedy import greedy
from model.plans.instance import Instance
from model.plans.plan import Plan, Planner
from model.plans.schedule import schedule
from model.plans.supply import Host, Supply
from model.results.experiment import Parameter
from sim.experiments.published import value
from sim.experiments.sebepou.extent import zipf
from sim.experiments.su.attach import HOSTS, TOGETHER, attach
from sim.experiments.su.kernel import Floats, Partition, Rules
from sim.plans.draw import PARTITIONS, draw_figure4

STEP_S = 0.1
RATE = value("su-rate")
TAGS = (0.6, 0.25, 0.1, 0.05)
"""The shares of the tweets with 0, 1, 2 and 3 hashtags."""
PER_TWEET = sum(tags * share for tags, share in enumerate(TAGS))
KEYS, SKEW = 10_000, 1.0
TUPLE_S = 0.0004
CORES, PLACES = 2.0, 10
PERIOD_S, STORE_S, RESTORE_S, BATCH_S = 10, 1, 5, 1
SPEED = 10.0
FRESH_S = 15
NEVER, RECOVERY, ALWAYS, COMMITTED = "never", "recovery", "always", "at global checkpoints"
"""When order is preserved: RECOVERY as published, ALWAYS in the mended protocol, which numbers its
results.  COMMITTED is another mend: as RECOVERY, but results wait for a global checkpoint."""
TUPLES_S = (0.0001, 0.0002, 0.0003, 0.0004)
BATCHES_S = (0.1, 0.2, 0.5, 1, 2, 5, 10)

PARAMETERS = (
    Parameter("rate", RATE, "6, in tweets a second"),
    Parameter("hashtags", list(TAGS), f"our choice: shares of 0 to 3; {PER_TWEET:g} a tweet"),
    Parameter("keys", f"{KEYS:,} hashtags, Zipf {SKEW:g}", "our choice; a hash places them"),
    Parameter("O1 to O4", "one update for each input", "6, with all its windows; our choice"),
    Parameter("O5 to O14", "each reads one to three of O1 to O4", "our choice; Figure 4 is lost"),
    Parameter("partitions", PARTITIONS, "6; the source has one"),
    Parameter("seconds a tuple", TUPLE_S, "our choice, of one core"),
    Parameter("other loads", list(TUPLES_S), "our choice, in seconds a tuple; for the last panel"),
    Parameter("cores of a host", CORES, "6: m3.large"),
    Parameter("places of a host", PLACES, "our choice: 8 hosts are enough for 75 partitions"),
    Parameter("seconds a hop", STEP_S, "our choice; it is also the step of the simulation"),
    Parameter("punctuation period", PERIOD_S, "our choice, in s; also the interval of a mean"),
    Parameter("seconds to store a checkpoint", STORE_S, "our choice"),
    Parameter("seconds to restore a partition", RESTORE_S, "our choice"),
    Parameter("batch", BATCH_S, "our choice, in s of the source, for order preservation"),
    Parameter("batches", list(BATCHES_S), "our choice, in s; for the latency without failures"),
    Parameter("speed of the source's replay", SPEED, "our choice, in normal rates"),
    Parameter("time until a host is ready", "as in su-fig3", "6, Fig. 3"),
    Parameter("threshold", value("su-threshold"), "6, of the relative latency"),
    Parameter("new results", FRESH_S, "our choice, in s: at most so old"),
)

POLICIES: Mapping[str, Planner] = {
    "BestCase": best_case,
    "progressive": greedy(MEANT),
    "topological": topological,
    "OPC": blocking,
}
"""The policies.  BestCase has hosts of its own: all after 3 minutes."""


class Drawn(NamedTuple):
    """The random values of a seed.  shares: of the hashtags, by partition.  minutes: when hosts are
    ready.  behind: the steps since the last global checkpoint."""

    instance: Instance
    shares: Floats
    minutes: tuple[Fraction, ...]
    behind: int


def steps(seconds: float) -> int:
    """The number of steps."""
    return round(seconds / STEP_S)


def draw(seed: int) -> Drawn:
    """The random parts of a run."""
    random, generator = Random(f"{seed}: su-fig5"), np.random.default_rng(seed)
    instance, _ = draw_figure4(random)
    failed = frozenset(range(PARTITIONS))
    operators = tuple(replace(one, failed=failed) for one in instance.operators)
    places = generator.integers(0, PARTITIONS, KEYS)
    shares = np.bincount(places, zipf(KEYS, SKEW), PARTITIONS).astype(np.float64)
    minutes = attach().draw(generator, HOSTS)
    return Drawn(
        Instance(operators, instance.queries),
        shares,
        tuple(sorted(Fraction(round(60_000 * float(one)), 60_000) for one in minutes)),
        random.randrange(steps(PERIOD_S)),
    )


def reads(instance: Instance) -> Mapping[int, Sequence[int]]:
    """For each operator from 1 on, the operators that it reads; 0 is the source.

    The sink of the i-th query is the i-th operator, and the query has everything above it.
    """
    names = [operator.name for operator in instance.operators]
    found = {}
    for at, query in enumerate(instance.queries):
        above = {names.index(name) for name in query.operators} - {at}
        # The first operator, Parser, is above all others, and read by those with nothing else.
        found[at + 1] = [other + 1 for other in sorted(above - {0} or above)] or [0]
    return found


def rates(instance: Instance) -> Mapping[int, float]:
    """The tuples that each operator receives in a second; 0, the source, emits its own."""
    tags = RATE * PER_TWEET  # the output rate of each of Parser, O1 to O4
    above = reads(instance)
    return {0: RATE} | {at: RATE if 0 in of else tags * len(of) for at, of in above.items()}


# --- the plan --------------------------------------------------------------------------------
def place(drawn: Drawn, policy: str, tuple_s: float = TUPLE_S) -> list[Partition]:
    """The partitions, each on the host with most free places of those that are there then.

    tuple_s: the seconds of a core that a tuple takes.
    """
    planner = POLICIES[policy]
    minutes = drawn.minutes
    if planner is best_case:
        minutes = (Fraction(TOGETHER),) * HOSTS
    supply = Supply(tuple(Host(at, PLACES) for at in minutes), minutes[-1] + 1)
    free = [PLACES] * HOSTS
    into = rates(drawn.instance)
    done = list[tuple[int, int]]()
    placed = []
    for step in schedule(drawn.instance, supply, planner):
        ready = [at for at, minute in enumerate(minutes) if minute <= step.moment.at]
        begins = steps(60 * float(step.moment.at) + RESTORE_S)
        for operator, number in _members(drawn.instance, step.plan):
            if (operator, number) in done:
                continue
            done.append((operator, number))
            host = max(ready, key=lambda at: free[at])
            free[host] -= 1
            share = 1 / PARTITIONS if operator == 1 else float(drawn.shares[number])
            placed.append(Partition(operator, into[operator] * share * tuple_s, host, begins))
    return placed


def _members(instance: Instance, plan: Plan) -> Iterator[tuple[int, int]]:
    """The partitions that the plan recovers, by the number of their operator.

    Operators of its queries come first; it spends the rest on further operators, in
    topological order.
    """
    names = [operator.name for operator in instance.operators]
    needed = instance.operators_of(plan.queries)
    order = sorted(names, key=lambda name: name not in needed)  # it keeps the topological order
    every = [(names.index(name) + 1, number) for name in order for number in range(PARTITIONS)]
    yield from every[: plan.cost]


def rules(drawn: Drawn, order: str, batch_s: float = BATCH_S) -> Rules:
    """order: NEVER, RECOVERY or ALWAYS.  batch_s: of ordered processing."""
    return Rules(
        behind=drawn.behind,
        period=steps(PERIOD_S),
        store=steps(STORE_S),
        batch=None if order == NEVER else steps(batch_s),
        always=order == ALWAYS,
        speed=SPEED,
        cores=CORES,
    )
