"""Runs of protocols that nobody wrote, with every word of the core: each is one of the world."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from model.actions import Action, Crash, Deliver, Inject, Reread, Restart, Timeout
from model.core import Arrival, Deployment, File, Inputs, Link, Scope, When
from model.errors import Invalid
from model.observations import look_inside, looks_at
from model.oracle import by_edge
from model.play import Play
from model.protocol import Failures, Protocol
from model.results.run import RunViolation
from model.system import System, is_satisfied
from sim.inputs.streams import Workload
from sim.timed.costs import PS, Costs, LinkCosts, Service, Sizes, Storage
from sim.timed.failures import TimedCrash
from sim.timed.record import LogEntry, TimedResult
from sim.timed.simulator import run_timed
from sim.untimed.crashes import UntimedCrash
from sim.untimed.run import run
from tests.proofs.test_searches import Shape, made
from tests.sim.test_timed import QUICK, feed, played

ENOUGH = 150
"""Actions of a run; many drawn protocols never come to rest."""


class Enough(Invalid):
    """The run has been long enough."""


class Record(list[Any]):
    """The actions of a run, up to ENOUGH."""

    def append(self, action: Any) -> None:
        super().append(action)
        if len(self) == ENOUGH:
            raise Enough


def drawn(shape: Shape, events: int) -> tuple[Protocol, Workload, System]:
    protocol, scope = made(shape)
    word = tuple(Arrival(1, "a") for _ in range(events))
    inputs = (("source", Inputs(word[:1], events)),)
    system = System(protocol, Scope(scope.graph, inputs, crashes=9))
    return protocol, Workload("", "", scope.graph, {"source": word}), system


def shape_of(chance: random.Random) -> Shape:
    """Its nodes send more than those of SHAPES, so that most runs have restarts and timers."""
    pick = chance.choice
    return Shape(
        seed=chance.randrange(2**32),
        operators=pick([1, 2]),
        length=2,
        crashes=2,
        failures=pick([Failures.SINGLE, Failures.ANY]),
        sends=pick([0.2, 0.3, 0.4]),
        timers=pick([0.0, 0.15, 0.3]),
        looks=False,
        messages=(0, 1, 2),
        together=pick(["", "A sink", "A B", "A B sink", "A B, B sink"]),
        watched=pick([0.0, 0.5]),
        returning=pick([1.0, 1.0, 0.5]),
        prompt=pick(["", "", "A", "B", "sink", "B sink"]),
        alone=pick([True, False]),
        fails=pick([0.0, 0.05, 0.1]),
        patient=pick([True, False]),
        link=Link(resets=pick([True, False])),
        files=pick([(), (File("f"),), (File("f", tears=True), File("g"))]),
        rewinds=pick([0.0, 0.0, 0.1]),
        inside=pick([(True, False), (False, True), (True, True), (False, False)]),
    )


def plans_of(chance: random.Random, system: System, events: int) -> list[UntimedCrash]:
    """Crashes of nodes and of failure groups; some turn out not to be possible."""
    struck = [(name,) for name in sorted(system.alone)] + [*system.groups]
    plans = []
    for _ in range(chance.randint(0, 2) if struck else 0):
        first, *others = chance.choice(struck)
        at = chance.randint(1, events), chance.choice([0, 1, 2])
        plans.append(UntimedCrash(first, *at, tuple(others)))
    return plans


def broken_by(play: Play, actions: list[Action]) -> list[RunViolation]:
    """The first world of the run that violates the property of every world.

    The run may have begun with the next event, and waits until its source is back.
    """
    (always,) = (one for one in play.system.properties if one.when is When.ALWAYS)
    found: list[RunViolation] = []
    looks, event = looks_at([always]), 0
    for action in (None, *actions):
        if action is not None:
            play.follow(action)
            event += isinstance(action, Inject)
        seen = look_inside(play.system, play.world, looks)
        if not found and not is_satisfied(play.system, always, seen):
            found.append(RunViolation(always.name, action and action.node, event))
    return found


@pytest.mark.slow
def test_every_untimed_run_is_one_that_the_world_allows() -> None:
    kinds: Counter[type] = Counter()
    violated = 0
    for seed in range(2_000):
        chance = random.Random(seed)
        events = chance.randint(2, 5)
        protocol, workload, system = drawn(shape_of(chance), events)
        plans = plans_of(chance, system, events)
        actions: list[Action] = Record()
        found = None
        with suppress(Invalid):
            away = chance.randint(0, 2)
            found = run(protocol, workload, plans, restart_after=away, record=actions.append)
        play = Play(protocol, Scope(workload.graph, system.scope.inputs, crashes=len(plans)))
        broken = broken_by(play, actions)
        kinds.update({type(action) for action in actions})
        if found is not None:
            always = [one for one in found.violations if "at rest" not in one.property]
            assert [one[:2] for one in always] == [one[:2] for one in broken]
            pairs = zip(always, broken, strict=True)
            assert all(0 <= one.at_event - it.at_event <= 1 for one, it in pairs)
            violated += len(broken)
            assert not play.ready()
            edges = [len(system.sites[name].preds) for name in system.sink_at]
            assert found.outputs == tuple(map(by_edge, play.world.outputs, edges))
            assert play.world.arrivals == tuple(workload.events.values())
    assert min(kinds[kind] for kind in (Deliver, Timeout, Crash, Restart, Reread)) > 50
    assert violated > 50


def costs_of(chance: random.Random) -> Costs:
    """Few values, for many ties; half of the runs have nodes that wait for room."""
    pick = chance.choice
    room = pick([None, 2])
    return Costs(
        service=Service(event_s=pick([0.0, 0.5, 1.0]), control_s=pick([0.0, 0.5]), item_s=0.0),
        sizes=Sizes(event_bytes=100, control_bytes=50, saved_bytes=100),
        link=LinkCosts(delay_s=pick([0.0, 0.5]), bandwidth_bytes_per_s=pick([None, 100.0])),
        storage=Storage(
            latency_s=pick([0.0, 0.5, 1.0]),
            bandwidth_bytes_per_s=pick([None, 200.0]),
            blocking=room is not None or pick([True, False]),
        ),
        timer_s=pick([0.5, 1.0, 3.0]),
        room=room,
    )


def timed_plans_of(chance: random.Random, system: System) -> list[TimedCrash]:
    """Crashes of nodes and of failure groups, some of them once more after the restart."""
    struck = [(name,) for name in sorted(system.alone - {"source"})] + [*system.groups]
    halves = [PS // 2 * half for half in range(12)]
    return [
        TimedCrash(
            chance.choice(halves), tuple(nodes), chance.choice([None, PS // 2]) if alone else None
        )
        for nodes in chance.sample(struck, min(len(struck), chance.randint(0, 2)))
        for alone in [not system.bound.get(nodes[0])]
    ]


def without_patience(protocol: Protocol) -> Protocol:
    """The protocol with timers that run out at any time; it still cancels them."""

    def deploy(design: Any, scope: Scope) -> Deployment:
        return protocol.behaviour.deploy(design, scope)._replace(patient=frozenset())

    return replace(protocol, behaviour=replace(protocol.behaviour, deploy=deploy))


def timed(
    protocol: Protocol,
    workload: Workload,
    costs: Costs,
    plans: list[TimedCrash],
    log: list[LogEntry],
) -> tuple[TimedResult, tuple[tuple[Any, ...], ...]]:
    """A timed run into a log of its own, and the outputs of its sinks."""
    system = System(protocol, Scope(workload.graph, (("source", Inputs((), 0)),), 0))
    outputs: dict[str, list[Any]] = {name: [] for name in system.sink_at}

    def record(sink: str, _at: int, output: Any) -> None:
        outputs[sink].append(output)

    found = run_timed(
        system,
        feed(workload.events),
        costs,
        record,
        ends_ps=10 * PS,
        detector=QUICK,
        planned=plans,
        log=log,
    )
    return found, tuple(map(tuple, outputs.values()))


def loses_writes(play: Play, action: Action) -> bool:
    """Is it a restart of a node that had writes without a sync?"""
    if not isinstance(action, Restart) or not action.kept:
        return False
    return any(len(writes) > 1 for writes in play.node(action.node).durable)


def unforeseen(chance: random.Random) -> Shape:
    """A shape without the words that timed runs refuse."""
    shape = shape_of(chance)._replace(link=Link(), fails=0.0, rewinds=0.0)
    return shape._replace(patient=False) if shape.prompt else shape


@pytest.mark.slow
def test_every_timed_run_is_one_that_the_world_allows() -> None:
    kinds: Counter[type] = Counter()
    lost = 0
    for seed in range(1_500):
        chance = random.Random(seed)
        events = chance.randint(2, 5)
        protocol, workload, system = drawn(unforeseen(chance), events)
        protocol = without_patience(protocol)
        plans, log = timed_plans_of(chance, system), Record()
        with suppress(Invalid):
            found, outputs = timed(protocol, workload, costs_of(chance), plans, log)
            play = Play(protocol, Scope(workload.graph, system.scope.inputs, crashes=20))
            for entry in sorted(log):
                lost += loses_writes(play, entry.action)
                play.follow(entry.action)
            assert not play.ready()
            assert play.world.arrivals == tuple(workload.events.values())
            assert [node.state for node in play.world.nodes] == [*found.states.values()]
            assert [node.durable for node in play.world.nodes] == [*found.durable.values()]
            assert play.world.outputs == outputs
            kinds.update(type(entry.action) for entry in log)
    assert min(kinds[kind] for kind in (Deliver, Timeout, Crash, Restart)) > 200
    assert lost > 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fails": 1.0}, "a timed run has not the effect Fail"),
        ({"rewinds": 1.0}, "a timed run has not the effect Rewind"),
        ({"patient": True, "timers": 1.0}, "a timed run has not patient timers, such as t"),
        (
            {"patient": True, "timers": 1.0, "prompt": "A"},
            "a timed run has not patient timers, such as t",
        ),
        ({"prompt": "B sink"}, "a timed run has not a prompt site that sends to another"),
    ],
)
@pytest.mark.parametrize("room", [None, 9])
def test_a_timed_run_refuses_in_one_line(
    change: dict[str, Any], message: str, room: int | None
) -> None:
    shape = Shape(3, 2, 1, 0, Failures.ANY, 1.0, 0.0, False, (0, 1))
    protocol, workload, _ = drawn(shape._replace(**change), 2)
    costs = Costs(storage=Storage(blocking=True), room=room)
    with pytest.raises(Invalid, match=message):
        played(protocol, workload, costs)
