"""All matches of all windows at once, from a whole stream: an oracle for
sim.experiments.lima.kernel.

Rule of this file: numpy only, and nothing shared with the kernel or the model, so that agreement
cannot come from a common mistake.

Pointer jumping: for every position, where the next event of each type is; composed, where a match
that begins there ends.  All windows then jump from match to match together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]


def matches(
    types: NDArray[np.uint8], times: Array, pattern: tuple[int, ...], size: int, slide: int
) -> tuple[Array, Array]:
    """Of all matches, in order of production: window (from 1) and position (from 1) of the last
    event.  The sequence `pattern` under skip-till-next-match, in time windows [start, start +
    size) that open with the first event and with each one `slide` or more after the last start.
    """
    after = _after_match(types, pattern)
    openers = _openers(times, slide)
    ends = np.searchsorted(times, times[openers] + size)
    windows = np.arange(len(openers))
    places = openers
    found: list[tuple[Array, Array]] = []
    while len(windows):
        places = after[places]
        inside = places <= ends[windows]
        windows, places = windows[inside], places[inside]
        found.append((windows + 1, places))
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    window, place = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((window, place))
    return window[order], place[order]


def _after_match(types: NDArray[np.uint8], pattern: tuple[int, ...]) -> Array:
    """For every index (from 0, one beyond the end too), the index after the last event of the
    match that begins there; beyond all indices if there is none."""
    count = len(types)
    nowhere = count + 1
    indices = np.arange(count)
    after = np.arange(nowhere + 1)
    for type_ in pattern:
        follow = np.full(nowhere + 1, nowhere)
        follow[:count] = np.where(types == type_, indices + 1, nowhere)
        follow = np.minimum.accumulate(follow[::-1])[::-1]
        after = follow[after]
    return after


def _openers(times: Array, slide: int) -> Array:
    """The indices of the events that open windows."""
    following = np.searchsorted(times, times + slide)
    openers = []
    index = 0
    while index < len(times):
        openers.append(index)
        index = int(following[index])
    return np.array(openers, np.int64)
