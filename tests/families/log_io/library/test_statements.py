"""Which statements a step executes, alone and in a group commit, and how often it waits for
PostgreSQL: the page's table is true."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.log_io import BODY, INPUTS, LINEAGE, OUTPUTS, context_after, log_inputs
from spark_check.log_io.library import (
    Capture,
    Context,
    Event,
    InputSet,
    InputSetGone,
    Log,
    LogError,
    waiting,
)
from spark_check.log_io.library.guard import accounts
from spark_check.log_io.library.transaction import ASSIGN
from spark_check.log_io.library.values import Key, StateInfo
from spark_check.log_io.library.waiting import WaitingRows
from tests.families.log_io.library.conftest import Fresh
from tests.families.log_io.library.tables import all_rows

PAGE = Path(__file__).parents[4] / "docs" / "examples" / "log_io" / "README.md"
STEPS = 100
NAMES = {
    "BEGIN": "`BEGIN`",
    ASSIGN: "assign the input: `UPDATE event_log`",
    waiting.DELETE_INPUTS: "end the Input Set: `DELETE FROM event_log ... RETURNING`",
    waiting.KEEP_INPUTS: "end the Input Set: `UPDATE event_log ... RETURNING`",
    waiting.INSERT_DATA: "log the output: `INSERT INTO event_data`",
    waiting.INSERT_EVENT: "log the output: `INSERT INTO event_log`",
    waiting.INSERT_LINEAGE: "log its lineage: `INSERT INTO event_lineage`",
    waiting.DELETE_DATA: "forget the input: `DELETE FROM event_data`",
    waiting.REPLACE_STATE: "replace the state: `INSERT INTO state`",
    waiting.ADD_STATE: "add the state: `INSERT INTO state`",
    accounts.ADD: "count the rows, check the lease: `UPDATE log_account`",
    "COMMIT": "`COMMIT`",
}
TRIPS = "round trips to PostgreSQL"


class Counted:
    """A log with some inputs, and the statements that were executed since."""

    def __init__(self, place: str, capture: Capture = LINEAGE, inputs: int = STEPS) -> None:
        self.statements: Counter[str] = Counter()
        self.log = Log(place, capture, watch=self.watch, clock=lambda: 0.0)
        self.log.get_state_id("op")  # reads a table, once
        self.inputs = log_inputs(self.log, inputs)
        self.statements.clear()

    def __enter__(self) -> Log:
        return self.log

    def __exit__(self, *_error: object) -> None:
        self.log.close()

    def watch(self, statement: str) -> None:
        self.statements[statement] += 1


def alone(log: Log, inputs: Sequence[Event]) -> None:
    """One step, which is two transactions."""
    one = inputs[0]
    assert log.assign_in_sets(one, [InputSet(one.number)], one.number)
    with log.begin_transaction() as transaction:
        transaction.log_output_events("op", one.number, [Event(*OUTPUTS, one.number, BODY)])
        transaction.store_state(log.get_state_id("op"), b"state", context_after(one.number))


def grouped(log: Log, inputs: Sequence[Event]) -> None:
    """All steps in one transaction."""
    with log.begin_transaction() as transaction:
        for one in inputs:
            assert transaction.assign_in_sets(one, [InputSet(one.number)], one.number)
            transaction.log_output_events("op", one.number, [Event(*OUTPUTS, one.number, BODY)])
            transaction.store_state(log.get_state_id("op"), b"state", context_after(one.number))


@pytest.mark.parametrize("fresh", ["postgresql"], indirect=True)
def test_the_page_has_the_statements_and_the_round_trips(fresh: Fresh) -> None:
    columns = [
        counted(Counted(fresh(), capture), work)
        for capture in (Capture(), LINEAGE)
        for work in (alone, grouped)
    ]
    rows = [
        f"| {name} | " + " | ".join(str(one[name] or "") for one in columns) + " |"
        for name in (*NAMES.values(), TRIPS)
    ]
    assert "\n".join(rows) in PAGE.read_text("utf-8"), "\n".join(rows)


def counted(one: Counted, work: Callable[[Log, Sequence[Event]], None]) -> Counter[str]:
    """The statements by name, and the round trips."""
    with one as log, tempfile.TemporaryFile("w+") as trace:
        session = log.database.connection.pgconn
        session.trace(trace.fileno())
        work(log, one.inputs)
        session.untrace()
        trace.seek(0)
        trips = len(re.findall(r"\tB\t\d+\tReadyForQuery", trace.read()))
        named = {NAMES[statement]: times for statement, times in one.statements.items()}
    return Counter({**named, TRIPS: trips})


@pytest.mark.parametrize("capture", [Capture(), LINEAGE], ids=["no lineage", "lineage"])
def test_a_group_commit_leaves_the_rows_of_its_steps(fresh: Fresh, capture: Capture) -> None:
    left = []
    for size in (1, 3):
        with Counted(fresh(), capture, 3) as log:
            inputs = log.fetch_new_events("op").events
            for first in range(0, 3, size):
                grouped(log, inputs[first : first + size])
            left.append(all_rows(log))
    assert left[0] == left[1]


# --- rows that wait are never missed ----------------------------------------------------------
def test_a_transaction_reads_its_own_rows(place: str) -> None:
    with Counted(place, inputs=1) as log, log.begin_transaction() as transaction:
        (one,) = log.fetch_new_events("op").events
        assert transaction.assign_in_sets(one, [InputSet(1, "tea")], 1)
        made = Event(*OUTPUTS, 1, BODY)
        transaction.log_output_events("op", 1, [made])
        transaction.store_state(log.get_state_id("op"), b"state", context_after(1))
        assert transaction.assign_in_sets(made, [InputSet(1, "tea")], 1)
        assert [(one.event, one.in_set) for one in log.fetch_ack_events("z", Context())] == [
            (made, (1, "tea"))
        ]
        assert log.fetch_ack_events("op", Context()) == []
        assert log.get_proc_state("op") == (StateInfo("op", 2), b"state", context_after(1))


def test_an_input_set_ends_once(place: str) -> None:
    """It has gone for the transaction that has ended it, or has forgotten its only input."""
    with Counted(place, inputs=4) as log:
        first, second, third, fourth = log.fetch_new_events("op").events
        with log.begin_transaction() as transaction:
            assert transaction.assign_in_sets(first, [InputSet(1)], 1)
            transaction.log_output_events("op", 1, [])
            with pytest.raises(InputSetGone):
                transaction.log_output_events("op", 1, [])
            assert transaction.assign_in_sets(second, [InputSet(2)], 2)
            transaction.done_event(second)
            with pytest.raises(InputSetGone):
                transaction.log_output_events("op", 2, [])
            assert transaction.assign_in_sets(third, [InputSet(3)], 3)
            transaction.log_output_events("op", 3, [])
            assert transaction.assign_in_sets(
                fourth, [InputSet(3)], 4
            )  # the end has been before it
            transaction.store_state(log.get_state_id("op"), b"state", context_after(4))
        assert [one.event for one in log.fetch_ack_events("op", Context())] == [fourth]


def test_a_logged_state_is_no_input(place: str) -> None:
    """An Input Set whose events have moved has gone, with or without the event of its state."""
    with Counted(place, inputs=1) as log:
        with log.begin_transaction() as transaction:
            transaction.log_state_event(StateInfo("op", 7), 1)
            with pytest.raises(InputSetGone):
                transaction.log_output_events("op", 1, [Event(*OUTPUTS, 1, BODY)])
        assert log.fetch_new_events("z").events == []


def test_bytes_are_logged_as_they_were_given(place: str) -> None:
    body: Any = bytearray(b"body")
    with Counted(place, inputs=1) as log:
        with log.begin_transaction() as transaction:
            transaction.log_source_event(Event(*OUTPUTS, 1, body))
            transaction.store_state(log.get_state_id("op"), body, context_after(1))
            body[:] = b"else"
        assert log.fetch_new_events("z").events[0].body == b"body"
        assert log.get_proc_state("op") == (StateInfo("op", 2), b"body", context_after(1))


def test_a_write_that_failed_is_never_committed(place: str) -> None:
    """Whoever catches the error cannot commit the rest."""
    with Counted(place, inputs=1) as log:
        before = all_rows(log)
        with pytest.raises(LogError, match="could not be written"):
            catch_and_go_on(log)
        assert all_rows(log) == before


def catch_and_go_on(log: Log) -> None:
    with log.begin_transaction() as transaction:
        transaction.log_source_event(Event(*OUTPUTS, 1, BODY), Event(*INPUTS, 1, BODY))
        with pytest.raises(Exception, match=r"(?i)unique"):
            log.fetch_new_events("op")


# --- the tests above find faults --------------------------------------------------------------
def never(_self: WaitingRows, _event: Key, _sets: object) -> bool:
    return False


def end_unasked(self: WaitingRows, one: waiting.EndedSet) -> bool:
    """An Input Set is ended without a look at its events."""
    self.end(one)
    return True


def write_and_forget(self: WaitingRows) -> None:
    """The rows that could not be written are left out."""
    try:
        original_write(self)
    finally:
        self._failed = None
        for rows in self._rows.values():
            rows.clear()


original_write = WaitingRows.write
MUTANTS: dict[str, tuple[str, Any, Callable[[str], None]]] = {
    "an assignment overtakes rows": ("concerns", never, test_a_transaction_reads_its_own_rows),
    "an assignment overtakes an end": ("concerns", never, test_an_input_set_ends_once),
    "an end asks nobody": ("end_now", end_unasked, test_an_input_set_ends_once),
    "a state is an input": ("end_now", end_unasked, test_a_logged_state_is_no_input),
    "a failure is forgotten": (
        "write",
        write_and_forget,
        test_a_write_that_failed_is_never_committed,
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_mutant_is_found(mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method, fault, finds = MUTANTS[mutant]
    monkeypatch.setattr(WaitingRows, method, fault)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        finds(str(tmp_path / "log.db"))
