"""A log: a persistent sequence that grows at the end, is trimmed at the front and thinned.

Rule of this file: no operation copies more than a chunk and the list of chunks, so a log of
n items costs O(CHUNK + n / CHUNK) pointers an append, never n items.
Logs of up to CHUNK items have exactly one shape, so equal small logs are equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

CHUNK = 64


@dataclass(frozen=True, slots=True)
class Log(Generic[T]):
    """An immutable sequence; hashable if its items are.

    length: of all chunks together; drivers ask for it at every step.
    """

    chunks: tuple[tuple[T, ...], ...] = ()
    length: int = field(default=0, repr=False, compare=False)

    def append(self, item: T) -> Log[T]:
        chunks, length = self.chunks, self.length + 1
        if not chunks:
            return Log(((item,),), length)
        last = chunks[-1]
        if len(last) < CHUNK:
            return Log((*chunks[:-1], (*last, item)), length)
        return Log((*chunks, (item,)), length)

    def extend(self, items: Iterable[T]) -> Log[T]:
        log = self
        for item in items:
            log = log.append(item)
        return log

    def trim(self, old: Callable[[T], bool]) -> Log[T]:
        """The log without the longest prefix of items that are `old`."""
        chunks = self.chunks
        first = 0
        while first < len(chunks) and old(chunks[first][-1]):
            first += 1
        if first == len(chunks):
            return Log()
        head = chunks[first]
        start = 0
        while start < len(head) and old(head[start]):
            start += 1
        if first == 0 and start == 0:
            return self
        gone = start + sum(map(len, chunks[:first]))
        return _pack((head[start:], *chunks[first + 1 :]), self.length - gone)

    def thin(self, since: Callable[[T], bool], drop: Callable[[T], bool]) -> Log[T]:
        """The log without the items that `drop`; only the suffix of items `since` is searched."""
        chunks = self.chunks
        first = len(chunks)
        while first > 0 and since(chunks[first - 1][-1]):
            first -= 1
        tail = [item for chunk in chunks[first:] for item in chunk]
        kept = [item for item in tail if not (since(item) and drop(item))]
        rest = tuple(tuple(kept[i : i + CHUNK]) for i in range(0, len(kept), CHUNK))
        return _pack((*chunks[:first], *rest), self.length - len(tail) + len(kept))

    def rest(self) -> Log[T]:
        """The log without the first item."""
        head, *tail = self.chunks
        if not tail:
            return Log((head[1:],), self.length - 1) if len(head) > 1 else Log()
        return _pack((head[1:], *tail) if len(head) > 1 else tuple(tail), self.length - 1)

    def last(self) -> T:
        return self.chunks[-1][-1]

    def first(self) -> T:
        return self.chunks[0][0]

    def __iter__(self) -> Iterator[T]:
        for chunk in self.chunks:
            yield from chunk

    def __reversed__(self) -> Iterator[T]:
        for chunk in reversed(self.chunks):
            yield from reversed(chunk)

    def __len__(self) -> int:
        return self.length

    def __bool__(self) -> bool:
        return bool(self.chunks)


def _pack(chunks: tuple[tuple[T, ...], ...], length: int) -> Log[T]:
    if length <= CHUNK:
        flat = tuple(item for chunk in chunks for item in chunk)
        return Log((flat,) if flat else (), length)
    return Log(chunks, length)
