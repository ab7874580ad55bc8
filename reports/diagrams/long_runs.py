"""Runs that are too long to be drawn whole: the moments that decide, the beginning and the end.

Rule of this file: it counts rows and draws none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

BEGINNING = 4
"""The moments at the beginning that are drawn of such a run."""


def shorten(
    drawn: Sequence[Sequence[str]],
    most: int | None,
    decisive: Sequence[int] = (),
    tall: Sequence[int] = (),
) -> Iterator[str]:
    """The rows of all moments; or of those for which there is room, if these are too many.

    tall: the rows that each moment counts for; by default, those that it has.
    decisive: the moments that stay besides the first and the last one, the most important one
    first.  More first ones and last ones fill the room that is left.
    """
    shown: Collection[int] = range(len(drawn))
    tall = tall or [*map(len, drawn)]
    if most is not None and sum(tall) > most:
        shown = _chosen(tall, most, decisive)
    hidden = 0
    for at, rows in enumerate(drawn):
        alone = {at - 1, at + 1}.issubset(shown) and tall[at] == 1  # its sign is as long
        if at not in shown and not alone:
            hidden += 1
            continue
        if hidden:
            yield _more(hidden)
        hidden = 0
        yield from rows
    if hidden:
        yield _more(hidden)


def _more(hidden: int) -> str:
    return f"  ⋮  {hidden} more (--long draws all)"


def _chosen(tall: Sequence[int], most: int, decisive: Sequence[int]) -> set[int]:
    """The moments that fit into a number of rows."""
    chosen: set[int] = set()
    for at in (0, len(tall) - 1, *decisive):
        if _rows(tall, chosen | {at}) <= most:
            chosen.add(at)
    for places in (range(BEGINNING), reversed(range(len(tall)))):
        for at in places:
            if _rows(tall, chosen | {at}) > most:
                break
            chosen.add(at)
    return chosen


def _rows(tall: Sequence[int], chosen: Collection[int]) -> int:
    """The number of rows of these moments, with one for each place where others are left out."""
    places = range(len(tall))
    gaps = sum(at not in chosen and (at == 0 or at - 1 in chosen) for at in places)
    return gaps + sum(tall[at] for at in chosen)
