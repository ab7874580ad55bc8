"""`asif check --operators`: exit codes, the run that refutes, and the options that it goes with."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from asif.cli import main
from docs.examples import relay, write_ahead

FILE, RELAY = str(Path(write_ahead.__file__)), str(Path(relay.__file__))
TWO_PHASE = str(Path("docs/how-to/engines/two_phase.py").resolve())
QUICK = ("--walks", "2", "--examples", "1")
Printed = pytest.CaptureFixture[str]


def asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["asif", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_run_with_another_class_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    assert asked(monkeypatch, "check", FILE, *QUICK) == 0
    capsys.readouterr()
    words = ("--operators", "repeatable,arbitrary", "--json", "found.json")
    assert asked(monkeypatch, "check", FILE, *QUICK, *words) == 1
    shown = capsys.readouterr().out
    assert "NOT AS EXPECTED" not in shown
    assert "source-2" in shown
    assert "Violated in 10 steps (scope union): a@1 comes twice, in steps 8 and 10, and is" in shown
    assert Path("build/check/write_ahead.svg").is_file()
    found = json.loads(Path("found.json").read_text())
    assert [one["name"] for one in found["standard"]] == ["filter", "union"]
    assert found["found"] == {"ARBITRARY": "GAP", "REPEATABLE": "PRECISE"}
    assert found["untried_classes"] == ["CONVERGENT_CAPABLE", "DETERMINISTIC"]
    assert [one["scope"]["outcome"] for one in found["standard"]] == ["holds", "refuted"]


def test_a_refused_graph_is_a_line_and_no_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    words = ("--operators", "repeatable,arbitrary")
    assert asked(monkeypatch, "check", RELAY, *QUICK, *words) == 0
    shown = capsys.readouterr().out
    assert "  union: not deployed: relay: the graph must be a source, an operator and a s" in shown
    assert asked(monkeypatch, "check", RELAY, *QUICK, "--operators", "arbitrary") == 1
    assert "vacuous: the protocol was deployed with no standard op" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((FILE, "--operators", "som"), "--operators: no class 'som'"),
        (
            (FILE, "--operators", "all", "--scope", "two crashes"),
            "--operators is not for one scope",
        ),
        ((FILE, "--operators", "all", "--pin"), "leave out --pin"),
        ((FILE, "--operators", "all", "--duties"), "no --all, --mutants or --operators"),
        (("--all", "--operators", "all"), "leave out --all"),
        ((TWO_PHASE, "--operators", "all"), "two_phase: no scope has a stream"),
    ],
    ids=lambda given: " ".join(given[-2:]) if isinstance(given, tuple) else "",
)
def test_other_options_are_refused(
    words: tuple[str, ...], line: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    assert asked(monkeypatch, "check", *words) == 2
    assert line in capsys.readouterr().err


@pytest.mark.slow
def test_the_file_of_init_runs_with_all_that_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    assert asked(monkeypatch, "init", "hello_operators") == 0
    assert asked(monkeypatch, "check", "hello_operators.py", *QUICK, "--operators", "all") == 0
    shown = capsys.readouterr().out
    assert "union: not deployed: hello_operators: the graph must be a source, an opera" in shown
    assert "\nhello_operators: holds\n" in shown
    assert "not tried: arbitrary operators\n" in shown
