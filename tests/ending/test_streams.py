"""Results before words: every command with a pipe that nobody reads, a full device, no stream."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asif.cli import COMMANDS
from asif.ending.codes import ExitCode
from spark_check.log_io.library import Connection, Event, Log
from tests.ending.forked import KINDS, Ended
from tests.families.log_io.library.tables import log_outputs

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
LOGS = DOCS / "examples" / "logs"
JSON = "result.json"

CALLS: dict[str, tuple[list[str], int]] = {
    "init": (["mine"], 0),
    "list": (["micro-batch"], 0),
    "check": (["micro-batch", "--duties"], 0),
    "witness": (["micro-batch", "no crash"], 0),
    "run": (["--events", "e.csv", "--pattern", "a, b", "--out", "outputs"], 0),
    "classify": (["filter"], 0),
    "prove": (["skipping", "--markdown", "lemmas.md"], 0),
    "plan": ([f"{DOCS}/plans/figure1.toml", "--out", "drawn"], 0),
    "lineage": (["log.db"], 0),
    "simulate": (["quick.toml", "--trace", "trace.json", "--allow-cut-off"], 0),
    "calibrate": ([], 0),
    "sweep": (["sweep.toml", "--summary"], 0),
    "choose": ([f"{DOCS}/workloads/sums.toml", "--terms"], 0),
    "reproduce": (["hwang-fig6", "--seeds", "1", "--events", "1000"], 0),
    "spark": (["triggers"], 0),
    "flink": (["--all"], 0),
    "verify-trace": ([f"{LOGS}/payments.csv", f"{LOGS}/payments-after-crash.csv"], 1),
    "report": ([], 0),
}
"""A quick call of each command, and the exit code of its verdict."""
ALL_KINDS = ("list", "simulate")
"""Commands with every kind of streams; the others have those of the standard output that fail."""
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d{6}Z")
"""The begin of the name of a kept report."""
EVENTS = "time,type\n1,a\n2,b\n3,a\n5,b\n6,a\n7,b\n9,a\n9,b\n10,a\n11,b\n"
SWEEP = 'scenario = "quick.toml"\n[grid]\nseed = [1, 2]\n'
QUICK = (
    (DOCS / "scenarios" / "quickstart.toml")
    .read_text(encoding="utf-8")
    .replace("events = 4_000", "events = 200")
    .replace("at_event = 2_000", "at_event = 100")
)


@pytest.fixture(scope="module")
def ended() -> Iterator[Callable[[list[str], Path, str], Ended]]:
    """Runs a command in a folder with such streams."""
    command = [sys.executable, "-m", "tests.ending.forked"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=PROJECT
    ) as server:
        stdin, stdout = server.stdin, server.stdout
        assert stdin is not None
        assert stdout is not None

        def call(argv: list[str], folder: Path, kind: str) -> Ended:
            print(json.dumps([argv, str(folder), kind]), file=stdin, flush=True)
            return Ended(*json.loads(stdout.readline()))

        yield call
        stdin.close()


def test_every_command_has_a_call() -> None:
    """But the one that has no result: it serves a page until it is ended."""
    assert CALLS.keys() == COMMANDS.keys() - {"explore"}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_lost_output_loses_no_result(
    name: str, tmp_path: Path, ended: Callable[[list[str], Path, str], Ended]
) -> None:
    arguments, verdict = CALLS[name]
    argv = [name, *arguments, *([] if name == "init" else ["--json", JSON])]
    files: dict[str, set[str]] = {}
    for kind in KINDS if name in ALL_KINDS else KINDS[:3]:
        folder = tmp_path / kind
        folder.mkdir()
        (folder / "sweep.toml").write_text(SWEEP)
        (folder / "quick.toml").write_text(QUICK)
        (folder / "e.csv").write_text(EVENTS)
        with Log(folder / "log.db") as log:
            log_outputs(log, Event(*Connection("a", "out", "b", "in"), 1, b"body"))
        found = ended(argv, folder, kind)
        assert "Traceback" not in found.errors + found.out
        lost = kind == "full"
        assert found.code == (ExitCode.INVALID if lost else verdict), (kind, found)
        lines = [line for line in found.errors.splitlines() if line.startswith("asif")]
        assert len(lines) == lost, (kind, found)
        if name != "init":
            json.loads((folder / JSON).read_text())
        files[kind] = {TIME.sub("", one.name) for one in folder.rglob("*") if one.is_file()}
    assert all(found == files["read"] for found in files.values()), files


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_ends_quietly_and_has_the_exit_codes(
    name: str, tmp_path: Path, ended: Callable[[list[str], Path, str], Ended]
) -> None:
    argv = [*([name] if name else []), "--help"]
    for kind in KINDS:
        found = ended(argv, tmp_path, kind)
        assert found.code == (ExitCode.INVALID if kind == "full" else 0), (kind, found)
        assert found.errors.count("\n") == (kind == "full")
        if kind == "read":
            words = " ".join(found.out.split())
            assert "Exit codes: 0 holds, or done; 1 refuted" in words
            assert "70 a fault of asif; 130 interrupted" in words


SHELLS = {
    "head": ("asif list --json r.json | head -1 >&3", 0),
    "nobody": ("asif list --json r.json | true", 0),
    "full": ("asif list --json r.json >/dev/full", 2),
    "no output": ("asif list --json r.json >&-", 0),
    "no errors": ("asif list --json r.json 2>&-", 0),
    "nothing": ("asif list --json r.json <&- >&- 2>&-", 0),
    "refuted": ("asif verify-trace a.csv b.csv --json r.json | true", 1),
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_real_shell_sees_the_verdict(name: str, tmp_path: Path) -> None:
    """The supervised command, with all that Python does at its end."""
    words, code = SHELLS[name]
    (tmp_path / "a.csv").write_text("n\n1\n2\n")
    (tmp_path / "b.csv").write_text("n\n1\n")
    text = words.replace("asif", f"'{sys.executable}' -m asif", 1)
    script = f"exec 3>/dev/null; {text}; exit ${{PIPESTATUS[0]}}"
    ran = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(PROJECT), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert ran.returncode == code, ran
    assert ran.stderr.count("\n") == (name == "full"), ran.stderr
    json.loads((tmp_path / "r.json").read_text())
