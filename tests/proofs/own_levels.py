"""The levels of a spread search in this process.

Rule of this file: reports are pickled, as on their way to another process.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from model.levels import LevelWork, Look

T = TypeVar("T")


class OwnLevels:
    """As model.levels.Levels."""

    def __init__(self, work: LevelWork[Any], first: bytes, parts: int = 3):
        self.work, self.parts = work, parts
        level = defaultdict(list)
        for part, block in work.split(first, b"", parts):
            level[part].append(block)
        self.levels: list[Mapping[int, Sequence[bytes]]] = [level]
        self.news: list[bytes] = []
        self.found: dict[int, list[bytes]] = {}

    def expand(self, news: bytes) -> Mapping[int, Any]:
        self.news.append(news)
        reports = {}
        for part in range(self.parts):
            self.found[part] = []
            reports[part] = self._expand(part)
        return reports

    def _expand(self, part: int) -> Any:
        run = self.work.expand(self.news, part, self.levels[-1].get(part, []))
        while True:
            try:
                self.found[part].append(next(run))
            except StopIteration as ended:
                return pickle.loads(pickle.dumps(ended.value))

    def admit(self, names: Mapping[int, bytes]) -> int:
        moved = defaultdict(list)
        for part, blocks in self.found.items():
            for block in blocks:
                for to, piece in self.work.split(block, names[part], self.parts):
                    moved[to].append(piece)
        level = {
            part: [*self.work.admit(blocks, (b for old in self.levels for b in old.get(part, [])))]
            for part, blocks in moved.items()
        }
        self.levels.append(level)
        return sum(self.work.count(block) for blocks in level.values() for block in blocks)

    def pick(self, level: int, part: int, choose: Callable[[Iterable[bytes]], T]) -> T:
        return choose(self.levels[level][part])

    def survey(self, news: bytes, look: Look[T]) -> Iterator[tuple[int, T]]:
        self.news.append(news)
        for number, level in enumerate(self.levels):
            for part, blocks in sorted(level.items()):
                yield number, look(self.news, part, blocks)


@contextmanager
def start(work: LevelWork[Any], first: bytes) -> Iterator[OwnLevels]:
    yield OwnLevels(work, first)
