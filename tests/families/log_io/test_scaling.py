"""LOG.io's replicas that come and go: transactions of the dispatcher, and the crash points."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.box import Item, Of
from model.core import OperatorClass, Send
from model.errors import Invalid
from model.events import Body
from model.graph import Graph
from model.protocols.log_io.deployment import deploy
from model.protocols.log_io.design import LogIoDesign, Replicas, Scaling
from model.protocols.log_io.evidence import replicas
from model.protocols.log_io.evidence.shapes import TWO
from model.protocols.log_io.log import transact
from model.protocols.log_io.messages import Assign, Commit, Restore
from model.protocols.log_io.operators.logic import logic_of
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.scaling.keyed import (
    STATE,
    Keyed,
    KeyedState,
    KeyPart,
    MovedState,
    moved_state,
)
from model.protocols.log_io.scaling.messages import Choose, Chosen, Move, Resent
from model.protocols.log_io.tables import ContextRow, LogDatabase, LoggedEvent
from proofs.explore.explorer import explore

DISPATCHER, STAYS, LEAVES, MERGER, _ = Replicas()
BEFORE, AFTER = ContextRow((), (0,), (0, 0)), ContextRow((), (0,), (1, 0), alone=True)
WAITS = LogIoDesign(scaling=Scaling(in_turn=True))
INPUT = LoggedEvent(DISPATCHER, LEAVES, 2, 0, Body(2, "b"))
OUTPUT = LoggedEvent(LEAVES, MERGER, 1, 0, Body(1, "b"))
MOVE = Move(LEAVES, STAYS, (INPUT,), 1, AFTER)

ROWS = st.builds(
    LoggedEvent,
    st.just(DISPATCHER),
    st.sampled_from([STAYS, LEAVES]),
    st.integers(1, 3),
    st.integers(0, 2),
    st.sampled_from([Body(time, "b") for time in (1, 2, 3)]),
    st.just(False),
)


def tables(*rows: LoggedEvent) -> LogDatabase:
    return LogDatabase(tuple(sorted(rows)), ((DISPATCHER, BEFORE),))


@given(st.lists(ROWS, max_size=6, unique_by=lambda row: row[:3]))
def test_a_move_keeps_every_undone_event_and_its_order(rows: list[LoggedEvent]) -> None:
    design, before = LogIoDesign(scaling=Scaling()), tables(*rows)
    _, (answer,) = transact(design, before, DISPATCHER, Choose(LEAVES))
    assert isinstance(answer, Send)
    chosen: Chosen = answer.message
    move = Move(LEAVES, STAYS, chosen.rows, 4, AFTER)
    after, (answer,) = transact(design, before, DISPATCHER, move)
    assert isinstance(answer, Send)
    moved: Resent = answer.message
    wanted = [row.body for row in sorted(rows) if row.receiver == LEAVES]
    assert [row.body for row in moved.rows] == wanted
    assert [row.number for row in moved.rows] == [*range(4, 4 + len(wanted))]
    assert all(not row.inset for row in moved.rows)
    kept = {row for row in rows if row.receiver == STAYS}
    assert {*after.events} == kept | {*moved.rows}


def test_a_move_waits_for_the_outputs_of_the_replica() -> None:
    before, effects = transact(WAITS, tables(INPUT, OUTPUT), DISPATCHER, MOVE)
    assert effects == ()
    assert before.events == tables(INPUT, OUTPUT).events
    after, (answer,) = transact(WAITS, before, MERGER, Assign(LEAVES, 1, (1,)))
    assert answer == Send(DISPATCHER, Resent((LoggedEvent(DISPATCHER, STAYS, 1, 0, INPUT.body),)))
    assert dict(after.contexts)[DISPATCHER] == AFTER


def test_a_move_that_waits_ends_with_its_node() -> None:
    """A transaction of the life before would undo what the dispatcher stores after it."""
    waiting, _ = transact(WAITS, tables(INPUT, OUTPUT), DISPATCHER, MOVE)
    restarted, _ = transact(WAITS, waiting, DISPATCHER, Restore())
    other, _ = transact(WAITS, waiting, MERGER, Restore())
    assert other.waiting == waiting.waiting
    after, effects = transact(WAITS, restarted, MERGER, Assign(LEAVES, 1, (1,)))
    assert effects == ()
    assert dict(after.contexts)[DISPATCHER] == BEFORE


@pytest.mark.parametrize("there", [0, 1, 2])
def test_a_generation_fails_unless_its_whole_input_set_is_there(there: int) -> None:
    rows = [LoggedEvent(DISPATCHER, STAYS, n, 7, Body(n, "b")) for n in (1, 2)][:there]
    commit = Commit((), BEFORE, 7, asks=2)
    after, (answer,) = transact(WAITS, tables(*rows), STAYS, commit)
    assert isinstance(answer, Send)
    assert answer.message.succeeds == (there == 2)
    assert len(after.events) == (0 if there == 2 else there)


# --- the global state of a replica -----------------------------------------------------------
def with_state(*rows: LoggedEvent, last: int) -> LogDatabase:
    """The log of a replica whose stored state of the key has seen inputs up to a number."""
    state = KeyedState((KeyPart("a", "other"), KeyPart("b", "one")))
    context = ContextRow(state, (last,), (0,))
    return LogDatabase(tuple(sorted(rows)), ((DISPATCHER, BEFORE), (LEAVES, context)))


def moved(before: LogDatabase, *numbers: int) -> tuple[LogDatabase, tuple[LoggedEvent, ...]]:
    """The log after the move of these undone events and of the state, and the rows that moved."""
    rows = tuple(row for row in before.events if row.number in numbers)
    move = Move(LEAVES, STAYS, rows, 7, AFTER, "b")
    after, (answer,) = transact(LogIoDesign(scaling=Scaling()), before, DISPATCHER, move)
    assert isinstance(answer, Send)
    return after, answer.message.rows


def test_a_state_moves_before_the_undone_events_and_names_those_that_it_has_seen() -> None:
    undone = [LoggedEvent(DISPATCHER, LEAVES, n, n, Body(n, "b")) for n in (2, 3, 4)]
    after, (first, *others) = moved(with_state(*undone, last=3), 2, 3, 4)
    assert isinstance(first.body, MovedState)
    assert first.body.part == KeyPart("b", "one", (8, 9))
    assert [row.number for row in (first, *others)] == [7, 8, 9, 10]
    assert [row.body for row in others] == [row.body for row in undone]
    assert dict(after.contexts)[LEAVES].box == KeyedState((KeyPart("a", "other"),))


def test_a_state_that_nobody_has_stored_moves_as_an_empty_one() -> None:
    """The other replica may have an old state of the key, of before its last move."""
    _, (first,) = moved(tables())
    assert isinstance(first.body, MovedState)
    assert first.body.part is None
    keyed = Keyed(logic_of(replicas.LISTS))
    item = Item(0, first.data, frozenset({Of(0, 7)}))
    old = KeyedState((KeyPart("b", "old"),))
    assert keyed.update(old, item, ("b", STATE)).parts == (KeyPart("b", keyed.logic.begin(1)),)


def test_a_state_that_moves_again_before_it_is_taken_has_the_new_numbers() -> None:
    """The stored state is that of before its first move: it stays."""
    state = LoggedEvent(DISPATCHER, LEAVES, 2, 0, moved_state("b", KeyPart("b", "two", (3,))))
    undone = LoggedEvent(DISPATCHER, LEAVES, 3, 0, Body(3, "b"))
    _, rows = moved(with_state(state, undone, last=1), 2, 3)
    first, second = rows
    assert isinstance(first.body, MovedState)
    assert first.body.part == KeyPart("b", "two", (second.number,))


def test_a_replica_whose_events_may_be_in_several_sets_is_refused() -> None:
    with pytest.raises(Invalid, match=r"^log-io: .* give an operator of one function$"):
        deploy(LogIoDesign(scaling=Scaling()), replicas.shared(TWO, "b", 1, 0))


def test_a_replica_that_is_no_share_is_refused() -> None:
    graph = replicas.A_LIST.scope.graph
    nodes = tuple((name, TWO if name == "one" else spec) for name, spec in graph.nodes)
    scope = replace(replicas.A_LIST.scope, graph=Graph(nodes, graph.edges))
    with pytest.raises(Invalid, match="one is a replica of type Functions; give a Share of a box"):
        deploy(LogIoDesign(scaling=Scaling()), scope)


STEPS = (
    *("Traffic", "Deploy", "Deployed", "Add", "Added", "Remove", "Chosen", "Resent", "Prepared"),
    *("Removed", "Updated", "Drained", "Back"),
)
ENDS = ("Remove", "Chosen")
"""Steps of one effect: a crash comes before or after such a step."""


@pytest.mark.slow
def test_every_step_of_both_algorithms_is_a_crash_point_that_is_hit() -> None:
    points: set[str] = set()
    hit: set[str] = set()
    for name in ("log-io:scale-up", "log-io:scale-down-in-turn"):
        protocol = PROTOCOL.named(name)
        for pinned in protocol.evidence.scopes:
            if pinned.quick and pinned.operators is OperatorClass.REPEATABLE:
                found = explore(protocol, pinned.scope)
                points |= {*map(str, found.points)}
                hit |= {*map(str, found.hit)}
    for step in STEPS:
        of_step = {point for point in points if f": on {step} from " in point}
        assert of_step <= hit
        assert of_step or step in ENDS
    assert {point for point in points if point.startswith("controller: ")} <= hit
