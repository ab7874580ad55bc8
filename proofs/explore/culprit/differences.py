"""The difference between an observed output and the allowed output that is nearest to it.

Rule of this file: finished outputs alone; no protocol and no run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from model.boxes.box import Out, bodies
from model.comparison import Compare, Shape
from model.core import Guarantee
from model.events import Body
from model.recovery import beside

Outs: TypeAlias = Sequence[Out]
Pair: TypeAlias = tuple[Outs, Outs]
"""The expected output of an input edge of a sink, and the observed one."""


class SwappedResults(NamedTuple):
    """Two expected results in another order.  early: the place of the one that came too early among
    the observed results; late: of the one that belongs there."""

    early: int
    late: int


class EdgeDifference(NamedTuple):
    """The difference of one edge.

    missing: places in the expected output.  surplus: places in the observed output of results that
    come too often or that nobody expects.  swap: None unless the order alone differs.
    """

    missing: tuple[int, ...] = ()
    surplus: tuple[int, ...] = ()
    swap: SwappedResults | None = None

    @property
    def cost(self) -> tuple[int, int, int]:
        """The least one is the nearest: results first, then surplus ones, then the order."""
        wrong = len(self.missing) + len(self.surplus)
        return wrong, len(self.surplus), int(self.swap is not None)


class OutputDifference(NamedTuple):
    """The nearest allowed output, and the differences from it, one for each edge."""

    pairs: tuple[Pair, ...]
    edges: tuple[EdgeDifference, ...]


def nearest_allowed(
    allowed: Iterable[Sequence[Pair]],
    how: Sequence[Compare],
    *,
    ended: bool,
    by_guarantee: bool = False,
) -> OutputDifference:
    """The differences from the allowed output from which the observed one differs least.

    allowed: the pairs of all edges, for each allowed output.  ended: False: more may follow, so
    that expected results may still come.  by_guarantee: of these, one that gives the strongest
    guarantee.
    """
    best: tuple[tuple[int, ...], OutputDifference] | None = None
    for pairs in allowed:
        edges = tuple(
            differ(bodies(want), bodies(got), one, ended=ended)
            for one, (want, got) in zip(how, pairs, strict=True)
        )
        level = weakest(pairs, how) if by_guarantee else Guarantee.PRECISE
        costs = zip(*(edge.cost for edge in edges), strict=True)
        cost = (level.value, *map(sum, costs))
        if best is None or cost < best[0]:
            best = cost, OutputDifference(tuple(pairs), edges)
    assert best is not None, "every input allows some output"
    return best[1]


def weakest(pairs: Sequence[Pair], how: Sequence[Compare]) -> Guarantee:
    """The weakest guarantee of all edges beside one allowed output."""
    found = (beside(want, got, one) for one, (want, got) in zip(how, pairs, strict=True))
    return max(found, default=Guarantee.PRECISE)


def differ(
    want: Sequence[Body], got: Sequence[Body], how: Compare, *, ended: bool
) -> EdgeDifference:
    """The difference of an observed output from an expected one, as the sink compares them."""
    if how.shape is Shape.SEQUENCE:
        # Before the end, the output is beside that beginning of the expected one that is nearest.
        ends = [len(want)] if ended else range(len(want), -1, -1)
        return min((_in_order(want[:end], got) for end in ends), key=lambda one: one.cost)
    if how.shape is Shape.TABLE:
        ends = [len(want)] if ended else range(len(want), -1, -1)
        return min((_rows(want[:end], got, how) for end in ends), key=lambda one: one.cost)
    if how.shape is Shape.SET:
        absent = [at for at, body in enumerate(want) if body not in (*got, *want[:at])]
        surplus = tuple(at for at, body in enumerate(got) if body not in want)
        return EdgeDifference(tuple(absent) if ended else (), surplus)
    return EdgeDifference(_beyond(want, got) if ended else (), _beyond(got, want))


def _in_order(want: Sequence[Body], got: Sequence[Body]) -> EdgeDifference:
    missing, surplus = _beyond(want, got), _beyond(got, want)
    if missing or surplus:
        return EdgeDifference(missing, surplus)
    first = next((at for at, body in enumerate(got) if body != want[at]), None)
    if first is None:
        return EdgeDifference()
    return EdgeDifference(swap=SwappedResults(first, list(got).index(want[first], first)))


def _beyond(some: Sequence[Body], others: Sequence[Body]) -> tuple[int, ...]:
    """The places of the items that the others lack; of equal ones the last ones are lacking."""
    left = Counter(others)
    found = []
    for at, body in enumerate(some):
        if left[body] < 1:
            found.append(at)
        left[body] -= 1
    return tuple(found)


def _rows(want: Sequence[Body], got: Sequence[Body], how: Compare) -> EdgeDifference:
    """Of a table: rows that are not there or have another value, and rows that are wrong."""
    right, there = _last(want, how), _last(got, how)
    missing = [at for k, at in right.items() if k not in there or got[there[k]] != want[at]]
    surplus = [at for k, at in there.items() if k not in right or want[right[k]] != got[at]]
    return EdgeDifference(tuple(sorted(missing)), tuple(sorted(surplus)))


def _last(some: Sequence[Body], how: Compare) -> Mapping[Hashable, int]:
    """The place of the last row of each key."""
    return {how.key_of(body): at for at, body in enumerate(some)}
