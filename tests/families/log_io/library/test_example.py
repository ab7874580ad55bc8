"""The example's page is true: its commands print what it quotes, and its names exist."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import asif.log_io
from model.machine.folders import claimed
from spark_check.log_io import library
from spark_check.log_io.library import Context, Log, Transaction

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs" / "examples" / "log_io" / "README.md"


def quoted() -> list[tuple[str, str]]:
    """The commands of the page, each with what it prints."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    parts = [part for one in blocks for part in re.split(r"^\$ ", one, flags=re.MULTILINE)[1:]]
    return [(command, printed) for command, _, printed in (one.partition("\n") for one in parts)]


@pytest.mark.slow
def test_the_commands_print_what_the_page_quotes(tmp_path: Path) -> None:
    killed = 0
    for command, printed in quoted():
        words = shlex.split(command.replace("build/", f"{tmp_path}/"))
        assert words[0] in ("python", "asif")
        start = [sys.executable, *(["-m", "asif"] if words[0] == "asif" else [])]
        found = subprocess.run(
            [*start, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert found.stdout == printed
        assert found.returncode == (-signal.SIGKILL if "--kill-at" in command else 0)
        killed += "--kill-at" in command
    assert killed == 3


def example(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "docs.examples.log_io", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("run", "DIR", "nobody"), "give shop, sums, ledger"),
        (("run", "DIR", "--kill-at", 0), "are counted from 1"),
        (("run", PAGE), "give a folder"),
        (("run", "DIR", "--log", "postgresql://me:secret@127.0.0.1:1/x"), "me:***@127.0.0.1:1/x"),
        (("show", "DIR"), "no such file or directory"),
    ],
)
def test_what_the_example_refuses(
    tmp_path: Path, arguments: tuple[object, ...], expected: str
) -> None:
    found = example(*(tmp_path if one == "DIR" else one for one in arguments))
    assert found.returncode == 2
    assert expected in found.stderr
    assert "Traceback" not in found.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_fresh_run_without_its_server_empties_nothing(tmp_path: Path) -> None:
    book = claimed(tmp_path) / "book.txt"
    book.write_text("a line\n")
    assert example("run", tmp_path, "--fresh", "--log", "host=127.0.0.1 port=1").returncode == 2
    assert book.read_text() == "a line\n"


def test_a_fresh_run_empties_its_log(place: str, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    for _ in range(2):
        assert example("run", folder, "--fresh", "--log", place).returncode == 0
        shown = example("show", folder, "--log", place).stdout
        assert "book.txt: 4 lines, as without failures" in shown


def test_the_names_of_the_page_exist() -> None:
    table = PAGE.read_text("utf-8").split("| paper (Tables 7 to 9)")[1].split("\n\n")[0]
    places = (Log, Transaction, Context, library)
    names = {
        name.rpartition(".")[2]
        for row in table.splitlines()[2:]
        for name in re.findall(r"`([\w.]+)`", row.split("|")[2])
    }
    assert len(names) > 12
    assert [name for name in names if not any(hasattr(place, name) for place in places)] == []


def test_users_import_all_names_of_the_library_from_one_place() -> None:
    assert {*library.__all__} <= {*asif.log_io.__all__}
    assert all(getattr(asif.log_io, name) is getattr(library, name) for name in library.__all__)


def test_the_python_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(block, names)
    names["Hours"](names["log"], "hours").step()
    names["log"].close()
    assert (tmp_path / "log.db").exists()


def test_links_of_the_page_resolve() -> None:
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE.read_text("utf-8")):
        assert (PAGE.parent / link).exists(), link
