"""Traces: what the trace-event format asks for, and what happened in the run."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pytest

from model.errors import Invalid
from model.results.simulation import Simulation
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.trace import chrome


@lru_cache
def ran() -> Simulation:
    return simulate(read("docs/scenarios/everything.toml"), traced=True)


@lru_cache
def events() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(chrome(ran()))["traceEvents"]
    return found


def of(phase: str) -> list[dict[str, Any]]:
    return [event for event in events() if event["ph"] == phase]


@pytest.mark.slow
def test_every_event_has_what_its_phase_asks_for() -> None:
    """Trace Event Format: "X" has ts and dur, "i" a scope, "C" numbers, "M" a known name."""
    assert {event["ph"] for event in events()} == {"X", "i", "C", "M"}
    for event in events():
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert event["name"]
        if event["ph"] != "M":
            assert event["ts"] >= 0
    assert all(event["dur"] >= 0 for event in of("X"))
    assert all(event["s"] in ("g", "p", "t") for event in of("i"))
    assert all(isinstance(n, (int, float)) for event in of("C") for n in event["args"].values())
    names = {"process_name", "thread_name", "thread_sort_index"}
    assert {event["name"] for event in of("M")} == names


def test_metadata_comes_first_and_the_rest_in_the_order_of_time() -> None:
    count = len(of("M"))
    assert all(event["ph"] == "M" for event in events()[:count])
    times = [event["ts"] for event in events()[count:]]
    assert times == sorted(times)


def test_every_thread_is_a_node_and_named() -> None:
    named = {e["tid"]: e["args"]["name"] for e in of("M") if e["name"] == "thread_name"}
    assert sorted(named.values()) == ["both", "left", "right", "sink", "source"]
    assert {event["tid"] for event in (*of("X"), *of("i"))} == set(named)


def test_steps_of_a_thread_do_not_overlap() -> None:
    for tid in {event["tid"] for event in of("X")}:
        steps = [event for event in of("X") if event["tid"] == tid]
        for before, after in pairwise(steps):
            assert before["ts"] + before["dur"] <= after["ts"] + 1e-6  # the last picosecond


def test_steps_add_up_to_the_time_that_nodes_are_busy() -> None:
    """But for what a crash cut short."""
    busy = sum(event["dur"] for event in of("X")) / 1e6
    assert busy == pytest.approx(ran().metrics.busy_s, rel=0.01)


def test_failures_are_told() -> None:
    told = [event["name"] for event in of("i")]
    crashes = ran().metrics.crashes
    assert told.count("crashed") == told.count("detected") == told.count("restarted") == crashes
    caught_up = sum(failure.caught_up_s is not None for failure in ran().failures)
    assert 0 < told.count("caught up") == caught_up < crashes


def test_counters_are_the_series() -> None:
    backup = [event["args"]["events"] for event in of("C") if event["name"] == "backup"]
    assert tuple(backup) == ran().series.backup_events
    assert max(backup) == ran().metrics.peak_backup_events
    names = {event["name"] for event in of("C")}
    assert names == {"backup", "queue of both", "queue of left", "queue of right"}


@pytest.mark.slow
def test_same_seed_same_bytes() -> None:
    again = simulate(read("docs/scenarios/everything.toml"), traced=True)
    assert chrome(again) == chrome(ran())


def test_a_run_that_was_not_traced() -> None:
    with pytest.raises(Invalid, match="traced=True"):
        chrome(replace(ran(), steps=None))
