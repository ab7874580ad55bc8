"""The load of a random source over time: stretches of a constant rate, and the times of events.

Rule of this file: times are in units; no type and no key of an event is drawn here.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from sim.scenarios.tables import RandomStream


class Stretch(NamedTuple):
    """The times from `begins` on and before `ends`, in units, with a rate in events a unit."""

    begins: float
    ends: float
    rate: float


def stretches(stream: RandomStream, unit_s: float) -> Iterator[Stretch]:
    """The stretches of the stream, one after the other; the last one has no end, unless the rates
    repeat for ever."""
    rates = [(begins / unit_s, rate * unit_s) for begins, rate in rates_of(stream)]
    if stream.repeats_s is None:
        yield from _one_round(rates, 0.0, math.inf)
        return
    length = stream.repeats_s / unit_s
    for number in count():
        yield from _one_round(rates, number * length, (number + 1) * length)


def rates_of(stream: RandomStream) -> Sequence[tuple[float, float]]:
    """The pairs (from second, events a second)."""
    return stream.rates or ((0.0, stream.rate_per_s or 0.0),)


def highest_rate(stream: RandomStream) -> float:
    """The most events a second."""
    return max(rate for _, rate in rates_of(stream))


def _one_round(
    rates: Sequence[tuple[float, float]], begins: float, ends: float
) -> Iterator[Stretch]:
    starts = [begins + start for start, _ in rates]
    for start, end, (_, rate) in zip(starts, (*starts[1:], ends), rates, strict=True):
        yield Stretch(start, end, rate)


def poisson(load: Iterator[Stretch], chance: random.Random) -> Iterator[int]:
    """The whole units at which events come: exponential gaps, drawn anew where the rate changes,
    since the rest of such a gap has the same distribution as a new one."""
    for begins, ends, rate in load:
        now = begins
        while rate and (now := now + chance.expovariate(rate)) < ends:
            yield int(now)


def constant(load: Iterator[Stretch]) -> Iterator[int]:
    """The nearest units at which events come: the n-th one when the load has made n of them."""
    number, made = 0, 0.0
    for begins, ends, rate in load:
        while rate and (at := begins + (number - made) / rate) < ends:
            yield round(at)
            number += 1
        made += (ends - begins) * rate if rate else 0.0
