"""Properties over nodes in every world: a two-phase commit that decides after the first vote."""

from __future__ import annotations

from typing import Any

import pytest

from model.core import (
    Answer,
    Deployment,
    Input,
    Property,
    Received,
    Role,
    Scope,
    Send,
    Site,
    TimerFired,
    When,
)
from model.evidence import Outcome
from model.family import Family
from model.protocol import Assumptions, Behaviour, Failures, Protocol
from tests.proofs.test_searches import both

VOTERS = ("v1", "v2")


def deploy(needed: int, _scope: Scope) -> Deployment:
    """A manager, and two voters that each vote when their timer runs out."""
    manager = Site("manager", Role.OPERATOR, needed, (), VOTERS)
    voters = (Site(name, Role.OPERATOR, None, (), (), timers=("vote",)) for name in VOTERS)
    ways = (*((name, "manager") for name in VOTERS), *(("manager", name) for name in VOTERS))
    return Deployment((manager, *voters), ways, frozenset())


def step(site: Site, state: Any, input_: Input) -> Answer:
    match input_:
        case TimerFired():
            return "ready", (Send("manager", "yes"),)
        case Received(_, "yes"):
            votes = state + 1
            return votes, tuple(Send(n, "commit") for n in VOTERS) if votes == site.spec else ()
    return ("committed" if state == "ready" else state), ()


def boot(site: Site) -> Any:
    return 0 if site.name == "manager" else "working"


def agree(_scope: Scope, seen: Any) -> bool:
    """No voter has committed while another one still works."""
    return not {"committed", "working"} <= {state for _, state in seen.states}


def commit(needed: int, when: When) -> Protocol:
    return Family(
        "commit",
        "",
        "",
        Behaviour(deploy, boot, step),
        assumes=Assumptions(Failures.NONE),
        properties=(Property("all or none", when, agree, nodes=True),),
    ).design("", needed, scopes=(), claims={})


SCOPE = Scope(crashes=0)


def test_a_decision_after_the_first_vote_is_refuted_in_every_world() -> None:
    found = both(commit(1, When.ALWAYS), SCOPE)
    assert found.outcome is Outcome.REFUTED
    assert found.counterexample is not None
    # a vote, the manager takes it, the voter takes the decision
    assert len(found.counterexample.trace.actions) == 3


@pytest.mark.parametrize("needed", [2])
def test_a_decision_after_all_votes_holds(needed: int) -> None:
    assert both(commit(needed, When.ALWAYS), SCOPE).outcome is Outcome.HOLDS
