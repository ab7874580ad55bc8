"""The guarantee that a pair of finished outputs shows: by values, from the table in
docs/reference/model.md; with lineage, from Section 3.1 of Hwang et al.

Rule of this file: a definition says what exists (a place, a way through the output) and tries all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations, pairwise, product

from model.boxes.box import Lineage, Out, bodies
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


def recovery_of(expected: Sequence[Out], observed: Sequence[Out]) -> Guarantee:
    """The strongest type of recovery that allows the output, by lineage."""
    if bodies(expected) == bodies(observed):  # precise: identical to an output without failure
        return Guarantee.PRECISE
    # The effects of all input tuples are always forwarded; else it is a gap.
    if not _inputs(expected) <= _inputs(observed):
        return Guarantee.GAP
    found = {Guarantee.DIVERGENT}
    for kept in combinations(range(len(observed)), len(expected)):
        # After the removal of duplicate tuples the output is one without failure.
        if [observed[at].body for at in kept] == list(bodies(expected)):
            # A tuple is a duplicate if the primary has already processed all input tuples that
            # affected it, and forwarded the results.
            before = [
                (out, expected[: sum(one < at for one in kept)])
                for at, out in enumerate(observed)
                if at not in kept
            ]
            if all(out.of <= _inputs(forwarded) for out, forwarded in before):
                identical = all(out.body in bodies(forwarded) for out, forwarded in before)
                found.add(Guarantee.REPEATING if identical else Guarantee.CONVERGENT)
    return min(found)


def _inputs(outs: Sequence[Out]) -> Lineage:
    return frozenset(of for out in outs for of in out.of)
