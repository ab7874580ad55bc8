"""Claims are compared with what is found, and a check that tried nothing holds nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Asif = Callable[..., Any]
CHECK = ("check", "FILE", "--examples", "5")
REPEATS = """
def something(scope, seen):
    return len(seen.outputs[0]) >= sum(one.type == "a" for one in seen.arrivals[0])

LENIENT = Property("at rest, there is a result for each match", When.QUIESCENT, something)
SCOPE = PinnedScope("two crashes", forgetful.SMALL, forgetful.CLASS, guarantee=Guarantee.REPEATING)
PROTOCOL = forgetful.PROTOCOL.vary(family="lenient", properties=(LENIENT,), scopes=(SCOPE,))
"""


def test_what_is_found_weaker_than_claimed_is_refuted(asif: Asif) -> None:
    """No property is violated, but a protocol that claims precise repeats outputs."""
    ended = asif(REPEATS, *CHECK)
    assert ended.code == 1
    assert ended.result["outcome"] == "refuted"
    assert not ended.result["expected"]
    assert ended.result["weaker"] == ["REPEATABLE"]
    assert ended.result["attack"]["failure"] is None
    assert "repeatable operators: repeating (claimed: precise), weaker than claimed" in ended.out
    assert "lenient: refuted - NOT AS EXPECTED" in ended.out


def test_what_is_found_as_claimed_holds(asif: Asif) -> None:
    claim = "PROTOCOL = PROTOCOL.vary(claims={forgetful.CLASS: Guarantee.REPEATING})"
    ended = asif(REPEATS + claim, *CHECK)
    assert (ended.code, ended.result["outcome"], ended.result["expected"]) == (0, "holds", True)


def test_what_is_found_stronger_than_claimed_is_not_as_expected(asif: Asif) -> None:
    ended = asif(
        "PROTOCOL = mindful.PROTOCOL.vary(claims={forgetful.CLASS: Guarantee.REPEATING})",
        *CHECK,
    )
    assert ended.code == 1
    assert ended.result["outcome"] == "holds"
    assert not ended.result["expected"]
    assert ended.result["stronger"] == ["REPEATABLE"]
    assert "stronger than claimed" in ended.out


def test_a_class_without_a_claim_is_not_as_expected(asif: Asif) -> None:
    ended = asif("PROTOCOL = mindful.PROTOCOL.vary(claims={})", *CHECK)
    assert ended.code == 1
    assert ended.result["unclaimed"] == ["REPEATABLE"]
    assert "repeatable operators: precise (claimed: nothing)" in ended.out


VACUOUS = {
    "a claim for a class that no scope has": (
        "claims = {forgetful.CLASS: Guarantee.PRECISE,"
        " OperatorClass.ARBITRARY: Guarantee.PRECISE}\n"
        "PROTOCOL = mindful.PROTOCOL.vary(claims=claims)",
        "claimed for ARBITRARY operators, and no scope has operators of that class",
    ),
    "crashes that cannot strike": (
        "def deploy(_design, scope):\n"
        "    return mindful.PROTOCOL.deploy(scope)._replace(crashable=frozenset())\n"
        "PROTOCOL = mindful.PROTOCOL.vary(deploy=deploy, must_occur=(),"
        " scopes=(replace(mindful.PROTOCOL.evidence.scopes[0], states=None),))",
        "two crashes: crashes: 2 granted, and none could strike: deploy lets no node crash; name "
        "some in `crashable`",
    ),
    "nobody among the victims": (
        "scope = replace(forgetful.SMALL, victims=frozenset())\n"
        "PROTOCOL = mindful.PROTOCOL.vary(must_occur=(),"
        " scopes=(PinnedScope('two crashes', scope, forgetful.CLASS),))",
        "two crashes: crashes: 2 granted, and none could strike: the scope has no victims; name "
        "some, or leave `victims` out",
    ),
    "no properties": (
        "PROTOCOL = mindful.PROTOCOL.vary(properties=())",
        "two crashes: the protocol has no properties",
    ),
}


NO_REST = (
    "def deploy(_design, scope):\n"
    "    deployment = mindful.PROTOCOL.deploy(scope)\n"
    "    beating = tuple(s._replace(timers=('beat',)) for s in deployment.sites)\n"
    "    return deployment._replace(sites=beating)\n"
    "def step(site, state, input_):\n"
    "    if isinstance(input_, TimerFired):\n"
    "        return state, (SetTimer('beat'),)\n"
    "    return mindful.step(site, state, input_)\n"
    "PROTOCOL = mindful.PROTOCOL.vary(deploy=deploy, step=step,"
    " scopes=(replace(mindful.PROTOCOL.evidence.scopes[0], states=None),))"
)


def test_a_property_at_rest_and_no_rest_is_refuted(asif: Asif) -> None:
    ended = asif(NO_REST, *CHECK)
    assert (ended.code, ended.result["outcome"]) == (1, "refuted")
    assert "every run comes to rest" in ended.out
    why = "nothing came to rest, so no guarantee and no property at rest was evaluated"
    assert f"  vacuous: two crashes: {why}" in ended.out


@pytest.mark.parametrize("what", VACUOUS)
def test_an_empty_check_is_vacuous(what: str, asif: Asif) -> None:
    text, why = VACUOUS[what]
    ended = asif(text, *CHECK)
    assert ended.code == 1
    assert ended.result["outcome"] == "vacuous"
    assert not ended.result["expected"]
    assert ended.result["vacuous"] == [why]
    assert f"  vacuous: {why}" in ended.out
    assert "mindful: vacuous - NOT AS EXPECTED" in ended.out


def test_what_must_occur_and_never_did_is_not_as_expected(asif: Asif) -> None:
    ended = asif("PROTOCOL = mindful.PROTOCOL.vary(must_occur=(CHECKPOINTED,))", *CHECK)
    assert ended.code == 1
    assert ended.result["missing"] == ["savepoints sent"]
    assert "  never happened: savepoints sent" in ended.out
