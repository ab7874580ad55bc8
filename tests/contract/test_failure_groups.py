"""Failure groups and notices: the nodes that one fault takes down, and those that it notifies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from model.actions import Action, Crash, Deliver, Inject, Restart
from model.choices import enabled
from model.core import CRASHED, Arrival, Guarantee, Lost, Received, Scope
from model.evidence import Outcome
from model.play import Play
from model.protocol import Protocol
from model.results.plain import plain, read
from model.results.story import Story
from model.system import System
from model.world import DOWN, World, apply, initial, input_of, struck
from proofs.explore.collapse import Collapsed
from proofs.explore.edges import edges
from proofs.explore.explorer import Trace, explore
from proofs.explore.random_attack import attack
from proofs.explore.random_walk import walks
from proofs.explore.story import story
from proofs.explore.views import FAULTS
from reports.diagrams import spacetime, terminal
from reports.diagrams.timeline import timeline
from tests.contract import groups
from tests.contract.groups import ONE_EVENT, PROTOCOL, REFUTED, SILENT, SINGLE, deploying
from tests.proofs.test_searches import both, reachable

HOST = ("A", "B")
TWO_CRASHES = replace(ONE_EVENT, crashes=2)
UNWATCHED = deploying(PROTOCOL, watched=frozenset())
ALONE = deploying(PROTOCOL, together=())
PLAIN = deploying(PROTOCOL, together=(), watched=frozenset())


# --- the world -----------------------------------------------------------------------------------
def content(system: System, world: World, sender: str, receiver: str) -> tuple[Any, ...]:
    return world.channels[system.channel_at[sender, receiver]]


def run(protocol: Protocol, scope: Scope, *actions: Action) -> tuple[System, World]:
    play = Play(protocol, scope)
    play.follow(*actions)
    return play.system, play.world


EVENT = Inject("source", Arrival(1, "a"))
TAKEN = Deliver("A", "source")


def test_a_group_goes_down_at_once_for_one_crash_and_comes_back_one_by_one() -> None:
    system, world = run(PROTOCOL, TWO_CRASHES, EVENT, TAKEN, Crash("A", False, HOST))
    assert world.crashes == 1
    down = {name for name in system.sites if world.nodes[system.node_at[name]].state is DOWN}
    assert down == {*HOST}
    assert world.nodes[system.node_at["A"]].durable == 1
    assert content(system, world, "A", "B") == ()  # the event, and a notice that nobody hears
    assert {Restart("A"), Restart("B")} <= {*enabled(system, world)}
    for order in (HOST, HOST[::-1]):
        after = world
        for name in order:
            after = apply(system, after, Restart(name))
        assert after.nodes[system.node_at["A"]].state == 1


def test_data_comes_first_and_then_the_notice() -> None:
    system, world = run(PROTOCOL, TWO_CRASHES, EVENT, TAKEN, Crash("A"))
    event, notice = content(system, world, "A", "B")
    assert (type(event).__name__, notice) == ("Body", Lost("A"))
    assert content(system, world, "A", "sink") == (Lost("A"),)
    system, world = run(PROTOCOL, TWO_CRASHES, EVENT, TAKEN, Crash("A", drops_sent=True))
    assert content(system, world, "A", "B") == (Lost("A"),)
    told = apply(system, world, Deliver("sink", "A"))
    assert told.nodes[system.node_at["sink"]].state == ("A",)
    assert input_of(system, world, Deliver("sink", "A")) == Received("A", Lost("A"))


def test_a_crash_in_a_step_may_take_the_group_down() -> None:
    system, world = run(PROTOCOL, ONE_EVENT, EVENT, TAKEN._replace(crash_after=1, group=HOST))
    assert [world.nodes[system.node_at[name]].durable for name in HOST] == [None, None]
    assert content(system, world, "A", "B") == ()
    assert content(system, world, "B", "sink") == (Lost("B"),)


def test_messages_of_all_members_are_lost_with_their_connections() -> None:
    begun = (EVENT, TAKEN, Deliver("B", "A"))
    for drops, left in ((False, 2), (True, 1)):
        system, world = run(PROTOCOL, ONE_EVENT, *begun, Crash("A", drops, HOST))
        assert len(content(system, world, "B", "sink")) == left
        assert content(system, world, "B", "sink")[-1] == Lost("B")


def test_who_is_down_is_struck_no_second_time_and_told_of_nothing() -> None:
    system, world = run(PROTOCOL, TWO_CRASHES, Crash("A"), Deliver("sink", "A"))
    group = Crash("B", False, HOST)  # at its first member that is up
    assert [a for a in enabled(system, world) if isinstance(a, Crash) and a.group] == [
        group,
        group._replace(drops_sent=True),
    ]
    assert struck(system, world, group) == ("B",)
    after = apply(system, world, group)
    assert after == apply(system, world, Crash("B"))
    assert content(system, after, "A", "sink") == ()
    assert not any(a.group for a in enabled(system, after) if isinstance(a, Crash))


def test_a_group_is_granted_if_all_its_members_may_crash() -> None:
    for victims, granted in (("AB", 2), ("A", 0), ("B", 0)):
        scope = replace(SILENT, victims=frozenset(victims))
        system = System(PROTOCOL, scope)
        found = [a for a in enabled(system, initial(system)) if isinstance(a, Crash) and a.group]
        assert len(found) == granted
    none = System(PROTOCOL, replace(SILENT, crashes=0))
    assert enabled(none, initial(none)) == ()


def test_after_a_group_crash_a_single_fault_waits_until_the_system_is_at_rest() -> None:
    system, world = run(SINGLE, TWO_CRASHES, Crash("A", False, HOST))
    for action in (Restart("A"), Restart("B"), Deliver("sink", "A"), Deliver("sink", "B")):
        assert not any(struck(system, world, a) for a in enabled(system, world))
        world = apply(system, world, action)
    assert Crash("A", False, HOST) in enabled(system, world)


# --- the explorer --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("protocol", "states"),
    [
        (PLAIN, 1 + 2 + 1),  # the first world; A or B is down; both are up again
        (UNWATCHED, 1 + 4),  # also both down
        (ALONE, 1 + 2**3 + 2**2),  # A restarts, B and the sink hear of it; B restarts, the sink is
        (PROTOCOL, 1 + 2**3 + 2**2 + 4 * 5),  # both restart; the sink hears of A, B, AB or BA
    ],
)
def test_worlds_without_events_are_as_counted_by_hand(protocol: Protocol, states: int) -> None:
    assert both(protocol, SILENT).states == states


def test_a_victim_alone_has_no_group() -> None:
    found = both(PROTOCOL, replace(SILENT, victims=frozenset({"A"})))
    assert found.states == 1 + 2**3
    assert not any(point.group for point in found.points)


@pytest.mark.parametrize("protocol", [PROTOCOL, SINGLE, UNWATCHED, ALONE])
@pytest.mark.parametrize("scope", [ONE_EVENT, TWO_CRASHES])
def test_both_searches_visit_the_worlds_of_the_model(protocol: Protocol, scope: Scope) -> None:
    worlds = reachable(System(protocol, scope))
    found = both(protocol, scope)
    assert found.states == len(worlds)
    assert found.depth == max(worlds.values())


def test_the_explorer_grants_what_the_world_grants() -> None:
    for protocol in (PROTOCOL, SINGLE):
        system = System(protocol, TWO_CRASHES)
        found: dict[World, Counter[Action]] = {}
        for before, action, after in edges(protocol, TWO_CRASHES):
            found.setdefault(before, Counter())[action] += 1
            assert apply(system, before, action) == after
        assert {*found} == {w for w in reachable(system) if enabled(system, w)}
        assert all(Counter(enabled(system, world)) == those for world, those in found.items())


def test_a_group_has_crash_points_of_its_own() -> None:
    """Both members are lost in a group crash; where one was down, the group was not hit."""
    found = both(PROTOCOL, SILENT)
    assert found.notes[CRASHED.name] == 2 * (1 + 1 + 2)
    with_group = {str(point) for point in found.hit if point.group}
    assert with_group == {"A with B: between steps"}
    found = both(PROTOCOL, TWO_CRASHES)
    assert found.hit == found.points
    assert sorted(str(point) for point in found.points if point.group) == [
        "A with B: between steps",
        "A with B: on Body from source, after Body to B",
        "B with A: on Body from A, after Body to sink",
    ]


def test_a_group_that_is_never_up_whole_is_not_hit() -> None:
    """A vacuity that shows: its points exist, and nobody hit them."""
    system, world = run(PROTOCOL, TWO_CRASHES, EVENT, Crash("B"))
    collapsed = Collapsed(system)
    list(collapsed.moves_in(collapsed.numbers(collapsed.pack(world))))
    for view in collapsed.views:
        for focus in [*view.focuses]:
            collapsed.grant(view, focus, FAULTS)
    assert {str(point) for point in collapsed.evidence.points if point.group} == {
        "A with B: between steps",
        "A with B: on Body from source, after Body to B",
    }
    assert not any(point.group for point in collapsed.evidence.hit)


# --- walks and attacks ---------------------------------------------------------------------------
def test_walks_visit_explored_worlds_alone() -> None:
    explored = reachable(System(REFUTED, ONE_EVENT))
    runs = [walks(REFUTED, ONE_EVENT, 500, seed=seed) for seed in range(20)]
    for trace in (found.trace for found in runs):
        assert trace is not None
        assert {*trace.worlds} <= {*explored}


def test_every_finder_finds_a_group_crash_and_its_run_can_be_repeated() -> None:
    """With one crash, the sink loses both only if one fault takes both down."""
    assert explore(deploying(REFUTED, together=()), ONE_EVENT).outcome is Outcome.HOLDS
    for found in found_by_all(REFUTED):
        system, actions, worlds = found
        world = initial(system)
        for action, after in zip(actions, worlds[1:], strict=True):
            assert action in enabled(system, world)
            world = apply(system, world, action)
            assert world == after
        (fault,) = [a for a in actions if not isinstance(a, Inject) and a.group]
        assert fault.group == HOST


def found_by_all(protocol: Protocol) -> Iterator[Any]:
    explored = explore(protocol, ONE_EVENT, until=Guarantee.PRECISE).counterexample
    assert explored is not None
    assert len(explored.trace.actions) == 1 + 2 + 2  # a crash, two restarts, two notices
    yield explored.trace
    walked = walks(protocol, ONE_EVENT, 2_000, seed=1).trace
    assert walked is not None
    yield walked
    for examples in (0, 300):
        attacked = attack(
            protocol, walks=0 if examples else 2_000, examples=examples, scopes=[ONE_EVENT]
        ).failure
        assert attacked is not None
        yield attacked.trace


# --- deployments that cannot be ------------------------------------------------------------------
BAD = {
    "an unknown member": (
        "together=(Group(frozenset({'A', 'Bee'})),)",
        "deploy gives a failure group A, Bee, and no site 'Bee' may crash",
    ),
    "a member that may not crash": (
        "together=(Group(frozenset({'A', 'source'})),)",
        "deploy gives a failure group A, source, and no site 'source' may crash",
    ),
    "one member": (
        "together=(Group(frozenset({'A'})),)",
        "deploy gives a failure group of 1 (A); give two sites or more",
    ),
    "no member": (
        "together=(Group(frozenset()),)",
        "deploy gives a failure group of 0 (); give two sites or more",
    ),
    "the same group twice": (
        "together=(Group(groups.HOST), Group(groups.HOST))",
        "deploy gives the failure group A, B twice",
    ),
    "a channel that does not exist": (
        "watched=frozenset({('B', 'A')})",
        "deploy watches a channel B -> A, and there is none",
    ),
}


@pytest.mark.parametrize(("changes", "line"), BAD.values(), ids=BAD)
def test_a_bad_deployment_is_one_line(changes: str, line: str, asif: Callable[..., Any]) -> None:
    deploying = f"groups.deploying(groups.PROTOCOL, {changes})"
    text = (
        f"from model.core import Group\nfrom tests.contract import groups\nPROTOCOL = {deploying}\n"
    )
    assert line in asif(text, "check", "FILE", "--examples", "1").line


def test_the_protocol_of_these_tests_is_checked_whole(asif: Callable[..., Any]) -> None:
    text = "from tests.contract import groups\nPROTOCOL = groups.REFUTED\n"
    ended = asif(text, "check", "FILE", "--examples", "5")
    assert ended.code == 1
    assert ended.result["missed"] == []
    assert groups.NEVER_BOTH.name in ended.out


# --- pictures ------------------------------------------------------------------------------------
def test_a_group_crash_and_its_notices_are_told_and_drawn() -> None:
    begun = (EVENT, TAKEN, Deliver("B", "A"), Crash("A", True, HOST))
    back = (Restart("B"), Deliver("sink", "B"), Restart("A"), Deliver("sink", "A"))
    worlds = [run(PROTOCOL, ONE_EVENT, *(begun + back)[:at])[1] for at in range(9)]
    told = story(Trace(System(PROTOCOL, ONE_EVENT), begun + back, tuple(worlds)))
    assert read(Story, json.loads(json.dumps(plain(told)))) == told
    crash = told.moments[3]
    assert (crash.node, crash.with_) == ("A", ("B",))
    assert [(send.by, send.to, send.label, send.kind.value) for send in crash.sends] == [
        ("B", "sink", "lost B", "control"),
        ("A", "sink", "lost A", "control"),
    ]
    assert told.moments[2].sends[0].lost
    lines = terminal.text(told, width=110).splitlines()
    row = next(line for line in lines if "crash, with B, their messages lost" in line)
    assert row.count("✕") == 2
    assert sum("lost B ‹4›" in line or "lost A ‹4›" in line for line in lines) == 2
    restarts = sum("restart, reads 1 · 1" in line for line in lines)
    assert restarts == 2  # what they held before is forgotten
    drawn = spacetime.svg(told)
    assert drawn.count('class="cross"') == 2 + 1 + 2  # two nodes, a message, and in the legend
    assert "control lost B: B to sink, sent in step 4, taken in step 6" in drawn


def test_a_group_crash_in_a_step_is_drawn_after_its_effects() -> None:
    actions = (EVENT, TAKEN._replace(crash_after=1, group=HOST), Restart("B"))
    worlds = [run(PROTOCOL, ONE_EVENT, *actions[:at])[1] for at in range(4)]
    told = story(Trace(System(PROTOCOL, ONE_EVENT), actions, tuple(worlds)))
    lines = terminal.text(told, width=110).splitlines()
    row = next(line for line in lines if "crash before saving 1, with B" in line)
    assert row.count("✕") == 2
    line = timeline(told)
    lane = line.lanes.index("B")
    assert [line.is_down(lane, at) for at in range(3)] == [False, True, False]
