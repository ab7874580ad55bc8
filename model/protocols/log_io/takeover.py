"""The deployment of an operator that may have two processes.

Rule of this file: sites and channels; no step of a node.
LOG.io, Section 6.4.
"""

from __future__ import annotations

from model.core import Deployment, NodeName, Site
from model.protocols.log_io.places import DEPLOYER, second_process


def with_second(deployment: Deployment, first: NodeName, deployer: Site) -> Deployment:
    """The deployment with a second process of an operator, and the engine that starts it.

    The first process never returns from a crash: the second one takes its place.
    """
    second = second_process(first)
    found = {site.name: site for site in deployment.sites}
    site = found.pop(first)
    spec = site.spec._replace(process=first)
    twice = [site._replace(name=name, spec=spec) for name in (first, second)]
    own = [ends for ends in deployment.channels if first in ends]
    more = [(u, second) if v == first else (second, v) for u, v in own]
    watched = (ends for ends in deployment.watched if ends[0] != first)
    return deployment._replace(
        sites=(*found.values(), *twice, deployer),
        channels=(*deployment.channels, *more, (first, DEPLOYER), (DEPLOYER, second)),
        watched=frozenset((*watched, (first, DEPLOYER))),
        returning=deployment.crashable - {first},
        connections=deployment.connections - {u for u, v in own if v == first},
        prompt=deployment.prompt | {DEPLOYER},
        runs={second: (first,)},
    )
