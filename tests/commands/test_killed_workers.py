"""A worker that is killed ends no command: its call is lost, in one line, and the rest is there.

Rule of this file: a call kills its own process, so nothing here depends on time.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from asif.cli import main
from asif.commands import check, prove, report, reproduce
from asif.processes import call_all
from model.calls import EndedCall, Execute
from model.machine.children import wait_ended
from model.machine.journals import entries
from sim.sweeps.results import TABLE
from tests.children import children
from tests.sim.test_sweeps import swept_table, written

ROOT = Path(__file__).parents[2]
RELAY = str(ROOT / "docs" / "examples" / "relay.py")
WHY = "its process was ended by SIGKILL (is there enough memory?)"


def killing(at: int) -> Execute[Any, Any]:
    """An Execute in two processes, in which the call of item `at` kills its process."""

    def execute(
        call: Callable[[Any], Any], items: Sequence[Any], *_: object, **__: object
    ) -> Generator[list[EndedCall[Any]], None, None]:
        return call_all(partial(_kill_or_call, call, at), [*enumerate(items)], 2)

    return execute


def _kill_or_call(call: Callable[[Any], Any], at: int, numbered: tuple[int, Any]) -> Any:
    number, item = numbered
    if number == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return call(item)


class EndedCommand(NamedTuple):
    """The end of a command.  result: the JSON that it wrote."""

    code: object
    out: str
    err: str
    result: Any


@pytest.fixture
def asif(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., EndedCommand]]:
    """Runs a command in this process, which has no other process afterwards."""
    monkeypatch.chdir(tmp_path)
    before = children()

    def run(*words: str) -> EndedCommand:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["asif", *words, "--json", "out.json"])
        with pytest.raises(SystemExit) as ended:
            main()
        result = json.loads((tmp_path / "out.json").read_text())
        return EndedCommand(ended.value.code, *capsys.readouterr(), result)

    yield run
    assert children() == before


def test_check_goes_on(asif: Callable[..., EndedCommand], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "call_all", killing(0))
    found = asif("check", RELAY, "--examples", "5", "--mutants", "--workers", "2")
    assert found.code == 1
    (line,) = [line for line in found.out.splitlines() if "SIGKILL" in line]
    assert line.endswith(WHY)
    assert line.startswith("  vacuous: ")
    assert found.result["outcome"] == "vacuous"
    scopes, attacked, mutants = (found.result[key] for key in ("scopes", "attack", "mutants"))
    assert len(scopes) + bool(attacked["actions"]) + len(mutants) == 2 + 1 + 4 - 1


@pytest.mark.exhaustive  # `.ci/run` kills workers of check, sweep and reproduce
def test_prove_goes_on(asif: Callable[..., EndedCommand], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asif("prove", "passive-standby")
    names = [one["name"] for one in whole.result[0]["lemmas"]]
    assert (whole.code, len(names)) == (0, 4)
    assert "lost" not in whole.result[0]
    monkeypatch.setattr(prove, "call_all", killing(0))
    found = asif("prove", "passive-standby")
    assert found.code == 1
    (line,) = [line for line in found.out.splitlines() if "SIGKILL" in line]
    (lost,) = found.result[0]["lost"]
    assert line == f"LOST: {lost}"
    left = [one["name"] for one in found.result[0]["lemmas"]]
    (gone,) = {*names} - {*left}
    assert lost == f"proving {gone}: {WHY}"
    assert left == [name for name in names if name != gone]
    assert all(one["as_expected"] for one in found.result[0]["lemmas"])
    assert "1 lost" in found.out


@pytest.mark.exhaustive  # `.ci/run` goes on with a check, a sweep, a proof and a report
def test_reproduce_goes_on_and_is_resumed(
    asif: Callable[..., EndedCommand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other seeds are kept, and the same command runs the lost one again."""
    words = ("reproduce", "lima-fig9", "--seeds", "3", "--events", "3000", "--out", "runs")
    monkeypatch.setattr(reproduce, "call_all", killing(1))
    found = asif(*words)
    assert (found.code, found.result) == (1, [])
    assert f"lima-fig9: seed 1 has no result: {WHY}" in found.err.splitlines()
    assert found.err.count("SIGKILL") == 1
    (kept,) = Path("runs").glob("*.jsonl")
    assert sorted(entries(kept, "seed")) == [0, 2]
    monkeypatch.setattr(reproduce, "call_all", call_all)
    again = asif(*words)
    assert again.code in (0, None)
    assert (again.result[0]["seeds"], again.result[0]["resumed"]) == (3, 2)


def test_a_sweep_goes_on_and_is_resumed(tmp_path: Path) -> None:
    sweep = written(tmp_path)
    before = children()
    found = swept_table(sweep, tmp_path / "out", killing(2))
    assert found["error"].dropna().to_dict() == {2: f"its process died: {WHY}"}
    assert children() == before
    again = swept_table(sweep, tmp_path / "out")
    assert list(again["run"]) == list(found["run"])
    assert again["error"].isna().all()
    assert (tmp_path / "out" / TABLE).exists()


def _found(result: Any, _: object) -> Any:
    return result


@contextmanager
def _no_spark(*_: object, **__: object) -> Iterator[Iterator[Any]]:
    yield iter(())


@pytest.mark.exhaustive  # `.ci/run` writes reports that nobody disturbs
def test_the_report_goes_on(
    asif: Callable[..., EndedCommand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A simulation is lost, and the picture of another one; the page says so and has the rest."""
    found_nothing: dict[str, Any] = {
        "worlds, attacks and mutants": [],
        "lemmas": [],
        "Spark": report.CrashedEngine(()),
        "Flink": report.CrashedEngine(()),
    }
    parts = tuple(
        part._replace(run=partial(_found, found_nothing[part.name]))
        if part.name in found_nothing
        else part
        for part in report.PARTS
    )
    scenarios = [ROOT / "docs" / "scenarios" / f"{name}.toml" for name in ("abs", "log-io")]
    monkeypatch.setattr(report, "PARTS", parts)
    monkeypatch.setattr(report, "on_spark", _no_spark)
    monkeypatch.setattr(report, "SCENARIOS", scenarios)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    monkeypatch.setattr("sim.experiments.experiment.experiments", dict)
    monkeypatch.setattr("model.registry.modules", dict)
    monkeypatch.setattr(report, "call_all", killing(0))
    found = asif("report", "--out", "page")
    assert found.code == 1
    lost = [f"simulating {scenarios[0].stem}: {WHY}"]
    drawn = [one["scenario"] for one in found.result["simulated"]]
    assert len(drawn) == 1
    lost.append(f"drawing scenario {drawn[0]}: {WHY}")
    assert found.result["lost"] == lost
    assert [line for line in found.out.splitlines() if "SIGKILL" in line] == [
        f"LOST: {line}" for line in lost
    ]
    for page in ("report.html", "report.md"):
        text = Path("page", page).read_text()
        assert text.count("LOST: ") == 2
        assert drawn[0] in text.replace("\\", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("prove",), ("reproduce", "lima-fig9")], ids=lambda words: words[0]
)
def test_ctrl_c_ends_the_command_and_all_its_processes(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    """It goes to the whole group, as a terminal sends it, and no process prints a traceback."""
    command = [sys.executable, "-c", "from asif.cli import main; main()", *words]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        me = psutil.Process(running.pid)
        while len(family := me.children(recursive=True)) < 3:  # the command, and one with its guard
            assert running.poll() is None
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
    wait_ended(family, timeout_s=60)
    assert running.returncode == 130
    assert "Traceback" not in said
