"""Rows whose numbers are close: found without a look at all pairs.

Rule of this file: it finds, and replaces nothing; `traces.closeness` defines close.

Each number is put on a scale on which close numbers lie at most -log(1 - close) apart: in a tree of
the known rows, the nearest ones of a row are then compared exactly, until two are close.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf, isfinite, log1p
from typing import Any, TypeAlias

import numpy as np

Numbers: TypeAlias = tuple[Any, ...]
"""Floats; any other value is close to itself alone."""


def close_rows(
    rows: Sequence[Numbers], known: Sequence[Numbers], close: float
) -> Iterator[tuple[int, ...]]:
    """Of each row, the places of the known rows to which it is close: two of them at most.

    close: from 0 to below 1, at which all numbers of a sign would be close.
    """
    groups: dict[Numbers, list[int]] = defaultdict(list)
    for at, one in enumerate(known):
        groups[_fixed(one)].append(at)
    found: list[tuple[int, ...]] = [()] * len(rows)
    asked: dict[Numbers, list[int]] = defaultdict(list)
    for at, one in enumerate(rows):
        asked[_fixed(one)].append(at)
    for fixed, places in asked.items():
        there = groups.get(fixed, [])
        mine = [rows[at] for at in places]
        others = [known[at] for at in there]
        for at, near in zip(places, _near(mine, others, close), strict=True):
            found[at] = tuple(there[one] for one in near)
    return iter(found)


def is_close(one: Any, other: Any, close: float) -> bool:
    """Is the first number close to the other?"""
    if one == other:
        return True
    if not isinstance(one, float) or not isinstance(other, float):
        return False
    off = abs(one - other)
    return off < inf and off <= close * max(1.0, abs(one), abs(other))


def _fixed(row: Numbers) -> Numbers:
    """The values that are no finite floats, in their places."""
    return tuple(None if isinstance(one, float) and isfinite(one) else (one,) for one in row)


def _near(
    rows: Sequence[Numbers], known: Sequence[Numbers], close: float
) -> Iterator[tuple[int, ...]]:
    """As `close_rows`, of rows that agree in all that is no finite float."""
    free = [at for at, one in enumerate(_fixed(rows[0])) if one is None] if rows else []
    if not known or not free:
        yield from ((*range(len(known)),)[:2] for _ in rows)
        return
    for row, candidates in zip(rows, _candidates(rows, known, free, close), strict=True):
        same = (
            at
            for at in candidates
            if all(is_close(row[place], known[at][place], close) for place in free)
        )
        yield tuple(islice(same, 2))


def _candidates(
    rows: Sequence[Numbers], known: Sequence[Numbers], free: Sequence[int], close: float
) -> Iterator[Iterator[int]]:
    """The known rows that may be close to each row, the nearest ones first."""
    from scipy.spatial import cKDTree  # with --close alone

    tree = cKDTree(_scaled(known, free))
    points = _scaled(rows, free)
    rounding = 1e-15 * (1 + np.abs(points).max(axis=1))
    reach = -log1p(-close) * (1 + 1e-9) + np.where(close, rounding, 0)
    for point, far in zip(points, np.nextafter(reach, inf), strict=True):  # below it, not at it
        yield _nearest(tree, point, far)


def _nearest(tree: Any, point: Any, far: float) -> Iterator[int]:
    """The places in a tree from the nearest one on, less than that away; each once."""
    seen: set[int] = set()
    count = 2
    while True:
        away, places = tree.query(point, k=count, p=inf, distance_upper_bound=far)
        near = [int(place) for place in places[away < inf] if place not in seen]
        seen.update(near)
        yield from near
        if len(seen) < count:
            return
        count *= 2


def _scaled(rows: Sequence[Numbers], free: Sequence[int]) -> Any:
    """On a scale that is linear up to 1, and logarithmic beyond."""
    values = np.array([[row[at] for at in free] for row in rows])
    size = np.abs(values)
    return np.copysign(np.minimum(size, 1) + np.log(np.maximum(size, 1)), values)
