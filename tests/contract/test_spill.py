"""`asif check --scope S --spill FOLDER`: one scope, with its worlds on disk."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from proofs.explore.search.spilled import SpilledSearch

MINDFUL = "PROTOCOL = mindful.PROTOCOL\n"
FORGETFUL = "PROTOCOL = forgetful.PROTOCOL\n"


def scope_of(asif: Any, text: str) -> str:
    """The name of the only scope of a protocol."""
    name: str = asif(text, "check", "FILE", "--walks", "0", "--examples", "1").result["scopes"][0][
        "name"
    ]
    return name


def without_times(result: Any) -> Any:
    return {key: value for key, value in result["scope"].items() if "second" not in key}


@pytest.mark.parametrize(("text", "code"), [(MINDFUL, 0), (FORGETFUL, 1)])
def test_a_scope_on_disk_ends_as_the_scope_in_memory(text: str, code: int, asif: Any) -> None:
    name = scope_of(asif, text)
    here = asif(text, "check", "FILE", "--scope", name)
    assert here.code == code
    there = asif(text, "check", "FILE", "--scope", name, "--spill", "worlds")
    assert there.code == code
    assert without_times(there.result) == without_times(here.result)
    assert there.result["expected"] == here.result["expected"]
    assert json.loads(Path("worlds/search.json").read_text().splitlines()[0])["search"][1] == name


def test_a_check_goes_on_in_its_folder(asif: Any) -> None:
    command = ("check", "FILE", "--scope", scope_of(asif, MINDFUL), "--spill", "worlds")
    first = asif(MINDFUL, *command, "--limit", "100")
    assert (first.code, first.result["scope"]["outcome"]) == (1, "explored so far")
    with mock.patch.object(
        SpilledSearch, "_begin_level", side_effect=OSError(errno.ENOSPC, "full")
    ):
        assert "full" in asif(MINDFUL, *command).line
    then = asif(MINDFUL, *command)
    assert (then.code, then.result["scope"]["outcome"]) == (0, "holds")


def test_memory_ends_no_search_that_has_a_disk(asif: Any) -> None:
    """As long as the tables fit: a run has at least some thousand worlds."""
    command = ("check", "FILE", "--scope", scope_of(asif, MINDFUL), "--spill", "worlds")
    assert asif(MINDFUL, *command, "--memory", "4GiB").code == 0


@pytest.mark.parametrize(
    ("options", "right"),
    [
        (("--spill", "worlds"), "--scope"),
        (("--scope", "none", "--spill", "w", "--master", "local[1]"), "out with --master"),
    ],
)
def test_options_that_do_not_go_together(options: Any, right: str, asif: Any) -> None:
    assert right in asif(MINDFUL, "check", "FILE", *options).line


def test_a_folder_that_holds_something_else_is_bad_input(asif: Any, tmp_path: Path) -> None:
    name = scope_of(asif, MINDFUL)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("mine")
    line = asif(MINDFUL, "check", "FILE", "--scope", name, "--spill", "taken").line
    assert "taken: asif needs this name for a folder of its own" in line
    line = asif(MINDFUL, "check", "FILE", "--scope", name, "--spill", "taken/mine/x").line
    assert "taken/mine/x" in line
