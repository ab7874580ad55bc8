"""Lineage queries over the log, and the property that its rows are true.

Rule of this file: tables are read here, never written.
LOG.io, Section 3.5 and Section 7 (backward and forward queries).
"""

from __future__ import annotations

from typing import TypeAlias

from model.core import NodeName, Observation, Property, Scope, When
from model.graph import SINK
from model.protocols.log_io.places import LOG
from model.protocols.log_io.tables import Tables, Used

Port: TypeAlias = tuple[NodeName, NodeName, int]
"""An event: sender, receiver, number."""


def inputs_of_set(tables: Tables, node: NodeName, inset: int) -> frozenset[Port]:
    """The events that were assigned to an Input Set of the node."""
    return frozenset(
        row[:3] for row in tables.assigned if row.receiver == node and row.inset == inset
    )


def backward(tables: Tables, event: Port) -> frozenset[Port]:
    """The events that no operator generated, and of which this one was made, step by step."""
    sets = [row for row in tables.used if row[:3] == event]
    if not sets:
        return frozenset({event})
    found = [inputs_of_set(tables, row.sender, row.inset) for row in sets]
    return frozenset().union(*(backward(tables, one) for events in found for one in events))


def forward(tables: Tables, event: Port) -> frozenset[Port]:
    """The events that this one went into, step by step."""
    sets = {(row.receiver, row.inset) for row in tables.assigned if row[:3] == event}
    made = {row[:3] for row in tables.used if (row.sender, row.inset) in sets}
    return frozenset(made).union(*(forward(tables, one) for one in made))


def _is_true(tables: Tables, row: Used) -> bool:
    named = {(sender, number) for sender, _, number in inputs_of_set(tables, row.sender, row.inset)}
    return named == row.really


def _true_and_whole(scope: Scope, seen: Observation) -> bool:
    """Every row names the inputs that were used, and every output of a sink has its row."""
    tables = dict(seen.states)[LOG]
    sinks = [name for name, spec in scope.graph.nodes if spec is SINK]
    for sink, outputs in zip(sinks, seen.outputs, strict=False):
        preds = scope.graph.preds(sink)
        expected = [(preds[edge], sink) for edge, *_ in outputs]
        rows = [row[:2] for row in tables.used if row.receiver == sink]
        if sorted(expected) != sorted(rows):
            return False
    return all(_is_true(tables, row) for row in tables.used)


LINEAGE = Property(
    "at rest, lineage has a row for each output, and names the inputs that were used",
    When.QUIESCENT,
    _true_and_whole,
    nodes=True,
)
