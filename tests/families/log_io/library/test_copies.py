"""The copy of a log without its -shm, which a reader makes, does not outlive the reader."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from model.machine import temporary
from spark_check.log_io.library.reading import read_log
from spark_check.log_io.library.sessions import copied
from tests.families.log_io.library.test_reading import SENT, in_all_ways

READ = """
import os, signal, sys
from spark_check.log_io.library import Log
with Log(sys.argv[1], read_only=True) as log:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("remover", ["reader", "command"])
def test_the_copy_of_a_killed_reader_is_removed(
    remover: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the next reader, or by the next command of asif; not by one while the owner lives."""
    place, copies = [*in_all_ways(tmp_path)][-1], tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setenv("TMPDIR", str(copies))
    monkeypatch.setattr(tempfile, "tempdir", None)
    killed = subprocess.run([sys.executable, "-c", READ, str(place)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = copies.iterdir()
    assert (left / "log.db").exists()
    if remover == "command":
        temporary.remove_left()
        assert [*copies.iterdir()] == []
    with read_log(str(place)) as log:
        (own,) = copies.iterdir()
        assert own != left
        temporary.remove_left()
        with read_log(str(place)):
            assert len([*copies.iterdir()]) == 2
        assert log.fetch_new_events("b").events == [SENT]
    assert [*copies.iterdir()] == []


REMOVE = """
import os, signal, sys
from spark_check.log_io.library.sessions import copied
with copied.folder() as folder:
    for at in range(20):
        (folder / str(at)).touch()
    print(folder, flush=True)
    left = iter(range(20))
    def watch(event, arguments):
        if event == "os.remove" and next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(watch)
"""


def test_a_folder_that_is_half_removed_is_still_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner is killed before it removes the last one of 21 files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    killed = subprocess.run(
        [sys.executable, "-c", REMOVE], check=False, stdout=subprocess.PIPE, text=True
    )
    assert killed.returncode == -signal.SIGKILL
    left = Path(killed.stdout.strip())
    assert [one.name for one in left.iterdir()] == [copied.MARKER]
    with copied.folder() as own:
        assert [*tmp_path.iterdir()] == [own]
    assert [*tmp_path.iterdir()] == []
