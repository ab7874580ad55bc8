"""The kernel of CEC's figures and a reference in dictionaries do the same."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.errors import Invalid
from model.protocols.cec.policy import Differences, Positions, due
from sim.experiments.sebepou.kernel import (
    CheckpointWay,
    Estimate,
    ExtentRun,
    ExtentSetting,
    ExtentStudyCosts,
    run,
)

ROOT = Path(__file__).parents[3]
COSTS = ExtentStudyCosts(tuple_s=0.25, check_s=0.1, write_s=0.3, copy_s=0.05, read_s=1.0)


class Reference:
    """An operator tuple by tuple, in tenths of a millisecond, with dictionaries."""

    def __init__(self, setting: ExtentSetting) -> None:
        self.setting = setting
        self.held: dict[int, int] = {}
        self.opened: dict[int, float] = {}
        self.positions, self.differences = Positions(), Differences()
        self.clock = self.processed = 0
        self.counts: dict[str, int] = defaultdict(int)
        self.crash: dict[str, Any] = {}
        self.most = [0, 0, 0]
        self.areas = [0.0, 0.0, 0.0, 0.0, 0.0]
        self.closed: dict[int, list[int]] = defaultdict(list)
        self.tick, self.save_tick = self.ms(setting.period_s), self.ms(setting.save_s)
        self.pending: tuple[int, int, int] | None = None  # complete at, captured at, windows
        self.newest = (0, 0)  # captured at, windows
        self.needed: set[int] = set()

    @staticmethod
    def ms(seconds: float | None) -> int:
        return round((seconds or 0) * 10**4)

    def run(self, items: list[int]) -> dict[str, Any]:
        for key in items:
            begun, before, costs = self.clock, len(self.held), self.look()
            self.background()
            self.save()
            self.enter(key)
            if self.processed > self.setting.warm:
                sizes = (*costs, self.newest[1], before, 1)
                for at, size in enumerate(sizes):
                    self.areas[at] += size * (self.clock - begun)
        return self.outcome()

    def look(self) -> tuple[int, int]:
        """The extent and the replay, if the crash came now."""
        if self.pending and self.clock >= self.pending[0]:
            self.newest, self.pending = self.pending[1:], None
            self.counts["saves"] += 1
            self.counts["saved"] += self.newest[1]
        q, u = self.positions.sizes()
        if self.setting.way is not CheckpointWay.CONTINUOUS:
            q, u = 0, self.processed - self.newest[0] if self.setting.save_s else 0
        windows = len(self.held)
        if self.processed == self.setting.crash:
            estimated = (
                self.differences.sizes() if self.setting.way is CheckpointWay.CONTINUOUS else (0, 0)
            )
            self.crash = {"extent": q, "replay": u, "windows": windows, "estimated": estimated}
        if self.processed >= self.setting.warm:
            self.most = [*map(max, self.most, (q, u, windows))]
        return q, u

    def background(self) -> None:
        setting = self.setting
        if not setting.period_s or self.clock < self.tick:
            return
        self.tick, begun = self.clock + self.ms(setting.period_s), self.clock
        while self.held and self.clock - begun < self.ms(setting.busy_s):
            published = setting.estimate is Estimate.DIFFERENCES
            sizes = (self.differences if published else self.positions).sizes()
            targets = (setting.q_target or 10**9, setting.u_target or 10**9)
            if not due(*sizes, *targets):
                return
            self.footprint(self.positions.windows[0][0])
            self.counts["checks"] += 1

    def save(self) -> None:
        setting = self.setting
        if not setting.save_s or self.pending or self.clock < self.save_tick:
            return
        self.save_tick = self.clock + self.ms(setting.save_s)
        stops, costs = setting.way is CheckpointWay.STOPPING, setting.costs
        each = self.ms(costs.write_s) + stops * self.ms(costs.check_s)
        done = self.clock + len(self.held) * each
        self.pending, self.needed = (done, self.processed, len(self.held)), set(self.held)
        if stops:
            self.clock = done

    def footprint(self, key: Any) -> None:
        self.positions, self.differences = self.positions.leave(key), self.differences.leave(key)
        self.clock += self.ms(self.setting.costs.check_s)
        self.counts["records"] += 1

    def enter(self, key: int) -> None:
        setting = self.setting
        self.processed += 1
        self.clock += self.ms(setting.costs.tuple_s)
        self.positions, self.differences = self.positions.enter(), self.differences.enter()
        if key not in self.held:
            self.counts["opens"] += 1
            if setting.way is CheckpointWay.CONTINUOUS:
                self.footprint(key)
            self.opened[key] = self.clock
        elif setting.way is CheckpointWay.COPYING and self.pending and key in self.needed:
            self.clock += self.ms(setting.costs.copy_s)
            self.counts["copies"] += 1
        self.needed.discard(key)
        self.held[key] = self.held.get(key, 0) + 1
        if self.held[key] == setting.size:
            del self.held[key]
            self.positions, self.differences = (
                self.positions.close(key),
                self.differences.close(key),
            )
            self.counts["results"] += 1
            self.counts["records"] += 1
            self.closed[self.clock // 10**4].append(int(self.clock - self.opened[key]))

    def outcome(self) -> dict[str, Any]:
        time = self.areas[4] or 1
        counted = {
            name: self.counts[name]
            for name in ("records", "opens", "results", "checks", "saves", "saved", "copies")
        }
        means = ("mean_extent", "mean_replay", "mean_loaded", "mean_windows")
        most = ("most_extent", "most_replay", "most_windows")
        nothing = {"extent": 0, "replay": 0, "windows": 0, "estimated": (0, 0)}
        return {
            **nothing,
            **self.crash,
            **counted,
            "clock_s": self.clock / 10**4,
            "steady_s": self.areas[4] / 10**4,
            **dict(zip(means, (area / time for area in self.areas), strict=False)),
            **dict(zip(most, self.most, strict=True)),
        }


def differences(ran: ExtentRun, reference: Reference, items: list[int]) -> list[str]:
    expected = reference.run(items)
    found = ran._asdict()
    open_s = found.pop("open_s").tolist()
    assert set(found) == set(expected)
    wrong = [name for name in found if not same(found[name], expected[name])]
    if ran.clock_s > len(open_s):  # stopped for long: the last second has the later ones, too
        return wrong
    for second, mean in enumerate(open_s):
        times = reference.closed.get(second)
        if times and not math.isclose(mean, sum(times) / len(times) / 10**4):
            wrong.append(f"open in second {second}")
    assert sum(not math.isnan(mean) for mean in open_s) >= len(reference.closed) - 1
    return wrong


def same(one: Any, other: Any) -> bool:
    return math.isclose(one, other) if isinstance(one, float) else bool(one == other)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], ExtentSetting]:
    keys = draw(st.integers(1, 6))
    length = draw(st.integers(0, 60))  # else most lists are short
    items = draw(st.lists(st.integers(0, keys - 1), min_size=length, max_size=length))
    way = draw(
        st.sampled_from(
            [
                CheckpointWay.CONTINUOUS,
                CheckpointWay.CONTINUOUS,
                CheckpointWay.COPYING,
                *CheckpointWay,
            ]
        )
    )
    targets = st.integers(1, 8) | st.none()
    continuous = way is CheckpointWay.CONTINUOUS
    return items, ExtentSetting(
        costs=COSTS,
        keys=keys,
        size=draw(st.integers(1, 5)),
        way=way,
        q_target=draw(targets) if continuous else None,
        u_target=draw(targets) if continuous else None,
        estimate=draw(st.sampled_from(Estimate)),
        period_s=draw(st.sampled_from([0.1, 0.5, 1.3]) | st.none()) if continuous else None,
        busy_s=draw(st.sampled_from([0.05, 0.1, 0.35, 9.0])),
        save_s=None
        if way in (CheckpointWay.NATIVE, CheckpointWay.CONTINUOUS)
        else draw(st.sampled_from([0.1, 2.0])),
        warm=draw(st.integers(0, 20)),
        crash=draw(st.integers(0, 60)),
    )


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(cases())
def test_kernel_and_reference_do_the_same(case: tuple[list[int], ExtentSetting]) -> None:
    items, setting = case
    ran = run(np.array(items, np.int32), setting)
    assert differences(ran, Reference(setting), items) == []


def test_they_do_so_on_a_long_run_with_slow_keys() -> None:
    items = (np.random.default_rng(1).zipf(1.4, 4000) % 50).astype(np.int32)
    setting = ExtentSetting(
        COSTS, 50, 4, q_target=60, period_s=1.0, busy_s=0.3, warm=500, crash=2000
    )
    for one in (setting, replace(setting, estimate=Estimate.DIFFERENCES)):
        ran = run(items, one)
        assert ran.checks > 0
        assert differences(ran, Reference(one), items.tolist()) == []


INTERPRETED = """
import sys
sys.modules["numba"] = None
from tests.families.cec.test_kernel import COSTS, ExtentSetting, np, run
from sim.experiments.compiled import COMPILED
assert not COMPILED
setting = ExtentSetting(COSTS, 5, 3, q_target=6, period_s=1.0, busy_s=0.3, warm=10, crash=200)
print(run((np.arange(400) ** 2 % 5).astype(np.int32), setting)[:-1])
"""


def test_without_numba_it_is_the_same() -> None:
    shown = subprocess.run(
        [sys.executable, "-W", "error", "-c", INTERPRETED],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    setting = ExtentSetting(COSTS, 5, 3, q_target=6, period_s=1.0, busy_s=0.3, warm=10, crash=200)
    assert shown.stdout.strip() == str(
        run((np.arange(400) ** 2 % 5).astype(np.int32), setting)[:-1]
    )


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: ExtentSetting(COSTS, 0, 1), "0 keys"),
        (lambda: ExtentSetting(COSTS, 1, 1, save_s=1.0), "CEC: an interval of checkpoints"),
        (
            lambda: ExtentSetting(COSTS, 1, 1, way=CheckpointWay.STOPPING),
            "CRB, stopping: an interval",
        ),
        (lambda: run(np.array([3], np.int32), ExtentSetting(COSTS, 3, 1)), "keys are 0 to 2"),
    ],
)
def test_what_cannot_be_run_is_one_line(make: Any, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        make()
