"""Properties over nodes and messages in every world: a two-phase commit, and who saved what."""

from __future__ import annotations

from typing import Any

import pytest

from model.core import (
    Answer,
    Input,
    Observation,
    Property,
    Received,
    Role,
    Save,
    Scope,
    Send,
    Site,
    TimerFired,
    When,
)
from model.errors import Invalid
from model.protocol import Protocol
from proofs.explore.explorer import explore
from tests.contract.words import ALONE, always, deployed, holds, protocol, refuted, site

VOTERS = ("v1", "v2")


def step(site: Site, state: Any, input_: Input) -> Answer:
    match input_:
        case TimerFired():
            return "ready", (Send("manager", "yes"),)
        case Received(_, "yes"):
            votes = state + 1
            return votes, tuple(Send(n, "commit") for n in VOTERS) if votes == site.spec else ()
    return ("committed" if state == "ready" else state), ()


def agree(_scope: Scope, seen: Observation) -> bool:
    """No voter has committed while another one still works."""
    return not {"committed", "working"} <= {state for _, state in seen.states}


def commit(needed: int, *properties: Property) -> Protocol:
    """A manager that decides after `needed` votes; each voter votes when its timer runs out."""
    manager = Site("manager", Role.OPERATOR, needed, (), VOTERS)
    ways = "v1-manager v2-manager manager-v1 manager-v2"
    return protocol(
        deployed(manager, *(site(name, "vote") for name in VOTERS), channels=ways),
        step,
        *properties,
        boot=lambda site: 0 if site.name == "manager" else "working",
    )


ALWAYS = Property("all or none", When.ALWAYS, agree, nodes=True)
RESTING = Property("at rest, all or none", When.QUIESCENT, agree, nodes=True)


def test_a_decision_after_all_votes_holds() -> None:
    """Before the decision each vote is not cast, on its way or taken: 3 * 3 worlds, less the one in
    which both are taken.  After it each order is on its way or taken: 2 * 2."""
    holds(commit(2, ALWAYS), ALONE, 3 * 3 - 1 + 2 * 2)


def test_a_decision_after_the_first_vote_is_refuted() -> None:
    """A vote is cast and taken, and its voter takes the order."""
    refuted(commit(1, ALWAYS), ALONE, 3)


def test_at_rest_nobody_notices_that() -> None:
    """Where the manager decides after v1's vote: v2 may not have voted when it takes the order."""
    found = explore(commit(1, RESTING), ALONE)
    assert found.counterexample is None
    assert found.quiescent >= 1


def test_a_property_may_look_at_the_messages_alone() -> None:
    """Two votes are on their way after two steps."""

    def few(_scope: Scope, seen: Observation) -> bool:
        return sum(sent == ("yes",) for _, sent in seen.messages) < 2

    found = refuted(commit(2, Property("few", When.ALWAYS, few, messages=True)), ALONE, 2)
    assert found.worlds[-1].channels == (("yes",), ("yes",), (), ())


def saver(*properties: Property) -> Protocol:
    """A site that saves 1 and sends it when its timer runs out; it never comes back."""
    deployment = deployed(site("a", "save"), site("b"), channels="a-b", crashable="a")
    deployment = deployment._replace(returning=frozenset())
    effects = {"a": (Save(1), Send("b", 1)), "b": ()}
    return protocol(deployment, lambda site, *_: (1, effects[site.name]), *properties)


def test_a_node_that_is_down_has_no_state_and_its_durable_value() -> None:
    """The timer runs out, and the node crashes: at once, or after the first effect."""
    empty = always("who is down saved nothing", lambda seen: len(seen.states) == 2 or not seen[3])
    found = refuted(saver(empty), Scope(), 1)
    assert found.worlds[-1].nodes[0].durable == 1


def test_the_worlds_of_a_node_that_saves_and_never_comes_back() -> None:
    """Up without and with the value, where the message is on its way or taken: 3.  Down, without
    the value: 1; with it, and the message was never sent or is lost, is on its way, is taken: 3."""
    kept = always("who is up keeps 0 or 1", lambda seen: {*dict(seen.states).values()} <= {0, 1})
    holds(saver(kept), Scope(), 3 + 4)


@pytest.mark.parametrize("part", ["states", "durable", "messages"])
@pytest.mark.parametrize("when", When)
def test_a_property_that_does_not_say_where_it_looks_is_refused(part: str, when: When) -> None:
    """It would see nothing there, and hold of every world."""
    blind = Property("blind", when, lambda _, seen: not getattr(seen, part))
    with pytest.raises(Invalid, match="property 'blind': it looks at states or durable values"):
        explore(saver(blind), Scope())


def test_a_property_of_no_moment_is_refused() -> None:
    odd: Any = "always"
    with pytest.raises(Invalid, match=r"property 'odd' is about 'always'; give When\.ALWAYS or"):
        explore(saver(Property("odd", odd, lambda *_: False)), Scope())
