"""The outputs of a world beside those that the oracle expects of the events so far.

Rule of this file: one world at a time; the differences are those of proofs.explore.culprit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from model.boxes.box import bodies
from model.choices import quiescent
from model.core import NodeName
from model.graph import NO_GRAPH, SINK
from model.observations import observe
from model.properties import allowed_outputs, comparisons, shapes
from model.results.steps import ExpectedOutput
from model.system import System
from model.world import World
from proofs.explore.culprit.differences import differ, nearest_allowed
from proofs.explore.moment_words import show_output


class ShownOutputs(NamedTuple):
    """expects: the nearest expected outputs.  others: the number of other ones that are allowed.
    surplus: for each sink of the graph, the places of its outputs that are not among them."""

    expects: tuple[ExpectedOutput, ...]
    others: int
    surplus: Mapping[NodeName, frozenset[int]]


NOTHING = ShownOutputs((), 0, {})


def show_expected(system: System, world: World) -> ShownOutputs:
    """The expected outputs of the world, and the surplus ones; nothing without a stream."""
    how = shapes(system.scope)
    if system.scope.graph == NO_GRAPH or not how:
        return NOTHING
    seen = observe(world)
    nearest = nearest_allowed(comparisons(system.scope, seen), how, ended=quiescent(system, world))
    expects: list[ExpectedOutput] = []
    surplus: dict[NodeName, set[int]] = {}
    ends = zip(_edges(system), nearest.pairs, nearest.edges, how, strict=True)
    for (sink, edge), (want, got), found, compare in ends:
        absent = {*differ(bodies(want), bodies(got), compare, ended=True).missing}
        for at, out in enumerate(want):
            text = show_output(system.protocol, system.sites[sink], (edge, out.body))
            expects.append(ExpectedOutput(sink, text, seen=at not in absent))
        early = () if found.swap is None else (found.swap.early,)
        places = _places(world.outputs[system.sink_at[sink]], edge)
        surplus.setdefault(sink, set()).update(places[at] for at in (*found.surplus, *early))
    others = len(allowed_outputs(system.scope, world.arrivals)) - 1
    return ShownOutputs(
        tuple(expects), others, {sink: frozenset(at) for sink, at in surplus.items()}
    )


def _edges(system: System) -> Iterator[tuple[NodeName, int]]:
    """Every input edge of every sink of the graph, in the order of model.properties."""
    graph = system.scope.graph
    for name, spec in graph.nodes:
        if spec is SINK:
            yield from ((name, edge) for edge in range(len(graph.preds(name))))


def _places(outputs: tuple[tuple[int, object], ...], edge: int) -> list[int]:
    """The places, among all outputs of the sink, of those of one edge."""
    return [at for at, output in enumerate(outputs) if output[0] == edge]


def new_outputs(system: System, before: World, after: World) -> Iterator[tuple[NodeName, int]]:
    """The sink and the place of each output that came between two worlds."""
    for name, at in system.sink_at.items():
        for place in range(len(before.outputs[at]), len(after.outputs[at])):
            yield name, place


def output_text(system: System, sink: NodeName, world: World, place: int) -> str:
    """The output of a sink as stories show it."""
    edge_and_body = world.outputs[system.sink_at[sink]][place][:2]
    return show_output(system.protocol, system.sites[sink], edge_and_body)


def differing_places(
    system: System, run: World, other: World
) -> tuple[Mapping[NodeName, list[int]], Mapping[NodeName, list[int]]]:
    """The places of outputs that the run has and the other one has not, and the other way round."""
    how = shapes(system.scope)
    mine: dict[NodeName, list[int]] = {}
    theirs: dict[NodeName, list[int]] = {}
    for (sink, edge), compare in zip(_edges(system), how, strict=True):
        at = system.sink_at[sink]
        places = _places(run.outputs[at], edge), _places(other.outputs[at], edge)
        got, want = (
            [world.outputs[at][place][1] for place in own]
            for world, own in zip((run, other), places, strict=True)
        )
        found = differ(want, got, compare, ended=True)
        early = () if found.swap is None else (found.swap.early,)
        mine.setdefault(sink, []).extend(places[0][one] for one in (*found.surplus, *early))
        theirs.setdefault(sink, []).extend(places[1][one] for one in found.missing)
    return mine, theirs
