"""Is the best choice at each moment the best over time?  All ways to choose well at each moment.

Rule of this file: exhaustive, so that no tie decides; no search for instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from model.plans.instance import Instance
from model.plans.lookahead import set_tables


class Worth(NamedTuple):
    """served: the sum over the moments of the values then, each moment lasting as long.  end: the
    value at the last moment."""

    served: int
    end: int


def choose_now(instance: Instance, resources: Sequence[int]) -> Iterator[Worth]:
    """The worth of every schedule that recovers as much priority as it can at each moment."""
    costs, values = set_tables(instance)

    def follow(at: int, before: int, served: int) -> Iterator[Worth]:
        if at == len(resources):
            yield Worth(served, values[before])
            return
        fitting = [
            one
            for one, cost in enumerate(costs)
            if one & before == before and cost <= resources[at]
        ]
        most = max(values[one] for one in fitting)
        for one in fitting:
            if values[one] == most:
                yield from follow(at + 1, one, served + most)

    return follow(0, 0, 0)


def choose_ahead(instance: Instance, resources: Sequence[int]) -> Iterator[Worth]:
    """The worth of every schedule."""
    costs, values = set_tables(instance)

    def follow(at: int, before: int, served: int) -> Iterator[Worth]:
        if at == len(resources):
            yield Worth(served, values[before])
            return
        for one, cost in enumerate(costs):
            if one & before == before and cost <= resources[at]:
                yield from follow(at + 1, one, served + values[one])

    return follow(0, 0, 0)
