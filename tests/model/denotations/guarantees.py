"""The guarantee that a pair of finished outputs shows, from the table in docs/model.md.

Rule of this file: a definition says what exists (a place, a way through the output) and tries all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise, product

from model.core import Guarantee


def guarantee_of(expected: Sequence[Hashable], observed: Sequence[Hashable]) -> Guarantee:
    """The strongest guarantee that allows the output."""
    if tuple(expected) == tuple(observed):  # "the output without failures"
        return Guarantee.PRECISE
    # "An output is a gap if an expected result comes less often than it should."
    if any(expected.count(one) > observed.count(one) for one in expected):
        return Guarantee.GAP
    if _rewinds(expected, observed):
        return Guarantee.REPEATING
    # "It is convergent if from some result on it is an end of the expected output."
    ends = [tuple(expected[at:]) for at in range(len(expected))]
    if any(tuple(observed[at:]) in ends for at in range(len(observed))):
        return Guarantee.CONVERGENT
    return Guarantee.DIVERGENT


# "It is repeating if it is the expected output with rewinds: it begins with the first result, may
# go back to an earlier one after each, and goes on from there, in order, to the last one."
def _rewinds(expected: Sequence[Hashable], observed: Sequence[Hashable]) -> bool:
    """Is there such a way: a place in the expected output for each observed result?"""
    places = [[p for p, one in enumerate(expected) if one == seen] for seen in observed]
    return any(
        way[0] == 0
        and way[-1] == len(expected) - 1
        and all(after <= before + 1 for before, after in pairwise(way))
        for way in product(*places)
        if way
    )
