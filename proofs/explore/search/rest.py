"""Does every run come to rest?  Runs of progress steps without end: no inputs, no faults.

Rule of this file: it decides; it samples nothing.  First by each node alone, then between worlds.

A run of progress steps without end must repeat a world, since a scope has finitely many.  From some
moment on each node then stays among states that lead to each other (a strongly connected component
of its own states), and each step takes a message or a timer that an earlier step of that kind sent
or set.  So nobody needs to look at worlds, unless some steps inside such components feed each
other in a circle: these are the suspects.  Only then are the edges of suspects between worlds
followed; they are few, and every run without end is made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import networkx as nx

from model.world import Deliver
from proofs.explore.collapse import CLEAR, Collapsed

Suspects: TypeAlias = Mapping[tuple[str, tuple[int, ...]], Sequence[int]]
"""For a node and a focus of it: which of the node's own moves may belong to a run without end."""


class _Step(NamedTuple):
    """An own move inside a component.  takes, gives: (channel field, message), or the node's state
    for a timer: who takes a timer may set it again."""

    node: str
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
    circles = _circles(feeding)
    suspects: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    for step in steps:
        if any(circles.get(step.takes) == circles.get(given, -1) for given in step.gives):
            suspects.setdefault((step.node, step.focus), []).append(step.move)
    return suspects


def _inside_components(collapsed: Collapsed) -> Iterator[_Step]:
    """The own moves that lead a node from a state to one that leads back."""
    for view in collapsed.views:
        at = view.fields[0]
        states: nx.DiGraph[int] = nx.DiGraph()
        for focus, known in view.focuses.items():
            for effect in known.cached[: known.own]:
                states.add_edge(focus[0], focus[0] + dict(effect.changed).get(at, 0))
        component = _components(states)
        for focus, known in view.focuses.items():
            for move, effect in enumerate(known.cached[: known.own]):
                after = focus[0] + dict(effect.changed).get(at, 0)
                if component[focus[0]] != component[after]:
                    continue
                action = known.actions[move]
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
                    if sent != CLEAR
                    for message in collapsed.messages[sent]
                ]
                # A timer that is set anew is part of the state, so a step may give itself one.
                gives.append((view.node, component[after]))
                yield _Step(view.node, focus, move, takes, tuple(gives))


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


def first_circle(edges: Sequence[tuple[int, int]]) -> list[int]:
    """The worlds of a shortest circle through the first world that lies on one, which comes first
    and last; empty if there is none.

    edges: those of an earlier world come first.
    """
    graph: nx.DiGraph[int] = nx.DiGraph(edges)
    circles = _circles(graph)
    start = next((before for before, _ in edges if before in circles), None)
    if start is None:
        return []
    ways = (
        nx.shortest_path(graph, after, start)
        for after in graph.successors(start)
        if circles.get(after) == circles[start]
    )
    return [start, *min(ways, key=len)]
