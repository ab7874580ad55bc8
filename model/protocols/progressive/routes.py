"""Routes: the items that a node sends to each of its successors, and their numbers there.

Rule of this file: no state of a node is changed.

An operator has partitions, and a tuple goes to the one that has its key (Su and Zhou, Progressive
Recovery, 2016, Section 3).  Punctuations and ends of batches go to all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from model.boxes.share import KeyShare
from model.core import NodeName, Send, Site
from model.graph import Graph
from model.protocols.progressive.design import Numbers
from model.protocols.progressive.messages import DataTuple, Item

Route: TypeAlias = tuple[str, ...] | None
"""The types of the tuples that a successor gets; None: all."""


def routes_of(graph: Graph, name: NodeName) -> tuple[Route, ...]:
    """The routes from the node to its successors; () if each of them gets everything."""
    specs = [graph.specs[succ] for succ in graph.succs(name)]
    routes = tuple(spec.types if isinstance(spec, KeyShare) else None for spec in specs)
    return routes if any(routes) else ()


def fan_out(
    site: Site, item: Item, skipped: tuple[int, ...]
) -> tuple[tuple[Send, ...], tuple[int, ...]]:
    """The item to each successor that gets it, and the items that each has not got by then."""
    if not site.config.routes:
        return tuple(Send(succ, item) for succ in site.succs), skipped
    gets = [_gets(route, item) for route in site.config.routes]
    sends = tuple(
        Send(succ, item._replace(number=item.number - skipped[at]))
        for at, succ in enumerate(site.succs)
        if gets[at]
    )
    if site.config.design.numbers is Numbers.CONNECTION:
        skipped = tuple(count + (not got) for count, got in zip(skipped, gets, strict=True))
    return sends, skipped


def again_to(
    site: Site, succ: NodeName, kept: Iterable[Item], skipped: tuple[int, ...]
) -> Iterator[Item]:
    """Of the newest items of the node those that the successor gets, with their numbers there.

    skipped: the items that each successor has not got so far.
    """
    routes: tuple[Route, ...] = site.config.routes
    if not routes:
        yield from kept
        return
    at = site.succs.index(succ)
    route, missing = routes[at], skipped[at]
    counts = site.config.design.numbers is Numbers.CONNECTION
    found: list[Item] = []
    for item in reversed([*kept]):
        if _gets(route, item):
            found.append(item._replace(number=item.number - missing))
        else:
            missing -= counts
    yield from reversed(found)


def _gets(route: Route, item: Item) -> bool:
    return route is None or not isinstance(item, DataTuple) or item.body.type in route
