"""The parts that most families share: sites as the graph has nodes, and scopes over words.

Rule of this file: no decision of a protocol; a family with another deployment does not use the
file.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from model.boxes.box import Box
from model.boxes.panes import ManyPanes, Panes
from model.cep.box import Windows
from model.cep.operator import CepState
from model.comparison import Compare
from model.core import Arrival, Deployment, Inputs, NodeName, Role, Scope, Site
from model.costs import Amount
from model.errors import refuse
from model.events import Body
from model.graph import SINK, SOURCE, Graph
from model.log import Log

_ROLES = {SOURCE: Role.SOURCE, SINK: Role.SINK}


def deploy_graph(
    graph: Graph, *, replies: bool = False, config: Callable[[NodeName], Any] = lambda _: None
) -> Deployment:
    """The deployment with a site for each node of the graph and a channel for each edge; the
    operators may crash.

    replies: add a channel back for each edge.  config: the value of `Site.config`, by name.
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


def check_cep(family: str, graph: Graph) -> None:
    """Raises Refused if operators of the graph are boxes, and no CEP operators."""
    refuse(
        family,
        (
            f"{name} is of type {type(spec).__name__}, and savepoints are of windows; give a CEP "
            "operator"
            for name, spec in graph.nodes
            if isinstance(spec, Box)
        ),
    )


def over_words(
    graph: Graph,
    length: int,
    types: str = "ab",
    gaps: tuple[int, ...] = (1,),
    crashes: int = 1,
    *,
    victims: frozenset[NodeName] | None = None,
    early: int = 0,
    disturbances: int = 0,
    sinks: tuple[tuple[NodeName, Compare], ...] = (),
) -> Scope:
    """The scope in which every source may emit any word of `length` over the types and gaps; the
    rest as in Scope."""
    alphabet = tuple(Arrival(gap, type_) for type_ in types for gap in gaps)
    sources = (name for name, spec in graph.nodes if spec is SOURCE)
    inputs = tuple((name, Inputs(alphabet, length)) for name in sources)
    return Scope(graph, inputs, crashes, victims, early, disturbances, sinks)


def merged(spec: Box, left: int, right: int, *behind: Box, crashes: int = 1) -> Scope:
    """An operator of two sources, with at most `left` and `right` events, and others behind it."""
    names = ["agg", *(f"after{number}" for number, _ in enumerate(behind))]
    operators = tuple(zip(names, (spec, *behind), strict=True))
    nodes = (("left", SOURCE), ("right", SOURCE), *operators, ("sink", SINK))
    edges = (("left", "agg"), ("right", "agg"), *pairwise((*names, "sink")))
    lengths = (("left", "a", left), ("right", "b", right))
    inputs = tuple((name, Inputs((Arrival(1, kind),), most)) for name, kind, most in lengths)
    return Scope(Graph(nodes, edges), inputs, crashes)


def open_windows(box: Any) -> int | None:
    """How many windows are open in the state of a box; None if the box has no windows."""
    if isinstance(box, Panes | ManyPanes):
        return box.amounts[0]
    return len(box.open) if isinstance(box, Windows) else None


def contents(state: Any) -> Amount:
    """What the state of a box or CEP operator holds: the events in it, and as items its open
    windows, the values that an aggregate has so far, and its groups.  A plain tuple holds what its
    parts hold, such as the states of several boxes."""
    if type(state) is tuple:
        parts = [contents(part) for part in state]
        return Amount(sum(part.events for part in parts), sum(part.items for part in parts))
    if isinstance(state, Panes | ManyPanes):
        _, values, groups = state.amounts
        return Amount(0, values + groups)
    windows = len(state.open) if isinstance(state, CepState | Windows) else 0
    return Amount(_events(state), windows)


def _events(value: Any) -> int:
    """How many events are in a value.  A complex event counts once, as on a link."""
    if isinstance(value, Body):
        return 1
    return sum(map(_events, value)) if isinstance(value, tuple | Log) else 0
