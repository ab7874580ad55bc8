"""How long an extent becomes: expected, for any distribution of the keys, and at worst.

Rule of this file: formulas; nothing is simulated.

Tumbling count windows of w tuples over independent tuples, key k with probability p_k, after a long
time.  A window opens with one tuple of each w of its key, so at the rate p_k / w an input, and is
open j inputs later with the probability that no more than w - 2 tuples of its key came since:
open(j p_k) with open(x) = Pr[Poisson(x) <= w - 2].

If each window gets a G_check as soon as its footprint is u inputs old, the records of the last u
inputs are G_opens and results, 1 / w an input of each, and the G_checks of windows that were open
u, 2u, 3u ... inputs after their opening:

    extent(u) = 2 u / w + sum over k, over i >= 1 of (u p_k / w) open(i u p_k)

For u -> 0 that is the number of open windows, K (w - 1) / w for K keys, whatever the p_k are.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SMALL = 0.5
"""Below so many expected tuples of a key from one G_check to the next, the sum over the G_checks of
a window is taken from its integral, w - 1 tuples (Euler and Maclaurin, two terms)."""
NEGLIGIBLE = 60.0
"""So many tuples of a key are expected after which its window is taken to be closed, on top of
twice the size of a window."""

BLOCK = 2**18
"""The number of probabilities that are computed at a time."""


def zipf(keys: int, exponent: float) -> Floats:
    """The probabilities of keys by rank: rank ** -exponent, to scale; exponent 0: uniform."""
    weights = np.arange(1, keys + 1, dtype=np.float64) ** -exponent
    probabilities: Floats = weights / weights.sum()
    return probabilities


def still_open(size: int, expected: Floats) -> Floats:
    """The probabilities that a window is still open, by the expected tuples of its key since
    then."""
    term = np.exp(-expected)
    total = np.zeros_like(expected)
    for count in range(size - 1):
        total += term
        term = term * expected / (count + 1)
    return total


def check_rate(probabilities: Floats, size: int, age: float) -> float:
    """The G_checks an input, if each window gets one as soon as its footprint is `age` old."""
    if size == 1:
        return 0.0
    keys, counts = np.unique(probabilities, return_counts=True)
    steps, weights = age * keys, counts * keys / size
    small = steps < SMALL
    slope = 1.0 if size == 2 else 0.0  # how fast windows close at first
    few = (size - 1) / steps[small] - 0.5 + slope * steps[small] / 12
    total = float((weights[small] * few).sum())
    steps, weights = steps[~small], weights[~small]
    times = 1
    while len(steps):
        block = max(1, min(1024, BLOCK // len(steps)))
        expected = np.arange(times, times + block)[:, np.newaxis] * steps
        total += float((weights * still_open(size, expected)).sum())
        times += block
        rare = times * steps < NEGLIGIBLE + 2 * size
        steps, weights = steps[rare], weights[rare]
    return total


def expected_extent(probabilities: Floats, size: int, age: float) -> float:
    """The expected extent if no open window has a footprint older than `age` inputs."""
    return age * (2 / size + check_rate(probabilities, size, age))


def age_at_rate(probabilities: Floats, size: int, rate: float) -> float:
    """The age that the oldest footprint has if there are `rate` G_checks an input: the extent
    cannot be shorter."""
    return _solve(lambda age: check_rate(probabilities, size, age), rate)


def age_at_extent(probabilities: Floats, size: int, extent: float) -> float:
    """The age of the oldest footprint at an expected extent."""
    return _solve(lambda age: -expected_extent(probabilities, size, age), -extent)


def age_unchecked(probabilities: Floats, size: int) -> float:
    """The age of the oldest footprint if there are no G_checks: that at which one window is
    expected to be older.  No bound: each stream of tuples of other keys makes it older.

    Windows older than x: sum over k of (p_k / w) * integral of open(t p_k) for t from x on, which
    is (1 / w) * sum over k, over n <= w - 2 of Pr[Poisson(x p_k) <= n].
    """

    def older(age: float) -> float:
        sizes = range(2, size + 1)
        return float(sum(still_open(n, age * probabilities).sum() for n in sizes)) / size

    return _solve(older, 1.0)


def worst_case(
    q_target: int, windows: int, checks_per_period: int, inputs_per_period: int, per_input: int = 1
) -> int:
    """A bound of the extent under a target Q, for any stream.

    windows: open at once, at most.  checks_per_period: G_checks that fit into CI, at least 1 and
    always made while the target is exceeded.  inputs_per_period: tuples processed from one
    beginning of CI to the next, at most.  per_input: records that a tuple makes, at most (1, or 2
    for windows of one tuple).

    A period adds at most one record a G_check and `per_input` a tuple.  Let n be the periods that
    a G_check of every window takes, windows / checks_per_period, rounded up.  If all of CI was used
    in the last n periods, every open window has a footprint in them or after them, so the extent is
    within n + 1 periods.  If not, the extent was at most Q at the end of such a CI, and at most n +
    1 periods have passed since.
    """
    periods = -(-windows // checks_per_period) + 1
    return q_target + periods * (checks_per_period + per_input * inputs_per_period)


def worst_replay(
    u_target: int, windows: int, checks_per_period: int, inputs_per_period: int
) -> int:
    """The same bound for the tuples to replay under a target U."""
    periods = -(-windows // checks_per_period) + 1
    return u_target + periods * inputs_per_period


def _solve(falling: Callable[[float], float], value: float) -> float:
    """The argument at which a falling function has the value, to one in a million."""
    low, high = 1.0, 2.0
    while falling(high) > value:
        low, high = high, high * 2
        if math.isinf(high):
            return high
    while high / low > 1 + 1e-6:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if falling(middle) > value else (low, middle)
    return high
