"""The explorer: every reachable world of a scope, breadth first.

Rule of this file: one loop.  Breadth first, so the first violation is a shortest one; whole, so
that "holds" means every interleaving of deliveries, timers, arrivals and crashes.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from model.core import Guarantee, Observation, Outcome, Property, Protocol, Scope, When
from model.properties import guarantee
from model.world import Action, System, World, apply, enabled
from proofs.explore.collapse import Collapsed, CrashPoint, Overflow


class Trace(NamedTuple):
    """A run: worlds[0] is initial, actions[i] leads from worlds[i] to worlds[i + 1]."""

    system: System
    actions: tuple[Action, ...]
    worlds: tuple[World, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    property: Property
    trace: Trace


@dataclass(frozen=True, slots=True)
class Exploration:
    """What was found.  complete: every reachable world was seen (no early stop).

    guarantee: the weakest recovery type seen in a quiescent world.  notes: how often what protocols
    note happened, counted once for each distinct focus of a node (proofs.explore.collapse).
    """

    states: int
    transitions: int
    depth: int
    quiescent: int
    seconds: float
    complete: bool
    counterexample: Counterexample | None
    guarantee: Guarantee
    points: frozenset[CrashPoint]
    hit: frozenset[CrashPoint]
    notes: Counter[str]

    @property
    def outcome(self) -> Outcome:
        return Outcome.REFUTED if self.counterexample else Outcome.HOLDS


Watch = Callable[[int, int], None]
"""Called once a level with (depth, states so far)."""


def explore(
    protocol: Protocol,
    scope: Scope,
    *,
    stop: bool = False,
    limit: int | None = None,
    watch: Watch | None = None,
) -> Exploration:
    """Explore `scope`; `stop` at the first violation, or after the level that passes `limit`."""
    system = System(protocol, scope)
    try:
        return _explore(Collapsed(system, bits=16), stop, limit, watch)
    except Overflow:
        return _explore(Collapsed(system, bits=32), stop, limit, watch)


def _explore(
    collapsed: Collapsed, stop: bool, limit: int | None, watch: Watch | None
) -> Exploration:
    started = time.perf_counter()
    protocol, scope = collapsed.system.protocol, collapsed.system.scope
    always = [p for p in protocol.properties if p.when is When.ALWAYS]
    at_rest = [p for p in protocol.properties if p.when is When.QUIESCENT]
    views = [(view, view.pick, view.table.get) for view in collapsed.views]
    observation, unpack, moves_of = collapsed.observation, collapsed.numbers, collapsed.moves
    appends, append = collapsed.appends, collapsed.append

    parents: dict[int, int | None] = {collapsed.initial: None}
    frontier = [collapsed.initial]
    judged: dict[tuple[int, ...], Property | None] = {}
    rested: dict[tuple[int, ...], tuple[Property | None, Guarantee]] = {}
    violation: tuple[Property, int] | None = None
    transitions = depth = quiescent = 0
    complete = True

    while frontier:
        next_: list[int] = []
        for world in frontier:
            numbers = unpack(world)
            progressing = False
            for view, pick, known in views:
                key = pick(numbers)
                moves = known(key)
                if moves is None:
                    moves = moves_of(view, key)
                if moves[0]:
                    progressing = True
                for part in moves:
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
                seen = Observation(*collapsed.arrivals_and_outputs(key))
                judged[key] = next((p for p in always if not p.holds(scope, seen)), None)
            broken = judged[key]
            if not progressing:
                quiescent += 1
                if key not in rested:
                    seen = Observation(*collapsed.arrivals_and_outputs(key))
                    failed = next((p for p in at_rest if not p.holds(scope, seen)), None)
                    rested[key] = (failed, guarantee(scope, seen))
                broken = broken or rested[key][0]
            if broken is not None and violation is None:
                violation = (broken, world)
                if stop:
                    break
        if watch:
            watch(depth, len(parents))
        if (violation and stop) or (limit is not None and len(parents) > limit and next_):
            complete = False
            break
        frontier = next_
        depth += bool(next_)

    counterexample = None
    if violation is not None:
        counterexample = Counterexample(violation[0], _trace(collapsed, parents, violation[1]))
    return Exploration(
        states=len(parents),
        transitions=transitions,
        depth=depth,
        quiescent=quiescent,
        seconds=time.perf_counter() - started,
        complete=complete,
        counterexample=counterexample,
        guarantee=max((g for _, g in rested.values()), default=Guarantee.PRECISE),
        points=frozenset(collapsed.points),
        hit=frozenset(collapsed.hit),
        notes=Counter(collapsed.notes),
    )


def edges(
    protocol: Protocol, scope: Scope, *, limit: int | None = None
) -> Iterator[tuple[World, Action, World]]:
    """Every edge between reachable worlds, breadth first; those of the first `limit` worlds."""
    system = System(protocol, scope)
    try:
        # Fields overflow, if ever, long before the end, and an edge told twice does no harm.
        yield from _edges(Collapsed(system, bits=16), limit)
    except Overflow:
        yield from _edges(Collapsed(system, bits=32), limit)


def _edges(collapsed: Collapsed, limit: int | None) -> Iterator[tuple[World, Action, World]]:
    seen = {collapsed.initial}
    queue = deque(seen)
    told = 0
    while queue and (limit is None or told < limit):
        packed = queue.popleft()
        numbers = collapsed.numbers(packed)
        before = collapsed.world(packed)
        told += 1
        for view in collapsed.views:
            key = view.pick(numbers)
            own, others = view.table.get(key) or collapsed.moves(view, key)
            for action, move in zip(view.actions[key], (*own, *others), strict=True):
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
    """The run along packed worlds, its actions found again on the model itself."""
    system = collapsed.system
    worlds = [collapsed.world(packed) for packed in path]
    actions = tuple(
        next(a for a in enabled(system, before) if apply(system, before, a) == after)
        for before, after in pairwise(worlds)
    )
    return Trace(system, actions, tuple(worlds))
