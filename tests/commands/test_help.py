"""Help pages, versions and the completion of words: complete, quick, and true."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import typer.main
from rich.console import Console
from typer.core import TyperGroup

from asif import names, versions
from asif.cli import COMMANDS, application
from asif.examples import EXAMPLES, examples
from asif.help import COMMENT
from engine_check.engine import engine_in
from engine_check.known_checks import checks
from sim.experiments.experiment import experiments

ROOT = Path(__file__).parents[2]


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "asif", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def group() -> TyperGroup:
    command = typer.main.get_command(application())
    assert isinstance(command, TyperGroup)
    return command


def page(group: TyperGroup, name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The help page of a command."""
    group.main([name, "-h"], prog_name="asif", standalone_mode=False)
    return capsys.readouterr().out


# --- pages -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_page_has_examples_and_exit_codes_on_80_columns(
    name: str,
    group: TyperGroup,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = page(group, name, capsys)
    assert "…" not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "Examples:" in shown
    assert "Exit codes: 0 holds" in shown
    for line in examples(name):
        assert line.partition("  #")[0].rstrip() in shown


@pytest.mark.parametrize("line", [line for name in COMMANDS for line in examples(name)])
def test_an_example_is_read_as_the_command_reads_it(line: str, group: TyperGroup) -> None:
    """Without its callbacks, which ask whether files can be written."""
    command = shlex.split(line.partition(" | ")[0], comments=True)
    assert command[0] == "asif"
    assert len(line.partition("  #")[0].rstrip()) <= COMMENT or "  #" not in line
    name, *words = command[1:]
    parent = typer.Context(group, **group.context_settings)
    context = typer.Context(group.commands[name], info_name=name, parent=parent)
    _, rest, _ = group.commands[name].make_parser(context).parse_args(list(words))
    assert not rest
    group.commands[name].make_context(name, list(words), parent=parent)


def test_each_command_has_an_example() -> None:
    assert {*EXAMPLES} == {*COMMANDS}
    assert all(EXAMPLES.values())


def test_pages_name_what_a_command_takes(
    group: TyperGroup, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in names.LISTED:
        shown = page(group, name, capsys).split()
        for one in names.LISTED[name].names():
            assert {one, f"{one},"} & {*shown}


def test_names_are_those_of_the_checks_and_experiments() -> None:
    for engine in ("spark", "flink"):
        assert names.checks(engine) == tuple(checks(engine_in(f"{engine}_check")))
    assert names.experiments() == tuple(experiments())


def test_a_bracket_in_a_help_text_is_no_markup(
    group: TyperGroup, capsys: pytest.CaptureFixture[str]
) -> None:
    from typer.core import TyperOption

    from asif.ending.fence import FencedCommand

    option = TyperOption(param_decls=["--x"], help="As in [costs] and [red].")
    FencedCommand("odd", params=[option], help="Write [costs].", callback=None).main(
        ["--help"], standalone_mode=False
    )
    shown = capsys.readouterr().out
    assert "Write [costs]." in shown
    assert "As in [costs] and [red]." in shown


# --- versions --------------------------------------------------------------------------------
def test_the_version_names_libraries_and_the_commit() -> None:
    ran = run("--version")
    assert ran.returncode == 0
    lines = ran.stdout.splitlines()
    assert lines[0].startswith(f"asif {version('asif-testbed')}")
    for line in (f"Python {sys.version.split()[0]}", f"Spark {version('pyspark')}"):
        assert line in lines
    for name, package in (("Z3", "z3-solver"), ("Hypothesis", "hypothesis")):
        assert f"{name} {version(package)}" in lines
    if (ROOT / ".git").exists():
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert f"commit {head.stdout[:12]}" in lines[0]


def test_the_version_loads_no_library() -> None:
    code = (
        "import sys; from asif.versions import lines; print(*lines());"
        "print({'pyspark', 'z3', 'numpy', 'typer'} & {*sys.modules}, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == "set()"


def test_another_repository_is_not_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed package in a folder that belongs to another project has no commit of it."""
    monkeypatch.setattr(versions, "SOURCE", tmp_path)
    assert versions.commit() is None or len(versions.commit() or "") == 12
    (tmp_path / ".git").mkdir()
    assert versions.commit() is None


# --- completion ------------------------------------------------------------------------------
COMPLETED = {
    "asif che": {"check"},
    "asif check upstream-backup-a": {"upstream-backup-acks"},
    "asif check upstream-backup:pairs-f": {"pairs-first-window"},
    "asif check --allow": {"--allow-unfinished"},
    "asif check --profile f": {"full"},
    "asif spark trig": {"triggers"},
    "asif flink sav": {"savepoints"},
    "asif reproduce lima": {"lima-fig9"},
    "asif simulate docs/scenarios/qui": {"docs/scenarios/quickstart.toml"},
    "asif simulate --explain micro": {"micro-batch"},
    "asif sweep docs/sweeps/win": {"docs/sweeps/windows.toml"},
    "asif run --protocol amne": {"amnesia"},
    "asif plan --format ": {"svg", "pdf", "png"},
    "asif reproduce hwang-fig6 --format s": {"svg"},
    "asif check --format svg,p": {"svg,pdf", "svg,png"},
    "asif explore abs three": {r"three\ relays", r"three\ relays\ and\ two\ crashes"},
    r"asif explore abs no\ crash\ a": {r"no\ crash\ and\ two\ inputs"},
    "asif explore nosuch a": set(),
    "asif check abs --scope three": {r"three\ relays", r"three\ relays\ and\ two\ crashes"},
}
BASH = """
eval "$(asif --show-completion bash)"
complete -p asif
while IFS= read -r line; do
    COMP_LINE="$line" COMP_POINT=${#line}
    _asif_completion asif
    echo "$line -> ${COMPREPLY[*]}"
done
"""


@pytest.fixture
def with_asif(tmp_path: Path) -> str:
    """PATH with the command `asif` of this folder."""
    command = tmp_path / "asif"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m asif "$@"\n')
    command.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


@pytest.mark.slow
def test_bash_completes_names(with_asif: str) -> None:
    """In a real bash: its function is called as bash does, and answers."""
    ran = subprocess.run(
        ["bash", "--norc", "-c", BASH],
        input="\n".join(COMPLETED) + "\n",
        env={**os.environ, "PATH": with_asif, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    first, *answers = ran.stdout.splitlines()
    assert first == "complete -o default -F _asif_completion asif"
    assert ran.stderr == ""
    parted = (one.partition(" -> ") for one in answers)
    found = {line: {*re.split(r"(?<!\\) ", words)} - {""} for line, _, words in parted}
    assert found == COMPLETED


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete_names(shell: str) -> None:
    line = "asif reproduce lim"
    ran = run(
        _ASIF_COMPLETE=f"complete_{shell}",
        _TYPER_COMPLETE_ARGS=line,
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    )
    assert ran.returncode == 0
    assert re.findall(r"lima[-\w]*", ran.stdout) == ["lima-fig9"]
    script = run("--show-completion", shell)
    assert script.returncode == 0
    assert "_ASIF_COMPLETE=complete_" + shell in script.stdout


def test_the_script_is_installed_at_home(tmp_path: Path) -> None:
    ran = run("--install-completion", "bash", HOME=str(tmp_path))
    assert ran.returncode == 0
    (script,) = (tmp_path / ".bash_completions").iterdir()
    assert f"source '{script}'" in (tmp_path / ".bashrc").read_text()
    assert "COMP_LINE" in script.read_text()
    assert run("--install-completion", "tcsh").returncode == 2


def test_a_page_is_drawn_without_escapes() -> None:
    """Rich has bold letters with NO_COLOR; a user who wants no colours wants none of them."""
    assert Console(no_color=True, force_terminal=True).color_system is not None
    ran = run("check", "-h", NO_COLOR="1", FORCE_COLOR="1")
    assert ran.returncode == 0
    assert "\x1b" not in ran.stdout
