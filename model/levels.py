"""A search in levels, in parts: the work on a part of a level, and the place of all parts.

Rule of this file: no world, no process and no machine.  A level is blocks of bytes; its parts can
be worked on anywhere, and a block that is found anywhere finds the blocks that it may equal.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias, TypeVar

R = TypeVar("R", covariant=True)
T = TypeVar("T")

Look: TypeAlias = Callable[[Sequence[bytes], int, Iterable[bytes]], T]
"""Looks at the blocks of a part; it receives all news and the number of the part."""


class LevelWork(typing.Protocol[R]):
    """The work on parts of levels.  It can be pickled, and works the same in every process."""

    def expand(
        self, news: Sequence[bytes], part: int, blocks: Iterable[bytes]
    ) -> Generator[bytes, None, R]:
        """Yield the blocks to which a part of the last level leads, and return a report.

        news: of this level and of all before it.
        """

    def split(self, found: bytes, names: bytes, parts: int) -> Iterator[tuple[int, bytes]]:
        """The part of the next level to which each part of a found block belongs.

        names: the answer to the report of its `expand`.
        """

    def admit(self, found: Iterable[bytes], seen: Iterable[bytes]) -> Iterator[bytes]:
        """A part of the next level: all that was found, once, without the same part of all levels
        before."""

    def count(self, block: bytes) -> int:
        """The number of entries of a block."""


class Levels(typing.Protocol[R]):
    """All levels of a search, wherever they are."""

    def expand(self, news: bytes) -> Mapping[int, R]:
        """Expand the last level; returns the report on each part."""

    def admit(self, names: Mapping[int, bytes]) -> int:
        """Make the next level from all that was found; returns the number of its entries."""

    def pick(self, level: int, part: int, choose: Callable[[Iterable[bytes]], T]) -> T:
        """The choice from the blocks of a part."""

    def survey(self, news: bytes, look: Look[T]) -> Iterator[tuple[int, T]]:
        """(level, result of the look at a part) for all parts of all levels, level by level.

        news: the last ones.  look: can be pickled.
        """


StartLevels: TypeAlias = Callable[[LevelWork[R], bytes], AbstractContextManager[Levels[R]]]
"""Starts a search with the block of its first level."""
