"""Children end with their parent, however it ends, and a tree of them is killed at once."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from model.machine.children import POLL_S, end, kill_trees, run, start, tree, wait_ended
from tests.contract.test_house import sources

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
from model.machine.children import start
folder = Path(sys.argv[1])
child = start([sys.executable, "-c", '''{TWO}'''], output=folder / "log")
print(child.pid, flush=True)
signal.pause()
"""


def _line(log: Path) -> int:
    """The number that a process prints first."""
    while not (log.exists() and log.read_text().endswith("\n")):
        time.sleep(POLL_S)
    return int(log.read_text())


def test_the_end_of_a_command_is_that_of_its_orphans(tmp_path: Path) -> None:
    """Of a process below it whose own parent has ended."""
    log = tmp_path / "log"
    words = f'("{sys.executable}" -c "import os; print(os.getpid(), flush=True); {FOREVER}" &); cat'
    child = start(["sh", "-c", words], output=log, text=None)
    orphan = psutil.Process(_line(log))
    while orphan in tree(psutil.Process(child.pid)):
        time.sleep(POLL_S)
    end(child)
    wait_ended([orphan])


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
    orphan = (
        "import subprocess as s, sys; print(s.Popen(sys.argv[1:], stdout=s.DEVNULL, "
        "stderr=s.DEVNULL).pid)"
    )
    words = [sys.executable, "-c", orphan, sys.executable, "-c", FOREVER]
    left = psutil.Process(int(subprocess.run(words, capture_output=True, text=True).stdout))
    with pytest.raises(RuntimeError, match="outlive"):
        wait_ended([left], timeout_s=0)
    left.kill()
    wait_ended([left])


def test_a_tree_is_killed_at_once(tmp_path: Path) -> None:
    child = start([sys.executable, "-c", TWO], output=tmp_path / "log")
    below = psutil.Process(_line(tmp_path / "log"))
    root = psutil.Process(child.pid)
    killed = kill_trees([root])
    assert below in killed.processes
    wait_ended(killed.processes)
    end(child)
    assert tree(root) == []
    assert kill_trees([root]).processes == ()


def test_a_command_has_its_folder_its_variables_and_its_log(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['WORD'], flush=True)"
    (tmp_path / "log").write_text("before\n")
    child = start(
        [sys.executable, "-c", code],
        output=tmp_path / "log",
        folder=tmp_path,
        environment={"WORD": "here"},
    )
    assert child.wait() == 0
    end(child)
    assert (tmp_path / "log").read_text() == f"before\n{tmp_path} here\n"


def test_nobody_else_starts_a_process_or_makes_a_temporary_folder() -> None:
    """Each would need its own care for the end of its owner."""
    words = re.compile(
        r"Popen\(|subprocess\.(run|call|check_)|os\.(fork|spawn|system|popen)|ProcessPool"
        r"|\.Process\(target|get_context|TemporaryDirectory\(|mkdtemp\("
    )
    found = {path for path, text in sources() if words.search(text)}
    names = ("children", "own_process", "supervision")
    assert found == {f"model/machine/{name}.py" for name in names}


@pytest.mark.parametrize("ends_by", ["KILL", "QUIT"])
def test_a_child_that_waits_for_no_pipe_ends_however_its_parent_does(
    ends_by: str, tmp_path: Path
) -> None:
    """One that ends by another signal may first do its duties; one that ignores it is killed."""
    child = "import signal; signal.signal(signal.SIGQUIT, signal.SIG_IGN); print(1); signal.pause()"
    parent = (
        "import os, sys\nfrom pathlib import Path\nfrom model.machine.children import start\n"
        f"child = start([sys.executable, '-uc', {child!r}], output=Path(sys.argv[1]),"
        f" ends_by={ends_by!r})\n"
        "while not Path(sys.argv[1]).read_text(): pass\n"
        "print(child.pid, flush=True)\nos._exit(3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", parent, str(tmp_path / "log")], capture_output=True, text=True
    )
    assert done.returncode == 3, done.stderr
    try:
        left = [psutil.Process(int(done.stdout))]
    except psutil.NoSuchProcess:
        left = []
    wait_ended(left)


def test_a_command_runs_with_an_input_and_a_limit(tmp_path: Path) -> None:
    echo = "import sys; print(sys.stdin.read().upper()); print('no', file=sys.stderr); sys.exit(4)"
    done = run([sys.executable, "-c", echo], text="é" * 100_000, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (4, "É" * 100_000 + "\n", "no\n")
    with pytest.raises(subprocess.TimeoutExpired):
        run([sys.executable, "-c", FOREVER], limit_s=0.2)
    with pytest.raises(FileNotFoundError):
        run([str(tmp_path / "nothing")])
