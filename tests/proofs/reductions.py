"""The reduced search beside the whole one: all that both must agree on.

Rule of this file: it compares; it draws no protocol and names none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from model.choices import quiescent
from model.core import Guarantee, Scope
from model.protocol import Protocol
from model.system import System
from model.world import World
from proofs.explore import explorer
from proofs.explore.collapse import Collapsed
from proofs.explore.explorer import Exploration, explore
from proofs.explore.search.compiled import CompiledSearch
from proofs.explore.search.judge import Judge
from proofs.explore.search.meter import UNLIMITED, Budget, Meter
from proofs.explore.search.reduced import ReducedSearch


@contextmanager
def at_once() -> Iterator[None]:
    """A context in which no search begins with the first worlds, all of them."""
    with mock.patch.multiple(explorer, FEW=0, PAYS=0):
        yield


def resting(search: CompiledSearch) -> dict[World, int]:
    """The worlds at rest that were visited, each with its depth."""
    parents, system = search.tables.parents, search.collapsed.system
    depths, found = [0], {}
    for number in range(search.states):
        if number:
            depths.append(depths[int(parents[number])] + 1)
        world = search.world(number)
        if quiescent(system, world):
            found[world] = depths[number]
    return found


def whole_search(protocol: Protocol, scope: Scope, limit: int | None = None) -> CompiledSearch:
    collapsed = Collapsed(System(protocol, scope), 32)
    search = CompiledSearch(collapsed, Judge(collapsed.system))
    search.levels(None, Meter(UNLIMITED if limit is None else Budget(limit, None, None)))
    return search


def reduced_search(protocol: Protocol, scope: Scope, limit: int | None = None) -> ReducedSearch:
    """Raises Irreducible if there is none."""
    collapsed = Collapsed(System(protocol, scope), 32)
    judge = Judge(collapsed.system)
    search = ReducedSearch(collapsed, judge)
    search.levels(None, Meter(UNLIMITED if limit is None else Budget(limit, None, None)))
    return search


def _example(found: Exploration) -> Any:
    """The length of the counterexample, and of its circle."""
    shown = found.counterexample
    return shown and (len(shown.trace.actions), shown.circle)


def differences(
    protocol: Protocol, scope: Scope, limit: int | None = None, until: Guarantee | None = None
) -> list[str]:
    """All in which the reduced search differs from the whole one, a sentence each.

    limit: nothing is compared if the whole search has more worlds.
    """
    with at_once():
        whole = explore(protocol, scope, reduce=False, limit=limit, until=until)
        if not (whole.complete or whole.counterexample):
            return []
        reduced = explore(protocol, scope, limit=limit, until=until)
    return [*_compared(whole, reduced), *_worlds_compared(protocol, scope, whole, reduced)]


def _compared(whole: Exploration, reduced: Exploration) -> Iterator[str]:
    pairs = {
        "outcome": (whole.outcome, reduced.outcome),
        "counterexample": (_example(whole), _example(reduced)),
    }
    if whole.complete:
        pairs |= {
            "guarantee": (whole.guarantee, reduced.guarantee),
            "crash points": (whole.points, reduced.points),
            "points hit": (whole.hit, reduced.hit),
            "kinds of notes": (whole.notes.keys(), reduced.notes.keys()),
            "vacuous": (whole.vacuous, reduced.vacuous),
            "worlds at rest": (whole.quiescent, reduced.quiescent),
        }
    for name, (right, found) in pairs.items():
        if right != found:
            yield f"{name}: {right} in the whole search, {found} in the reduced one"


def _worlds_compared(
    protocol: Protocol, scope: Scope, whole: Exploration, reduced: Exploration
) -> Iterator[str]:
    if whole.complete and reduced.reduced:
        right = resting(whole_search(protocol, scope))
        found = resting(reduced_search(protocol, scope))
        if right.keys() != found.keys():
            yield f"{len(right.keys() ^ found.keys())} other worlds at rest"
        elif right != found:
            yield "other depths of worlds at rest"
