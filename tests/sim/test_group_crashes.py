"""Runs with group crashes and notices: each is one that the world allows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.actions import Action, Crash, Deliver, Restart
from model.core import Arrival, Deployment, Group, Lost, Scope
from model.errors import Invalid
from model.oracle import by_edge
from model.parts import deploy_graph
from model.protocol import Assumptions, Failures, Protocol
from sim.inputs.streams import Workload
from sim.timed.costs import PS, Costs, LinkCosts, Service, picoseconds
from sim.timed.failures import TimedCrash
from sim.timed.record import LogEntry
from sim.timed.trace import steps
from sim.untimed.crashes import UntimedCrash, crash_plans
from sim.untimed.run import run
from tests.contract import groups
from tests.sim.test_timed import LEDGER, QUICK, assert_same, played
from tests.sim.test_timed import cases as timed_cases
from tests.sim.test_untimed import cases as untimed_cases
from tests.sim.test_untimed import driven, followed
from tests.sizes import FULL

HOST = ("A", "B")


def deploy(_design: None, scope: Scope) -> Deployment:
    """Every set of operators is a failure group, and every second channel is watched."""
    deployment = deploy_graph(scope.graph, replies=True)
    nodes = sorted(deployment.crashable)
    together = (Group(frozenset(c)) for size in (2, 3) for c in combinations(nodes, size))
    return deployment._replace(
        together=tuple(together), watched=frozenset(deployment.channels[::2])
    )


def deploy_leaving(_design: None, scope: Scope) -> Deployment:
    """As `deploy`; every second operator never returns from a crash."""
    deployment = deploy(None, scope)
    return deployment._replace(returning=frozenset(sorted(deployment.crashable)[1::2]))


GROUPED = LEDGER.vary(deploy=deploy)
LEAVING = LEDGER.vary(deploy=deploy_leaving)


# --- timed runs ----------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("protocol", [GROUPED, LEAVING])
@settings(max_examples=200 if FULL else 80)
@given(case=timed_cases())
def test_every_timed_run_is_one_that_the_world_allows(
    protocol: Protocol, case: tuple[Workload, Costs, tuple[TimedCrash, ...]]
) -> None:
    _, log = assert_same(protocol, case)
    crashes = [entry.action for entry in log if isinstance(entry.action, Crash)]
    planned = {frozenset(plan.nodes) for plan in case[2]}
    assert {frozenset(crash.group) for crash in crashes if crash.group} <= planned


FREE = Costs(service=Service(event_s=0.0, control_s=0.25), link=LinkCosts(delay_s=0.0))


def word(text: str, gap: int = 1) -> Workload:
    events = {"source": tuple(Arrival(gap, type_) for type_ in text)}
    return Workload("", "", groups.GRAPH, events)


def notices(log: Sequence[LogEntry]) -> list[tuple[float, str, str]]:
    """(time of the service, the node notified, the node that crashed)."""
    return [
        (entry.began_ps / PS, entry.action.node, entry.what[1].node)
        for entry in log
        if isinstance(entry.what[1], Lost)
    ]


def test_nodes_that_fail_together_return_one_by_one() -> None:
    """Each after its own time since the detection; whoever crashes again, as the detector says."""
    plan = [TimedCrash(5 * PS // 2, HOST, 40 * PS, (3 * PS, 7 * PS))]
    found, log, _ = played(groups.PROTOCOL, word("aaa"), FREE, plan)
    times = [(one.node, (one.restarted_ps or 0) - one.detected_ps) for one in found.outages]
    again = picoseconds(QUICK.restart_s)
    assert times == [("A", 3 * PS), ("B", 7 * PS), ("A", again), ("B", again)]
    restarts = [entry.action.node for entry in log if isinstance(entry.action, Restart)]
    assert restarts[:2] == ["A", "B"]


def test_a_planned_group_is_one_crash_and_others_are_one_each() -> None:
    plan = [TimedCrash(5 * PS // 2, HOST)]
    found, log, _ = played(groups.PROTOCOL, word("aaa"), FREE, plan)
    crashes = [entry.action for entry in log if isinstance(entry.action, Crash)]
    assert crashes == [Crash("A", False, HOST)]
    assert [outage.node for outage in found.outages] == [*HOST]
    alone = groups.deploying(groups.PROTOCOL, together=())
    found, log, _ = played(alone, word("aaa"), FREE, plan)
    crashes = [entry.action for entry in log if isinstance(entry.action, Crash)]
    assert crashes == [Crash("A"), Crash("B")]


def test_one_fault_takes_a_group_down_where_single_failures_are_assumed() -> None:
    plan = [TimedCrash(5 * PS // 2, HOST)]
    found, _, _ = played(groups.SINGLE, word("aaa"), FREE, plan)
    assert (len(found.outages), found.missed) == (2, 0)
    alone = groups.deploying(groups.SINGLE, together=())
    found, _, _ = played(alone, word("aaa"), FREE, plan)
    assert (len(found.outages), found.missed) == (1, 1)


def test_members_that_are_down_are_not_struck_again() -> None:
    plan = [TimedCrash(5 * PS // 2, ("B",)), TimedCrash(11 * PS // 4, HOST)]
    found, log, _ = played(groups.PROTOCOL, word("aaa"), FREE, plan)
    assert [outage.node for outage in found.outages] == ["B", "A"]
    assert found.missed == 0
    again = [*plan, TimedCrash(23 * PS // 8, HOST)]
    assert played(groups.PROTOCOL, word("aaa"), FREE, again)[0].missed == 1
    assert [told for _, told, _ in notices(log)] == ["sink", "sink"]


def test_the_watcher_is_told_when_the_crash_is_detected() -> None:
    """Keep-alives come every second, and one may not be missing: 2.5 s is detected at 3 s."""
    _, log, _ = played(groups.PROTOCOL, word("a"), FREE, [TimedCrash(5 * PS // 2, ("A",))])
    assert sorted(notices(log)) == [(3.0, "B", "A"), (3.0, "sink", "A")]
    shown = steps(log, str)
    assert [step.kind for step in shown if step.node == "sink"][-1] == "control"


@pytest.mark.parametrize(
    ("delay", "crash", "event", "notice"),
    [
        (3.0, 7.5, 10.0, 10.0),  # detected at 8 s, while the event is under way
        (0.5, 2.25, 2.5, 3.0),  # detected when the event has come
    ],
)
def test_the_watcher_is_told_after_all_that_the_node_had_sent(
    delay: float, crash: float, event: float, notice: float
) -> None:
    """The event comes at 1 s, and passes two links before B sends it."""
    plan = [TimedCrash(round(crash * PS), ("B",))]
    slow = FREE.model_copy(update={"link": LinkCosts(delay_s=delay)})
    _, log, _ = played(groups.PROTOCOL, word("a"), slow, plan)
    at_sink = [
        (entry.began_ps / PS, type(entry.what[1]).__name__)
        for entry in log
        if entry.action.node == "sink"
    ]
    assert [kind for _, kind in at_sink] == ["Body", "Lost"]
    assert [at for at, _ in at_sink] == pytest.approx([event, notice], abs=0.01)


def test_only_who_watches_is_told() -> None:
    curious = groups.deploying(groups.PROTOCOL, watched=frozenset({("A", "sink")}))
    plan = [TimedCrash(5 * PS // 2, HOST)]
    _, log, _ = played(curious, word("a"), FREE, plan)
    assert notices(log) == [(3.0, "sink", "A")]
    actions: list[Action] = []
    run(curious, word("a"), crash_plans(["A,B@1"], HOST, 1), record=actions.append)
    assert [action.sender for action in actions if isinstance(action, Deliver)] == ["A"]


def test_a_notice_is_lost_with_its_receiver() -> None:
    plan = [TimedCrash(5 * PS // 2, ("A",)), TimedCrash(11 * PS // 4, ("B",))]
    found, log, _ = played(groups.PROTOCOL, word("a"), FREE, plan)
    assert [(told, of) for _, told, of in sorted(notices(log))] == [("sink", "A"), ("sink", "B")]
    assert found.lost == 1


# --- untimed runs --------------------------------------------------------------------------------
@pytest.mark.slow
@settings(max_examples=200)
@given(untimed_cases(8), st.integers(0, 3), st.randoms(use_true_random=False))
def test_every_untimed_run_is_one_that_the_world_allows(
    case: tuple[Workload, list[UntimedCrash]], away: int, chance: random.Random
) -> None:
    workload, plans = case
    nodes = sorted(deploy(None, Scope(workload.graph, ())).crashable)
    grouped = []
    for plan in plans:
        others = [name for name in nodes if name != plan.node]
        size = chance.randint(0, len(others))
        grouped.append(plan._replace(others=tuple(others[:size])))
    done = driven(GROUPED, workload, grouped, away)
    if done is None:
        return
    found, actions = done
    world = followed(GROUPED, workload, actions)
    sites = deploy(None, Scope(workload.graph, ())).sites
    edges = {site.name: len(site.preds) for site in sites}
    sinks = [name for name in edges if name.startswith(("sink", "near", "far"))]
    assert found.outputs == tuple(
        by_edge(outputs, edges[name]) for name, outputs in zip(sinks, world.outputs, strict=True)
    )


def test_a_group_goes_down_in_a_run_and_is_told_of() -> None:
    actions: list[Action] = []
    plans = crash_plans(["B,A@2"], HOST, 4)
    found = run(groups.PROTOCOL, word("aaaa"), plans, restart_after=1, record=actions.append)
    crash = Crash("A", False, HOST)
    assert [a for a in actions if isinstance(a, Crash)] == [crash]
    assert [outage.node for outage in found.outages] == [*HOST]
    after = actions[actions.index(crash) :]
    assert after[1:3] == [Deliver("sink", "B"), Deliver("sink", "A")]
    assert [a.node for a in after if isinstance(a, Restart)] == [*HOST]
    assert found.count == 2  # those of the two events while nobody is up are lost


def test_effects_are_those_of_the_first_one_named() -> None:
    actions: list[Action] = []
    plans = crash_plans(["B,A@2+1"], HOST, 3)
    run(groups.PROTOCOL, word("aaa"), plans, restart_after=1, record=actions.append)
    assert Deliver("B", "A", 1, HOST) in actions
    actions.clear()
    plans = crash_plans(["A,B@2+2"], HOST, 3)
    run(groups.PROTOCOL, word("aaa"), plans, restart_after=1, record=actions.append)
    at = actions.index(Crash("A", False, HOST))
    assert actions[at - 1] == Deliver("A", "source")


def test_group_crashes_as_people_write_them() -> None:
    (plan,) = crash_plans([" A,B@7+2 "], HOST, 9)
    assert plan == UntimedCrash("A", 7, 2, ("B",))
    assert str(plan) == "A,B@7+2"
    with pytest.raises(Invalid, match="no node 'Bee' may crash"):
        crash_plans(["A,Bee@7"], HOST, 9)


@pytest.mark.parametrize("text", ["A,A@2", "A,B,A@2+1"])
def test_a_group_that_is_not_deployed_is_one_line(text: str) -> None:
    alone = groups.deploying(groups.PROTOCOL, together=())
    plans = crash_plans([text], HOST, 3)
    actions: list[Action] = []
    with pytest.raises(Invalid, match="deploys no failure group of A, "):
        run(alone, word("aaa"), plans, record=actions.append)
    assert not actions  # nobody waits for a run that cannot be


def test_single_failures_are_granted_to_groups_as_to_nodes() -> None:
    single = groups.PROTOCOL.vary(assumes=Assumptions(Failures.SINGLE))
    early, late = ([UntimedCrash("A", 2, 0, ("B",)), UntimedCrash("A", at)] for at in (3, 8))
    assert len(run(single, word("a" * 9), late, restart_after=2).outages) == 3
    with pytest.raises(Invalid, match="assumes single failures"):
        run(single, word("a" * 9), early, restart_after=2)
