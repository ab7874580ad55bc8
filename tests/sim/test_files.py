"""Timed runs of a site with files: which writes cost time, and which a crash loses."""

from __future__ import annotations

from typing import Any

import pytest

from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import (
    Answer,
    Arrival,
    CancelTimer,
    Deployment,
    Effect,
    Emit,
    File,
    Input,
    Received,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    Sync,
    TimerFired,
)
from model.costs import Size, default_size
from model.errors import StepFailed
from model.events import Body
from model.family import Family
from model.graph import chain
from model.parts import deploy_graph
from model.protocol import Behaviour, Protocol
from sim.inputs.streams import Workload
from sim.timed.costs import PS, Costs, LinkCosts, Service, Sizes, Storage
from sim.timed.failures import TimedCrash
from tests.sim.test_timed import followed, played, word

ONE = chain(("A", Operator(sequence("a"), CountWindows(1, 1))))
FREE = Service(event_s=0.0, control_s=0.0, item_s=0.0, savepoint_s=0.0)
NEAR = LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=None)


def deploy(_design: None, scope: Scope) -> Deployment:
    deployment = deploy_graph(scope.graph)
    files = File("log", tears=True), File("index")
    sites = (s._replace(files=files) if s.name == "A" else s for s in deployment.sites)
    return deployment._replace(sites=tuple(sites))


def answer(site: Site, effects: tuple[Effect, ...]) -> Answer:
    """The operator sends on what it reads in its files."""
    return 0, (*effects, Send("sink", Body(0, repr(site.disk))))


def step(site: Site, state: int, input_: Input) -> Answer:
    """`a` is written, `b` synced, `c` written with a sync, `t` and `u` set and cancel a timer,
    `v` writes and cancels it."""
    match input_:
        case Arrival(_, type_):
            return state, (Send("A", Body(0, type_)),)
        case Received(_, message) if site.role is Role.SINK:
            return state, (Emit((0, message)),)
        case TimerFired():
            return state, (Send("sink", Body(0, "timer")),)
        case Received(_, message):
            log, _ = site.disk
            effects: dict[str, tuple[Effect, ...]] = {
                "a": (Save((*(log or ()), "a"), "log", synced=False), Save(1, "index", False)),
                "b": (Sync(),),
                "c": (Save((*(log or ()), "c"), "log"),),
                "t": (SetTimer("t"),),
                "u": (CancelTimer("t"),),
                "v": (Save((*(log or ()), "v"), "log"), CancelTimer("t")),
                "x": (Save(0, "no file"),),
            }
            return answer(site, effects[message.type])
    raise AssertionError(input_)


def recover(site: Site, durable: tuple[Any, ...]) -> Answer:
    assert durable == site.disk
    return answer(site, (Save("again", "index", synced=False),))


def size(value: Any) -> Size:
    """100 bytes an item of a value that is saved."""
    return default_size(value)._replace(items=1) if isinstance(value, int) else default_size(value)


FILES: Protocol = Family(
    "files", "", "", Behaviour(deploy, lambda _: 0, step, recover, size=size, show=str)
).design(claims={})


def priced(room: int | None, latency_s: float = 0.5) -> Costs:
    """A save takes half a second, and a quarter for each value; 100 bytes more for the index."""
    return Costs(
        service=FREE,
        sizes=Sizes(saved_bytes=100, item_bytes=100),
        link=NEAR,
        storage=Storage(latency_s=latency_s, bandwidth_bytes_per_s=400.0),
        timer_s=1.5,
        room=room,
    )


def run(text: str, room: int | None, *crashes: TimedCrash) -> tuple[Any, list[tuple[float, str]]]:
    """A run of events a second apart, checked with the world; its outputs with their times."""
    workload = Workload("", "", ONE, word(text))
    found, log, outputs = played(FILES, workload, priced(room), crashes)
    world = followed(FILES, workload, log)
    assert [node.durable for node in world.nodes] == list(found.durable.values())
    assert [node.state for node in world.nodes] == list(found.states.values())
    return found, [(at / PS, body.type) for at, (_, body) in outputs["sink"]]


ROOM = pytest.mark.parametrize("room", [None, 99])


@ROOM
def test_a_sync_stores_all_that_was_written_at_once(room: int | None) -> None:
    """Two writes of the log and two of the index: 600 bytes, and one latency."""
    found, outputs = run("aab", room)
    assert outputs == [
        (1.0, "(None, None)"),
        (2.0, "(('a',), 1)"),
        (3.0 + 0.5 + 600 / 400, "(('a', 'a'), 1)"),
    ]
    assert (found.saves, found.saving_ps) == (1, 2 * PS)
    assert found.durable["A"] == ((("a", "a"),), (1,))


@ROOM
def test_a_synced_write_stores_its_file_alone(room: int | None) -> None:
    found, outputs = run("ac", room)
    assert outputs[-1] == (2.0 + 0.5 + 200 / 400, "(('a',), 1)")
    assert found.saves == 1
    assert found.durable["A"] == ((("a", "c"),), (None, 1))


@ROOM
def test_a_sync_of_nothing_costs_nothing(room: int | None) -> None:
    found, outputs = run("b", room)
    assert outputs == [(1.0, "(None, None)")]
    assert (found.saves, found.saving_ps) == (0, 0)


@ROOM
def test_a_crash_loses_the_writes_without_a_sync(room: int | None) -> None:
    """Detected at 4 s and back at 4.5 s: the log has what `c` has stored, the index nothing."""
    found, outputs = run("ca", room, TimedCrash(3 * PS, ("A",)))
    assert outputs[-1] == (4.5, "(('c',), None)")
    assert found.durable["A"] == ((("c",),), (None, "again"))


@ROOM
def test_a_sync_that_is_not_finished_stores_nothing(room: int | None) -> None:
    found, outputs = run("ab", room, TimedCrash(5 * PS // 2, ("A",)))
    assert outputs[-1][1] == "(None, None)"
    assert found.durable["A"] == ((None,), (None, "again"))


@ROOM
def test_a_timer_that_is_cancelled_does_not_run_out(room: int | None) -> None:
    assert run("t", room)[1][-1] == (2.5, "timer")
    assert [type_ for _, type_ in run("tu", room)[1]].count("timer") == 0


@ROOM
@pytest.mark.parametrize(
    ("types", "timers"), [([(1, "c"), (1, "u")], 1), ([(1, "c"), (0, "u")], 1), ([(1, "v")], 0)]
)
def test_a_timer_that_waits_for_its_node_is_cancelled(
    room: int | None, types: list[tuple[int, str]], timers: int
) -> None:
    """It runs out at 2.5 s, while the node is busy until 4.25 s.  It goes before `u`, whether `u`
    waits at the node or is still to come; `v`, the step under way, cancels it at its end."""
    costs = priced(room, latency_s=2.0)
    arrivals = tuple(Arrival(gap, type_) for gap, type_ in [(1, "t"), *types])
    workload = Workload("", "", ONE, {"source": arrivals})
    _, log, outputs = played(FILES, workload, costs)
    followed(FILES, workload, log)
    found = [(at / PS, body.type) for at, (_, body) in outputs["sink"]]
    assert [one for one in found if one[1] == "timer"] == [(4.25, "timer")] * timers


@ROOM
def test_a_file_that_the_site_does_not_have_is_one_line(room: int | None) -> None:
    with pytest.raises(StepFailed, match="the file 'no file'; the site has log, index"):
        played(FILES, Workload("", "", ONE, word("x")), priced(room))
