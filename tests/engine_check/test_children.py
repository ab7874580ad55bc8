"""Children end with their parent, however it ends, and a tree of them is killed at once."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from engine_check.breakpoints import POLL_S
from engine_check.children import end, kill_trees, start_guarded, tree, wait_ended

FOREVER = "import signal; signal.pause()"
TWO = f"""
import subprocess, sys
below = subprocess.Popen([sys.executable, "-c", "{FOREVER}"])
print(below.pid, flush=True)
below.wait()
"""
"""A process with one below it, whose number it prints."""
PARENT = f"""
import signal, sys
from pathlib import Path
from engine_check.breakpoints import POLL_S
from engine_check.children import start_guarded
folder = Path(sys.argv[1])
child = start_guarded([sys.executable, "-c", '''{TWO}'''], folder / "log", folder=folder,
                      environment={{}})
print(child.pid, flush=True)
signal.pause()
"""


def _line(log: Path) -> int:
    """The number that a process prints first."""
    while not (log.exists() and log.read_text().endswith("\n")):
        time.sleep(POLL_S)
    return int(log.read_text())


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_a_guarded_command_and_all_below_end_with_the_parent(how: str, tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        below = psutil.Process(_line(tmp_path / "log"))
        assert below in tree(child)
        (parent.kill if how == "SIGKILL" else parent.terminate)()
        wait_ended([child, below])


def test_a_command_without_the_guard_outlives_its_parent(tmp_path: Path) -> None:
    """So the test above can fail: the process below is no child of a guarded one."""
    orphan = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:]).pid)"
    words = [sys.executable, "-c", orphan, sys.executable, "-c", FOREVER]
    left = psutil.Process(int(subprocess.run(words, capture_output=True, text=True).stdout))
    with pytest.raises(RuntimeError, match="outlive"):
        wait_ended([left], timeout_s=0)
    left.kill()
    wait_ended([left])


def test_a_tree_is_killed_at_once(tmp_path: Path) -> None:
    child = start_guarded(
        [sys.executable, "-c", TWO], tmp_path / "log", folder=tmp_path, environment={}
    )
    below = psutil.Process(_line(tmp_path / "log"))
    killed = kill_trees([psutil.Process(child.pid)])
    assert below in killed.processes
    wait_ended(killed.processes)
    end(child)
    assert tree(below) == []
    assert kill_trees([below]).processes == ()


def test_a_command_has_its_folder_its_variables_and_its_log(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['WORD'], flush=True)"
    (tmp_path / "log").write_text("before\n")
    child = start_guarded(
        [sys.executable, "-c", code],
        tmp_path / "log",
        folder=tmp_path,
        environment={"WORD": "here"},
    )
    assert child.wait() == 0
    end(child)
    assert (tmp_path / "log").read_text() == f"before\n{tmp_path} here\n"
