"""Lineage of LOG.io: ports of scopes, and rows of transactions, in every world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.stateless import Relay
from model.core import Answer
from model.errors import Invalid
from model.events import Body
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph
from model.parts import over_words
from model.patches import Patched, Reading
from model.protocols.log_io.design import (
    Garbage,
    LineageCapture,
    LineageNames,
    LineageScope,
    LogIoDesign,
    OutputPort,
    Ports,
)
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.lineage import ASSIGNMENTS_GO, ROW_OF_EACH
from model.protocols.log_io.evidence.shapes import PATHS
from model.protocols.log_io.evidence.truth import (
    EXACT,
    capture_in,
    faults,
    is_bodiless,
    is_idle,
    is_missing,
)
from model.protocols.log_io.lineage.ports import paths, ports_of
from model.protocols.log_io.lineage.queries import backward, forward, relationships
from model.protocols.log_io.log import transact
from model.protocols.log_io.messages import Assign, Commit, Executed, ExecutedGroup, Lineage
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.tables import ContextRow, LogDatabase, LoggedEvent, Used
from model.system import System
from tests.families.log_io.lineage_worlds import every_world

EXAMPLE_5 = LineageScope(OutputPort("one"), OutputPort("three"))


# --- capture by scope ------------------------------------------------------------------------
def test_the_scope_of_example_5_has_two_paths() -> None:
    """The connections of Figure 2; (other, two) is OP2.in1, (one, two) is OP2.in2."""
    found = paths(PATHS.edges, EXAMPLE_5)
    assert {*found} == {
        (("one", "two"), ("two", "three"), ("three", "sink")),
        (("one", "three"), ("three", "sink")),
    }
    ports = ports_of(PATHS.edges, (EXAMPLE_5,))
    assert {one for one in ports.ins if one[1] == "two"} == {("one", "two")}
    assert {one for one in ports.ins if one[1] == "three"} == {("one", "three"), ("two", "three")}
    assert ports.outs == {("two", "three"), ("three", "sink")}
    assert ports.ends == {("three", "sink")}


NAMES = st.sampled_from("abcde")
EDGES = st.lists(
    st.tuples(NAMES, NAMES).filter(lambda edge: edge[0] < edge[1]), max_size=8, unique=True
).map(tuple)


@given(EDGES, NAMES, NAMES)
def test_a_connection_is_enabled_just_if_it_lies_on_a_path(
    connections: tuple[tuple[str, str], ...], start: str, end: str
) -> None:
    """By reachability, which knows no paths: the start reaches it, and it reaches the end."""
    reaches = {(name, name) for name in "abcde"}
    for _ in connections:
        reaches |= {(a, c) for a, b in reaches for d, c in connections if b == d}
    ends = any(sender == end for sender, _ in connections)
    ins = {(u, v) for u, v in connections if ends and (start, u) in reaches and (v, end) in reaches}
    outs = {
        (u, v)
        for u, v in connections
        if any(w == u for _, w in ins) and (u == end or (v, end) in reaches)
    }
    scope = LineageScope(OutputPort(start), OutputPort(end))
    if not ins:
        with pytest.raises(Invalid, match="no path"):
            ports_of(connections, (scope,))
        return
    found = ports_of(connections, (scope,))
    assert {*found.ins} == ins
    assert {*found.outs} == outs


def test_two_scopes_enable_pairs_of_ports_that_no_path_has() -> None:
    """Section 3.1 enables sets of ports: a relationship is of any two of them."""
    connections = (("a", "op"), ("b", "op"), ("op", "x"), ("op", "y"))
    scopes = (
        LineageScope(OutputPort("a"), OutputPort("op", "x")),
        LineageScope(OutputPort("b"), OutputPort("op", "y")),
    )
    pairs = {path for scope in scopes for path in paths(connections, scope)}
    ports = ports_of(connections, scopes)
    assert (("a", "op"), ("op", "y")) not in pairs
    assert ("a", "op") in ports.ins
    assert ("op", "y") in ports.outs


def test_a_scope_without_a_path_is_refused() -> None:
    nodes = (("three", SOURCE), ("one", Relay()), ("sink", SINK))
    graph = Graph(nodes, (("three", "one"), ("one", "sink")))
    with pytest.raises(Invalid, match="scope from one to three: no path"):
        System(PROTOCOL.named("log-io:lineage-scope"), over_words(graph, 1))


# --- rows of transactions --------------------------------------------------------------------
A = Body(1, "a")
CONTEXT = ContextRow((), (0,), (0,))
Transact = Callable[[LogIoDesign, LogDatabase, str, Any], Answer]
PORTS = Ports(frozenset({("r", "op"), ("s", "op")}), frozenset({("op", "next")}))


def read_as(*readings: Reading) -> Transact:
    """The transactions of the log, where the paper is read in this way."""
    return Patched("model.protocols.log_io.log", readings, "transact") if readings else transact


def generation(
    design: LogIoDesign, inputs: int, outputs: int, transact: Transact = transact
) -> LogDatabase:
    """The tables after an operator has made so many outputs of so many inputs."""
    tables = LogDatabase(tuple(LoggedEvent("r", "op", at, 0, A) for at in range(1, inputs + 1)))
    for at in range(1, inputs + 1):
        tables, _ = transact(design, tables, "op", Assign("r", at, (1,)))
    really = frozenset(("r", at) for at in range(1, inputs + 1))
    rows = tuple(LoggedEvent("op", "next", at, 0, A) for at in range(1, outputs + 1))
    used = tuple(Used("op", "next", at, 1, really) for at in range(1, outputs + 1))
    after, _ = transact(design, tables, "op", Commit(rows, CONTEXT, 1, Lineage(used)))
    assert isinstance(after, LogDatabase)
    return after


@given(st.integers(1, 5), st.integers(1, 5))
def test_rows_that_name_events_are_a_product_and_those_that_name_sets_a_sum(
    inputs: int, outputs: int
) -> None:
    by_set = generation(LogIoDesign(lineage=LineageCapture(ports=PORTS)), inputs, outputs)
    assert len(by_set.used) + len(by_set.assigned) == outputs + inputs
    assert by_set.related == ()
    by_event = generation(
        LogIoDesign(lineage=LineageCapture(ports=PORTS, names=LineageNames.EVENTS)), inputs, outputs
    )
    assert len(by_event.related) == outputs * inputs
    assert not by_event.used
    assert not by_event.assigned
    assert relationships(by_set) == relationships(by_event)


@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from(Garbage))
def test_the_join_finds_what_garbage_collection_leaves(
    inputs: int, outputs: int, garbage: Garbage
) -> None:
    """Sections 3.6 and 7.3 do not fit each other."""
    design = LogIoDesign(lineage=LineageCapture(ports=PORTS), garbage=garbage)
    tables = generation(design, inputs, outputs, read_as(ASSIGNMENTS_GO))
    found = relationships(tables)[("op", "next", 1)]
    assert len(found) == (inputs if garbage is Garbage.NEVER else 0)


@pytest.mark.parametrize("readings", [(), (ROW_OF_EACH,)])
def test_example_5_an_output_of_the_other_port_alone(readings: tuple[Reading, ...]) -> None:
    """It has a row in the reading of Algorithm 3, step 4.5.b, and a relationship in none."""
    ports = PORTS._replace(ins=frozenset({("s", "op")}))
    tables = generation(LogIoDesign(lineage=LineageCapture(ports=ports)), 2, 1, read_as(*readings))
    assert len(tables.used) == len(readings)
    assert relationships(tables, ports).get(("op", "next", 1), frozenset()) == frozenset()


@pytest.mark.parametrize("readings", [(), (ROW_OF_EACH,)])
def test_example_5_an_output_of_both_ports(readings: tuple[Reading, ...]) -> None:
    """The relationship is with the input on OP2.in2 alone."""
    ports = PORTS._replace(ins=frozenset({("s", "op")}))
    design, transact = LogIoDesign(lineage=LineageCapture(ports=ports)), read_as(*readings)
    tables = LogDatabase((LoggedEvent("r", "op", 1, 0, A), LoggedEvent("s", "op", 1, 0, A)))
    for sender in ("r", "s"):
        tables, _ = transact(design, tables, "op", Assign(sender, 1, (1,)))
    used = Used("op", "next", 1, 1, frozenset({("r", 1), ("s", 1)}))
    output = LoggedEvent("op", "next", 1, 0, A)
    tables, _ = transact(design, tables, "op", Commit((output,), CONTEXT, 1, Lineage((used,))))
    assert relationships(tables) == {("op", "next", 1): {("s", "op", 1)}}


def test_example_7_fills_tables_4_and_5() -> None:
    """Of three events, the first two are in the window of hour H, the second and third in the next
    ones.  Table 4 has the second row of e2 undone, though its Input Set has been used; by step 4 of
    Algorithm 3 it is done."""
    ports = PORTS._replace(outs=frozenset({("OP3", "OP4")}), ins=frozenset({("OP1", "OP3")}))
    design = LogIoDesign(lineage=LineageCapture(ports=ports), garbage=Garbage.NEVER)
    tables = LogDatabase(tuple(LoggedEvent("OP1", "OP3", at, 0, A) for at in (1, 2, 3)))
    for assigned, output in (((1, (1,)), 0), ((2, (1, 2)), 1), ((3, (3,)), 2)):
        tables, _ = transact(design, tables, "OP3", Assign("OP1", *assigned))
        if output:
            rows = (LoggedEvent("OP3", "OP4", output, 0, A),)
            used = Lineage((Used("OP3", "OP4", output, output, frozenset()),))
            tables, _ = transact(design, tables, "OP3", Commit(rows, CONTEXT, output, used))
    log = [(row.sender, row.number, row.inset, row.done) for row in tables.events]
    assert log == [
        ("OP1", 1, 1, True),
        ("OP1", 2, 1, True),
        ("OP1", 2, 2, True),
        ("OP1", 3, 3, False),
        ("OP3", 1, 0, False),
        ("OP3", 2, 0, False),
    ]
    assert [row[:4] for row in tables.used] == [("OP3", "OP4", 1, 1), ("OP3", "OP4", 2, 2)]
    assert backward(tables, ("OP3", "OP4", 1)) == {("OP1", "OP3", 1), ("OP1", "OP3", 2)}
    assert backward(tables, ("OP3", "OP4", 2)) == {("OP1", "OP3", 2)}  # 7.3: not e1
    assert forward(tables, ("OP1", "OP3", 2)) == {("OP3", "OP4", 1), ("OP3", "OP4", 2)}


def test_a_group_of_writes_leaves_the_bodies_that_its_writes_leave_alone() -> None:
    ports = PORTS._replace(outs=frozenset({("op", "sink")}))
    design = LogIoDesign(lineage=LineageCapture(ports=ports))
    logged = LogDatabase(tuple(LoggedEvent("op", "sink", at, 0, A) for at in (1, 2)))
    by_group, _ = transact(design, logged, "op", ExecutedGroup("sink", (1, 2)))
    alone = logged
    for at in (1, 2):
        alone, _ = transact(design, alone, "op", Executed("sink", at))
    assert by_group == alone
    assert [row.number for row in by_group.data] == [1, 2]


# --- every world -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("variant", "case"),
    [
        ("lineage", scopes.A_RELAY),
        ("lineage", scopes.TWO_TYPES),
        ("lineage", scopes.TWO_FUNCTIONS_BY_TYPE),
        ("lineage", scopes.WINDOWS_AND_A_RELAY),
        ("lineage-by-events", scopes.A_RELAY),
        ("lineage-scope", scopes.TWO_PORTS),
        ("lineage-scope", scopes.TWO_PATHS),
        ("lineage-retained", scopes.A_RELAY_AND_A_BATCH),
    ],
    ids=lambda one: getattr(one, "name", None),
)
def test_lineage_is_true_in_every_world(variant: str, case: Case) -> None:
    """Not only at rest: each transaction leaves true rows.  A read is stored before it is used, so
    its effect is looked at at rest alone."""
    protocol = PROTOCOL.named(f"log-io:{variant}")
    design, found = protocol.design, 0
    small = replace(case.scope, crashes=1)
    capture = capture_in(design, small)
    for tables in {*every_world(protocol, small)}:
        checks = (is_missing, EXACT[1], is_idle, is_bodiless)
        assert faults(capture, tables, *checks) == ()
        found += len(relationships(tables))
    assert found


def test_what_a_function_says_it_used_is_what_its_output_shows() -> None:
    """Without ghosts: an aggregate lists the times of its inputs, with crashes."""
    protocol = PROTOCOL.named("log-io:lineage-by-function")
    shown = 0
    for tables in {*every_world(protocol, scopes.AN_AGGREGATE_THAT_CRASHES_ONCE.scope)}:
        rows = (tables.events, tables.data)
        bodies = {
            (one.sender, one.receiver, one.number): one.body
            for rs in rows
            for one in rs
            if one.body is not None
        }
        for output, inputs in relationships(tables).items():
            times = tuple(sorted(bodies[one].time for one in inputs))
            assert ("value", times) in bodies[output].data
            shown += len(times) > 1
    assert shown
