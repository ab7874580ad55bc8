"""Writes beside the work of a node: how long they take, and that nobody waits for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.results.simulations import overhead
from sim.scenarios.overrides import overrides
from sim.scenarios.run import ScenarioRun, run, simulate
from sim.scenarios.scenario import Scenario, read
from sim.timed.costs import PS
from sim.timed.record import LogEntry

BESIDE = """\
protocol = "crb"
unit_s = 0.25

[knobs]
mode = "copy-on-write"

[stream]
seconds = 40
rate_per_s = 1.0
arrivals = "constant"
types = { a = 1.0 }

[[operators]]
name = "agg"
aggregate = "count"
window = 4
slide = 4

[costs.timers]
checkpoint = { every_s = 10.0 }

[costs.service]
event_s = 0.25
control_s = 0.0
item_s = 0.0
savepoint_s = 0.0

[costs.sizes]
saved_bytes = 500
item_bytes = 0

[costs.storage]
latency_s = 1.0
bandwidth_bytes_per_s = 1000

[costs.link]
delay_s = 0.0
bandwidth_bytes_per_s = 1e18

[detector]
keep_alive_s = 0.5
misses = 1
restart_s = 1.25
"""
LOOPS = st.sampled_from([(), ("costs.room=1000",)])


def scenario(folder: Path, *sets: str) -> Scenario:
    (folder / "beside.toml").write_text(BESIDE)
    return read(folder / "beside.toml", overrides(sets))


def stored(asked: Scenario) -> tuple[ScenarioRun, list[float]]:
    """The run, and when its checkpoints are stored."""
    log: list[LogEntry] = []
    found = run(asked, asked.planned, log=log)
    ends = [entry.done_ps / PS for entry in log if entry.what == ("timer", "store")]
    return found, sorted(ends)


@pytest.mark.parametrize("room", [(), ("costs.room=1000",)])
def test_a_checkpoint_is_stored_when_its_two_halves_are_written(
    tmp_path: Path, room: tuple[str, ...]
) -> None:
    """A half takes 1 s and 500 / 1000 s, so that a checkpoint of 10 s is stored at 13 s; at this
    moment the event of 13 s is not there yet.  The operator does 40 events of 0.25 s, and no
    more."""
    found, ends = stored(scenario(tmp_path, *room))
    assert ends[:3] == [13.0, 23.0, 33.0]
    assert found.result.busy_ps["agg"] == 10 * PS
    assert found.result.saving_ps == found.result.saves * 3 * PS // 2
    assert (
        max(
            emission.at_ps - emission.output[1].time * PS // 4
            for emission in found.emissions["sink"]
        )
        == PS // 4
    )


def test_a_synchronous_checkpoint_stops_the_operator(tmp_path: Path) -> None:
    """The same writes: four checkpoints of 3 s, the last one after the input."""
    found = run(scenario(tmp_path, "knobs.mode=synchronous"), ())
    assert found.result.saves == 8
    assert found.result.busy_ps["agg"] == (10 + 4 * 3) * PS


def test_what_is_stored_is_protection_in_units_of_the_stream(tmp_path: Path) -> None:
    """The device takes 1 s for each write and 1 s for each 1000 bytes.  Messages on links are a
    small part of the protection; the writes are the rest."""
    result = simulate(scenario(tmp_path))
    found = result.metrics
    assert found.saved_bytes >= found.saves * 500
    assert found.saving_s == pytest.approx(found.saves + found.saved_bytes / 1000)
    stream = result.unprotected.link_event_bytes
    sent = found.link_bytes + found.keep_alive_bytes - result.unprotected.link_bytes
    share = result.overhead.protection_stream_bytes
    assert share == pytest.approx((sent + found.saved_bytes) / stream)
    assert f"{share:.3g} bytes for each byte of the stream" in overhead(result)


def test_the_check_finds_writes_that_stop_the_operator(tmp_path: Path) -> None:
    asked = scenario(tmp_path)
    wrong = replace(asked, protocol=asked.protocol.vary(background=frozenset()))
    found, ends = stored(wrong)
    assert found.result.busy_ps["agg"] > 10 * PS
    assert ends[0] > 13.0


@pytest.mark.parametrize("room", [(), ("costs.room=1000",)])
@pytest.mark.parametrize(("at_s", "replayed"), [(22.5, 13), (23.125, 3)])
def test_a_crash_loses_a_write_that_is_not_finished(
    tmp_path: Path, at_s: float, replayed: int, room: tuple[str, ...]
) -> None:
    """At 22.5 s the checkpoint of 20 s is not stored: the operator is back at 24.25 s, and receives
    again the 13 events from 10 to 22 s.  At 23.125 s it is stored: those from 20 to 22 s, and that
    of 23 s, which was not processed."""
    asked = scenario(tmp_path, *room, f'failures=[{{nodes=["agg"], at_s={at_s}}}]')
    result = simulate(asked)
    assert result.same
    assert result.metrics.events_again == replayed


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([0.3, 2.0]), st.sampled_from([3.0, 7.0]), st.integers(1, 39), LOOPS)
def test_writes_beside_the_work_change_no_output_and_no_work(
    tmp_path: Path, latency: float, every: float, at_s: int, room: tuple[str, ...]
) -> None:
    """The operator works as long as with a disk that takes no time; a crash changes no output."""
    sets = [f"costs.timers.checkpoint.every_s={every}", *room]
    slow = run(scenario(tmp_path, *sets, f"costs.storage.latency_s={latency}"), ())
    quick = run(scenario(tmp_path, *sets, "costs.storage.latency_s=0"), ())
    assert slow.result.busy_ps["agg"] == quick.result.busy_ps["agg"]
    failing = f'failures=[{{nodes=["agg"], at_s={at_s}}}]'
    assert simulate(scenario(tmp_path, *sets, failing)).same
