"""What most families have in common: sites as the graph has nodes, and scopes over words.

Rule of this file: no protocol decides anything here; a family that deploys otherwise does not use
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.core import Arrival, Deployment, Inputs, NodeName, Role, Scope, Site
from model.graph import SINK, SOURCE, Graph

_ROLES = {SOURCE: Role.SOURCE, SINK: Role.SINK}


def deployed(
    graph: Graph, *, replies: bool = False, config: Callable[[NodeName], Any] = lambda _: None
) -> Deployment:
    """A site for each node of the graph and a channel for each edge; the operators may crash.

    replies: with a channel back for each edge.  config: what `Site.config` is, by name.
    """
    sites = tuple(
        Site(
            name,
            _ROLES.get(spec, Role.OPERATOR),
            spec,
            graph.preds(name),
            graph.succs(name),
            config(name),
        )
        for name, spec in graph.nodes
    )
    back = tuple((v, u) for u, v in graph.edges) if replies else ()
    operators = frozenset(site.name for site in sites if site.role is Role.OPERATOR)
    return Deployment(sites, (*graph.edges, *back), operators)


def over_words(
    graph: Graph, length: int, types: str = "ab", gaps: tuple[int, ...] = (1,), crashes: int = 1
) -> Scope:
    """Every source of the graph may emit any word of `length` over the types and gaps."""
    alphabet = tuple(Arrival(gap, type_) for type_ in types for gap in gaps)
    sources = (name for name, spec in graph.nodes if spec is SOURCE)
    return Scope(graph, tuple((name, Inputs(alphabet, length)) for name in sources), crashes)
