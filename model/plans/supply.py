"""Hosts that come back one after another.

Rule of this file: no query.  Times are exact fractions of minutes since the failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from model.errors import Invalid


class Host(NamedTuple):
    """A host that is ready at a time, with resources for partitions."""

    at: Fraction
    capacity: int


class SupplyMoment(NamedTuple):
    """A time at which hosts come.  resources: of all hosts until then.  lasts: until the next
    moment, or the end."""

    at: Fraction
    resources: int
    lasts: Fraction


@dataclass(frozen=True, slots=True)
class Supply:
    """hosts: those that come.  until: the end of the time that counts.  Raises Invalid for negative
    times, for capacities below 1, and for an end that is not after the last host."""

    hosts: tuple[Host, ...]
    until: Fraction

    def __post_init__(self) -> None:
        if not self.hosts:
            raise Invalid("no host comes; give at least one")
        for number, host in enumerate(self.hosts, 1):
            if host.at < 0:
                raise Invalid(f"host {number} comes at {float(host.at):g}; give at least 0")
            if host.capacity < 1:
                raise Invalid(f"host {number} has capacity {host.capacity}; give at least 1")
        last = max(host.at for host in self.hosts)
        if self.until <= last:
            raise Invalid(
                f"the end {float(self.until):g} is not after the last host ({float(last):g})"
            )

    @property
    def moments(self) -> Sequence[SupplyMoment]:
        """The times at which hosts come, in order."""
        times = sorted({host.at for host in self.hosts})
        return [
            SupplyMoment(at, sum(host.capacity for host in self.hosts if host.at <= at), after - at)
            for at, after in zip(times, [*times[1:], self.until], strict=True)
        ]
