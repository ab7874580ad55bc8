"""The graph of a scenario, built of its [[operators]] and of what is known of its events.

Rule of this file: no event passes through an operator here; types and attributes follow from the
tables alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.stateless import Filter
from model.boxes.triggered import Triggered
from model.cep.operator import Operator
from model.cep.windows import CountWindows, TimeWindows
from model.core import Arrival
from model.errors import Invalid, nearest
from model.graph import SINK, SOURCE, Graph
from model.predicates import Hashed
from sim.inputs.streams import Search, parsed
from sim.scenarios.tables import (
    AggregateTable,
    AnyOperatorTable,
    GatherTable,
    PatternTable,
    SelectivityTable,
    WindowTable,
)
from sim.scenarios.toml_lines import Path as Key
from sim.scenarios.toml_lines import TomlTable

OUTPUT = "sink"
"""The name of the end of every scenario's graph."""

OF_ALL: Mapping[str, bool] = {"time": True, "type": False}
"""What every event has, as in `KnownOperators.attributes`."""

Wrong = Callable[[Key, str], Invalid]
"""The error about the key."""


class KnownOperators(NamedTuple):
    """What is known of a stream of events.  attributes: by name; is every value a number?"""

    types: frozenset[str]
    attributes: Mapping[str, bool]


def attributes_read(tables: Sequence[AnyOperatorTable], source: str) -> tuple[str, ...]:
    """The attributes that aggregates of the source read, each once.

    An operator that hands events on as they are hands their attributes on, too.
    """
    below = {source}
    read: list[str] = []
    for number, table in enumerate(tables):
        before = (tables[number - 1].name,) if number else (source,)
        if below.isdisjoint(table.inputs or before):
            continue
        if isinstance(table, SelectivityTable):
            below.add(table.name)
        elif isinstance(table, GatherTable):
            read += [table.group] if table.group and table.group not in OF_ALL else []
        elif isinstance(table, AggregateTable):
            read += [name for name in (table.group, table.of) if name and name not in OF_ALL]
    return tuple(dict.fromkeys(read))


def graph_of(
    tables: Sequence[AnyOperatorTable], sources: Mapping[str, Sequence[Arrival]], wrong: Wrong
) -> Graph:
    """The graph from the sources through the operators to the output.

    Raises `wrong` for a table that does not fit the events or the tables before it.
    """
    known = {name: _known(events) for name, events in sources.items()}
    longest = {
        "time": (max(sum(a.gap for a in events) for events in sources.values()), "time units"),
        "count": (sum(map(len, sources.values())), "events"),
    }
    nodes: list[tuple[str, Any]] = [(name, SOURCE) for name in sources]
    edges: list[tuple[str, str]] = []
    for number, table in enumerate(tables):

        def wrong_here(key: str, what: str, at: int = number) -> Invalid:
            return wrong(("operators", at, key), what)

        inputs = table.inputs or _default_inputs(tables, number, sources, wrong_here)
        if table.name in (*known, OUTPUT):
            raise wrong_here("name", f"name {table.name!r} is taken; choose another")
        for at in inputs:
            if at not in known:
                fix = nearest(at, list(known))
                raise wrong_here("inputs", f"{table.name}: no input {at!r}{fix}")
        if len(set(inputs)) < len(inputs):
            raise wrong_here("inputs", f"{table.name}: an input is named twice")
        if isinstance(table, AggregateTable):
            spec: Any = _aggregate(table, inputs, known, wrong_here)
        elif isinstance(table, SelectivityTable):
            _check_single("a selectivity", table, inputs, wrong_here)
            spec = Filter(Hashed(table.selectivity, table.name))
        elif isinstance(table, GatherTable):
            _check_single("a gathering operator", table, inputs, wrong_here)
            _check_attribute("group", table.group, known[inputs[0]].attributes, table, wrong_here)
            spec = Triggered(
                (table.gathers,), table.group, "count", emits=table.emits or table.name
            )
        else:
            spec = _cep_operator(table, inputs, known, wrong_here)
        most, unit = longest[table.windows] if isinstance(table, WindowTable) else (0, "")
        if isinstance(table, WindowTable) and table.window > most:
            raise wrong_here(
                "window",
                f"{table.name}: window = {table.window} is longer than the run, which has "
                f"{most} {unit}; give a smaller window or more input",
            )
        nodes.append((table.name, spec))
        edges += [(at, table.name) for at in inputs]
        known[table.name] = _known_after(table, known[inputs[0]])
    fed = {start for start, _ in edges}
    for number, source in enumerate(sources):
        if source not in fed:
            raise wrong(("source", number), f"no operator has the input {source!r}; name it in one")
    edges += [(name, OUTPUT) for name, _ in nodes if name not in fed]
    return Graph((*nodes, (OUTPUT, SINK)), tuple(edges))


def summary(table: AnyOperatorTable) -> str:
    """The operator in a few words, for people."""
    if isinstance(table, PatternTable):
        return f"{table.name}: {table.pattern}"
    if isinstance(table, SelectivityTable):
        return f"{table.name}: {table.selectivity:g} of the events"
    if isinstance(table, GatherTable):
        by = "" if table.group is None else f" by {table.group}"
        return f"{table.name}: one of {table.gathers} events{by}"
    of = "" if table.aggregate == "count" else f" of {table.of}"
    by = "" if table.group is None else f" by {table.group}"
    return f"{table.name}: {table.aggregate}{of}{by}"


def _default_inputs(
    tables: Sequence[AnyOperatorTable],
    number: int,
    sources: TomlTable,
    wrong: Callable[[str, str], Invalid],
) -> tuple[str, ...]:
    """The inputs of an operator that names none: the operator before it, or the only source."""
    if number:
        return (tables[number - 1].name,)
    if len(sources) > 1:
        raise wrong(
            "inputs",
            f"{tables[0].name}: there are several sources; say which with inputs = "
            f"[{', '.join(map(_quote, sources))}], or some of them",
        )
    return tuple(sources)


def _quote(name: str) -> str:
    return f'"{name}"'


def _check_single(
    what: str,
    table: AnyOperatorTable,
    inputs: Sequence[str],
    wrong: Callable[[str, str], Invalid],
) -> None:
    if len(inputs) > 1:
        raise wrong(
            "inputs", f"{table.name}: {what} has one input; here are {' and '.join(inputs)}"
        )


def _check_attribute(
    key: str,
    name: str | None,
    attributes: Mapping[str, bool],
    table: AnyOperatorTable,
    wrong: Callable[[str, str], Invalid],
) -> None:
    if name is not None and name not in attributes:
        fix = nearest(name, sorted(attributes))
        raise wrong(key, f"{table.name}: {key}: no event has the attribute {name!r}{fix}")


def _known(events: Sequence[Arrival]) -> KnownOperators:
    attributes: dict[str, bool] = {}
    names = frozenset(name for arrival in events for name, _ in arrival.data)
    for name in names:
        values = [dict(arrival.data).get(name) for arrival in events]
        attributes[name] = all(isinstance(value, int | float) for value in values)
    return KnownOperators(frozenset(arrival.type for arrival in events), {**attributes, **OF_ALL})


def _known_after(table: AnyOperatorTable, before: KnownOperators) -> KnownOperators:
    """What is known of the outputs of an operator (model.boxes.aggregate, model.cep.operator)."""
    if isinstance(table, SelectivityTable):
        return before
    attributes: dict[str, bool] = {}
    if isinstance(table, GatherTable):
        attributes["value"] = True
        if table.group is not None:
            attributes[table.group] = before.attributes[table.group]
    if isinstance(table, AggregateTable):
        attributes["value"] = table.aggregate != "list"
        if table.windows == "time":
            attributes["start"] = True
        if table.group is not None:
            attributes[table.group] = before.attributes[table.group]
    return KnownOperators(frozenset({table.emits or table.name}), {**attributes, **OF_ALL})


def _cep_operator(
    table: PatternTable,
    inputs: Sequence[str],
    known: Mapping[str, KnownOperators],
    wrong: Callable[[str, str], Invalid],
) -> Operator:
    coming = frozenset[str]().union(*(known[at].types for at in inputs))
    try:
        one_run = table.runs == "one" and table.strategy != "any"  # which follows every choice
        search = Search(table.strategy, table.skip, table.consumes, one_run)
        engine = parsed(table.pattern, search, coming)
    except Invalid as error:
        raise wrong("pattern", f"{table.name}: {error}") from None
    kind = TimeWindows if table.windows == "time" else CountWindows
    splitter = kind(table.window, table.slide)
    return Operator(engine, splitter, table.emits or table.name, table.parallel)


def _aggregate(
    table: AggregateTable,
    inputs: Sequence[str],
    known: Mapping[str, KnownOperators],
    wrong: Callable[[str, str], Invalid],
) -> Aggregate:
    _check_single("an aggregate", table, inputs, wrong)
    attributes = known[inputs[0]].attributes
    for key, name in (("group", table.group), ("of", table.of)):
        _check_attribute(key, name, attributes, table, wrong)
    if table.aggregate not in ("count", "list") and not attributes[table.of]:
        numbers = [name for name in sorted(attributes) if attributes[name]]
        raise wrong(
            "of",
            f"{table.name}: {table.aggregate} folds numbers, and {table.of!r} is not a number in "
            f"every event; give of = {' or '.join(map(repr, numbers))}",
        )
    return Aggregate(
        table.aggregate,
        table.window,
        table.slide,
        by=table.windows,
        of=table.of,
        group=table.group,
        aligned=table.aligned,
        emits=table.emits or table.name,
        any_closes=table.closes == "watermark",
    )
