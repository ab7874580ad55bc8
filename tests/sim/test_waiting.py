"""Timed runs where nodes wait for shared stores and for room, beside arithmetic and other runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from model.actions import Inject
from model.boxes.stateless import Relay
from model.boxes.triggered import Triggered
from model.core import RESENT, Arrival, Deployment, Input, Received, Role, Scope, Send, Site, Step
from model.errors import Invalid
from model.events import Body
from model.family import Family
from model.graph import SINK, SOURCE, Graph, chain
from model.knobs import turn
from model.protocol import Assumptions, Behaviour, Failures, Protocol
from model.protocols.abs.messages import ALIGNED
from model.protocols.abs.protocol import PROTOCOL as ABS
from model.protocols.log_io.protocol import PROTOCOL as LOG_IO
from model.protocols.upstream_backup.protocol import PROTOCOL as UPSTREAM_BACKUP
from sim.inputs.streams import Workload
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.costs import (
    PS,
    Costs,
    LinkCosts,
    OperatorWork,
    Service,
    Sizes,
    Storage,
    StoreCosts,
    Timer,
)
from sim.timed.detector import Detector
from sim.timed.failures import TimedCrash
from sim.timed.record import LogEntry
from tests.known import known
from tests.sim.test_timed import LEDGER, assert_same, cases, followed, played, word

FREE: dict[str, Any] = {
    "service": Service(event_s=0, control_s=0, item_s=0, savepoint_s=0),
    "link": LinkCosts(delay_s=0, bandwidth_bytes_per_s=None),
}
MANY = 10**9
ENGINE = turn(turn(ABS, "snapshots", "asynchronous"), "pauses", "minimum")


def seconds(outputs: Mapping[str, list[Any]]) -> dict[str, list[float]]:
    return {name: [at / PS for at, _ in passed] for name, passed in outputs.items()}


# --- beside the driver in which nobody waits ---------------------------------------------------
ODD = st.integers(0, 40).map(lambda at: at * 0.0731 + 0.0113)
"""Times that hardly ever meet: what takes place at one time may take place in any order."""


@st.composite
def odd_costs(draw: st.DrawFn) -> Costs:
    return Costs(
        service=Service(
            event_s=draw(ODD), control_s=draw(ODD), item_s=0.00171, savepoint_s=draw(ODD)
        ),
        sizes=Sizes(event_bytes=100, control_bytes=51, item_bytes=23, saved_bytes=101),
        link=LinkCosts(
            delay_s=draw(ODD), bandwidth_bytes_per_s=draw(st.sampled_from([None, 103.0, 997.0]))
        ),
        storage=Storage(latency_s=draw(ODD), bandwidth_bytes_per_s=1009.0),
        timer_s=draw(ODD) + 0.1,
        slow={"A": 1.37},
    )


def one_crash(case: tuple[Any, ...]) -> tuple[TimedCrash, ...]:
    return tuple(
        plan._replace(
            at_ps=plan.at_ps + PS // 97,
            nodes=plan.nodes[:1],
            again_ps=None if plan.again_ps is None else plan.again_ps + PS // 89,
        )
        for plan in case[2][:1]
    )


NAMES = st.sampled_from(["upstream-backup", "upstream-backup:notices", "ledger"])


def named(name: str) -> Protocol:
    return LEDGER if name == "ledger" else UPSTREAM_BACKUP.named(name)


@pytest.mark.slow
@settings(max_examples=40)
@given(cases(), odd_costs(), NAMES, st.booleans())
def test_with_room_for_all_nobody_waits(
    case: tuple[Any, ...], costs: Costs, name: str, crashes: bool
) -> None:
    """Steps are evaluated later, and all is as in the driver that evaluates them at once."""
    workload, planned = case[0], one_crash(case) if crashes else ()
    expected, _, outputs = played(named(name), workload, costs, planned)
    roomy = costs.model_copy(update={"room": MANY})
    found, _, passed = played(named(name), workload, roomy, planned)
    assert passed == outputs
    wanted = ("notes", "busy_ps", "outages", "ended_ps", "lost", "in_vain", "traffic", "states")
    for each in wanted if planned else (*wanted, "saves", "saving_ps"):
        assert getattr(found, each) == getattr(expected, each), each


# --- every run is a path of the world ----------------------------------------------------------
@pytest.mark.slow
@settings(max_examples=40)
@given(cases(), NAMES, st.integers(1, 3))
def test_every_run_is_one_that_the_world_allows(
    case: tuple[Any, ...], name: str, room: int
) -> None:
    workload, costs, planned = case
    blocking = costs.storage.model_copy(update={"blocking": True})
    waits = costs.model_copy(update={"storage": blocking, "room": room})
    assert_same(named(name), (workload, waits, planned))


TWO_WAYS = Graph(
    (
        ("source", SOURCE),
        ("A", Triggered((2,))),
        ("B", Relay()),
        ("C", Triggered((3,))),
        ("sink", SINK),
    ),
    (("source", "A"), ("source", "B"), ("A", "C"), ("B", "C"), ("C", "sink")),
)
TIMES = st.sampled_from([0.0, 0.25, 1.0, 3.0])


@st.composite
def stored(draw: st.DrawFn) -> tuple[Protocol, Costs]:
    stores = [(LOG_IO, "log"), (ABS, "coordinator"), (ENGINE, "coordinator")]
    protocol, store = draw(st.sampled_from(stores))
    return protocol, Costs(
        service=Service(event_s=draw(TIMES), control_s=draw(TIMES)),
        link=LinkCosts(delay_s=draw(TIMES), bandwidth_bytes_per_s=None),
        timer_s=draw(st.sampled_from([0.5, 3.0])),
        work={"A": OperatorWork(output_s=draw(TIMES))},
        stores={
            store: StoreCosts(
                transaction_s=draw(TIMES),
                event_s=draw(TIMES),
                read_s=draw(TIMES),
                read_event_s=draw(TIMES),
                devices=draw(st.integers(1, 2)),
            )
        },
        room=draw(st.none() | st.integers(1, 3)),
    )


PLANS = st.lists(
    st.builds(
        TimedCrash,
        st.integers(0, 40).map(lambda half: half * PS // 2),
        st.lists(st.sampled_from("ABC"), min_size=1, max_size=2, unique=True).map(tuple),
        st.none(),
        st.just(()),
    ),
    max_size=2,
)


@pytest.mark.slow
@settings(max_examples=40)
@given(stored(), st.integers(1, 8), PLANS, st.booleans())
def test_stores_room_and_crashes_of_all_change_no_path(
    subject: tuple[Protocol, Costs], events: int, planned: list[TimedCrash], whole: bool
) -> None:
    protocol, costs = subject
    workload = Workload("", "", TWO_WAYS, word("a" * events))
    detector = Detector(keep_alive_s=1.0, misses=1, restart_s=0.5, whole_pipeline=whole)
    found, log, outputs = played(protocol, workload, costs, planned, detector)
    world = followed(protocol, workload, log)
    assert [node.state for node in world.nodes] == list(found.states.values())
    emitted = tuple(tuple(output for _, output in passed) for passed in outputs.values())
    assert tuple(tuple(output[:2] for output in passed) for passed in world.outputs) == emitted


# --- the phases of a recovery with a store -----------------------------------------------------
@pytest.mark.parametrize(("devices", "redirected"), [(4, (1.5, 1.5, 1.5)), (1, (3.0, 4.5, 6.0))])
def test_redirection_ends_when_the_state_is_read(
    devices: int, redirected: tuple[float, ...]
) -> None:
    """The coordinator answers the source and three operators, with a read of 1.5 s each: at once,
    or one after the other.  With one device, the source has its answer first, and sends again 68
    events; OP2 makes its outputs of them, of 0.05 s each, in the step in which its own answer
    comes: 3.4 s of replay, and not of redirection."""
    sets = [
        f"costs.stores.coordinator.devices={devices}",
        "costs.stores.coordinator.read_s=1.5",
        'failures=[{nodes=["OP3"], at_s=9.75}]',
    ]
    found = simulate(read("docs/scenarios/abs.toml", overrides(sets)))
    phases = {one.node: one for one in found.failures}
    at = [known(phases[name].redirection_s) for name in ("OP2", "OP3", "OP4")]
    assert at == [pytest.approx(each, abs=0.001) for each in redirected]
    if devices == 1:
        assert known(phases["OP2"].replay_s) == pytest.approx(68 * 0.05, abs=0.001)


# --- shared stores ---------------------------------------------------------------------------
APART = Graph(
    (
        *(("left", SOURCE), ("right", SOURCE), ("A", Relay()), ("B", Relay())),
        *(("near", SINK), ("far", SINK)),
    ),
    (("left", "A"), ("right", "B"), ("A", "near"), ("B", "far")),
)


@pytest.mark.parametrize(("devices", "near", "far"), [(1, 6.0, 7.0), (2, 4.0, 4.0)])
def test_transactions_of_different_operators_wait_for_each_other(
    devices: int, near: float, far: float
) -> None:
    """An event of each source at 1 s.  Three transactions a line: the readers' until 2 and 3 s, the
    assignments until 4 and 5 s, the outputs until 6 and 7 s."""
    costs = Costs(**FREE, stores={"log": StoreCosts(transaction_s=1.0, devices=devices)})
    words = {name: word("a")["source"] for name in ("left", "right")}
    found, _, outputs = played(LOG_IO, Workload("", "", APART, words), costs)
    assert seconds(outputs) == {"near": [near], "far": [far]}
    # Then both log that the write has taken effect.
    assert found.saves == 8
    assert found.asked.service["log"] == 8 * PS // devices


def test_a_request_is_served_when_it_comes() -> None:
    """A's first event has work until 101 s; B's transactions do not wait for those of A, though
    the message to A came first."""
    work = {"A": OperatorWork(event_s=100.0)}
    costs = Costs(**FREE, work=work, stores={"log": StoreCosts(transaction_s=1.0)})
    words = {"left": (Arrival(1, "a"),), "right": (Arrival(2, "a"),)}
    _, _, outputs = played(LOG_IO, Workload("", "", APART, words), costs)
    assert seconds(outputs) == {"near": [104.0], "far": [5.0]}


def test_a_transaction_costs_what_is_in_it() -> None:
    """An assignment: 1 s and 50 bytes; an output: 1 s, an event, a state and 125 bytes."""
    store = StoreCosts(transaction_s=1.0, event_s=0.5, item_s=0.25, bandwidth_bytes_per_s=100.0)
    sizes = Sizes(event_bytes=100, control_bytes=50, item_bytes=25)
    costs = Costs(**FREE, sizes=sizes, stores={"log": store})
    _, _, outputs = played(LOG_IO, Workload("", "", chain(("A", Relay())), word("a")), costs)
    assert seconds(outputs) == {"sink": [1 + 3.0 + 1.5 + 3.0]}


def test_recovery_reads_cost_time() -> None:
    """Two of three events are assigned when A crashes at 2.5 s; it is up at 3.5 s, when the third
    event has come, and the log has three rows of them."""
    store = StoreCosts(transaction_s=0.0, read_s=2.0, read_event_s=0.5)
    costs = Costs(**FREE, stores={"log": store})
    workload = Workload("", "", chain(("A", Triggered((3,)))), word("aaa"))
    found, _, outputs = played(LOG_IO, workload, costs, [TimedCrash(5 * PS // 2, ("A",))])
    (outage,) = found.outages
    assert (outage.restarted_ps, outage.restored_ps) == (7 * PS // 2, 7 * PS)
    assert seconds(outputs) == {"sink": [7.0]}


def test_an_output_is_generated_once() -> None:
    """The log's copy of it is no work, and neither is sending it again after a crash."""
    storage = Storage(latency_s=0.0, bandwidth_bytes_per_s=None)
    costs = Costs(**FREE, work={"A": OperatorWork(output_s=4.0)}, storage=storage)
    graph = chain(("A", Relay()), ("B", Relay()))
    # B is down when A hands the output on at 5 s; A crashes then.
    plans = [
        TimedCrash(9 * PS // 2, ("B",), None, (9 * PS,)),
        TimedCrash(11 * PS // 2, ("A",), None, (PS,)),
    ]
    for waits in (costs, costs.model_copy(update={"room": MANY})):
        for planned in ([], plans):
            workload = Workload("", "", graph, word("a"))
            found, _, outputs = played(LOG_IO, workload, waits, planned)
            assert found.busy_ps["A"] == 4 * PS
            assert found.notes.get(RESENT.name, 0) == (1 if planned else 0)
            assert len(outputs["sink"]) == 1


# --- bounded connections -----------------------------------------------------------------------
@pytest.mark.parametrize("protocol", [LOG_IO, ABS], ids=lambda one: one.name)
def test_a_source_waits_for_room(protocol: Protocol) -> None:
    """A takes 2 s for each of four events, from 1 s on.  One event fits into its connection: the
    third comes at 3 s, when A begins with the second, the fourth has to wait until 5 s."""
    one = turn(ABS, "writes", "idempotent") if protocol is ABS else protocol
    costs = Costs(
        **FREE, work={"A": OperatorWork(event_s=2.0)}, room=1, storage=Storage(latency_s=0.0)
    )
    workload = Workload("", "", chain(("A", Relay())), word("aaaa"))
    _, log, outputs = played(one, workload, costs)
    assert seconds(outputs)["sink"] == pytest.approx([3, 5, 7, 9], abs=1e-4)
    first = "source-reader" if protocol is LOG_IO else "source"
    into = [entry.done_ps / PS for entry in log if _sends_on(entry, first)]
    assert into == pytest.approx([1, 2, 3, 5], abs=1e-4)


def _sends_on(entry: LogEntry, node: str) -> bool:
    """Does the node send an event on at the end of this step?"""
    if node == "source":
        return isinstance(entry.action, Inject)
    return entry.action.node == node and entry.what[0] == "event"


def test_a_marker_waits_for_the_slow_input() -> None:
    """The marker is due at 2.5 s.  It comes through B at once, and through A, which has work until
    7 s, at 7 s; what B sends at 3 and 4 s waits for the snapshot, unless this is unaligned."""
    graph = Graph(
        (
            *(("source", SOURCE), ("A", Relay()), ("B", Relay())),
            ("C", Triggered((1,))),
            ("sink", SINK),
        ),
        (("source", "A"), ("source", "B"), ("A", "C"), ("B", "C"), ("C", "sink")),
    )
    costs = Costs(
        **FREE,
        work={"A": OperatorWork(event_s=3.0)},
        timers={"epoch": Timer(every_s=50.0, phase_s=2.5)},
        stores={"coordinator": StoreCosts(transaction_s=0.0)},
    )
    at_once = turn(ABS, "writes", "idempotent")
    for alignment, expected in (
        ("aligned", [1, 2, 4, 7, 7, 7, 10, 13]),
        ("unaligned", [1, 2, 3, 4, 4, 7, 10, 13]),
    ):
        protocol = turn(at_once, "alignment", alignment)
        found, _, outputs = played(protocol, Workload("", "", graph, word("aaaa")), costs)
        assert seconds(outputs)["sink"] == expected
        assert (ALIGNED.name in found.notes) == (alignment == "aligned")


def test_a_circle_of_nodes_that_wait_is_refused() -> None:
    """A and B send each other what they get from the source, and each waits for the other."""

    def deploy(_design: None, scope: Scope) -> Deployment:
        names = {
            "source": ((), ("A", "B")),
            "A": (("source", "B"), ("B",)),
            "B": (("source", "A"), ("A",)),
        }
        sites = [
            Site(name, Role.OPERATOR if preds else Role.SOURCE, None, preds, succs)
            for name, (preds, succs) in names.items()
        ]
        channels = tuple((site.name, succ) for site in sites for succ in site.succs)
        end = Site("sink", Role.SINK, None, (), ())
        return Deployment((*sites, end), channels, frozenset())

    def step(site: Site, state: int, input_: Input) -> Step:
        if isinstance(input_, Received) and input_.sender != "source":
            return Step(state)
        return Step(state, tuple(Send(succ, Body(0, "a")) for succ in site.succs))

    circle = Family(
        "circle",
        "",
        "",
        Behaviour(deploy, lambda _: 0, step, lambda _site, _durable: Step(0), show=str),
        assumes=Assumptions(Failures.NONE),
        properties=(),
    ).design(claims={})
    costs = Costs(**FREE, room=1, work={name: OperatorWork(event_s=1.0) for name in "AB"})
    workload = Workload("", "", chain(("A", Relay())), word("aaa", gap=0))
    with pytest.raises(Invalid, match="waits for room in a connection for ever"):
        played(circle, workload, costs)


@pytest.mark.parametrize("waits", [{"room": 1}, {"stores": {"log": {"transaction_s": 1.0}}}])
def test_nodes_wait_for_what_they_store(waits: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="blocking"):
        Costs.model_validate({**waits, "storage": {"blocking": False}})


def test_a_protocol_for_single_failures_cannot_stop_all() -> None:
    single = LEDGER.vary(assumes=Assumptions(Failures.SINGLE))
    detector = Detector(whole_pipeline=True)
    workload = Workload("", "", chain(("A", Relay())), word("a"))
    with pytest.raises(Invalid, match="single failures"):
        played(single, workload, Costs(), [TimedCrash(PS, ("A",))], detector)
