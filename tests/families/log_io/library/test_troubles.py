"""A disk that is full or read-only, a file that is locked, numbers and sizes that no log holds: one
line each, and nothing is half done."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docs.examples.log_io import pipeline
from spark_check.log_io.library import (
    ActionInfo,
    Connection,
    Context,
    Event,
    InputSet,
    Log,
    LogError,
    StateInfo,
    values,
)
from spark_check.log_io.library.sessions import session
from tests.families.log_io.library.children import do_nothing
from tests.families.log_io.library.tables import all_rows, log_outputs

OUT = Connection("a", "out", "b", "in")


def refused(work: Callable[[], object]) -> str:
    """The one line of the LogError."""
    with pytest.raises(LogError) as raised:
        work()
    text = str(raised.value)
    assert text.isprintable()
    assert len(text) <= 300
    return text


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill_until_refused(log: Log, size: int = 20_000) -> tuple[int, str]:
    """The number of the event that was refused, and why."""
    for number in range(1, 1_000):
        try:
            log_outputs(log, Event(*OUT, number, bytes(size)))
        except LogError as error:
            return number, str(error)
    raise AssertionError("the disk is not full")


def test_a_full_disk_loses_only_the_transaction_that_it_refuses(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk, Log(disk / "log.db") as log:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(200_000))
        for _ in range(5):
            before = all_rows(log)
            number, why = fill_until_refused(log) if not before[0] else (len(before[0]) + 1, "")
            kept = all_rows(log)
            with pytest.raises(LogError, match=r"disk is full.*the transaction did not happen"):
                log_outputs(log, Event(*OUT, number, bytes(20_000)))
            assert all_rows(log) == kept
            assert why == "" or ("full" in why and why.isprintable())
        ballast.unlink()
        log_outputs(log, Event(*OUT, number, bytes(20_000)))
        events = log.fetch_new_events("b", 1_000).events
        assert [one.number for one in events] == [*range(1, number + 1)]


def test_a_pipeline_on_a_full_disk_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        place, failures = disk / "log.db", 0
        ballast = disk / "ballast"
        with Log(place, pipeline.captured()):
            pass
        free = 40_000
        while True:  # each run gets a bit further, and ends with one line
            used = sum(one.stat().st_size for one in disk.glob("log.db*") if one.is_file())
            ballast.write_bytes(bytes(max(0, 900_000 - used - free)))
            try:
                with Log(place, pipeline.captured()) as log:
                    pipeline.run(log, tmp_path, do_nothing)
                break
            except LogError as error:
                assert str(error).isprintable()  # noqa: PT017
                failures, free = failures + 1, free + 20_000
            ballast.unlink()
        readings = pipeline.used_readings(tmp_path)
        assert len(readings) == 2
        for name, file in pipeline.BOOKS.items():
            assert (tmp_path / file).read_text().splitlines() == pipeline.expected(readings)[name]


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """Where nothing can be mounted: the system refuses to write beyond a size."""
    with Log(tmp_path / "log.db") as log:
        log_outputs(log, Event(*OUT, 1, b"first"))
        before = all_rows(log)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
        try:
            text = refused(lambda: log_outputs(log, Event(*OUT, 2, bytes(400_000))))
            assert "disk" in text
            assert all_rows(log) == before
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        log_outputs(log, Event(*OUT, 2, bytes(400_000)))
        assert len(log.fetch_new_events("b").events) == 2


def test_a_read_only_medium_takes_no_log(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        Log(disk / "log.db").close()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for name in ("log.db", "new.db"):
            assert str(disk / name) in refused(lambda name=name: Log(disk / name))  # type: ignore[misc]


def test_a_file_that_another_process_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE_S", 0.1)
    with Log(tmp_path / "log.db") as log:
        log_outputs(log, Event(*OUT, 1, b"first"))
        holder = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        text = refused(lambda: log_outputs(log, Event(*OUT, 2, b"second")))
        assert "database is locked: another process" in text
        holder.execute("ROLLBACK")
        log_outputs(log, Event(*OUT, 2, b"second"))
        holder.close()


def test_a_statement_that_failed_is_never_committed_with_the_rest(place: str) -> None:
    """Whoever catches its error cannot commit the other statements."""
    with Log(place) as log:
        before = all_rows(log)

        def catch() -> None:
            with log.begin_transaction() as transaction:
                transaction.log_source_event(Event(*OUT, 1, b""))
                transaction.store_state(StateInfo("a", 1), b"", Context(sent={"out": 1}))
                with pytest.raises(LogError):
                    log.database.execute("SELECT nothing FROM nowhere")

        assert "a statement of the transaction has failed" in refused(catch)
        assert all_rows(log) == before


# --- numbers and sizes ------------------------------------------------------------------------
WRONG = (1.5, "7", True, None, 2**63, 10**5000, -1, np.float64(1))


def calls(log: Log, number: Any) -> Iterator[Callable[[], object]]:
    """Each method with a number, with this one."""
    event = Event(*OUT, 1, b"")

    def logs(event: Event, state: Any, context: Context) -> None:
        with log.begin_transaction() as transaction:
            transaction.log_source_event(event)
            transaction.store_state(StateInfo("a", state), b"", context)

    def ends(in_set: Any) -> None:
        with log.begin_transaction() as transaction:
            transaction.log_output_events("b", in_set, [])

    action = ActionInfo("a", "till", number)
    yield lambda: logs(event._replace(number=number), 1, Context(sent={"out": 1}))
    yield lambda: logs(event, number, Context(sent={"out": 1}))
    yield lambda: logs(event, 1, Context(sent={"out": number}))
    yield lambda: logs(event, 1, Context(in_sets=number))
    yield lambda: log.assign_in_sets(event, [InputSet(1)], number)
    yield lambda: ends(number)
    yield lambda: log.done_event(event._replace(number=number))
    yield lambda: log.initialize_read_action(action, StateInfo("a", 1), b"", Context())
    yield lambda: log.complete_read_action(action, b"")
    yield lambda: log.drop_read_action(action, lambda: None)
    yield lambda: log.update_context("a", Context(accepted={"in": number}))
    yield lambda: log.fetch_new_events("b", number)


@pytest.mark.parametrize("number", WRONG, ids=lambda one: str(type(one)))
def test_a_number_is_an_integer_that_a_column_can_hold(place: str, number: Any) -> None:
    with Log(place) as log:
        before = all_rows(log)
        for call in calls(log, number):
            refused(call)
        assert all_rows(log) == before


def test_integers_of_other_libraries_are_numbers(place: str) -> None:
    with Log(place) as log:
        one: Any = np.int64(1)
        log_outputs(log, Event(*OUT, one, b""))
        (event,) = log.fetch_new_events("b", one).events
        assert type(event.number) is int
        assert log.assign_in_sets(event, [InputSet(one)], one)


def test_a_body_that_no_database_holds_is_refused_before_it_is_sent(place: str) -> None:
    with Log(place) as log:
        size = values.MOST_BYTES + 1
        assert "500,000,001 bytes" in refused(lambda: log_outputs(log, Event(*OUT, 1, bytes(size))))
        log_outputs(log, Event(*OUT, 1, b"small"))
        assert log.fetch_new_events("b").events[0].body == b"small"
