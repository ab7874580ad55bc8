"""The compiled loops over sorted worlds: two sorted lists are compared in one pass.

Rule of this file: numbers only; the files are known to proofs.explore.search.runs.
"""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(inline="always", cache=True)
def _compare(one: Any, i: Any, other: Any, j: Any) -> Any:
    """-1, 0 or 1: row i of `one` is before, equal to or after row j of `other`."""
    for k in range(one.shape[1]):
        if one[i, k] != other[j, k]:
            return -1 if one[i, k] < other[j, k] else 1
    return 0


@numba.njit(cache=True)
def drop_known(found: Any, fresh: Any, first: Any, known: Any) -> Any:
    """Set `fresh` to False for the rows of `found`, from `first` on, that are among the rows of
    `known`; returns the first row that a later block of `known` may hold."""
    i = first
    for j in range(len(known)):
        order = 1
        while i < len(found):
            order = _compare(found, i, known, j)
            if order >= 0:
                break
            i += 1
        if i == len(found):
            break
        if order == 0:
            fresh[i] = False
            i += 1
    return i
