"""Where the nodes of process pairs stand: each operator that may crash has a secondary.

Rule of this file: no step of a node.
Hwang et al., Section 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from model.boxes.box import Box
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import Deployment, NodeName, Role, Scope, Site
from model.errors import refuse
from model.graph import SOURCE
from model.parts import deploy_graph
from model.predicates import Predicate
from model.standbys.choices import NodeReturns
from model.standbys.streams import streams_of, without_streams


class Wiring(NamedTuple):
    """The configuration of a site.

    source: the number of a source among those of the graph.  other: the other replica, "" if there
    is none.  second: is it the secondary at the start?  above, below: the replicas of each node
    that sends it tuples, or gets them.  streams: the outputs that each node below gets; None: all.
    """

    design: Any
    source: int
    other: NodeName
    second: bool
    above: tuple[tuple[NodeName, ...], ...]
    below: tuple[tuple[NodeName, ...], ...]
    streams: tuple[Predicate | None, ...]


def secondary(name: NodeName) -> NodeName:
    return f"{name}'"


def _objections(site: Site) -> Iterator[str]:
    """Why process pairs do not run the site."""
    name, spec, inputs = site.name, site.spec, len(site.preds)
    if site.role is Role.OPERATOR and not isinstance(spec, Box | Operator):
        yield f"{name} is a {type(spec).__name__}; give a box or CEP operator"
    if isinstance(spec, Operator) and inputs > 1:
        yield (
            f"{name} is a CEP operator with {inputs} inputs, which it needs in the order of time; "
            "give it one input"
        )


def deploy(family: str, design: Any, scope: Scope) -> Deployment:
    """The deployment with a secondary for each operator that may crash in the scope.

    Raises Refused for an operator that is neither a box nor a CEP operator, and for a CEP operator
    with several inputs: it merges them in the order of time, and tuples come here as they arrive.
    """
    graph = without_streams(scope.graph)
    base, streams = deploy_graph(graph, replies=True), streams_of(scope.graph)
    refuse(family, (why for site in base.sites for why in _objections(site)))
    sources = [name for name, spec in graph.nodes if spec is SOURCE]
    replicas: dict[NodeName, tuple[NodeName, ...]] = {}
    for site in base.sites:
        names = (site.name, secondary(site.name))
        twice = site.role is Role.OPERATOR and (
            scope.victims is None or not scope.victims.isdisjoint(names)
        )
        replicas[site.name] = names if twice else names[:1]

    def place(site: Site, name: NodeName) -> Site:
        names = replicas[site.name]
        wiring = Wiring(
            design,
            sources.index(name) if site.role is Role.SOURCE else 0,
            next((other for other in names if other != name), ""),
            name != site.name,
            tuple(replicas[pred] for pred in site.preds),
            tuple(replicas[succ] for succ in site.succs),
            tuple(streams.get((site.name, succ)) for succ in site.succs),
        )
        spec = CepBox(site.spec) if isinstance(site.spec, Operator) else site.spec
        return site._replace(name=name, spec=spec, config=wiring)

    sites = tuple(place(site, name) for site in base.sites for name in replicas[site.name])
    pairs = [names for names in replicas.values() if len(names) == 2]
    between = [(one, other) for names in pairs for one, other in (names, names[::-1])]
    ends = [
        (sender, receiver)
        for above, below in base.channels
        for sender in replicas[above]
        for receiver in replicas[below]
    ]
    watched = frozenset(between)
    primaries = frozenset(names[0] for names in pairs)
    both = frozenset(name for names in pairs for name in names)
    crashable = primaries if design.returns is NodeReturns.NEVER else both
    returning = {
        NodeReturns.YES: None,
        NodeReturns.NEVER: frozenset[NodeName](),
        NodeReturns.NO_SECONDARY: primaries,
    }[design.returns]
    runs = {names[1]: names[:1] for names in pairs}
    return Deployment(sites, (*ends, *between), crashable, (), watched, returning, runs=runs)


def edge_of(site: Site, sender: NodeName) -> int:
    """The number of the input on which this node sends."""
    return next(edge for edge, names in enumerate(site.config.above) if sender in names)
