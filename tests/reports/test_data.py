"""The data of a page: a link to a step opens the parts around its run, and a file has its size.

Rule of this file: data alone; tests/browser opens pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reports.page import writing
from reports.page.blocks import PagePanel, PageRoom, Sentence
from reports.page.variant import RANDOM
from tests.reports.test_page import _results
from tests.reports.written import written


def _runs(value: Any, around: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The scope of each run in some data, with the names of the parts around it."""
    if isinstance(value, dict):
        if value.get("is") == "FoldedPart":
            around = (*around, value.get("name", ""))
        if "scope" in value:
            yield value["scope"], around
        value = [*value.values()]
    if isinstance(value, list):
        for one in value:
            yield from _runs(one, around)


def test_a_link_to_a_step_opens_each_part_around_its_run(tmp_path: Path) -> None:
    runs = [*_runs([*written(_results(), tmp_path).rooms.values()])]
    assert RANDOM in {scope for scope, _ in runs}
    for scope, around in runs:
        assert {*around} <= {scope}


@pytest.mark.parametrize("letter", ["a", "→", "𝄞"])
def test_a_file_of_data_has_its_bytes_whatever_its_letters(letter: str) -> None:
    panels = [PagePanel(f"p:{at}", "P", [Sentence(letter * 50_000)]) for at in range(40)]
    files = writing._files(PageRoom("p", "P", [Sentence("P")], panels))
    sizes = [len(one.text.encode()) for one in files.values()]
    assert max(sizes) < writing.LARGEST + 5_000
    assert sum(len(one.panels) for one in files.values()) == len(panels)
