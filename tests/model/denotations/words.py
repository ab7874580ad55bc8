"""All small words: streams of events, with ties.

Rule of this file: no sampling; a function returns every word of its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, product
from typing import TypeAlias

from model.events import Body

Word: TypeAlias = tuple[Body, ...]


def words(
    length: int, types: str = "ab", gaps: Sequence[int] = (0, 1), starts: Sequence[int] = (0,)
) -> Iterator[Word]:
    """All words of this length.  gaps: between the times of neighbours, 0 for a tie.  starts: the
    time of the first event."""
    if not length:
        yield ()
        return
    for start, *steps in product(starts, *[gaps] * (length - 1)):
        times = tuple(accumulate(steps, initial=start))
        for letters in product(types, repeat=length):
            yield tuple(map(Body, times, letters))


def words_up_to(
    longest: int, types: str = "ab", gaps: Sequence[int] = (0, 1), starts: Sequence[int] = (0,)
) -> Iterator[Word]:
    for length in range(longest + 1):
        yield from words(length, types, gaps, starts)


def letters(text: str) -> Word:
    """The word of these types, at the times 0, 1, 2, ..."""
    return tuple(map(Body, range(len(text)), text))
