"""Sources and sinks that crash, and `Rewind`: a source reads its log of arrivals again."""

from __future__ import annotations

from typing import Any

import pytest

from model.actions import Inject, Reread, Restart
from model.choices import enabled
from model.comparison import SET
from model.core import (
    Answer,
    Arrival,
    Deployment,
    Effect,
    Emit,
    Guarantee,
    Input,
    Property,
    Received,
    Rewind,
    Role,
    Save,
    Scope,
    Send,
    Site,
)
from model.events import Body
from model.family import Family
from model.graph import chain
from model.parts import deploy_graph, over_words
from model.play import Play
from model.properties import AS_IF, COMPLETE
from model.protocol import Behaviour, Protocol
from model.system import System
from model.world import DOWN, apply
from proofs.explore.edges import edges
from tests.contract.words import ANYTHING, fails, holds, reachable, refuted
from tests.proofs.test_searches import both

GRAPH = chain()
"""source -> sink."""
A = Arrival(1, "a")
ONE, TWO = over_words(GRAPH, 1, "a"), over_words(GRAPH, 2, "a")


def forward(site: Site, state: int, input_: Input) -> Answer:
    """A source counts, sends and then saves the count; a sink passes on."""
    if isinstance(input_, Arrival):
        return state + 1, (Send("sink", Body(state + 1, input_.type)), Save(state + 1))
    assert isinstance(input_, Received)
    return state, (Emit((0, input_.message)),)


def only_send(site: Site, state: int, input_: Input) -> Answer:
    number, effects = forward(site, state, input_)
    return number, effects[:1]


def save_first(site: Site, state: int, input_: Input) -> Answer:
    number, effects = forward(site, state, input_)
    return number, effects[::-1]


def without_doubles(site: Site, state: int, input_: Input) -> Answer:
    """A sink that passes on each event once."""
    if isinstance(input_, Received):
        new = input_.message.time > state
        return max(state, input_.message.time), (Emit((0, input_.message)),) * new
    return forward(site, state, input_)


def begin(_site: Site, _durable: Any) -> Answer:
    """From the first event on."""
    return 0, (Rewind(0),)


def go_back(_site: Site, durable: Any) -> Answer:
    """To the first event that was not saved."""
    return durable or 0, (Rewind(durable or 0),)


def go_on(_site: Site, durable: Any) -> Answer:
    return durable or 0, ()


def reading(step: Any, recover: Any, *properties: Property, crashable: str = "source") -> Protocol:
    def deploy(_design: None, scope: Scope) -> Deployment:
        return deploy_graph(scope.graph)._replace(crashable=frozenset({crashable}))

    family = Family("reader", "", "", Behaviour(deploy, lambda _: 0, step, recover))
    return family.design(properties=properties or (ANYTHING,), claims={})


@pytest.mark.parametrize("scope", [ONE, TWO])
@pytest.mark.parametrize(
    ("step", "recover", "guarantee"),
    [
        (without_doubles, begin, Guarantee.PRECISE),
        (forward, begin, Guarantee.REPEATING),
        # A saved event may have been lost with the connection, or was never sent.
        (forward, go_back, Guarantee.GAP),
        (without_doubles, go_back, Guarantee.GAP),
        (save_first, go_back, Guarantee.GAP),
        (forward, go_on, Guarantee.GAP),
    ],
)
def test_where_a_source_begins_decides_what_is_lost(
    step: Any, recover: Any, guarantee: Guarantee, scope: Scope
) -> None:
    assert both(reading(step, recover), scope).guarantee is guarantee


def test_its_worlds_without_a_crash() -> None:
    """Nothing came, an event on its way, passed on."""
    holds(reading(forward, begin), over_words(GRAPH, 1, "a", crashes=0), 3)


def test_its_worlds_with_a_crash() -> None:
    """Without one: 3.  The source is down: no event had come, or it is on its way, passed on or
    lost: 4.  The source is back: no event has come, 1; it is to be read again, and meanwhile is on
    its way, passed on or lost, 3.  It was read again, as it was lost or came then: on its way or
    passed on, 2; as it was on its way or passed on: of two, both, one or none are on their way,
    3."""
    holds(reading(only_send, begin), ONE, 3 + 4 + 1 + 3 + 2 + 3, Guarantee.REPEATING)


def test_new_events_wait_until_all_was_read_again() -> None:
    """And while the source is down."""
    play = Play(reading(forward, lambda *_: (0, (Rewind(0),))), TWO)
    play.follow(Inject("source", A))
    play.crash("source")
    assert not any(isinstance(action, Inject) for action in enabled(play.system, play.world))
    play.follow(Restart("source"))
    assert play.node("source").behind == 1
    assert not any(isinstance(action, Inject) for action in enabled(play.system, play.world))
    play.follow(Reread("source"))
    assert play.node("source").behind == 0
    assert Inject("source", A) in enabled(play.system, play.world)
    assert play.world.arrivals == ((A,),)


@pytest.mark.parametrize(("to", "read"), [(0, "abc"), (1, "bc"), (2, "c"), (3, ""), (9, "")])
def test_a_place_in_the_log(to: int, read: str) -> None:
    """0 is the first arrival; a place behind the last one is the end of the log."""
    three = over_words(GRAPH, 3, "abc")
    play = Play(reading(forward, lambda *_: (to, (Rewind(to),))), three)
    play.inject("source", *(Arrival(1, type_) for type_ in "abc"))
    play.crash("source", drops=True)
    play.do(Restart("source"))
    assert play.node("source").behind == len(read)
    play.settle()
    assert [body.type for _, body in play.outputs("sink")] == [*read]


def test_a_crash_forgets_how_far_the_source_had_read() -> None:
    """Down in the middle of its log, it begins behind the last arrival unless it goes back."""
    for recover, behind in ((go_on, 0), (begin, 2)):
        play = Play(reading(forward, recover), Scope(GRAPH, TWO.inputs, crashes=2))
        play.inject("source", A, A)
        play.crash("source")
        play.do(Restart("source"))
        if behind:
            play.do(Reread("source"))
        play.crash("source")
        assert (play.node("source").state, play.node("source").behind) == (DOWN, 0)
        play.do(Restart("source"))
        assert play.node("source").behind == behind


def test_the_explorer_follows_the_world() -> None:
    tried = reading(forward, go_back)
    system = System(tried, TWO)
    worlds = reachable(system)
    assert both(tried, TWO).states == len(worlds)
    steps = {(before, action, after) for before, action, after in edges(tried, TWO)}
    assert steps == {(w, a, apply(system, w, a)) for w in worlds for a in enabled(system, w)}


@pytest.mark.parametrize(
    ("step", "recover", "property_", "steps"),
    [
        # The event is sent and not saved in one step; restart, read again, two deliveries.
        (forward, begin, AS_IF, 1 + 2 + 2),
        # The event is saved and not sent in one step; restart.
        (save_first, go_back, COMPLETE, 2),
        # The event is saved and sent; crash with its connections; restart.
        (forward, go_back, COMPLETE, 3),
    ],
)
def test_every_checker_finds_it(step: Any, recover: Any, property_: Property, steps: int) -> None:
    refuted(reading(step, recover, property_), ONE, steps)


# --- sinks -------------------------------------------------------------------------------------
def test_a_sink_that_crashes_loses_what_was_on_its_way() -> None:
    """Emitted, or not; nothing makes the source send again."""
    tried = reading(forward, go_on, COMPLETE, crashable="sink")
    refuted(tried, ONE, 3)


def test_a_sink_may_ask_for_its_events_again() -> None:
    """It saves the number of its events after it has emitted one: a crash between the two repeats
    an event, which in a set changes nothing."""

    def step(site: Site, state: Any, input_: Input) -> Answer:
        match site.role, input_:
            case Role.SINK, Received(_, Body() as body):
                taken: tuple[Effect, ...] = (Emit((0, body)), Save(body.time))
                return (body.time, taken) if body.time == state + 1 else (state, ())
            case Role.SOURCE, Received(_, place):
                return place, (Rewind(place),)
            case Role.SOURCE, Arrival():
                return state + 1, (Send("sink", Body(state + 1, "a")),)
        raise AssertionError(input_)

    def recover(site: Site, durable: Any) -> Answer:
        return durable or 0, (Send("source", durable or 0),)

    def deploy(_design: None, scope: Scope) -> Deployment:
        return deploy_graph(scope.graph, replies=True)._replace(crashable=frozenset({"sink"}))

    tried = Family("sinker", "", "", Behaviour(deploy, lambda _: 0, step, recover)).design()
    log = both(tried.vary(properties=()), TWO)
    assert log.guarantee is Guarantee.REPEATING
    table = over_words(GRAPH, 2, "a")
    as_set = both(tried, Scope(GRAPH, table.inputs, crashes=1, sinks=(("sink", SET),)))
    assert (as_set.counterexample, as_set.guarantee) == (None, Guarantee.PRECISE)


# --- wrong words -------------------------------------------------------------------------------
@pytest.mark.parametrize("to", [-1, "x", 1.5, None])
def test_a_place_that_is_none_is_a_failing_step(to: Any) -> None:
    def step(_site: Site, state: int, _input: Input) -> Answer:
        return state, (Rewind(to),)

    why = f"has a Rewind among its effects: to {to!r}; a source goes back to one of its arrivals"
    fails(reading(step, go_on), ONE, f"source, input a: {why}, from 0")


def test_who_has_no_log_does_not_go_back() -> None:
    def step(site: Site, state: int, input_: Input) -> Answer:
        return forward(site, state, input_) if site.role is Role.SOURCE else (0, (Rewind(0),))

    broken = both(reading(step, go_on), ONE).counterexample
    assert broken is not None
    assert "sink, Body from source: has a Rewind among its effects: to 0" in broken.property.name
