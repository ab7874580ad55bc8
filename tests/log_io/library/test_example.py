"""The example's page is true: its commands print what it quotes, and its names exist."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from spark_check.log_io import library
from spark_check.log_io.library import Context, Log, Transaction

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "examples" / "log_io" / "README.md"


def quoted() -> list[tuple[str, str]]:
    """The commands of the page, each with what it prints."""
    (block,) = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, printed) for command, _, printed in (one.partition("\n") for one in parts)]


def test_the_commands_print_what_the_page_quotes(tmp_path: Path) -> None:
    killed = 0
    for command, printed in quoted():
        words = shlex.split(command.replace("build/shop", str(tmp_path / "shop")))
        assert words[0] in ("python", "asif")
        start = [sys.executable, *(["-m", "asif"] if words[0] == "asif" else [])]
        found = subprocess.run(
            [*start, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert found.stdout == printed
        assert found.returncode == (-signal.SIGKILL if "--kill-at" in command else 0)
        killed += "--kill-at" in command
    assert killed == 2


def test_an_unknown_operator_is_refused(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "docs.examples.log_io", "run", str(tmp_path), "nobody"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert "give shop, sums, ledger" in found.stderr


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


def test_links_of_the_page_resolve() -> None:
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE.read_text("utf-8")):
        assert (PAGE.parent / link).exists(), link
