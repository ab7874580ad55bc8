"""The edges between worlds: every action that is possible in each of the first worlds.

Rule of this file: nothing is judged; who compares two transition systems asks for these.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice

from model.actions import Action
from model.core import Scope
from model.protocol import Protocol
from model.system import System
from model.world import World
from proofs.explore.collapse import Collapsed, Overflow
from proofs.explore.views import Move


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
    world = collapsed.world
    seen = {collapsed.initial}
    # Most edges lead to a world that another one has led to, and that is to be expanded.
    ahead = OrderedDict({collapsed.initial: world(collapsed.initial)})
    expanded = 0
    while ahead and (limit is None or expanded < limit):
        packed, before = ahead.popitem(last=False)
        numbers = collapsed.numbers(packed)
        expanded += 1
        for action, move in _enabled(collapsed, numbers):
            successor = collapsed.successor(packed, numbers, move)
            after = ahead.get(successor) or world(successor)
            yield before, action, after
            if successor not in seen:
                seen.add(successor)
                ahead[successor] = after


def _enabled(collapsed: Collapsed, numbers: tuple[int, ...]) -> Iterator[tuple[Action, Move]]:
    """Every action that is enabled in a world, node by node."""
    all_moves = [*collapsed.moves_in(numbers)]
    crashes, idle = collapsed.may_crash(numbers), not any(moves.own for _, moves in all_moves)
    possible = (True, True, True, crashes, idle, idle and crashes)
    for view, moves in all_moves:
        actions = iter(view.actions[view.pick(numbers)])
        for kind, may in zip(moves, possible, strict=False):
            found = zip(islice(actions, len(kind)), kind, strict=True)
            yield from found if may else list(found)[:0]
