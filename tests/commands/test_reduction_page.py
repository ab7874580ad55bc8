"""The page about the reduction: its picture is fresh, and its numbers are those of the picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from asif import reduction_picture
from asif.reduction_picture import DrawnSearches
from proofs.explore.reduction.verdicts import CommuteVerdicts

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "reduction.md"


@pytest.fixture(scope="module")
def drawn() -> DrawnSearches:
    return reduction_picture.draw()


def test_the_picture_of_the_reduction_is_fresh(drawn: DrawnSearches) -> None:
    committed = reduction_picture.PICTURE.read_text(encoding="utf-8")
    assert committed == reduction_picture.picture(drawn).content(".svg"), (
        "stale: `python -m asif.reduction_picture`"
    )


def test_a_search_that_believes_all_steps_to_commute_makes_the_picture_stale(
    drawn: DrawnSearches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CommuteVerdicts, "_commutes", lambda *_: True)
    other = reduction_picture.draw()
    assert len(other.visited) < len(drawn.visited)
    assert reduction_picture.picture(drawn) != reduction_picture.picture(other)


def test_the_worlds_of_the_picture_are_those_of_the_page(drawn: DrawnSearches) -> None:
    numbers_of = re.compile(r"(\d+) worlds and (\d+)\ssteps.*?visits\s(\d+)", re.DOTALL)
    said = numbers_of.search(PAGE.read_text(encoding="utf-8"))
    assert said
    numbers = drawn.worlds, len(drawn.steps), len(drawn.visited)
    assert tuple(map(int, said.groups())) == numbers


def test_all_worlds_at_rest_are_visited_and_each_step_taken_exists(drawn: DrawnSearches) -> None:
    assert drawn.at_rest <= drawn.visited
    assert drawn.taken <= drawn.steps.keys()
