"""Calibration: what is measured is counted right, and what is written is a scenario's [costs]."""

from __future__ import annotations

import tomllib
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.core import Arrival
from model.errors import Invalid
from model.results.calibration import MeasuredCost
from sim.calibration import measure
from sim.calibration.costs_file import costs_toml
from sim.calibration.measure import (
    BLOCK,
    BLOCKS,
    EVENTS,
    measure_disk,
    measure_link,
    measure_operator,
    summarize,
)
from sim.scenarios.scenario import read

SCENARIO = """\
protocol = "upstream-backup"

[stream]
events = 10
rate_per_s = 10.0
types = { a = 1.0 }

[[operators]]
name = "match"
pattern = "a"
window = 5
slide = 5

"""
A = [Arrival(1, "a")]


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that moves by a second whenever it is read: every measurement takes one second."""
    ticks = count()
    monkeypatch.setattr(measure, "perf_counter", lambda: float(next(ticks)))


def by_key(measured: tuple[MeasuredCost, ...]) -> dict[str, float]:
    return {one.key: one.value for one in measured}


@given(st.lists(st.floats(0, 1e3), min_size=2, max_size=20))
def test_the_median_lies_in_the_middle_half(values: list[float]) -> None:
    found = summarize("costs.link.delay_s", values, "")
    assert min(values) <= found.low <= found.value <= found.high <= max(values)
    assert found.times == len(values)


def test_the_middle_half_by_hand() -> None:
    assert summarize("k", [5.0, 1.0, 4.0, 2.0, 3.0], "x") == ("k", 3.0, 2.0, 4.0, 5, "x")


@pytest.mark.usefixtures("seconds")
def test_a_link_on_a_clock_of_whole_seconds() -> None:
    """Half of a round trip of 1 s; 16 MiB in 1 s."""
    assert by_key(measure_link()) == {
        "costs.link.delay_s": 0.5,
        "costs.link.bandwidth_bytes_per_s": BLOCKS * BLOCK,
    }


@pytest.mark.usefixtures("seconds")
def test_a_disk_on_a_clock_of_whole_seconds(tmp_path: Path) -> None:
    """A write takes 1 s of latency, and at least a tenth of its time is that of the bytes."""
    found = by_key(measure_disk(tmp_path))
    assert found["costs.storage.latency_s"] == 1.0
    assert found["costs.storage.bandwidth_bytes_per_s"] == BLOCKS * BLOCK * 10
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be written: No such file"):
        measure_disk(tmp_path / "none")


@pytest.mark.usefixtures("seconds")
@pytest.mark.parametrize(
    ("box", "edges"), [(Aggregate("count", 2, 1), [A]), (Join(1), [A, [Arrival(1, "b")]])]
)
def test_an_operator_on_a_clock_of_whole_seconds(box: Any, edges: list[list[Arrival]]) -> None:
    found = by_key(measure_operator("x", box, edges))
    assert found["costs.service.event_s"] == 1 / EVENTS
    assert found["costs.service.savepoint_s"] == 1.0
    assert found["costs.sizes.saved_bytes"] > 0


def test_what_is_written_is_a_scenario(tmp_path: Path) -> None:
    box = Aggregate("count", 2, 1)
    all_of = (*measure_link(), *measure_disk(tmp_path), *measure_operator("count", box, [A]))
    restart = MeasuredCost("detector.restart_s", 2.5, 2.5, 2.5, 1, "x")
    text = costs_toml([*all_of, restart], ["about"])
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO + text)
    costs = read(path).costs
    found = by_key(all_of)
    assert costs.link.delay_s == pytest.approx(found["costs.link.delay_s"], rel=0.01)
    assert costs.storage.latency_s == pytest.approx(found["costs.storage.latency_s"], rel=0.01)
    assert costs.service.event_s == pytest.approx(found["costs.service.event_s"], rel=0.01)
    assert costs.sizes.saved_bytes == found["costs.sizes.saved_bytes"]
    assert read(path).detector.restart_s == 2.5


def test_the_file_says_what_was_measured() -> None:
    one = MeasuredCost("costs.link.delay_s", 0.00012345, 0.0001, 0.0002, 7, "half a round trip")
    text = costs_toml([one], ["Measured somewhere."])
    assert text == (
        "# Measured somewhere.\n\n[costs.link]\n"
        "# half a round trip: median of 7, middle half 0.0001 to 0.0002\n"
        "delay_s = 0.000123\n"
    )
    assert tomllib.loads(text) == {"costs": {"link": {"delay_s": 0.000123}}}
