"""LOG.io: its lineage queries, its transactions, and its runs against what the paper says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.choices import progress
from model.core import Guarantee, OperatorClass, Property, Send, When
from model.errors import Invalid
from model.events import Body
from model.evidence import Case, Outcome
from model.graph import SINK, SOURCE, Graph
from model.parts import over_words
from model.protocols.log_io.deployment import deploy
from model.protocols.log_io.design import Delivery, Garbage, LogIoDesign, Replaying, Scaling
from model.protocols.log_io.evidence import replicas, scopes
from model.protocols.log_io.evidence.shapes import HOURLY, one, ports
from model.protocols.log_io.lineage.queries import backward, forward
from model.protocols.log_io.log import transact
from model.protocols.log_io.messages import Assign, Commit, CommitAll, Restore, Restored
from model.protocols.log_io.places import LOG
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.tables import ContextRow, LogDatabase, LoggedEvent
from model.system import System
from model.world import World
from proofs.explore.edges import edges
from proofs.explore.explorer import explore

A = Body(1, "a")
TWO_PORTS_OF_HOURS = Case(
    "two ports of hours", ports(HOURLY, ("a", 1), ("a", 1), 1), OperatorClass.ARBITRARY
)
LOSSY = Delivery.LOSSY
ONE, FIRST = Replaying(frozenset({"one"})), Replaying(frozenset({"first"}))
CONTEXT = ContextRow((), (0,), (0,))


def last_worlds(case: Case, *, lineage: bool = True) -> list[World]:
    """The worlds at rest of a scope without its crashes."""
    protocol = PROTOCOL.named("log-io:lineage") if lineage else PROTOCOL
    scope = replace(case.scope, crashes=0)
    system = System(protocol, scope)
    found = dict.fromkeys(after for _, _, after in edges(protocol, scope))
    return [w for w in found if not any(progress(system, w, name) for name in system.sites)]


def tables_of(case: Case, world: World) -> LogDatabase:
    system = System(PROTOCOL.named("log-io:lineage"), case.scope)
    state = world.nodes[system.node_at[LOG]].state
    assert isinstance(state, LogDatabase)
    return state


def test_backward_and_forward_queries_are_inverse() -> None:
    """An input is behind an output just if the output is made of the input, step by step."""
    case, asked = scopes.A_RELAY_AND_BATCHES, 0
    for world in last_worlds(case):
        tables = tables_of(case, world)
        outputs = {row[:3] for row in tables.used if row.receiver == "sink"}
        inputs = {row[:3] for row in tables.assigned if row.sender == "source-reader"}
        for output in outputs:
            for input_ in inputs:
                asked += 1
                assert (input_ in backward(tables, output)) == (output in forward(tables, input_))
    assert asked


def test_an_output_of_a_batch_is_made_of_its_two_inputs() -> None:
    case = scopes.BATCHES
    full = max((tables_of(case, w) for w in last_worlds(case)), key=lambda t: len(t.assigned))
    assert backward(full, ("op", "sink", 1)) == {
        ("source-reader", "op", 1),
        ("source-reader", "op", 2),
    }
    assert forward(full, ("source-reader", "op", 3)) == frozenset()


ROWS = st.builds(
    LoggedEvent,
    st.sampled_from(["r", "s"]),
    st.just("op"),
    st.integers(1, 3),
    st.integers(0, 2),
    st.just(A),
    st.just(False),
)


@given(st.lists(ROWS, max_size=6, unique_by=lambda row: row[:3]), st.integers(1, 2))
def test_a_commit_ends_one_input_set_and_keeps_the_others(
    rows: list[LoggedEvent], inset: int
) -> None:
    outputs = (LoggedEvent("op", "sink", 1, 0, A),)
    tables, effects = transact(
        LogIoDesign(), LogDatabase(tuple(rows)), "op", Commit(outputs, CONTEXT, inset)
    )
    assert effects == ()
    assert {*tables.events} == {row for row in rows if row.inset != inset} | {*outputs}
    kept, _ = transact(
        LogIoDesign(garbage=Garbage.NEVER),
        LogDatabase(tuple(rows)),
        "op",
        Commit(outputs, CONTEXT, inset),
    )
    assert {row[:3] for row in kept.events} == {row[:3] for row in (*rows, *outputs)}
    assert all(row.done == (row.inset == inset) for row in kept.events if row.receiver == "op")


@given(st.lists(ROWS, max_size=6, unique_by=lambda row: row[:4]))
def test_recovery_reads_each_undone_row_once(rows: list[LoggedEvent]) -> None:
    _, (answer,) = transact(LogIoDesign(), LogDatabase(tuple(rows)), "op", Restore())
    assert isinstance(answer, Send)
    found = answer.message
    assert isinstance(found, Restored)
    assert sorted(found.assigned + found.unassigned) == sorted(rows)
    assert all(row.inset for row in found.assigned)
    for sender in ("r", "s"):
        numbers = [row.number for row in found.assigned if row.sender == sender]
        assert numbers == sorted(numbers)


def test_an_assignment_is_of_one_event() -> None:
    rows = (LoggedEvent("r", "op", 1, 0, A), LoggedEvent("r", "op", 2, 0, A))
    tables, _ = transact(LogIoDesign(), LogDatabase(rows), "op", Assign("r", 1, (7,)))
    assert [row.inset for row in tables.events] == [7, 0]


def test_an_event_of_two_input_sets_has_two_rows_and_is_done_in_one() -> None:
    """Section 3.4: "as many entries for e are created in EVENT_LOG"."""
    rows = (LoggedEvent("r", "op", 1, 0, A), LoggedEvent("r", "op", 2, 0, A))
    tables, _ = transact(LogIoDesign(), LogDatabase(rows), "op", Assign("r", 1, (8, 7)))
    assert [row[2:4] for row in tables.events] == [(1, 7), (1, 8), (2, 0)]
    tables, _ = transact(LogIoDesign(), tables, "op", Commit((), CONTEXT, 7))
    assert [row[2:4] for row in tables.events] == [(1, 8), (2, 0)]


def test_a_source_without_an_operator_is_refused() -> None:
    graph = Graph((("source", SOURCE), ("sink", SINK)), (("source", "sink"),))
    with pytest.raises(Invalid, match="give an operator first"):
        System(PROTOCOL, over_words(graph, 1))


def test_the_log_and_the_outputs_agree_in_every_world() -> None:
    """What a sink has shown is logged, or was logged and done: never an output of nothing."""
    protocol, scope = PROTOCOL, one(scopes.A_RELAY.scope.graph.specs["op"], 2, crashes=1)
    system = System(protocol, scope)
    for _, _, world in edges(protocol, scope):
        tables = world.nodes[system.node_at[LOG]].state
        (outputs,) = world.outputs
        context = dict(tables.contexts).get("op", CONTEXT)
        assert len(outputs) <= context.sent[0]


def test_a_property_that_no_run_has_is_refuted() -> None:
    """The scopes are not empty: each of them has a world in which something was written."""
    silent = Property("nothing is written", When.ALWAYS, lambda _, seen: not any(seen.outputs))
    for case in (scopes.A_RELAY, scopes.BATCHES_BY_TYPE, scopes.TWO_PORTS_THAT_RACE):
        found = explore(PROTOCOL.vary(properties=(silent,)), case.scope, until=Guarantee.PRECISE)
        assert found.outcome is Outcome.REFUTED


def test_a_crash_between_assignment_and_removal_takes_nothing_twice() -> None:
    """The event is assigned, and still in the connection: Algorithm 2, step 1, discards it."""
    scope = one(scopes.A_RELAY.scope.graph.specs["op"], 1, crashes=1)
    assert explore(PROTOCOL, scope).notes["duplicates discarded"] > 0


@pytest.mark.parametrize(
    ("case", "design", "expected"),
    [
        (
            replicas.A_REPLICA_GOES_AWAY,
            LogIoDesign(scaling=Scaling(), replaying=ONE),
            "no replay operator",
        ),
        (
            replicas.A_REPLICA_GOES_AWAY,
            LogIoDesign(scaling=Scaling(), connection=LOSSY),
            "lasting connections",
        ),
        (scopes.TWO_RELAYS, LogIoDesign(replaying=FIRST, connection=LOSSY), "lasting connections"),
        (TWO_PORTS_OF_HOURS, LogIoDesign(), "Input Sets of op overlap; give it one input"),
    ],
    ids=lambda one: getattr(one, "name", None),
)
def test_choices_that_the_model_does_not_have_together_are_refused(
    case: Case, design: LogIoDesign, expected: str
) -> None:
    with pytest.raises(Invalid, match=expected):
        deploy(design, case.scope)


def test_several_input_sets_are_done_in_one_transaction() -> None:
    """Section 3.5.1, as mended: the outputs of both are logged, the last context is stored, and
    no undone row of the input is left but that of the open window."""
    rows = tuple(LoggedEvent("r", "op", 1, inset, A) for inset in (1, 2, 3))
    outputs = tuple(LoggedEvent("op", "sink", number, 0, A) for number in (1, 2))
    contexts = (CONTEXT, CONTEXT._replace(last=(1,)))
    commits = tuple(
        Commit((output,), context, inset)
        for inset, (output, context) in enumerate(zip(outputs, contexts, strict=True), 1)
    )
    tables, effects = transact(LogIoDesign(), LogDatabase(rows), "op", CommitAll(commits))
    assert effects == ()
    assert tables.events == (*outputs, rows[2])
    assert tables.contexts == (("op", contexts[1]),)
