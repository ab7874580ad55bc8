"""Two processes on one log: one at a time is each operator, and one that was taken for dead can
write nothing more."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from docs.examples.log_io import pipeline
from docs.examples.log_io.external import Watch
from spark_check.log_io.library import Context, Event, Log, LogError, StateInfo, write_action
from spark_check.log_io.library.guard.lease_files import folder_of
from spark_check.log_io.library.retention import forget_everything
from spark_check.log_io.library.writes import execute_writes
from tests.families.log_io.library.children import outcome, start_work, was_killed
from tests.families.log_io.library.conftest import Fresh
from tests.families.log_io.library.tables import all_rows, log_outputs

SENT = Event("a", "out", "b", "in", 1, b"body")
NOTHING = pipeline.captured(lineage=False)
ROOT = Path(__file__).parents[4]
HOLD = """
import sys, time
from spark_check.log_io.library import Log
with Log(sys.argv[1]) as log:
    log.take("a", "b")
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(place: str) -> Iterator[subprocess.Popen[str]]:
    """Another process, which has the leases of a and b until its input ends."""
    command = [sys.executable, "-c", HOLD, place]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        assert process.stdin is not None
        process.stdin.close()


# --- one at a time ----------------------------------------------------------------------------
def test_an_operator_of_another_process_is_refused_in_one_line(place: str) -> None:
    with holder(place) as process, Log(place) as log:
        uses: tuple[Callable[[], object], ...] = (
            lambda: log.take("b"),
            lambda: log.get_proc_state("a"),
            lambda: log.get_state_id("a"),
            lambda: log.done_event(SENT),
            lambda: log_outputs(log, SENT),
        )
        for use in uses:
            with pytest.raises(LogError) as refused:
                use()
            text = str(refused.value)
            assert re.fullmatch(
                rf"[ab]: process {process.pid} on \S+ runs it since \d{{4}}-\S+ \S+: end that"
                r" process, or wait for its end \(wait_s\)",
                text,
            ), text
        log_outputs(log, SENT._replace(sender="c"))  # it is another operator
        assert log.fetch_new_events("b").events == [SENT._replace(sender="c")]


def test_an_operator_is_free_when_its_process_was_killed(place: str) -> None:
    with holder(place) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with Log(place) as log:
            assert log.take("a", "b") == [2, 2]


def test_one_who_waits_goes_on_after_the_other(place: str) -> None:
    with holder(place) as process, Log(place, wait_s=60) as log:
        assert process.stdin is not None
        process.stdin.close()
        assert log.take("b", "a") == [2, 2]


def test_nobody_waits_within_a_transaction(place: str) -> None:
    """Its holder may wait for this transaction."""
    with (
        holder(place),
        Log(place, wait_s=600) as log,
        log.begin_transaction() as transaction,
        pytest.raises(LogError, match="runs it since"),
    ):
        transaction.done_event(SENT)


def test_two_logs_of_one_process_are_two(place: str) -> None:
    with Log(place) as log, Log(place) as other:
        assert log.take("a") == [1]
        with pytest.raises(LogError, match=f"a: process {os.getpid()} on"):
            other.take("a")
        log.close()
        assert other.take("a") == [2]


def test_a_lease_that_was_rolled_back_is_free(place: str) -> None:
    with Log(place) as log, Log(place) as other:
        with suppress(ZeroDivisionError), log.begin_transaction() as transaction:
            transaction.store_state(StateInfo("a", 1), b"", Context())
            raise ZeroDivisionError
        log_outputs(other, SENT)
        assert other.take("a") == [1]


def test_a_child_does_not_hold_the_leases_of_its_parent(place: str) -> None:
    """It lives on when its parent was killed, as the workers of a pool do."""
    ends, ours = os.pipe()
    log = Log(place)
    log.take("a")
    child = os.fork()
    if not child:
        os.close(ours)
        os.read(ends, 1)  # until the test ends, or was killed
        os._exit(0)
    try:
        with pytest.raises(LogError), Log(place) as other:
            other.take("a")
        log.close()
        with Log(place) as other:
            assert other.take("a") == [2]
    finally:
        os.close(ours)
        os.close(ends)
        os.waitpid(child, 0)


def test_a_child_cannot_use_the_log_of_its_parent(tmp_path: Path) -> None:
    with Log(tmp_path / "log.db") as log:
        log.take("a")
        child = os.fork()
        if not child:
            try:
                log.take("a")
            except LogError as error:
                os._exit(7 if "a child process uses its parent's log" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_log_that_is_used_is_not_emptied(place: str) -> None:
    with holder(place), Log(place) as log, pytest.raises(LogError, match="runs it since"):
        forget_everything(log)


# --- taken for dead ---------------------------------------------------------------------------
def cut(place: str, log: Log) -> None:
    """Let a log lose its locks."""
    if place.startswith("postgresql"):
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(%s)", [log.database.connection.info.backend_pid]
            )
    else:
        shutil.rmtree(folder_of(Path(place)))


def lose(place: str, log: Log) -> Log:
    """Another log, which has taken `a` over although the first one lives."""
    cut(place, log)
    other = Log(place, wait_s=30)
    other.take("a")
    return other


def test_a_process_that_was_taken_for_dead_writes_nothing_more(place: str) -> None:
    with Log(place) as log:
        log_outputs(log, SENT)
        with lose(place, log) as other:
            before = all_rows(other)
            for _ in range(3):
                with pytest.raises(LogError, match=r"taken it over|connection broke|lock is lost"):
                    log_outputs(log, SENT._replace(number=2))
            assert all_rows(other) == before
            log_outputs(other, SENT._replace(number=2))
    with Log(place) as log:
        assert log.inspect().is_whole


def test_the_epoch_has_the_last_word(place: str) -> None:
    """The lock is there; the log says that somebody else has the lease."""
    taken = (
        "UPDATE log_account SET epoch = epoch + 1, holder = 'process 7 on host',"
        " held_since = 'at noon' WHERE op_id = 'a'"
    )
    with Log(place) as log:
        log_outputs(log, SENT)
        before = all_rows(log)
        if place.startswith("postgresql"):
            with psycopg.connect(place, autocommit=True) as connection:
                connection.execute(taken)
        else:
            with sqlite3.connect(place) as file:
                file.execute(taken)
        uses: tuple[Callable[[], object], ...] = (
            lambda: log_outputs(log, SENT._replace(number=2)),
            lambda: log.get_proc_state("a"),
            lambda: log.check("a"),
        )
        for use in uses:
            with pytest.raises(LogError, match="a: process 7 on host has taken it over, at noon"):
                use()
        assert all_rows(log) == before


def test_no_write_is_executed_once_the_lease_is_lost(place: str) -> None:
    written: list[int] = []

    class Book:
        def execute(self, write: Event) -> None:
            written.append(write.number)
            others.append(lose(place, log))

        def is_done(self, _write: Event) -> bool:
            return False

    others: list[Log] = []
    with Log(place) as log:
        log_outputs(log, *(write_action("a", "book", at, b"") for at in (1, 2, 3)))
        with pytest.raises(LogError):
            execute_writes(log, "a", {"book": Book()}, check=False)
        with pytest.raises(LogError):
            execute_writes(log, "a", {"book": Book()}, check=True)
        assert written == [1]
        for other in others:
            other.close()


# --- two whole pipelines at once --------------------------------------------------------------
def example(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "docs.examples.log_io", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("wait", [0, 60])
def test_the_example_at_once(place: str, tmp_path: Path, wait: int) -> None:
    both = [example("run", tmp_path, "--log", place, "--wait", wait) for _ in range(2)]
    ends = [(*one.communicate(timeout=120), one.returncode) for one in both]
    ended = [one for one in ends if one[2] == 0]
    assert len(ended) == 2 if wait else ended
    for _, err, code in ends:
        assert code == 0 or ("runs it since" in err and len(err.splitlines()) == 1), err
    found = outcome(place, tmp_path, pipeline.captured())
    assert (found.read, found.left) == (2, [])
    assert found.effects == pipeline.expected(found.used)


@pytest.mark.slow
@pytest.mark.parametrize("fresh", ["sqlite", "postgresql"], indirect=True)
def test_twenty_rounds_of_two_processes(fresh: Fresh, tmp_path: Path) -> None:
    """One of each round is killed at some statement, and the other one waits for it, or is waited
    for: all is as if there were one, and it had not been killed."""
    killed = 0
    for at in range(20):
        place, folder = fresh(), tmp_path / str(at)
        folder.mkdir()

        def run(log: Log, watch: Watch, folder: Path = folder) -> None:
            log.take(*pipeline.OPERATORS)
            pipeline.run(log, folder, watch)

        both = [start_work(place, NOTHING, kill, run, 120.0) for kill in (20 + 7 * at, None)]
        first, second = map(was_killed, both)
        assert not second
        killed += first
        found = outcome(place, folder, NOTHING)
        assert found.left == []
        assert len(found.used) == 2
        assert found.effects == pipeline.expected(found.used)
    assert killed > 3  # the others had nothing left to do


def test_the_lock_is_the_systems(tmp_path: Path) -> None:
    """The row of a holder who is dead says nothing."""
    place = tmp_path / "log.db"
    with Log(place) as log:
        log.take("a")
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE log_account SET holder = 'process 1 on host'")
    with Log(place) as log:
        assert log.take("a") == [2]
