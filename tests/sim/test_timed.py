"""Timed runs: each is one that the world allows; what it costs is what arithmetic says."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from benchmarks import relay
from docs.examples.amnesia import PROTOCOL as AMNESIA
from model.actions import Crash
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows, TimeWindows
from model.core import (
    REPLAYED,
    Arrival,
    Deployment,
    Emit,
    Input,
    Inputs,
    Note,
    Quantity,
    Received,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.costs import Gauges
from model.events import Body
from model.family import Family
from model.graph import SINK, SOURCE, Graph, chain
from model.oracle import oracle
from model.parts import deploy_graph
from model.play import Play
from model.protocol import Behaviour, Protocol
from model.protocols.upstream_backup.protocol import PROTOCOL
from model.results.plain import plain
from model.system import System
from model.world import DOWN, World
from sim.experiments.su.attach import attach
from sim.inputs.streams import Workload, graph_for
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.ages import AgeRecord
from sim.timed.costs import PS, Costs, LinkCosts, Service, Sizes, Storage
from sim.timed.detector import Detector
from sim.timed.failures import FailureTable, TimedCrash, TimedOutage, plan_crashes
from sim.timed.metrics import PHASES
from sim.timed.record import LogEntry, TimedResult
from sim.timed.simulator import run_timed
from tests.known import known

NAMES = st.sampled_from(["upstream-backup", "upstream-backup:no-skips", "upstream-backup:notices"])
"""Not the protocols themselves: a failing example prints its arguments."""

A = ("A", Operator(one_run("a", "b"), CountWindows(3, 2), "x"))
B = ("B", Operator(one_run("b", "a"), TimeWindows(3, 1), "y"))
C = ("C", Operator(one_run("x", "y"), CountWindows(2, 1), "z"))
LINE = chain(A, ("D", Operator(sequence("x"), CountWindows(2, 1))))
DIAMOND = Graph(
    (("source", SOURCE), A, B, C, ("sink", SINK)),
    (("source", "A"), ("source", "B"), ("A", "C"), ("B", "C"), ("C", "sink")),
)
MERGE = Graph(
    (("left", SOURCE), ("right", SOURCE), A, ("near", SINK), ("far", SINK)),
    (("left", "A"), ("right", "A"), ("A", "near"), ("A", "far")),
)
GRAPHS = (LINE, DIAMOND, MERGE, graph_for("a, b", 3, 1))
ARRIVALS = st.builds(Arrival, st.integers(0, 2), st.sampled_from("ab"), st.just(()))
QUICK = Detector(keep_alive_s=1.0, misses=1, restart_s=0.5)
UNIT = PS  # a time unit is a second, so that small whole numbers of seconds meet in ties


# --- a protocol that saves and sets timers -----------------------------------------------------
def deploy(_design: None, scope: Scope) -> Deployment:
    return deploy_graph(scope.graph)


def step(site: Site, state: int, input_: Input) -> Step:
    """Operators write down how much they have heard, and report the rest when a timer runs
    out."""
    match input_:
        case Arrival() as arrival:
            sends = tuple(Send(succ, Body(state, arrival.type)) for succ in site.succs)
            return Step(state + 1, sends)
        case Received(sender, message) if site.role is Role.SINK:
            return Step(state, (Emit((site.preds.index(sender), message)),))
        case Received(_, Body(_, "a")):
            return Step(state + 1, (SetTimer("tell"), Note(HEARD), Save(state + 1)))
        case Received(_, message):
            sends = tuple(Send(succ, message) for succ in site.succs)
            return Step(state + 1, (*sends, Save(state + 1), *sends))
        case TimerFired():
            return Step(state, tuple(Send(succ, Body(state, "told")) for succ in site.succs))


def recover(site: Site, durable: int | None) -> Step:
    told = tuple(Send(succ, Body(durable or 0, "back")) for succ in site.succs)
    return Step(durable or 0, (Save((durable or 0) + 100), SetTimer("tell"), *told))


HEARD = Quantity("heard", "messages", "")
LEDGER = Family(
    "ledger",
    "",
    "",
    Behaviour(
        deploy, lambda _: 0, step, recover, gauges=lambda _, state: Gauges(buffered=state), show=str
    ),
    properties=(),
).design(claims={})


# --- every run is a path of the world ----------------------------------------------------------
def feed(events: Mapping[str, Sequence[Arrival]]) -> Iterator[tuple[int, str, Arrival]]:
    keyed = (
        [
            (now * UNIT, at, name, arrival)
            for now, arrival in zip(accumulate(a.gap for a in stream), stream, strict=True)
        ]
        for at, (name, stream) in enumerate(events.items())
    )
    for now, _, name, arrival in merge(*keyed, key=lambda entry: entry[:2]):
        yield now, name, arrival


NONE_OR_MORE = st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.0])
"""Few values, for many ties."""


@st.composite
def costs(draw: st.DrawFn) -> Costs:
    bandwidth = st.sampled_from([None, 100.0, 200.0])
    return Costs(
        service=Service(
            event_s=draw(NONE_OR_MORE),
            control_s=draw(NONE_OR_MORE),
            item_s=draw(st.sampled_from([0.0, 0.25])),
            savepoint_s=draw(st.sampled_from([0.0, 0.5])),
        ),
        sizes=Sizes(event_bytes=100, control_bytes=50, item_bytes=25, saved_bytes=100),
        link=LinkCosts(delay_s=draw(NONE_OR_MORE), bandwidth_bytes_per_s=draw(bandwidth)),
        storage=Storage(
            latency_s=draw(NONE_OR_MORE),
            bandwidth_bytes_per_s=draw(bandwidth),
            blocking=draw(st.booleans()),
        ),
        timer_s=draw(st.sampled_from([0.5, 1.0, 3.0])),
        slow={"A": draw(st.sampled_from([1.0, 3.0]))},
    )


@st.composite
def failures(draw: st.DrawFn, graph: Graph) -> tuple[TimedCrash, ...]:
    names = [name for name, spec in graph.nodes if spec not in (SOURCE, SINK)]
    halves = st.integers(0, 40).map(lambda half: half * UNIT // 2)
    plan = st.builds(
        TimedCrash,
        halves,
        st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True).map(tuple),
        st.none() | halves,
        st.lists(halves, max_size=2).map(tuple),
        kind=st.sampled_from(["process", "host"]),
        pause_ps=st.none(),  # tests/sim/test_failure_kinds.py has pauses
    )
    return tuple(draw(st.lists(plan, max_size=3)))


@st.composite
def cases(draw: st.DrawFn, most: int = 10) -> tuple[Workload, Costs, tuple[TimedCrash, ...]]:
    graph = draw(st.sampled_from(GRAPHS))
    sources = [name for name, spec in graph.nodes if spec is SOURCE]
    words = {name: tuple(draw(st.lists(ARRIVALS, min_size=1, max_size=most))) for name in sources}
    return Workload("", "", graph, words), draw(costs()), draw(failures(graph))


def played(
    protocol: Protocol,
    workload: Workload,
    priced: Costs,
    planned: Sequence[TimedCrash] = (),
    detector: Detector = QUICK,
) -> tuple[TimedResult, list[LogEntry], dict[str, list[Any]]]:
    inputs = tuple((name, Inputs((), 0)) for name in workload.events)
    system = System(protocol, Scope(workload.graph, inputs, 0))
    log: list[LogEntry] = []
    outputs: dict[str, list[Any]] = {name: [] for name in system.sink_at}
    ends = max(at for at, _, _ in feed(workload.events))
    ages = AgeRecord(system.deployment.crashable, ends, UNIT)
    run_timed(system, feed(workload.events), priced, lambda *_: None, ends_ps=ends, ages=ages)
    found = run_timed(
        system,
        feed(workload.events),
        priced,
        lambda sink, at, output: outputs[sink].append((at, output)),
        ends_ps=10 * UNIT,
        usual=ages.usual(),
        detector=detector,
        planned=planned,
        log=log,
    )
    return found, sorted(log), outputs


def followed(protocol: Protocol, workload: Workload, log: Sequence[LogEntry]) -> World:
    """The world that the actions lead to, each of them enabled when it is taken."""
    inputs = tuple((name, Inputs(tuple(word), len(word))) for name, word in workload.events.items())
    play = Play(protocol, Scope(workload.graph, inputs, crashes=20))
    play.follow(*(entry.action for entry in log))
    assert not play.ready()
    return play.world


def assert_same(
    protocol: Protocol, case: tuple[Workload, Costs, tuple[TimedCrash, ...]]
) -> tuple[TimedResult, list[LogEntry]]:
    workload, priced, planned = case
    found, log, outputs = played(protocol, workload, priced, planned)
    world = followed(protocol, workload, log)
    assert world.arrivals == tuple(workload.events.values())
    assert [node.state for node in world.nodes] == list(found.states.values())
    assert [node.durable for node in world.nodes] == list(found.durable.values())
    assert not any(node.timers for node in world.nodes)
    down = {n for n, node in zip(found.states, world.nodes, strict=True) if node.state is DOWN}
    assert down.isdisjoint(System(protocol, Scope(workload.graph, ())).returning)
    emitted = tuple(tuple(output for _, output in passed) for passed in outputs.values())
    assert world.outputs == emitted
    return found, log


@pytest.mark.slow
@settings(max_examples=150)
@given(cases(), NAMES)
def test_every_run_is_one_that_the_world_allows(
    case: tuple[Workload, Costs, tuple[TimedCrash, ...]], name: str
) -> None:
    assert_same(PROTOCOL.named(name), case)


@pytest.mark.slow
@settings(max_examples=150)
@given(cases())
def test_a_run_with_saves_and_timers_is_one_that_the_world_allows(
    case: tuple[Workload, Costs, tuple[TimedCrash, ...]],
) -> None:
    assert_same(LEDGER, case)


@pytest.mark.slow
@settings(max_examples=100)
@given(cases(25), NAMES)
def test_crashes_change_no_output(
    case: tuple[Workload, Costs, tuple[TimedCrash, ...]], name: str
) -> None:
    workload, priced, planned = case
    _, _, outputs = played(PROTOCOL.named(name), workload, priced, planned)
    expected = oracle(workload.graph, workload.events)
    for sink, edges in expected.items():
        for edge, bodies in enumerate(edges):
            assert bodies == tuple(body for _, (at, body) in outputs[sink] if at == edge)


@pytest.mark.slow
@settings(max_examples=60)
@given(cases(), NAMES)
def test_the_order_of_times(
    case: tuple[Workload, Costs, tuple[TimedCrash, ...]], name: str
) -> None:
    """Nothing takes place before its service ends, servers do one thing at a time, and what a
    sink passes on comes in the order of time."""
    workload, priced, planned = case
    found, log, outputs = played(PROTOCOL.named(name), workload, priced, planned)
    for node in found.states:
        steps = [entry for entry in log if entry.action.node == node and entry.rank]
        for before, after in pairwise(steps):
            assert before.served_ps <= after.began_ps or isinstance(before.action, Crash)
        for entry in steps:
            assert entry.began_ps <= entry.served_ps <= entry.done_ps <= found.ended_ps
    for passed in outputs.values():
        assert [at for at, _ in passed] == sorted(at for at, _ in passed)
    for outage in found.outages:
        course = outage.course()
        moments = [outage.crashed_ps, outage.detected_ps, outage.restarted_ps]
        moments += [outage.restored_ps, outage.replayed_ps, outage.caught_up_ps]
        passed = [moment for moment in moments if moment is not None]
        assert passed == sorted(passed)
        assert moments[: len(passed)] == passed
        if course.recovery_s is not None:
            phases = sum(known(course.seconds(phase)) for phase in PHASES)
            assert phases == pytest.approx(course.recovery_s)


# --- what it costs ---------------------------------------------------------------------------
ONE = chain(("A", Operator(sequence("a"), CountWindows(1, 1))))


def word(text: str, gap: int = 1) -> dict[str, tuple[Arrival, ...]]:
    return {"source": tuple(Arrival(gap, type_) for type_ in text)}


def test_a_hop_takes_service_wire_and_delay() -> None:
    """One event at 1 s: 100 bytes at 400 bytes/s and 1 s of delay, twice, and 2 s of service."""
    priced = Costs(
        service=Service(event_s=2.0),
        sizes=Sizes(event_bytes=100),
        link=LinkCosts(delay_s=1.0, bandwidth_bytes_per_s=400.0),
    )
    _, _, outputs = played(PROTOCOL, Workload("", "", ONE, word("a")), priced)
    ((at, _),) = outputs["sink"]
    assert at == round((1 + 0.25 + 1 + 2 + 0.25 + 1) * PS)


def test_links_and_servers_are_fifo_queues() -> None:
    """Three events at once: the link needs 1 s for each, the server 3 s."""
    priced = Costs(
        service=Service(event_s=3.0, control_s=0.0, item_s=0.0, savepoint_s=0.0),
        sizes=Sizes(event_bytes=100, control_bytes=0, item_bytes=0),
        link=LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=100.0),
    )
    found, _, outputs = played(PROTOCOL, Workload("", "", ONE, word("aaa", gap=0)), priced)
    assert [at / PS for at, _ in outputs["sink"]] == [5.0, 8.0, 11.0]
    assert found.busy_ps == {"A": 9 * PS}
    assert max(point.queues[0] for point in found.points) == 3  # at 3 s exactly: no one is done


def test_a_blocking_save_keeps_the_node_busy_and_another_does_not() -> None:
    workload = Workload("", "", ONE, word("bb", gap=0))
    taken = {}
    for blocking in (True, False):
        priced = Costs(
            service=Service(event_s=1.0),
            link=LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=None),
            storage=Storage(latency_s=5.0, bandwidth_bytes_per_s=None, blocking=blocking),
        )
        found, _, outputs = played(LEDGER, workload, priced)
        assert found.saves == 2
        assert found.saving_ps == 10 * PS
        taken[blocking] = found.busy_ps["A"] / PS, [at / PS for at, _ in outputs["sink"]]
    assert taken[True] == (12.0, [6.0, 6.0, 12.0, 12.0])
    assert taken[False] == (2.0, [6.0, 6.0, 11.0, 11.0])  # stored at 6 s and, after it, at 11 s


def test_a_save_that_is_not_finished_is_undone() -> None:
    priced = Costs(
        service=Service(event_s=1.0),
        link=LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=None),
        storage=Storage(latency_s=5.0, bandwidth_bytes_per_s=None),
    )
    workload = Workload("", "", ONE, word("bb", gap=0))
    found, _, outputs = played(LEDGER, workload, priced, [TimedCrash(8 * PS, ("A",))])
    # The first is stored at 6 s; the second, due at 12 s, is lost.  Recovery saves 1 + 100.
    assert found.durable["A"] == 101
    assert [body.type for _, (_, body) in outputs["sink"]] == ["b", "b", "back", "told"]


@pytest.mark.parametrize(
    ("crash", "misses", "detected"), [(3.4, 1, 4.0), (3.4, 3, 6.0), (3.0, 1, 4.0), (0.0, 2, 2.0)]
)
def test_the_detector_misses_keep_alives(crash: float, misses: int, detected: float) -> None:
    detector = Detector(keep_alive_s=1.0, misses=misses)
    assert detector.outage(round(crash * PS)).detected == detected * PS


def test_phases_of_a_recovery() -> None:
    """Ten events a second apart; a crash at 5.5 s is detected at 6 s and repaired at 8 s."""
    priced = Costs(
        service=Service(event_s=0.25, control_s=0.0, item_s=0.0),
        link=LinkCosts(delay_s=0.125, bandwidth_bytes_per_s=None),
    )
    graph = chain(("A", Operator(one_run("a", "b"), CountWindows(20, 20))))
    detector = Detector(keep_alive_s=1.0, misses=1, restart_s=2.0)
    workload = Workload("", "", graph, word("a" * 10))
    found, _, _ = played(PROTOCOL, workload, priced, [TimedCrash(11 * PS // 2, ("A",))], detector)
    (outage,) = found.outages
    course = outage.course()
    assert course.detected_s == 6.0
    assert course.restarted_s == 8.0
    # Hello there, the answer back at 8.25 s; but the eighth event, of 8 s, came first and was
    # looked at, until 8.375 s, though the operator could not use it yet.
    assert course.restored_s == 8.375
    assert found.notes[REPLAYED.name] == 8
    # Eight are replayed, of which five were processed before the crash; the ninth comes at 9.125 s
    # and waits, the tenth at 10.125 s.
    assert course.replayed_s == 8.375 + 5 * 0.25
    assert course.caught_up_s == 8.375 + 10 * 0.25
    assert (course.restart_s, course.redirection_s) == (2.0, 0.375)
    assert (course.replay_s, course.catch_up_s) == (5 * 0.25, 5 * 0.25)


@pytest.mark.parametrize(
    ("reached", "progress", "is_reached"),
    [
        (None, None, True),
        (None, 3, True),
        (3, None, False),
        (3, 2, False),
        (3, 3, True),
        ((2, 5), (3, 4), False),  # the second input is behind
        ((2, 5), (2, 5), True),
        (((3, 1), (2,)), ((3, 2), (2,)), True),
    ],
)
def test_progress_is_compared_input_by_input(reached: Any, progress: Any, is_reached: bool) -> None:
    assert TimedOutage("A", 0, 0, reached).is_reached(progress) is is_reached


@pytest.mark.slow
def test_a_node_that_asks_for_a_replay_has_not_caught_up() -> None:
    """Its queue is empty while it waits for the replay: 4,000 events, 500 a second, one crash."""
    found = simulate(read("docs/scenarios/aggregate.toml", overrides(["protocol=progressive"])))
    (failure,) = found.failures
    assert known(failure.replay_s) > 0
    assert known(failure.catch_up_s) > 0
    assert failure.recovery_s == pytest.approx(
        sum(known(failure.seconds(phase)) for phase in PHASES)
    )


def test_without_a_note_the_first_event_restores() -> None:
    priced = Costs(service=Service(event_s=0.25), link=LinkCosts(delay_s=0.0))
    workload = Workload("", "", ONE, word("a" * 10))
    found, _, _ = played(AMNESIA, workload, priced, [TimedCrash(11 * PS // 2, ("A",))])
    (outage,) = found.outages
    assert outage.restored_ps is not None
    assert outage.restored_ps / PS == pytest.approx(7.0, abs=1e-5)
    assert outage.caught_up_ps == outage.replayed_ps == outage.restored_ps + PS // 4


def test_a_crash_of_a_node_that_is_down_is_counted() -> None:
    workload = Workload("", "", ONE, word("a" * 9))
    plan = [TimedCrash(3 * PS, ("A",)), TimedCrash(3 * PS + PS // 4, ("A",))]
    found, _, _ = played(PROTOCOL, workload, Costs(), plan)
    assert (len(found.outages), found.missed) == (1, 1)


def test_a_crash_during_recovery_ends_the_first_attempt() -> None:
    workload = Workload("", "", ONE, word("a" * 9))
    priced = Costs(link=LinkCosts(delay_s=0.5))
    found, _, _ = played(PROTOCOL, workload, priced, [TimedCrash(3 * PS, ("A",), PS // 4)])
    first, second = found.outages
    assert (first.restored_ps, first.caught_up_ps) == (None, None)
    assert second.crashed_ps == (first.restarted_ps or 0) + PS // 4
    assert second.caught_up_ps is not None


SLOW = Costs(
    service=Service(event_s=1.0, control_s=0.0, item_s=0.0),
    sizes=Sizes(event_bytes=100, control_bytes=0),
    link=LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=100.0),
    storage=Storage(latency_s=0.0, bandwidth_bytes_per_s=None),
)
"""Events need a second of a link and a second of a node."""


def test_a_crash_takes_back_what_has_not_departed() -> None:
    """Four events reach A at 1, 2, 3 and 4 s.  Of what it makes of the first, two events that
    depart at 2 s, nothing is lost in the crash at 2.5 s; of the second it makes nothing."""
    workload = Workload("", "", ONE, word("bbbb", gap=0))
    found, _, outputs = played(LEDGER, workload, SLOW, [TimedCrash(5 * PS // 2, ("A",))])
    # Back at 3.5 s, A finds the link free at 4 s, not when the second's would have passed.
    assert [(at / PS, body.type) for at, (_, body) in outputs["sink"]] == [
        (3.0, "b"),
        (4.0, "b"),
        (5.0, "back"),
        (6.0, "told"),
    ]
    assert found.traffic["event"].messages == 4 + 4
    assert found.traffic["event"].bytes == 8 * 100
    assert found.busy_ps["A"] == 3 * PS // 2  # one event, and half of the second
    # The gauge is the number of events: four at the source throughout, one at A from 2 s to the
    # crash, and again from 3.5 s to the end.
    assert found.backup_mean == (4 * 6 + 0.5 + 2.5) / 6
    assert found.backup_peak == 5


def test_who_waits_for_a_link_has_not_caught_up() -> None:
    """The operator could serve more than the link of its left source brings; meanwhile the right
    source's event of 7 s finds its queue empty."""
    priced = SLOW.model_copy(
        update={
            "service": Service(event_s=0.0, control_s=0.0, item_s=0.0),
            "link": LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=200.0),
        }
    )
    words = word("aaaaaa")["source"], (Arrival(1, "a"), Arrival(6, "a"))
    workload = Workload("", "", MERGE, dict(zip(("left", "right"), words, strict=True)))
    found, _, _ = played(PROTOCOL, workload, priced, [TimedCrash(21 * PS // 4, ("A",))])
    (outage,) = found.outages
    assert outage.restored_ps == 6.5 * PS
    assert outage.caught_up_ps == (6.5 + 6 * 0.5) * PS


def test_a_crash_before_the_node_is_restored_leaves_it_so() -> None:
    priced = Costs(
        service=Service(event_s=0.0, control_s=1.0, item_s=0.0),
        link=LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=None),
    )
    workload = Workload("", "", ONE, word("a" * 9))
    found, _, _ = played(PROTOCOL, workload, priced, [TimedCrash(7 * PS // 2, ("A",), PS // 2)])
    first, second = found.outages
    assert (first.restored_ps, first.caught_up_ps) == (None, None)
    assert (second.restored_ps or 0) >= (second.restarted_ps or 0) + PS


def test_crashes_come_last_at_their_time() -> None:
    free = Costs(
        service=Service(event_s=0.0, control_s=0.0, item_s=0.0),
        link=LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=None),
    )
    plan = [TimedCrash(PS, ("A",))]
    _, _, outputs = played(PROTOCOL, Workload("", "", ONE, word("a")), free, plan)
    assert [at for at, _ in outputs["sink"]] == [PS]


@pytest.mark.parametrize("operators", [1, 3])
def test_a_chain_of_servers_is_the_queueing_network_that_others_simulate(operators: int) -> None:
    """SimPy's Stores, SimPy's Timeouts and a plain heap agree on when the last tuple leaves."""
    left = relay.driver(500, operators)
    for way in (relay.store, relay.timeouts, relay.heap):
        assert way(500, operators) == pytest.approx(left, abs=1e-6)


# --- whole scenarios -------------------------------------------------------------------------
LONG = {"aggregate", "flights", "merged-sources", "two-sources"}
"""Scenarios of seconds.  The report or test_two_sources simulates them, too."""
SCENARIOS = [
    pytest.param(path, id=path.stem, marks=pytest.mark.exhaustive if path.stem in LONG else ())
    for path in sorted(Path("docs/scenarios").glob("*.toml"))
    if "protocol" in tomllib.loads(path.read_text(encoding="utf-8"))
]
"""Those of one protocol; tests/choose and test_which_recovery run the others."""


@pytest.mark.slow
@pytest.mark.parametrize("path", SCENARIOS)
def test_the_scenarios_in_the_docs_run(path: Path) -> None:
    beats: list[tuple[int, int]] = []
    result = simulate(read(path), progress=lambda _, done, of, __="": beats.append((done, of)))
    assert json.loads(json.dumps(plain(result), allow_nan=False)) == plain(result)
    assert result.same
    assert result.expected_outputs > 0
    assert result.missing_outputs == result.surplus_outputs == 0
    found = result.metrics
    crashes = path.stem != "unaligned"  # it compares the prices of two kinds of barriers
    between_batches = path.stem in ("micro-batch", "merged-sources")
    assert found.crashes == len(result.failures)
    assert (found.crashes > 0) is crashes
    assert (found.events_replayed > 0) is (crashes and not between_batches)
    assert found.peak_backup_events >= found.mean_backup_events > 0
    assert known(found.latency_p50_s) <= known(found.latency_p99_s) <= known(found.latency_max_s)
    assert beats == sorted(beats)
    runs = 2 + crashes  # also without protection, and without the crashes
    assert beats[-1][0] == beats[-1][1] == runs * found.events
    slowest = max(row.busy_share for row in result.load)
    assert (slowest < 1) == (path.stem not in ("abs", "log-io"))  # as in the paper: OP3 is slower
    assert bool(found.recoveries_cut_off) == (slowest >= 1)


def test_a_run_that_is_not_as_if_nothing_had_failed_fails() -> None:
    """The verdict can fail: a protocol that does not recover loses outputs."""
    scenario = read("docs/scenarios/quickstart.toml")
    result = simulate(replace(scenario, protocol=AMNESIA, workload=_small(scenario.workload)))
    assert not result.same
    assert result.missing_outputs > 0


def _small(workload: Workload) -> Workload:
    """What amnesia can run: every event a match, one operator."""
    return replace(workload, graph=ONE_NAMED)


ONE_NAMED = chain(("match", Operator(sequence("a"), CountWindows(1, 1))))


@pytest.mark.slow
def test_same_seed_same_bytes() -> None:
    scenario = read("docs/scenarios/quickstart.toml")
    first, second = (json.dumps(plain(simulate(scenario, traced=True))) for _ in range(2))
    assert first == second


# --- restarts that vary ----------------------------------------------------------------------
TIMES = st.lists(st.floats(0, 1e3), min_size=2, max_size=6).map(sorted)


@given(TIMES, st.integers(0, 99))
def test_restarts_are_drawn_between_the_quantiles(quantiles: list[float], seed: int) -> None:
    failure = FailureTable(nodes=("A", "B"), at_s=1.0, restart_quantiles_s=tuple(quantiles))
    (plan,) = plan_crashes([failure], [0, 9 * PS], seed)
    assert len(plan.restart_ps) == 2
    low, high = (round(end * PS) for end in (quantiles[0], quantiles[-1]))
    assert all(low <= restart <= high for restart in plan.restart_ps)
    assert plan_crashes([failure], [0, 9 * PS], seed) == (plan,)


def test_each_part_of_a_distribution_is_as_likely() -> None:
    """4,000 draws between 0, 1, 3, 10 and 100 s: a quarter each, within six deviations."""
    failure = FailureTable(nodes=("A",), at_s=1.0, restart_quantiles_s=(0, 1, 3, 10, 100))
    drawn = [plan_crashes([failure], [0, 9 * PS], seed)[0].restart_ps[0] for seed in range(4_000)]
    for low, high in pairwise((0, 1, 3, 10, 100)):
        count = sum(low * PS <= one < high * PS for one in drawn)
        assert abs(count - 1_000) < 6 * (4_000 * 0.25 * 0.75) ** 0.5


@pytest.mark.parametrize("quantiles", [(1.0,), (2.0, 1.0)])
def test_a_distribution_is_in_order(quantiles: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError, match="two times or more"):
        FailureTable(nodes=("A",), at_s=1.0, restart_quantiles_s=quantiles)


def test_the_hosts_of_the_example_come_as_in_the_figure() -> None:
    """Its quantiles are the experiment's, in seconds; both hosts come at times of their own."""
    found = read("docs/scenarios/hosts.toml")
    (failure,) = found.failures
    figure = np.interp(np.linspace(0, 1, 11), attach().below, attach().minutes)
    assert failure.restart_quantiles_s == pytest.approx(60 * figure, abs=0.05)
    (plan,) = found.planned
    assert len({*plan.restart_ps}) == 2
