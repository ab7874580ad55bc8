"""The class of a box, with the shortest witness against each narrower one.

Rule of this file: the definitions of the classes and nothing else; proofs.classify.pairs has the
pairs of states.
Hwang et al., Section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import networkx as nx

from model.boxes.box import Box
from model.core import OperatorClass
from proofs.classify.pairs import (
    LIMIT,
    CopyPair,
    CopyPhase,
    PairStep,
    confluence,
    explore,
    restarts,
)
from proofs.classify.streams import Alphabet

Edge = tuple[CopyPair, CopyPair, int]


class Witness(NamedTuple):
    """A run of two copies that shows that a box is not of a class.

    steps: to the difference.  circle: how many of the last steps repeat for ever.
    """

    not_of: OperatorClass
    why: str
    steps: tuple[PairStep, ...]
    circle: int = 0


class Classified(NamedTuple):
    """The narrowest class of a box over an alphabet.  pairs: of states that were compared."""

    operators: OperatorClass
    witnesses: tuple[Witness, ...]
    pairs: int


def classify(box: Box, alphabet: Alphabet, limit: int = LIMIT) -> Classified:
    """The class of the box for every stream over the alphabet.  Raises Undecided."""
    start, steps = confluence(box, alphabet)
    graph = explore(start, steps, box, limit)
    differs = _first(graph, lambda _, taken: taken.other)
    if differs is not None:
        why = "two runs over the same streams put out different things"
        found = Witness(OperatorClass.DETERMINISTIC, why, _way(graph, differs))
        return Classified(OperatorClass.ARBITRARY, (found,), len(graph))
    start, steps = restarts(box, alphabet)
    again = explore(start, steps, box, limit)
    total = len(graph) + len(again)
    witnesses = []
    narrowest = OperatorClass.REPEATABLE
    for find in (_not_repeatable, _not_convergent):
        if (witness := find(again)) is None:
            break  # it is of this class, and so of all wider ones
        witnesses.append(witness)
        narrowest = OperatorClass(witness.not_of + 1)
    return Classified(narrowest, tuple(witnesses), total)


def _not_repeatable(graph: nx.MultiDiGraph[Any]) -> Witness | None:
    """A duplicate that the first copy did not put out, or a difference after it failed."""
    may_fail: set[Any] = set()
    for pair in graph:
        if pair.phase is CopyPhase.AFTER and pair not in may_fail:
            may_fail |= {pair, *nx.ancestors(graph, pair)}

    def differs(edge: Edge, taken: PairStep) -> bool:
        return taken.other and edge[1] in may_fail

    found = _first(graph, differs)
    if found is None:
        return None
    why = "a restarted copy puts out something else than the first one did"
    return Witness(OperatorClass.REPEATABLE, why, _way(graph, found))


def _not_convergent(graph: nx.MultiDiGraph[Any]) -> Witness | None:
    """A difference that comes again for ever."""
    component = {
        pair: number
        for number, members in enumerate(nx.strongly_connected_components(graph))
        for pair in members
    }

    def differs(edge: Edge, taken: PairStep) -> bool:
        before, after, _ = edge
        return (
            before.phase is CopyPhase.AFTER
            and taken.first != taken.second
            and component[before] == component[after]
        )

    found = _first(graph, differs)
    if found is None:
        return None
    before, after, _ = found
    back = nx.shortest_path(graph, after, before)
    around = tuple(_taken(graph, pair) for pair in nx.utils.pairwise(back))
    why = "a restarted copy puts out other things for ever"
    steps = (*_way(graph, found), *around)
    return Witness(OperatorClass.CONVERGENT_CAPABLE, why, steps, len(around) + 1)


def _first(graph: nx.MultiDiGraph[Any], differs: Callable[[Edge, PairStep], bool]) -> Edge | None:
    """The first such edge; pairs are in the order of their distance from the start."""
    edges: Iterable[tuple[Any, Any, int, PairStep]] = graph.edges(keys=True, data="taken")
    return next(((u, v, key) for u, v, key, taken in edges if differs((u, v, key), taken)), None)


def _way(graph: nx.MultiDiGraph[Any], edge: Edge) -> tuple[PairStep, ...]:
    """The steps of a shortest way through the edge."""
    before, after, key = edge
    way = nx.shortest_path(graph, next(iter(graph)), before)
    return (
        *(_taken(graph, pair) for pair in nx.utils.pairwise(way)),
        graph.edges[before, after, key]["taken"],
    )


def _taken(graph: nx.MultiDiGraph[Any], ends: tuple[Any, Any]) -> PairStep:
    found: PairStep = next(iter(graph.get_edge_data(*ends).values()))["taken"]
    return found
