"""The ticks of a scenario's sources, and their way through its operators.

Rule of this file: the workload stays as it is but for the ticks, and for the operators to which
ticks come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from model.boxes.stateless import Filter
from model.errors import Invalid
from model.graph import Graph
from model.predicates import Either, Type
from sim.inputs.drawn import Events, last_time
from sim.inputs.streams import TICK, Workload, ticking
from sim.scenarios.operators import Wrong
from sim.scenarios.sources import SourceTable
from sim.scenarios.tables import (
    AggregateTable,
    AnyOperatorTable,
    EventFile,
    RandomStream,
    ScenarioFile,
    SelectivityTable,
    WhereTable,
)


def with_ticks(
    workload: Workload, sources: Sequence[SourceTable], file: ScenarioFile, wrong: Wrong
) -> Workload:
    """The workload with the ticks of its sources.  Raises `wrong`."""
    events, words = dict(workload.events), workload.name
    for name, table, key in sources:
        try:
            events[name] = _add_ticks(table, events[name], file.unit_s)
        except Invalid as error:
            raise wrong((*key, "tick_s"), str(error)) from None
    ticked = [name for name, table, _ in sources if table.tick_s is not None]
    graph = _take_ticks(workload.graph, file.operators, ticked, wrong)
    if ticked:
        words += f"; {sum(map(len, events.values())) - workload.size:,} ticks"
    return replace(workload, name=words, graph=graph, events=events)


def _add_ticks(table: RandomStream | EventFile, events: Events, unit_s: float) -> Events:
    """The events with the ticks of the source: up to its end, or to the first one at its last event
    or later.  Raises Invalid for a tick that is no whole number of units, or for events that look
    like ticks."""
    if table.tick_s is None:
        return events
    every = round(table.tick_s / unit_s)
    if every < 1 or abs(every * unit_s - table.tick_s) > unit_s / 1000:
        raise Invalid(
            f"tick_s = {table.tick_s:g}: ticks come at whole units, and unit_s is {unit_s:g}; give "
            f"{max(1, every) * unit_s:g}"
        )
    if any(arrival.type == TICK for arrival in events):
        raise Invalid(f"tick_s: an event has the type {TICK!r}, too; give it another type")
    last = last_time(events)
    until = -(-last // every) * every
    if isinstance(table, RandomStream) and table.seconds is not None:
        until = int(table.seconds / unit_s)
    return ticking(events, every, until)


def _take_ticks(
    graph: Graph, tables: Sequence[AnyOperatorTable], ticked: Collection[str], wrong: Wrong
) -> Graph:
    """The graph whose operators with closes = "timer" close windows by the ticks of the sources
    `ticked`.  An operator hands ticks on if another one below waits for them.

    Raises `wrong` for an operator that waits for ticks and gets none, or gets ticks and has no use
    for them.
    """
    specs = {**graph.specs}
    wanted: set[str] = set()
    for table in reversed(tables):
        if _waits(table) or (_passes(table) and table.name in wanted):
            wanted.update(graph.preds(table.name))
    carrying = set(ticked)
    for number, table in enumerate(tables):
        name, inputs = table.name, graph.preds(table.name)
        ticks = not carrying.isdisjoint(inputs)
        if _waits(table) and not (ticks and len(inputs) == 1):
            raise wrong(
                ("operators", number, "closes"),
                f'{name}: closes = "timer" waits for the ticks of one input; give the source a '
                'tick_s, or closes = "watermark"',
            )
        if not ticks:
            continue
        spec = specs[name]
        if _passes(table) and name in wanted:
            if isinstance(spec, Filter):  # else a CEP operator, which no aggregate runs with
                specs[name] = Filter(Either((Type(TICK), spec.predicate)))
        elif _waits(table):
            specs[name] = replace(spec, any_closes=True, ticks=TICK, hands_on=name in wanted)
        else:
            raise wrong(
                ("operators", number),
                f"{name}: ticks come here and would count as events; only aggregates of one input "
                'with closes = "timer" take ticks, and filters before them; leave tick_s out',
            )
        if name in wanted:
            carrying.add(name)
    return Graph(tuple(specs.items()), graph.edges)


def _passes(table: AnyOperatorTable) -> bool:
    return isinstance(table, SelectivityTable | WhereTable)


def _waits(table: AnyOperatorTable) -> bool:
    return isinstance(table, AggregateTable) and table.closes == "timer"
