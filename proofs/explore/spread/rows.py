"""Rows: worlds as bytes of one length, in blocks that any process can sort, split and compare.

Rule of this file: numbers alone; `proofs.explore.spread.tables` knows their meaning.

A row has a number of four bytes for each field of a world, and the place of the world's parent in
the level before: its part, and its place among the rows of that part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 15
"""The most rows of a block."""
FRESH = 1 << 31
"""From here on the numbers of values that only the process knows that found them."""
PLACES = 40
"""The bits of a place among the rows of a part."""


@cache
def _kind(width: int) -> np.dtype[Any]:
    # Bytes of one length are sorted as text is, which is fast: zeros at an end change no order.
    return np.dtype([("world", f"S{4 * width}"), ("parent", "<u8")])


def place(part: int, at: int) -> int:
    return part << PLACES | at


def part_and_row(place_: int) -> tuple[int, int]:
    return place_ >> PLACES, place_ & ((1 << PLACES) - 1)


def pack(numbers: NDArray[np.uint32], parents: Any) -> bytes:
    """The block of worlds; `numbers` has a row of numbers for each."""
    count, width = numbers.shape
    block = np.zeros(count, _kind(width))
    block["world"] = np.ascontiguousarray(numbers, "<u4").view(f"S{4 * width}").reshape(-1)
    block["parent"] = parents
    return block.tobytes()


def unpack(block: bytes, width: int) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """The numbers of the worlds of a block, a row for each, and their parents' places."""
    words = np.frombuffer(block, "<u4").reshape(-1, width + 2)
    return words[:, :width], np.frombuffer(block, _kind(width))["parent"]


def count(block: bytes, width: int) -> int:
    return len(block) // _kind(width).itemsize


def row(blocks: Iterable[bytes], width: int, at: int) -> tuple[tuple[int, ...], int]:
    """The numbers and the parent of the row at a place of a part."""
    for block in blocks:
        if at < count(block, width):
            numbers, parents = unpack(block, width)
            return tuple(numbers[at].tolist()), int(parents[at])
        at -= count(block, width)
    raise AssertionError("the part has no such row")


def rename(block: bytes, width: int, names: NDArray[np.uint32]) -> bytes:
    """The block with the names of fresh numbers in their places."""
    words = np.frombuffer(block, "<u4").reshape(-1, width + 2).copy()
    numbers = words[:, :width]
    fresh = numbers >= FRESH
    numbers[fresh] = names[numbers[fresh] - FRESH]
    return words.tobytes()


def split(block: bytes, width: int, parts: int) -> Iterator[tuple[int, bytes]]:
    """The rows of a block by the part to which each belongs; the world decides."""
    numbers, _ = unpack(block, width)
    mixed = np.zeros(len(numbers), np.uint64)
    for column in numbers.T:
        mixed = (mixed ^ column) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    chosen = mixed % np.uint64(parts)
    rows = np.frombuffer(block, _kind(width))
    for part in np.unique(chosen).tolist():
        yield part, rows[chosen == part].tobytes()


def admit(found: Iterable[bytes], seen: Iterable[bytes], width: int) -> Iterator[bytes]:
    """The blocks of the rows found, sorted and each world once, without those seen.

    Of equal worlds the one with the smallest parent stays, so that a repetition finds the same.
    The blocks seen are sorted and only read in passing: memory is needed for the rows found.
    """
    rows = np.frombuffer(b"".join(found), _kind(width))
    if not len(rows):
        return
    rows = rows[np.lexsort((rows["parent"], rows["world"]))]
    worlds = np.ascontiguousarray(rows["world"])
    left = np.ones(len(rows), np.bool_)
    left[1:] = worlds[1:] != worlds[:-1]
    for block in seen:
        old = np.ascontiguousarray(np.frombuffer(block, _kind(width))["world"])
        first = int(np.searchsorted(worlds, old[0], "left"))
        end = int(np.searchsorted(worlds, old[-1], "right"))
        at = np.searchsorted(old, worlds[first:end])
        left[first:end] &= old[at] != worlds[first:end]
    rows = rows[left]
    for start in range(0, len(rows), BLOCK):
        yield rows[start : start + BLOCK].tobytes()


@cache
def _edge(width: int) -> np.dtype[Any]:
    return np.dtype([("place", "<u8"), ("world", f"V{4 * width}"), ("next", f"V{4 * width}")])


def pack_edges(
    worlds: NDArray[np.uint32], places: NDArray[np.int64], nexts: NDArray[np.uint32]
) -> bytes:
    """Edges from worlds, with their places, to next worlds."""
    count, width = worlds.shape
    kind = _edge(width)
    edges = np.zeros(count, kind)
    edges["place"] = places
    for name, numbers in (("world", worlds), ("next", nexts)):
        edges[name] = np.ascontiguousarray(numbers, "<u4").view(kind[name]).reshape(-1)
    return edges.tobytes()


def unpack_edges(packed: bytes, width: int) -> Iterator[tuple[int, bytes, bytes]]:
    """(place, world, next world) of each edge."""
    edges = np.frombuffer(packed, _edge(width))
    yield from zip(
        edges["place"].tolist(), edges["world"].tolist(), edges["next"].tolist(), strict=True
    )
