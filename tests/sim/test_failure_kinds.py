"""Failures by kind: the length of their detection, a second restart, and pauses.

Rule of this file: every expected number stands beside its arithmetic; no family by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from model.boxes.stateless import Relay
from model.errors import Invalid
from model.graph import chain
from model.protocol import Protocol
from model.protocols.upstream_backup.protocol import PROTOCOL
from sim import closed_form
from sim.inputs.streams import Workload
from sim.scenarios.overrides import overrides
from sim.scenarios.scenario import read
from sim.timed.costs import PS, Costs, LinkCosts, Service, Storage
from sim.timed.detector import Detector, FailureKind
from sim.timed.failures import FailureTable, TimedCrash, plan_crashes
from sim.timed.record import LogEntry, TimedResult
from sim.timed.suspension import Suspensions
from tests.sim.test_timed import LEDGER, cases, followed, played, word
from tests.sizes import FULL

FLINK = Detector(connection_s=0.05, timeout_s=1.1, session_s=4.0, delay_s=1.0, restart_s=0.4)
"""Measured: a broken connection after 0.05 s, heartbeats of 1.1 s, a restart delay of 1 s."""


# --- detections ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "detection_s", "restart_s"),
    [
        ("process", 0.05, 1.05 + 1.0 + 0.4),  # the attempt at 1.05 s goes to the dead process
        ("host", 1.1, 1.0 + 0.4),
        ("pause", 1.1, 1.0 + 0.4),
    ],
)
@pytest.mark.parametrize("crashed_s", [0.0, 3.0, 7.7])
def test_a_kind_has_one_length_of_detection(
    kind: FailureKind, detection_s: float, restart_s: float, crashed_s: float
) -> None:
    """Whatever the phase of the keep-alives."""
    at = round(crashed_s * PS)
    detected, back = FLINK.outage(at, kind)
    assert detected - at == round(detection_s * PS)
    assert back - detected == round(restart_s * PS)


def test_a_delay_beyond_the_time_out_makes_one_restart() -> None:
    """2 s, as in the measured table: the attempt at 2.05 s knows that the process is dead."""
    detected, back = FLINK.model_copy(update={"delay_s": 2.0}).outage(0)
    assert (detected, back) == (PS // 20, round((0.05 + 2.0 + 0.4) * PS))


def test_a_leader_is_missed_when_its_session_ends() -> None:
    """Without a session, when its heartbeats end; no restart delay comes after it."""
    assert FLINK.outage(PS, leads=True) == (5 * PS, round(5.4 * PS))
    without = FLINK.model_copy(update={"session_s": None})
    assert without.outage(PS, leads=True) == (round(2.1 * PS), round(2.5 * PS))


def test_without_time_outs_keep_alives_decide() -> None:
    plain = Detector(keep_alive_s=1.0, misses=3, restart_s=0.5)
    for kind in ("process", "host"):
        assert plain.outage(round(3.4 * PS), kind) == (6 * PS, round(6.5 * PS))
    silent = Detector(keep_alive_s=1.0, misses=3, connection_s=9.0)
    assert silent.outage(round(3.4 * PS)).detected == 6 * PS  # before the connection breaks


LENGTHS = st.integers(1, 400).map(lambda hundredth: hundredth / 100)


@given(LENGTHS, LENGTHS, LENGTHS, LENGTHS)
def test_the_restart_is_that_of_the_closed_form(
    connection: float, timeout: float, delay: float, start: float
) -> None:
    detector = Detector(connection_s=connection, timeout_s=timeout, delay_s=delay, restart_s=start)
    detected, back = detector.outage(0)
    noticed = min(connection, timeout)
    assert detected == round(noticed * PS)
    expected = closed_form.restart_s(noticed, timeout, delay, start)
    assert (back - detected) / PS == pytest.approx(expected)
    assert back >= round((timeout if noticed + delay < timeout else noticed) * PS)


def test_the_failure_says_its_kind() -> None:
    (plan,) = plan_crashes([FailureTable(nodes=("A",), at_s=1.0)], [0], 0)
    assert plan.kind == "process"
    paused = FailureTable(nodes=("A",), at_s=1.0, kind="pause", pause_s=2.0)
    (plan,) = plan_crashes([paused], [0], 0)
    assert (plan.kind, plan.pause_ps) == ("pause", 2 * PS)
    sets = ('failures=[{host="big", at_s=305.0}]', 'costs.hosts.big={nodes=["parse"], cores=1}')
    (struck,) = read("docs/scenarios/hosts.toml", overrides(sets)).failures
    assert (struck.nodes, struck.kind) == (("parse",), "host")
    for wrong in ({"kind": "pause"}, {"pause_s": 1.0}, {"kind": "host", "pause_s": 1.0}):
        with pytest.raises(ValidationError, match="go together"):
            FailureTable.model_validate({"nodes": ["A"], "at_s": 1.0, **wrong})


def test_a_node_that_never_crashes_is_one_line() -> None:
    sets = ('failures=[{nodes=["coordinator"], at_s=1.0}]',)
    with pytest.raises(Invalid, match="no operator 'coordinator'"):
        read("docs/scenarios/abs.toml", overrides(sets))


# --- runs ------------------------------------------------------------------------------------
KINDS: st.SearchStrategy[FailureKind] = st.sampled_from(["process", "host", "pause"])
TIMES = st.none() | st.sampled_from([0.5, 1.0, 3.0])


@st.composite
def failing(draw: st.DrawFn) -> tuple[Workload, Costs, list[TimedCrash], Detector]:
    workload, costs, planned = draw(cases())
    halves = st.integers(1, 12).map(lambda half: half * PS // 2)
    plans = []
    for plan in planned:
        kind = draw(KINDS)
        pause = draw(halves) if kind == "pause" else None
        plans.append(plan._replace(kind=kind, pause_ps=pause))
    detector = Detector(
        keep_alive_s=1.0,
        misses=draw(st.integers(1, 3)),
        restart_s=0.5,
        **{key: draw(TIMES) for key in ("connection_s", "timeout_s", "delay_s")},
        whole_pipeline=draw(st.booleans()),
    )
    blocking = {"storage": costs.storage.model_copy(update={"blocking": True})}
    return workload, costs.model_copy(update=blocking), plans, detector


@pytest.mark.slow
@settings(max_examples=150 if FULL else 60)
@given(failing(), st.sampled_from([PROTOCOL, LEDGER]))
def test_every_run_is_one_that_the_world_allows(
    case: tuple[Workload, Costs, list[TimedCrash], Detector], protocol: Protocol
) -> None:
    """A pause is a time in which a node does nothing, or a crash."""
    found, log, outputs = played(protocol, *case)
    world = followed(protocol, case[0], log)
    assert [node.state for node in world.nodes] == list(found.states.values())
    emitted = tuple(tuple(output for _, output in passed) for passed in outputs.values())
    assert world.outputs == emitted


FREE: dict[str, Any] = {
    "service": Service(event_s=1.0, control_s=0.0, item_s=0.0),
    "link": LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=None),
    "storage": Storage(latency_s=0.0, bandwidth_bytes_per_s=None),
}
ONE = chain(("A", Relay()))


def paused(
    at_s: float, pause_s: float, timeout_s: float = 50.0, **costs: Any
) -> tuple[TimedResult, list[LogEntry], list[float]]:
    """Three events at 2, 4 and 6 s, each a second of work; the times of the outputs, in seconds."""
    plan = TimedCrash(round(at_s * PS), ("A",), None, (), "pause", round(pause_s * PS))
    detector = Detector(timeout_s=timeout_s, restart_s=0.5)
    workload = Workload("", "", ONE, word("bbb", gap=2))
    found, log, outputs = played(LEDGER, workload, Costs(**{**FREE, **costs}), [plan], detector)
    return found, log, [at / PS for at, _ in outputs["sink"]][::2]  # it sends each twice


@pytest.mark.parametrize(
    ("at_s", "pause_s", "out_s"),
    [
        (9.0, 5.0, [3.0, 5.0, 7.0]),  # there is nothing to do any more
        (3.5, 0.25, [3.0, 5.0, 7.0]),  # it wakes before the next event
        (3.5, 1.5, [3.0, 6.0, 7.0]),  # the event of 4 s begins at 5 s
        (4.25, 1.5, [3.0, 6.5, 7.5]),  # 0.25 s of work, then a pause, then 0.75 s
        (3.5, 5.0, [3.0, 9.5, 10.5]),  # both events wait until 8.5 s
    ],
)
def test_a_short_pause_moves_the_work(at_s: float, pause_s: float, out_s: list[float]) -> None:
    found, _, seen = paused(at_s, pause_s)
    assert seen == out_s
    assert (found.outages, found.missed) == ((), 0)
    assert found.busy_ps["A"] == 3 * PS


def test_a_write_goes_on_while_its_node_is_suspended() -> None:
    """The write of the first event lasts from 3 to 5 s.  A node that is awake at 4.5 s has waited
    for nothing; one that wakes at 5.5 s goes on then."""
    slow = Storage(latency_s=2.0, bandwidth_bytes_per_s=None)
    for pause_s, out_s in ((1.0, 5.0), (2.0, 5.5)):
        _, _, seen = paused(3.5, pause_s, storage=slow)
        assert seen[0] == out_s


def test_a_long_pause_is_a_crash() -> None:
    """Heartbeats time out after 2 s; the node that wakes after 3 s does nothing more."""
    long, _, seen = paused(3.5, 3.0, timeout_s=2.0)
    (outage,) = long.outages
    assert (outage.crashed_ps, outage.detected_ps) == (round(3.5 * PS), round(5.5 * PS))
    assert outage.restarted_ps == 6 * PS
    short, _, _ = paused(3.5, 1.9, timeout_s=2.0)
    assert short.outages == ()
    assert seen[0] == 3.0


def test_a_pause_within_a_pause_does_not_happen() -> None:
    plans = [
        TimedCrash(at * PS, ("A",), None, (), "pause", pause * PS) for at, pause in ((3, 4), (4, 9))
    ]
    workload = Workload("", "", ONE, word("bbb", gap=2))
    found, _, outputs = played(LEDGER, workload, Costs(**FREE), plans, Detector(timeout_s=50.0))
    assert found.missed == 1
    assert [at / PS for at, _ in outputs["sink"]][::2] == [3.0, 8.0, 9.0]


def test_a_crash_within_a_pause_ends_it() -> None:
    """The service of the event of 4 s counts until the pause, 0.25 s; the node is back at 7.5 s."""
    plans = [
        TimedCrash(round(4.25 * PS), ("A",), None, (), "pause", 6 * PS),
        TimedCrash(6 * PS, ("A",)),
    ]
    workload = Workload("", "", ONE, word("bb", gap=2))
    detector = Detector(timeout_s=50.0, connection_s=1.0, restart_s=0.5)
    found, log, _ = played(LEDGER, workload, Costs(**FREE), plans, detector)
    (outage,) = found.outages
    assert outage.restarted_ps == round(7.5 * PS)
    assert found.busy_ps["A"] == round(1.25 * PS)
    followed(LEDGER, workload, log)


def test_nodes_that_write_beside_their_work_have_no_pause() -> None:
    beside = Storage(latency_s=0.0, blocking=False)
    with pytest.raises(Invalid, match=r"give costs\.storage\.blocking = true"):
        paused(3.5, 1.0, storage=beside)


# --- mutants ---------------------------------------------------------------------------------
def misfits(rows: Sequence[tuple[float, float, list[float]]]) -> list[float]:
    return [at for at, pause, out in rows if paused(at, pause)[2] != out]


def test_a_pause_that_stops_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(3.5, 1.5, [3.0, 6.0, 7.0]), (4.25, 1.5, [3.0, 6.5, 7.5])]
    assert misfits(rows) == []
    monkeypatch.setattr(Suspensions, "suspend", lambda *_: None)
    assert misfits(rows) == [3.5, 4.25]


def test_a_first_restart_that_succeeds_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measured outage of a spare process is 2.5 s: 1.1 + 1 + 0.4; one restart would take
    0.05 + 1 + 0.4."""
    assert FLINK.outage(0).back == round(2.5 * PS)
    monkeypatch.setattr(Detector, "_silent_ps", lambda _, at: at)
    assert FLINK.outage(0).back != round(2.5 * PS)


def test_the_scenario_has_the_keys(tmp_path: Path) -> None:
    path = tmp_path / "kinds.toml"
    text = Path("docs/scenarios/quickstart.toml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    sets = (
        "detector.connection_s=0.05",
        "detector.timeout_s=1.1",
        "detector.session_s=4",
        "detector.delay_s=1",
        'failures=[{nodes=["match"], at_s=1.0, kind="pause", pause_s=0.5}]',
    )
    scenario = read(path, overrides(sets))
    assert scenario.planned[0].pause_ps == PS // 2
    assert scenario.detector.outage(0, "host").detected == round(1.1 * PS)
