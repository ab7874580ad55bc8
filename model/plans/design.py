"""The choices of the published algorithm: what the paper's words allow.

Rule of this file: a choice is a field of PlanDesign, in every reading that the words allow; no
step of the algorithm.  The default of each field is the reading that is meant, as far as one can
know; LITERAL has the printed ones.  Su and Zhou, Section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType


class Sum(Enum):
    """The operators that a density sums over.  "O_k ∈ Q_j", of a PD_i; nothing binds j."""

    OWN = "those of Q_i"
    ALL = "those of every failed query"


class Cost(Enum):
    """C_k.  First "the resource consumption of operator O_k", then "the cost of recovering the
    failed partitions in operator O_k"."""

    FAILED = "of its failed partitions"
    WHOLE = "of all its partitions"


class Frequency(Enum):
    """f_k, "the frequency that O_k is shared by the other failed queries"."""

    WITH_ITSELF = "the failed queries that need O_k"
    OTHERS = "the other failed queries that need O_k; 0 if it is not shared"
    OTHERS_OR_NOTHING = "the other failed queries that need O_k; if there is none, the density is 0"
    OTHERS_OR_ONE = "the other failed queries that need O_k, but at least 1"
    ONE = "1: sharing does not count"


class CountedQueries(Enum):
    """The failed queries among which f_k counts.  "will be updated"."""

    LEFT = "those that the plan does not recover"
    FAILED = "all that failed"


class Recovered(Enum):
    """What an operator costs that the plan recovers already.  "will be updated"."""

    FREE = "nothing"
    PAID = "as much as before"


class Limit(Enum):
    """The recovery cost that fits.  "smaller than the amount of currently available resources"."""

    AT_MOST = "at most the amount"
    SMALLER = "less than the amount"


class Misfit(Enum):
    """What follows a query that does not fit.  "traversed from the beginning to find the query
    whose recovery cost is smaller"; "until the resource constraint is reached"."""

    SKIP = "the next one of the list"
    STOP = "the end of the plan"


class Ties(Enum):
    """The order of equal densities.  No word."""

    FIRST = "the first one of the instance comes first"
    LAST = "the last one of the instance comes first"


@dataclass(frozen=True, slots=True)
class PlanDesign:
    """The greedy algorithm: one choice of each kind.  density, fit: what recovered operators cost
    in a density, and in the cost of a query that is to fit."""

    sum: Sum = Sum.OWN
    cost: Cost = Cost.FAILED
    frequency: Frequency = Frequency.WITH_ITSELF
    counted: CountedQueries = CountedQueries.LEFT
    density: Recovered = Recovered.FREE
    fit: Recovered = Recovered.FREE
    limit: Limit = Limit.AT_MOST
    misfit: Misfit = Misfit.SKIP
    ties: Ties = Ties.FIRST


MEANT = PlanDesign()
LITERAL = PlanDesign(frequency=Frequency.OTHERS, limit=Limit.SMALLER)
"""Word by word, but for the index j, which has no meaning as printed."""

READINGS: Mapping[str, PlanDesign] = MappingProxyType(
    {
        "meant": MEANT,
        "literal": LITERAL,
        "sum-all": replace(MEANT, sum=Sum.ALL),
        "cost-whole": replace(MEANT, cost=Cost.WHOLE),
        "frequency-others": replace(MEANT, frequency=Frequency.OTHERS),
        "frequency-others-or-nothing": replace(MEANT, frequency=Frequency.OTHERS_OR_NOTHING),
        "frequency-others-or-one": replace(MEANT, frequency=Frequency.OTHERS_OR_ONE),
        "frequency-one": replace(MEANT, frequency=Frequency.ONE),
        "counted-failed": replace(MEANT, counted=CountedQueries.FAILED),
        "density-paid": replace(MEANT, density=Recovered.PAID),
        "fit-paid": replace(MEANT, fit=Recovered.PAID),
        "limit-smaller": replace(MEANT, limit=Limit.SMALLER),
        "misfit-stop": replace(MEANT, misfit=Misfit.STOP),
        "ties-last": replace(MEANT, ties=Ties.LAST),
    }
)
"""What is meant, and each other reading alone, by name."""
