"""The shapes that a search has met: states of nodes, and the inputs and crashes that came there.

Rule of this file: it reads the tables of a search at its end, one focus of a node at a time, and no
world.  All whole searches have the same focuses; a reduced one has those of the worlds that it
visited, which may be fewer.  Contents of channels behind the first message are in no focus, and so
in no shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from model.actions import Deliver, Inject, Restart, Timeout
from model.timers import parse_timer
from model.world import DOWN, Node
from proofs.explore.collapse import Collapsed
from proofs.explore.reach.growth import GrowingValue, growing_values
from proofs.explore.reach.shape import parts, saved_shape, saved_values, shape, size_of
from proofs.explore.reach.steps import FocusAction, crashes_of, steps_of
from proofs.explore.views import NodeView


class NodeShape(NamedTuple):
    """The shape of a node's state; of its durable value while it is down."""

    node: str
    shape: str


class Met(NamedTuple):
    """An input of some kind at a node with a state of this shape."""

    node: str
    shape: str
    input: str


@dataclass(frozen=True, slots=True)
class SeenShapes:
    """The shapes that a search has met.

    crashable, crashed: those of the nodes that may crash, and those in which a crash between two
    steps came.  saved, lost: of the durable values of nodes that may crash, and those that such a
    node had when it was down.  number, size: the greatest number and container in a state.
    lineage: does a result name the inputs that it was made of?
    """

    states: frozenset[NodeShape]
    met: frozenset[Met]
    crashable: frozenset[NodeShape]
    crashed: frozenset[NodeShape]
    saved: frozenset[NodeShape]
    lost: frozenset[NodeShape]
    number: int
    size: int
    lineage: bool
    growing: tuple[GrowingValue, ...]


def seen_shapes(collapsed: Collapsed) -> SeenShapes:
    """The shapes that a search with these tables has met."""
    nodes = collapsed.values  # the first fields are those of the nodes
    sites = [*collapsed.system.sites.values()]

    @cache
    def shape_at(field: int, number: int) -> NodeShape:
        node, site = nodes[field][number], sites[field]
        if node.state is DOWN:
            return NodeShape(site.name, f"down, saved {saved_shape(site, node.durable)}")
        return NodeShape(site.name, shape(node.state))

    met: set[Met] = set()
    held: dict[str, list[Node]] = {}
    for view in collapsed.views:
        if not view.group:
            own = view.fields[0]
            held[view.node] = [nodes[own][number] for number in {f[0] for f in view.focuses}]
            for step in steps_of(collapsed, view):
                met.add(Met(*shape_at(own, step.focus[0]), _kind(collapsed, step)))
    struck = {
        shape_at(field, number)
        for one in crashes_of(collapsed)
        for field, number in zip(one.view.fields, one.focus, strict=True)
        if field < collapsed.starts[1] and nodes[field][number].state is not DOWN
    }
    mortal = {name: held[name] for name in collapsed.system.victims}
    states = [one.state for some in held.values() for one in some if one.state is not DOWN]
    inside = [part.value for state in states for part in parts(state)]
    return SeenShapes(
        states=frozenset(
            shape_at(view.fields[0], focus[0])
            for view in collapsed.views
            if not view.group
            for focus in view.focuses
        ),
        met=frozenset(met),
        crashable=frozenset(
            shape_at(view.fields[0], focus[0])
            for view in collapsed.views
            if not view.group and view.node in mortal
            for focus in view.focuses
            if nodes[view.fields[0]][focus[0]].state is not DOWN
        ),
        crashed=frozenset(struck),
        saved=frozenset(_saved(collapsed, mortal, down=False)),
        lost=frozenset(_saved(collapsed, mortal, down=True)),
        number=max((n for n in inside if type(n) is int), default=0),
        size=max((size for value in inside for size in [size_of(value)] if size), default=0),
        lineage=any(_names_inputs(collapsed, view) for view in collapsed.views if not view.group),
        growing=growing_values(collapsed),
    )


def _kind(collapsed: Collapsed, step: FocusAction) -> str:
    """The kind of the input of a step."""
    match step.action:
        case Deliver(node, sender):
            field = collapsed.starts[1] + collapsed.system.channel_at[sender, node]
            (message,) = collapsed.values[field][step.focus[step.view.fields.index(field)]]
            return f"{type(message).__name__} from {sender}"
        case Timeout(_, timer):
            return f"timer {parse_timer(timer).kind}"
        case Inject(_, arrival):
            return f"input {arrival.type}"
        case Restart():
            return "restart"
    return "input again"


def _saved(
    collapsed: Collapsed, nodes: Mapping[str, Sequence[Node]], *, down: bool
) -> Iterator[NodeShape]:
    """The shapes of the saved values of nodes; of those that are down, or up."""
    for name, some in nodes.items():
        site = collapsed.system.sites[name]
        # equal tuples may have different types, so each value counts by itself
        values = {id(one.durable): one.durable for one in some if (one.state is DOWN) is down}
        for durable in values.values():
            if saved_values(site, durable):
                yield NodeShape(name, saved_shape(site, durable))


def _names_inputs(collapsed: Collapsed, view: NodeView) -> bool:
    """Does a result of a node name the inputs that it was made of?"""
    *_, first, end = collapsed.starts
    steps = (effect for known in view.focuses.values() for effect in known.cached)
    sent = (number for effect in steps for at, number in effect.sent if first <= at < end)
    return any(len(output) > 2 for number in sent for output in collapsed.messages[number])
