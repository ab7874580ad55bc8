"""The command of an engine: the checks that it runs, its output, its files, its exit code."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import typer

from asif.console import Profile
from asif.engine_checks import chosen, on_engine, print_checks
from engine_check import check_process, known_checks
from engine_check.campaign import KEPT
from engine_check.check import Check
from model.errors import Invalid
from tests.engine_check.toy.engine import ENGINE

CHECKS = {name: Check(name, f"A check, {name}", lambda _: ()) for name in ("brief", "wrong")}


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_process, "JOB", "tests.engine_check.check_jobs:run")
    monkeypatch.setattr(known_checks, "checks", lambda *_: CHECKS)


def run(out: Path, *names: str) -> list[dict[str, object]]:
    """The JSON of the command.  Raises typer.Exit as the command does."""
    wanted, written = chosen(ENGINE, names, not names, Profile.QUICK), out / "result.json"
    try:
        print_checks(partial(on_engine, ENGINE, wanted, Profile.QUICK, out), out, written)
    finally:
        found = json.loads(written.read_text())
    return list(found)


def test_a_check_that_holds_is_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = run(tmp_path, "brief")
    assert found["machine"] == {**found["machine"], "engine": "Toy", "version": "1.2"}  # type: ignore[dict-item]
    assert "brief: Toy did as predicted in the one case" in capsys.readouterr().out


def test_a_check_that_does_not_hold_ends_the_command_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those after it run, too, and nothing of it is kept for the next campaign."""
    with pytest.raises(typer.Exit) as ended:
        run(tmp_path, "wrong", "brief")
    assert ended.value.exit_code == 1
    said = capsys.readouterr().out
    assert "wrong: NOT AS PREDICTED in 1 of 1 cases" in said
    assert "brief: Toy did as predicted" in said
    assert not (tmp_path / KEPT).exists()


def test_a_name_that_is_given_twice_runs_once() -> None:
    wanted = chosen(ENGINE, ["wrong", "brief", "wrong"], False, Profile.QUICK)
    assert [one.name for one in wanted] == ["wrong", "brief"]


@pytest.mark.parametrize(
    ("names", "all_", "line"),
    [
        ([], False, "toy: give checks or --all; there are brief, wrong"),
        (["brief"], True, "toy: give checks or --all; there are brief, wrong"),
        (["wrongg"], False, "unknown check 'wrongg'; did you mean wrong"),
        (["log-io"], False, "toy: log-io is a protocol, and no check; give one of brief, wrong"),
    ],
    ids=["nothing", "both", "unknown", "a protocol"],
)
def test_what_cannot_be_run_is_refused_in_a_line(names: list[str], all_: bool, line: str) -> None:
    with pytest.raises(Invalid) as refused:
        chosen(ENGINE, names, all_, Profile.QUICK)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)
