"""The numbers of docs/tutorial/two-sources.md: by the program, and by arithmetic."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from model.results.simulation import CrashCourse, Simulation
from reports.results.simulations import format_value, verdict
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import Scenario, read
from tests.known import known

FILE = Path("docs/scenarios/two-sources.toml")
PAGE = Path("docs/tutorial/two-sources.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.exhaustive  # its simulations take minutes


@cache
def asked(*settings: str) -> Scenario:
    return read(FILE, overrides(settings))


@cache
def ran(*settings: str) -> Simulation:
    return simulate(asked(*settings))


def crash() -> CrashCourse:
    failures = ran().failures
    return failures[0]


def says(text: str) -> None:
    """The page says so; its lines may break anywhere."""
    assert " ".join(text.split()) in " ".join(PAGE.split())


def rows(table: int) -> list[list[str]]:
    """The cells of a table of the page, from 0."""
    tables = re.findall(r"(?:^\|.*\n)+", PAGE, flags=re.MULTILINE)
    lines = tables[table].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


SERVICE_S, AWAY_S, DELAY_S = 1e-4, 8.3, 0.005


def test_the_verdict() -> None:
    says(verdict(ran()))


def test_the_load() -> None:
    """Events a second times seconds an event."""
    events = sum(map(len, asked().workload.events.values()))
    share = next(row for row in ran().load if row.name == "match").busy_share
    assert share == pytest.approx(events * SERVICE_S / 30, rel=0.002)
    says("2,514 events/s · 0.1 ms = 25.1 %")
    assert events / 30 == pytest.approx(2_514, abs=1)


def test_the_phases() -> None:
    found = crash()
    assert found.detection_s == pytest.approx(3 * 0.1)
    assert found.restart_s == 8
    assert found.redirection_s == pytest.approx(2 * DELAY_S, rel=0.02)
    share = 2_514 * SERVICE_S
    again = ran().metrics.events_again * SERVICE_S
    # While the replayed events are processed, further ones come.
    expected = ((AWAY_S + 2 * DELAY_S) * share + again) / (1 - share)
    assert found.expected_catch_up_s == pytest.approx(expected, rel=0.01)
    after = known(found.replay_s) + known(found.catch_up_s)
    assert after == pytest.approx(expected, rel=0.01)
    says(f"{expected:.2f} s")
    assert found.recovery_s == pytest.approx(AWAY_S + known(found.redirection_s) + after)
    shown = {phase: value for phase, value, _ in rows(0)}
    for phase, value in shown.items():
        measured = known(found.seconds(f"{phase.replace('-', '_')}_s"))
        assert float(value) == pytest.approx(measured, rel=0.05 if measured < 0.1 else 0.01)
    says("8,660 events of 0.1 ms")
    assert found.replay_s == pytest.approx(8_660 * SERVICE_S, rel=0.002)


def test_the_events() -> None:
    """In vain: handed out while the node was away; each goes over one link before."""
    metrics, free = ran().metrics, ran().without_failures
    back = 15 + AWAY_S
    lost = [at for at, _, _ in asked().feed() if 15e12 - DELAY_S * 1e12 < at < back * 1e12]
    assert metrics.events_in_vain == pytest.approx(len(lost), rel=0.002)
    events = sum(map(len, asked().workload.events.values()))
    matches = free.events_first - events
    assert free.link_event_bytes == 100 * (events + matches)
    says(f"{free.events_first:,} events over links, 100 bytes each")
    says(f"{free.link_event_bytes / 1000:,.1f} kB")
    more = metrics.events_again + metrics.events_in_vain
    says(
        f"sends {more:,} events more ({metrics.events_again:,} again and "
        f"{metrics.events_in_vain:,} in vain)"
    )
    sent = metrics.link_event_bytes - free.link_event_bytes
    assert sent == 100 * more


def test_the_price_of_protection() -> None:
    free, bare = ran().without_failures, ran().unprotected
    keep_alives = 2 * 10 * 30 * 40
    assert free.keep_alive_bytes == pytest.approx(keep_alives, rel=0.002)
    assert bare.link_control_bytes == bare.keep_alive_bytes == 0
    share = (free.link_control_bytes + free.keep_alive_bytes) / free.link_event_bytes
    assert ran().overhead.protection_link_bytes == pytest.approx(share)
    says(
        f"{free.link_control_bytes / 1000:.1f} kB of control messages and "
        f"{free.keep_alive_bytes / 1000:.1f} kB of keep-alives"
    )
    says(f"more, {share:.1%}".replace("%", " %"))


def test_the_memory() -> None:
    metrics, free = ran().metrics, ran().without_failures
    says(f"{metrics.peak_backup_events:,} events, 3.4 MB at 100 bytes")
    says(f"the peak is {free.peak_backup_events:,} events")
    assert metrics.peak_memory_bytes == pytest.approx(100 * metrics.peak_backup_events, rel=0.01)
    assert metrics.peak_backup_events >= metrics.events_in_vain


@cache
def batched() -> Simulation:
    return simulate(read(Path("docs/scenarios/merged-sources.toml")))


def test_micro_batches_beside_it() -> None:
    shown = {name: (here, there) for name, here, there, _ in rows(3)}
    for at, found in enumerate((ran(), batched())):
        free, (failure,) = found.without_failures, found.failures
        restarted = (
            known(failure.recovery_s) - known(failure.detection_s) - known(failure.restart_s)
        )
        share = found.overhead
        for name, value in (
            ("recovery", f"{failure.recovery_s:.3g} s"),
            ("after the restart", f"{restarted:.3g} s"),
            ("latency, median", format_value("_s", free.latency_p50_s)),
            ("protection, bytes", f"{share.protection_link_bytes:.1%}".replace("%", " %")),
            ("protection, processing", f"{share.protection_busy:.1%}".replace("%", " %")),
            ("events kept without failures, peak", f"{free.peak_backup_events:,}"),
        ):
            assert shown[name][at] == value


BATCH_S = 0.77 + 3 * 0.012


def test_micro_batches_by_hand() -> None:
    scenario = read(Path("docs/scenarios/merged-sources.toml"))
    times = [at / 1e12 for at, _, _ in scenario.feed()]
    (failure,) = batched().failures
    back = 15 + AWAY_S
    missed = sum(10 < at <= back for at in times)
    assert missed == pytest.approx(33_300, abs=100)
    replay = missed * SERVICE_S + BATCH_S - 0.012  # the offset log's entry is before
    assert failure.replay_s == pytest.approx(replay, abs=0.02)
    assert failure.redirection_s == pytest.approx(missed * 100 / 12.5e6, abs=0.04)
    free, bare = batched().without_failures, batched().unprotected
    assert free.traffic["events"].messages == 7
    assert bare.busy_s == pytest.approx(len(times) * SERVICE_S)
    assert free.busy_s - bare.busy_s == pytest.approx(7 * BATCH_S, rel=0.001)
    says("7 batches 0.77 s and three writes of 12 ms, 5.64 s on top of 7.53 s")
    keep_alive = free.keep_alive_bytes / 1000
    says(f"{free.link_control_bytes / 1000:.1f} kB of messages and {keep_alive:.1f} kB of keep")
    a_batch = 12_500 * SERVICE_S + BATCH_S
    assert a_batch == pytest.approx(2.1, abs=0.05)
    assert a_batch < known(free.latency_p50_s) < 5 + a_batch + 12_500 * 100 / 12.5e6


@pytest.mark.parametrize("row", rows(2), ids=lambda row: row[0])
def test_the_window(row: list[str]) -> None:
    windows, results, kept, memory, recovery = row
    window, slide = (1000 * int(part.removesuffix(" s")) for part in windows.split(", "))
    found = ran(f"operators.match.window={window}", f"operators.match.slide={slide}")
    free = found.without_failures
    assert str(found.expected_outputs) == results
    assert f"{free.peak_backup_events:,} events" == kept
    assert f"{free.node_memory_bytes['match'].peak / 1000:.1f} kB" == memory
    assert f"{found.failures[0].recovery_s:.3g} s" == recovery


@pytest.mark.parametrize("row", rows(1), ids=lambda row: row[0])
def test_the_knob(row: list[str]) -> None:
    every, share, kept, recovery = row
    found = ran(f"knobs.notice_every={every.replace(',', '')}")
    assert f"{found.overhead.protection_link_bytes:.1%}".replace("%", " %") == share
    assert f"{found.without_failures.peak_backup_events:,} events" == kept
    assert f"{found.failures[0].recovery_s:.3g} s" == recovery
