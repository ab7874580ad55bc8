"""A check whose budget is spent says how far it came, and never that something holds."""

from __future__ import annotations

from typing import Any

import pytest

MINDFUL = "PROTOCOL = mindful.PROTOCOL\n"


def test_a_check_within_its_budget_holds(asif: Any) -> None:
    ended = asif(MINDFUL, "check", "FILE", "--limit", "1000000", "--seconds", "600")
    assert (ended.code, ended.result["outcome"]) == (0, "holds")
    assert [scope["spent"] for scope in ended.result["scopes"]] == [None]


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (("--limit", "30"), "30 worlds"),
        (("--seconds", "0"), "0 s"),
        (("--memory", "1 MiB"), "0.000977 GiB of memory"),
    ],
)
def test_a_spent_budget_is_explored_so_far(asif: Any, budget: Any, spent: str) -> None:
    ended = asif(MINDFUL, "check", "FILE", *budget)
    assert (ended.code, ended.result["outcome"]) == (1, "explored so far")
    (scope,) = ended.result["scopes"]
    assert (scope["outcome"], scope["spent"], scope["complete"]) == (
        "explored so far",
        spent,
        False,
    )
    assert "nothing was refuted" in ended.out
    allowed = asif(MINDFUL, "check", "FILE", *budget, "--allow-unfinished")
    assert (allowed.code, allowed.result["outcome"]) == (0, "explored so far")


def test_what_is_refuted_within_a_budget_is_refuted(asif: Any) -> None:
    text = "PROTOCOL = forgetful.PROTOCOL\n"
    ended = asif(text, "check", "FILE", "--limit", "1000", "--allow-unfinished")
    assert (ended.code, ended.result["outcome"]) == (1, "refuted")


def test_a_memory_that_is_no_number_of_bytes(asif: Any) -> None:
    assert "4GiB" in asif(MINDFUL, "check", "FILE", "--memory", "much").line
