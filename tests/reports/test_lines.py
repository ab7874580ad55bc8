"""Lines and tables for any width: no word is lost or cut, no number is parted from its unit."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Column, Table

from reports.lines import widest_piece, wrap
from reports.tables import SOFT, fit

WORDS = st.lists(
    st.sampled_from(
        ["a", "word", "match@3(a@1", "12", "1.5", "ms", "≥", "upstream-backup", "[red]"]
    ),
    max_size=12,
).map(" ".join)
WIDTHS = st.integers(20, 120)


@given(WORDS, WIDTHS)
def test_lines_have_the_words_of_the_text_and_their_width(text: str, width: int) -> None:
    lines = wrap(text, width).split("\n")
    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)


@given(st.integers(1, 99), WIDTHS)
def test_a_number_stays_with_its_unit(number: int, width: int) -> None:
    text = f"recovery took {number} ms, ≥ {number} s, 0.{number} ± {number} events/s, " * 4
    lines = wrap(text.strip(), width).split("\n")
    assert not [line for line in lines if re.search(r"(^|[ ≥±])[\d.]+$|≥$|±$", line)]


def test_paragraphs_keep_their_indent() -> None:
    assert wrap("  one two three\nfour", 10) == "  one two\n    three\nfour"


def test_a_command_may_be_copied() -> None:
    line = "    asif verify-trace some/reference.csv some/actual.csv --key user --ignore offset"
    lines = wrap(line, 40)
    assert max(map(len, lines.split("\n"))) <= 40
    assert shlex.split(lines.replace("\\\n", "")) == line.split()
    quoted = f"{line} --order 'the time'"
    assert wrap(quoted, 40) == quoted


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=5),
    st.integers(40, 120),
    st.booleans(),
)
def test_a_table_of_any_width_has_every_word(
    rows: Sequence[tuple[str, ...]], width: int, right: bool
) -> None:
    table = Table("name", "first", Column("second", justify="right" if right else "left"), "")
    for row in rows:
        table.add_row(*row)
    text = printed(table, width)
    found = re.sub(r"[━─│┃┏┓┗┛┡┩╇┳┻┼└┘┴├┤┬┌┐]", " ", text).split()
    for word in (one for row in rows for cell in row for one in cell.split()):
        assert word in found
    assert all(len(line) <= max(width, widest_piece(line) + 4) for line in text.splitlines())


def printed(table: Table, width: int) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, markup=False, color_system=None)
    console.print(fit(table, width), no_wrap=True, overflow="ignore", crop=False, highlight=False)
    return out.getvalue()


def test_a_header_is_parted_only_in_a_narrow_column() -> None:
    table = Table("of", f"redirec{SOFT}tion", f"catch-{SOFT}up", box=SIMPLE, pad_edge=False)
    table.add_row("parse", "162 ms", "9.7 ms")
    table.columns[1].justify = "right"
    assert printed(table, 60).split("\n")[0] == "of     redirection  catch-up"
    assert printed(table, 24).split("\n")[:2] == ["of     redirec-  catch-", "           tion  up"]
    assert "redirection: 162 ms" in printed(table, 22)
    narrow = printed(table, 12)
    assert "redirection:" in narrow
    assert "catch-up:" in narrow
    assert SOFT not in narrow
