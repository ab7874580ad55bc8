"""A log that is not whole: it is refused, or the fault does no harm; nothing is lost or doubled
with a good end."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docs.examples.log_io import pipeline
from docs.examples.log_io.external import lines
from spark_check.log_io.library import Context, Event, InputSet, Log, LogError
from spark_check.log_io.library.guard.lease_files import folder_of
from spark_check.log_io.library.reading import read_log
from spark_check.log_io.library.retention import forget_everything, forget_lineage
from spark_check.log_io.library.schema import FORMAT
from tests.families.log_io.library.children import do_nothing, run_and_kill, small_process
from tests.families.log_io.library.conftest import Fresh

LINEAGE, NOTHING = pipeline.captured(), pipeline.captured(lineage=False)
CHANGES = {
    "event_data": "body = header",
    "event_log": "inset_key = 'other'",
    "event_lineage": "inset_id = inset_id + 7",
    "read_action": "action_desc = 'other'",
    "state": "context = 'other'",
}
"""A change of a row of each table that breaks no condition of the database."""


@pytest.fixture(scope="module")
def killed_early(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a pipeline that was killed: all tables have rows, some of them undone."""
    folder = tmp_path_factory.mktemp("killed")
    with small_process() as call:
        assert call(run_and_kill, str(folder / "log.db"), folder, LINEAGE, 2, 120)
    assert {one.name for one in folder.iterdir()} >= {"log.db", "log.db-wal", "log.db-lease"}
    return folder


def copy_of(folder: Path, to: Path) -> Path:
    """A copy of the folder; only this test uses it."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to)
    return to


def goes_on(folder: Path) -> str:
    """Run the pipeline to its end: "" if all is as without failures, or why it was refused."""
    try:
        with Log(folder / "log.db", LINEAGE, synchronous="OFF") as log:
            pipeline.run(log, folder, do_nothing)
            assert log.inspect().is_whole
    except LogError as error:
        return str(error)
    used = pipeline.used_readings(folder)
    expected = pipeline.expected(used)
    books = {name: lines(folder / file) for name, file in pipeline.BOOKS.items()}
    assert books == expected
    assert len(used) == 2
    return ""


# --- files ------------------------------------------------------------------------------------
def test_a_copy_of_all_files_goes_on(killed_early: Path, tmp_path: Path) -> None:
    assert goes_on(copy_of(killed_early, tmp_path / "copy")) == ""


@pytest.mark.parametrize("rest", ["all", "no -shm", "no -lease"])
def test_a_wal_that_was_removed_is_missed(killed_early: Path, tmp_path: Path, rest: str) -> None:
    folder = copy_of(killed_early, tmp_path / "copy")
    (folder / "log.db-wal").unlink()
    if rest != "all":
        (folder / "log.db-shm").unlink()
    if rest == "no -lease":
        shutil.rmtree(folder / "log.db-lease")
    for _ in range(2):  # the refusal makes no whole log of it
        reason = goes_on(folder)
        assert "log.db is not whole: " in reason
        expected = "its -wal is missing" if rest == "no -lease" else "its -wal was removed"
        assert expected in reason or rest == "no -lease"
        if rest == "no -lease":
            (folder / "log.db-wal").unlink(missing_ok=True)


def test_an_older_copy_of_the_file_is_found(tmp_path: Path) -> None:
    """All of it is consistent; the number beside it is later."""
    place, older = tmp_path / "log.db", tmp_path / "older.db"
    for number in (1, 2):
        with Log(place) as log:
            log_one(log, number)
        if number == 1:
            shutil.copy(place, older)
    shutil.copy(older, place)
    with pytest.raises(LogError, match="a has 2 transactions of 4: it is an older copy"):
        Log(place)
    shutil.rmtree(folder_of(place))  # who knows that the older one is right may say so
    with Log(place) as log:
        log_one(log, 2)


def test_a_file_that_was_closed_may_be_copied_alone(tmp_path: Path) -> None:
    with Log(tmp_path / "log.db") as log:
        log_one(log, 1)
    (tmp_path / "other").mkdir()
    shutil.copy(tmp_path / "log.db", tmp_path / "other")
    with Log(tmp_path / "other" / "log.db") as log:
        log_one(log, 2)


def test_a_damaged_number_is_named(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    with Log(place) as log:
        log_one(log, 1)
    (file,) = folder_of(place).iterdir()
    file.write_bytes(file.read_bytes().replace(b"2 ", b"1 ", 1))
    with pytest.raises(LogError, match=r"log\.db-lease/\w+ is damaged: remove it only if"):
        Log(place)


@given(
    name=st.sampled_from(["log.db", "log.db-wal", "log.db-lease"]),
    at=st.floats(0, 1, exclude_max=True),
    bit=st.integers(0, 7),
)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_flipped_bit_is_refused_or_does_no_harm(
    killed_early: Path, tmp_path: Path, name: str, at: float, bit: int
) -> None:
    flip(killed_early, tmp_path, name, at, bit)


@pytest.mark.slow
def test_of_two_hundred_flipped_bits_none_does_harm(killed_early: Path, tmp_path: Path) -> None:
    numbers, refused = random.Random(54), 0
    for _ in range(200):
        name = numbers.choice(["log.db", "log.db-wal"])
        refused += bool(flip(killed_early, tmp_path, name, numbers.random(), numbers.randrange(8)))
    assert 60 < refused < 200  # some are in pages that nothing uses


def flip(folder: Path, tmp_path: Path, name: str, at: float, bit: int) -> str:
    """Flip a bit of a copy, and go on with it."""
    copy = copy_of(folder, tmp_path / "copy")
    file = copy / name
    if file.is_dir():
        file = sorted(file.iterdir())[int(at * 3)]
    content = bytearray(file.read_bytes())
    content[int(at * len(content))] ^= 1 << bit
    file.write_bytes(content)
    return goes_on(copy)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", ["log.db", "log.db-wal"])
def test_a_file_that_was_cut_does_no_harm(
    killed_early: Path, tmp_path: Path, name: str, part: float
) -> None:
    """It is refused, if the -wal lacks the pages that were cut off the main file."""
    folder = copy_of(killed_early, tmp_path / "copy")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(part * len(content))])
    assert goes_on(folder) or name == "log.db"


# --- rows: both databases ---------------------------------------------------------------------
def log_one(log: Log, number: int) -> None:
    """A source sends an event."""
    with log.begin_transaction() as transaction:
        transaction.log_source_event(Event("a", "out", "b", "in", number, b"body"))
        state = log.get_state_id("a")
        transaction.store_state(state, b"%d" % number, Context(sent={"out": number}))


@contextmanager
def rows_of(place: str) -> Iterator[Callable[[str], Any]]:
    """A function that executes SQL past the library."""
    if place.startswith("postgresql"):
        with psycopg.connect(place, autocommit=True) as server:
            yield server.execute
    else:
        with sqlite3.connect(place, isolation_level=None) as file:
            yield file.execute


@pytest.fixture
def killed(fresh: Fresh, tmp_path: Path) -> tuple[str, Path]:
    """The place of the log of a pipeline that was killed, and its folder."""
    place = fresh()
    with small_process() as call:
        assert call(run_and_kill, place, tmp_path, LINEAGE, 2, 120)
    return place, tmp_path


def row_of(place: str, table: str) -> str:
    """The condition of one row, by the database's own name of it: that of the latest state, and an
    event that waits."""
    name = "ctid" if place.startswith("postgresql") else "rowid"
    rows = {
        "event_data": "event_data JOIN event_log AS log USING"
        " (send_op, send_port, rec_port, event_id) WHERE log.status = 'undone'",
        "event_log": "event_log WHERE status = 'undone'",
        "state": "state WHERE op_id = 'shop'",
    }
    return f"{name} = (SELECT MAX({table}.{name}) FROM {rows.get(table, table)})"


def faults(place: str) -> tuple[str, ...]:
    with read_log(place) as log:
        return log.inspect().all_faults


@contextmanager
def harmed(place: str, table: str, harm: str) -> Iterator[None]:
    """A context in which a statement has been executed past the library."""
    with rows_of(place) as execute:
        if place.startswith("postgresql"):
            execute("SET session_replication_role = replica")  # no foreign keys
        execute(f"CREATE TABLE saved AS SELECT * FROM {table}")
        execute(harm)
        yield
        execute(f"DELETE FROM {table}")
        execute(f"INSERT INTO {table} SELECT * FROM saved")
        execute("DROP TABLE saved")


def test_each_row_is_missed_and_each_change_is_found(killed: tuple[str, Path]) -> None:
    place, _ = killed
    for table, change in CHANGES.items():
        one = row_of(place, table)
        for harm in (
            f"DELETE FROM {table} WHERE {one}",
            f"UPDATE {table} SET {change} WHERE {one}",
        ):
            with harmed(place, table, harm):
                assert any(table in fault for fault in faults(place)), harm
                with pytest.raises(LogError) if harms_recovery(table, harm) else nullcontext():
                    Log(place).close()
    assert faults(place) == ()


def harms_recovery(table: str, harm: str) -> bool:
    """Is it found at the start of a pipeline?  Other rows of lineage are left to --verify."""
    return table != "event_lineage" or harm.startswith("DELETE")


def test_a_row_from_another_time_is_found(place: str) -> None:
    """It is whole, and it is not the latest one."""
    with Log(place) as log:
        log_one(log, 1)
    with rows_of(place) as execute:
        execute("CREATE TABLE saved AS SELECT * FROM state")
        execute("CREATE TABLE saved_events AS SELECT * FROM event_log")
    with Log(place) as log:
        log_one(log, 2)
        assert log.assign_in_sets(Event("a", "out", "b", "in", 1, b""), [InputSet(1)], 1)
    with rows_of(place) as execute:
        execute("DELETE FROM state")
        execute("INSERT INTO state SELECT * FROM saved")
        assert faults(place) == ("state: the state of a is not the one that was stored last",)
        execute("DELETE FROM event_log WHERE event_id = 1")
        execute("INSERT INTO event_log SELECT * FROM saved_events")
        (fault, _) = faults(place)
        assert "a row of event_log, event_lineage, read_action is not the one that was" in fault
        execute("DROP TABLE saved")
        execute("DROP TABLE saved_events")
    with pytest.raises(LogError, match=r"is not whole: .*, and 1 more faults; whole: event_data"):
        Log(place)


def test_a_log_that_forgets_stays_whole(place: str, tmp_path: Path) -> None:
    times = iter(range(1_000_000))
    with Log(place, LINEAGE, synchronous="OFF", clock=lambda: float(next(times))) as log:
        pipeline.run(log, tmp_path, do_nothing)
        for older in (30.0, 60.0, 1e9):
            forget_lineage(log, older)
            assert log.inspect().all_faults == ()
    with Log(place, LINEAGE) as log:
        forget_everything(log)
        assert log.inspect().all_faults == ()
        log_one(log, 1)
    with Log(place, LINEAGE) as log:
        assert log.inspect().all_faults == ()


# --- versions ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (
            ["DROP TABLE log_format", "ALTER TABLE event_log DROP COLUMN inset_key"],
            f"version 1 of the library has made the log, and this is version {FORMAT}: let its"
            " pipeline end with that version, or begin with an empty log",
        ),
        (
            [f"UPDATE log_format SET version = {FORMAT + 1}", "DROP TABLE event_lineage"],
            f"version {FORMAT + 1} of the library has made the log, and this is version {FORMAT}:"
            " take a newer asif",
        ),
        (["DELETE FROM log_format"], "the log says [] as its version, and not one number"),
        (["DROP TABLE event_lineage"], "it has no event_lineage.checksum"),
    ],
)
def test_a_log_of_another_version_stays_as_it_is(
    place: str, statements: list[str], reason: str
) -> None:
    with Log(place) as log:
        log_one(log, 1)
    try:
        with rows_of(place) as execute:
            for one in statements:
                execute(one)
        for _ in range(2):
            for open_ in (Log, partial(Log, read_only=True)):
                with pytest.raises(LogError) as refused:
                    open_(place)
                assert str(refused.value).endswith(reason)
    finally:
        if place.startswith("postgresql"):
            with rows_of(place) as execute:
                execute("DROP SCHEMA public CASCADE")
                execute("CREATE SCHEMA public")
