"""The part of a large lineage that fits into a picture, and boxes that count the rest.

Rule of this file: it walks the graph from the event that was asked for, and draws nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import networkx

Key: TypeAlias = tuple[Any, ...]
KEPT, LAYERS = 23, 40
"""Events of one layer, and layers, that are shown."""
LAST = "\U0010ffff"
"""A name that is sorted behind those of operators."""


def sketch(
    asked: Sequence[int],
    away: Callable[[int], Iterable[int]],
    key: Callable[[int], Key],
    *,
    ahead: bool,
    events: int,
) -> tuple[networkx.DiGraph, dict[int, Key]]:
    """The graph, and the events of it with their nodes.

    away: the events that are one use further away.  key: the node of an event in the graph.
    ahead: forward.  events: how many there are.  A node that stands for others has `name`, `body`
    and `is_source`; the caller gives these to the others.
    """
    import networkx

    graph = networkx.DiGraph()
    shown = {one: key(one) for one in asked}
    graph.add_nodes_from(shown.values())
    seen, stands = {*asked}, dict(shown)
    for depth in range(LAYERS):
        found = {
            other: one for one in stands for other in away(one) if other not in seen
        }  # with one that it is used by
        seen |= found.keys()
        kept = [*found] if len(found) <= KEPT + 1 else heapq.nsmallest(KEPT, found, key)
        nodes = {one: key(one) for one in kept}
        graph.add_nodes_from(nodes.values())
        shown |= nodes
        if len(kept) < len(found):
            ends = {stands[one] for other, one in found.items() if other not in nodes}
            rest = _add_rest(graph, depth, len(found) - len(kept), ends, ahead)
            nodes |= dict.fromkeys(found.keys() - nodes.keys(), rest)
        if not nodes:
            break
        stands = nodes
    if len(seen) < events:
        _add_rest(graph, LAYERS, events - len(seen), {*stands.values()}, ahead)
    for one, node in shown.items():
        for other in away(one):
            if other in shown:
                graph.add_edge(*_directed(shown[other], node, ahead))
    return graph, shown


def _add_rest(
    graph: networkx.DiGraph, depth: int, events: int, ends: Iterable[Key], ahead: bool
) -> Key:
    """Add a node that stands for events which lead to these nodes."""
    node = (LAST, "", "", depth)
    graph.add_node(node, name=f"and {events:,} more", body=b"", is_source=False)
    graph.add_edges_from(_directed(node, end, ahead) for end in ends)
    return node


def _directed(far: Key, near: Key, ahead: bool) -> tuple[Key, Key]:
    return (near, far) if ahead else (far, near)
