"""One standard operator of each class, in scopes that are like a protocol's own.

Rule of this file: no protocol and no search; a protocol whose deployment refuses such a scope says
why itself.
Hwang et al., Section 3.2, Fig. 3.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.stateless import Filter, Union
from model.cep.engines import Function, Matches
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows, TimeWindows
from model.core import Arrival, Inputs, NodeName, OperatorClass, Scope
from model.errors import Invalid, nearest
from model.events import Body
from model.evidence import PinnedScope
from model.graph import NO_GRAPH, SOURCE, Graph
from model.predicates import Type
from model.protocol import Failures, Protocol

CRASHES = 2
"""The most crashes of a run: with two of them, one restart may spoil the next one."""


class StandardOperator(NamedTuple):
    """An operator of a class.

    box, cep: the operator in both forms; a protocol gets the form that its own scopes have.
    sources: the arrivals of each source, in turn.  least, most: events of all sources together; the
    protocol's own scopes decide between the two.
    """

    name: str
    operators: OperatorClass
    box: Any
    cep: Any
    sources: tuple[tuple[Arrival, ...], ...]
    least: int
    most: int


def _count(window: tuple[Body, ...]) -> Matches:
    """One match: a body with the number of events in the window, a sum of ones."""
    return ((Body(window[-1].time, "sum", (("sum", len(window)),)),),)


A, B = Arrival(1, "a"), Arrival(1, "b")
EACH = sequence("a")
STANDARD = (
    StandardOperator(
        "filter",
        OperatorClass.REPEATABLE,
        Filter(Type("a")),
        Operator(EACH, CountWindows(1, 1)),
        ((A, B),),
        least=1,
        most=2,
    ),
    StandardOperator(
        "sum on a grid",
        OperatorClass.CONVERGENT_CAPABLE,
        Aggregate("sum", 3, 3, "time", of="time"),
        Operator(Function(_count), TimeWindows(3, 3, grid=True)),
        ((A,),),
        least=3,
        most=3,
    ),
    StandardOperator(
        "every second",
        OperatorClass.DETERMINISTIC,
        Aggregate("list", 1, 2, of="time"),
        Operator(EACH, CountWindows(1, 2)),
        ((A,),),
        least=3,
        most=3,
    ),
    StandardOperator(
        "union", OperatorClass.ARBITRARY, Union(), Union(), ((A,), (B,)), least=2, most=2
    ),
)


def named(words: str) -> tuple[OperatorClass, ...]:
    """The classes that `asif check --operators` names, as in "repeatable,arbitrary"; all: "all".

    Raises Invalid.
    """
    known = {one.word: one for one in OperatorClass}
    asked = {word.strip() for word in words.split(",")}
    for word in sorted(asked - {"all", *known}):
        raise Invalid(f"--operators: no class {word!r}{nearest(word, ['all', *known])}")
    return tuple(one for word, one in known.items() if asked & {"all", word})


def standard(
    protocol: Protocol, classes: Collection[OperatorClass]
) -> tuple[StandardOperator, ...]:
    """The standard operator of each of these classes, for a protocol with a stream.

    Raises Invalid for another protocol.
    """
    if classes:
        _streams(protocol)
    return tuple(one for one in STANDARD if one.operators in classes)


def _streams(protocol: Protocol) -> list[PinnedScope]:
    streams = [one for one in protocol.evidence.scopes if one.scope.graph != NO_GRAPH]
    if not streams:
        raise Invalid(f"{protocol.name}: no scope has a stream, so there are no operators")
    return streams


def standard_scope(protocol: Protocol, operator: StandardOperator) -> Scope:
    """The scope in which the protocol runs the operator: like the largest of its own quick ones.

    The graph is the smallest of the protocol's own, with another first operator.  Events and faults
    are as many as in the largest quick scope, within bounds.  Raises Invalid for a protocol without
    a stream.
    """
    streams = _streams(protocol)
    largest = max((one for one in streams if one.quick), default=streams[0], key=_size).scope
    wanted = len(operator.sources)
    like = min((one.scope for one in streams), key=lambda one: _unlike(one.graph, wanted))
    graph = _graph(like.graph, operator)
    return replace(
        like,
        graph=graph,
        inputs=_inputs(graph, operator, _events(largest)),
        crashes=_crashes(protocol, largest),
        early=largest.early,
        disturbances=largest.disturbances,
    )


def _unlike(graph: Graph, wanted: int) -> tuple[bool, int]:
    """How far a graph is from the smallest one whose first operator has this number of inputs."""
    return len(graph.preds(_first(graph))) != wanted, len(graph.nodes)


def _size(one: PinnedScope) -> tuple[int, int]:
    return one.scope.crashes, _events(one.scope)


def _events(scope: Scope) -> int:
    return sum(one.length for _, one in scope.inputs)


def _crashes(protocol: Protocol, largest: Scope) -> int:
    if protocol.promise.assumes.failures is Failures.NONE:
        return 0
    return max(1, min(CRASHES, largest.crashes))


def _inputs(
    graph: Graph, operator: StandardOperator, own: int
) -> tuple[tuple[NodeName, Inputs], ...]:
    """The inputs of each source; one event of those that do not feed the operator.

    own: the number of events in the protocol's own scope.
    """
    feeding = graph.preds(_first(graph))
    more, some = divmod(max(operator.least, min(operator.most, own)), len(feeding))
    inputs = {
        name: Inputs(arrivals, more + (nth < some))
        for nth, (name, arrivals) in enumerate(zip(feeding, operator.sources, strict=True))
    }
    sources = (name for name, spec in graph.nodes if spec is SOURCE)
    return tuple((name, inputs.get(name, Inputs((A,), 1))) for name in sources)


def _graph(graph: Graph, operator: StandardOperator) -> Graph:
    """The graph with the operator in place of the first one.

    A source is added, or sources are left out, until the operator has its inputs.
    """
    wanted = len(operator.sources)
    first = _first(graph)
    before = graph.preds(first)
    new = tuple(_unused(graph, before[0], nth) for nth in range(2, wanted - len(before) + 2))
    gone = before[wanted:]
    spec = operator.cep if isinstance(graph.specs[first], Operator) else operator.box
    nodes = tuple(
        one
        for name, old in graph.nodes
        for one in (
            *([(name, spec if name == first else old)] if name not in gone else []),
            *([(other, SOURCE) for other in new] if name == before[0] else []),
        )
    )
    edges = tuple(one for one in graph.edges if one[0] not in gone)
    return Graph(nodes, (*edges, *((name, first) for name in new)))


def _first(graph: Graph) -> NodeName:
    """The first operator that sources alone feed.  Raises Invalid."""
    for name in graph.order():
        preds = graph.preds(name)
        if preds and all(graph.specs[pred] is SOURCE for pred in preds):
            return name
    raise Invalid("no operator has inputs from sources alone")


def _unused(graph: Graph, like: NodeName, nth: int) -> NodeName:
    name = f"{like}-{nth}"
    return name if name not in graph.specs else _unused(graph, like, nth + 1)
