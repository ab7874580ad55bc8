"""Links: lost, doubled, delayed and reset messages, each a fault with a budget of its own."""

from __future__ import annotations

from typing import Any

import pytest

from model.actions import Deliver, Disturb, Disturbance, Timeout
from model.choices import enabled
from model.core import (
    DISTURBED,
    Answer,
    Deployment,
    Input,
    Link,
    Observation,
    Property,
    Received,
    Scope,
    Send,
    Site,
    TimerFired,
    When,
)
from model.errors import Invalid
from model.play import Play
from model.protocol import Protocol
from model.system import System
from model.world import apply
from proofs.explore.edges import edges
from proofs.explore.explorer import explore
from tests.contract.words import (
    ALONE,
    deployed,
    holds,
    protocol,
    reachable,
    refuted,
    site,
    states_at_rest,
)
from tests.proofs.test_searches import both

LOSSY, DOUBLING = Link(lossy=True), Link(doubling=True)
UNORDERED, RESETS = Link(unordered=True), Link(resets=True)
KINDS = {
    Disturbance.LOSE: LOSSY,
    Disturbance.DOUBLE: DOUBLING,
    Disturbance.DELAY: UNORDERED,
    Disturbance.RESET: RESETS,
}


def step(_site: Site, state: Any, input_: Input) -> Answer:
    """One sends 1 and 2; the other one keeps what comes, in order."""
    if isinstance(input_, TimerFired):
        return state, (Send("b", 1), Send("b", 2))
    assert isinstance(input_, Received)
    return (*state, input_.message), ()


def pair(*properties: Property, **changes: Any) -> Protocol:
    deployment = deployed(site("a", "go"), site("b"), channels="a-b")._replace(**changes)
    return protocol(deployment, step, *properties, boot=lambda _: ())


def linked(link: Link, *properties: Property) -> Protocol:
    return pair(*properties, links={("a", "b"): link})


def faults(number: int) -> Scope:
    return Scope(crashes=0, disturbances=number)


@pytest.mark.parametrize("link", [Link(), *KINDS.values()])
def test_without_a_budget_nothing_happens(link: Link) -> None:
    """Nothing sent, two on their way, one, none."""
    holds(linked(link), ALONE, 4)
    assert states_at_rest(linked(link), ALONE, "b") == {(1, 2)}


@pytest.mark.parametrize(
    ("link", "worlds", "ends"),
    [
        # Lost: the first, and 2 is on its way, then here; or the second: 4 + 2 + 1 worlds.
        (LOSSY, 4 + 2 + 1, {(2,), (1,)}),
        # Doubled: the first, so 1, 2, 1 come one by one; or the second: 2, 2 come after 1.
        (DOUBLING, 4 + 4 + 3, {(1, 2, 1), (1, 2, 2)}),
        # Delayed: the first, so 2, 1 come; the second is last as it is, and the budget is spent.
        (UNORDERED, 4 + 3 + 2, {(2, 1)}),
        # Reset: both are lost, or the second.
        (RESETS, 4 + 1 + 1, {(), (1,)}),
        # Any of these: lost, doubled, delayed, and where both are reset the only other world.
        (
            Link(True, True, True, True),
            4 + 3 + 7 + 5 + 1,
            {(), (1,), (2,), (2, 1), (1, 2, 1), (1, 2, 2)},
        ),
    ],
)
def test_with_a_budget_of_one_it_happens_once(
    link: Link, worlds: int, ends: set[tuple[int, ...]]
) -> None:
    holds(linked(link), faults(1), worlds)
    assert states_at_rest(linked(link), faults(1), "b") == {(1, 2)} | ends
    assert explore(linked(link), faults(1)).notes[DISTURBED.name]


@pytest.mark.parametrize(
    ("link", "most", "ends"),
    [
        (LOSSY, 2, {(1, 2), (1,), (2,), ()}),
        (RESETS, 1, {(1, 2), (1,), ()}),
        (UNORDERED, 2, {(1, 2), (2, 1)}),
    ],
)
def test_with_a_budget_of_two_it_happens_twice_at_most(
    link: Link, most: int, ends: set[tuple[int, ...]]
) -> None:
    """A reset leaves nothing that a second one could lose."""
    assert states_at_rest(linked(link), faults(2), "b") == ends
    worlds = reachable(System(linked(link), faults(2)))
    assert {2 - world.disturbances for world in worlds} == {*range(most + 1)}


@pytest.mark.parametrize(("how", "link"), KINDS.items())
def test_a_link_has_its_own_faults_alone(how: Disturbance, link: Link) -> None:
    """And only while a message is on its way."""
    system = System(linked(link), faults(1))
    for world in reachable(system):
        offered = [a for a in enabled(system, world) if isinstance(a, Disturb)]
        possible = world.channels[0] and world.disturbances
        assert offered == ([Disturb("b", "a", how)] if possible else [])


def in_order(_scope: Scope, seen: Observation) -> bool:
    return all(state in ((), (1,), (1, 2)) for name, state in seen.states if name == "b")


ORDERED = Property("1 comes before 2, once", When.ALWAYS, in_order, nodes=True)


@pytest.mark.parametrize(
    ("link", "steps"), [(LOSSY, 3), (DOUBLING, 5), (UNORDERED, 3), (RESETS, None)]
)
def test_every_checker_finds_the_fault(link: Link, steps: int | None) -> None:
    """Sent, disturbed, and as many messages taken as show it: one, three, one.  A reset loses all
    that comes later, too, so that the order is kept."""
    if steps is None:
        holds(linked(link, ORDERED), faults(1), 6)
    else:
        found = refuted(linked(link, ORDERED), faults(1), steps)
        assert sum(isinstance(action, Disturb) for action in found.actions) == 1
    holds(linked(link, ORDERED), faults(0), 4)


def test_a_reset_of_a_connection_empties_both_channels() -> None:
    """Named by either of them."""

    def send(site: Site, state: Any, input_: Input) -> Answer:
        other = {"a": "b", "b": "a"}[site.name]
        return state, (Send(other, 1),) if isinstance(input_, TimerFired) else ()

    for ends in (("a", "b"), ("b", "a")):
        both_ways = deployed(site("a", "go"), site("b", "go"), channels="a-b b-a")
        tried = protocol(both_ways._replace(links={ends: RESETS}), send)
        play = Play(tried, faults(1))
        play.settle(lambda action: 0 if hasattr(action, "timer") else None)
        assert [len(sent) for sent in play.world.channels] == [1, 1]
        play.follow(Disturb(ends[1], ends[0], Disturbance.RESET))
        assert [len(sent) for sent in play.world.channels] == [0, 0]
        assert play.world.disturbances == 0
        # Each timer is set, or its message is on its way, or gone: 3 * 3.  After the reset the
        # message of the link is gone; the other timer was set, or its message is gone, too: 3.
        assert both(tried, faults(1)).states == 3 * 3 + 3
        system = System(tried, faults(1))
        found = {(before, action, after) for before, action, after in edges(tried, faults(1))}
        worlds = reachable(system)
        assert found == {(w, a, apply(system, w, a)) for w in worlds for a in enabled(system, w)}


# --- crashes -----------------------------------------------------------------------------------
def incarnations(link: Link) -> Protocol:
    """A client whose messages bear the number of its incarnation."""

    def number(_site: Site, state: Any, input_: Input) -> Answer:
        return state, (Send("b", state),) if isinstance(input_, TimerFired) else ()

    def current(_scope: Scope, seen: Observation) -> bool:
        states = dict(seen.states)
        return all(one == states.get("a", one) for _, sent in seen.messages for one in sent)

    deployment = deployed(site("a", "go"), site("b"), channels="a-b", crashable="a")
    return protocol(
        deployment._replace(links={("a", "b"): link}),
        number,
        Property("no message of an old incarnation", When.ALWAYS, current, True, True),
        recover=lambda *_: (1, ()),
    )


def test_a_message_of_the_old_incarnation_is_lost_if_the_link_resets() -> None:
    """Nothing sent, on its way, taken, while the client is up: 3 worlds.  Then it is down or up
    again: 2.  Where the link does not reset, the message may be on its way or not meanwhile."""
    holds(incarnations(RESETS), Scope(crashes=1), 3 + 2)
    refuted(incarnations(Link()), Scope(crashes=1), 3)
    assert both(incarnations(Link()), Scope(crashes=1)).states == 3 + 2 * 2


def test_a_crash_of_the_receiver_resets_the_way_back_too() -> None:
    """A link in one direction resets both; without it, a message of the receiver still comes."""

    def echo(site: Site, state: Any, input_: Input) -> Answer:
        return state, (Send("a", "echo"),) if site.name == "b" else (Send("b", 1),)

    for link, left in ((RESETS, ()), (Link(), ("echo",))):
        both_ways = deployed(site("a", "go"), site("b"), channels="a-b b-a", crashable="b")
        play = Play(protocol(both_ways._replace(links={("a", "b"): link}), echo), Scope())
        play.follow(Timeout("a", "go"), Deliver("b", "a"))
        play.crash("b")
        assert play.channel("b", "a") == left


# --- wrong words -------------------------------------------------------------------------------
BAD: dict[str, tuple[dict[str, Any], Scope, str]] = {
    "an unknown channel": (
        *({"links": {("b", "a"): LOSSY}}, ALONE),
        "deploy gives a link b -> a, and there is no such channel; there are a -> b",
    ),
    "a name for a channel": (
        *({"links": {"a": LOSSY}}, ALONE),
        "deploy gives a link 'a', and there is no such channel; there are a -> b",
    ),
    "a word for a link": (
        *({"links": {("a", "b"): "lossy"}}, ALONE),
        "deploy gives a link a -> b that is 'lossy'; give a Link(lossy=True) or the like",
    ),
    "no mapping": (
        *({"links": frozenset({("a", "b")})}, ALONE),
        "give a mapping {(sender, receiver): Link(...)}",
    ),
    "a prompt site": (
        *({"links": {("a", "b"): LOSSY}, "prompt": frozenset("b")}, ALONE),
        "a link a -> b to a prompt site, which takes a message as it is sent",
    ),
    "faults without a link": ({}, faults(1), "scope: disturbances 1, and words has no links that"),
    "faults of a perfect link": (
        *({"links": {("a", "b"): Link()}}, faults(1)),
        "scope: disturbances 1, and words has no links that are lossy, doubling, unordered or",
    ),
    "a budget below 0": ({}, faults(-1), "scope: disturbances -1; give 0 or more"),
    "the channel twice": (
        *({"channels": (("a", "b"), ("a", "b"))}, ALONE),
        "words: deploy gives the channel a -> b twice",
    ),
}


@pytest.mark.parametrize(("changes", "scope", "line"), BAD.values(), ids=BAD)
def test_a_wrong_word_is_one_line(changes: dict[str, Any], scope: Scope, line: str) -> None:
    with pytest.raises(Invalid) as raised:
        System(pair(**changes), scope)
    assert line in str(raised.value)


def test_a_link_on_which_nothing_comes_is_reported() -> None:
    silent: Deployment = deployed(site("a"), site("b"), channels="a-b")
    tried = protocol(silent._replace(links={("a", "b"): LOSSY}), step)
    assert both(tried, faults(1)).vacuous == (
        "disturbances: 1 granted, and no message came to a link",
    )
