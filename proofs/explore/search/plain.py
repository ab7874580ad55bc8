"""The plain search: worlds as integers in a dict, and one loop over them.

Rule of this file: no second loop.  The search is breadth first, so that the first violation is a
shortest one; it visits all worlds, so that "holds" means every interleaving of deliveries, timers,
arrivals and crashes.  proofs.explore.search.compiled is held equal to it.
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from model.core import Guarantee, Observation, Property
from model.errors import StepFailed
from model.observations import Looks, look_inside
from model.world import World
from proofs.explore.collapse import Collapsed
from proofs.explore.search.judge import FailedIn, Judge
from proofs.explore.search.meter import Meter
from proofs.explore.search.rest import Suspects
from proofs.explore.views import FAULTS, LATE, PATIENT, Transitions

CHUNK = 10_000
"""So many worlds are expanded between two looks at the meter."""


ALWAYS, GRANTED = map(Transitions._fields.index, ("always", "granted"))


class PlainSearch:
    """A search under way: the worlds seen, and what was found in them."""

    def __init__(self, collapsed: Collapsed, judge: Judge) -> None:
        self.collapsed, self.judge, self.system = collapsed, judge, collapsed.system
        self.judged: dict[tuple[int, ...], Property | None] = {}
        self.rested: dict[tuple[int, ...], Property | None] = {}
        self.resting = itemgetter(*collapsed.looked_at(judge.rest_looks))
        self.parents: dict[int, int | None] = {collapsed.initial: None}
        self.violation: tuple[Property, int] | None = None
        self.transitions = self.depth = self.quiescent = 0
        self.found: list[int] = []
        self.granted: set[tuple[int, int, tuple[int, ...]]] = set()
        """Where a world grants moves: (view, kind of moves, numbers of the view)."""
        self.last = collapsed.initial
        """The last world that was expanded; those found after it were not."""

    @property
    def states(self) -> int:
        return len(self.parents)

    def levels(self, until: Guarantee | None, meter: Meter) -> bool:
        """Explore level after level; returns whether every reachable world was seen.

        until: as for `explore`.  Raises FailedIn if a step fails.  It is one function, although
        long: calls and attributes in its loops would cost more than the additions.
        """
        collapsed, parents = self.collapsed, self.parents
        views = [(at, v, v.pick, v.table.get) for at, v in enumerate(collapsed.views)]
        # The places of own and of possible moves among Transitions, by whether crashes are granted;
        # patient timers after all others.
        looks = [[(*view, 0, kind) for view in views] for kind in (ALWAYS, GRANTED)]
        waits = [
            looks[0] + [(*view, PATIENT, PATIENT) for view in views],
            looks[1] + [(*view, PATIENT, kind) for kind in (PATIENT, LATE) for view in views],
        ]
        always = self.judge.always_looks
        observation, unpack = itemgetter(*collapsed.looked_at(always)), collapsed.numbers
        moves_of = collapsed.moves
        appends, append = collapsed.appends, collapsed.append
        settle = collapsed.settle if collapsed.prompt else None
        rationed, by_world, seen = collapsed.rationed, collapsed.by_world, self.granted
        patient = bool(self.system.deployment.patient)
        judged = self.judged
        frontier = [collapsed.initial]
        world = collapsed.initial
        transitions = quiescent = 0
        try:
            while frontier:
                next_: list[int] = []
                for place, world in enumerate(frontier):
                    numbers = unpack(world)
                    progressing = False
                    granted = not rationed or collapsed.may_crash(numbers)
                    idle = patient and not any(m.own for _, m in collapsed.moves_in(numbers))
                    for at, view, pick, known, own, kind in (waits if idle else looks)[granted]:
                        key = pick(numbers)
                        if by_world and kind != ALWAYS:
                            seen.add((at, FAULTS if kind == GRANTED else kind, key))
                        moves = known(key)
                        if moves is None:
                            moves = moves_of(view, key)
                        if moves[own]:
                            progressing = True
                        possible = moves[kind]
                        transitions += len(possible)
                        for difference, sent in possible:
                            after = world + difference
                            for field, messages in sent:
                                step = appends[field].get((numbers[field], messages))
                                if step is None:
                                    step = append(field, numbers[field], messages)
                                after += step
                            if settle is not None:
                                after = settle(after)
                            if after not in parents:
                                parents[after] = world
                                next_.append(after)
                    key = observation(numbers)
                    if key not in judged:
                        judged[key] = self.judge.broken(self._seen(numbers, always))
                    broken = judged[key]
                    if not progressing:
                        quiescent += 1
                        resting = self._at_rest(numbers)
                        broken = broken or resting
                    if broken is not None and self.violation is None:
                        self.violation = (broken, self._number(world))
                        if until is Guarantee.PRECISE:
                            break
                    if place % CHUNK == CHUNK - 1 and meter.spent():
                        return False
                if self.violation and self.judge.is_enough(until):
                    return False
                if next_ and meter.spent(len(parents)):
                    return False
                frontier = next_
                self.depth += bool(next_)
        except StepFailed as error:
            raise FailedIn(self._number(world), error) from error
        finally:
            self.transitions, self.quiescent, self.last = transitions, quiescent, world
            self._grant()
        return True

    def _grant(self) -> None:
        """Add the evidence of the moves that the worlds grant."""
        collapsed = self.collapsed
        if not collapsed.by_world:
            for view in collapsed.views:
                for focus in [*view.focuses]:
                    collapsed.grant(view, focus, FAULTS)
        for at, kind, key in self.granted:
            view = collapsed.views[at]
            collapsed.grant(view, collapsed.focus_key(view, key), kind)

    def _at_rest(self, numbers: tuple[int, ...]) -> Property | None:
        """The property that a world at rest violates because it is at rest."""
        looks = self.judge.rest_looks
        key = self.resting(numbers)
        if key not in self.rested:
            self.rested[key] = self.judge.broken_at_rest(self._seen(numbers, looks))
        return self.rested[key]

    def _seen(self, numbers: tuple[int, ...], looks: Looks) -> Observation:
        if looks == Looks():  # much cheaper than the whole world
            return Observation(*self.collapsed.arrivals_and_outputs(numbers))
        return look_inside(self.system, self.collapsed.world_of(numbers), looks)

    def path(self, world: int) -> list[World]:
        """The worlds from the initial one to the one with this number."""
        found = [[*self.parents][world]]
        while (parent := self.parents[found[-1]]) is not None:
            found.append(parent)
        return [self.collapsed.world(packed) for packed in reversed(found)]

    def world(self, world: int) -> World:
        """The world with this number."""
        if len(self.found) < len(self.parents):
            self.found = [*self.parents]
        return self.collapsed.world(self.found[world])

    def _number(self, world: int) -> int:
        """The place of a packed world among those seen."""
        return next(at for at, seen in enumerate(self.parents) if seen == world)

    def edges(self, suspects: Suspects) -> NDArray[np.int64]:
        """The edges of the suspects between worlds seen, in the order of the worlds: rows (world,
        next world)."""
        collapsed = self.collapsed
        numbers_of = {world: at for at, world in enumerate(self.parents)}
        views = [(view, view.whose) for view in collapsed.views]
        patient = bool(self.system.deployment.patient)
        found = []
        for world, at in numbers_of.items():
            numbers = collapsed.numbers(world)
            idle = patient and not any(moves.own for _, moves in collapsed.moves_in(numbers))
            for view, whose in views:
                key = view.pick(numbers)
                for place in suspects.get((whose, collapsed.focus_key(view, key)), ()):
                    moves = view.table[key]
                    if place < len(moves.own) or idle:
                        after = collapsed.successor(world, numbers, moves.all[place])
                        found.append((at, numbers_of[after]))
            if world == self.last:
                break
        return np.array(found, np.int64).reshape(-1, 2)
