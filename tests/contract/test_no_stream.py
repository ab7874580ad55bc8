"""Protocols without a stream: no graph, no oracle, no claim; properties over nodes alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from docs.examples import forgetful
from model.core import (
    Guarantee,
    Observation,
    OperatorClass,
    Property,
    Scope,
    Send,
    When,
)
from model.errors import Invalid
from model.evidence import Case, Outcome
from model.family import Family
from model.graph import NO_GRAPH
from model.properties import AS_IF, COMPLETE, at_least
from model.protocol import Assumptions, Behaviour, Failures, Protocol
from proofs.explore.explorer import explore
from proofs.explore.verdict import verdict
from tests.contract.words import ALONE, ANYTHING, deployed, holds, protocol, refuted, site
from tests.proofs.test_searches import both

CLASS = OperatorClass.REPEATABLE
CASE = Case("a lease", ALONE)


def one(_scope: Scope, seen: Observation) -> bool:
    return [state for name, state in seen.states if name != "lock"].count("holder") < 2


ONE_HOLDER = Property("one holds the lease", When.QUIESCENT, one, nodes=True)


def lease(*properties: Property, strict: bool = True) -> Protocol:
    """Two clients ask a lock for a lease.  strict: it gives one."""

    def step(site: Any, state: Any, _input: Any) -> Any:
        if site.name == "lock":
            sender = _input.sender
            return sender, (Send(sender, not (strict and state)),)
        if hasattr(_input, "timer"):
            return state, (Send("lock", "ask"),)
        return "holder" if _input.message else "waits", ()

    ways = "a-lock b-lock lock-a lock-b"
    sites = (site("a", "ask"), site("b", "ask"), site("lock"))
    return protocol(deployed(*sites, channels=ways), step, *properties)


def test_a_property_at_rest_alone_is_enough() -> None:
    """Each client has not asked, asks, was answered, knows: 4 * 4 worlds; the lock's state says who
    asked first and who last.  Both were served in 4 of the 16 ways, and in one of two orders each:
    for these 2 * 2 worlds more.  At rest all is known."""
    holds(lease(ONE_HOLDER), ALONE, 4 * 4 + 2 * 2)
    refuted(lease(ONE_HOLDER, strict=False), ALONE, 6)


@pytest.mark.parametrize("property_", [ANYTHING, AS_IF, COMPLETE, at_least(Guarantee.PRECISE)])
def test_properties_of_outputs_hold_where_there_are_none(property_: Property) -> None:
    """No field of a world is looked at."""
    found = both(lease(property_), ALONE)
    assert (found.outcome, found.guarantee) == (Outcome.HOLDS, Guarantee.PRECISE)


@pytest.mark.parametrize("claims", [{}, {CLASS: Guarantee.PRECISE}])
def test_nothing_need_be_claimed(claims: Any) -> None:
    tried = _designed(claims, CASE.holds(20), strict=True)
    found = verdict(tried, walks=20, examples=2)
    assert (found.expected, found.outcome, found.unclaimed) == (True, Outcome.HOLDS, ())


def test_what_is_refuted_is_as_expected_without_a_claim() -> None:
    tried = _designed({}, CASE.fails(None, 6, Guarantee.PRECISE), strict=False)
    assert verdict(tried, walks=50, examples=2).expected


def test_a_claim_is_needed_for_each_stream() -> None:
    """By its class of operators."""
    stream = Case("a stream", forgetful.SMALL, CLASS).holds()
    with pytest.raises(Invalid) as raised:
        _designed({}, CASE.holds(), stream, strict=True)
    assert str(raised.value) == (
        "lease: no claim about REPEATABLE operators, which the scope 'a stream' has; the claims "
        "are about no class"
    )
    with pytest.raises(Invalid, match="the claims are about DETERMINISTIC"):
        _designed({OperatorClass.DETERMINISTIC: Guarantee.GAP}, stream, strict=True)


def _designed(claims: Any, *scopes: Any, strict: bool) -> Protocol:
    of = lease(strict=strict).behaviour
    family = Family("lease", "", "", Behaviour(of.deploy, of.boot, of.step), claims=claims)
    return family.design(
        scopes=scopes, properties=(ONE_HOLDER,), assumes=Assumptions(Failures.NONE)
    )


@pytest.mark.parametrize(
    ("scope", "line"),
    [
        (replace(forgetful.SMALL, graph=NO_GRAPH, inputs=()), ""),
        (replace(forgetful.SMALL, graph=NO_GRAPH), "inputs: there is no source 'source'; there"),
        (forgetful.SMALL, "words: deploy gives no source and no sink; a protocol without"),
    ],
)
def test_a_stream_that_nobody_takes_is_one_line(scope: Scope, line: str) -> None:
    tried = lease(ANYTHING).vary(assumes=Assumptions(Failures.ANY))
    if not line:
        assert explore(tried, replace(scope, victims=None)).states == 4 * 4 + 2 * 2
        return
    with pytest.raises(Invalid) as raised:
        explore(tried, scope)
    assert line in str(raised.value)
