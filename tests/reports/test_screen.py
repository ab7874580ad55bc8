"""The output of `asif check` fits on a screen: the fault comes first, and the rest if asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from docs.examples import passive_standby, relay
from model.evidence import Outcome
from model.protocol import Protocol
from model.registry import subject
from model.results.culprit import Culprit, CulpritKind
from model.results.verdict import Verdict
from proofs.explore.verdict import verdict, verdicts
from reports.diagrams import terminal
from reports.diagrams.long_runs import shorten
from reports.results import verdicts as output

DOCS = Path(__file__).parents[2] / "docs"
SCREEN, WIDTH = 50, 100
MOST = 20


def printed(found: Verdict, *, long: bool = False) -> list[str]:
    """The lines of a verdict on a terminal of WIDTH columns; two files are written."""
    console = Console(width=WIDTH, color_system=None)
    lines: list[str] = []
    for part in output.verdict(found, below=("run.svg", "test_run.py"), long=long):
        with console.capture() as shown:
            console.print(part, highlight=False, markup=False)
        lines += shown.get().splitlines()
    return lines


def refuted_forms() -> Iterator[str]:
    """The protocols and variants in the documents that are expected to be refuted."""
    for folder in ("examples", "how-to/engines"):
        for path in sorted((DOCS / folder).glob("*.py")):
            if "PROTOCOL = " in path.read_text("utf-8"):
                for one in forms(subject(str(path)).protocol):
                    yield f"{path}:{one.variant}" if one.variant else str(path)


def forms(protocol: Protocol) -> list[Protocol]:
    every = (protocol, *protocol.variants)
    return [one for one in every if one.evidence.expected is Outcome.REFUTED]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*refuted_forms()], ids=lambda name: Path(name).name)
def test_a_refuted_protocol_fits_on_a_screen(name: str) -> None:
    (found,) = verdicts([name], walks=20, examples=1, once=True)
    lines = printed(found)
    assert len(lines) <= SCREEN
    assert lines[0].startswith("Violated in ")
    legend = next(at for at, line in enumerate(lines) if line.startswith("● step"))
    table = next(at for at, line in enumerate(lines) if line.startswith("┏"))
    assert legend < table
    assert lines[-1] == f"{found.protocol}: refuted"


@pytest.fixture(scope="module")
def delta() -> Verdict:
    return verdict(passive_standby.PROTOCOL.named("passive_standby:delta"), walks=20, examples=1)


def test_the_rest_is_printed_if_asked(delta: Verdict) -> None:
    short, long = printed(delta), printed(delta, long=True)
    missed = [line.point for line in delta.missed]
    assert missed
    for point in missed:
        assert f"    {point}" in long
        assert f"    {point}" not in short
    assert any(line.startswith("not empty: ") for line in long)
    assert "(--long: every scope, crash point and note)" in short
    assert not any("--long" in line for line in long)


def test_the_culprit_comes_first(delta: Verdict) -> None:
    (row,) = delta.scopes
    assert row.counterexample is not None
    says = "the savepoint of standby lacks a@1"
    culprit = Culprit(CulpritKind.STATE, says, everyday="results are missing")
    named = replace(row, counterexample=replace(row.counterexample, culprit=culprit))
    lines = printed(replace(delta, scopes=(named,)))
    assert lines[:3] == [
        f"Violated in 10 steps (scope two crashes): {says}",
        f"Property: {row.counterexample.property}",
        "This run in everyday words: results are missing",
    ]


def test_many_scopes_that_hold_share_a_line() -> None:
    found = verdict(relay.PROTOCOL, walks=5, examples=1)
    (one, two), count = found.scopes, 20
    many = replace(found, scopes=(two, *(replace(one, name=f"held {n}") for n in range(count))))
    lines = printed(many)
    assert f"  9 more scopes hold as expected, {9 * one.states:,} states (--long)" in lines
    assert len(lines) <= SCREEN
    assert sum("held" in line for line in printed(many, long=True)) == count


def test_a_surprising_scope_comes_before_those_that_hold() -> None:
    found = verdict(relay.PROTOCOL, walks=5, examples=1)
    one, two = found.scopes
    odd = replace(two, as_pinned=False, name="odd")
    rows = [line for line in printed(replace(found, scopes=(one, odd))) if line.startswith("│")]
    assert rows[0].startswith("│ odd ")


# --- a long run ------------------------------------------------------------------------------
def test_a_long_run_is_cut_in_the_middle(delta: Verdict) -> None:
    assert delta.shortest is not None
    story = delta.shortest.story
    whole = terminal.text(story).splitlines()
    cut = terminal.text(story, most=8).splitlines()
    assert any("more (--long draws all)" in line for line in cut)
    assert cut[:3] == whole[:3]
    assert cut[-3:] == whole[-3:]
    decisive = [row for row in whole if "✕ crash" in row or "○ restart" in row][:-1]
    assert decisive
    assert {*decisive} <= {*cut}
    assert len(cut) < len(whole)
    assert terminal.text(story, most=99) == terminal.text(story)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=60),
    st.lists(st.integers(0, 59), max_size=9),
)
def test_a_run_that_is_cut_has_its_beginning_its_end_and_the_moments_that_decide(
    heights: Sequence[int], decisive: Sequence[int]
) -> None:
    drawn = [[f"{at}.{row}" for row in range(height)] for at, height in enumerate(heights)]
    whole = [row for rows in drawn for row in rows]
    decisive = [min(at, len(drawn) - 1) for at in decisive]
    shown = [*shorten(drawn, MOST, decisive)]
    marks = [row for row in shown if "more" in row]
    left = [row for row in shown if "more" not in row]
    assert left == [row for row in whole if row in left]  # in their order
    assert {"0.0", whole[-1]} <= {*left}
    assert all({*drawn[at]} <= {*left} for at in decisive[:1])
    if len(whole) <= MOST:
        assert shown == whole
    else:
        assert len(shown) <= MOST
        hidden = sum(int(mark.split()[1]) for mark in marks)
        assert hidden == len(heights) - len({row.partition(".")[0] for row in left}) > 0
