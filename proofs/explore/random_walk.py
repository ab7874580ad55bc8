"""Random walks: many runs a second through worlds too large to explore.

Rule of this file: packed worlds (proofs.explore.collapse) and one random.Random(seed); the same
seed takes the same walks in every process.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from model.core import Observation, Property, Protocol, Scope, When
from model.world import System
from proofs.explore.collapse import Collapsed, Move
from proofs.explore.explorer import Trace, trace_of

STEPS = 200
"""A walk that has not come to rest by then ends there."""


@dataclass(frozen=True, slots=True)
class Walks:
    """count: walks made; steps: actions in all of them; rested: walks that came to rest.

    property and trace: of the first walk that violates anything.
    """

    count: int
    steps: int
    rested: int
    property: Property | None = None
    trace: Trace | None = None


def walks(protocol: Protocol, scope: Scope, count: int, seed: int) -> Walks:
    """Walk `count` times from the initial world, each action as likely as any other."""
    collapsed = Collapsed(System(protocol, scope), bits=32)
    choose = random.Random(seed).random
    judged: dict[tuple[tuple[int, ...], bool], Property | None] = {}
    steps = rested = 0
    for walk in range(count):
        world = collapsed.initial
        path = [world]
        for _ in range(STEPS):
            numbers = collapsed.numbers(world)
            own: list[Move] = []
            others: list[Move] = []
            for view in collapsed.views:
                key = view.pick(numbers)
                moves = view.table.get(key) or collapsed.moves(view, key)
                own += moves.own
                others += moves.others
            seen = collapsed.observation(numbers), not own
            if seen not in judged:
                judged[seen] = _broken(collapsed, scope, *seen)
            if judged[seen] is not None:
                trace = trace_of(collapsed, path)
                return Walks(walk + 1, steps, rested, judged[seen], trace)
            choices = own + others
            if not choices:
                rested += 1
                break
            move = choices[int(choose() * len(choices))]
            world = collapsed.successor(world, numbers, move)
            path.append(world)
            steps += 1
    return Walks(count, steps, rested)


def _broken(
    collapsed: Collapsed, scope: Scope, numbers: tuple[int, ...], resting: bool
) -> Property | None:
    seen = Observation(*collapsed.arrivals_and_outputs(numbers))
    for property_ in collapsed.system.protocol.properties:
        if (property_.when is When.ALWAYS or resting) and not property_.holds(scope, seen):
            return property_
    return None
