"""What the methods of a log promise one by one, and what they refuse."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_check.log_io.library import (
    ActionInfo,
    Connection,
    Context,
    Event,
    InputSet,
    InputSetGone,
    Log,
    LogError,
    Scope,
    StateInfo,
    capture,
    execute_writes,
    write_action,
)
from tests.families.log_io.library.tables import all_rows, log_outputs, store_knowing

IN = Connection("a", "out", "b", "in")
FIRST = Event(*IN, 1, b"first", b"header")
READ = ActionInfo("a", "till", 1, "read")
NEW = Context()


class Words:
    """An external system that keeps what it has executed."""

    def __init__(self, done: tuple[int, ...] = ()) -> None:
        self.executed: list[int] = []
        self.asked: list[int] = []
        self.done = done

    def execute(self, write: Event) -> None:
        self.executed.append(write.number)

    def is_done(self, write: Event) -> bool:
        self.asked.append(write.number)
        return write.number in self.done


def logged(log: Log, *events: Event) -> None:
    log_outputs(log, *events)


def test_an_event_comes_back_as_it_was_logged(place: str) -> None:
    with Log(place) as log:
        logged(log, FIRST)
        assert log.fetch_new_events("b") == ([FIRST], False)
        assert log.fetch_resend_events("a") == [FIRST]
        assert log.assign_in_sets(FIRST, [InputSet(3), InputSet(1, "tea")], NEW.order_of(FIRST))
        assert log.fetch_new_events("b") == ([], False)
        assert log.fetch_resend_events("a") == []
        replays = log.fetch_ack_events("b", Context())
        assert [one[:2] for one in replays] == [(FIRST, (1, "tea")), (FIRST, (3, ""))]


def test_an_event_is_logged_once(place: str) -> None:
    with Log(place) as log:
        logged(log, FIRST)
        before = all_rows(log)
        with pytest.raises(Exception, match=r"(?i)unique"):
            logged(log, replace_number(FIRST, 2), FIRST)
        assert all_rows(log) == before


def replace_number(event: Event, number: int) -> Event:
    return event._replace(number=number)


def test_the_tables_refuse_rows_that_mean_nothing(place: str) -> None:
    """A write in an Input Set, a state without one, an event without data, a port to nobody."""
    columns = "send_op, send_port, rec_port, event_id, rec_op, inset_id, status, assigned_as"
    insert = f"INSERT INTO event_log ({columns}, inset_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '')"
    with Log(place) as log:
        logged(log, FIRST, write_action("b", "book", 1, b""))
        for values in (
            ("b", "", "book", 1, "b", 1, "undone", 0),
            ("b", "", "", 1, "b", 0, "undone", 0),
            ("a", "out", "in", 7, "b", 0, "undone", 0),
            ("a", "out", "", 1, "b", 0, "undone", 0),
            ("a", "out", "in", 1, "b", 1, "lost", 1),
            ("a", "out", "in", 1, "b", 1, "undone", -1),
        ):
            with pytest.raises(Exception, match=r"(?i)check|foreign"), log.database.transaction():
                log.database.execute(insert, values)


def test_a_restarted_operator_checks_each_pending_write_in_order(place: str) -> None:
    with Log(place) as log:
        logged(log, *(write_action("b", "book", at, b"") for at in (1, 2, 3)))
        system = Words(done=(1,))
        execute_writes(log, "b", {"book": system}, check=True)
        assert (system.asked, system.executed) == ([1, 2, 3], [2, 3])
        assert log.get_write_actions("b") == []


def test_a_write_that_fails_stays_pending_and_stops_the_next(place: str) -> None:
    class Broken(Words):
        def execute(self, write: Event) -> None:
            super().execute(write)
            raise OSError("the system is away")

    with Log(place) as log:
        writes = [write_action("b", "book", at, b"") for at in (1, 2)]
        logged(log, *writes)
        system = Broken()
        with pytest.raises(OSError, match="away"):
            execute_writes(log, "b", {"book": system}, check=False)
        assert (system.asked, system.executed) == ([], [1])
        assert log.get_write_actions("b") == writes


def test_a_read_action_is_dropped_only_when_it_is_done(place: str) -> None:
    with Log(place) as log:
        state = log.get_state_id("a")
        with pytest.raises(LogError, match="was not initialized"):
            log.complete_read_action(READ, b"ref")
        log.initialize_read_action(READ, state, b"{}", Context())
        found = log.get_read_action("a", "till")
        assert found is not None
        assert (found.info, found.complete, found.done, found.reference) == (
            READ,
            False,
            False,
            None,
        )
        log.complete_read_action(READ, b"ref")
        dropped: list[bool] = []
        with pytest.raises(LogError, match="still undone"):
            log.drop_read_action(READ, lambda: dropped.append(True))
        assert not dropped
        log.done_event(Event("a", "till", "a", "", 1, b""))
        found = log.get_read_action("a", "till")
        assert found is not None
        assert (found.complete, found.done, found.reference) == (True, True, b"ref")
        log.drop_read_action(READ, lambda: dropped.append(True))
        log.drop_read_action(READ, lambda: dropped.append(True))  # a crash may repeat it
        found = log.get_read_action("a", "till")
        assert found is not None
        assert found.reference is None
        assert log.get_action_id("a", "till") == 2
        assert log.get_read_action("a", "other") is None


def test_the_context_alone_may_be_updated(place: str) -> None:
    with Log(place) as log:
        assert log.get_proc_state("b") is None
        log.update_context("b", Context(in_sets=1))
        assert log.get_proc_state("b") == (StateInfo("b", 1), b"", Context(in_sets=1))
        with log.begin_transaction() as transaction:
            transaction.store_state(StateInfo("b", 2), b"state", Context(in_sets=2))
        log.update_context("b", Context(in_sets=3))
        assert log.get_proc_state("b") == (StateInfo("b", 2), b"state", Context(in_sets=3))
        assert log.get_state_id("b") == StateInfo("b", 3)
        assert len(log.database.execute("SELECT * FROM state")) == 1


def test_states_are_kept_for_lineage(place: str) -> None:
    with Log(
        place, capture([IN], Scope(("a", "out"), ("b", "book")), writes=[("b", "book")])
    ) as log:
        for _ in range(2):
            with log.begin_transaction() as transaction:
                transaction.store_state(log.get_state_id("b"), b"", Context())
        assert len(log.database.execute("SELECT * FROM state")) == 2


def test_an_input_may_be_done_without_outputs(place: str) -> None:
    for captured in (
        None,
        capture([IN], Scope(("a", "out"), ("b", "book")), writes=[("b", "book")]),
    ):
        with Log(place, captured) as log:
            event = replace_number(FIRST, 2 if captured else 1)
            logged(log, event)
            assert log.assign_in_sets(event, [InputSet(1)], 1)
            log.done_event(event)
            assert log.fetch_ack_events("b", Context()) == []
            rows = log.database.execute("SELECT status FROM event_log")
            assert [row[0] for row in rows] == (["done"] if captured else [])


def test_what_is_refused(place: str) -> None:
    with Log(place) as log:
        logged(log, FIRST)
        with pytest.raises(ValueError, match="numbered from 1"):
            log.assign_in_sets(FIRST, [InputSet(0)], 1)
        with pytest.raises(ValueError, match="give at least one"):
            log.assign_in_sets(FIRST, [], 1)
        with pytest.raises(ValueError, match="one number for two"):
            log.assign_in_sets(FIRST, [InputSet(1, "tea"), InputSet(1, "rice")], 1)
        for key in ("a\x00", "\udcff"):
            with pytest.raises(ValueError, match="can store"):
                log.assign_in_sets(FIRST, [InputSet(1, key)], 1)
        number: Any = 10
        with pytest.raises(TypeError, match="Input Set 1: its key is a text, not 10"):
            log.assign_in_sets(FIRST, [InputSet(1, number)], 1)
        with log.begin_transaction(), pytest.raises(RuntimeError, match="is open"):
            log.done_event(FIRST)
    with pytest.raises(ValueError, match="give FULL"):
        Log("unused.db", synchronous="MAYBE")


def test_only_bytes_are_logged(place: str) -> None:
    """SQLite would keep a text as a text, which recovery could not read."""
    text: Any = "text"
    with Log(place) as log:
        logged(log, FIRST)
        before = all_rows(log)
        with pytest.raises(TypeError, match=r"a.out#2: give bytes, not str"):
            logged(log, FIRST._replace(number=2, body=text))
        with pytest.raises(TypeError, match=r"a.out#2: give bytes"):
            logged(log, FIRST._replace(number=2, header=text))
        with (
            pytest.raises(TypeError, match="state 1 of b: give bytes"),
            log.begin_transaction() as transaction,
        ):
            transaction.store_state(StateInfo("b", 1), text, Context())
        assert all_rows(log) == before
        assert log.fetch_new_events("b") == ([FIRST], False)


@pytest.mark.parametrize("name", ["", "a.b", "a:b", "a#1", "a\nb", "\x1b[31m", "\udcff"])
def test_a_name_that_no_query_could_ask_for_is_refused(place: str, name: str) -> None:
    refused = pytest.raises(ValueError, match="give a name without")
    with Log(place) as log:
        with refused:
            logged(log, FIRST._replace(sender=name))
        with refused:
            logged(log, write_action("b", name or ".", 1, b""))
        with refused:
            log.initialize_read_action(READ._replace(connection=name), StateInfo("a", 1), b"", NEW)
        with refused, log.begin_transaction() as transaction:
            transaction.store_state(StateInfo(name, 1), b"", NEW)
    with refused:
        capture([IN._replace(sender_port=name)])


def test_an_end_of_a_scope_that_does_not_exist_is_refused() -> None:
    scope = Scope(("a", "out"), ("b", "book"))
    assert capture([IN], scope, writes=[("b", "book")]).outputs == {("b", "book")}
    for end in ("typo", "in"):
        with pytest.raises(ValueError, match=f"b.{end}: give an output port"):
            capture([IN], scope._replace(end=("b", end)), writes=[("b", "book")])


def test_a_write_without_a_system_stops_before_the_first_write(place: str) -> None:
    with Log(place) as log:
        writes = [write_action("b", "book", 1, b""), write_action("b", "other", 2, b"")]
        logged(log, *writes)
        system = Words()
        with pytest.raises(LogError, match="b: give an external system for other"):
            execute_writes(log, "b", {"book": system}, check=False)
        assert system.executed == []
        assert log.get_write_actions("b") == writes


def test_a_place_may_be_a_path(tmp_path: Path) -> None:
    with Log(tmp_path / "log.db") as log:
        logged(log, FIRST)


@pytest.mark.parametrize("moved", [True, False])
def test_a_generation_fails_if_its_inputs_have_moved(place: str, moved: bool) -> None:
    """Algorithm 13, step 1.c, excludes Algorithm 3, step 4: the second one waits for the first one,
    and then finds the rows gone (3.5.1)."""
    failed: list[bool] = []
    opened, moves = threading.Event(), threading.Event()

    def generate() -> None:
        with Log(place) as replica:
            opened.set()
            moves.wait(60)
            try:
                with replica.begin_transaction() as transaction:
                    made = Event("b", "out", "c", "in", 1, b"")
                    transaction.log_output_events("b", 1, [made])
                    store_knowing(replica, transaction, "b", FIRST, made, in_sets=1)
            except InputSetGone:
                failed.append(True)

    with Log(place) as log:
        logged(log, FIRST)
        assert log.assign_in_sets(FIRST, [InputSet(1)], 1)
    with Log(place) as dispatcher:  # it is no operator, and has no lease
        thread = threading.Thread(target=generate)
        thread.start()
        assert opened.wait(60)
        with dispatcher.database.transaction():
            if moved:
                dispatcher.database.execute("DELETE FROM event_log")
            moves.set()
        thread.join()
        sent = dispatcher.fetch_new_events("c").events
    assert bool(failed) == moved
    assert bool(sent) != moved


# --- the context ------------------------------------------------------------------------------
NAMES = st.sampled_from(["left", "right"])
CONTEXTS = st.builds(
    Context,
    st.dictionaries(NAMES, st.integers(1, 9)),
    st.dictionaries(NAMES, st.integers(1, 9)),
    st.integers(0, 9),
)


@given(CONTEXTS)
def test_a_context_comes_back_as_it_was_stored(context: Context) -> None:
    assert Context.from_json(context.to_json()) == context


@given(CONTEXTS, st.text("ab"))
def test_an_input_set_has_a_new_number_and_its_key(context: Context, key: str) -> None:
    later, one = context.new_in_set(key)
    assert one == InputSet(context.in_sets + 1, key)
    assert later == replace(context, in_sets=one.number)


@given(st.lists(NAMES, max_size=9), st.integers(1, 3))
def test_inputs_of_all_ports_are_in_one_order(ports: list[str], sets: int) -> None:
    context = Context()
    for place, port in enumerate(ports, 1):
        event = Event("a", "out", "b", port, ports[:place].count(port), b"")
        assert context.order_of(event) == place
        context = context.see(event, [InputSet(at) for at in range(1, sets + 1)])


@given(CONTEXTS, NAMES, st.integers(1, 12), st.integers(0, 3))
def test_an_input_is_seen_once(context: Context, port: str, number: int, sets: int) -> None:
    """A new input is not seen; then all its Input Sets see it at once; then it is no longer new."""
    event = Event("a", "out", "b", port, number, b"")
    assert context.has_seen(event) != context.check_event(event)
    if not context.check_event(event):
        assert number <= context.accepted[port]
        return
    in_sets = [InputSet(context.in_sets + at) for at in range(1, sets + 1)]
    later = context.see(event, in_sets)
    assert later.has_seen(event)
    assert not later.check_event(event)
    assert later.in_sets == context.in_sets + sets
    assert later.check_event(event._replace(number=number + 1))
    later, sent = later.send("out")
    assert sent == later.sent["out"]
