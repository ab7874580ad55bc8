"""A check whose budget is spent says how far it came, and never that something holds."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from docs.examples import forgetful
from model.evidence import Outcome
from model.pair_scopes import A_UNION_TWO_CRASHES
from model.registry import protocols
from proofs.explore import explorer
from proofs.explore.explorer import explore
from proofs.explore.search.compiled import CompiledSearch
from proofs.explore.search.meter import Meter

MINDFUL = "PROTOCOL = mindful.PROTOCOL\n"


def test_a_check_within_its_budget_holds(asif: Any) -> None:
    ended = asif(MINDFUL, "check", "FILE", "--limit", "1000000", "--seconds", "600")
    assert (ended.code, ended.result["outcome"]) == (0, "holds")
    assert [scope["spent"] for scope in ended.result["scopes"]] == [None]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (("--limit", "30"), "30 worlds"),
        (("--seconds", "0"), "0 s"),
        (("--memory", "1 MiB"), "1 MiB of memory"),
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


@pytest.mark.parametrize(
    ("budget", "right"),
    [
        (("--memory", "much"), "4GiB"),
        (("--memory", "4"), "4GiB"),
        (("--seconds", "nan"), "60"),
    ],
)
def test_a_budget_that_is_no_number_or_has_no_unit(asif: Any, budget: Any, right: str) -> None:
    assert right in asif(MINDFUL, "check", "FILE", *budget).line


def test_no_more_crash_points_are_hit_than_there_are(asif: Any) -> None:
    ended = asif(MINDFUL, "check", "FILE", "--seconds", "0")
    assert ended.result["points"] >= ended.result["hit"] > 0


def test_the_second_search_loses_nothing_that_the_first_one_found() -> None:
    """However early a budget ends the second one."""
    ending = mock.patch.object(CompiledSearch, "levels", _spend_at_once)
    begins_later = mock.patch.object(explorer, "_is_loaded", return_value=False)
    with ending, begins_later, mock.patch.object(explorer, "FEW", 600):
        found = explore(forgetful.PROTOCOL, forgetful.SMALL)
    assert found.outcome is Outcome.REFUTED
    assert found.counterexample is not None
    assert len(found.counterexample.trace.actions) == 8
    assert (found.states > 600, found.spent, found.complete) == (True, "0.5 s", False)


@pytest.mark.slow
def test_a_whole_search_after_a_reduced_one_has_all_worlds_of_the_budget() -> None:
    """The reduced search ends by the budget, and leaves a circle, or a violation before rest."""
    known = protocols()
    with_circles = known["active-standby:published-any"], A_UNION_TWO_CRASHES.scope
    reduced, whole = (explore(*with_circles, limit=100_000, reduce=one) for one in (True, False))
    assert (reduced.states, reduced.depth) == (whole.states, whole.depth)
    before_rest = known["active-standby:any"].evidence.scopes[0]
    found = explore(known["active-standby:any"], before_rest.scope, limit=600_000)
    assert found.counterexample is not None
    assert len(found.counterexample.trace.actions) == before_rest.steps


def _spend_at_once(_search: CompiledSearch, _stop: bool, meter: Meter) -> bool:
    meter.why = "0.5 s"
    return False
