"""Observations: a world as seen from outside, and the first property that does not hold in it.

Rule of this file: nothing happens; model.world defines how one world follows another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from model.choices import quiescent
from model.core import NodeName, Observation, Property, When
from model.system import System, is_satisfied
from model.world import DOWN, World


class Looks(NamedTuple):
    """The parts of a world inside the system at which some property looks."""

    nodes: bool = False
    messages: bool = False


def looks_at(properties: Iterable[Property]) -> Looks:
    """The parts at which one of these properties looks."""
    asked = [*properties]
    return Looks(any(p.nodes for p in asked), any(p.messages for p in asked))


def looks_of(system: System, *, rest: bool) -> Looks:
    """The looks of the properties that are evaluated in a world at rest, or in every world."""
    return looks_at(p for p in system.properties if rest or p.when is When.ALWAYS)


def observe(world: World) -> Observation:
    """The view of this world from outside."""
    return Observation(world.arrivals, world.outputs)


def look_inside(system: System, world: World, looks: Looks) -> Observation:
    """The view from outside, and the parts inside at which some property looks."""
    if not any(looks):
        return observe(world)
    nodes = zip(system.sites, world.nodes, strict=True)
    return see_inside(
        observe(world),
        looks,
        ((name, node.state, node.durable) for name, node in nodes),
        zip(system.deployment.channels, world.channels, strict=True),
    )


def see_inside(
    seen: Observation,
    looks: Looks,
    nodes: Iterable[tuple[NodeName, Any, Any]],
    channels: Iterable[tuple[tuple[NodeName, NodeName], tuple[Any, ...]]],
) -> Observation:
    """The view from outside with the parts inside at which some property looks.

    nodes: (name, state, durable value).  A node that is down has no state; its durable value is
    seen.  channels: the messages on their way, by (sender, receiver).
    """
    if looks.nodes:
        known = [*nodes]
        seen = seen._replace(
            states=tuple((name, state) for name, state, _ in known if state is not DOWN),
            durable=tuple((name, saved) for name, _, saved in known if saved is not None),
        )
    if looks.messages:
        seen = seen._replace(messages=tuple((ends, sent) for ends, sent in channels if sent))
    return seen


def first_violation(system: System, world: World) -> Property | None:
    """The first property that does not hold in this world."""
    resting = quiescent(system, world)
    seen = look_inside(system, world, looks_of(system, rest=resting))
    for property_ in system.properties:
        if (property_.when is When.ALWAYS or resting) and not is_satisfied(system, property_, seen):
            return property_
    return None
