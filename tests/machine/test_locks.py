"""Locks: one process at a time, and none after its end, however it ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from model.errors import Invalid
from model.machine.locks import LOCK, held

HOLDER = """\
    import multiprocessing, os, subprocess, sys, time
    from pathlib import Path
    from model.machine.locks import held
    with held(Path(sys.argv[1]), "here"):
        run = subprocess.Popen(["sleep", "600"])  # runs another program
        forked = os.fork()
        if not forked:
            print(run.pid, os.getpid(), flush=True)  # the child runs, so it has let the lock go
            time.sleep(600)
        time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A process that holds the lock, and its children."""
    command = [sys.executable, "-c", textwrap.dedent(HOLDER), str(tmp_path / LOCK)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        children = [int(word) for word in process.stdout.readline().split()]
        yield process, children
        for pid in (process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_the_second_is_refused_in_a_line_and_touches_nothing(
    holder: tuple[subprocess.Popen[str], list[int]], tmp_path: Path
) -> None:
    before = (tmp_path / LOCK).read_bytes()
    with pytest.raises(Invalid) as refused, held(tmp_path / LOCK, "here"):
        pass
    assert str(refused.value) == (
        f"here: another process ({holder[0].pid}) works there; "
        "wait for its end, or give another folder"
    )
    assert (tmp_path / LOCK).read_bytes() == before


@pytest.mark.parametrize("name", ["pwrite", "ftruncate"])
def test_a_full_disk_is_a_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, name, full)
        refused = pytest.raises(Invalid, match=r"cannot be written: No space left on device$")
        with refused, held(tmp_path / LOCK, "here"):
            pass
    with held(tmp_path / LOCK, "here"):  # nobody has it
        pass


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_child_keeps_the_lock_of_a_dead_process(
    number: signal.Signals, holder: tuple[subprocess.Popen[str], list[int]], tmp_path: Path
) -> None:
    process, children = holder
    process.send_signal(number)
    process.wait(60)
    for child in children:
        os.kill(child, 0)  # it is still there
    with held(tmp_path / LOCK, "here"):
        pass


def test_a_lock_can_be_taken_again(tmp_path: Path) -> None:
    for _ in range(3):
        with held(tmp_path / "new" / LOCK, "here"):
            assert (tmp_path / "new" / LOCK).read_text() == f"{os.getpid()}\n"


def test_a_file_of_a_users_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text("a user's\n")
    with pytest.raises(Invalid, match="did not write what is there"), held(tmp_path / LOCK, "x"):
        pass
    assert (tmp_path / LOCK).read_text() == "a user's\n"


def test_a_folder_that_cannot_be_made_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Invalid, match="cannot be written"), held(tmp_path / "file" / LOCK, "x"):
        pass
