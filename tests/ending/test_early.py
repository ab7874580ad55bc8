"""Where results go is asked before work begins, by every option of every command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from asif import early
from asif.cli import COMMANDS, application, main
from asif.json_output import json_file

INPUTS = {("run", "--events"), ("calibrate", "--folder"), ("check", "--run")}
"""Options with a path that a command reads from."""
CALLBACKS = {
    one.__name__
    for one in (
        *(early.result_file, early.result_folder),
        *(early.result_picture, early.seldom_used_folder, json_file),
    )
}
NEEDED = {
    "list": [],
    "check": ["micro-batch"],
    "witness": ["micro-batch"],
    "run": [],
    "classify": [],
    "prove": [],
    "plan": ["none.toml"],
    "lineage": ["log.db"],
    "simulate": ["none.toml"],
    "calibrate": [],
    "sweep": ["none.toml"],
    "choose": ["none.toml"],
    "reproduce": ["--all"],
    "spark": ["--all"],
    "flink": ["--all"],
    "verify-trace": ["a.csv", "b.csv"],
    "report": [],
}


def path_options() -> list[tuple[str, str]]:
    """(command, option) of all options with a path."""
    return [
        (name, param.opts[-1])
        for name, command in get_command(application()).commands.items()  # type: ignore[attr-defined]
        for param in command.params
        if param.param_type_name == "option" and type(param.type).__name__ == "TyperPath"
    ]


def test_every_option_with_a_path_is_asked_early_or_is_an_input() -> None:
    asked = set()
    for name, command in get_command(application()).commands.items():  # type: ignore[attr-defined]
        for param in command.params:
            callback = getattr(param.callback, "__wrapped__", param.callback)
            if getattr(callback, "__name__", "") in CALLBACKS:
                asked.add((name, param.opts[-1]))
    assert {*path_options()} - asked == INPUTS
    assert len(asked) > 30
    assert {name for name, _ in asked} == COMMANDS.keys() - {"init", "explore"}


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """The one line of a command that is refused, and has made nothing."""

    def call(*arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["asif", *arguments])
        before = {*tmp_path.rglob("*")}
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert {*tmp_path.rglob("*")} == before
        out, errors = capsys.readouterr()
        assert not out
        assert errors.count("\n") == 1
        return errors

    return call


@pytest.mark.parametrize(("name", "option"), [one for one in path_options() if one not in INPUTS])
def test_a_place_that_is_none_is_refused(
    name: str, option: str, refused: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("of the user's")
    for place in ("file/below.png", "file/below/it.png"):
        assert "file" in refused(name, *NEEDED[name], option, place)


@pytest.mark.parametrize("option", ["--json", "--markdown"])
def test_a_file_of_the_users_is_not_written_over(
    option: str, refused: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("of the user's")
    assert "did not write what is there" in refused("prove", option, "file")
    assert (tmp_path / "file").read_text() == "of the user's"


def test_a_folder_that_is_a_file(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("of the user's")
    for name in ("report", "reproduce", "spark", "flink"):
        assert "file is no folder" in refused(name, *NEEDED[name], "--out", "file")


def test_two_results_in_one_file(refused: Callable[..., str]) -> None:
    said = refused("prove", "--markdown", "a.md", "--json", "./a.md")
    assert "--markdown and --json write to it" in said or "--json and --markdown" in said


REFUSED = {
    "an empty key": (
        ["verify-trace", "a", "b", "--key", ""],
        "--key: the name of a column is empty",
    ),
    "an empty name": (["verify-trace", "a", "b", "--id", "a,"], "--id: the name of a column"),
    "a doubled key": (
        ["verify-trace", "a", "b", "--key", "a", "--key", "a"],
        "--key a: it is given",
    ),
    "no number": (["verify-trace", "a", "b", "--close", "nan"], "--close nan"),
    "no end": (["verify-trace", "a", "b", "--close", "inf"], "--close inf"),
    "another picture": (
        ["simulate", "x.toml", "--plot", "x.gif"],
        "a plot is svg, pdf or png; give x.png",
    ),
    "no seconds": (["check", "amnesia", "--seconds", "nan"], "--seconds nan: write a number"),
    "no wait": (["sweep", "x.toml", "--wait", "nan"], "--wait nan: write a number"),
    "an endless wait": (["check", "amnesia", "--wait", "inf"], "--wait inf: write a number"),
    "a wait for nothing": (["verify-trace", "a", "b", "--wait", "1"], "--wait is for Spark"),
    "an option": (["list", "--jsn", "x"], "No such option: --jsn"),
    "a command": (["chek"], "Did you mean 'check'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_option_is_refused_at_once(name: str, refused: Callable[..., str]) -> None:
    arguments, words = REFUSED[name]
    assert words in refused(*arguments)


def test_an_unknown_axis_is_refused_before_a_run(
    refused: Callable[..., str], tmp_path: Path
) -> None:
    scenario = Path(__file__).parents[2] / "docs" / "scenarios" / "quickstart.toml"
    (tmp_path / "s.toml").write_text(f'scenario = "{scenario}"\n[grid]\nseed = [1, 2]\n')
    plot = ["sweep", "s.toml", "--plot", "p.png", "--axes"]
    assert "x=nothing: there is none" in refused(*plot, "x=nothing,y=recovery_s_mean")
