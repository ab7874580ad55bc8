"""Every protocol on whole streams: untimed and timed, with and without crashes, replayed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from asif.duties.runs import scenario
from asif.duties.sample import RESTART_AFTER, deployed
from model.actions import Action
from model.choices import quiescent
from model.oracle import by_edge
from model.protocol import Failures
from model.results.plain import plain
from model.results.simulation import Simulation
from model.world import DOWN, World
from reports import commands
from sim.comparison import compare
from sim.scenarios.run import run as timed
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.record import LogEntry
from sim.timed.trace import chrome
from sim.untimed.driver import UntimedRun
from sim.untimed.run import run
from tests.conformance.subjects import EVERY, NAMES, PROTOCOLS, QUICK, SAMPLES, expected, followed

ROOM = """[costs]
room = 2
work.match = { event_s = 8e-3 }
"""
STATES = """[costs.state.match]
bytes = 200_000
window_bytes = 10_000
incremental = true
[costs.storage]
bandwidth_bytes_per_s = 20e6
read_s = 7e-3
"""


def scenario_file(name: str, folder: Path, more: str = "") -> Path:
    path = folder / "small.toml"
    path.write_text(scenario(SAMPLES[name], more))
    return path


def bare(world: World) -> tuple[tuple[Any, ...], ...]:
    """The outputs of each sink without their lineage, which long runs leave out."""
    return tuple(tuple(output[:2] for output in outputs) for outputs in world.outputs)


# --- untimed ---------------------------------------------------------------------------------
@EVERY
def test_an_untimed_run_is_one_that_the_world_allows(name: str) -> None:
    """Its actions are enabled one after the other, and lead to the same states."""
    protocol, whole = PROTOCOLS[name], SAMPLES[name].workload
    ((source, events),) = whole.events.items()
    for plans in ((), *SAMPLES[name].schedules):
        system = deployed(protocol, whole, len(plans))
        actions: list[Action] = []
        driver = UntimedRun(system, whole.events, plans, RESTART_AFTER, actions.append)
        for number, arrival in enumerate(events, 1):
            driver.hand(number, source, arrival)
        driver.finish()
        world = followed(system, actions)
        assert quiescent(system, world)
        assert len(driver.outages) == len(plans)
        assert [node.state for node in world.nodes] == [*driver.states.values()]
        assert [node.durable for node in world.nodes] == [*driver.disks.values.values()]
        assert bare(world) == tuple(map(tuple, driver.passed_on.values()))
        if SAMPLES[name].is_precise:
            assert driver.outputs() == expected(whole)


@EVERY
def test_an_untimed_result_is_json_and_is_printed(name: str) -> None:
    for plans in SAMPLES[name].schedules[:1]:
        found = compare(
            PROTOCOLS[name], None, SAMPLES[name].workload, plans, restart_after=RESTART_AFTER
        )
        assert json.loads(json.dumps(plain(found))) == plain(found)
        assert found.protocol == name
        assert "the same" in [*commands.run(found)] or not SAMPLES[name].is_precise


# --- timed -----------------------------------------------------------------------------------
@cache
def simulated(name: str) -> Simulation:
    with TemporaryDirectory() as folder:
        return simulate(read(scenario_file(name, Path(folder))), traced=True)


@EVERY
def test_a_timed_run_is_consistent_and_json(name: str) -> None:
    found = simulated(name)
    assert json.loads(json.dumps(plain(found), allow_nan=False)) == plain(found)
    metrics = found.metrics
    assert metrics.events == 40
    assert sum(row.bytes for row in metrics.traffic.values()) == metrics.link_bytes
    assert json.loads(chrome(found))["traceEvents"]
    assert [*commands.simulation(found)]
    assert found.without_failures.crashes == 0
    if PROTOCOLS[name].promise.assumes.failures is not Failures.NONE:
        assert metrics.crashes == len(found.failures) == 1


@EVERY
def test_a_timed_run_is_one_that_the_world_allows(name: str, tmp_path: Path) -> None:
    check_timed_run(name, "", tmp_path)


@pytest.mark.parametrize("name", [name for name in NAMES if ":" not in name])
def test_a_timed_run_with_room_is_one_that_the_world_allows(name: str, tmp_path: Path) -> None:
    """The operator is slower than the source, which has to wait."""
    check_timed_run(name, ROOM, tmp_path)


@pytest.mark.parametrize("name", [name for name in NAMES if ":" not in name])
@pytest.mark.parametrize("room", ["", "[costs]\nroom = 1_000_000"])
def test_a_timed_run_with_large_states_is_one_that_the_world_allows(
    name: str, room: str, tmp_path: Path
) -> None:
    """States are written, sent and read while events come."""
    check_timed_run(name, f"{room}\n{STATES}", tmp_path)


def check_timed_run(name: str, more: str, tmp_path: Path) -> None:
    asked = read(scenario_file(name, tmp_path, more))
    log: list[LogEntry] = []
    ran = timed(asked, asked.planned, log=log)
    system = deployed(asked.protocol, asked.workload, len(asked.planned))
    world = followed(system, [entry.action for entry in sorted(log)])
    assert quiescent(system, world)
    assert [node.state for node in world.nodes] == [*ran.result.states.values()]
    assert [node.durable for node in world.nodes] == [*ran.result.durable.values()]
    down = {node for node, state in ran.result.states.items() if state is DOWN}
    assert down.isdisjoint(system.returning)
    for passed, outputs in zip(ran.emissions.values(), bare(world), strict=True):
        assert tuple(output for _, output in passed) == outputs
    if SAMPLES[name].is_precise:
        edges = tuple(
            by_edge(outputs, len(system.sites[sink].preds))
            for sink, outputs in zip(system.sink_at, world.outputs, strict=True)
        )
        assert edges == expected(asked.workload)


# --- the same twice --------------------------------------------------------------------------
def told() -> str:
    """What the runs of these protocols come to, as JSON without how long they took."""
    rows: dict[str, Any] = {}
    for name in QUICK:
        plans = [plan for one in SAMPLES[name].schedules[:1] for plan in one]
        untimed = run(PROTOCOLS[name], SAMPLES[name].workload, plans, restart_after=RESTART_AFTER)
        rows[name] = [
            repr((untimed.outputs, untimed.notes, untimed.series, untimed.outages)),
            plain(simulated(name)),
        ]
    return json.dumps(rows)


@pytest.mark.exhaustive  # `.ci/run` asks whether families are pure, in another process
def test_runs_are_the_same_in_two_processes() -> None:
    other = subprocess.run(
        [sys.executable, "-c", "from tests.conformance.test_runs import told; print(told())"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    assert other.stdout == told() + "\n"
