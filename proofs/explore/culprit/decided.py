"""The moment that decides a run: the first one after which no continuation is right.

Rule of this file: a bounded search over packed worlds (proofs.explore.collapse); where the bound
ends it, the answer is "not known".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from operator import itemgetter

from model.core import Arrival
from model.errors import Invalid, StepFailed
from model.observations import first_violation, looks_of
from proofs.explore.collapse import Collapsed
from proofs.explore.explorer import Trace
from proofs.explore.views import Move


def find_decided(trace: Trace, budget: int) -> int | None:
    """The place of the first world of the run from which no continuation is right.

    A continuation takes the events of this run that have not arrived, in any order of steps, with
    or without the further faults that the scope grants.  It is right if it comes to rest and no
    property is violated on its way.  budget: the number of worlds to visit; None: it was not
    enough, a step fails, or there is no such world.
    """
    try:
        search = _Continuations(trace, budget)
        for at in range(len(trace.worlds) - 1, -1, -1):
            right = search.is_right(search.run[at])
            if right is None:
                return None
            if right:
                return at + 1 if at + 1 < len(trace.worlds) else None
    except (StepFailed, Invalid):
        return None
    return 0


class _Continuations:
    """The worlds that follow those of a run, and those of them from which nothing right comes."""

    def __init__(self, trace: Trace, budget: int) -> None:
        self.collapsed = collapsed = Collapsed(trace.system, bits=32)
        self.run = [collapsed.pack(world) for world in trace.worlds]
        self.left = budget
        self._arrivals = trace.worlds[-1].arrivals
        self._wrong: set[int] = set()
        self._judged: dict[Hashable, bool] = {}
        self._pick = {
            rest: itemgetter(*collapsed.looked_at(looks_of(collapsed.system, rest=rest)))
            for rest in (False, True)
        }

    def is_right(self, start: int) -> bool | None:
        """Does some continuation from this world come to rest as it should?  None: not known.

        Continuations without further faults are tried first.
        """
        seen = {start} - self._wrong
        waiting = [*seen]
        later: list[int] = []
        while waiting or later:
            if waiting:
                world = waiting.pop()
                self.left -= 1
                if self.left < 0:
                    return None
                numbers = self.collapsed.numbers(world)
                rests = self._rests(numbers)
                if self._is_violated(numbers, rest=rests):
                    continue
                found = {*self._after(world, faults=False)}
                if rests and not found:
                    return True
                later.append(world)
            else:
                found = {*self._after(later.pop(), faults=True)}
            new = found - seen - self._wrong
            seen |= new
            waiting += sorted(new)
        self._wrong |= seen
        return False

    def _after(self, world: int, *, faults: bool) -> Iterator[int]:
        """The worlds after a fault; or after anything else that may happen."""
        numbers = self.collapsed.numbers(world)
        moves = self._faults(numbers) if faults else self._steps(numbers)
        for move in moves:
            after = self.collapsed.successor(world, numbers, move)
            if self._is_of_run(self.collapsed.numbers(after)):
                yield after

    def _steps(self, numbers: tuple[int, ...]) -> Iterable[Move]:
        found = [moves for _, moves in self.collapsed.moves_in(numbers)]
        inputs = [move for one in found for move in one.inputs]
        own = [move for one in found for move in one.own]
        return inputs + (own or [move for one in found for move in one.patient])

    def _faults(self, numbers: tuple[int, ...]) -> Iterable[Move]:
        found = [moves for _, moves in self.collapsed.moves_in(numbers)]
        faults = [move for one in found for move in one.disturbances]
        if self.collapsed.may_crash(numbers):
            faults += [move for one in found for move in one.faults]
            if not any(one.own for one in found):
                faults += [move for one in found for move in one.late]
        return faults

    def _rests(self, numbers: tuple[int, ...]) -> bool:
        return not any(one.own or one.patient for _, one in self.collapsed.moves_in(numbers))

    def _is_violated(self, numbers: tuple[int, ...], *, rest: bool) -> bool:
        key = self._pick[rest](numbers), rest
        if key not in self._judged:
            world = self.collapsed.world_of(numbers)
            self._judged[key] = first_violation(self.collapsed.system, world) is not None
        return self._judged[key]

    def _is_of_run(self, numbers: tuple[int, ...]) -> bool:
        """Have no other events arrived than those of the run?"""
        arrivals, _ = self.collapsed.arrivals_and_outputs(numbers)
        return all(map(_begins, arrivals, self._arrivals))


def _begins(some: Sequence[Arrival], whole: Sequence[Arrival]) -> bool:
    return some == whole[: len(some)]
