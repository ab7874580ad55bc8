"""A lock that is lost or not free yet, a number that cannot be written, and the moments between: a
step happens as it is reported, or says so."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from docs.examples.log_io import pipeline
from spark_check.log_io.library import (
    Context,
    Event,
    Log,
    LogError,
    LogInterrupted,
    StateInfo,
)
from spark_check.log_io.library.database import connect
from spark_check.log_io.library.guard import lease
from spark_check.log_io.library.guard.lease_files import LeaseFile, counts, file_of
from spark_check.log_io.library.guard.session_lock import SessionLock
from spark_check.log_io.library.retention import forget_everything
from tests.families.log_io.library.tables import all_rows, log_outputs
from tests.families.log_io.library.test_lease import cut
from tests.families.log_io.library.test_troubles import small_disk
from tests.families.log_io.library.test_wholeness import rows_of

SENT = Event("a", "out", "b", "in", 1, b"body")
LINEAGE = pipeline.captured()
ACCOUNT = "SELECT epoch"
"""The statement that asks who has a lease begins so."""


def is_server(place: str) -> bool:
    return place.startswith("postgresql")


@contextmanager
def lock_of_a(place: str) -> Iterator[LeaseFile | SessionLock]:
    """The lock of an operator, of which the log knows nothing."""
    database = connect(place)
    try:
        yield SessionLock(database, "a") if is_server(place) else LeaseFile(Path(place), "a")
    finally:
        database.close()


# --- not free yet -----------------------------------------------------------------------------
def test_a_lock_without_a_name_is_waited_for(place: str) -> None:
    """Its holder writes its name, or frees the lock, in a moment."""
    Log(place).close()
    with lock_of_a(place) as lock:

        def watch(statement: str) -> None:
            if statement.startswith(ACCOUNT):
                lock.close()

        with Log(place, watch=watch) as log:
            assert log.take("a") == [1]


def test_one_who_waits_does_not_give_up_when_the_holder_dies(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time that it has waited may be longer than a server needs to see the death."""
    monkeypatch.setattr(lease, "GRACE_S", 0.0)
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with Log(place) as log:
        log.take("a")
    with rows_of(place) as execute:
        execute(f"UPDATE log_account SET holder = 'process {gone.pid} on {socket.gethostname()}'")
    with lock_of_a(place) as lock:

        def watch(statement: str) -> None:
            if statement.startswith(ACCOUNT):
                lock.close()

        with Log(place, wait_s=60, watch=watch) as log:
            assert log.take("a") == [2]


def test_a_log_that_nobody_can_reach_holds_no_lease(tmp_path: Path) -> None:
    """The garbage collector finds it in a circle."""
    place = tmp_path / "log.db"
    log = Log(place)
    assert log.take("a") == [1]
    circle: list[object] = [log]
    circle.append(circle)
    del log, circle
    gc.collect()
    with Log(place) as log:
        assert log.take("a") == [2]


# --- lost -------------------------------------------------------------------------------------
def test_a_lock_that_another_session_has_is_lost_at_each_look(place: str) -> None:
    """Also before that session has written its epoch."""
    looks: list[str] = []

    def watch(statement: str) -> None:
        if statement == lease.TAKE:
            for _ in range(3):
                with pytest.raises(LogError) as lost:
                    log.check("a")
                looks.append(str(lost.value))

    with Log(place) as log:
        log.take("a")
        cut(place, log)
        with Log(place, wait_s=30, watch=watch) as other:
            assert other.take("a") == [2]
    cause = "its connection was cut" if is_server(place) else "its file was removed"
    assert looks == [f"a: its lock is lost, since {cause}: start it again"] * 3


@pytest.mark.parametrize("fresh", ["postgresql"], indirect=True)
def test_a_check_takes_the_lock_again_if_its_own_query_had_to_connect(place: str) -> None:
    left: list[int] = []

    def watch(statement: str) -> None:
        if statement.startswith(ACCOUNT) and left:
            left.clear()
            cut(place, log)

    with Log(place, watch=watch) as log:
        log.take("a")
        left.append(1)
        log.check("a")
        assert not left
        with Log(place) as other, pytest.raises(LogError, match="runs it since"):
            other.take("a")


def test_the_number_of_a_state_does_not_outlive_the_lease(place: str) -> None:
    with Log(place, LINEAGE) as log:
        with suppress(ZeroDivisionError), log.begin_transaction():
            assert log.get_state_id("sums") == StateInfo("sums", 1)
            raise ZeroDivisionError
        with Log(place, LINEAGE) as other:
            for _ in range(3):
                store(other)
        store(log)
        assert log.get_state_id("sums") == StateInfo("sums", 5)
    with Log(place, LINEAGE) as log:
        assert log.inspect().is_whole


def store(log: Log) -> None:
    with log.begin_transaction() as transaction:
        transaction.store_state(log.get_state_id("sums"), b"", Context())


# --- a number that cannot be written -----------------------------------------------------------
def test_a_transaction_that_happened_is_reported_as_one(tmp_path: Path) -> None:
    place, logging = tmp_path / "log.db", False

    def watch(statement: str) -> None:
        if statement == "COMMIT" and logging:
            full = os.open("/dev/full", os.O_WRONLY)
            os.dup2(full, log._leases._held["a"].lock._file)  # type: ignore[union-attr]
            os.close(full)

    with Log(place, watch=watch) as log:
        logging = True
        with pytest.raises(LogInterrupted, match=r"No space left .*: the transaction happened"):
            log_outputs(log, SENT)
        logging = False
        assert log.fetch_new_events("b").events == [SENT]
        with suppress(ZeroDivisionError), log.begin_transaction():
            raise ZeroDivisionError
        assert "a" in log._leases._held
    with Log(place) as log:
        assert log.inspect().is_whole
        assert log.take("a") == [2]


def test_a_lease_without_room_for_its_number_is_not_given(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk, Log(tmp_path / "log.db") as log:
        (disk / "lease").mkdir()
        (tmp_path / "log.db-lease").symlink_to(disk / "lease")
        with (disk / "ballast").open("wb", 0) as ballast, suppress(OSError):
            while True:
                ballast.write(bytes(4_096))
        for _ in range(2):
            with pytest.raises(LogError, match="cannot be written: No space left"):
                log_outputs(log, SENT)
            assert all_rows(log) == [[]] * 5
        assert counts(tmp_path / "log.db") == {}
        (disk / "ballast").unlink()
        log_outputs(log, SENT)
        assert counts(tmp_path / "log.db") == {"a": 2}


def test_a_number_that_is_just_being_written_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "log.db"
    with Log(place) as log:
        log_outputs(log, SENT)
    whole = file_of(place, "a").read_bytes()
    found = iter([whole[:15] + b"777" + whole[18:], whole])
    monkeypatch.setattr(Path, "read_bytes", lambda _: next(found))
    assert counts(place) == {"a": 2}


def test_the_main_file_alone_is_known_after_the_first_transaction(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    with Log(tmp_path / "log.db") as log:
        log_outputs(log, SENT)
        shutil.copy(tmp_path / "log.db", tmp_path / "copy")
    with pytest.raises(LogError, match="its -wal is missing: a had not ended when the file was"):
        Log(tmp_path / "copy" / "log.db")


# --- a log that is emptied --------------------------------------------------------------------
@pytest.mark.parametrize("operator", ["a", "new"])
def test_a_log_is_not_emptied_under_another_process(place: str, operator: str) -> None:
    """It takes an operator over, or begins one, just before the rows are deleted."""
    others: list[Log] = []

    def watch(statement: str) -> None:
        if statement.startswith("BEGIN") and emptying and not others:
            if operator == "a":
                cut(place, log)
            others.append(Log(place, wait_s=30))
            number = 1 + (operator == "a")
            log_outputs(others[0], SENT._replace(sender=operator, number=number))

    emptying = False
    with Log(place, watch=watch) as log:
        log_outputs(log, SENT)
        emptying = True
        with pytest.raises(LogError, match=r"taken it over|lock is lost|has begun to run it"):
            forget_everything(log)
    (other,) = others
    with other:
        assert len(other.fetch_new_events("b").events) == 2
        assert other.inspect().is_whole
