"""Pinned evidence: the smallest instances against each reading, and a family without end.

Rule of this file: data; proofs.plans.smallest finds it again, and tests compare.

"Smallest" is by queries, then operators, then total cost, then priorities, then resources, among
instances whose operators have one partition each, which failed (proofs.plans.smallest).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from model.plans.instance import Instance, PlanOperator, PlanQuery


class Worse(NamedTuple):
    """An instance on which a plan recovers less than another one, in whatever order the instance
    lists its queries.  ours: the most that the algorithm recovers; best: the optimum."""

    instance: Instance
    resources: int
    ours: int
    best: int


def tiny(costs: Sequence[int], *queries: tuple[int, str]) -> Instance:
    """An instance with one failed partition an operator.  queries: each with its priority and the
    numbers of its operators, from 1, as in (1, "12")."""
    return Instance(
        tuple(PlanOperator(f"O{at}", (cost,), frozenset({0})) for at, cost in enumerate(costs, 1)),
        tuple(
            PlanQuery(f"Q{at}", frozenset(f"O{number}" for number in needs), priority)
            for at, (priority, needs) in enumerate(queries, 1)
        ),
    )


KNAPSACK = Worse(tiny((2, 1), (2, "2"), (3, "1")), 2, 2, 3)
SHARED = Worse(tiny((3, 1), (1, "1"), (1, "1"), (1, "2")), 3, 1, 2)
SHARED_TWICE = Worse(tiny((2, 1), (1, "1"), (1, "1"), (1, "2")), 2, 1, 2)
PAID_TWICE = Worse(tiny((1, 1), (1, "12"), (1, "1")), 2, 1, 2)
EXACT = Worse(tiny((1,), (1, "1")), 1, 0, 1)
EXACT_SHARED = Worse(tiny((1,), (1, "1"), (1, "1")), 1, 0, 2)

WORSE: Mapping[str, tuple[Worse, Worse | None]] = MappingProxyType(
    {
        "meant": (KNAPSACK, SHARED),
        "literal": (EXACT_SHARED, EXACT_SHARED),
        "sum-all": (Worse(tiny((1, 1), (2, "1"), (2, "1"), (3, "2")), 1, 3, 4), None),
        "cost-whole": (KNAPSACK, SHARED),
        "frequency-others": (Worse(tiny((2, 1), (1, "12"), (2, "2"), (3, "1")), 2, 2, 3), None),
        "frequency-others-or-nothing": (
            Worse(tiny((1, 1), (1, "1"), (1, "1"), (3, "2")), 1, 2, 3),
            None,
        ),
        "frequency-others-or-one": (KNAPSACK, SHARED_TWICE),
        "frequency-one": (KNAPSACK, SHARED_TWICE),
        "counted-failed": (KNAPSACK, SHARED),
        "density-paid": (KNAPSACK, SHARED),
        "fit-paid": (PAID_TWICE, PAID_TWICE),
        "limit-smaller": (EXACT, EXACT),
        "misfit-stop": (Worse(tiny((2, 1), (1, "1"), (3, "12")), 2, 0, 1), SHARED),
        "ties-last": (KNAPSACK, SHARED),
    }
)
"""For each reading of model.plans.design: the smallest instance with priorities of at most 3, and
with equal ones; None: there is none of 3 queries and operators with a cost of at most 8 in all.
Where the reading divides by zero, an instance does not count."""

UNDEFINED = tiny((1,), (1, "1"))
"""The smallest instance on which `frequency-others` divides by zero: any query that shares none of
its operators is enough."""

MENDED: Mapping[int, tuple[Worse, Worse]] = MappingProxyType(
    {
        1: (
            Worse(tiny((2, 2, 1), (2, "3"), (3, "1"), (3, "2")), 4, 5, 6),
            Worse(tiny((3, 3, 1), (1, "1"), (1, "1"), (1, "2"), (1, "2"), (1, "3")), 6, 3, 4),
        ),
        2: (
            Worse(tiny((2, 2, 2, 1), (2, "4"), (3, "1"), (3, "2"), (3, "3")), 6, 8, 9),
            Worse(
                tiny((3, 3, 3, 1), *[(1, one) for one in "112233"], (1, "4")),
                9,
                5,
                6,
            ),
        ),
    }
)
"""For each number of seeds of model.plans.mended: instances on which the mended algorithm is worse,
with priorities and with equal ones.  Of those for 1 seed, none are smaller; with 2 seeds, instances
of 3 queries are planned as well as can be."""


class Myopic(NamedTuple):
    """An instance on which the best plan at each moment, whatever the ties, is not the best over
    time.  resources: at each moment, all of which last as long.  now, ahead: served until the end;
    now_end, ahead_end: recovered at the end."""

    instance: Instance
    resources: tuple[int, ...]
    now: int
    ahead: int
    now_end: int
    ahead_end: int


MYOPIC: Mapping[str, tuple[Myopic, Myopic]] = MappingProxyType(
    {
        "less at the end": (
            Myopic(tiny((2, 1), (1, "2"), (2, "1")), (1, 2), 2, 2, 1, 2),
            Myopic(tiny((2, 1), (1, "1"), (1, "1"), (1, "2")), (1, 2), 2, 2, 1, 2),
        ),
        "less over time": (
            Myopic(tiny((2, 1), (1, "2"), (3, "1")), (1, 2), 2, 3, 1, 3),
            Myopic(tiny((2, 1), *[(1, "1")] * 3, (1, "2")), (1, 2), 2, 3, 1, 3),
        ),
        "less over time, all at the end": (
            Myopic(tiny((2, 1), (1, "2"), (3, "1")), (1, 2, 3), 6, 7, 4, 4),
            Myopic(tiny((2, 1), *[(1, "1")] * 3, (1, "2")), (1, 2, 3), 6, 7, 4, 4),
        ),
    }
)
"""What is lost: the smallest instance with priorities of at most 3, and with equal ones."""

UNPLACED = ((2,), (1, 1)), ((2, 2), (3, 1)), ((2, 2, 2), (3, 3))
"""Smallest (costs of partitions, capacities of hosts) whose sums are equal, without a placement: of
all; of those whose every partition fits on some host; of those with equal hosts, besides."""


def decoys(resources: int) -> Instance:
    """An even number R of resources, and queries of equal priority: R decoys share an operator of
    cost R - 1 and have one of cost 1 each; R / 2 plain queries have an operator of cost 2 each.

    The density of a decoy is R / (2R - 1), that of a plain query 1 / 2.  A decoy takes all that
    there is; the plain queries would all fit.  So the algorithm recovers 1 of R / 2.
    """
    everywhere = frozenset({0})
    numbers, plain = range(1, resources + 1), range(1, resources // 2 + 1)
    return Instance(
        (
            PlanOperator("shared", (resources - 1,), everywhere),
            *(PlanOperator(f"own {number}", (1,), everywhere) for number in numbers),
            *(PlanOperator(f"plain {number}", (2,), everywhere) for number in plain),
        ),
        (
            *(PlanQuery(f"decoy {at}", frozenset({"shared", f"own {at}"})) for at in numbers),
            *(PlanQuery(f"plain {at}", frozenset({f"plain {at}"})) for at in plain),
        ),
    )


def bait(resources: int) -> Instance:
    """Without any sharing: a query of priority 2 and cost 1, and one of priority and cost R > 2.
    The algorithm recovers the first, 2 of R."""
    return tiny((1, resources), (2, "1"), (resources, "2"))
