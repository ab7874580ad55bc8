"""`--json -`, the streams of a terminal, and outputs without escapes: in real processes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "docs" / "examples" / "logs"
TALKS = """
from docs.examples.relay import PROTOCOL
import os
print("a file of the user's prints")
os.system("echo a process prints")
"""


def run(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "asif", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )


COMMANDS = {
    "list": ["list", "amnesia"],
    "plan": ["plan", str(ROOT / "docs" / "plans" / "figure1.toml")],
    "explain": ["simulate", "--explain", "abs"],
    "verify-trace": ["verify-trace", *(str(LOGS / name) for name in ("counts.csv", "counts.csv"))],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_standard_output_is_json_and_nothing_else(name: str, tmp_path: Path) -> None:
    ran = run(*COMMANDS[name], "--json", "-", cwd=tmp_path)
    assert ran.returncode in (0, 1), ran.stderr
    found = json.loads(ran.stdout)
    assert len(ran.stderr.splitlines()) > 1
    assert [*tmp_path.iterdir()] == []
    usual = run(*COMMANDS[name], "--json", "out.json", cwd=tmp_path)
    assert usual.stdout.splitlines()[-1] == "out.json"
    kept = json.loads((tmp_path / "out.json").read_text())
    assert _timeless(kept) == _timeless(found)


def _timeless(text: object) -> str:
    return re.sub(r'"seconds": [\d.e-]+', "", json.dumps(text))


@pytest.mark.slow
def test_whatever_prints_is_on_standard_error(tmp_path: Path) -> None:
    """Also a file of the user's, and a process that it starts."""
    (tmp_path / "mine.py").write_text(TALKS)
    ran = run("list", "mine.py", "--json", "-", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    json.loads(ran.stdout)
    assert "a file of the user's prints" in ran.stderr
    assert "a process prints" in ran.stderr


def test_a_file_that_is_no_json_has_a_name(tmp_path: Path) -> None:
    plan = str(ROOT / "docs" / "plans" / "figure1.toml")
    for words in (["plan", plan, "--out", "-"], ["prove", "once", "--markdown", "-"]):
        ran = run(*words, cwd=tmp_path)
        assert ran.returncode == 2
        assert "--json -" in ran.stderr
        assert ran.stderr.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


def test_a_full_disk_behind_the_json_is_reported(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "asif", "list", "amnesia", "--json", "-"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    assert ran.returncode == 2
    assert "the output cannot be printed" in ran.stderr


# --- a terminal ------------------------------------------------------------------------------
def on_terminal(command: list[str], columns: int = 80, **environment: str) -> str:
    """The output of a command on a terminal of its own: both streams."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    kept |= {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **environment}
    with subprocess.Popen(
        [sys.executable, *command], stdin=its, stdout=its, stderr=its, env=kept
    ) as process:
        os.close(its)
        found = b""
        with suppress(OSError):  # in the end the terminal is closed
            while part := os.read(ours, 65536):
                found += part
        os.close(ours)
        process.wait()
    return found.decode().replace("\r\n", "\n")


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("words", [["list"], ["simulate", "--explain", "abs"], ["check", "-h"]])
def test_nothing_is_left_of_colours_that_nobody_wants(
    words: list[str], wanted: dict[str, str]
) -> None:
    assert "\x1b" not in on_terminal(["-m", "asif", *words], **wanted)


def test_a_terminal_has_colours_and_lines_of_its_width() -> None:
    found = on_terminal(["-m", "asif", "simulate", "--explain", "abs"], columns=70)
    assert "\x1b[1m" in found  # bold headers
    plain = re.sub(r"\x1b\[[\d;]*m", "", found)
    assert max(map(len, plain.splitlines())) <= 70


PROGRESS = """
import asif.progress as p
from threading import Event
p.SHORT_S, printed, put = 0.01, Event(), p._print
p._print = lambda line: (put(line), printed.set())
with p.show_progress() as progress:
    progress("proving", 1, 2, "a name " * 12)
    assert printed.wait(60)
"""


def test_progress_on_a_terminal_is_lines_without_escapes() -> None:
    found = on_terminal(["-c", PROGRESS], columns=60)
    lines = found.splitlines()
    assert lines[0].startswith("proving: 1 of 2, a name")
    assert all(len(line) <= 60 for line in lines)
    assert "\x1b" not in found
