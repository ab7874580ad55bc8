"""The size of operators' states: written, sent, read back and held, in every family."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model.costs import NO_STATES
from model.registry import protocols
from sim.scenarios.overrides import overrides
from sim.scenarios.run import ScenarioRun, run
from sim.scenarios.scenario import Scenario, read
from sim.timed.costs import PS

FAMILIES = sorted(name for name in protocols() if ":" not in name)
MB = 1_000_000
STATE = """\
protocol = "{name}"
[stream]
seconds = 40
rate_per_s = 10.0
arrivals = "constant"
types = {{ a = 1.0, b = 1.0 }}
[[operators]]
name = "match"
pattern = "a, b"
window = 2_000
slide = 1_000
[costs]
timer_s = 1.0
[costs.service]
event_s = 0.0
control_s = 0.0
item_s = 0.0
savepoint_s = 0.0
[costs.link]
delay_s = 0.0
bandwidth_bytes_per_s = 1e18
[costs.storage]
latency_s = 0.0
bandwidth_bytes_per_s = 20e6
[costs.sizes]
event_bytes = 0
control_bytes = 0
item_bytes = 0
saved_bytes = 0
[detector]
keep_alive_s = 0.1
misses = 1
restart_s = 1.0
"""
CRASH = """
[[failures]]
nodes = ["match"]
at_s = 30.05
"""
BYTES = ("costs.state.match.bytes=200_000_000", "costs.state.match.incremental=true")
"""200 MB that the first checkpoint has alone, and every restart reads."""


def made(name: str, folder: Path, *changes: str, crash: str = CRASH) -> Scenario:
    path = folder / "state.toml"
    path.write_text(STATE.format(name=name) + crash)
    return read(path, overrides(changes))


def played(name: str, folder: Path, *changes: str, crash: str = CRASH) -> ScenarioRun:
    scenario = made(name, folder, *changes, crash=crash)
    return run(scenario, scenario.planned)


def restored_ps(ran: ScenarioRun) -> int:
    (outage,) = ran.result.outages[:1]
    assert outage.restored_ps is not None
    return outage.restored_ps


# --- written, sent, read back ------------------------------------------------------------------
READ_S = {
    "abs": 10,
    "active-standby": 0,  # the other replica has the state
    "amnesia": 0,  # nobody has it
    "cec": 10,
    "crb": 10,
    "kafka-transactions": 10,
    "log-io": 10,
    "micro-batch": 10,
    "passive-standby": 0,  # the secondary has a copy in memory
    "progressive": 10,
    "two-phase-sink": 10,
    "unaligned-checkpoints": 10,
    "uncoordinated": 10,
    "upstream-backup": 0,  # the state is made again from events
    "upstream-backup-acks": 0,  # likewise
}
"""By family: the seconds in which 200 MB are read at 20 MB/s before a restarted operator goes on."""


def test_each_family_has_its_row() -> None:
    assert sorted(READ_S) == FAMILIES


@pytest.mark.parametrize("room", ["", "costs.room=1_000_000"])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_restart_waits_for_the_read(name: str, room: str, tmp_path: Path) -> None:
    """200 MB at 20 MB/s are 10 s, in both loops."""
    rest = [room] if room else []
    without, with_ = (played(name, tmp_path, *changes, *rest) for changes in ((), BYTES))
    assert restored_ps(with_) - restored_ps(without) == READ_S[name] * PS


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_that_hides_its_states_is_found(name: str, tmp_path: Path) -> None:
    """The test above fails for a family that does not say where its states are."""
    scenario = made(name, tmp_path, *BYTES)
    hidden = replace(scenario, protocol=scenario.protocol.vary(states=lambda _value: NO_STATES))
    late = restored_ps(run(scenario, scenario.planned)) - restored_ps(run(hidden, hidden.planned))
    assert late == READ_S[name] * PS


@pytest.mark.parametrize("name", [name for name in FAMILIES if READ_S[name]])
def test_a_state_is_written_at_the_bandwidth(name: str, tmp_path: Path) -> None:
    """The first checkpoint takes 10 s at 20 MB/s; those that follow have no changed part."""
    ran = played(name, tmp_path, *BYTES, crash="")
    assert ran.result.saving_ps == 10 * PS


@pytest.mark.parametrize("name", FAMILIES)
def test_the_memory_of_each_replica_holds_the_state(name: str, tmp_path: Path) -> None:
    """A process pair has the state twice if both replicas have it at all."""
    ran = played(name, tmp_path, *BYTES, crash="")
    peaks = {node for node, peak in ran.result.memory_peaks.items() if peak}
    pair = {"match", "match'"} if name in ("active-standby", "passive-standby") else {"match"}
    assert peaks == pair
    assert {ran.result.memory_peaks[node] for node in peaks} == {200 * MB}
