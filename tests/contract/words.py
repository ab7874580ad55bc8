"""Small systems for the words of a protocol, and the checkers that must agree about them.

Rule of this file: no word; each has a test file of its own, whose docstrings count its worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from model.choices import quiescent
from model.core import (
    Answer,
    Deployment,
    Guarantee,
    Input,
    NodeName,
    Property,
    Role,
    Scope,
    Site,
    When,
)
from model.evidence import Outcome
from model.family import Family
from model.protocol import Assumptions, Behaviour, Failures, Protocol
from model.system import System
from model.world import DOWN as DOWN
from model.world import World
from proofs.explore.explorer import Trace
from proofs.explore.random_attack import attack
from proofs.explore.random_walk import walks
from tests.proofs import test_searches
from tests.proofs.test_searches import both

LIMIT = 5_000
"""Of worlds: a wrong word may make a small system an endless one."""
WALKS, EXAMPLES = 3_000, 300
QUIET_WALKS, QUIET_EXAMPLES = 100, 10
"""Of a system in which nothing is to be found."""
ANYTHING = Property("anything goes", When.ALWAYS, lambda *_: True)
ALONE = Scope(crashes=0)


def reachable(system: System) -> dict[World, int]:
    """Every reachable world, and the fewest actions that lead to it."""
    return test_searches.reachable(system, LIMIT)


def site(name: NodeName, *timers: str, **more: Any) -> Site:
    """A site without a stream."""
    return Site(name, Role.OPERATOR, None, (), (), timers=timers, **more)


def deployed(*sites: Site, channels: str = "", crashable: str = "", **more: Any) -> Deployment:
    """The sites, with channels such as "a-b b-a"; the crashable ones are named in a text, too."""
    ends = tuple((one, other) for one, _, other in (way.partition("-") for way in channels.split()))
    return Deployment(sites, ends, frozenset(crashable.split()), **more)


def protocol(
    deployment: Deployment,
    step: Callable[[Site, Any, Input], Answer],
    *properties: Property,
    boot: Callable[[Site], Any] = lambda _: 0,
    recover: Callable[[Site, Any], Answer] | None = None,
    failures: Failures = Failures.ANY,
    timers: Mapping[str, str] | None = None,
) -> Protocol:
    """A protocol that is deployed so in every scope; without properties, anything goes."""
    behaviour = Behaviour(lambda *_: deployment, boot, step, recover, timers=timers or {})
    assumes = Assumptions(failures)
    family = Family(
        "words", "", "", behaviour, assumes=assumes, properties=properties or (ANYTHING,)
    )
    return family.design(claims={})


def holds(tried: Protocol, scope: Scope, worlds: int, guarantee: Any = Guarantee.PRECISE) -> None:
    """Assert that every checker finds nothing, in exactly these worlds."""
    found = both(tried, scope, limit=LIMIT)
    assert (found.outcome, found.vacuous) == (Outcome.HOLDS, ())
    assert found.states == worlds == len(reachable(System(tried, scope)))
    assert found.guarantee is guarantee
    assert walks(tried, scope, QUIET_WALKS, seed=1).property is None
    attacked = attack(tried, walks=0, examples=QUIET_EXAMPLES, scopes=[scope])
    assert attacked.failure is None


def refuted(tried: Protocol, scope: Scope, steps: int, name: str = "") -> Trace:
    """Assert that every checker finds the same property violated; a shortest run to it.

    name: of the property; "": that of the protocol's only one.
    """
    name = name or tried.promise.properties[0].name
    found = both(tried, scope, limit=LIMIT).counterexample
    assert found is not None
    assert (found.property.name, len(found.trace.actions)) == (name, steps)
    walked = walks(tried, scope, WALKS, seed=1)
    assert walked.property is not None
    assert walked.property.name == name
    attacked = attack(tried, walks=0, examples=EXAMPLES, scopes=[scope]).failure
    assert attacked is not None
    assert attacked.property.name == name
    return found.trace


def fails(tried: Protocol, scope: Scope, why: str) -> None:
    """Assert that both searches and a walk find the first step to be none, and why."""
    found = both(tried, scope, limit=LIMIT).counterexample
    assert found is not None
    assert (found.property.name, len(found.trace.actions)) == (f"every step answers ({why})", 1)
    walked = walks(tried, scope, WALKS, seed=1)
    assert walked.property is not None
    assert walked.property.name == found.property.name
    assert walked.trace is not None
    assert walked.trace[1:] == found.trace[1:]


def at_rest(tried: Protocol, scope: Scope) -> list[World]:
    """All worlds at rest, as model.world has them; both searches see as many worlds."""
    system = System(tried, scope)
    worlds = reachable(system)
    found = both(tried, scope, limit=LIMIT)
    resting = [world for world in worlds if quiescent(system, world)]
    assert (found.states, found.quiescent) == (len(worlds), len(resting))
    return resting


def states_at_rest(tried: Protocol, scope: Scope, name: NodeName) -> set[Any]:
    """The states of a node in all worlds at rest; DOWN if it is down."""
    at = System(tried, scope).node_at[name]
    return {world.nodes[at].state for world in at_rest(tried, scope)}


def always(name: str, holds_of: Callable[..., bool], **looks: bool) -> Property:
    """A property of every world over the states, as a mapping, or over what it also looks at."""
    return Property(name, When.ALWAYS, lambda _, seen: holds_of(seen), **{"nodes": True, **looks})
