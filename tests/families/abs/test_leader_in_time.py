"""A crash of the coordinator in simulated time: tasks that write on, and the restart of all.

Rule of this file: every expected number stands beside its arithmetic.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from model.results.simulation import CrashCourse, Simulation
from model.system import System
from sim.closed_form import RecoveryTerms
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.crashes import Crashes
from sim.timed.network import TimedNode

RATE, EVENT_S, EVERY_S = 4.0, 0.125, 10.0
SESSION_S, RESTART_S = 4.0, 3.0
SCENARIO = f"""
[stream]
seconds = 60
rate_per_s = {RATE}
arrivals = "constant"
types = {{ event = 1.0 }}
[[operators]]
name = "count"
selectivity = 1.0
[costs.service]
event_s = {EVENT_S}
control_s = 0.0
item_s = 0.0
savepoint_s = 0.0
[costs.storage]
latency_s = 0.0
[costs.link]
delay_s = 0.0
[costs.timers]
epoch = {{ every_s = {EVERY_S}, phase_s = {EVERY_S} }}
[detector]
connection_s = 0.05
timeout_s = 8.0
session_s = {SESSION_S}
restart_s = {RESTART_S}
whole_pipeline = true
"""


def simulated(folder: Path, protocol: str, at_s: float, node: str, *changes: str) -> Simulation:
    path = folder / "leader.toml"
    failure = f'[[failures]]\nnodes = ["{node}"]\nat_s = {at_s}\n'
    path.write_text(f'protocol = "{protocol}"\n{SCENARIO}{failure}', encoding="utf-8")
    return simulate(read(path, overrides(changes)))


def courses(ran: Simulation) -> dict[str, CrashCourse]:
    return {one.node: one for one in ran.failures}


@pytest.mark.parametrize(("at_s", "age_s"), [(24.51, 4.51), (29.01, 9.01)])
@pytest.mark.parametrize("session_s", [4.0, 8.0])
def test_tasks_go_on_until_the_session_ends(
    tmp_path: Path, at_s: float, age_s: float, session_s: float
) -> None:
    """The task stops a session after the crash of its leader, and then has to do again what came
    since the last complete epoch, which is of 20 s."""
    given = (f"detector.session_s={session_s}",)
    ran = simulated(tmp_path, "abs:coordinator", at_s, "coordinator", *given)
    assert ran.same
    found = courses(ran)
    assert found["coordinator"].detection_s == session_s
    assert found["coordinator"].recovery_s == pytest.approx(session_s + RESTART_S, abs=1e-3)
    task = found["count"]
    assert task.crashed_s == pytest.approx(at_s + session_s)
    assert task.detection_s == 0
    assert task.restart_s == pytest.approx(RESTART_S)
    terms = RecoveryTerms(session_s, RESTART_S, 0.0, age_s, RATE * EVENT_S, orphaned_s=session_s)
    assert session_s + (task.recovery_s or 0) == pytest.approx(terms.recovery_s, abs=2 * EVENT_S)
    assert ran.metrics.events_again == pytest.approx(RATE * terms.repeated_s, abs=2)


def test_what_orphans_write_comes_twice(tmp_path: Path) -> None:
    """Written at once: the results of 20.25 to 28.25 s; the event of 28.5 s is under way when the
    task stops at 28.51 s.  After a crash of the task itself, those up to 24.25 s."""
    led = simulated(tmp_path, "abs:coordinator-at-once", 24.51, "coordinator")
    assert (led.recovery_type, led.missing_outputs) == ("repeating", 0)
    assert led.surplus_outputs == 4 * (28.5 - 20) - 1
    alone = simulated(tmp_path, "abs:coordinator-at-once", 24.51, "count")
    assert (alone.recovery_type, alone.missing_outputs) == ("repeating", 0)
    assert alone.surplus_outputs == 4 * (24.5 - 20) - 1


def test_without_a_session_heartbeats_end(tmp_path: Path) -> None:
    """A process that ends breaks its connections, which does not stop those that it leads: they go
    on until 32.51 s."""
    path = tmp_path / "leader.toml"
    text = SCENARIO.replace(f"session_s = {SESSION_S}\n", "")
    failure = '[[failures]]\nnodes = ["coordinator"]\nat_s = 24.51\n'
    path.write_text(f'protocol = "abs:coordinator-at-once"\n{text}{failure}', encoding="utf-8")
    ran = simulate(read(path))
    assert courses(ran)["coordinator"].detection_s == 8.0
    assert ran.surplus_outputs == 4 * (32.5 - 20) - 1


def test_a_leader_goes_on_when_a_task_crashes(tmp_path: Path) -> None:
    ran = simulated(tmp_path, "abs:coordinator", 24.51, "count")
    assert ran.same
    (course,) = ran.failures
    terms = RecoveryTerms(0.05, RESTART_S, 0.0, 4.51, RATE * EVENT_S)
    assert course.recovery_s == pytest.approx(terms.recovery_s, abs=2 * EVENT_S)
    assert ran.metrics.notes["operators restored"] == 1


TWO = 'operators=[{name="count",selectivity=1.0},{name="more",selectivity=1.0}]'
LIGHT = "costs.work.more.event_s=0.0"
AT_ONCE = "costs.storage.bandwidth_bytes_per_s=1e18"
"""A restarted leader stores the number of the run in no time."""


def test_one_restart_restores_each_task_once(tmp_path: Path) -> None:
    ran = simulated(tmp_path, "abs:coordinator", 24.51, "coordinator", TWO, LIGHT, AT_ONCE)
    assert ran.same
    assert ran.metrics.crashes == 3
    assert ran.metrics.notes["operators restored"] == 2
    assert ran.metrics.notes["restarts of the coordinator"] == 1


@pytest.mark.parametrize("node", ["coordinator", "count", "more"])
def test_both_loops_agree(tmp_path: Path, node: str) -> None:
    """Room for all: nodes wait for nobody."""
    changes = (TWO, LIGHT, "detector.delay_s=1.0")
    fast = simulated(tmp_path, "abs:coordinator-at-once", 24.51, node, *changes)
    roomy = (*changes, "costs.room=1_000_000_000")
    queued = simulated(tmp_path, "abs:coordinator-at-once", 24.51, node, *roomy)
    assert fast.sha256 == queued.sha256
    assert fast.failures == queued.failures
    assert fast.metrics.notes == queued.metrics.notes


def test_a_second_restart_waits_for_the_heartbeats(tmp_path: Path) -> None:
    """The attempt at 1.05 s goes to the dead process; the second one comes at 8 + 1 s."""
    ran = simulated(tmp_path, "abs", 24.51, "count", "detector.delay_s=1.0")
    assert ran.same
    terms = RecoveryTerms(0.05, 7.95 + 1.0 + RESTART_S, 0.0, 4.51, RATE * EVENT_S)
    assert ran.metrics.recovery_s == pytest.approx(terms.recovery_s, abs=2 * EVENT_S)


def test_a_storage_that_may_crash_writes_beside_the_work(tmp_path: Path) -> None:
    """The upload takes the storage of the coordinator 2 s, and then its decision 2 s more; no event
    waits for them.  At 23 s the epoch of 20 s is under way, so the age is that of 10 s."""
    slow = (
        "knobs.snapshots=asynchronous",
        "costs.storage.latency_s=2.0",
        "knobs.writes=idempotent",
    )
    ran = simulated(tmp_path, "abs:coordinator", 23.0, "count", *slow)
    assert ran.same
    assert ran.checkpoints is not None
    assert ran.checkpoints.ages_s == pytest.approx((13.0,), abs=EVENT_S)
    later = simulated(tmp_path, "abs:coordinator", 24.5, "count", *slow)
    assert later.checkpoints is not None
    assert later.checkpoints.ages_s == pytest.approx((4.5,), abs=EVENT_S)
    assert later.without_failures.latency_max_s == pytest.approx(EVENT_S, abs=0.01)


# --- mutants ---------------------------------------------------------------------------------
def test_a_leader_that_comes_first_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would restart all nodes again whenever one of them is up."""
    right = Crashes._bring_back

    def leader_first(self: Crashes, nodes: list[tuple[TimedNode, int]]) -> None:
        right(self, sorted(nodes, key=lambda one: one[0].name != "coordinator"))

    monkeypatch.setattr(Crashes, "_bring_back", leader_first)
    ran = simulated(tmp_path, "abs:coordinator", 24.51, "coordinator", TWO, LIGHT, AT_ONCE)
    assert ran.same
    assert ran.metrics.notes["operators restored"] > 2


def test_a_node_that_leads_nobody_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tasks would stop 0.05 s after the crash: 3.95 s of results would not come twice."""
    init = System.__post_init__

    def no_leader(self: System) -> None:
        init(self)
        object.__setattr__(self, "deployment", self.deployment._replace(leaders=frozenset()))

    monkeypatch.setattr(System, "__post_init__", no_leader)
    ran = simulated(tmp_path, "abs:coordinator-at-once", 24.51, "coordinator")
    assert ran.surplus_outputs == 4 * (24.5 - 20) - 1
