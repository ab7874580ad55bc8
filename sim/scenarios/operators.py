"""The graph of a scenario, built of its [[operators]] and of what is known of its events.

Rule of this file: no event passes through an operator here; types and attributes follow from the
tables alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import Filter, Union
from model.boxes.triggered import Triggered
from model.cep.box import CepBox
from model.cep.engines import Engine, Partitioned
from model.cep.operator import Operator
from model.cep.stateless import joining, passing
from model.cep.windows import CountWindows, TimeWindows
from model.core import Arrival
from model.errors import Invalid, nearest
from model.graph import SINK, SOURCE, Graph
from model.predicates import ANYTHING, Hashed, Predicate
from sim.inputs.conditions import check_attributes, condition
from sim.inputs.streams import Search, conditions_of, parsed
from sim.scenarios.attributes import KnownOperators, known_after, known_of, together
from sim.scenarios.tables import (
    AggregateTable,
    AnyOperatorTable,
    GatherTable,
    JoinTable,
    PatternTable,
    SelectivityTable,
    UnionTable,
    WhereTable,
    WindowTable,
)
from sim.scenarios.toml_lines import Path as Key
from sim.toml_values import TomlTable

OUTPUT = "sink"
"""The name of the end of every scenario's graph."""

Wrong = Callable[[Key, str], Invalid]
"""The error about the key."""


class Form(Enum):
    """How operators are given to a protocol: some run CEP operators alone, some run boxes, and a
    CEP operator with several inputs is a box behind the merge of these."""

    AS_WRITTEN = "patterns are CEP operators, all others are boxes"
    CEP = "filters, unions and joins are CEP operators, too"
    BOXES = "patterns over several inputs are boxes, too"


def graph_of(
    tables: Sequence[AnyOperatorTable],
    sources: Mapping[str, Sequence[Arrival]],
    wrong: Wrong,
    form: Form = Form.AS_WRITTEN,
) -> Graph:
    """The graph from the sources through the operators to the output.

    Raises `wrong` for a table that does not fit the events or the tables before it.
    """
    known = {name: known_of(events) for name, events in sources.items()}
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
        coming = [known[at] for at in inputs]
        spec = _spec(table, coming, form, wrong_here)
        most, unit = longest[table.windows] if isinstance(table, WindowTable) else (0, "")
        if isinstance(table, WindowTable) and table.window > most:
            raise wrong_here(
                "window",
                f"{table.name}: window = {table.window} is longer than the run, which has "
                f"{most} {unit}; give a smaller window or more input",
            )
        nodes.append((table.name, spec))
        edges += [(at, table.name) for at in inputs]
        known[table.name] = known_after(table, coming)
    fed = {start for start, _ in edges}
    for number, source in enumerate(sources):
        if source not in fed:
            raise wrong(("source", number), f"no operator has the input {source!r}; name it in one")
    edges += [(name, OUTPUT) for name, _ in nodes if name not in fed]
    return Graph((*nodes, (OUTPUT, SINK)), tuple(edges))


def summary(table: AnyOperatorTable) -> str:
    """The operator in a few words, for people."""
    match table:
        case PatternTable(name=name, pattern=pattern):
            return f"{name}: {pattern}{_by(table.group)}"
        case SelectivityTable(name=name, selectivity=share):
            return f"{name}: {share:g} of the events"
        case GatherTable(name=name, gathers=number):
            return f"{name}: one of {number} events{_by(table.group)}"
        case WhereTable(name=name, where=where):
            return f"{name}: where {where}"
        case UnionTable(name=name):
            return f"{name}: union"
        case JoinTable(name=name, on=on):
            return f"{name}: join{'' if on is None else f' on {on}'}"
        case AggregateTable(name=name, aggregate=fold):
            of = "" if fold == "count" else f" of {table.of}"
            return f"{name}: {fold}{of}{_by(table.group)}"


def _by(group: str | None) -> str:
    return "" if group is None else f" by {group}"


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


def _spec(
    table: AnyOperatorTable,
    inputs: Sequence[KnownOperators],
    form: Form,
    wrong: Callable[[str, str], Invalid],
) -> Any:
    """The operator; of several inputs it takes the events in the order of their times."""
    coming = together(inputs)
    spec: Any
    match table:
        case AggregateTable():
            spec = _aggregate(table, coming.attributes, wrong)
        case PatternTable():
            operator = _pattern(table, coming, wrong)
            if len(inputs) == 1 or form is not Form.BOXES:
                return operator
            spec = CepBox(operator)
        case GatherTable(gathers=number, group=group):
            _check_attribute("group", group, coming.attributes, table, wrong)
            spec = Triggered((number,), group, "count", emits=table.emits or table.name)
        case JoinTable():
            return _join(table, inputs, form, wrong)
        case UnionTable():
            if len(inputs) == 1:
                raise wrong("inputs", f"{table.name}: a union has two inputs or more; here is one")
            return passing(ANYTHING) if form is Form.CEP else Ordered(Union())
        case SelectivityTable() | WhereTable():
            predicate = _filter(table, coming.attributes, wrong)
            if form is Form.CEP:
                return passing(predicate)
            spec = Filter(predicate)
    return spec if len(inputs) == 1 else Ordered(spec)


def _filter(
    table: SelectivityTable | WhereTable,
    attributes: Mapping[str, bool],
    wrong: Callable[[str, str], Invalid],
) -> Predicate:
    if isinstance(table, SelectivityTable):
        return Hashed(table.selectivity, table.name)
    try:
        found = condition(table.where)
        check_attributes(found, attributes)
    except Invalid as error:
        raise wrong("where", f"{table.name}: where: {error}") from None
    return found


def _join(
    table: JoinTable,
    inputs: Sequence[KnownOperators],
    form: Form,
    wrong: Callable[[str, str], Invalid],
) -> Operator | Ordered:
    """A join; a CEP operator only if the types of the events say from which input they are."""
    if len(inputs) != 2:
        raise wrong("inputs", f"{table.name}: a join has two inputs; here are {len(inputs)}")
    left, right = inputs
    for one in inputs:
        _check_attribute("on", table.on, one.attributes, table, wrong)
    emits = table.emits or table.name
    if form is Form.CEP and left.types.isdisjoint(right.types):
        return joining(left.types, table.join, table.on, emits)
    return Ordered(Join(table.join, table.on, emits=emits, flat=True))


def _pattern(
    table: PatternTable, coming: KnownOperators, wrong: Callable[[str, str], Invalid]
) -> Operator:
    _check_attribute("group", table.group, coming.attributes, table, wrong)
    try:
        one_run = table.runs == "one" and table.strategy != "any"  # which follows every choice
        search = Search(table.strategy, table.skip, table.consumes, one_run)
        engine: Engine = parsed(table.pattern, search, coming.types)
        for predicate in conditions_of(table.pattern):
            check_attributes(predicate, coming.attributes)
    except Invalid as error:
        raise wrong("pattern", f"{table.name}: {error}") from None
    if table.group is not None:
        engine = Partitioned(engine, table.group)
    kind = TimeWindows if table.windows == "time" else CountWindows
    splitter = kind(table.window, table.slide)
    return Operator(engine, splitter, table.emits or table.name, table.parallel)


def _aggregate(
    table: AggregateTable,
    attributes: Mapping[str, bool],
    wrong: Callable[[str, str], Invalid],
) -> Aggregate:
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
