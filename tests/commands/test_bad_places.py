"""Where commands write: nothing of the user's is lost, and two do not disturb each other.

Rule of this file: each refusal comes before any work.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from asif.cli import COMMANDS, application, main
from model.errors import Invalid
from model.machine.children import wait_ended
from model.machine.folders import MARKER
from model.machine.locks import LOCK, held
from model.registry import subject

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
MAIN = "from asif.cli import main; main()"
NOTES = "a user's notes\n"

Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def asif(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """asif in this process, in a folder of its own: its exit code, output and errors."""

    def call(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["asif", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return (ended.value.code, *capsys.readouterr())

    return call


@pytest.mark.parametrize(
    "words",
    [
        ("plan", str(DOCS / "plans" / "priorities.toml"), "--format", "pdf"),
        ("lineage", "no-log.db", "ledger.book#3", "--format", "svg,png"),
    ],
)
def test_a_format_of_a_picture_that_is_not_drawn_is_refused(
    asif: Run, words: tuple[str, ...]
) -> None:
    code, out, errors = asif(*words)
    assert (code, out) == (2, "")
    assert "--format" in errors
    assert "give --out, too" in errors


def test_a_plot_on_standard_output_is_refused_with_a_name_that_works(asif: Run) -> None:
    scenario = str(DOCS / "scenarios" / "quickstart.toml")
    code, out, errors = asif("simulate", scenario, "--plot", "-")
    assert (code, out) == (2, "")
    assert errors.rstrip().endswith("give plot.png")


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def with_scope(arguments: list[str]) -> list[str]:
    """The arguments with the name of a scope of amnesia in the place of ""."""
    scope = subject("amnesia").protocol.evidence.scopes[0].name
    return [word or scope for word in arguments]


# --- files of a user's ---------------------------------------------------------------------------
SWEEP = str(DOCS / "sweeps" / "quickstart.toml")
WORKLOAD = str(DOCS / "workloads" / "sums.toml")
WRITERS = {
    "list --json": (["list", "amnesia", "--json", "mine/notes"], "notes"),
    "init": (["init", "mine"], "../mine.py"),
    "simulate --explain": (["simulate", "amnesia", "--explain", "--json", "mine/notes"], "notes"),
    "check --out": (["check", "amnesia", "--scope", "", "--out", "mine"], "amnesia.svg"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_users_file_is_written_over_with_force_alone(
    name: str, asif: Run, tmp_path: Path
) -> None:
    arguments, file = with_scope(WRITERS[name][0]), WRITERS[name][1]
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / file
    path.write_text(NOTES)
    code, _, err = asif(*arguments)
    assert code == 2
    assert err.count("\n") == 1
    assert path.resolve().name in err
    assert "--force" in err
    assert path.read_text() == NOTES
    code, _, err = asif(*arguments, "--force")
    assert code in (0, 1), err
    assert path.read_text() != NOTES
    if name != "init":  # a protocol that the user may have changed
        assert asif(*arguments)[0] == code


def test_every_command_has_force(asif: Run) -> None:
    from typer.main import get_command

    commands: Any = get_command(application()).commands  # type: ignore[attr-defined]
    for name in COMMANDS:
        options = [text for one in commands[name].params for text in one.opts]
        assert options.count("--force") == 1, name


def test_every_command_that_goes_on_has_fresh() -> None:
    from typer.main import get_command

    commands: Any = get_command(application()).commands  # type: ignore[attr-defined]
    having = {name for name in COMMANDS for one in commands[name].params if "--fresh" in one.opts}
    assert having == {
        *("check", "choose", "flink", "report", "reproduce", "simulate", "spark", "sweep")
    }


# --- folders of a user's -------------------------------------------------------------------------
FOLDERS = {
    "spark, of a check": (["spark", "boxes", "--out", "mine"], "boxes"),
    "spark, of a process": (["spark", "boxes", "--out", "mine"], "process-0"),
    "sweep": (["sweep", SWEEP, "--out", "mine"], "_spark"),
    "choose": (["choose", WORKLOAD, "--master", "local[1]", "--out", "mine"], "_spark"),
    "reproduce": (
        ["reproduce", "lima-fig9", "--master", "local[1]", "--out", "mine"],
        "_spark",
    ),
    "check": (["check", "amnesia", "--master", "local[1]", "--out", "mine"], "_spark"),
    "check, a scope": (
        ["check", "amnesia", "--scope", "", "--master", "local[1]", "--out", "mine"],
        "_spark",
    ),
    "check, spilled": (["check", "amnesia", "--scope", "", "--spill", "mine"], "."),
    "report, of Spark": (["report", "--out", "mine"], "spark/process-0"),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_users_folder_stays_as_it_is(name: str, asif: Run, tmp_path: Path) -> None:
    arguments, folder = with_scope(FOLDERS[name][0]), FOLDERS[name][1]
    mine = tmp_path / "mine" / folder
    (mine / "deep").mkdir(parents=True)
    (mine / "notes").write_text(NOTES)
    (mine / "deep" / "notes").write_text(NOTES)
    before = contents(tmp_path)
    code, out, err = asif(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "asif needs this name for a folder of its own" in err
    found = {name: text for name, text in contents(tmp_path).items() if Path(name).name != LOCK}
    assert found == before


# --- two at a time -------------------------------------------------------------------------------
LOCKED = {
    "spark": (["spark", "boxes", "progressive", "--out", "mine"], "mine"),
    "sweep": (["sweep", SWEEP, "--out", "mine"], "mine"),
    "choose": (["choose", WORKLOAD, "--out", "mine"], "mine"),
    "reproduce": (["reproduce", "lima-fig9", "--out", "mine"], "mine"),
    "report": (["report", "--out", "mine"], "mine"),
    "check --spill": (["check", "amnesia", "--scope", "", "--spill", "mine"], "mine"),
}


@pytest.mark.parametrize("name", LOCKED)
def test_the_second_command_in_a_folder_is_refused(name: str, asif: Run, tmp_path: Path) -> None:
    arguments, folder = with_scope(LOCKED[name][0]), LOCKED[name][1]
    with held(tmp_path / folder / LOCK, "here"):
        before = contents(tmp_path)
        code, out, err = asif(*arguments)
        assert (code, out) == (2, "")
        assert err.endswith(
            f"asif: mine: another process ({os.getpid()}) works there; "
            "wait for its end, or give another folder\n"
        )
        assert contents(tmp_path) == before


@pytest.mark.slow
def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    """The workers of the first keep no lock; its command ends with it, a moment later."""
    words = ["reproduce", "lima-fig9", "--out", "mine"]
    command = [sys.executable, "-c", MAIN, *words]
    first = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    commands: list[psutil.Process] = []
    try:
        kept = tmp_path / "mine"
        while not [*kept.glob("*.jsonl")]:
            assert first.poll() is None
            time.sleep(0.1)
        commands = psutil.Process(first.pid).children()
        for one in commands:
            one.suspend()  # it is not done before the second has looked
        second = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert second.returncode == 2
        assert f"another process ({first.pid}) works there" in second.stderr
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    wait_ended(commands)
    until = time.monotonic() + 30
    while not is_free(tmp_path / "mine" / LOCK):
        assert time.monotonic() < until
        time.sleep(0.1)


def is_free(lock: Path) -> bool:
    """The last thread of a killed process ends its locks, some time after the first."""
    try:
        with held(lock, "free"):
            return True
    except Invalid:
        return False


# --- the source ----------------------------------------------------------------------------------
def test_folders_are_deleted_in_one_room_alone() -> None:
    rooms = ("asif", "model", "proofs", "sim", "engine_check", "spark_check", "reports", "docs")
    deleting = {
        path.relative_to(PROJECT).as_posix()
        for room in rooms
        for path in (PROJECT / room).rglob("*.py")
        if "rmtree" in path.read_text(encoding="utf-8")
    }
    assert deleting == {"model/machine/folders.py", "model/machine/temporary.py"}


def test_the_example_empties_a_folder_of_its_own_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text(NOTES)
    command = [
        sys.executable,
        "-m",
        "docs.examples.log_io",
        "run",
        str(tmp_path / "mine"),
        "--fresh",
    ]
    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert ran.returncode == 2
    assert "asif needs this name for a folder of its own" in ran.stderr
    assert contents(tmp_path) == {"mine/notes": NOTES}


def test_json_of_a_result_begins_with_its_maker(asif: Run, tmp_path: Path) -> None:
    asif("list", "amnesia", "--json", "one.json")
    first = json.loads((tmp_path / "one.json").read_text())[0]
    assert next(iter(first)) == "made_by"
    assert MARKER == ".asif"
