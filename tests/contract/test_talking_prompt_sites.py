"""Prompt sites that send to prompt sites: all of it happens within one action, in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from model.actions import Deliver, Timeout
from model.choices import enabled
from model.core import Answer, Deployment, Input, Property, Scope, Send, Site
from model.errors import Invalid
from model.protocol import Protocol
from model.system import System
from model.world import apply, initial, unfold
from proofs.explore.edges import edges
from proofs.explore.random_walk import walks
from tests.contract.words import ALONE, always, deployed, holds, protocol, reachable, refuted, site
from tests.proofs.test_searches import both

AGREE = always(
    "the coordinator and the table have counted as many commits",
    lambda seen: dict(seen.states)["coordinator"] == dict(seen.states)["table"],
)
PROMPT = frozenset({"coordinator", "table"})
NAMES = ("worker", "coordinator", "table")


def step(site: Site, state: int, _input: Input) -> Answer:
    """A worker commits twice at the coordinator, which writes to the table, which answers."""
    to = {"worker": "coordinator", "coordinator": "table", "table": "worker"}
    times = 2 if site.name == "worker" and not state else int(site.name != "worker")
    return state + 1, (Send(to[site.name], state),) * times


def committing(
    *properties: Property, names: Sequence[str] = NAMES, prompt: frozenset[str] = PROMPT
) -> Protocol:
    """names: the sites, in this order."""
    sites = (site(name, *(["commit"] if name == "worker" else [])) for name in names)
    ways = "worker-coordinator coordinator-table table-worker"
    deployment = deployed(*sites, channels=ways, crashable="worker", prompt=prompt)
    return protocol(deployment._replace(returning=frozenset()), step, *properties)


@pytest.mark.parametrize("names", [NAMES, NAMES[::-1], ("table", "worker", "coordinator")])
def test_all_happens_within_one_action_whatever_the_order_of_the_sites(
    names: Sequence[str],
) -> None:
    """Nothing committed, both answers on their way, one, none."""
    holds(committing(AGREE, names=names), ALONE, 4)


def test_a_table_that_is_no_prompt_site_is_behind() -> None:
    """As soon as the coordinator has counted."""
    refuted(committing(AGREE, prompt=frozenset({"coordinator"})), ALONE, 1)


def test_a_crash_comes_between_two_transactions_and_never_within_one() -> None:
    """As without a crash: 4 worlds.  Down: having committed nothing, once or twice: 3."""
    holds(committing(AGREE), Scope(), 4 + 3)


def test_the_parts_of_an_action_come_in_order() -> None:
    """The coordinator takes both messages before the table takes any."""
    system = System(committing(), ALONE)
    assert system.prompt == ("coordinator", "table")
    parts = [part for part, _, _ in unfold(system, initial(system), Timeout("worker", "commit"))]
    assert parts == [
        Timeout("worker", "commit"),
        *[Deliver("coordinator", "worker")] * 2,
        *[Deliver("table", "coordinator")] * 2,
    ]


def test_a_sender_comes_before_those_to_which_it_sends_however_they_stand() -> None:
    for names in (NAMES, NAMES[::-1]):
        assert System(committing(names=names), ALONE).prompt == ("coordinator", "table")


def test_the_explorer_and_walks_follow_the_world() -> None:
    system = System(committing(), Scope())
    worlds = reachable(system)
    found = {(before, action, after) for before, action, after in edges(committing(), Scope())}
    assert found == {(w, a, apply(system, w, a)) for w in worlds for a in enabled(system, w)}
    assert all(not world.channels[at] for world in worlds for at in (0, 1))
    assert walks(committing(), Scope(), 50, seed=1).rested == 50


def ways(text: str, prompt: str) -> Deployment:
    sites = [site(name) for name in "abcd"]
    return deployed(*sites, channels=text, prompt=frozenset(prompt))


@pytest.mark.parametrize(
    ("text", "prompt", "shown"),
    [("a-b b-a", "ab", "a, b"), ("a-b b-c c-a", "abc", "a, b, c"), ("d-a a-b b-a", "abd", "a, b")],
)
def test_a_circle_is_one_line(text: str, prompt: str, shown: str) -> None:
    tried = protocol(ways(text, prompt), lambda *_: (0, ()))
    with pytest.raises(Invalid, match=f"prompt sites .*{shown}.* in a circle; each answers at"):
        System(tried, ALONE)


def test_a_circle_through_a_site_that_is_not_prompt_is_none() -> None:
    """As of the worker above."""
    tried: Any = protocol(ways("a-b b-c c-a", "ab"), lambda *_: (0, ()))
    assert System(tried, ALONE).prompt == ("a", "b")
    assert both(tried, ALONE).states == 1


def test_a_message_along_no_channel_is_a_failing_step() -> None:
    """The table may answer the worker, and not the coordinator."""

    def back(one: Site, state: int, input_: Input) -> Answer:
        return step(one, state, input_) if one.name != "table" else (0, (Send("coordinator", 1),))

    found = both(committing().vary(step=back), ALONE).counterexample
    assert found is not None
    why = "table, int from coordinator: sends to 'coordinator': no channel goes there"
    assert why in found.property.name
