"""What protection and failures cost, compared with arithmetic on the scenario's own prices.

Events come a hundredth of a second apart, and each is a match of its own.  So the work, the bytes
and the events of a run follow from the prices by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from asif.cli import main
from model.errors import Invalid
from model.results.simulation import Simulation
from reports import commands
from reports.results.simulations import values
from sim.scenarios.longer import simulate_until_caught_up
from sim.scenarios.overrides import overrides
from sim.scenarios.run import run, simulate
from sim.scenarios.scenario import draft, read
from sim.sweeps.grid import SweepRun
from sim.sweeps.results import simulate_run
from sim.timed.metrics import PHASES
from sim.timed.observation import RunObservation
from tests.known import known

GAP_S = 0.01
SCENARIO = """\
protocol = "upstream-backup"
unit_s = 0.01
[stream]
events = 1_000
rate_per_s = 100.0
arrivals = "constant"
types = { a = 1.0 }
[[operators]]
name = "match"
pattern = "a"
windows = "count"
window = 1
slide = 1
[costs.service]
event_s = 1e-3
control_s = 0.0
item_s = 0.0
savepoint_s = 0.0
[costs.sizes]
event_bytes = 100
control_bytes = 40
item_bytes = 0
[costs.link]
delay_s = 0.0
[detector]
keep_alive_s = 0.1
misses = 3
restart_s = 0.5
"""
CRASH = """\
[[failures]]
nodes = ["match"]
at_s = 1.005
"""
AWAY_S = 1.3 - 1.005 + 0.5
"""Detected when the third keep-alive is missing (those of 1.1, 1.2 and 1.3 s), and restarted."""
IN_VAIN = 79
"""The events from 1.01 to 1.79 s; with that of 1.8 s the operator restarts."""


def written(folder: Path, *changes: str, crash: str = CRASH) -> Path:
    path = folder / "by-hand.toml"
    path.write_text(SCENARIO + crash)
    return path


def ran(folder: Path, *changes: str, crash: str = CRASH) -> Simulation:
    """The result; changes: KEY=VALUE."""
    return simulate(read(written(folder, crash=crash), overrides(changes)))


def said(result: Simulation) -> str:
    return "\n".join(line for line in commands.simulation(result) if isinstance(line, str))


def share_of(result: Simulation, name: str) -> float:
    (row,) = (row for row in result.load if row.name == name)
    assert row.headroom == pytest.approx(1 - row.busy_share)
    return float(row.busy_share)


# --- load ------------------------------------------------------------------------------------
@pytest.mark.parametrize("event_s", [1e-3, 8.8e-3, 12.5e-3])
def test_the_busy_share_is_work_by_time(tmp_path: Path, event_s: float) -> None:
    result = ran(tmp_path, f"costs.service.event_s={event_s}")
    assert share_of(result, "match") == pytest.approx(event_s / GAP_S, rel=0.003)
    assert ("OVERLOAD: the node match cannot keep up" in said(result)) == (event_s > GAP_S)


@pytest.mark.parametrize("event_s", [2e-3, 12.5e-3])
def test_a_query_that_fetches_its_input_cannot_hide_that_it_is_slow(
    tmp_path: Path, event_s: float
) -> None:
    """In micro-batches a slow query fetches fewer batches, each with more events."""
    clock = "costs.timers={trigger={every_s=0.1}}"
    slow = (clock, f"costs.service.event_s={event_s}", "costs.storage.latency_s=1e-9")
    result = ran(tmp_path, "protocol=micro-batch", *slow, crash="")
    assert share_of(result, "match") == pytest.approx(event_s / GAP_S, rel=0.01)
    assert ("OVERLOAD: the node match cannot keep up" in said(result)) == (event_s > GAP_S)


def test_a_link_that_cannot_keep_up_is_named(tmp_path: Path) -> None:
    result = ran(tmp_path, "costs.link.bandwidth_bytes_per_s=8000.0")
    assert share_of(result, "source -> match") == pytest.approx(100 / 8000 / GAP_S, rel=0.003)
    assert "OVERLOAD: the link source -> match cannot keep up: it is asked for 125%" in said(result)


def test_at_88_percent_the_recovery_takes_what_arithmetic_says(tmp_path: Path) -> None:
    """backlog / (capacity - arrival): outage / (1 - share) in all, 0.795 s / 0.12."""
    slow = "costs.service.event_s=8.8e-3"
    whole = ran(tmp_path, slow)
    (failure,) = whole.failures
    assert not failure.cut_off
    assert failure.recovery_s == pytest.approx(AWAY_S / (1 - 0.88), rel=0.03)
    assert failure.expected_catch_up_s == pytest.approx(AWAY_S * 0.88 / 0.12, rel=0.06)
    after = known(failure.replay_s) + known(failure.catch_up_s)
    assert failure.expected_catch_up_s == pytest.approx(after, rel=0.03)
    assert "CUT OFF" not in said(whole)

    short = ran(tmp_path, slow, "stream.events=300")
    (failure,) = short.failures
    assert failure.cut_off
    assert known(failure.recovery_s) < 3 < AWAY_S / (1 - 0.88)
    assert short.metrics.recoveries_cut_off == 1
    assert short.without_failures.recoveries_cut_off == 0
    assert "CUT OFF: the input ends before match had caught up" in said(short)
    shown = {name: values(short, name)[0].startswith("≥ ") for name in PHASES}
    assert [name for name in PHASES if shown[name]] == ["catch_up_s"]


@pytest.mark.slow
def test_a_crash_that_did_not_happen_is_said(tmp_path: Path) -> None:
    """The node of the second crash is down already; a crash a year does not come in 10 s."""
    again = CRASH + CRASH.replace("at_s = 1.005", "at_s = 1.2")
    found = ran(tmp_path, crash=again)
    assert found.failures_asked == 2
    assert "Crashes that did not happen: 1;" in said(found)
    rare = ran(tmp_path, crash=CRASH.replace("at_s = 1.005", "mean_between_s = 3e7"))
    assert "No crash came in this run" in said(rare)
    assert "did not happen" not in said(ran(tmp_path))
    assert "No crash" not in said(ran(tmp_path, crash=""))


def test_a_node_that_crashes_again_is_not_cut_off_twice(tmp_path: Path) -> None:
    again = CRASH + "again_after_s = 0.0\n"
    result = ran(tmp_path, "costs.service.event_s=8.8e-3", "stream.events=300", crash=again)
    assert [one.cut_off for one in result.failures] == [False, True]


def test_overload_has_no_catch_up(tmp_path: Path) -> None:
    result = ran(tmp_path, "costs.service.event_s=12.5e-3")
    (failure,) = result.failures
    assert failure.cut_off
    assert failure.expected_catch_up_s is None


def test_a_longer_stream_ends_what_was_cut_off(tmp_path: Path) -> None:
    changes = overrides(["costs.service.event_s=8.8e-3", "stream.events=300"])
    result = simulate_until_caught_up(draft(written(tmp_path)).override(changes))
    assert result.metrics.events == 1_200  # 6.6 s of recovery from 1 s on: 300, 600, 1,200
    assert not result.failures[0].cut_off


def test_a_longer_stream_is_refused_where_it_is_of_no_use(tmp_path: Path) -> None:
    changes = overrides(["costs.service.event_s=12.5e-3"])
    with pytest.raises(Invalid, match="match never catches up: it is asked for 125% of its time"):
        simulate_until_caught_up(draft(written(tmp_path)).override(changes))
    with pytest.raises(Invalid, match="ends where it ends"):
        simulate_until_caught_up(draft("docs/scenarios/flights.toml"))


@pytest.mark.parametrize(
    ("options", "code"), [([], 1), (["--allow-cut-off"], 0), (["--until-caught-up"], 0)]
)
def test_a_recovery_that_is_cut_off_exits_with_1(
    options: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = ["--set", "costs.service.event_s=8.8e-3", "--set", "stream.events=300"]
    monkeypatch.setattr(
        sys, "argv", ["asif", "simulate", str(written(tmp_path)), *changes, *options]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code


def test_a_row_of_a_sweep_says_that_a_recovery_was_cut_off_and_what_was_busy(
    tmp_path: Path,
) -> None:
    base = draft(written(tmp_path))
    for events, cut_off in ((300, True), (1_000, False)):
        changes = overrides(["costs.service.event_s=8.8e-3", f"stream.events={events}"])
        row = simulate_run(base, SweepRun(str(events), tuple(changes)))
        assert (row["error"], row["cut_off"]) == (None, cut_off)
        assert row["busiest_node_share"] == pytest.approx(0.88, rel=0.01)
        assert 0 < row["busiest_link_share"] < 0.01


# --- protection ------------------------------------------------------------------------------
def test_savepoints_of_20_ms_are_overhead(tmp_path: Path) -> None:
    """Each event asks for 20 ms / 11.5 of work, and for a savepoint: 92 % is for protection.

    A second apart, so that nothing waits."""
    result = ran(
        tmp_path,
        f"costs.service.event_s={20e-3 / 11.5}",
        "costs.service.savepoint_s=20e-3",
        "unit_s=1.0",
        "stream.rate_per_s=1.0",
        "stream.events=100",
        crash="",
    )
    overhead = result.overhead
    assert result.metrics.savepoints == 100
    assert overhead.protection_busy == pytest.approx(11.5)
    assert overhead.protection_busy_part == pytest.approx(0.92)
    assert "1150.0% more processing than without any (92.0% of all processing)" in said(result)
    assert "savepoints (" not in said(result)


def test_what_costs_nothing_is_said_to_be_free(tmp_path: Path) -> None:
    result = ran(tmp_path, crash="")
    assert [one.key for one in result.free_steps] == [
        "costs.service.savepoint_s",
        "costs.service.control_s",
        "costs.link.delay_s",
        "costs.sink.latency_s",
        "",
    ]
    last = "writes of sinks (costs.sink.latency_s = 0), the work of sources"
    assert any(
        line.startswith("Free here: ") and line.endswith(last) for line in said(result).splitlines()
    )
    assert "Free here: savepoints (costs.service.savepoint_s = 0)" in said(result)


def test_the_bytes_of_protection_are_acknowledgements_and_keep_alives(tmp_path: Path) -> None:
    """Two hops of 100 bytes an event; back come two acknowledgements of 40 bytes, and one node
    sends a keep-alive of 40 bytes every 0.1 s for 9.99 s and the service of the last event."""
    result = ran(tmp_path, crash="")
    assert result.unprotected.link_bytes == 2 * 100 * 1_000
    assert result.metrics.link_bytes == 2 * 140 * 1_000
    assert result.metrics.keep_alive_bytes == 99 * 40
    extra = 2 * 40 * 1_000 + 99 * 40
    assert result.overhead.protection_link_bytes == pytest.approx(extra / 200_000)
    assert result.overhead.protection_busy == pytest.approx(0)


def test_writes_that_block_are_protection(tmp_path: Path) -> None:
    """Micro-batches: each blocking write of 1,000 bytes takes 50 ms, whatever is in it."""
    result = ran(
        tmp_path,
        "protocol=micro-batch",
        "costs.storage.latency_s=0.05",
        "costs.storage.bandwidth_bytes_per_s=1e300",
        crash="",
    )
    free, bare = result.without_failures, result.unprotected
    assert free.saving_s == pytest.approx(0.05 * free.saves)
    assert free.busy_s - bare.busy_s >= free.saving_s
    assert result.overhead.protection_busy == pytest.approx(free.busy_s / bare.busy_s - 1)


def test_a_note_may_have_a_price(tmp_path: Path) -> None:
    """5 ms for each operator that is restored; there is one."""
    priced = ran(tmp_path, 'costs.notes={"operators restored"=5e-3}')
    free = ran(tmp_path)
    assert priced.metrics.busy_s - free.metrics.busy_s == pytest.approx(5e-3)
    with pytest.raises(Invalid, match="notes: no quantity 'savepoint sent'; did you mean"):
        ran(tmp_path, 'costs.notes={"savepoint sent"=5e-3}')


# --- events and bytes of failures ------------------------------------------------------------
def test_events_are_counted_by_the_driver(tmp_path: Path) -> None:
    """While the operator is away, the source sends IN_VAIN events, which are delivered for the
    first time when they are replayed.  Two events come again to the operator: the one before, with
    which the newest savepoint begins, and the one that came when it was not yet restored."""
    result = ran(tmp_path)
    found = result.metrics
    assert found.events_first == 2 * 1_000
    assert found.events_in_vain == IN_VAIN
    assert found.events_again == 2
    sent = sum(row.bytes for kind, row in found.traffic.items() if kind == "event") / 100
    assert sent == found.events_first + found.events_again + found.events_in_vain


def test_nothing_comes_again_under_amnesia(tmp_path: Path) -> None:
    result = ran(tmp_path, "protocol=amnesia")
    found = result.metrics
    assert found.events_in_vain == IN_VAIN
    assert found.events_again == 0
    assert found.events_first == 2 * (1_000 - found.events_in_vain)
    # What is lost is neither processed, 1 ms each, nor handed on, 100 bytes each.
    assert "each crash: 7.9 kB less and 79 ms less of processing" in said(result)


def test_an_event_that_waits_at_a_node_that_crashes_came_in_vain(tmp_path: Path) -> None:
    """At 125 % of its time the operator has done 80 of the first 101 events when it crashes."""
    found = ran(tmp_path, "protocol=amnesia", "costs.service.event_s=12.5e-3").metrics
    assert found.events_in_vain == pytest.approx(IN_VAIN + 101 - 80, abs=2)


def test_a_batch_under_way_came_in_vain(tmp_path: Path) -> None:
    """The batch of 1 s has 100 events and 50 rows.  It takes 100 ms, and the crash comes after 5.
    The query asks for the batch again; nothing is sent to a node that is down."""
    clock = "costs.timers={trigger={every_s=1.0}}"
    pairs = [f"operators.match.{key}" for key in ("pattern=a, a", "window=2", "slide=2")]
    found = ran(tmp_path, "protocol=micro-batch", clock, *pairs).metrics
    assert found.events_in_vain == pytest.approx(100, abs=1)
    assert found.events_again == 0


def test_the_batch_that_runs_again_is_the_replay(tmp_path: Path) -> None:
    """The query has its state from its checkpoint when the batch is there, 100 events of 100 bytes
    later; then come 100 ms of work, and a write of 1 ms."""
    clock = "costs.timers={trigger={every_s=1.0}}"
    (failure,) = ran(tmp_path, "protocol=micro-batch", clock).failures
    assert failure.redirection_s == pytest.approx(100 * 100 / 125e6, rel=0.02)
    assert failure.replay_s == pytest.approx(100 * 1e-3 + 1e-3, rel=0.02)
    assert failure.catch_up_s == 0


def test_the_bytes_of_a_failure_do_not_depend_on_the_length_of_the_run(tmp_path: Path) -> None:
    """IN_VAIN events of 100 bytes are sent twice, in vain and again; and a few messages."""
    each = [
        ran(tmp_path, f"stream.events={events}").overhead.failures_extra_bytes_each
        for events in (500, 1_000, 2_000)
    ]
    assert len({*each}) == 1
    assert each[0] == pytest.approx(IN_VAIN * 100, abs=400)


# --- memory ----------------------------------------------------------------------------------
def test_memory_at_its_peak_is_what_the_source_keeps(tmp_path: Path) -> None:
    """The event before the crash, those in vain, that of the restart, and those that come while the
    operator replays these, a millisecond each: acknowledgements wait in its queue until then."""
    result = ran(tmp_path)
    held = result.metrics.node_memory_bytes["source"]
    kept = IN_VAIN + 2
    meanwhile = kept * 1e-3 // GAP_S
    assert held.peak == (kept + meanwhile) * 100
    assert held.peak <= result.metrics.peak_memory_bytes
    assert result.without_failures.node_memory_bytes["source"].peak <= 200
    # At other times the newest event; then a triangle of `kept` events, and a plateau.
    area = kept * 100 * AWAY_S / 2 + held.peak * kept * 1e-3
    mean = 100 + area / result.metrics.ended_s
    assert held.mean == pytest.approx(mean, rel=0.03)


def test_open_windows_are_items_and_the_events_in_them_events(tmp_path: Path) -> None:
    """Ten windows open at once, one for each of the last ten events; each has its one event."""
    changes = ("operators.match.window=10", "operators.match.pattern=a, a, a, a, a, a, a, a, a, a")
    result = ran(tmp_path, *changes, "protocol=amnesia", "costs.sizes.item_bytes=16", crash="")
    # 9 windows after an event, with 9, 8, ..., 1 events.
    peak = result.metrics.node_memory_bytes["match"].peak
    assert peak == 9 * 16 + sum(range(1, 10)) * 100


def test_what_waits_to_be_processed_is_not_in_the_state_yet(tmp_path: Path) -> None:
    """A window of all 1,000 events, processed when it is full.  The operator takes an event
    every 12.5 ms, though one comes every 10 ms: the window grows to 1,000 events over 12.5 s."""
    changes = ("operators.match.window=1000", "operators.match.slide=1000")
    slow = ("costs.service.event_s=12.5e-3", "operators.match.parallel=false")
    result = ran(tmp_path, *changes, *slow, crash="")
    held = result.metrics.node_memory_bytes["match"]
    assert held.mean == pytest.approx(1_000 * 100 / 2, rel=0.01)


def test_memory_at_its_peak_is_no_less_than_the_backup(tmp_path: Path) -> None:
    """Also between two points of the series, which are 13 ms apart here."""
    found = simulate(read("docs/scenarios/quickstart.toml")).metrics
    assert found.peak_memory_bytes >= found.peak_backup_events * 100


@pytest.mark.parametrize("scenario", ["abs", "log-io", "notices"])
def test_memory_that_is_read_at_every_look_is_the_same(
    scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver reads it again only if the state of the node is another one."""
    given = read(f"docs/scenarios/{scenario}.toml")
    expected = run(given, given.planned).result
    weigh = RunObservation._weigh

    def forget_and_weigh(self: RunObservation, now: int) -> tuple[int, ...]:
        self.weighed = dict.fromkeys(self.nodes, (object(), 0))
        return weigh(self, now)

    monkeypatch.setattr(RunObservation, "_weigh", forget_and_weigh)
    result = run(given, given.planned).result
    assert any(result.memory_peaks.values())
    assert result.points == expected.points
    assert result.memory_peaks == expected.memory_peaks
    assert result.memory_peak == expected.memory_peak
