"""Lineage of LOG.io: queries between any two ports, and what retention leaves of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from model.events import Body
from model.protocols.log_io.design import (
    LineageCapture,
    LineageScope,
    LogIoDesign,
    OfState,
    OutputPort,
    Ports,
    Retention,
)
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.shapes import PAIRS, PATHS
from model.protocols.log_io.evidence.shapes import one as of_one
from model.protocols.log_io.evidence.truth import (
    capture_in,
    faults,
    is_bodiless,
    is_missing,
)
from model.protocols.log_io.lineage.queries import backward, forward, relationships
from model.protocols.log_io.log import transact
from model.protocols.log_io.messages import Assign, Commit, Lineage
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.tables import ContextRow, Key, LogDatabase, LoggedEvent, Used
from tests.families.log_io.lineage_worlds import every_world, whole

A = Body(1, "a")
CONTEXT = ContextRow((), (0,), (0,))


# --- queries ---------------------------------------------------------------------------------
def test_a_query_goes_from_any_port_to_any_other() -> None:
    tables = whole("log-io:lineage", scopes.THREE_OPERATORS.scope)
    middle, end = frozenset({("first", "second")}), frozenset({("third", "sink")})
    output: Key = ("third", "sink", 1)
    assert backward(tables, output, middle) == {("first", "second", 1), ("first", "second", 2)}
    assert backward(tables, output) == {
        ("source-reader", "first", 1),
        ("source-reader", "first", 2),
    }
    assert forward(tables, ("first", "second", 2), end) == {output}
    assert forward(tables, ("first", "second", 3), end) == frozenset()
    for one in backward(tables, output, middle):
        assert output in forward(tables, one, end)


def test_a_query_of_a_scope_leaves_other_ports_out() -> None:
    """All ports have rows; Example 5's scope asks for some of them."""
    protocol, scope = PROTOCOL.named("log-io:lineage"), scopes.TWO_PATHS.scope
    small = PROTOCOL.named("log-io:lineage-scope")
    ports = capture_in(small.design, scope).ports
    origins = frozenset((f"{name}-reader", succ) for name, succ in PATHS.edges[:3])
    others = 0
    for tables in {*every_world(protocol, replace(scope, crashes=0))}:
        for output in relationships(tables):
            found = backward(tables, output, origins)
            left = {event for event in found if event[0] != "other-reader"}
            assert backward(tables, output, origins, ports) == left
            others += found != left
    assert others


def test_a_query_goes_through_states() -> None:
    """An aggregate: the second output names the inputs that went into the state before."""
    tables = whole("log-io:lineage-of-state-by-sets", of_one(PAIRS, 3, "a"))
    outputs = sorted(row[:3] for row in tables.used if row.receiver == "sink")
    assert outputs
    inputs = {("source-reader", "op", at) for at in (1, 2)}
    assert inputs <= backward(tables, outputs[0])
    assert all(outputs[0] in forward(tables, one) for one in inputs)


# --- retention -------------------------------------------------------------------------------
TO_END = (LineageScope(OutputPort("source"), OutputPort("second")),)


def test_retention_deletes_what_is_older_and_nothing_else() -> None:
    protocol, scope = PROTOCOL.named("log-io:lineage-retained"), scopes.TWO_RELAYS.scope
    scope = replace(scope, crashes=1)
    finished = [
        tables
        for tables in every_world(protocol, scope)
        if ("second", "sink", 2) in relationships(tables) and all(row.done for row in tables.events)
    ]
    assert finished
    for tables in finished:
        lists = (tables.used, tables.assigned, tables.data)
        assert [{row.number for row in rows} for rows in lists] == [{2}] * 3


@given(st.sets(st.integers(0, 40)), st.integers(1, 3))
def test_a_later_clean_up_deletes_no_more(late: set[int], newest: int) -> None:
    """The rows of events within the window are the same, whenever earlier clean-ups came."""
    capture = LineageCapture(ports=LINE, retention=Retention(newest))
    eager, lazy = (
        LogIoDesign(lineage=capture),
        LogIoDesign(lineage=replace(capture, retention=None)),
    )
    always, sometimes = LogDatabase(), LogDatabase()
    for at, (node, message) in enumerate(TRANSACTIONS):
        always, _ = transact(eager, always, node, message)
        sometimes, _ = transact(eager if at in late else lazy, sometimes, node, message)
        assert {*always.used} <= {*sometimes.used}
        assert {*always.assigned} <= {*sometimes.assigned}
        assert {*always.data} <= {*sometimes.data}
        assert faults(capture, sometimes, is_missing, is_bodiless) == ()


LINE = Ports(
    frozenset({("r", "op"), ("op", "next")}),
    frozenset({("op", "next"), ("next", "end")}),
    ends=frozenset({("next", "end")}),
)


def _through(node: str, before: str, after: str, number: int) -> Iterator[tuple[str, object]]:
    """A relay takes an event and hands it on."""
    yield node, Assign(before, number, (number,))
    rows = (LoggedEvent(node, after, number, 0, A),)
    used = Used(node, after, number, number, frozenset({(before, number)}))
    yield node, Commit(rows, CONTEXT, number, Lineage((used,)))


TRANSACTIONS = [
    one
    for at in range(1, 6)
    for one in (
        ("r", Commit((LoggedEvent("r", "op", at, 0, A),), CONTEXT)),
        *_through("op", "r", "next", at),
        *_through("next", "op", "end", at),
    )
]


def test_nothing_that_a_state_was_made_of_is_older_than_the_retention() -> None:
    """Lineage through states goes back to the first input, so retention deletes none of it."""
    capture = LineageCapture(
        (LineageScope(OutputPort("source"), OutputPort("op")),),
        of_state=OfState.SETS,
        retention=Retention(1),
    )
    base = PROTOCOL.named("log-io:lineage-of-state-by-sets")
    protocol = replace(base, design=LogIoDesign(lineage=capture))
    scope = of_one(PAIRS, 3, "a", crashes=0)
    tables = max(every_world(protocol, scope), key=lambda one: len(one.used))
    assert {row.number for row in tables.data if row.receiver == "op"} == {1, 2, 3}
