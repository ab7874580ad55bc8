"""Costs of high availability: what the runs count, beside a slow reference and the operators."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import Out as BoxOut
from model.boxes.box import Stream, all_items, bodies, inputs_in
from model.events import Body
from sim.experiments.hwang import formulas
from sim.experiments.hwang.node import process, run, serve
from sim.experiments.hwang.setting import (
    AGGREGATE,
    BYTES_A_MS,
    DELAY_MS,
    FILTER,
    REDIRECT_MS,
    TUPLE_BYTES,
    UNION,
    HwangSetting,
    Phases,
    QueryNetwork,
    Receives,
    StudiedProtocol,
    TupleWork,
)
from sim.experiments.hwang.tables import EXPERIMENTS, FIG6, TABLE6

SHORT = 4_000


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 60))
def test_an_aggregate_is_that_of_the_model(advance: int, times: int, count: int) -> None:
    """Outputs, open windows and the oldest tuple that each output needs, as the box has them."""
    window = advance * times
    found = process(QueryNetwork("", aggregates=1, window=window, advance=advance), count)
    box = Aggregate("list", window, advance, of="time")
    stream = Stream(tuple(BoxOut(Body(at, "a")) for at in range(count)))
    state = box.begin(1)
    firsts: list[int] = []
    for item in all_items((stream,)):
        at = item.body.time
        held = [*inputs_in(state), *item.of]
        before = len(state.open)
        ((state, outs),) = box.feed(state, item)
        opened = len(state.open) + len(outs) - before
        assert found.open[at] == before + opened
        assert found.outs[at] == len(outs)
        assert found.entered[at] == 1
        assert len(bodies(outs)) == len(outs)
        firsts += [min(one.place for one in held)] * len(outs)
    assert found.first.tolist() == firsts


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40))
def test_one_server_takes_one_job_after_the_other(jobs: list[tuple[int, int]]) -> None:
    arrivals = np.cumsum([gap for gap, _ in jobs]).astype(float)
    free, ends = 0.0, []
    for at, (_, work) in zip(arrivals, jobs, strict=True):
        free = max(free, at) + work
        ends.append(free)
    assert serve(arrivals, np.array([float(work) for _, work in jobs])).tolist() == ends


def test_a_chain_works_as_its_parts() -> None:
    """The second aggregate has windows of 10 tuples, each made of 100 tuples 10 apart."""
    found = process(replace(AGGREGATE, aggregates=2), 1_000)
    first = int(np.flatnonzero(found.outs)[0])
    assert (first, found.first[0]) == (99 + 9 * 10, 0)
    assert found.open[first] == 10 + 10
    assert found.first[1] == 10


@pytest.mark.parametrize("protocol", [StudiedProtocol.PASSIVE, StudiedProtocol.UPSTREAM])
def test_a_crash_right_after_everything_is_safe_costs_the_redirection(
    protocol: StudiedProtocol,
) -> None:
    """With a long interval of one tuple's time, hardly anything is processed again."""
    setting = HwangSetting(protocol, FILTER, interval_ms=1.0)
    found = [run(setting, seed, SHORT) for seed in range(5)]
    least = REDIRECT_MS + DELAY_MS
    assert all(least <= one.recovery_ms < least + 1 for one in found)


def test_what_is_counted_is_what_the_text_says() -> None:
    """Section 7: identifiers an interval over tuples an interval; each tuple twice."""
    for network in (FILTER, AGGREGATE, UNION):
        upstream = HwangSetting(StudiedProtocol.UPSTREAM, network)
        assert run(upstream, 1, SHORT).overhead == pytest.approx(
            formulas.overhead(upstream), rel=0.03
        )
        active = run(HwangSetting(StudiedProtocol.ACTIVE, network), 1, SHORT)
        assert active.bytes["copies"] == active.tuple_bytes
        assert run(HwangSetting(StudiedProtocol.AMNESIA, network), 1, SHORT).overhead == 0
    precise = HwangSetting(StudiedProtocol.UPSTREAM, FILTER, precise=True)
    assert run(precise, 1, SHORT).bytes["watermarks"] == pytest.approx(
        0.16 * run(precise, 1, SHORT).tuple_bytes
    )


def test_a_longer_interval_costs_time_and_saves_bytes() -> None:
    for protocol in (StudiedProtocol.PASSIVE, StudiedProtocol.UPSTREAM):
        runs = [
            [
                run(HwangSetting(protocol, AGGREGATE, interval_ms=ms), seed, SHORT)
                for seed in range(20)
            ]
            for ms in (25.0, 100.0, 200.0)
        ]
        times = [sum(one.recovery_ms for one in part) for part in runs]
        sizes = [sum(one.overhead for one in part) for part in runs]
        assert times == sorted(times)
        assert sizes == sorted(sizes, reverse=True)


def test_each_reading_changes_what_it_says() -> None:
    base = partial(HwangSetting, StudiedProtocol.UPSTREAM, AGGREGATE)
    usual = [run(base(), seed, SHORT).recovery_ms for seed in range(20)]
    beside = [run(base(receives=Receives.BESIDE), seed, SHORT) for seed in range(20)]
    assert all(one.recovery_ms < time for one, time in zip(beside, usual, strict=True))
    steady = [run(base(work=TupleWork.STEADY), seed, SHORT) for seed in range(20)]
    assert all(one.recovery_ms > time for one, time in zip(steady, usual, strict=True))
    own = [run(base(phases=Phases.OWN), seed, SHORT).reprocessed for seed in range(20)]
    assert sum(own) < sum(run(base(), seed, SHORT).reprocessed for seed in range(20))


def test_active_standby_sends_its_log() -> None:
    found = run(HwangSetting(StudiedProtocol.ACTIVE, FILTER), 3, SHORT)
    assert found.recovery_ms == pytest.approx(found.duplicates * TUPLE_BYTES / BYTES_A_MS)
    asked = run(HwangSetting(StudiedProtocol.ACTIVE, FILTER, precise=True), 3, SHORT)
    assert asked.recovery_ms >= REDIRECT_MS
    assert asked.duplicates == 0


def test_the_same_seed_gives_the_same_run() -> None:
    for setting in TABLE6.values():
        assert run(setting, 7, SHORT) == run(setting, 7, SHORT)


def test_every_experiment_summarizes_short_runs() -> None:
    assert [one.name for one in EXPERIMENTS] == [
        "hwang-fig6",
        "hwang-fig7",
        "hwang-table6",
        "hwang-table7",
        "hwang-table8",
    ]
    for experiment in EXPERIMENTS:
        found = [row for seed in range(2) for row in experiment.rows(seed, 1_500)]
        summary = experiment.summary(found)
        assert len(summary.cells) == len({row["point"] for row in found})
        assert summary.panels
    assert len(FIG6) == 30
