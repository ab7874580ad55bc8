"""Recoveries of every family at 50, 70 and 85 % load, compared with the closed form.

A crash at 24.5 s is detected after 9.5 s: keep-alives come every 2 s, the one of 26 s is the first
of five that miss.  The restart takes 4 s more, and the last complete checkpoint is of 20 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from model.outages import Since
from model.registry import modules
from model.results.simulation import CrashCourse
from sim.closed_form import RecoveryTerms, applied
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.ages import DataStep
from sim.timed.failures import TimedOutage
from sim.timed.network import TimedNode
from sim.timed.recovery import RecoveryRecord

LOADS = (0.5, 0.7, 0.85)
PAGE = Path("docs/reference/recoveries.md").read_text(encoding="utf-8")
EVENT_S = 0.1
RESTART_S = 4.0
SCENARIO = """\
protocol = "{name}"
unit_s = 0.001
[stream]
seconds = 240.0
rate_per_s = {rate}
arrivals = "constant"
types = {{ a = 1.0 }}
[[operators]]
name = "match"
{operator}
windows = "count"
window = 4
slide = 4
[costs]
timer_s = 5.0
{costs}
[costs.service]
event_s = {event_s}
[costs.storage]
latency_s = 0.0
[detector]
keep_alive_s = 2.0
misses = 5
restart_s = {restart_s}
[[failures]]
nodes = ["match"]
at_s = 24.5
"""
EVERY, SOON = "{ every_s = 5.0 }", "{ after_s = 0.01 }"
COSTS = {
    "abs": f"timers = {{ epoch = {EVERY} }}",
    "cec": f"timers = {{ check = {EVERY} }}",
    "crb": f"timers = {{ checkpoint = {EVERY}, store = {SOON} }}",
    "kafka-transactions": f"timers = {{ commit = {EVERY} }}",
    "log-io": "stores = { log = { transaction_s = 0.0 } }",
    "micro-batch": f"timers = {{ trigger = {EVERY} }}",
    "passive-standby": f"timers = {{ checkpoint = {EVERY} }}",
    "progressive": f"timers = {{ punctuate = {EVERY}, window = {SOON} }}",
    "two-phase-sink": f"timers = {{ checkpoint = {EVERY} }}",
    "unaligned-checkpoints": f"timers = {{ checkpoint = {EVERY}, process = {{ every_s = 0.1 }}, "
    "transmit = { every_s = 0.001 } }",
    "uncoordinated": f"timers = {{ checkpoint = {EVERY} }}",
    "upstream-backup-acks": f"timers = {{ acknowledge = {EVERY} }}",
}
"""Checkpoints at 5, 10, 15, ... s; the task of unaligned checkpoints works by a timer."""

AGE_S = 4.5
NEEDED_S = {
    "cec": (0.5, 0.5, 0.15),
    "upstream-backup": (0.7, 0.65, 0.6),
    "upstream-backup-acks": (54 / 5.0, 71 / 7.0, 88 / 8.5),
}
"""By load, the age of the oldest event that is still needed: of an open window of four, or of those
that nobody has acknowledged: 54, 71 and 88 events, which are processed again from the detection on
(measured)."""
WAIT_S = {"micro-batch": 5.0}
"""The time for which an event usually waits for the next batch: it is not late by as much."""
FAMILIES = {protocol.name: protocol for protocol in modules().values()}


def catching_up(name: str, load: float, restart_s: float = RESTART_S) -> str:
    """The text of the scenario of a family at this load."""
    by_timer = name == "unaligned-checkpoints"
    return SCENARIO.format(
        name=name,
        rate=load / EVENT_S,
        operator='pattern = "a, a"' if name == "upstream-backup" else 'aggregate = "count"',
        costs=COSTS.get(name, ""),
        event_s=0.0 if by_timer else EVENT_S,
        restart_s=restart_s,
    )


@cache
def course(name: str, load: float, restart_s: float = RESTART_S) -> CrashCourse:
    text = catching_up(name, load, restart_s)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "crash.toml"
        path.write_text(text, encoding="utf-8")
        (found,) = simulate(read(path)).failures
    return found


def terms(name: str, load: float, found: CrashCourse) -> RecoveryTerms:
    """The terms of the closed form that the family has.

    read_s: until the state is back; that of a node that takes over is back when it has replayed,
    so that this phase says nothing about a read.
    """
    outage = FAMILIES[name].behaviour.outage
    assert outage is not None
    needed = outage.again is Since.NEEDED
    age_s = NEEDED_S[name][LOADS.index(load)] if needed else AGE_S - WAIT_S.get(name, 0.0)
    read_s = (found.redirection_s or 0.0) if outage.restart else 0.0
    return applied(RecoveryTerms(9.5, RESTART_S, read_s, age_s, load), outage)


def misfits(names: tuple[str, ...], within: float) -> Iterator[tuple[str, float]]:
    """The rows whose recovery is not that of the closed form."""
    for name in names:
        for load in LOADS:
            found = course(name, load)
            if found.recovery_s != pytest.approx(terms(name, load, found).recovery_s, rel=within):
                yield name, load


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_recovery_lasts_as_long_as_the_terms_of_its_family(name: str) -> None:
    """No row differs by more than 4 %, and none is cut off."""
    assert not [*misfits((name,), within=0.04)]
    assert not any(course(name, load).cut_off for load in LOADS)
    rows = [(course(name, load), terms(name, load, course(name, load))) for load in LOADS]
    cells = [
        f"{number:.1f}" for found, row in rows for number in (found.recovery_s, row.recovery_s)
    ]
    assert f"| `{name}` | {' | '.join(cells)} |" in PAGE


def test_a_recovery_by_pencil() -> None:
    """abs at 50 %: 9.5 + 4 s away, 4.5 s to do again: 18 s of input, and 18 s more to do them."""
    found = course("abs", 0.5)
    assert found.recovery_s == pytest.approx(9.5 + 4 + (4.5 + 9.5 + 4), abs=0.001)
    assert (found.detection_s, found.restart_s) == (9.5, 4.0)
    assert found.expected_catch_up_s == pytest.approx(18, rel=0.01)
    # Those of 20.2 to 24.4 s, every 0.2 s, were processed before the crash.
    assert found.replay_s == 22 * EVENT_S
    assert found.catch_up_s == pytest.approx(18 - 22 * EVENT_S, abs=0.001)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_restart_counts_where_the_family_says_so(name: str) -> None:
    """A restart that takes a second more makes a recovery at 50 % longer by 1 s or more, and by
    nothing where another node does the job."""
    outage = FAMILIES[name].behaviour.outage
    assert outage is not None
    before, after = course(name, 0.5).recovery_s, course(name, 0.5, RESTART_S + 1).recovery_s
    assert before is not None
    assert after is not None
    if outage.restart:
        assert after >= before + 0.9
    else:
        assert after == pytest.approx(before, abs=0.001)


def test_who_processes_no_backlog_has_none() -> None:
    """Active standby goes on elsewhere; under amnesia the events of the outage are lost."""
    assert course("active-standby", 0.85).recovery_s == pytest.approx(9.5, abs=0.001)
    assert course("amnesia", 0.85).recovery_s == pytest.approx(9.5 + 4 + EVENT_S, abs=0.001)


def test_the_wait_for_a_backlog_at_the_source_counts() -> None:
    """Passive standby at 50 %: no restart; 9.5 s away and 4.5 s to do again."""
    assert course("passive-standby", 0.5).recovery_s == pytest.approx(9.5 + 9.5 + 4.5, abs=0.01)


@pytest.mark.parametrize("name", ["active-standby", "passive-standby", "upstream-backup-acks"])
def test_a_takeover_waits_for_no_restart_and_no_state(name: str) -> None:
    """The other node has the state at the detection; passive standby then does 4.5 s of events
    again, at half load in 2.25 s and an event at most."""
    found = course(name, 0.5)
    assert found.restart_s == found.redirection_s == 0
    if name == "passive-standby":
        assert found.replay_s == pytest.approx(2.25, abs=EVENT_S)


@pytest.mark.slow
def test_the_old_definition_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ended a recovery with the first event after the replay."""

    def ends_at_once(
        self: RecoveryRecord, node: TimedNode, outage: TimedOutage, step: DataStep
    ) -> None:
        del self
        if outage.server == node.name:
            outage.catch_up(step.done)

    names = ("passive-standby", "micro-batch", "upstream-backup-acks", "progressive")
    monkeypatch.setattr(RecoveryRecord, "_catch_up", ends_at_once)
    course.cache_clear()
    found = [*misfits(names, within=0.3)]
    course.cache_clear()
    assert {name for name, _ in found} == {*names}
    assert {(name, 0.85) for name in names} <= {*found}
