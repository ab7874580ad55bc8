"""Whether lineage is true: its rows against the inputs that each output really used.

Rule of this file: the only reader of ghosts; tables are read here, never written.
LOG.io, Sections 3.1, 3.6 and 7.3.

The properties look at worlds at rest, as properties of states do; `faults` looks at the tables
alone, so that tests ask it of every world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from model.core import Observation, Property, Scope, When
from model.graph import SINK
from model.protocols.log_io.deployment import deploy
from model.protocols.log_io.design import LineageCapture, LogIoDesign, Ports
from model.protocols.log_io.lineage.queries import (
    backward,
    inputs_of,
    relationships,
)
from model.protocols.log_io.lineage.retention import within
from model.protocols.log_io.places import LOG, SERVICE
from model.protocols.log_io.tables import Key, LogDatabase, Used

Check = Callable[[LineageCapture, LogDatabase], Iterator[str]]


def _really(ports: Ports, row: Used) -> frozenset[Key]:
    """The inputs of an output that lineage has to name: those on ports in IN, and read actions."""
    named = ((sender, row.sender, number) for sender, number in row.really)
    return frozenset(one for one in named if one[:2] in ports.ins or one[0] == SERVICE)


def _asked(capture: LineageCapture, tables: LogDatabase) -> tuple[Used, ...]:
    """The outputs whose lineage has to be there: all, or those behind outputs in the retention."""
    if capture.retention is None:
        return tables.truth
    rows = {row[:3]: row for row in tables.truth}
    ends = (key for key in rows if key[:2] in capture.ports.ends)
    waiting = [*within(ends, capture.retention.outputs)]
    found: dict[Key, Used] = {}
    while waiting:
        key = waiting.pop()
        if key in rows and key not in found:
            found[key] = rows[key]
            waiting += _really(capture.ports, rows[key])
    return tuple(found.values())


def is_missing(capture: LineageCapture, tables: LogDatabase) -> Iterator[str]:
    """The outputs that used an input which lineage does not name."""
    made = relationships(tables, capture.ports)
    for row in _asked(capture, tables):
        if not _really(capture.ports, row) <= inputs_of(made, row[:3]):
            yield f"an input of {row[:3]} is missing"


def is_false(capture: LineageCapture, tables: LogDatabase) -> Iterator[str]:
    """The outputs whose lineage names an input that they did not use."""
    made = relationships(tables, capture.ports)
    for row in _asked(capture, tables):
        if not inputs_of(made, row[:3]) <= _really(capture.ports, row):
            yield f"{row[:3]} did not use all that is named"


def is_idle(capture: LineageCapture, tables: LogDatabase) -> Iterator[str]:
    """The rows that are in no relationship (3.1: none is recorded)."""
    made = relationships(tables, capture.ports)
    for row in tables.used:
        if not made.get(row[:3]) and row.sender != row.receiver:
            yield f"the row of {row[:3]} names no input"


def is_unread(_capture: LineageCapture, tables: LogDatabase) -> Iterator[str]:
    """The side-effect reads whose effect is not stored as it was used, or is of no output."""
    stored = {row[:2]: row.value for row in tables.effects}
    named = {(row.receiver, row.number) for row in tables.assigned if row.sender == SERVICE}
    named |= {(row.sender, row.of_number) for row in tables.related if row.of == SERVICE}
    used = {row[:2]: row.value for row in tables.shown if row[:2] in named}
    if used != stored:
        yield f"{used} was read, and {stored} is stored"


def is_bodiless(capture: LineageCapture, tables: LogDatabase) -> Iterator[str]:
    """The events in lineage that have no body in EVENT_DATA."""
    bodies = {row[:3] for row in (*tables.data, *tables.events)}
    for row in _asked(capture, tables):
        for one in backward(tables, row[:3], ports=capture.ports):
            if one[0] != SERVICE and one not in bodies:
                yield f"{one} has no body"


def faults(capture: LineageCapture, tables: LogDatabase, *checks: Check) -> tuple[str, ...]:
    """What is wrong with lineage in these tables."""
    return tuple(fault for check in checks for fault in check(capture, tables))


EXACT: tuple[Check, ...] = (is_missing, is_false, is_unread)


@lru_cache(maxsize=64)
def capture_in(design: LogIoDesign, scope: Scope) -> LineageCapture:
    """The capture of a design with the ports that its scopes mean in the graph."""
    sites = {site.name: site for site in deploy(design, scope).sites}
    capture = sites[LOG].spec.design.lineage
    assert isinstance(capture, LineageCapture)
    return capture


def _is_whole(
    capture: LineageCapture, scope: Scope, seen: Observation, tables: LogDatabase
) -> bool:
    """Is there a row of truth for each output on a port in OUT?  If not, nothing was checked."""
    outs = capture.ports.outs
    known: dict[tuple[str, str], list[int]] = {}
    for row in tables.truth:
        known.setdefault(row[:2], []).append(row.number)
    sent = {
        (node, succ): number
        for node, context in tables.contexts
        for succ, number in zip(scope.graph.succs(node), context.sent, strict=False)
        if (node, succ) in outs
    }
    sinks = [name for name, spec in scope.graph.nodes if spec is SINK]
    for sink, outputs in zip(sinks, seen.outputs, strict=False):
        for edge, pred in enumerate(scope.graph.preds(sink)):
            if (pred, sink) in outs:
                shown = sum(output[0] == edge for output in outputs)
                if shown != len(known.get((pred, sink), ())):
                    return False
    return all(known.get(at, []) == [*range(1, last + 1)] for at, last in sent.items())


def lineage(design: LogIoDesign, name: str, *checks: Check) -> Property:
    """A property of lineage, of all outputs on ports in OUT."""

    def holds(scope: Scope, seen: Observation) -> bool:
        tables = dict(seen.states)[LOG]
        capture = capture_in(design, scope)
        return _is_whole(capture, scope, seen, tables) and not faults(capture, tables, *checks)

    return Property(name, When.QUIESCENT, holds, nodes=True)
