"""Rows of small logs, column by column: with which columns left out do they agree?

Rule of this file: it compares hashes of values; of two different values among 10^6, they are the
same with a chance below 10^-7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from spark_check.traces.plain_tables import Kind, ObjectKind
from spark_check.traces.readings import Names

Hashes: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]


class HashedRows:
    """The hash of each value of some rows.  names: of columns, and of fields of objects."""

    def __init__(self, contents: Sequence[tuple[Any, ...]], kinds: Mapping[str, Kind]) -> None:
        columns = zip(kinds.items(), zip(*contents, strict=True), strict=True)
        leaves = [leaf for (name, kind), values in columns for leaf in _leaves(name, kind, values)]
        self.places = {path: at for at, (path, _) in enumerate(leaves) if path is not None}
        self.hashes: Hashes = np.stack(
            [_hashed(at, values) for at, (_, values) in enumerate(leaves)], axis=1
        )

    @property
    def names(self) -> Sequence[str]:
        return [*self.places]

    def matched(
        self, known: Sequence[int], foreign: Sequence[int], sets: Sequence[Names]
    ) -> list[int]:
        """As `readings.ForeignRows`, for rows by their number."""
        counts = []
        whole = np.bitwise_xor.reduce(self.hashes, axis=1)
        for names in sets:
            out = np.zeros(self.hashes.shape[1], dtype=bool)
            out[[self.places[name] for name in names]] = True
            if 2 * out.sum() <= len(out):  # the columns that are left out cost less
                rest = whole ^ np.bitwise_xor.reduce(self.hashes[:, out], axis=1)
            else:
                rest = np.bitwise_xor.reduce(self.hashes[:, ~out], axis=1)
            counts.append(int(np.isin(rest[foreign], rest[known]).sum()))
        return counts

    def nearest(
        self, row: int, others: Sequence[int], better: Sequence[bool], left_out: Names
    ) -> int | None:
        """The row of `others` that agrees in most columns but those left out, and in half of all
        at least; among equals one that is `better`, and the first."""
        if not others:
            return None
        same = self.hashes[others] == self.hashes[row]
        out = [at for name, at in self.places.items() if name in left_out]
        agree, free = same.sum(axis=1), same[:, out].sum(axis=1)
        width = self.hashes.shape[1]
        at = int(np.argmax(((agree - free) * width + agree) * 2 + np.array(better)))
        return others[at] if 2 * agree[at] >= width else None

    def differing(self, one: int, other: int) -> tuple[str, ...]:
        """The columns in which two rows differ."""
        same = self.hashes[one] == self.hashes[other]
        return tuple(name for name, at in self.places.items() if not same[at])


def _leaves(path: str, kind: Kind, values: Sequence[Any]) -> Iterator[tuple[str | None, list[Any]]]:
    """As `fields.leaves`."""
    if not isinstance(kind, ObjectKind):
        yield path, [*values]
        return
    yield None, [value is None for value in values]
    for at, (name, inner) in enumerate(kind.fields):
        below = [value and value[at] for value in values]
        yield from _leaves(f"{path}.{name}", inner, below)


def _hashed(column: int, values: Iterable[Any]) -> Hashes:
    """Equal values have equal hashes, and others random ones."""
    codes: dict[Any, int] = {}
    numbers = [codes.setdefault(value, len(codes)) for value in values]
    return np.random.default_rng(column).integers(0, 1 << 64, size=len(codes), dtype=np.uint64)[
        numbers
    ]
