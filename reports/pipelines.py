"""The table of the operators and inputs that each family runs in a scenario, and why not.

Rule of this file: no answer by hand; each family is asked to deploy a small graph of each kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from model.core import Arrival
from model.errors import Invalid, reasons
from model.protocol import Protocol
from model.registry import modules
from reports.standbys import join
from sim.inputs.streams import Workload
from sim.scenarios.operators import Form, graph_of
from sim.scenarios.scenario import deployed
from sim.scenarios.tables import (
    AggregateTable,
    AnyOperatorTable,
    GatherTable,
    JoinTable,
    PatternTable,
    SelectivityTable,
    UnionTable,
    WhereTable,
)
from sim.scenarios.toml_lines import Path as Key

Tables = tuple[AnyOperatorTable, ...]


class AskedGraph(NamedTuple):
    """A small graph that a family is asked to deploy: operators over so many sources."""

    operators: Tables
    sources: int


def _kind(name: str, inputs: int) -> AnyOperatorTable:
    """An operator of a kind, with so many inputs."""
    of = tuple(f"s{number}" for number in range(inputs))
    match name:
        case "pattern" | "keyed pattern":
            group = "key" if name == "keyed pattern" else None
            pattern = "a0, a0 where key > 1"
            return PatternTable(
                name="op", inputs=of, pattern=pattern, group=group, window=2, slide=1
            )
        case "aggregate":
            return AggregateTable(
                name="op", inputs=of, aggregate="count", group="key", window=2, slide=1
            )
        case "selectivity":
            return SelectivityTable(name="op", inputs=of, selectivity=0.5)
        case "gathers":
            return GatherTable(name="op", inputs=of, gathers=2)
        case "where":
            return WhereTable(name="op", inputs=of, where="key > 1")
        case "union":
            return UnionTable(name="op", inputs=of, union=True)
        case _:
            return JoinTable(name="op", inputs=of, join=2, on="key")


def _where(name: str, *inputs: str) -> WhereTable:
    return WhereTable(name=name, inputs=inputs, where="key > 1")


KINDS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("pattern", "keyed pattern", "aggregate"), (1, 3)),
    **dict.fromkeys(("where", "selectivity", "gathers"), (1, 3)),
    "union": (3,),
    "join": (2,),
}
"""The kinds of operators, and the numbers of inputs that are asked for."""
SHAPES: Mapping[str, AskedGraph] = {
    "one after the other": AskedGraph((_where("one", "s0"), _where("two", "one")), 1),
    "a source for two": AskedGraph(
        (
            _where("one", "s0"),
            _where("two", "s0"),
            UnionTable(name="all", inputs=("one", "two"), union=True),
        ),
        1,
    ),
    "two ends": AskedGraph((_where("one", "s0"), _where("two", "s1")), 2),
}
"""Shapes of graphs, of operators that every family runs."""


def lines() -> list[str]:
    """The table, with the reasons below it."""
    asked = [*KINDS, *SHAPES]
    table = [join("family", *asked), "|---" * (len(asked) + 1) + "|"]
    refused: list[str] = []
    for protocol in modules().values():
        answers = {name: _answer(protocol, name) for name in asked}
        table.append(join(protocol.name, *(answer.cell for answer in answers.values())))
        why: dict[str, list[str]] = {}
        for name, answer in answers.items():
            if answer.why:
                why.setdefault(answer.why, []).append(name)
        refused += [join(protocol.name, ", ".join(of), one) for one, of in why.items()]
    head = ["| family | does not run | since |", "|---|---|---|"]
    return [*table, "", *head, *refused, ""]


class GraphAnswer(NamedTuple):
    """A family's answer to the graphs of a column.  why: the first reason why not."""

    cell: str
    why: str


def _answer(protocol: Protocol, name: str) -> GraphAnswer:
    """For a shape yes or no; for a kind of operators the numbers of inputs that the family runs."""
    if name in SHAPES:
        why = _why(protocol, SHAPES[name])
        return GraphAnswer("no" if why else "yes", why)
    numbers = KINDS[name]
    found = [_why(protocol, AskedGraph((_kind(name, each),), each)) for each in numbers]
    runs = ["one" if each == 1 else "two" if each == 2 else "several" for each in numbers]
    cell = ", ".join(word for word, why in zip(runs, found, strict=True) if not why)
    return GraphAnswer(cell or "no", next(filter(None, found), ""))


def _why(protocol: Protocol, asked: AskedGraph) -> str:
    """The first reason why the family does not run the graph; "" if it does."""
    try:
        deployed(protocol, [*_forms(asked)])
    except Invalid as error:
        return reasons(error)[0]
    return ""


def _forms(asked: AskedGraph) -> Iterator[Workload]:
    """The graph in each form.  The sources have types of their own."""
    events = {
        f"s{number}": tuple(Arrival(1, f"a{number}", (("key", at),)) for at in range(3))
        for number in range(asked.sources)
    }
    for form in Form:
        yield Workload("", "", graph_of(asked.operators, events, _wrong, form), events)


def _wrong(_key: Key, what: str) -> Invalid:
    return Invalid(what)
