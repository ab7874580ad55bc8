"""A family has one spelling, and its tests have one home.

Rule of this file: it reads names of files and words of the source, and knows no family.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from model.registry import modules

PROJECT = Path(__file__).parents[2]
ROOMS = ("asif", "model", "proofs", "reports", "sim", "engine_check", "flink_check", "spark_check")
PAPERS = "sim/experiments"
FAMILIES = [home.split(".")[-2] for home in modules()]
EXPERIMENTS = [path.parent.name for path in (PROJECT / PAPERS).glob("*/__init__.py")]
SHARED = "standbys"
"""The home of the families of one paper, which its tests compare with each other."""

TESTS = [path.relative_to(PROJECT / "tests") for path in (PROJECT / "tests").rglob("*.py")]
OTHERS = {*EXPERIMENTS, *(one.replace("_", "") for one in FAMILIES if "_" in one)}
"""Spellings of a family that its name is not: "logio", and the authors of its paper."""
WORD = re.compile(rf"(?<!experiments[./])\b({'|'.join(sorted(OTHERS))})\b(?!-)")
"""Followed by "-" it is the name of an experiment, as people type it: "logio-fig5"."""


def homeless(tests: Iterable[Path]) -> set[Path]:
    """The files outside tests/families with the name of a family or of a paper in their path."""
    named = re.compile(rf"(^|[_/])({'|'.join((*FAMILIES, *OTHERS))})([_/]|$)")
    return {
        path
        for path in tests
        if path.parts[0] != "families" and named.search(path.with_suffix("").as_posix())
    }


def other_spellings(text: str) -> list[str]:
    return [found[1] for found in WORD.finditer(text)]


def test_each_home_is_that_of_a_family() -> None:
    homes = {path.parts[1] for path in TESTS if path.parts[0] == "families" and len(path.parts) > 2}
    assert homes <= {*FAMILIES, SHARED}


def test_the_tests_of_a_family_are_at_home() -> None:
    assert not homeless(TESTS)


@pytest.mark.parametrize("path", ["sim/test_logio_model.py", "cec/logs.py", "spark/test_crb.py"])
def test_a_test_that_is_not_at_home_is_found(path: str) -> None:
    assert homeless([Path(path)])


def test_a_family_has_one_spelling() -> None:
    files = (path for room in ROOMS for path in (PROJECT / room).rglob("*.py"))
    found = {
        path.relative_to(PROJECT).as_posix(): words
        for path in files
        if not path.is_relative_to(PROJECT / PAPERS)
        and (words := other_spellings(path.read_text(encoding="utf-8")))
    }
    assert not found


def test_another_spelling_is_found() -> None:
    assert other_spellings("logio = costs(su)") == ["logio", "su"]
    assert not other_spellings('log_io = run("logio-fig5", sim.experiments.su.plan)  # Su and Zhou')
