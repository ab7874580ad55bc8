"""Observations: a world as seen from outside, and the first property that does not hold in it.

Rule of this file: nothing happens; model.world defines how one world follows another.
"""

from __future__ import annotations

from model.core import Observation, Property, When
from model.system import System, is_satisfied
from model.world import DOWN, World, quiescent


def observe(world: World) -> Observation:
    """The view of this world from outside."""
    return Observation(world.arrivals, world.outputs)


def observe_at_rest(system: System, world: World) -> Observation:
    """The observation with the nodes' states, for properties that look at nodes.

    A node that is down at rest never returns, and is left out.
    """
    nodes = zip(system.sites, world.nodes, strict=True)
    states = tuple((name, node.state) for name, node in nodes if node.state is not DOWN)
    return Observation(world.arrivals, world.outputs, states)


def first_violation(system: System, world: World) -> Property | None:
    """The first property that does not hold in this world."""
    resting = quiescent(system, world)
    seen = observe_at_rest(system, world) if resting else observe(world)
    for property_ in system.properties:
        if (property_.when is When.ALWAYS or resting) and not is_satisfied(system, property_, seen):
            return property_
    return None
