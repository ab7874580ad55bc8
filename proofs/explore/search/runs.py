"""Files of worlds: sorted runs of the worlds that a level leads to, and their merge.

Rule of this file: no protocol and no search.  A world is a row of words in a layout; a file keeps
the bits of its fields, and gives its rows in any layout with more bits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from proofs.explore.search import loops
from proofs.explore.search.layouts import WorldLayout, ordered_layout
from proofs.explore.search.sorted_loops import drop_known

Words: TypeAlias = NDArray[np.uint64]
"""Rows of words, one a world."""
Places: TypeAlias = NDArray[np.uint32]

BLOCK = 1 << 16
"""The number of rows of a long file that are read at once."""


def append(path: Path, values: NDArray[np.generic]) -> None:
    """Write the values to the end of a file."""
    with path.open("ab") as file:
        file.write(np.ascontiguousarray(values).data)


def places(path: Path, first: int, end: int) -> Places:
    """The values from `first` to `end` of a file of numbers."""
    return np.fromfile(path, np.uint32, end - first, offset=4 * first)


class WorldFile(NamedTuple):
    """A file of `size` worlds, whose fields have these bits."""

    path: Path
    bits: tuple[int, ...]
    size: int

    def read(self, first: int, end: int, layout: WorldLayout) -> Words:
        """The worlds from `first` to `end`, in a layout with at least the bits of this file."""
        own = ordered_layout(self.bits)
        count = end - first
        words = np.fromfile(self.path, np.uint64, count * own.per, offset=8 * first * own.per)
        if not np.array_equal(own.mask, layout.mask):
            words = np.concatenate([words, np.zeros(count * (layout.per - own.per), np.uint64)])
            numbers = np.zeros(len(self.bits), np.int64)
            loops.repack(words, count, tuple(own), tuple(layout), numbers)
        return words.reshape(count, layout.per)

    def blocks(self, first: int, end: int, layout: WorldLayout) -> Iterator[Words]:
        """As `read`, some worlds at a time."""
        for at in range(first, end, BLOCK):
            yield self.read(at, min(end, at + BLOCK), layout)

    def below(self, bound: tuple[int, ...] | None, layout: WorldLayout) -> int:
        """The number of worlds below the bound, if the file is sorted; all if there is no bound."""
        if bound is None:
            return self.size
        return bisect_left(
            range(self.size), bound, key=lambda at: _key(self.read(at, at + 1, layout)[0])
        )


class Run(NamedTuple):
    """New worlds of a part of a level, sorted; in the files beside: of each world its place in the
    order in which they were found, and, in that order, the place of its parent in the level."""

    worlds: WorldFile

    @property
    def order(self) -> Path:
        return self.worlds.path.with_suffix(".order")

    @property
    def parents(self) -> Path:
        return self.worlds.path.with_suffix(".parents")


def write_run(path: Path, bits: tuple[int, ...], words: Words, parents: Places) -> Run:
    """Sort different worlds, which stand in the order in which they were found, and write them."""
    run = Run(WorldFile(path, bits, len(words)))
    for file in (path, run.order, run.parents):
        file.unlink(missing_ok=True)
    order = _sort(words)
    append(run.order, order.astype(np.uint32))
    append(run.parents, parents)
    for at in range(0, len(order), BLOCK):
        append(path, words[order[at : at + BLOCK]])
    return run


class FreshWorlds(NamedTuple):
    """Worlds that no earlier level has, sorted, each once: the run that found each of them first,
    and its place among those that this run found."""

    words: Words
    run: Places
    order: Places


def merge(
    runs: Sequence[Run], known: Sequence[WorldFile], layout: WorldLayout, most: int
) -> Iterator[FreshWorlds]:
    """The worlds of the runs that are not in the known files, which are sorted, too.

    most: about so many worlds are in memory at once.
    """
    starts, seen = [0] * len(runs), [0] * len(known)
    for bound in _bounds(runs, layout, most):
        ends = [run.worlds.below(bound, layout) for run in runs]
        found = _unite(runs, starts, ends, layout)
        fresh, first = np.ones(len(found.words), np.bool_), 0
        for at, file in enumerate(known):
            end, first = file.below(bound, layout), 0
            for block in file.blocks(seen[at], end, layout):
                first = drop_known(found.words, fresh, first, block)
            seen[at] = end
        starts = ends
        yield FreshWorlds(found.words[fresh], found.run[fresh], found.order[fresh])


def _bounds(
    runs: Sequence[Run], layout: WorldLayout, most: int
) -> Iterator[tuple[int, ...] | None]:
    """Worlds between which about `most` worlds of the runs lie, and None for the end."""
    total = sum(run.worlds.size for run in runs)
    if total > most:
        step = max(1, most // (2 * len(runs)))
        sample = np.concatenate(
            [
                run.worlds.read(at, at + 1, layout)
                for run in runs
                for at in range(0, run.worlds.size, step)
            ]
        )
        sample = sample[_sort(sample)]
        for at in range(len(runs), len(sample), max(1, most // step - len(runs))):
            yield _key(sample[at])
    yield None


def _unite(
    runs: Sequence[Run], starts: Sequence[int], ends: Sequence[int], layout: WorldLayout
) -> FreshWorlds:
    """The worlds of a part of each run, sorted, each once."""
    parts = [*zip(runs, starts, ends, strict=True)]
    words = np.concatenate([run.worlds.read(first, end, layout) for run, first, end in parts])
    order = np.concatenate([places(run.order, first, end) for run, first, end in parts])
    numbers = np.arange(len(runs), dtype=np.uint32)
    run_of = np.repeat(numbers, [end - first for _, first, end in parts])
    if len(runs) > 1:
        sorted_ = _sort(words)
        words = words[sorted_]
        first_ = np.ones(len(words), np.bool_)
        np.any(words[1:] != words[:-1], axis=1, out=first_[1:])
        sorted_, words = sorted_[first_], words[first_]
        order, run_of = order[sorted_], run_of[sorted_]
    return FreshWorlds(words, run_of, order)


def _sort(words: Words) -> NDArray[np.intp]:
    """The order of the rows; of equal ones, the earlier one comes first."""
    return np.lexsort([words[:, at] for at in reversed(range(words.shape[1]))])


def _key(row: Words) -> tuple[int, ...]:
    return tuple(row.tolist())
