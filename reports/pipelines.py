"""The table of the operators and inputs that each family runs in a scenario, and why not.

Rule of this file: no answer by hand; each family is asked to deploy a small graph of each kind, in
each form that a scenario may give it (sim.scenarios.operators).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import Filter, Union
from model.boxes.triggered import Triggered
from model.cep.box import CepBox
from model.cep.engines import Partitioned
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.stateless import joining, passing
from model.cep.windows import TimeWindows
from model.core import Scope
from model.errors import Invalid, reasons
from model.graph import SINK, SOURCE, Graph
from model.predicates import ANYTHING, Hashed, Where
from model.protocol import Protocol
from model.registry import modules
from model.system import System
from reports.standbys import join

FEW, SHARE = Where("key", ">", 1), Hashed(0.5)
PATTERN = Operator(sequence("a", "b"), TimeWindows(2, 1))
KEYED = Operator(Partitioned(sequence("a", "b"), "key"), TimeWindows(2, 1))
COUNT = Aggregate("count", 2, 1, by="time", group="key")
TWOS = Triggered((2,))

KINDS: Mapping[str, Mapping[int, Sequence[Any]]] = {
    "pattern": {1: [PATTERN], 3: [PATTERN, Ordered(CepBox(PATTERN))]},
    "keyed pattern": {1: [KEYED], 3: [KEYED, Ordered(CepBox(KEYED))]},
    "aggregate": {1: [COUNT], 3: [Ordered(COUNT)]},
    "where": {1: [Filter(FEW), passing(FEW)], 3: [Ordered(Filter(FEW)), passing(FEW)]},
    "selectivity": {
        1: [Filter(SHARE), passing(SHARE)],
        3: [Ordered(Filter(SHARE)), passing(SHARE)],
    },
    "gathers": {1: [TWOS], 3: [Ordered(TWOS)]},
    "union": {3: [Ordered(Union()), passing(ANYTHING)]},
    "join": {2: [Ordered(Join(2, "key", flat=True)), joining(frozenset("a"), 2, "key", "pair")]},
}
"""The kinds of operators in each form, by the number of inputs."""


def _shape(*edges: tuple[str, str]) -> tuple[Graph, ...]:
    """A graph of filters, and of a union by the name of `all`; as boxes, and as CEP operators."""
    names = dict.fromkeys(name for edge in edges for name in edge)
    forms = ({"all": Ordered(Union())}, Filter(FEW)), ({"all": passing(ANYTHING)}, passing(FEW))
    return tuple(
        Graph(tuple((name, known.get(name, _end(name) or other)) for name in names), edges)
        for known, other in forms
    )


def _end(name: str) -> Any:
    return SOURCE if name.startswith("source") else SINK if name == "sink" else None


SHAPES: Mapping[str, tuple[Graph, ...]] = {
    "one after the other": _shape(("source", "one"), ("one", "two"), ("two", "sink")),
    "a source for two": _shape(
        *(("source", "one"), ("source", "two"), ("one", "all"), ("two", "all"), ("all", "sink"))
    ),
    "two ends": _shape(*(("source1", "one"), ("source2", "two"), ("one", "sink"), ("two", "sink"))),
}
"""Shapes of graphs, of operators that every family runs."""


def lines() -> list[str]:
    """The table, with the reasons below it."""
    asked = [*KINDS, *SHAPES]
    table = [join("family", *asked), "|---" * (len(asked) + 1) + "|"]
    refused: list[str] = []
    for protocol in modules().values():
        answers = {name: answer(protocol, name) for name in asked}
        table.append(join(protocol.name, *(one.cell for one in answers.values())))
        why: dict[str, list[str]] = {}
        for name, one in answers.items():
            if one.why:
                why.setdefault(one.why, []).append(name)
        refused += [join(protocol.name, ", ".join(of), reason) for reason, of in why.items()]
    return [*table, "", "| family | does not run | since |", "|---|---|---|", *refused, ""]


class GraphAnswer(NamedTuple):
    """A family's answer to the graphs of a column.  why: the first reason why not."""

    cell: str
    why: str


def answer(protocol: Protocol, name: str) -> GraphAnswer:
    """For a shape yes or no; for a kind of operators the numbers of inputs that the family runs."""
    if name in SHAPES:
        why = _why(protocol, SHAPES[name])
        return GraphAnswer("no" if why else "yes", why)
    words = {1: "one", 2: "two", 3: "several"}
    found = {
        words[inputs]: _why(protocol, [_alone(spec, inputs) for spec in specs])
        for inputs, specs in KINDS[name].items()
    }
    cell = ", ".join(word for word, why in found.items() if not why)
    return GraphAnswer(cell or "no", next(filter(None, found.values()), ""))


def _alone(spec: Any, inputs: int) -> Graph:
    """One operator that reads this number of sources."""
    sources = [f"source{number}" for number in range(1, inputs + 1)]
    nodes = (*((name, SOURCE) for name in sources), ("operator", spec), ("sink", SINK))
    return Graph(nodes, (*((name, "operator") for name in sources), ("operator", "sink")))


def _why(protocol: Protocol, graphs: Sequence[Graph]) -> str:
    """Why the family runs none of the graphs: the first reason; "" if it runs one."""
    why = ""
    for graph in graphs:
        try:
            System(protocol, Scope(graph, (), 0))
        except Invalid as error:
            why = why or reasons(error)[0]
        else:
            return ""
    return why
