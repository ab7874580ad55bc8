"""The outputs that docs/tutorial/tour.md quotes are those of its commands, to the digit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "docs" / "tutorial" / "tour.md"
COLUMNS = "100"
CUT = "..."
"""A quoted line that stands for any lines."""
TIME = re.compile(r"(?<=[,;] )[\d.,]+ s\b|(?<=in )[\d.]+ s\b|\b\d+ walks.*? actions")
"""How long a run took, and how much of a random attack fitted in."""
LONG = re.compile(
    r"asif (spark|flink|sweep|run --limit 20000|check \S+ --mutants|check upstream-backup:)"
)


def blocks() -> list[tuple[str, str]]:
    """(commands, quoted output) of each block, in the order of the page."""
    found = re.findall(r"```console\n(.*?)```", TOUR.read_text("utf-8"), re.DOTALL)
    pairs = []
    for block in found:
        for part in filter(None, re.split(r"(?m)^(?=\$ asif)", block)):
            words, _, quoted = re.sub(r"(?m)^\$ ", "", part).partition("\n")
            while words.endswith("\\") or words.count("'") % 2:
                more, _, quoted = quoted.partition("\n")
                words += f"\n{more}"
            pairs.append((words, quoted.rstrip("\n") + "\n" * bool(quoted.strip())))
    return _joined(pairs)


def _joined(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Commands before `asif` make its files, and have no output."""
    joined: list[tuple[str, str]] = []
    before = ""
    for words, quoted in pairs:
        if words.startswith("asif"):
            joined.append((before + words, quoted))
            before = ""
        else:
            before += f"{words}\n{quoted}"
    return joined


def as_quoted(quoted: str, printed: str) -> bool:
    """Is the output as quoted?  Lines of three dots stand for any lines."""
    parts = [re.escape(TIME.sub("@", part)) for part in re.split(r"(?m)^\.\.\.\n", quoted)]
    return re.fullmatch("(?:.*\n)*?".join(parts), TIME.sub("@", printed)) is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the documents, in which the commands of the page run one after the other."""
    place = tmp_path_factory.mktemp("tour")
    (place / "docs").symlink_to(ROOT / "docs")
    bin_ = place / "bin"
    bin_.mkdir()
    (bin_ / "asif").write_text(f'#!/bin/sh\nexec {sys.executable} -m asif "$@"\n')
    (bin_ / "asif").chmod(0o755)
    for words, _ in blocks():  # later commands read the files that earlier ones make
        made = words.rpartition("\nasif")[0]
        if made and not made.startswith("asif"):
            subprocess.run(["bash", "-c", made], cwd=place, check=True)
    return place


def printed(words: str, folder: Path) -> str:
    """What the commands print, in the folder."""
    bash = shutil.which("bash") or "/bin/sh"
    paths = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "COLUMNS": COLUMNS, "PATH": paths, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [bash, "-c", words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    kept = (line for line in ran.stdout.splitlines(keepends=True) if not _is_progress(line))
    return "".join(kept)


def _is_progress(line: str) -> bool:
    return bool(re.match(r"[^:]+: (\d+ of \d+, |done in )", line))


def cases() -> list[object]:
    return [
        # `.ci/run` runs the same checks on engines, and its report explores the same protocols and
        # runs on flights; their digits on the page are compared by `make test-all` alone.
        pytest.param(
            *pair, marks=pytest.mark.exhaustive if LONG.search(pair[0]) else pytest.mark.slow
        )
        for pair in blocks()
    ]


@pytest.mark.parametrize(("words", "quoted"), cases())
def test_the_tour_quotes_what_is_printed(words: str, quoted: str, folder: Path) -> None:
    found = printed(words, folder)
    assert as_quoted(quoted, found), found


def test_a_wrong_digit_is_found() -> None:
    quoted = "83 protocols\n...\nthe same, 3 s\n"
    assert as_quoted(quoted, "83 protocols\nmore\nand more\nthe same, 12.5 s\n")
    assert as_quoted(quoted, "83 protocols\nthe same, 1 s\n")
    assert not as_quoted(quoted, "278 protocols\nmore\nthe same, 3 s\n")
    assert not as_quoted(quoted, "83 protocols\nmore\n")
