"""The explorer: every reachable world of a scope, breadth first.

Rule of this file: no second loop.  The search is breadth first, so that the first violation is a
shortest one; it visits all worlds, so that "holds" means every interleaving of deliveries, timers,
arrivals and crashes.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from model.core import (
    Failures,
    Guarantee,
    Observation,
    Outcome,
    Property,
    Protocol,
    Scope,
    When,
)
from model.errors import Invalid, StepFailed, describe_error
from model.properties import guarantee
from model.system import System, is_satisfied
from model.world import Action, World, apply, enabled, observe_at_rest, offers, progress
from proofs.explore.collapse import Collapsed, CrashPoint, Overflow


class Trace(NamedTuple):
    """A run: worlds[0] is initial, actions[i] leads from worlds[i] to worlds[i + 1].

    After the last world there may be one more action, whose step failed.
    """

    system: System
    actions: tuple[Action, ...]
    worlds: tuple[World, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    property: Property
    trace: Trace


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result of an exploration.  complete: every reachable world was seen (no early stop).

    vacuous: things that the exploration should have tried and never tried, a sentence each.
    guarantee: the weakest recovery type in a quiescent world.  notes: the sums of the protocol's
    notes, counted once for each distinct focus of a node (proofs.explore.collapse).
    """

    states: int
    transitions: int
    depth: int
    quiescent: int
    seconds: float
    complete: bool
    counterexample: Counterexample | None = None
    guarantee: Guarantee = Guarantee.PRECISE
    points: frozenset[CrashPoint] = frozenset()
    hit: frozenset[CrashPoint] = frozenset()
    notes: Counter[str] = field(default_factory=Counter)
    vacuous: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        if self.counterexample:
            return Outcome.REFUTED
        return Outcome.VACUOUS if self.vacuous else Outcome.HOLDS


Watch = Callable[[int, int], None]
"""A function that is called once a level with (depth, states so far)."""


def explore(
    protocol: Protocol,
    scope: Scope,
    *,
    stop: bool = False,
    limit: int | None = None,
    watch: Watch | None = None,
) -> Exploration:
    """Explore the scope and return the result.

    stop: end at the first violation.  limit: end after the level that passes so many states.
    A step that fails (model.errors.StepFailed) is a violation, and ends the exploration.
    """
    system = System(protocol, scope)
    try:
        return _Search(Collapsed(system, bits=16)).run(stop, limit, watch)
    except Overflow:
        return _Search(Collapsed(system, bits=32)).run(stop, limit, watch)
    except StepFailed as error:  # at boot: there is no world yet
        found = Counterexample(answer_property(error), Trace(system, (), ()))
        return Exploration(0, 0, 0, 0, 0.0, False, found)


def answer_property(error: StepFailed) -> Property:
    """The property that a failed step violates."""
    return Property(f"every step answers ({error})", When.ALWAYS, lambda *_: False)


def append_failing_action(trace: Trace, error: StepFailed) -> Trace:
    """The trace, followed by the action whose step fails in its last world."""
    system, actions, worlds = trace
    name = error.node
    for action in (*progress(system, worlds[-1], name), *offers(system, worlds[-1], name)):
        try:
            apply(system, worlds[-1], action)
        except StepFailed:
            return Trace(system, (*actions, action), worlds)
    raise error


class _FailedIn(Exception):
    """A step failed in a world."""

    def __init__(self, world: int, error: StepFailed) -> None:
        super().__init__(error)
        self.world, self.error = world, error


class _Search:
    """One exploration under way: the worlds seen and the findings."""

    def __init__(self, collapsed: Collapsed) -> None:
        properties = collapsed.system.properties
        self.collapsed, self.system = collapsed, collapsed.system
        self.scope = collapsed.system.scope
        self.always = [p for p in properties if p.when is When.ALWAYS]
        self.at_rest = [p for p in properties if p.when is When.QUIESCENT]
        self.nodes = collapsed.nodes if any(p.nodes for p in self.at_rest) else None
        self.judged: dict[tuple[int, ...], Property | None] = {}
        self.rested: dict[tuple[int, ...], tuple[Property | None, Guarantee]] = {}
        self.parents: dict[int, int | None] = {collapsed.initial: None}
        self.violation: tuple[Property, int] | None = None
        self.transitions = self.depth = self.quiescent = 0

    def run(self, stop: bool, limit: int | None, watch: Watch | None) -> Exploration:
        started = time.perf_counter()
        collapsed, parents = self.collapsed, self.parents
        found = None
        try:
            complete = self._levels(stop, limit, watch)
        except _FailedIn as failed:
            complete = False
            trace = append_failing_action(_trace(collapsed, parents, failed.world), failed.error)
            found = Counterexample(answer_property(failed.error), trace)
        if self.violation is not None:
            property_, world = self.violation
            found = Counterexample(property_, _trace(collapsed, parents, world))
        return Exploration(
            states=len(self.parents),
            transitions=self.transitions,
            depth=self.depth,
            quiescent=self.quiescent,
            seconds=time.perf_counter() - started,
            complete=complete,
            counterexample=found,
            guarantee=max((g for _, g in self.rested.values()), default=Guarantee.PRECISE),
            points=frozenset(collapsed.points),
            hit=frozenset(collapsed.hit),
            notes=Counter(collapsed.notes),
            vacuous=tuple(self._vacuous()) if complete else (),
        )

    def _levels(self, stop: bool, limit: int | None, watch: Watch | None) -> bool:
        """Explore level after level; returns whether every reachable world was seen."""
        collapsed, parents = self.collapsed, self.parents
        views = [(view, view.pick, view.table.get) for view in collapsed.views]
        observation, unpack, moves_of = collapsed.observation, collapsed.numbers, collapsed.moves
        appends, append = collapsed.appends, collapsed.append
        single = collapsed.system.protocol.assumes.failures is Failures.SINGLE
        rationed = single and self.scope.crashes > 1
        judged = self.judged
        frontier = [collapsed.initial]
        world = collapsed.initial
        transitions = quiescent = 0
        try:
            while frontier:
                next_: list[int] = []
                for world in frontier:
                    numbers = unpack(world)
                    progressing = False
                    granted = not rationed or collapsed.may_fail(numbers)
                    for view, pick, known in views:
                        key = pick(numbers)
                        moves = known(key)
                        if moves is None:
                            moves = moves_of(view, key)
                        if moves[0]:
                            progressing = True
                        for part in moves if granted else moves[:2]:
                            transitions += len(part)
                            for difference, sent in part:
                                after = world + difference
                                for field, messages in sent:
                                    step = appends[field].get((numbers[field], messages))
                                    if step is None:
                                        step = append(field, numbers[field], messages)
                                    after += step
                                if after not in parents:
                                    parents[after] = world
                                    next_.append(after)
                    key = observation(numbers)
                    if key not in judged:
                        judged[key] = self._always(key)
                    broken = judged[key]
                    if not progressing:
                        quiescent += 1
                        resting = self._at_rest(key, numbers)
                        broken = broken or resting
                    if broken is not None and self.violation is None:
                        self.violation = (broken, world)
                        if stop:
                            break
                if watch:
                    watch(self.depth, len(parents))
                if (self.violation and stop) or (
                    limit is not None and len(parents) > limit and next_
                ):
                    return False
                frontier = next_
                self.depth += bool(next_)
        except StepFailed as error:
            raise _FailedIn(world, error) from error
        finally:
            self.transitions, self.quiescent = transitions, quiescent
        return True

    def _always(self, key: tuple[int, ...]) -> Property | None:
        seen = Observation(*self.collapsed.arrivals_and_outputs(key))
        return next((p for p in self.always if not is_satisfied(self.system, p, seen)), None)

    def _at_rest(self, key: tuple[int, ...], numbers: tuple[int, ...]) -> Property | None:
        """The property that a world at rest violates; also records the world's guarantee."""
        key = key if self.nodes is None else (*key, *self.nodes(numbers))
        if key not in self.rested:
            seen = Observation(
                *self.collapsed.arrivals_and_outputs(self.collapsed.observation(numbers))
            )
            if self.nodes is not None:
                seen = observe_at_rest(self.collapsed.system, self.collapsed.world_of(numbers))
            failed = next((p for p in self.at_rest if not is_satisfied(self.system, p, seen)), None)
            self.rested[key] = (failed, self._guarantee(seen))
        return self.rested[key][0]

    def _guarantee(self, seen: Observation) -> Guarantee:
        try:
            return guarantee(self.scope, seen)
        except Exception as error:  # of an operator in the graph, which may be anybody's
            where = f"{self.system.protocol.name}: what its operators should emit"
            raise Invalid(f"{where}: {describe_error(error)}") from error

    def _vacuous(self) -> Iterator[str]:
        """The things that the exploration should have tried and never tried, a sentence each."""
        if self.scope.crashes and not self.collapsed.hit:
            yield f"crashes: {self.scope.crashes} granted, and none could strike"
        if not (self.always or self.at_rest):
            yield "the protocol has no properties"
        if not self.quiescent:
            yield "nothing came to rest, so no guarantee and no property at rest was evaluated"


def edges(
    protocol: Protocol, scope: Scope, *, limit: int | None = None
) -> Iterator[tuple[World, Action, World]]:
    """Every edge from one of the first `limit` reachable worlds, breadth first."""
    system = System(protocol, scope)
    try:
        # Fields overflow, if ever, long before the end, and an edge yielded twice does no harm.
        yield from _edges(Collapsed(system, bits=16), limit)
    except Overflow:
        yield from _edges(Collapsed(system, bits=32), limit)


def _edges(collapsed: Collapsed, limit: int | None) -> Iterator[tuple[World, Action, World]]:
    seen = {collapsed.initial}
    queue = deque(seen)
    expanded = 0
    while queue and (limit is None or expanded < limit):
        packed = queue.popleft()
        numbers = collapsed.numbers(packed)
        before = collapsed.world(packed)
        expanded += 1
        for action, move in collapsed.enabled(numbers):
            successor = collapsed.successor(packed, numbers, move)
            yield before, action, collapsed.world(successor)
            if successor not in seen:
                seen.add(successor)
                queue.append(successor)


def _trace(collapsed: Collapsed, parents: dict[int, int | None], end: int) -> Trace:
    path = [end]
    while (parent := parents[path[-1]]) is not None:
        path.append(parent)
    return trace_of(collapsed, path[::-1])


def trace_of(collapsed: Collapsed, path: list[int]) -> Trace:
    """The run along packed worlds; its actions are found again on the model itself."""
    system = collapsed.system
    worlds = [collapsed.world(packed) for packed in path]
    actions = tuple(
        next(a for a in enabled(system, before) if apply(system, before, a) == after)
        for before, after in pairwise(worlds)
    )
    return Trace(system, actions, tuple(worlds))
