"""A run of the operator twice: with a numbering under test, and with one that names all matches.

Rule of this file: no formula; the operator numbers, saves and replays.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import NamedTuple

from model.cep.engines import Engine
from model.cep.numbering import TRIGGERED, Numbering
from model.cep.windows import CountWindows
from model.events import Body, Event
from model.protocols.upstream_backup.gem import Gem
from proofs.lemmas.upstream_backup.streams import WindowPlace


class MatchTwice(NamedTuple):
    """A match, by what it is, and its number in the original run and in the replay."""

    place: WindowPlace
    copy: int
    original: tuple[int, ...]
    replayed: tuple[int, ...]


def events(word: str) -> list[Event]:
    return [Event((n,), Body(n, type_)) for n, type_ in enumerate(word, 1)]


def gem_of(engine: Engine, size: int, slide: int, numbering: Numbering) -> Gem:
    windows = CountWindows(size, slide)
    return Gem.new(engine, skip=False, splitter=windows, numbering=numbering)


def popped(gem: Gem) -> list[Event]:
    produced = []
    while (theta := gem.pop()) is not None:
        produced.append(theta)
    return produced


def run(gem: Gem, stream: list[Event]) -> list[Event]:
    for event in stream:
        gem.push(event)
    return popped(gem)


class NumberedRun:
    """A failure-free run twice: with the numbering under test, and with the one that names the
    window and the event of every match."""

    def __init__(
        self, engine: Engine, word: str, size: int, slide: int, numbering: Numbering
    ) -> None:
        self._fresh: Callable[[], Gem] = lambda: gem_of(engine, size, slide, numbering)
        self._gem, self._names = self._fresh(), gem_of(engine, size, slide, TRIGGERED)
        self._stream = events(word)
        self.produced = run(self._gem, self._stream)
        self._named = run(self._names, self._stream)
        self._slide = slide

    @property
    def shared(self) -> bool:
        numbers = [theta.sn for theta in self.produced]
        return len(set(numbers)) < len(numbers)

    def place(self, i: int) -> WindowPlace:
        time, _, _, window, _ = self._named[i].sn
        return WindowPlace((window - 1) * self._slide, time - 1)

    def replay(self, acknowledged: int) -> list[MatchTwice]:
        """Acknowledge the matches up to this one, lose the state, replay: the windows kept."""
        gem, names = copy(self._gem), copy(self._names)
        savepoint = gem.save(self.produced[acknowledged])
        first = names.save(self._named[acknowledged]).seed.window
        again = self._fresh()
        again.restore(savepoint)
        replayed = run(again, [event for event in self._stream if event.sn > savepoint.trim])
        kept = [i for i, name in enumerate(self._named) if name.sn[3] >= first]
        assert [self.produced[i].body for i in kept] == [theta.body for theta in replayed]
        return [
            MatchTwice(self.place(i), self._named[i].sn[4], self.produced[i].sn, theta.sn)
            for i, theta in zip(kept, replayed, strict=True)
        ]

    def misnumbered(self, acknowledged: int) -> bool:
        return any(match.original != match.replayed for match in self.replay(acknowledged))
