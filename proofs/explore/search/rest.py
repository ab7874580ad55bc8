"""Does every run come to rest?  Runs of progress steps without end: no inputs, no faults.

Rule of this file: it decides; it samples nothing.  First by each node alone, then between worlds.

A run of progress steps without end must repeat a world, since a scope has finitely many.  From some
moment on each node then stays among states that lead to each other (a strongly connected component
of its own states), and each step takes a message or a timer that an earlier step of that kind sent
or set.  So nobody needs to look at worlds, unless some steps inside such components feed each
other in a circle.  Only then are all steps inside components followed from world to world: every
run without end is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from model.actions import Deliver
from model.choices import ready
from model.system import System
from model.world import World, apply
from proofs.explore.collapse import Collapsed
from proofs.explore.views import Whose

Suspects: TypeAlias = Mapping[tuple[Whose, tuple[int, ...]], Sequence[int]]
"""For a view and a focus of it: which of the node's own moves may belong to a run
without end."""


class _Step(NamedTuple):
    """An own move inside a component.

    view: whose actions they are.  takes, gives: (channel field, message), or the node's state for a
    timer: who takes a timer may set it again.
    """

    view: Whose
    focus: tuple[int, ...]
    move: int
    takes: Any
    gives: tuple[Any, ...]


def find_suspects(collapsed: Collapsed) -> Suspects:
    """The suspects among all moves seen so far; empty if every run comes to rest."""
    steps = list(_inside_components(collapsed))
    feeding: nx.DiGraph[Any] = nx.DiGraph()
    for step in steps:
        feeding.add_edges_from((step.takes, given) for given in step.gives)
    suspects: dict[tuple[Whose, tuple[int, ...]], list[int]] = {}
    if _circles(feeding):
        for step in steps:
            suspects.setdefault((step.view, step.focus), []).append(step.move)
    return suspects


def _inside_components(collapsed: Collapsed) -> Iterator[_Step]:
    """The own moves that lead a node from a state to one that leads back."""
    for view in collapsed.views:
        at = view.fields[0]
        states: nx.DiGraph[int] = nx.DiGraph()
        for focus, known in view.focuses.items():
            for _, _, effect in known.own():
                states.add_edge(focus[0], focus[0] + dict(effect.changed).get(at, 0))
        component = _components(states)
        for focus, known in view.focuses.items():
            for move, action, effect in known.own():
                after = focus[0] + dict(effect.changed).get(at, 0)
                if component[focus[0]] != component[after]:
                    continue
                takes: Any = (view.node, component[after])
                if isinstance(action, Deliver):
                    field = (
                        collapsed.starts[1]
                        + collapsed.system.channel_at[action.sender, action.node]
                    )
                    head = collapsed.values[field][focus[view.fields.index(field)]]
                    takes = (field, collapsed.message_number(head))
                gives: list[Any] = [
                    (field, collapsed.message_number((message,)))
                    for field, sent in effect.sent
                    for message in collapsed.messages[sent]
                ]
                # A timer that is set anew is part of the state, so a step may give itself one.
                gives.append((view.node, component[after]))
                yield _Step(view.whose, focus, move, takes, tuple(gives))


def _components(graph: nx.DiGraph[Any]) -> dict[Any, int]:
    """The strongly connected component of each vertex, by number."""
    found = nx.strongly_connected_components(graph)
    return {vertex: number for number, component in enumerate(found) for vertex in component}


def _circles(graph: nx.DiGraph[Any]) -> dict[Any, int]:
    """The component of each vertex that lies on a circle."""
    loops = set(nx.nodes_with_selfloops(graph))
    return {
        vertex: number
        for number, component in enumerate(nx.strongly_connected_components(graph))
        if len(component) > 1 or component & loops
        for vertex in component
    }


FIRST = 20_000
"""The number of worlds that are looked at first."""


def _trim(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """The edges without those that lie on no circle: where none leads on, or none leads to."""
    while len(edges):
        size = int(edges.max()) + 1
        left, reached = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        left[edges[:, 0]] = True
        reached[edges[:, 1]] = True
        kept = left[edges[:, 1]] & reached[edges[:, 0]]
        if kept.all():
            break
        edges = edges[kept]
    return edges


def has_circles(edges: NDArray[np.int64]) -> bool:
    """May somebody go round in a circle along these edges?"""
    return len(_trim(edges)) > 0


class Circles(NamedTuple):
    """The circles among the edges of suspects.

    edges: rows (world, next world) by number; those of an earlier world come first.  complete: the
    edges are those of all reachable worlds.  world: the world of a number.
    """

    system: System
    edges: NDArray[np.int64]
    complete: bool
    world: Callable[[int], World]

    def is_endless(self, walk: Sequence[int]) -> bool:
        """May a run go round this closed walk for ever: by progress alone, and is nobody who can
        always act left out?"""
        only = all(self._taken(before, after) for before, after in pairwise(walk))
        return only and not self._waiting(walk)

    def first(self) -> list[int]:
        """The worlds of a run that repeats without end and leaves nobody waiting, the earliest
        world first and last; empty if there is none.

        Among all worlds only where they are complete and the first ones have no such run.
        """
        found = self._first(_trim(self.edges[(self.edges < FIRST).all(axis=1)]).tolist())
        if not found and self.complete:
            found = self._first(_trim(self.edges).tolist())
        return found

    def _first(self, edges: list[list[int]]) -> list[int]:
        graph: nx.DiGraph[int] = nx.DiGraph(edges)
        circles = _circles(graph)
        tried: set[int] = set()
        for start, _ in edges:
            circle = circles.get(start)
            if circle is not None and circle not in tried:
                tried.add(circle)
                inside: nx.DiGraph[int] = nx.DiGraph(
                    edge for edge in edges if {*map(circles.get, edge)} == {circle}
                )
                if self._is_fair(inside):
                    return self._fair_walk(inside, start)
        return []

    def _is_fair(self, inside: nx.DiGraph[int]) -> bool:
        """May a run stay inside for ever although everybody who can always act does act?

        Weak fairness: an action that can happen in every world inside also happens on some edge
        inside.
        """
        always = self._always(inside)
        for edge in inside.edges if always else ():
            always -= self._taken(*edge)
            if not always:
                break
        return not always

    def _fair_walk(self, inside: nx.DiGraph[int], start: int) -> list[int]:
        """A closed walk from `start`: a shortest circle, a way round for each who would wait."""
        walk = [start, *self._shortest(inside, list(inside.successors(start)), [start])]
        while waiting := self._waiting(walk):
            one = min(waiting, key=repr)
            idle = [world for world in inside if one not in self._possible(world)]
            busy = [edge for edge in inside.edges if one in self._taken(*edge)]
            ends = dict(busy) | {world: world for world in idle}
            there = self._shortest(inside, [start], list(ends))
            after = ends[there[-1]]
            back = self._shortest(inside, [after], [start])
            walk += [*there[1:], *(back if after != there[-1] else back[1:])]
        return walk

    @staticmethod
    def _shortest(graph: nx.DiGraph[int], starts: list[int], ends: list[int]) -> list[int]:
        ways = []
        for start in starts:
            steps = nx.single_source_shortest_path_length(graph, start)
            end = min(filter(steps.__contains__, ends), key=steps.__getitem__, default=None)
            if end is not None:
                ways.append(nx.shortest_path(graph, start, end))
        return min(ways, key=len)

    def _waiting(self, walk: Sequence[int]) -> set[Any]:
        """Who can act in every world of a walk, and never does."""
        waiting = self._always(walk)
        for before, after in pairwise(walk):
            waiting -= self._taken(before, after)
        return waiting

    def _always(self, worlds: Iterable[int]) -> set[Any]:
        """The actions that can happen in every one of these worlds."""
        left: set[Any] | None = None
        for world in worlds:
            left = set(self._possible(world)) if left is None else left & {*self._possible(world)}
            if not left:
                break
        return left or set()

    def _possible(self, world: int) -> list[Any]:
        """The progress steps of a world; two kinds of actions may be equal as tuples."""
        value = self.world(world)
        return [(type(action), action) for action in ready(self.system, value)]

    def _taken(self, before: int, after: int) -> set[Any]:
        """The progress steps that lead from one world to the other."""
        value, then = self.world(before), self.world(after)
        return {
            (kind, action)
            for kind, action in self._possible(before)
            if apply(self.system, value, action) == then
        }


NO_EDGES = np.empty((0, 2), np.int64)


def last_circle(system: System, worlds: Sequence[World]) -> int:
    """The number of the last steps of a run that it may repeat without end; 0: it may not.

    worlds: of the run, one after each step.
    """
    last = len(worlds) - 1
    run = Circles(system, NO_EDGES, False, worlds.__getitem__)
    for start in reversed(range(last)):
        if worlds[start] == worlds[last] and run.is_endless(range(start, last + 1)):
            return last - start
    return 0
