"""The way of ticks through the operators of a scenario: who takes them, and who hands them on.

Rule of this file: the graph stays as it is but for the operators to which ticks come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from model.boxes.aggregate import Aggregate
from model.boxes.stateless import Filter
from model.graph import Graph
from model.predicates import Either, Type
from sim.inputs.streams import TICK
from sim.scenarios.operators import Wrong
from sim.scenarios.tables import AggregateTable, AnyOperatorTable, SelectivityTable


def take_ticks(
    graph: Graph, tables: Sequence[AnyOperatorTable], ticked: Collection[str], wrong: Wrong
) -> Graph:
    """The graph whose operators with closes = "timer" close windows by the ticks of the sources
    `ticked`.  An operator hands ticks on if another one below waits for them.

    Raises `wrong` for an operator that waits for ticks and gets none, or gets ticks and has no use
    for them.
    """
    wanted: set[str] = set()
    for table in reversed(tables):
        if _waits(table) or (isinstance(table, SelectivityTable) and table.name in wanted):
            wanted.update(graph.preds(table.name))
    specs = {**graph.specs}
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
        if isinstance(table, SelectivityTable) and name in wanted:
            specs[name] = Filter(Either((Type(TICK), specs[name].predicate)))
        elif _waits(table):
            aggregate: Aggregate = specs[name]
            specs[name] = replace(aggregate, any_closes=True, ticks=TICK, hands_on=name in wanted)
        else:
            raise wrong(
                ("operators", number),
                f"{name}: ticks come here and would count as events; only aggregates of one input "
                'with closes = "timer" take ticks, and shares before them; leave tick_s out',
            )
        if name in wanted:
            carrying.add(name)
    return Graph(tuple(specs.items()), graph.edges)


def _waits(table: AnyOperatorTable) -> bool:
    return isinstance(table, AggregateTable) and table.closes == "timer"
