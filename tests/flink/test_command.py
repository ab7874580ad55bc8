"""`asif flink` without Flink: a line, and exit code 2."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from asif import cli
from asif.commands import report
from engine_check import known_checks
from engine_check.check import Check
from flink_check import environment
from model.errors import Invalid
from model.progress import silent


@pytest.fixture
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one; there is one check."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(known_checks, "checks", lambda *_: {"one": Check("one", "", lambda _: ())})
    return tmp_path


def asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code of `asif flink` with these words."""
    monkeypatch.setattr(sys, "argv", ["asif", "flink", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize("words", [("one",), ("--all",), ("one", "--profile", "full")])
def test_without_the_environment_a_line_says_how_to_make_it(
    words: tuple[str, ...],
    somewhere: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert asked(monkeypatch, *words) == 2
    error = capsys.readouterr().err
    assert "no complete environment" in error
    assert "`asif flink --setup`" in error
    assert error.count("\n") == 1
    assert not [*somewhere.iterdir()]


def test_a_misspelt_check_is_reported_before_the_environment(
    somewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(monkeypatch, "onne") == 2
    assert "unknown check 'onne'; did you mean one" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["one", "--setup"])
def test_a_second_command_beside_the_first_is_refused(
    word: str,
    somewhere: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(environment, "installed", lambda: None)
    with environment.alone():
        assert asked(monkeypatch, word) == 2
    error = capsys.readouterr().err
    assert "Flink of this folder: another process" in error
    assert error.count("\n") == 1


def test_setup_alone_makes_the_environment_and_runs_no_check(
    somewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = environment.FlinkHome(
        somewhere, (somewhere / "flink-dist-2.3.0.jar",), somewhere / "java" / "bin" / "java"
    )
    (somewhere / "java").mkdir()
    (somewhere / "java" / "release").write_text('JAVA_VERSION="21.0.8"\nMODULES="java.base"\n')
    monkeypatch.setattr(environment, "set_up", lambda **_: home)
    monkeypatch.setattr("flink_check.engine.installed", lambda: home)
    assert asked(monkeypatch, "--setup") == 0
    assert capsys.readouterr().out == f"Flink 2.3.0 with Java 21.0.8: {somewhere}\n"


def test_a_report_without_the_environment_names_what_it_skips(somewhere: Path) -> None:
    found = report._crash_flink(report.Job(True, somewhere, silent, ()))
    (line,) = found.skipped
    assert line.startswith("one: flink: no complete environment in build/flink-environment")
    assert found.checks == ()
    assert [*report._engine_lines(found)] == [f"skipped: {line}"]


def test_a_check_that_refuses_its_input_is_not_skipped(
    somewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its work folder cannot be made, since a file is there."""
    monkeypatch.setattr(environment, "installed", lambda: None)
    (somewhere / "flink").mkdir()
    (somewhere / "flink" / "one").touch()
    with pytest.raises(Invalid, match="asif needs this name for a folder of its own"):
        report._crash_flink(report.Job(True, somewhere, silent, ()))
