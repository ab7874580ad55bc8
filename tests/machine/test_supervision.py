"""The process that a user starts waits for signals; the command in its child hears none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from model.machine.children import POLL_S, alive, wait_ended

BEGIN = "from model.machine import supervision\nsupervision.supervise()\n"
HEARD = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
"""A suite that nohup has started ignores that signal, and so does all that it starts."""
PATIENT = "from model.machine import supervision\nsupervision.PATIENCE_S = 20\n"
"""On a loaded machine a second may be over before a process has had its turn."""
BUSY_IN_C = "print(1, flush=True)\nint('9' * 3_000_000)\n"
"""A call of some seconds or minutes in which Python runs no handler of a signal."""


def _run(code: str, *, first: str = "") -> subprocess.Popen[str]:
    limit = "import sys\nsys.set_int_max_str_digits(0)\n"
    return subprocess.Popen(
        [sys.executable, "-c", HEARD + first + BEGIN + limit + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _begun(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline()


@pytest.mark.parametrize(
    ("how", "code", "word"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "the terminal is closed"),
    ],
)
@pytest.mark.parametrize("to_all", [True, False])
def test_a_signal_ends_whatever_runs(
    how: signal.Signals, code: int, word: str, to_all: bool
) -> None:
    with _run(BUSY_IN_C) as command:
        _begun(command)
        for _ in range(3):
            (os.killpg if to_all else os.kill)(command.pid, how)
        _, said = command.communicate(timeout=20)
    assert command.returncode == code
    assert said == f"asif: {word}; nothing half-written was left behind\n"


@pytest.mark.parametrize("code", [0, 1, 2, 70])
def test_a_command_keeps_its_exit_code_and_its_words(code: int) -> None:
    with _run(f"print('out'); print('err', file=sys.stderr); sys.exit({code})") as command:
        assert command.communicate(timeout=20) == ("out\n", "err\n")
    assert command.returncode == code


def test_a_child_that_is_killed_alone_is_reported() -> None:
    for number, code in ((signal.SIGKILL, 137), (signal.SIGSEGV, 70)):
        with _run(f"import os; os.kill(os.getpid(), {number})") as command:
            _, said = command.communicate(timeout=20)
        assert command.returncode == code
        assert said.startswith(f"asif: its process was ended by {number.name}")
        assert said.count("\n") == 1


def test_the_child_ends_with_its_supervisor() -> None:
    with _run(BUSY_IN_C) as command:
        _begun(command)
        below = psutil.Process(command.pid).children(recursive=True)
        assert below
        command.kill()
        wait_ended(below)


def test_processes_that_have_left_their_parents_end_too() -> None:
    """One that made itself a daemon, as some servers do."""
    daemon = (
        "import os, sys, signal\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    print(os.getpid(), flush=True)\n"
        "    signal.pause()\n"
        "os.wait()\n"
        "signal.pause()\n"
    )
    with _run(daemon) as command:
        assert command.stdout is not None
        left = psutil.Process(int(command.stdout.readline()))
        command.send_signal(signal.SIGINT)
        assert command.wait(20) == 130
        assert not alive(left)


def test_a_signal_that_was_ignored_stays_so() -> None:
    """As in the background of a shell, or after nohup."""
    ignore = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    code = "import os\nos.kill(os.getppid(), signal.SIGINT)\nprint('went on')\n"
    with _run(code, first=ignore) as command:
        assert command.communicate(timeout=20) == ("went on\n", "")
    assert command.returncode == 0


def test_a_file_is_written_to_its_end(tmp_path: Path) -> None:
    """But a signal waits only for a second."""
    part, whole = tmp_path / "part", tmp_path / "whole"
    code = (
        "import time\nfrom pathlib import Path\n"
        "with supervision.undisturbed():\n"
        "    print(1, flush=True)\n"
        "    while not Path({stop!r}).exists(): time.sleep(0.01)\n"
        "    Path({whole!r}).touch()\n"
        "time.sleep(60)\n"
    )
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for send in (os.kill, os.killpg):  # a closed terminal and `timeout` reach all processes
            with _run(code.format(stop=str(part), whole=str(whole)), first=PATIENT) as command:
                _begun(command)
                send(command.pid, number)
                part.touch()
                assert command.wait(20) == 128 + number
            assert whole.exists()
            part.unlink()
            whole.unlink()
    with _run(code.format(stop=str(tmp_path / "never"), whole=str(whole))) as command:
        _begun(command)
        command.send_signal(signal.SIGTERM)
        assert command.wait(20) == 143


def test_work_that_goes_on_says_so_and_a_polite_one_ends_itself(tmp_path: Path) -> None:
    code = (
        "import time\nfrom pathlib import Path\n"
        "try:\n"
        "    with supervision.resumable(polite={polite}):\n"
        "        print(1, flush=True)\n"
        "        time.sleep(60)\n"
        "finally:\n"
        "    Path({mark!r}).touch()\n"
        "    print('a page of errors', file=sys.stderr, flush=True)\n"
    )
    for polite in (True, False):
        mark = tmp_path / str(polite)
        with _run(code.format(polite=polite, mark=str(mark)), first=PATIENT) as command:
            _begun(command)
            os.killpg(command.pid, signal.SIGINT)
            _, said = command.communicate(timeout=20)
        assert command.returncode == 130
        assert said == "asif: interrupted; the same command goes on from there\n"
        assert mark.exists() == polite


def test_nobody_who_reads_the_words_is_waited_for() -> None:
    """The pipe of the errors is full."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    while True:
        try:
            os.write(writing, b"x" * 1024)
        except BlockingIOError:
            break
    os.set_blocking(writing, True)
    code = BEGIN + "import time\nprint(1, flush=True)\ntime.sleep(60)\n"
    command = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=writing, text=True
    )
    with command:
        _begun(command)
        command.send_signal(signal.SIGINT)
        assert command.wait(20) == 130
    os.close(reading)
    os.close(writing)


def test_ctrl_c_while_modules_are_imported_is_one_line() -> None:
    """From the first lines of `asif.cli` on."""
    code = "import asif.cli\nprint(1, flush=True)\nasif.cli.main()\n"
    for wait in range(0, 40, 8):
        with subprocess.Popen(
            [sys.executable, "-c", code, "list"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        ) as command:
            _begun(command)
            time.sleep(wait * POLL_S)
            os.killpg(command.pid, signal.SIGINT)
            _, said = command.communicate(timeout=20)
        if command.returncode:
            assert (command.returncode, said.count("\n")) == (130, 1), said
