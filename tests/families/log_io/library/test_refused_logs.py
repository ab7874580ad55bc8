"""A log that is refused stays as it is, byte for byte: what was missing can be put back."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from docs.examples.log_io import pipeline
from spark_check.log_io.library import Log, LogError
from spark_check.log_io.library.guard import opening
from tests.families.log_io.library.children import run_and_kill, small_process
from tests.families.log_io.library.test_reading import contents
from tests.families.log_io.library.test_wholeness import LINEAGE, copy_of, goes_on


@pytest.fixture(scope="module")
def killed_twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a pipeline that was killed twice, with the -wal of the first time."""
    folder = tmp_path_factory.mktemp("killed")
    with small_process() as call:
        assert call(run_and_kill, str(folder / "log.db"), folder, LINEAGE, 2, 90)
        shutil.copy(folder / "log.db-wal", folder / "older-wal")
        assert call(run_and_kill, str(folder / "log.db"), folder, LINEAGE, 2, 60)
    assert (folder / "older-wal").read_bytes() != (folder / "log.db-wal").read_bytes()
    return folder


def move_away(folder: Path) -> None:
    (folder / "log.db").unlink()


def empty(folder: Path) -> None:
    (folder / "log.db").write_bytes(b"")


def leave_the_leases(folder: Path) -> None:
    for one in folder.glob("log.db*"):
        if one.is_file():
            one.unlink()


def take_the_older(folder: Path) -> None:
    shutil.copy(folder / "older-wal", folder / "log.db-wal")


def take_the_older_alone(folder: Path) -> None:
    take_the_older(folder)
    (folder / "log.db-shm").unlink()


def flip_a_bit(folder: Path) -> None:
    """In the last commit: behind it, the -wal has pages of the time before it began anew."""
    content = bytearray((folder / "log.db-wal").read_bytes())
    salts, page = content[16:24], int.from_bytes(content[8:12])
    starts = range(32, len(content), 24 + page)
    last = max(at for at in starts if content[at + 8 : at + 16] == salts)
    content[last + 24 + 100] ^= 1
    (folder / "log.db-wal").write_bytes(content)


def remove_the_wal(folder: Path) -> None:
    (folder / "log.db-wal").unlink()


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (move_away, "log.db is missing, and log.db-wal lies beside it: put back the latest copy"),
        (empty, "log.db is empty, and log.db-wal lies beside it: put back the latest copy"),
        (leave_the_leases, "log.db is missing, and log.db-lease lies beside it: put back the"),
        (take_the_older, "or its -wal was removed or is damaged"),
        (take_the_older_alone, "or its -wal was removed or is damaged"),
        (flip_a_bit, "or its -wal was removed or is damaged"),
        (remove_the_wal, "or its -wal was removed or is damaged"),
    ],
)
def test_what_was_missing_can_be_put_back(
    killed_twice: Path, tmp_path: Path, harm: Callable[[Path], None], reason: str
) -> None:
    folder = copy_of(killed_twice, tmp_path / "copy")
    harm(folder)
    before = contents(folder)
    for _ in range(2):
        with pytest.raises(LogError) as refused:
            Log(folder / "log.db", LINEAGE)
        assert reason in str(refused.value)
        assert contents(folder) == before
    for name in ("log.db", "log.db-wal"):
        shutil.copy(killed_twice / name, folder / name)
    assert goes_on(folder) == ""


def test_a_log_that_another_process_begins_meanwhile_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins between the look at the file and the look at the files beside it."""
    place, others, look = tmp_path / "log.db", list[Log](), opening._beside

    def begin_and_look(file: Path) -> str:
        monkeypatch.setattr(opening, "_beside", look)
        others.append(Log(place))
        others[0].take("a")
        return look(file)

    monkeypatch.setattr(opening, "_beside", begin_and_look)
    with Log(place) as log:
        assert log.inspect().is_whole
    others[0].close()


def test_a_file_of_somebody_else_stays_as_it_is(tmp_path: Path) -> None:
    """SQLite's own way of keeping a journal is a part of the file, too."""
    for name, sql in (
        ("half.db", "CREATE TABLE event_lineage (event_id)"),
        ("old.db", "CREATE TABLE log_format (version); INSERT INTO log_format VALUES (77)"),
    ):
        other = sqlite3.connect(tmp_path / name)
        other.executescript(sql)
        other.close()
    (tmp_path / "text.db").write_text("no database\n" * 100)
    before = contents(tmp_path)
    for name in before:
        with pytest.raises(LogError, match=name):
            Log(tmp_path / name)
    assert contents(tmp_path) == before


def test_a_log_is_made_in_a_file_that_has_none(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE mine (text)")
    other.close()
    killed = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    killed.execute("CREATE TABLE mine (text)")
    killed.execute("BEGIN")
    killed.execute("PRAGMA cache_spill = 1")
    killed.execute("PRAGMA cache_size = 1")
    killed.executemany("INSERT INTO mine VALUES (?)", [("x" * 3_000,)] * 50)
    (tmp_path / "copy").mkdir()
    for one in ("journal.db", "journal.db-journal"):  # as after a kill
        shutil.copy(tmp_path / one, tmp_path / "copy" / one)
    killed.close()
    for place in ("empty.db", "other.db", "copy/journal.db"):
        for _ in range(2):
            with Log(tmp_path / place, pipeline.captured()) as log:
                assert log.inspect().is_whole
                log.take("a")
