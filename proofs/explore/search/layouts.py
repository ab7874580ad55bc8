"""Layouts: the place of each field in the words of a world.

Rule of this file: no world; a layout depends on the bits of the fields alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class WorldLayout(NamedTuple):
    """The layout of a world in `per` words.

    A field stands `shift` bits from the lower end of the word with the number `word`; `mask` has
    as many ones as the field has bits.
    """

    per: int
    word: NDArray[np.int64]
    shift: NDArray[np.uint64]
    mask: NDArray[np.uint64]


def dense_layout(bits: Sequence[int]) -> WorldLayout:
    """The fields of these bits in few words: the widest first."""
    return _place(bits, sorted(range(len(bits)), key=lambda field: -bits[field]), reopened=True)


def ordered_layout(bits: Sequence[int]) -> WorldLayout:
    """The fields in their order, from the upper end of the first word on.

    Worlds in the order of their words are in the order of their numbers, whatever the bits are: a
    file that is sorted stays sorted when its fields are given more bits.
    """
    return _place(bits, range(len(bits)), reopened=False)


def _place(bits: Sequence[int], fields: Iterable[int], *, reopened: bool) -> WorldLayout:
    """The layout of fields that are placed one after the other.

    reopened: a field may stand in an earlier word than the field before it.
    """
    free: list[int] = []
    word = np.zeros(len(bits), np.int64)
    shift = np.zeros(len(bits), np.uint64)
    for field in fields:
        first = 0 if reopened else max(0, len(free) - 1)
        open_ = (at for at in range(first, len(free)) if free[at] >= bits[field])
        at = next(open_, len(free))
        if at == len(free):
            free.append(64)
        free[at] -= bits[field]
        word[field], shift[field] = at, free[at]
    mask = np.array([(1 << wide) - 1 for wide in bits], np.uint64)
    return WorldLayout(len(free), word, shift, mask)
