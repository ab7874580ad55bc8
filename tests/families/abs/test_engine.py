"""Snapshots beside the work, the minimum pause and sources that seek, compared with a pencil.

Rule of this file: every expected number stands beside its arithmetic.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from model.boxes.stateless import Union
from model.core import Arrival
from model.graph import SINK, SOURCE, Graph
from model.knobs import turn
from model.protocols.abs.protocol import PROTOCOL
from model.results.simulation import Checkpoints, Simulation
from sim.closed_form import RecoveryTerms
from sim.inputs.streams import Workload
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.costs import Costs, StoreCosts, Timer
from tests.known import known
from tests.sim.test_timed import played

UPLOAD_S = 4.0
SCENARIO = f"""
protocol = "abs"
[knobs]
snapshots = "asynchronous"
sources = "seeking"
writes = "idempotent"
[stream]
seconds = 90
rate_per_s = 20.0
arrivals = "constant"
types = {{ event = 1.0 }}
[[operators]]
name = "count"
selectivity = 1.0
[costs.service]
event_s = 0.025
control_s = 0.0
item_s = 0.0
[costs.link]
delay_s = 0.0
[costs.stores.coordinator]
transaction_s = {UPLOAD_S}
[costs.timers]
epoch = {{ every_s = 10.0, phase_s = 10.0 }}
[detector]
keep_alive_s = 0.1
misses = 1
restart_s = 3.0
whole_pipeline = true
"""


def simulated(folder: Path, *changes: str, crash_s: float | None = None) -> Simulation:
    path = folder / "engine.toml"
    failure = "" if crash_s is None else f'[[failures]]\nnodes = ["count"]\nat_s = {crash_s}\n'
    path.write_text(SCENARIO + failure, encoding="utf-8")
    ran = simulate(read(path, overrides(changes)))
    assert ran.same
    return ran


def checkpoints(ran: Simulation) -> Checkpoints:
    assert ran.checkpoints is not None
    return ran.checkpoints


# --- snapshots beside the work ---------------------------------------------------------------
def test_an_asynchronous_snapshot_holds_no_event_up(tmp_path: Path) -> None:
    """An event takes 25 ms; it waits 4 s only if the operator waits for its snapshot."""
    beside = simulated(tmp_path)
    assert beside.metrics.latency_max_s == pytest.approx(0.025, abs=1e-3)
    found = checkpoints(beside)  # a barrier waits for the event under way, up to 25 ms
    assert (found.begun, found.complete, found.given_up) == (9, 9, 0)  # at 10, 20, ..., 90 s
    assert found.mean_s == pytest.approx(UPLOAD_S, abs=0.03)
    # The place of the source is stored, too: its 4 s, then those of the operator.
    waits = simulated(tmp_path, "knobs.snapshots=synchronous")
    assert waits.metrics.latency_max_s == pytest.approx(2 * UPLOAD_S, abs=0.1)


@pytest.mark.parametrize(
    ("crash_s", "age_s", "given_up"),
    [(23.0, 13.0, 1), (24.5, 4.5, 0), (29.9, 9.9, 0), (33.9, 13.9, 1), (34.1, 4.1, 0)],
)
def test_the_age_counts_from_the_last_complete_checkpoint(
    tmp_path: Path, crash_s: float, age_s: float, given_up: int
) -> None:
    """A checkpoint begins every 10 s and is complete 4 s later: at 24 s that of 20 s is.

    R = D + rs + (age + D + rs) * rho / (1 - rho), with rho = 20/s * 25 ms = 0.5.
    """
    ran = simulated(tmp_path, crash_s=crash_s)
    found = checkpoints(ran)
    assert found.ages_s == pytest.approx((age_s,), abs=0.001)
    assert found.given_up == given_up
    detected = known(ran.metrics.detection_s)
    terms = RecoveryTerms(detected, restart_s=3.0, read_s=0.0, age_s=age_s, busy=0.5)
    assert ran.metrics.recovery_s == pytest.approx(terms.recovery_s, rel=0.005)
    assert ran.metrics.events_replayed == pytest.approx(20 * (age_s + detected + 3), abs=2)


@pytest.mark.parametrize("rate", [20.0, 28.0, 34.0])
def test_the_load_decides_how_long_the_catch_up_lasts(tmp_path: Path, rate: float) -> None:
    """At 50, 70 and 85 % of the operator's time; a crash at 23 s has the age of 13 s."""
    ran = simulated(tmp_path, f"stream.rate_per_s={rate}", "stream.seconds=200", crash_s=23.0)
    detected = known(ran.metrics.detection_s)
    terms = RecoveryTerms(detected, 3.0, 0.0, 13.0, rate * 0.025)
    assert ran.metrics.recovery_s == pytest.approx(terms.recovery_s, rel=0.01)


def test_uploads_share_the_store(tmp_path: Path) -> None:
    """Two operators upload 4 s each: the checkpoint is complete after 8 s, or after 4 s where the
    store serves two at a time."""
    two = 'operators=[{name="count",selectivity=1.0},{name="more",selectivity=1.0}]'
    work = "costs.work.more.event_s=0.0"
    assert checkpoints(simulated(tmp_path, two, work)).mean_s == pytest.approx(8.0, abs=0.03)
    wide = simulated(tmp_path, two, work, "costs.stores.coordinator.devices=2")
    assert checkpoints(wide).mean_s == pytest.approx(4.0, abs=0.03)


def test_a_crash_stops_the_upload(tmp_path: Path) -> None:
    """The upload of 20 s is under way at 23 s; the store is free for the checkpoint of 30 s, which
    is complete when its barrier has passed the backlog."""
    ran = simulated(tmp_path, crash_s=23.0)
    assert ran.metrics.notes["complete epochs"] == ran.metrics.notes["begun epochs"] - 1
    assert ran.metrics.notes["abandoned epochs"] == 1


def test_a_snapshot_stops_the_operator_for_its_copy(tmp_path: Path) -> None:
    """A copy of 0.2 s makes 4 events wait; the last of them is done when the queue is empty."""
    ran = simulated(tmp_path, 'costs.notes={"asynchronous snapshots"=0.2}')
    assert ran.metrics.latency_max_s == pytest.approx(0.225, abs=0.05)
    assert ran.metrics.busy_s == pytest.approx(1_800 * 0.025 + 9 * 0.2, abs=0.05)


def test_uploads_need_no_store_of_their_own(tmp_path: Path) -> None:
    """Without [costs.stores] the snapshot is a write of [costs.storage]: 3 s."""
    plain = SCENARIO.replace(
        f"[costs.stores.coordinator]\ntransaction_s = {UPLOAD_S}", "[costs.storage]\nlatency_s = 3"
    )
    path = tmp_path / "plain.toml"
    path.write_text(plain, encoding="utf-8")
    ran = simulate(read(path))
    assert checkpoints(ran).mean_s == pytest.approx(3.0, abs=0.03)
    assert ran.metrics.latency_max_s == pytest.approx(0.025, abs=1e-3)
    path.write_text(plain + '[[failures]]\nnodes = ["count"]\nat_s = 22.0\n', encoding="utf-8")
    ran = simulate(read(path))
    assert checkpoints(ran).ages_s == pytest.approx((12.0,), abs=0.001)
    assert ran.same


# --- the minimum pause -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("pauses", "every_s"),
    [
        # The next epoch is due when the one before is complete.
        (("knobs.pauses=none",), 4.0),
        # 4 s of upload and 6 s of pause; the wish comes at a tick of 2 s that has passed.
        (("knobs.pauses=minimum", "costs.timers.pause.after_s=6.0"), 10.0),
        (("knobs.pauses=minimum", "costs.timers.pause.after_s=0.5"), 4.5),
    ],
)
def test_a_minimum_pause_is_between_two_checkpoints(
    tmp_path: Path, pauses: tuple[str, ...], every_s: float
) -> None:
    """A checkpoint is due every 2 s and takes 4 s: the first one begins at 2 s."""
    every = "costs.timers.epoch={every_s=2.0,phase_s=2.0}"
    found = checkpoints(simulated(tmp_path, every, *pauses))
    assert found.complete == pytest.approx((90 - 2) / every_s, abs=1.5)


def test_a_long_pause_makes_the_interval(tmp_path: Path) -> None:
    """The clock's interval of 10 s holds if upload and pause are shorter: 4 + 5 s."""
    pause = ("knobs.pauses=minimum", "costs.timers.pause.after_s=5.0")
    assert checkpoints(simulated(tmp_path, *pause)).begun == 9


@pytest.mark.parametrize(("pauses", "wanted"), [("none", 12), ("minimum", 6)])
def test_sources_that_ask_at_one_tick_begin_one_checkpoint(pauses: str, wanted: int) -> None:
    """Two sources ask at 10.5, 20.5, ..., 60.5 s.  The wish of the second is kept for a checkpoint
    of its own (docs/explanation/limits.md), unless both wait for a pause."""
    nodes = (("left", SOURCE), ("right", SOURCE), ("A", Union()), ("sink", SINK))
    graph = Graph(nodes, (("left", "A"), ("right", "A"), ("A", "sink")))
    events = {name: (Arrival(1, "a"),) * 60 for name in ("left", "right")}
    costs = Costs(
        timers={"epoch": Timer(every_s=10, phase_s=10.5), "pause": Timer(after_s=1.0)},
        stores={"coordinator": StoreCosts(transaction_s=1.0)},
    )
    protocol = turn(turn(PROTOCOL, "snapshots", "asynchronous"), "pauses", pauses)
    found = played(protocol, Workload("", "", graph, events), costs)[0].checkpoints
    assert found is not None
    assert (found.begun, found.complete) == (wanted, wanted)


# --- sources that seek -----------------------------------------------------------------------
def test_a_source_that_seeks_keeps_no_event(tmp_path: Path) -> None:
    """With an epoch of 10 s and an upload of 4 s, a source in memory keeps 14 s of events."""
    seeks = simulated(tmp_path, crash_s=23.0)
    keeps = simulated(tmp_path, "knobs.sources=replayable", crash_s=23.0)
    assert seeks.without_failures.node_memory_bytes["source"].peak == 0
    kept = keeps.without_failures.node_memory_bytes["source"].peak
    assert kept == pytest.approx(14 * 20 * 100, rel=0.02)
    assert seeks.metrics.recovery_s == keeps.metrics.recovery_s
    assert seeks.sha256 == keeps.sha256


# --- local recovery --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("shared", "local", "count_s", "more_s"),
    [
        # The store reads 60 MB and 100 MB at 20 MB/s, one after the other.
        (True, (), 3.0, 8.0),
        # 60 MB are read from a disk at 50 MB/s, and the store has 100 MB to read.
        (True, ("count",), 1.2, 5.0),
        (True, ("count", "more"), 1.2, 2.0),
        # Without [costs.stores] the store has the 50 MB/s of [costs.storage].
        (False, (), 1.2, 3.2),
        (False, ("count",), 1.2, 2.0),
        (False, ("count", "more"), 1.2, 2.0),
    ],
)
def test_a_copy_on_its_own_disk_needs_no_store(
    tmp_path: Path, shared: bool, local: tuple[str, ...], count_s: float, more_s: float
) -> None:
    restarted_from_disks(tmp_path, "process", shared, local, count_s, more_s)


@pytest.mark.parametrize(
    ("shared", "local", "count_s", "more_s"),
    [
        # The disk of count is gone: 60 MB come from the store; the other node is only stopped.
        (True, ("count", "more"), 3.0, 2.0),
        (True, ("count",), 3.0, 8.0),
        (False, ("count", "more"), 1.2, 2.0),
    ],
)
def test_a_host_that_is_gone_takes_its_copies_along(
    tmp_path: Path, shared: bool, local: tuple[str, ...], count_s: float, more_s: float
) -> None:
    restarted_from_disks(tmp_path, "host", shared, local, count_s, more_s)


def restarted_from_disks(
    folder: Path, kind: str, shared: bool, local: tuple[str, ...], count_s: float, more_s: float
) -> None:
    """A failure of count of this kind: the two tasks have their states back after these times."""
    store = "{transaction_s=0.0,bandwidth_bytes_per_s=20e6}"
    ran = simulated(
        folder,
        f"failures.1.kind={kind}",
        'operators=[{name="count",selectivity=1.0},{name="more",selectivity=1.0}]',
        "costs.work.more.event_s=0.0",
        "costs.link.bandwidth_bytes_per_s=1e12",
        "costs.storage={latency_s=0.0,bandwidth_bytes_per_s=50e6}",
        "costs.state.count.bytes=60_000_000",
        "costs.state.more.bytes=100_000_000",
        f"costs.stores={{coordinator={store}}}" if shared else "costs.stores={}",
        *(f"costs.state.{name}.local=true" for name in local),
        crash_s=29.9,
    )
    courses = {one.node: one for one in ran.failures}
    assert courses["count"].redirection_s == pytest.approx(count_s, abs=0.01)
    assert courses["more"].redirection_s == pytest.approx(more_s, abs=0.01)
    terms = RecoveryTerms(known(ran.metrics.detection_s), 3.0, count_s, 9.9, 0.5)
    assert courses["count"].recovery_s == pytest.approx(terms.recovery_s, rel=0.01)
