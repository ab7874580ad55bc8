"""A world under way: actions are those of the model, and the caller orders them."""

from __future__ import annotations

from typing import Any

import pytest

from model.actions import Crash, Deliver, Inject, OwnStep, Restart, Timeout
from model.choices import quiescent
from model.core import Arrival, Lost
from model.play import Play, timers_last
from model.world import DOWN, apply, initial
from tests.contract import groups, stores

A = Arrival(1, "a")
SINK = "sink"


def relays() -> Play:
    return Play(groups.PROTOCOL, groups.ONE_EVENT)


def test_a_settled_play_is_at_rest_and_has_the_outputs() -> None:
    play = relays()
    play.inject("source", A)
    assert play.channel("source", "A")
    assert play.settle() is None
    assert quiescent(play.system, play.world)
    assert [body.type for _, body in play.outputs(SINK)] == ["a"]
    assert (play.state("A"), play.node("A").durable) == (1, 1)


def test_actions_have_the_effect_of_the_model() -> None:
    edges: list[Any] = []
    play = Play(stores.PROTOCOL, stores.ONE_EVENT, lambda *edge: edges.append(edge))
    play.inject("source", A)
    play.settle(timers_last)
    world = initial(play.system)
    for before, action, after in edges:
        assert before == world
        world = apply(play.system, world, action)
        assert after == world
    assert world == play.world


def test_a_stop_crashes_in_the_middle_of_an_action() -> None:
    play = relays()
    play.inject("source", A)

    def in_a(action: OwnStep) -> int | None:
        return 1 if action.node == "A" else None

    assert play.settle(stop=in_a) == Deliver("A", "source", crash_after=1)
    assert (play.state("A"), play.node("A").durable) == (DOWN, None)
    assert play.channel("A", "B")[-1] == Lost("A")
    assert Restart("A") in play.ready()


def test_an_order_leaves_actions_for_later() -> None:
    play = Play(stores.PROTOCOL, stores.ONE_EVENT)
    play.inject("source", Arrival(1, "b"))
    play.settle(lambda action: None if isinstance(action, Timeout) else 0)
    assert [type(action) for action in play.ready()] == [Timeout]
    play.settle()
    assert not play.ready()


def test_a_branch_goes_on_alone() -> None:
    play = relays()
    other = play.branch()
    other.inject("source", A)
    assert play.world == initial(play.system)
    assert other.world != play.world


def test_a_group_crash_takes_all_members_down() -> None:
    play = relays()
    play.crash("A", ("A", "B"))
    assert (play.state("A"), play.state("B")) == (DOWN, DOWN)


def test_only_actions_that_the_world_offers_are_followed() -> None:
    play = relays()
    play.follow(Inject("source", A), Deliver("A", "source"), Crash("B"))
    with pytest.raises(ValueError, match="the world offers no such action now"):
        play.follow(Deliver("B", "A"))
    assert play.message(Restart("B")) is None
