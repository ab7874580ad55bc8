"""The subjects of the suite: every registered protocol, each with its sample.

Rule of this file: no protocol is named; a family is under test because it is registered.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from asif.duties.sample import Sample
from model.actions import Action
from model.choices import enabled
from model.evidence import Outcome
from model.oracle import oracle
from model.registry import protocols
from model.system import System
from model.world import World, apply, initial
from sim.inputs.streams import Workload
from sim.outputs import Outputs

PROTOCOLS = protocols()
NAMES = sorted(PROTOCOLS)
SAMPLES = {name: Sample(protocol, name) for name, protocol in PROTOCOLS.items()}
QUICK = [
    name for name in NAMES if PROTOCOLS[name].evidence.expected is Outcome.HOLDS or ":" not in name
]


def each(quick: Sequence[str]) -> pytest.MarkDecorator:
    """A test of every protocol, of which `make test` runs these."""
    marks = {name: () if name in quick else pytest.mark.exhaustive for name in NAMES}
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=marks[name]) for name in NAMES]
    )


EVERY = each(QUICK)
"""A test of every protocol.  `make test` leaves out variants that are refuted: they differ in one
choice from what holds, and the report that `.ci/run` makes explores each until it is refuted."""
FAMILIES = each([name for name in NAMES if ":" not in name])
"""The same, where variants take long and are much alike: `make test` leaves them all out."""


def expected(of: Workload) -> Outputs:
    return tuple(oracle(of.graph, of.events).values())


def followed(system: System, actions: Sequence[Action]) -> World:
    """The world that the actions lead to, each of them enabled when it is taken."""
    world = initial(system)
    for action in actions:
        assert action in enabled(system, world)
        world = apply(system, world, action)
    return world
