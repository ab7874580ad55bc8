"""Addresses of runs: a link to a step opens every part that is around its run.

Rule of this file: data of pages alone; tests/browser follows links.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
