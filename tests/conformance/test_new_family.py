"""A new family is one folder: copied into the project, it is checked, run, timed and reported.

Rule of this file: the copy of the project differs from it in that folder alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
COPIED = (
    "asif",
    "docs",
    "model",
    "proofs",
    "reports",
    "sim",
    "engine_check",
    "flink_check",
    "spark_check",
    "tests",
)
PROTOCOLS = ("standby", "standby:any", "standby:unready")
SCENARIO = """\
protocol = "standby"
[stream]
events = 200
rate_per_s = 100.0
types = { a = 1.0, b = 1.0 }
[[operators]]
name = "match"
pattern = "a, b"
window = 30
slide = 30
[[failures]]
nodes = ["match"]
at_event = 20
"""
SWEEP = """\
scenario = "small.toml"
[grid]
protocol = ["standby", "upstream-backup"]
seed = [1, 2]
"""
LOCAL = """\
import json
from pathlib import Path
from model.results.plain import plain
from sim.sweeps.grid import read
from sim.sweeps.results import carry_out

result = carry_out(read("sweep.toml"), Path("local"))
Path("local.json").write_text(json.dumps(plain(result)))
"""
REPORT = """\
import json
from pathlib import Path
from model.registry import modules
from model.results.plain import read
from model.results.report import ReportResults
from model.results.run import RealRun
from model.results.simulation import Simulation
from proofs.explore.verdict import verdict
from reports import page

family = modules()["model.protocols.standby.protocol"]
results = ReportResults(
    version="0",
    profile="quick",
    seconds=1.0,
    verdicts=tuple(verdict(one, examples=5) for one in (family, *family.variants)),
    simulated=(read(Simulation, json.loads(Path("simulated.json").read_text())),),
    runs=(read(RealRun, json.loads(Path("ran.json").read_text())),),
)
page.write(results, Path("page"))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, with one folder more."""
    copy = tmp_path_factory.mktemp("project")
    ignored = shutil.ignore_patterns("__pycache__", "build")
    for name in COPIED:
        shutil.copytree(PROJECT / name, copy / name, ignore=ignored)
    shutil.copy(PROJECT / "pyproject.toml", copy)
    shutil.copytree(
        PROJECT / "tests/conformance/standby", copy / "model/protocols/standby", ignore=ignored
    )
    (copy / "small.toml").write_text(SCENARIO)
    (copy / "sweep.toml").write_text(SWEEP)
    events = "".join(f"{time},{'ab'[time % 2]}\n" for time in range(40))
    (copy / "events.csv").write_text(f"time,type\n{events}")
    return copy


def python(project: Path, *arguments: str, code: int = 0) -> str:
    ran = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        check=False,
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout


def asif(project: Path, *arguments: str, code: int = 0) -> str:
    return python(project, "-W", "error", "-m", "asif", *arguments, code=code)


def test_it_is_listed(project: Path) -> None:
    asif(project, "list", "--json", "list.json")
    rows = {row["protocol"]: row for row in json.loads((project / "list.json").read_text())}
    assert {*PROTOCOLS} <= {*rows}
    assert rows["standby"]["expected"] == "holds"
    assert rows["standby:any"]["expected"] == "refuted"


def test_it_keeps_all_duties(project: Path) -> None:
    shown = asif(project, "check", "standby", "--duties", "--json", "duties.json")
    results = json.loads((project / "duties.json").read_text())
    assert all(result["asked"] and not result["faults"] for result in results)
    assert f"duties of standby: {len(results)} kept\n" in shown


@pytest.mark.slow
def test_it_is_checked(project: Path) -> None:
    assert "standby: holds" in asif(project, "check", "standby", "--examples", "5")
    shown = asif(project, "check", "standby:any", "--examples", "5", code=1)
    assert "standby:any: refuted\n" in shown
    assert "NOT AS EXPECTED" not in shown


@pytest.mark.slow
def test_it_is_run_simulated_and_reported(project: Path) -> None:
    events = ["--events", "events.csv", "--pattern", "a, b", "--window-size", "6"]
    ran = [*events, "--window-slide", "3", "--protocol", "standby", "--crash", "match@9"]
    shown = asif(project, "run", *ran, "--json", "ran.json")
    assert "the same" in shown.splitlines()
    shown = asif(project, "simulate", "small.toml", "--json", "simulated.json")
    assert "standby" in shown
    result = json.loads((project / "simulated.json").read_text())
    assert result["same"]
    assert result["metrics"]["crashes"] == 1
    assert result["metrics"]["traffic"]["state copies"]["messages"]
    python(project, "-c", REPORT)
    markdown = (project / "page" / "report.md").read_text()
    data = (project / "page" / "report" / "standby.js").read_text()
    assert "Passive standby" in (project / "page" / "report.html").read_text()
    assert "Passive standby" in markdown
    for text in (markdown, data):
        assert "every replica is ready" in text


@pytest.mark.slow
def test_it_is_swept_in_this_process(project: Path) -> None:
    python(project, "-c", LOCAL)
    result = json.loads((project / "local.json").read_text())
    assert (result["runs"], result["same"], result["failed"]) == (4, 4, 0)


@pytest.mark.spark
def test_it_is_swept_on_spark(project: Path) -> None:
    asif(project, "sweep", "sweep.toml", "--master", "local[2]", "--json", "swept.json")
    result = json.loads((project / "swept.json").read_text())
    assert (result["runs"], result["same"], result["failed"]) == (4, 4, 0)


@pytest.mark.slow
@pytest.mark.exhaustive  # `.ci/run` runs the suite on all families of the project
def test_the_suite_runs_on_it(project: Path) -> None:
    """All of tests/conformance, of this family alone."""
    others = "not new_family and not passive and not active"
    shown = python(
        project, "-m", "pytest", "-v", "tests/conformance", "-k", f"standby and {others}"
    )
    assert " passed" in shown
    assert "failed" not in shown
    for protocol in PROTOCOLS:
        assert f"[{protocol}]" in shown
