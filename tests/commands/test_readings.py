"""A reading of a paper, which is a patched form of a protocol, in every command that takes one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.test_cli import EVENTS, asif

READING, MENDED = "log-io:sent-from-the-log", "log-io"
SCENARIO = Path("docs/scenarios/log-io.toml").resolve()
"""OP3 crashes; with the reading, its new outputs have old numbers, and OP4 discards them."""
SET = ("--set", "operators.OP4.gathers=1", "--allow-cut-off")
SPARK = pytest.mark.spark


def simulated(protocol: str, *more: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return asif("simulate", str(SCENARIO), "--set", f"protocol={protocol}", *SET, *more, cwd=cwd)


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    [
        ("--workers", "2"),
        pytest.param(("--master", "local[1]"), marks=[SPARK, pytest.mark.exhaustive]),
    ],
)
def test_it_is_checked_in_other_processes(where: tuple[str, str], tmp_path: Path) -> None:
    quick = ("--walks", "1", "--examples", "1", "--json", "found.json")
    ran = asif("check", READING, *where, *quick, cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    assert "-        sent=stored.sent,\n" in ran.stdout
    assert f"{READING}: refuted\n" in ran.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["outcome"], found["expected"]) == ("refuted", True)


@pytest.mark.slow
def test_the_counterexample_of_one_in_a_file_is_replayed(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        f"from model.registry import protocols\nPROTOCOL = protocols()[{READING!r}]\n"
    )
    assert asif("check", "own.py", "--examples", "1", cwd=tmp_path).returncode == 1
    (replay,) = (tmp_path / "build/check").glob("test_*.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(replay)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stdout
    assert "AssertionError" in ran.stdout


@pytest.mark.slow
def test_it_is_simulated(tmp_path: Path) -> None:
    """Its output is wrong after a crash alone, and the mended text's is not."""
    wrong = simulated(READING, "--json", "found.json", cwd=tmp_path)
    assert wrong.returncode == 1, wrong.stderr
    assert "NOT as if nothing had failed: of 50 outputs 15 are missing" in wrong.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["protocol"], found["same"]) == (READING, False)
    assert simulated(READING, "--set", "failures=[]", cwd=tmp_path).returncode == 0
    assert simulated(MENDED, cwd=tmp_path).returncode == 0


@pytest.mark.slow
def test_it_runs_on_real_events_beside_the_mended_text(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(EVENTS)
    events = ("--events", "e.csv", "--pattern", "a, b", "--crash", "match@5")
    names = ("--protocol", READING, "--compare", MENDED)
    ran = asif("run", *events, *names, cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    assert "NOT THE SAME: 1 outputs are missing, and 0 are too many" in ran.stdout
    assert asif("run", *events, "--protocol", MENDED, cwd=tmp_path).returncode == 0


@SPARK
@pytest.mark.slow
def test_it_is_swept_on_spark(tmp_path: Path) -> None:
    """Spark's processes make the copy of the patched modules anew."""
    (tmp_path / "s.toml").write_text(
        f'scenario = "{SCENARIO}"\n[grid]\nprotocol = ["{MENDED}", "{READING}"]\n'
        "operators.OP4.gathers = [1]\n"
    )
    ran = asif("sweep", "s.toml", "--master", "local[1]", "--json", "found.json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr  # one that is refuted claims nothing
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["runs"], found["failed"], found["same"]) == (2, 0, 1)
