"""Runs that are too long to be drawn whole: their beginning, the moment that decides, their end.

Rule of this file: it counts rows and draws none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BEGINNING = 4
"""The moments at the beginning that are drawn of such a run."""


def shorten(
    drawn: Sequence[Sequence[str]], most: int | None, keep: int | None = None
) -> Iterator[str]:
    """The rows of all moments; or, if these are too many, of the first and the last ones.

    keep: a moment that stays, with its neighbours.
    """
    shown = {*range(len(drawn))}
    if most is not None and sum(map(len, drawn)) > most:
        gaps = 1 if keep is None else 2
        shown = _chosen([*map(len, drawn)], most - gaps, keep)
    hidden = 0
    for at, rows in enumerate(drawn):
        if at not in shown:
            hidden += 1
            continue
        if hidden:
            yield f"  ⋮  {hidden} more (--long draws all)"
        hidden = 0
        yield from rows


def _chosen(heights: Sequence[int], room: int, keep: int | None) -> set[int]:
    """The moments that fit into a number of rows: the last one, one with its neighbours, the first
    ones, and then the last ones."""
    near = () if keep is None else (keep, keep - 1, keep + 1)
    last = len(heights) - 1
    chosen: set[int] = set()
    for at in dict.fromkeys((last, *near, *range(BEGINNING), *range(last, -1, -1))):
        if 0 <= at <= last:
            room -= heights[at]
            if room < 0:
                break
            chosen.add(at)
    return chosen
