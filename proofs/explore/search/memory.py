"""Large arrays: address space for all that a machine could hold, memory for the part in use.

Rule of this file: no array is copied to grow.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
_HUGE = getattr(mmap, "MADV_HUGEPAGE", None)


def zeros(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """So many zeros; a page of them takes memory when it is written to.

    Huge pages, where there are any: a hash table is read at random, and with small pages the
    processor would look up the address of nearly every entry first.
    """
    room = mmap.mmap(-1, max(count, 1) * np.dtype(dtype).itemsize, flags=_FLAGS)
    if _HUGE is not None:
        room.madvise(_HUGE)
    return np.frombuffer(room, dtype)
