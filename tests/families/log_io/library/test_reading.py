"""A log that is only read stays as it is; what cannot be read gives one line that says why."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spark_check.log_io.library import Connection, Event, Log, LogError
from spark_check.log_io.library.lineage import find
from spark_check.log_io.library.reading import read_log
from spark_check.log_io.library.schema import SQLITE, TABLES, columns
from spark_check.log_io.library.sessions import session
from spark_check.log_io.library.sessions.places import without_password
from tests.families.log_io.library.tables import log_outputs

SENT = Event(*Connection("a", "out", "b", "in"), 1, b"the body")
KILLED = """
import os, signal, sys
from tests.families.log_io.library.test_reading import log_one
log = log_one(sys.argv[1])
os.kill(os.getpid(), signal.SIGKILL)
"""


def log_one(place: str | Path) -> Log:
    log = Log(place)
    log.take("a")
    log_outputs(log, SENT)
    return log


def refused(place: str | Path) -> str:
    """The one line for a place that cannot be read."""
    with pytest.raises(LogError) as raised, read_log(str(place)):
        pass
    text = str(raised.value)
    assert text.isprintable()
    return text


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of each file, also of those in folders."""
    return {one.name: one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_the_expected_columns_are_those_of_the_tables() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES.format(blob="BLOB"))
    assert {*connection.execute(SQLITE.columns)} == columns()


def test_a_log_is_read_while_and_after_another_process_writes(place: str, tmp_path: Path) -> None:
    with log_one(place), read_log(place) as log:
        assert find(log, "a", "out", 1) == SENT.key
    with read_log(place) as log:
        assert log.fetch_new_events("b").events == [SENT]
        with pytest.raises(Exception, match=r"(?i)read-?only"):
            log_outputs(log, SENT._replace(number=2))


def test_a_log_is_read_whose_writer_was_killed(tmp_path: Path) -> None:
    """The event is in log.db-wal alone."""
    place = tmp_path / "log.db"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
    assert killed.returncode == -signal.SIGKILL
    before = contents(tmp_path)
    assert SENT.body in before["log.db-wal"]
    assert SENT.body not in before["log.db"]
    with read_log(str(place)) as log:
        assert log.fetch_new_events("b").events == [SENT]
    after = contents(tmp_path)
    assert {**after, "log.db-shm": b""} == {**before, "log.db-shm": b""}


def test_a_text_that_was_logged_as_a_body_is_read(tmp_path: Path) -> None:
    with log_one(tmp_path / "log.db") as log:
        log.database.execute("UPDATE event_data SET body = 'text'")
        assert log.fetch_new_events("b").events == [SENT._replace(body=b"text")]


def test_a_file_that_is_no_log_stays_as_it_is(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE event_lineage (event_id)")
    other.close()
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("no database\n" * 100)
    before = contents(tmp_path)
    for name, reason in (
        ("other.db", "it has no event_data.body"),
        ("empty.db", "it has no event_data.body"),
        ("text.db", "file is not a database"),
    ):
        assert refused(tmp_path / name) == f"{tmp_path / name} is no log of LOG.io: {reason}"
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("nowhere.db", "nowhere.db: no such file or directory"),
        (".", ".: is a directory"),
        ("/dev/null", "/dev/null: is no file: give a file of SQLite or postgresql://"),
        (
            "mysql://me:secret@host/db",
            "mysql://me:***@host/db: give a file of SQLite or postgresql",
        ),
        ("POSTGRESQL://host/db", "POSTGRESQL://host/db: give a file of SQLite or postgresql://"),
        ("postgresql://me:se@cret@127.0.0.1:1/x", "postgresql://me:***@127.0.0.1:1/x cannot be op"),
        ("postgresql://host/x?port=none", "postgresql://host/x?port=none cannot be opened: "),
        ("postgresql://127.0.0.1:1/x?password=se%zz", "password=*** cannot be opened: "),
    ],
)
def test_a_place_without_a_log_is_named(
    place: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = refused(place)
    assert expected in text
    assert not any(secret in text for secret in ("cret", "se%zz"))


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    with log_one(place) as log:
        (size,) = log.database.execute("PRAGMA page_size")[0]
    data = bytearray(place.read_bytes())
    data[size:] = bytes(len(data) - size)
    place.write_bytes(data)
    with (
        pytest.raises(LogError, match=r"cannot be (read|opened): database disk image"),
        read_log(str(place)) as log,
    ):
        find(log, "a", "out", 1)
    data[:size] = data[:100] + b"\xff" * (size - 100)
    place.write_bytes(data)
    assert "cannot be read: database disk image is malformed" in refused(place)


def test_a_locked_file_of_another_mode_is_given_up_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody locks a reader out of a log: it is read from its -wal, or as it is."""
    monkeypatch.setattr(session, "READ_PATIENCE_S", 0.1)
    with log_one(tmp_path / "log.db"):
        pass
    holder = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("BEGIN EXCLUSIVE")
    holder.execute("UPDATE event_data SET header = 'other'")
    assert "database is locked: another process" in refused(tmp_path / "log.db")
    holder.close()


@pytest.mark.slow
def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "READ_PATIENCE_S", 2.0)  # psycopg's least
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert "timeout expired" in refused(f"postgresql://127.0.0.1:{port}/x")


def test_a_role_that_may_not_log_in_is_named(postgresql: str) -> None:
    assert "cannot be opened: connection" in refused(f"{postgresql}&user=nobody")


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied")])
def test_a_folder_without_access_is_named(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is made here: the tests may run as root, who has access to all."""

    def deny(*_arguments: Any, **_more: Any) -> os.stat_result:
        raise error

    monkeypatch.setattr(os, "stat", deny)
    assert "log.db: permission denied: give a file" in refused("log.db")


def in_all_ways(tmp_path: Path) -> Iterator[Path]:
    """Folders with one log each: closed, open, killed, and copied after a kill without its -shm."""
    for name in ("closed", "open", "killed", "copied"):
        place = tmp_path / name / "log.db"
        place.parent.mkdir()
        if name in ("closed", "open"):
            log = log_one(place)
            if name == "closed":
                log.close()
            yield place
            log.close()
            continue
        subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
        if name == "copied":
            place.with_name("log.db-shm").unlink()
        yield place


def traces(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return {one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in files}


QUESTIONS = """
import sys
from spark_check.log_io.library import Context
from spark_check.log_io.library.reading import read_log
with read_log(sys.argv[1]) as log:
    print(len(log.fetch_new_events("b").events), log.fetch_ack_events("b", Context()) == [])
"""


def asked(place: Path) -> str:
    """The answers of another process, which has no file of the log open before."""
    command = [sys.executable, "-c", QUESTIONS, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr[-500:]


def test_a_reader_leaves_no_trace(tmp_path: Path) -> None:
    for place in in_all_ways(tmp_path):
        before = traces(place.parent)
        assert asked(place) == "1 True\n"
        assert traces(place.parent) == before, place


def test_a_log_on_a_read_only_medium_is_read(tmp_path: Path) -> None:
    """The same folder, mounted so that nobody can write there, not even root."""
    for place in in_all_ways(tmp_path):
        medium = tmp_path / "medium"
        medium.mkdir(exist_ok=True)
        if subprocess.run(["mount", "--bind", place.parent, medium], check=False).returncode:
            pytest.skip("nothing can be mounted here")
        try:
            remount = ["mount", "-o", "remount,ro,bind", str(medium)]
            subprocess.run(remount, check=True)
            assert asked(medium / "log.db") == "1 True\n"
        finally:
            subprocess.run(["umount", medium], check=True)


WRITE = """
import sys
from spark_check.log_io.library import Connection, Event, Log
from tests.families.log_io.library.tables import log_outputs
number = 0
for _ in range(40):
    with Log(sys.argv[1], synchronous="OFF") as log:
        for _ in range(5):
            number += 1
            log_outputs(log, Event(*Connection("a", "out", "b", "in"), number, b"x" * 5000))
"""


@pytest.mark.slow
def test_what_is_read_is_whole_while_a_log_is_opened_and_closed_all_the_time(
    tmp_path: Path,
) -> None:
    place, seen = tmp_path / "log.db", 0
    Log(place).close()
    with subprocess.Popen([sys.executable, "-c", WRITE, str(place)]) as writer:
        while writer.poll() is None:
            try:
                with read_log(str(place)) as log:
                    asked = "SELECT COUNT(*), COALESCE(MAX(event_id), 0) FROM event_data"
                    ((count, greatest),) = log.database.execute(asked)
            except LogError as error:
                assert "another process writes it all the time" in str(error)  # noqa: PT017
            else:
                assert count == greatest >= seen
                seen = count
    with read_log(str(place)) as log:
        assert log.database.execute("SELECT COUNT(*) FROM event_data") == [(200,)]


def test_a_password_is_hidden() -> None:
    assert without_password("postgresql://me@host/db") == "postgresql://me@host/db"
    assert without_password("postgresql://me:a:b@c@host/db") == "postgresql://me:***@host/db"
    found = without_password("postgresql://host/db?user=me&password=secret&port=1")
    assert found == "postgresql://host/db?user=me&password=***&port=1"
    assert without_password("build/log.db") == "build/log.db"
