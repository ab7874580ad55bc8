"""Failures.SINGLE is granted exactly: after the first fault, a further one comes only at rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asif.duties.sample import deployed
from model.actions import Action, Crash, Disturb, Inject, Suspect
from model.choices import enabled, quiescent
from model.core import Arrival, Guarantee
from model.errors import Invalid
from model.evidence import Outcome
from model.play import Play
from model.protocol import Assumptions, Failures, Protocol
from model.system import System
from model.world import World, apply, initial
from proofs.explore.edges import edges
from proofs.explore.explorer import Trace, explore
from proofs.explore.random_attack import attack, enlarge
from proofs.explore.random_walk import walks
from sim.inputs.streams import Workload
from sim.scenarios.run import run as timed
from sim.scenarios.scenario import Scenario, read
from sim.timed.failures import TimedCrash
from sim.timed.record import LogEntry
from sim.untimed.crashes import UntimedCrash
from sim.untimed.run import run
from tests.conformance.standby.protocol import ANY, ONE, PROTOCOL, TWO_CRASHES, UNREADY
from tests.conformance.subjects import expected, followed
from tests.contract import restarts

NO_READY = PROTOCOL.vary(properties=PROTOCOL.promise.properties[:2])
"""Without the property that looks at the nodes."""


def faulty(action: Action) -> bool:
    if isinstance(action, Crash | Suspect | Disturb):
        return True
    return not isinstance(action, Inject) and action.crash_after is not None


def assert_granted(system: System, worlds: Sequence[World], actions: Sequence[Action]) -> int:
    """Every fault but the first comes at rest; returns how many there are."""
    struck = [at for at, action in enumerate(actions) if faulty(action)]
    for at in struck[1:]:
        assert quiescent(system, worlds[at])
    return len(struck)


def in_worlds(system: System, actions: Sequence[Action]) -> list[World]:
    worlds = [initial(system)]
    play = Play(system.protocol, system.scope, lambda _before, _action, after: worlds.append(after))
    play.follow(*actions)
    return worlds


# --- verdicts ----------------------------------------------------------------------------------
def test_one_redundant_copy_survives_single_failures_and_not_any() -> None:
    single, any_ = explore(PROTOCOL, TWO_CRASHES), explore(ANY, TWO_CRASHES)
    assert (single.outcome, single.states) == (Outcome.HOLDS, PROTOCOL.evidence.scopes[0].states)
    assert single.guarantee is Guarantee.PRECISE
    assert any_.outcome is Outcome.REFUTED
    assert any_.guarantee is Guarantee.GAP
    assert explore(ANY, replace(TWO_CRASHES, crashes=1)).outcome is Outcome.HOLDS


@pytest.mark.slow
def test_all_drivers_grant_single_failures_and_any() -> None:
    """Two restarts without an answer between: any failures can do that, single ones cannot."""
    scope = restarts.TWO_CRASHES
    assert explore(restarts.SINGLE, scope).outcome is Outcome.HOLDS
    assert explore(restarts.ANY, scope).outcome is Outcome.REFUTED
    assert walks(restarts.SINGLE, scope, 1_000, seed=1).property is None
    assert walks(restarts.ANY, scope, 1_000, seed=1).property is restarts.ANSWERED
    assert [one.crashes for one in enlarge(restarts.SINGLE)] == [3]
    assert attack(restarts.SINGLE, walks=0, examples=100).failure is None
    assert attack(restarts.ANY, walks=0, examples=100).failure is not None
    assert attack(PROTOCOL, walks=0, examples=60).failure is None


def test_a_property_of_the_nodes_finds_what_outputs_alone_do_not_show() -> None:
    """A standby that stays empty changes no output, until the next failure."""
    scope = replace(TWO_CRASHES, crashes=1)
    blind = UNREADY.vary(properties=NO_READY.promise.properties)
    assert explore(blind, scope).outcome is Outcome.HOLDS
    found = explore(UNREADY, scope).counterexample
    assert found is not None
    assert found.property.nodes
    assert len(found.trace.actions) == UNREADY.evidence.scopes[0].steps == 4
    assert walks(blind, scope, 100, seed=2).property is None
    walked = walks(UNREADY, scope, 100, seed=2).property
    assert walked is not None
    assert walked.nodes
    attacked = attack(UNREADY, walks=0, examples=60, scopes=[scope]).failure
    assert attacked is not None
    assert attacked.property.nodes


def test_with_two_failures_outputs_show_it_too() -> None:
    blind = UNREADY.vary(properties=NO_READY.promise.properties)
    assert explore(blind, TWO_CRASHES).outcome is Outcome.REFUTED


# --- what is granted ---------------------------------------------------------------------------
def test_the_explorer_grants_what_the_world_grants() -> None:
    system = System(PROTOCOL, TWO_CRASHES)
    found: dict[World, Counter[Action]] = {}
    later_at_rest = 0
    for before, action, after in edges(PROTOCOL, TWO_CRASHES):
        found.setdefault(before, Counter())[action] += 1
        assert apply(system, before, action) == after
        if faulty(action) and before.crashes < TWO_CRASHES.crashes:
            assert quiescent(system, before)
            later_at_rest += 1
    assert later_at_rest
    assert all(Counter(enabled(system, world)) == actions for world, actions in found.items())


def found_by_all(protocol: Protocol) -> Iterator[Trace]:
    """Runs with two faults, each found by one of the drivers."""
    scope = restarts.TWO_CRASHES
    explored = explore(protocol, scope, until=Guarantee.PRECISE).counterexample
    assert explored is not None
    yield explored.trace
    for seed in range(10):
        walked = walks(protocol, scope, 2_000, seed=seed).trace
        assert walked is not None
        yield walked
    attacked = attack(protocol, walks=0, examples=300).failure
    assert attacked is not None
    yield attacked.trace


@pytest.mark.slow
def test_in_every_trace_the_second_fault_comes_at_rest() -> None:
    for trace in found_by_all(restarts.TWICE):
        assert assert_granted(trace.system, trace.worlds, trace.actions) >= 2


def test_if_any_failures_are_assumed_it_comes_sooner() -> None:
    """The assertion above can fail."""
    for trace in found_by_all(restarts.ANY):
        with pytest.raises(AssertionError):
            assert_granted(trace.system, trace.worlds, trace.actions)


# --- runs over whole streams ---------------------------------------------------------------------
WORKLOAD = Workload("", "", ONE, {"source": tuple(Arrival(1, type_) for type_ in "ab" * 8)})


@settings(max_examples=60)
@given(
    st.lists(
        st.builds(
            UntimedCrash,
            st.sampled_from(["A", "standby"]),
            st.integers(1, 16),
            st.integers(0, 3),
        ),
        max_size=3,
    ),
    st.integers(0, 4),
)
def test_untimed_runs_grant_it_or_refuse(plans: list[UntimedCrash], away: int) -> None:
    actions: list[Action] = []
    try:
        found = run(PROTOCOL, WORKLOAD, plans, restart_after=away, record=actions.append)
    except Invalid:
        return
    system = deployed(PROTOCOL, WORKLOAD, len(plans))
    assert assert_granted(system, in_worlds(system, actions), actions) == len(plans)
    assert found.outputs == expected(WORKLOAD)


def test_an_untimed_run_grants_the_second_crash_at_rest_and_refuses_it_before() -> None:
    plans = [UntimedCrash("A", 4), UntimedCrash("standby", 12)]
    assert len(run(PROTOCOL, WORKLOAD, plans, restart_after=3).outages) == 2
    with pytest.raises(Invalid, match="crash standby@6: standby assumes single failures"):
        run(PROTOCOL, WORKLOAD, [plans[0], UntimedCrash("standby", 6)], restart_after=3)
    with pytest.raises(Invalid, match=r"crash standby@12\+1: standby assumes single failures"):
        run(PROTOCOL, WORKLOAD, [plans[0], UntimedCrash("standby", 12, 1)], restart_after=3)
    with pytest.raises(Invalid, match="assumes single failures"):  # one waits for an effect
        run(
            PROTOCOL,
            WORKLOAD,
            [UntimedCrash("standby", 4, 9), UntimedCrash("A", 9)],
            restart_after=3,
        )


SCENARIO = """\
protocol = "upstream-backup"
unit_s = 0.001
[stream]
events = 60
rate_per_s = 100.0
types = { a = 1.0, b = 1.0 }
[[operators]]
name = "A"
pattern = "a, b"
window = 30
slide = 30
[costs.service]
event_s = 0.004
[detector]
keep_alive_s = 0.01
misses = 2
restart_s = 0.03
"""


def scenario(folder: Path, protocol: Protocol) -> Scenario:
    (folder / "small.toml").write_text(SCENARIO)
    return replace(read(folder / "small.toml"), protocol=protocol)


MS = 10**9


@pytest.mark.parametrize("second_ms", [*range(80, 200, 10), 300, 371, 402])
def test_timed_runs_grant_it_or_leave_it_out(second_ms: int, tmp_path: Path) -> None:
    asked = scenario(tmp_path, PROTOCOL)
    plans = (TimedCrash(75 * MS, ("A",)), TimedCrash(second_ms * MS, ("A", "standby")))
    log: list[LogEntry] = []
    ran = timed(asked, plans, log=log)
    system = deployed(PROTOCOL, asked.workload, 3)
    actions = [entry.action for entry in sorted(log)]
    struck = assert_granted(system, in_worlds(system, actions), actions)
    assert struck == len(ran.result.outages) == 3 - ran.result.missed
    assert followed(system, actions).outputs[0] == tuple(out for _, out in ran.emissions["sink"])


def test_some_timed_runs_have_a_second_crash(tmp_path: Path) -> None:
    asked = scenario(tmp_path, PROTOCOL)
    outages = [
        len(timed(asked, (TimedCrash(75 * MS, ("A",)), TimedCrash(at * MS, ("A",)))).result.outages)
        for at in range(150, 500, 7)
    ]
    assert {*outages} == {1, 2}


# --- no failures at all ------------------------------------------------------------------------
def test_a_protocol_that_assumes_no_failure_is_granted_none(tmp_path: Path) -> None:
    trusting = PROTOCOL.vary(assumes=Assumptions(Failures.NONE))
    for refused in (
        lambda: explore(trusting, TWO_CRASHES),
        lambda: walks(trusting, TWO_CRASHES, 1, seed=0),
        lambda: run(trusting, WORKLOAD, [UntimedCrash("A", 3)]),
        lambda: timed(scenario(tmp_path, trusting), (TimedCrash(MS, ("A",)),)),
    ):
        with pytest.raises(Invalid, match="assumes that nothing fails"):
            refused()
    assert run(trusting, WORKLOAD).outputs == expected(WORKLOAD)
    assert explore(trusting, replace(TWO_CRASHES, crashes=0)).outcome is Outcome.HOLDS
