"""Random instances and random arrivals of hosts, with stated distributions.

Rule of this file: the same generator in the same state draws the same.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from model.plans.instance import Instance, PlanOperator, PlanQuery
from model.plans.supply import Host, Supply

PARTITIONS = 5
COSTS = range(1, 6)
FAILED = 0.8


def draw_instance(draw: Random, queries: int, sharing: float, priorities: range) -> Instance:
    """As many operators as queries, each with five partitions of one cost from 1 to 5; a partition
    failed with probability 0.8 (at least one of each operator did).

    A query needs one operator, and each other one with probability `sharing`; its priority is
    uniform.
    """
    names = [f"O{number}" for number in range(queries)]
    operators = tuple(
        PlanOperator(name, (draw.choice(COSTS),) * PARTITIONS, _failed(draw)) for name in names
    )
    needs = [
        frozenset({draw.choice(names), *(name for name in names if draw.random() < sharing)})
        for _ in range(queries)
    ]
    return Instance(
        operators,
        tuple(
            PlanQuery(f"Q{number}", needed, draw.choice(priorities))
            for number, needed in enumerate(needs)
        ),
    )


def _failed(draw: Random) -> frozenset[int]:
    found = frozenset(at for at in range(PARTITIONS) if draw.random() < FAILED)
    return found or frozenset({0})


def draw_supply(draw: Random, total: int, hosts: int, per_minute: float) -> Supply:
    """Hosts of one capacity, enough for the total together, one after another with exponential
    gaps; times are whole milliseconds."""
    at, found = Fraction(0), []
    for _ in range(hosts):
        at += Fraction(1 + round(60_000 * draw.expovariate(per_minute)), 60_000)
        found.append(Host(at, -(-total // hosts)))
    return Supply(tuple(found), at + 1)


def draw_figure4(draw: Random) -> tuple[Instance, Supply]:
    """The topology of Su and Zhou, Section VI, with each point that its text leaves open drawn at
    random.

    Fifteen operators with five partitions each, placed on ten hosts at random, of which eight
    fail; fifteen queries, one for each operator as its sink.  O1 to O4 read from Parser, and each
    of O5 to O14 from one to three of these.  Eight hosts come back within two to six minutes.
    """
    windows = ["O1", "O2", "O3", "O4"]
    names = ["Parser", *windows, *(f"O{number}" for number in range(5, 15))]
    places = [host % 10 for host in range(PARTITIONS * len(names))]
    draw.shuffle(places)
    operators, queries = [], []
    for at, name in enumerate(names):
        hosts = places[PARTITIONS * at : PARTITIONS * (at + 1)]
        failed = frozenset(number for number, host in enumerate(hosts) if host < 8)
        operators.append(PlanOperator(name, (1,) * PARTITIONS, failed))
        above = draw.sample(windows, draw.randint(1, 3)) if at > len(windows) else []
        queries.append(PlanQuery(f"Q{at}", frozenset({"Parser", name, *above})))
    times = sorted(Fraction(draw.randint(2_000, 6_000), 1_000) for _ in range(8))
    hosts_back = tuple(Host(at, 8) for at in times)
    return Instance(tuple(operators), tuple(queries)), Supply(hosts_back, times[-1] + 1)
