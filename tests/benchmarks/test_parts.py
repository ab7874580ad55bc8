"""The parts of the benchmarks: their names, and progress.

Rule of this file: no part is measured; that takes minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from types import SimpleNamespace

import pytest

from benchmarks import __main__ as bench
from benchmarks.attack import SAMPLE, chosen
from benchmarks.stages import each
from model.progress import Progress

NAMES = [*bench.PARTS, *bench.BY_NAME]


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    monkeypatch.setattr(sys, "argv", ["benchmarks", *words])
    with pytest.raises(SystemExit) as ended:
        bench.main()
    return ended.value.code or 0


@pytest.mark.parametrize("name", NAMES)
def test_each_part_has_its_tables(name: str) -> None:
    part = import_module(f"benchmarks.{name.replace('-', '_')}")
    assert len(signature(part.tables).parameters) == 1 + (
        name in ("attack", "reduction", "trace", "log-io")
    )


def test_the_help_has_a_line_for_each_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--help") == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    for name, subject in {**bench.PARTS, **bench.BY_NAME}.items():
        assert [name, subject] in lines


def test_a_wrong_name_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "start", "kernl") == 2
    assert capsys.readouterr() == ("", "benchmarks: unknown part 'kernl'; did you mean kernel?\n")


def test_a_part_prints_its_tables_when_it_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each part runs once, in the order of the command."""

    def tables(progress: Progress, rows: int = 0) -> Iterator[str]:
        yield f"{[*each(progress, 'numbers', range(3))]} {rows}"

    def load(name: str) -> SimpleNamespace:
        print(name)
        return SimpleNamespace(tables=tables)

    monkeypatch.setattr(bench, "import_module", load)
    assert run(monkeypatch, "trace", "kernel", "trace", "--rows", "1_000") == 0
    assert capsys.readouterr().out.splitlines() == [
        *("benchmarks.trace", "[0, 1, 2] 1000"),
        *("benchmarks.kernel", "[0, 1, 2] 0"),
    ]


def test_a_stage_reports_each_item_and_its_end() -> None:
    reported: list[tuple[object, ...]] = []

    def progress(*state: object) -> None:
        reported.append(state)

    assert [*each(progress, "letters", "ab", str.upper)] == ["a", "b"]
    assert reported == [("letters", 0, 2, "A"), ("letters", 1, 2, "B"), ("letters", 2, 2)]


def test_the_sample_is_the_same_in_every_run_and_of_many_families() -> None:
    sample, every = chosen(False), chosen(True)
    assert sample == chosen(False)
    assert len({(one.home, one.mutant) for one in sample}) == SAMPLE < len(every)
    assert len({one.home for one in sample}) > 5
