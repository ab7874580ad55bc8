"""The work of a process in a spread search: it expands worlds, and judges them.

Rule of this file: no level is counted and nothing is decided; the leading process does that.
`proofs.explore.search.plain` has the same loop over worlds; here it is over those of one block.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.core import Guarantee, Observation, Property
from model.errors import Invalid, StepFailed
from model.observations import Looks, look_inside
from model.registry import subject
from model.system import System
from proofs.explore.collapse import Collapsed
from proofs.explore.search.judge import Judge
from proofs.explore.spread import rows
from proofs.explore.spread.tables import Focus, MetFocus, OwnTables, SharedSuspects
from proofs.explore.views import FAULTS, LATE, PATIENT, Move
from proofs.garbage import seldom_collected

WIDE = 32
"""The bits of a field: no process begins again because another one has met many values."""


class BrokenAt(NamedTuple):
    """A world, by its place in its level, and the property that it violates, by its number."""

    place: int
    property: int


class FailedAt(NamedTuple):
    """A world, by its place in its level, in which a step failed, and the parts of StepFailed."""

    place: int
    node: str
    on: str
    why: str


class PartReport(NamedTuple):
    """The report on a part of a level.

    fresh: the values that have no shared number.  focuses: those that may be new.  violation,
    failed: the first of the part.  invalid: the message of an error that ends the search.
    """

    fresh: bytes
    focuses: tuple[MetFocus, ...]
    transitions: int
    quiescent: int
    guarantee: Guarantee
    violation: BrokenAt | None
    failed: FailedAt | None
    invalid: str


def properties(judge: Judge) -> list[Property]:
    """The properties, by their number."""
    return [*judge.always, *judge.at_rest]


@dataclass(frozen=True)
class SpreadWork:
    """The work on the levels of one search, as model.levels.LevelWork.

    search: a name that no other search has.  width: the number of fields of a world.
    """

    search: str
    width: int
    system: Callable[[], System] = field(compare=False)

    def expand(
        self, news: Sequence[bytes], part: int, blocks: Iterable[bytes]
    ) -> Generator[bytes, None, PartReport]:
        with seldom_collected():
            return (yield from _process_of(self).expand(news, part, blocks))

    def split(self, found: bytes, names: bytes, parts: int) -> Iterator[tuple[int, bytes]]:
        named = rows.rename(found, self.width, np.frombuffer(names, np.uint32))
        return rows.split(named, self.width, parts)

    def admit(self, found: Iterable[bytes], seen: Iterable[bytes]) -> Iterator[bytes]:
        return rows.admit(found, seen, self.width)

    def count(self, block: bytes) -> int:
        return rows.count(block, self.width)

    def edges(
        self, suspects: SharedSuspects, news: Sequence[bytes], part: int, blocks: Iterable[bytes]
    ) -> bytes:
        """The edges of the suspects from the worlds of a part, as rows.edges has them."""
        return b"".join(_process_of(self).edges(suspects, news, part, blocks))


def system_of(called: str, scope: str) -> System:
    """The system of a pinned scope, by names.  called: the protocol as `asif check` takes it."""
    protocol = subject(called).protocol
    pinned = next(one for one in protocol.evidence.scopes if one.name == scope)
    return System(protocol, pinned.scope)


@lru_cache(maxsize=1)
def _process_of(work: SpreadWork) -> _Process:
    """This process's tables for the search, which stay between its parts and levels."""
    return _Process(Collapsed(work.system(), bits=WIDE))


class _Process:
    """A process at work: its tables, and its judgements."""

    def __init__(self, collapsed: Collapsed) -> None:
        self.collapsed, self.system = collapsed, collapsed.system
        self.tables = OwnTables(collapsed)
        self.judge = judge = Judge(collapsed.system)
        self.properties = properties(judge)
        self.seen = itemgetter(*collapsed.looked_at(judge.always_looks))
        self.resting = itemgetter(*collapsed.looked_at(judge.rest_looks))
        self.judged: dict[Any, Property | None] = {}
        self.rested: dict[Any, Property | None] = {}
        self.patient = bool(self.system.deployment.patient)

    def expand(
        self, news: Sequence[bytes], part: int, blocks: Iterable[bytes]
    ) -> Generator[bytes, None, PartReport]:
        """As SpreadWork.expand."""
        self.tables.hear(news)
        writer = self.tables.writer(len(news) - 1)
        ended = _PartSoFar()
        at = rows.place(part, 0)
        try:
            for block in blocks:
                numbers = self.tables.owned(rows.unpack(block, self.collapsed.width)[0])
                found = self._successors(numbers, at, ended)
                if found:
                    yield rows.pack(writer.numbers(self._rows(found)), [*found.values()])
                at += len(numbers)
            focuses = tuple(map(writer.focus, self.tables.waiting()))
            fresh, invalid = self.tables.dump(writer.fresh()), ""
        except Invalid as error:
            focuses, fresh, invalid = (), b"", str(error)
        return PartReport(
            fresh,
            focuses,
            ended.transitions,
            ended.quiescent,
            self.judge.guarantee,
            ended.violation,
            ended.failed,
            invalid,
        )

    def edges(
        self, suspects: SharedSuspects, news: Sequence[bytes], part: int, blocks: Iterable[bytes]
    ) -> Iterator[bytes]:
        """As SpreadWork.edges, block by block."""
        self.tables.hear(news)
        writer = self.tables.writer(len(news) - 1)
        chosen = {self.tables.owned_focus(focus): moves for focus, moves in suspects.items()}
        places: dict[Focus, Sequence[int]] = {}  # by view as it is, and not by focus
        at = rows.place(part, 0)
        for block in blocks:
            shared, _ = rows.unpack(block, self.collapsed.width)
            numbers = self.tables.owned(shared)
            found = [
                (i, after)
                for i, row in enumerate(numbers)
                for after in self._led_to(row, chosen, places)
            ]
            if found:
                from_, after = zip(*found, strict=True)
                nexts = writer.numbers(self._rows(after))
                yield rows.pack_edges(shared[[*from_]], np.array(from_) + at, nexts)
            at += len(numbers)

    def _led_to(
        self, row: NDArray[np.uint32], chosen: SharedSuspects, places: dict[Focus, Sequence[int]]
    ) -> Iterator[int]:
        """The packed worlds to which the suspects lead from a world.  places: of the suspects among
        the moves of a view, as far as they were looked up."""
        collapsed = self.collapsed
        numbers, world = tuple(row.tolist()), int.from_bytes(row.tobytes(), "little")
        every = [*collapsed.moves_in(numbers)]
        idle = self.patient and not any(moves.own for _, moves in every)
        for at, (view, moves) in enumerate(every):
            if not (moves.own or idle):
                continue
            key = at, view.pick(numbers)
            known = places.get(key)
            if known is None:
                focus = collapsed.focus_key(view, key[1])
                known = places[key] = chosen.get((at, focus), ())
            for place in known:
                if place < len(moves.own) or idle:
                    yield collapsed.successor(world, numbers, moves.all[place])

    def _rows(self, worlds: Iterable[int]) -> NDArray[np.uint32]:
        size = 4 * self.collapsed.width
        packed = b"".join(world.to_bytes(size, "little") for world in worlds)
        return np.frombuffer(packed, "<u4").reshape(-1, self.collapsed.width)

    def _successors(self, worlds: NDArray[np.uint32], at: int, ended: _PartSoFar) -> dict[int, int]:
        """The packed worlds to which the worlds lead, and of each the place of the first one that
        leads there."""
        found: dict[int, int] = {}
        successor = self.collapsed.successor
        for place, row in enumerate(worlds, at):
            numbers = tuple(row.tolist())
            world = int.from_bytes(row.tobytes(), "little")
            try:
                moves, progressing = self._moves(numbers)
                for move in moves:
                    found.setdefault(successor(world, numbers, move), place)
            except StepFailed as error:
                failed = FailedAt(place, error.node, error.on, error.why)
                ended.failed = ended.failed or failed
                continue
            ended.transitions += len(moves)
            ended.quiescent += not progressing
            broken = self._broken(numbers, at_rest=not progressing)
            if broken is not None and ended.violation is None:
                ended.violation = BrokenAt(place, self.properties.index(broken))
        return found

    def _moves(self, numbers: tuple[int, ...]) -> tuple[list[Move], bool]:
        """The moves that are possible in a world, and whether it is not at rest."""
        every = [moves for _, moves in self.collapsed.moves_in(numbers)]
        granted = not self.collapsed.rationed or self.collapsed.may_crash(numbers)
        idle = self.patient and not any(moves.own for moves in every)
        progressing = any(moves.own for moves in every)
        chosen = [move for moves in every for move in (moves.granted if granted else moves.always)]
        if idle:
            chosen += [move for moves in every for move in moves.patient]
            progressing = any(moves.patient for moves in every)
            if granted:
                chosen += [move for moves in every for move in moves.late]
        if self.collapsed.by_world:
            allowed = {FAULTS: granted, PATIENT: idle, LATE: idle and granted}
            self._grant(numbers, [kind for kind, may in allowed.items() if may])
        return chosen, progressing

    def _grant(self, numbers: tuple[int, ...], kinds: Sequence[int]) -> None:
        for at, view in enumerate(self.collapsed.views):
            focus = self.collapsed.focus_key(view, view.pick(numbers))
            for kind in kinds:
                self.tables.grant(at, focus, kind)

    def _broken(self, numbers: tuple[int, ...], *, at_rest: bool) -> Property | None:
        """The property that a world violates."""
        key = self.seen(numbers)
        if key not in self.judged:
            self.judged[key] = self.judge.broken(self._look(numbers, self.judge.always_looks))
        broken = self.judged[key]
        if not at_rest:
            return broken
        key = self.resting(numbers)
        if key not in self.rested:
            looks = self.judge.rest_looks
            self.rested[key] = self.judge.broken_at_rest(self._look(numbers, looks))
        return broken or self.rested[key]

    def _look(self, numbers: tuple[int, ...], looks: Looks) -> Observation:
        if looks == Looks():  # much cheaper than the whole world
            return Observation(*self.collapsed.arrivals_and_outputs(numbers))
        return look_inside(self.system, self.collapsed.world_of(numbers), looks)


@dataclass(slots=True)
class _PartSoFar:
    """The findings in a part so far."""

    transitions: int = 0
    quiescent: int = 0
    violation: BrokenAt | None = None
    failed: FailedAt | None = None
