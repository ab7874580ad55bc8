"""Outputs of every kind fit on 80 columns, and lose no word there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from asif.console import console, print_all
from reports.lines import widest_piece
from tests.commands.printed import KINDS, parts

NARROW, WIDE = 80, 200
DRAWN = re.compile(r"[─━│┃┏┓┗┛┡┩╇┳┻╞╪╡└┘┴├┤┬┌┐╭╮╰╯┼▶◀●○✕┊╌◦⇒▸·✓✗⋮]+")


def lines(kind: str, columns: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of an output on a terminal of so many columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console, "_width", columns)
        patch.setattr(console, "_height", 50)
        patch.setenv("COLUMNS", str(columns))
        print_all(parts(kind, folder))
    return capsys.readouterr().out.splitlines()


def words(lines: list[str]) -> Counter[str]:
    """The words without lines that are drawn.  The name of a column may have a colon."""
    text = DRAWN.sub(" ", "\n".join(lines))
    return Counter(one.removesuffix(":") for one in text.split())


def times(found: Counter[str], word: str) -> int:
    """How often a word is there, whole or parted as in the header of a narrow column."""
    places = range(2, len(word) - 1)
    parts = ((f"{word[:at].removesuffix('-')}-", word[at:]) for at in places)
    return found[word] + max((min(found[one], found[other]) for one, other in parts), default=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("printed")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_narrow_terminal_shows_every_word(
    kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    narrow = lines(kind, NARROW, folder, capsys)
    wide = lines(kind, WIDE, folder, capsys)
    there, whole = words(narrow), words(wide)
    assert not {one for one, many in whole.items() if times(there, one) < many}
    made = {one for one in there if "-" in one.strip("-") and not times(whole, one)}
    assert not made  # as "redirec-tion"
    assert not [one for one in narrow if len(one) > NARROW and widest_piece(one) < NARROW]
    cut = {one for one in words(narrow) if "…" in one}  # a run has some at any width
    assert cut <= {*words(wide)}
