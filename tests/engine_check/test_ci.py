"""The script of CI: it runs each quick check of each engine.

Rule of this file: the shell reads the script; no line of it is written here again.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engine_check.engine import CheckedEngine
from engine_check.known_checks import checks
from flink_check.engine import ENGINE as FLINK
from spark_check.engine import ENGINE as SPARK

ROOT = Path(__file__).parents[2]
REST = """eval "$(sed -n '/^rest() {/,/^}/p' .ci/run)"; rest "$1" """


@pytest.mark.parametrize("engine", [SPARK, FLINK], ids=lambda one: one.name)
def test_ci_runs_every_quick_check(engine: CheckedEngine) -> None:
    """The report runs some of them, and the script asks for the others by name."""
    lines = {line.strip() for line in (ROOT / ".ci" / "run").read_text().splitlines()}
    assert {"make report", f".venv/bin/asif {engine.name} $(rest {engine.package})"} <= lines
    command = ["bash", "-c", REST, "rest", engine.package]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    reported, others = {*checks(engine, "report")}, {*said.stdout.split()}
    assert others
    assert reported | others == {*checks(engine, "quick")}
    assert not reported & others
