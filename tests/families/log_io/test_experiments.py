"""LOG.io and ABS in simulated time: beside arithmetic, and beside the model's log."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from asif.console import calls_on_spark
from model.boxes.stateless import Relay
from model.boxes.triggered import Triggered
from model.choices import enabled
from model.core import Arrival, Inputs, Scope, Send
from model.graph import chain
from model.protocols.log_io.protocol import PROTOCOL
from model.results.plain import plain
from model.system import System
from model.world import apply, initial, real_effects, response, unfold
from reports.results import experiments as drawing
from sim.experiments import campaign
from sim.experiments.campaign import compared
from sim.experiments.experiment import experiments
from sim.experiments.logio.crossing import crossing
from sim.experiments.logio.exclusions import Exclusion, exclusions, fewest_outside
from sim.experiments.logio.figures import FIGURES, rows
from sim.experiments.logio.inbox import TaskInbox
from sim.experiments.logio.paper import CHOSEN, READINGS, FigureReading, costs, linear
from sim.experiments.logio.pipeline import run
from sim.experiments.logio.study import (
    Failure,
    PipelineCosts,
    PipelineRecovery,
    PipelineStudy,
    PipelineTask,
    StudiedPipeline,
)
from sim.experiments.published import numbers, verdict

NONE, LOG, ABS = PipelineRecovery.NONE, PipelineRecovery.LOG, PipelineRecovery.SNAPSHOTS
FREE = PipelineCosts()


@st.composite
def pipelines(draw: st.DrawFn) -> StudiedPipeline:
    """One line of up to four operators, of whole seconds, in which all events are used up."""
    works = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    gathers = draw(st.lists(st.integers(1, 3), min_size=len(works), max_size=len(works)))
    ends = draw(st.integers(1, 5))
    events = ends
    for each in gathers:
        events *= each
    tasks = [
        PipelineTask(f"OP{at + 2}", (f"OP{at + 1}",), float(work), each)
        for at, (work, each) in enumerate(zip(works, gathers, strict=True))
    ]
    last = PipelineTask("end", (tasks[-1].name,))
    return StudiedPipeline(events, float(draw(st.integers(1, 4))), (*tasks, last), ends)


def seconds(pipeline: StudiedPipeline) -> float:
    """The time of the last input, by the recurrence of a line of queues without bounds."""
    at = [pipeline.period_s * (number + 1) for number in range(pipeline.events)]
    for task in pipeline.tasks[:-1]:
        assert isinstance(task.gathers, int)
        free, made = 0.0, []
        for number, came in enumerate(at):
            free = max(free, came)
            if (number + 1) % task.gathers == 0:
                free += task.work_s
                made.append(free)
        at = made
    return at[pipeline.ends - 1]


@given(pipelines())
def test_a_line_takes_what_the_recurrence_of_queues_says(pipeline: StudiedPipeline) -> None:
    expected = pytest.approx(seconds(pipeline))
    assert run(PipelineStudy(pipeline, NONE, FREE)).seconds == expected
    assert run(PipelineStudy(pipeline, LOG, FREE)).seconds == expected
    assert run(PipelineStudy(pipeline, ABS, FREE, interval_s=7.5)).seconds == expected


@given(pipelines(), st.integers(1, 9), st.integers(0, 3))
def test_a_protocol_and_a_bound_never_make_a_pipeline_faster(
    pipeline: StudiedPipeline, room: int, failures: int
) -> None:
    first = pipeline.tasks[0]
    fails = tuple(Failure(first.name, 1 + at) for at in range(failures))
    free = run(PipelineStudy(pipeline, NONE, FREE)).seconds
    bounded = run(PipelineStudy(pipeline, LOG, PipelineCosts(room=room)))
    assert bounded.seconds >= free - 1e-9
    some = PipelineCosts(assign_s=0.25, generate_s=0.5, snapshot_s=0.5, restart_s=3.0)
    logged = run(PipelineStudy(pipeline, LOG, some)).seconds
    assert logged >= free
    assert run(PipelineStudy(pipeline, LOG, some, fails)).seconds >= logged - 1e-9
    assert (
        run(PipelineStudy(pipeline, LOG, replace(some, room=room), fails)).seconds >= logged - 1e-9
    )
    assert run(PipelineStudy(pipeline, ABS, some, fails, 7.5)).seconds >= free - 1e-9


@given(pipelines(), st.data())
def test_without_a_snapshot_a_failure_repeats_all(
    pipeline: StudiedPipeline, data: st.DataObject
) -> None:
    """The time until the failure, the restart, and the whole run."""
    first = pipeline.tasks[0]
    after = data.draw(st.integers(1, pipeline.events - 1 or 1))
    free = seconds(pipeline)
    ran = run(
        PipelineStudy(
            pipeline, ABS, PipelineCosts(restart_s=3.0), (Failure(first.name, after),), 1e9
        )
    )
    if not ran.lost_s:  # the run ended before
        return
    assert isinstance(first.gathers, int)
    struck = 0.0
    for count in range(1, after + 1):
        struck = max(struck, pipeline.period_s * count)
        if count % first.gathers == 0 and count < after:
            struck += first.work_s
    assert ran.seconds == pytest.approx(struck + 3.0 + free)


@given(st.integers(1, 30), st.integers(0, 30))
def test_work_is_repeated_from_the_last_snapshot_on(epoch: int, beyond: int) -> None:
    """An operator that is as fast as the source, and a marker after so many of its events."""
    pipeline = StudiedPipeline(
        200, 1.0, (PipelineTask("OP2", ("OP1",), 0.5), PipelineTask("end", ("OP2",))), 200
    )
    after = epoch * 3 + beyond % epoch + 1
    ran = run(PipelineStudy(pipeline, ABS, FREE, (Failure("OP2", after),), float(epoch)))
    assert ran.lost_s == (0.5 * (beyond % epoch),)
    assert ran.seconds == pytest.approx(200.5 + after - 3 * epoch)


@given(st.integers(1, 40), st.integers(1, 12))
def test_a_restart_is_hidden_while_connections_have_room(after: int, room: int) -> None:
    """The writer is back after 5 s; what the operator before it makes meanwhile has to wait."""
    tasks = (
        PipelineTask("OP2", ("OP1",), 1.0),
        PipelineTask("OP3", ("OP2",), 0.0, writes=True),
        PipelineTask("end", ("OP3",)),
    )
    pipeline = StudiedPipeline(100, 0.5, tasks, 100)
    ran = run(
        PipelineStudy(
            pipeline, LOG, PipelineCosts(restart_s=5.5, room=room), (Failure("OP3", after),)
        )
    )
    # It makes one more, which it holds until there is room.
    assert ran.seconds == pytest.approx(100.5 + max(0.0, 5.5 - (room + 1)))


@given(st.integers(1, 100), st.integers(1, 4))
def test_a_failure_at_a_time_repeats_the_generation_under_way(tenth: int, work: int) -> None:
    tasks = (PipelineTask("OP2", ("OP1",), float(work)), PipelineTask("end", ("OP2",)))
    pipeline = StudiedPipeline(20, 0.5, tasks, 20)
    at_s = 0.5 + tenth / 10 * work / 10 + 0.01
    ran = run(
        PipelineStudy(pipeline, LOG, PipelineCosts(restart_s=2.0), (Failure("OP2", at_s=at_s),))
    )
    again = (at_s - 0.5) % work
    assert ran.seconds == pytest.approx(0.5 + 20 * work + 2.0 + again)


def test_a_failure_comes_before_the_output_of_its_last_input() -> None:
    """9.3.2 on Figure 8: with 10 inputs OP3 has made 4 outputs."""
    pipeline = linear(1000, 0.1, 0.5, 100, 5)
    for recovery, interval_s in ((LOG, inf), (ABS, 30.0)):
        ran = run(PipelineStudy(pipeline, recovery, FREE, (Failure("OP3", 10),), interval_s))
        ((source, made),) = ran.made
        assert (source, made) == (22, 4)


# --- beside the model ------------------------------------------------------------------------
def transactions(length: int, batch: int) -> int:
    """What a relay and a batch of the model send to the log in a run without crashes."""
    graph = chain(("relay", Relay()), ("batch", Triggered((batch,))))
    word = Inputs(tuple(Arrival(1, "a") for _ in range(length)), length)
    system = System(PROTOCOL, Scope(graph, (("source", word),), crashes=0))
    return sum(
        isinstance(effect, Send) and effect.to == "log"
        for world, action in _run(system)
        for effect in real_effects(response(system, world, action).effects)
    )


def _run(system: System) -> Iterator[tuple]:  # type: ignore[type-arg]
    world = initial(system)
    while possible := enabled(system, world):
        for part, before, _ in unfold(system, world, possible[0]):
            yield before, part
        world = apply(system, world, possible[0])


@given(st.integers(1, 4), st.integers(1, 3))
@settings(max_examples=12)
def test_transactions_are_those_of_the_model(sets: int, batch: int) -> None:
    events = sets * batch
    tasks = (
        PipelineTask("OP2", ("OP1",)),
        PipelineTask("OP3", ("OP2",), gathers=batch, writes=True),
        PipelineTask("end", ("OP3",)),
    )
    ran = run(PipelineStudy(StudiedPipeline(events, 1.0, tasks, sets), LOG, FREE))
    # The last operator of the paper ends the run; the model has an external system there.
    assert ran.transactions - sets == transactions(events, batch)


# --- the paper -------------------------------------------------------------------------------
def test_work_done_again_is_what_the_text_says() -> None:
    """9.3.2: 15 * 5 s, 75 * 0.5 s and 250 * 0.1 s at the end of an epoch of 15 s."""
    for events, period_s, work_s, outputs in (
        (100, 0.5, 5.0, 15),
        (1000, 0.1, 0.5, 75),
        (5000, 0.03, 0.1, 250),
    ):
        pipeline = linear(events, period_s, work_s, 1, events // 2)
        one = costs(ABS, FigureReading.UNBOUNDED)
        ran = run(PipelineStudy(pipeline, ABS, one, (Failure("OP4", 2 * outputs),), 15.0))
        assert ran.lost_s == pytest.approx((outputs * work_s,), rel=0.02)


def test_with_full_connections_an_epoch_is_an_interval_of_work() -> None:
    """The source is held back; a failure repeats at most an interval of the work of OP3."""
    pipeline = linear(1000, 0.1, 0.5, 100, 5)
    one = replace(costs(ABS, CHOSEN), restart_s=0.0)
    free = run(PipelineStudy(pipeline, ABS, one, interval_s=15.0)).seconds
    for after in range(200, 480, 40):
        (lost,) = run(PipelineStudy(pipeline, ABS, one, (Failure("OP4", after),), 15.0)).lost_s
        assert lost <= 15.0
    again = run(PipelineStudy(pipeline, ABS, one, (Failure("OP4", 300),), 15.0))
    assert free < again.seconds < free + 30


def test_each_calibrated_number_comes_out() -> None:
    """What a cost was calibrated on is compared with nothing, so it is here."""
    known = {one.id: one for one in numbers() if one.paper == "LOG.io"}
    found = {
        (figure.key, row["protocol"], row["failures"]): row["overhead"]
        for figure in FIGURES
        if figure.key in ("fig5", "fig7")
        for row in rows(figure, 0, next(iter(figure.pipelines.values())).events)
        if row["reading"] == CHOSEN.value
        and row["interval_s"] in (None, 15.0)
        and not row["event_mb"]
        and not row["lineage"]
    }
    for id_, place in {
        "fig5-abs-1": ("fig5", "abs", 1),
        "fig5-log-3": ("fig5", "log", 3),
        "fig7-log-normal": ("fig7", "log", 0),
        "fig7-log-3": ("fig7", "log", 3),
        "fig7-abs-normal": ("fig7", "abs", 0),
    }.items():
        assert known[id_].why_not
        assert found[place] == pytest.approx(known[id_].value, rel=0.02), id_


def test_a_number_is_compared_in_the_reading_that_was_chosen() -> None:
    for one in numbers():
        if one.paper == "LOG.io":
            assert len(one.ours) <= 1
            assert set(one.ours) <= {CHOSEN.value, "measured"} or one.id.startswith("crossing")
            assert CHOSEN.value not in one.beside


def test_readings_are_those_of_the_protocols() -> None:
    for recovery, readings in READINGS.items():
        assert CHOSEN in readings
        for reading in readings:
            one = costs(recovery, reading)
            assert (one.room is not None) == (reading is FigureReading.BOUNDED)
            assert (one.snapshot_s > 0) == (reading is FigureReading.SNAPSHOT)
    assert {costs(one, CHOSEN).room for one in (LOG, ABS)} == {costs(LOG, CHOSEN).room}


# --- numbers that exclude each other -----------------------------------------------------------
def near(id_: str, ours: float) -> bool:
    number = next(one for one in numbers() if one.id == id_)
    return verdict(number, ours) == "within 10 %"


def test_each_exclusion_is_a_contradiction() -> None:
    known = {one.id: one for one in numbers()}
    for one in exclusions():
        assert one.needed > one.allowed
        assert not all(known[id_].why_not for id_ in one.ids)


def test_at_least_so_many_numbers_are_not_within_a_tenth() -> None:
    calibrated = [one.id for one in numbers() if one.paper == "LOG.io" and one.why_not]
    assert fewest_outside(exclusions(), calibrated) == 7
    assert fewest_outside([]) == 0
    pairs = [Exclusion(ids, "", 1, 0) for ids in (("a", "b"), ("b", "c"), ("d",))]
    assert fewest_outside(pairs) == 2
    assert fewest_outside(pairs, ["b"]) == 3


percent, restart = st.floats(0, 100), st.floats(0, 200)


@given(st.floats(300, 360), percent, restart, st.floats(0, 1), st.floats(0, 90))
def test_no_model_with_one_restart_has_the_second_failure_of_abs(
    baseline: float, normal: float, start: float, first: float, again: float
) -> None:
    for figure, most in (("fig7", 6.0), ("fig8", 3.0), ("fig9", 2.0)):
        one = normal + 100 * (first * most + start) / baseline
        two = one + 100 * (again + start) / baseline
        found = {"abs-normal": normal, "abs-1": one, "abs-2": two, "lost": again}
        assert not all(near(f"{figure}-{name}", ours) for name, ours in found.items())


@given(percent, percent)
def test_no_model_with_one_restart_has_the_three_failures_of_figure_8(
    normal: float, restart: float
) -> None:
    found = {"normal": normal, "1": normal + restart, "3": normal + 3 * restart}
    assert not all(near(f"fig8-log-{name}", ours) for name, ours in found.items())


@given(percent, percent, st.floats(0, 1), st.floats(0, 1))
def test_no_model_with_one_restart_has_the_failures_of_figure_12(
    normal: float, restart: float, second: float, third: float
) -> None:
    one = normal + restart
    two = one + second * restart
    found = {"normal": normal, "1": one, "2": two, "3": two + third * restart}
    assert not all(near(f"fig12-log-{name}", ours) for name, ours in found.items())


# --- the crossing ----------------------------------------------------------------------------
shares, seconds_ = st.floats(0, 1), st.floats(0, 100)


@given(shares, shares, seconds_, seconds_, st.floats(1, 1e6))
def test_below_the_crossing_the_log_costs_less(
    log: float, snapshots: float, log_s: float, snapshots_s: float, between_s: float
) -> None:
    at = crossing({"normal": log, "cost_s": log_s}, {"normal": snapshots, "cost_s": snapshots_s})
    difference = (log + log_s / between_s) - (snapshots + snapshots_s / between_s)
    if abs(difference) > 1e-9:
        assert (difference < 0) == (between_s < at) or (log < snapshots and log_s > snapshots_s)


def test_a_crossing_is_what_a_pencil_says() -> None:
    """3 % more in normal operation, and 30 s less a failure: 1,000 s between failures."""
    log, snapshots = {"normal": 0.05, "cost_s": 25.0}, {"normal": 0.02, "cost_s": 55.0}
    assert crossing(log, snapshots) == pytest.approx(1000)
    assert crossing(snapshots, log) == 0


@pytest.mark.slow
def test_the_experiment_has_a_crossing_for_every_point_and_is_drawn() -> None:
    """On few events; the paper has claims about it."""
    experiment = experiments()["logio-crossing"]
    assert not experiment.ours
    result = compared(experiment, experiment.rows(0, 60), seeds=1, events=60)
    assert len(result.numbers) == 5
    assert json.loads(json.dumps(plain(result), allow_nan=False)) == plain(result)
    crossings = [cell["crossing_s"] for cell in result.cells]
    assert len(crossings) == 180
    assert all(one is None or one >= 0 for one in crossings)
    assert any(crossings)
    picture = drawing.figure(result)
    assert picture is not None
    ElementTree.fromstring(picture)


@pytest.mark.spark
def test_spark_runs_the_seeds_as_processes_do(tmp_path: Path) -> None:
    figure = experiments()["logio-fig6"]
    execute = calls_on_spark(tmp_path / "_spark", "local[2]", {}, size=1)
    here = campaign.reproduce(figure, tmp_path / "here")
    there = campaign.reproduce(figure, tmp_path / "there", execute=execute)
    assert here.cells == there.cells
    assert there.resumed == 0


# --- the inbox -------------------------------------------------------------------------------
PAUSES = st.lists(st.integers(0, 3), max_size=6)


def deliveries(
    senders: list[list[int]], pauses: list[int], room: float, store: type
) -> list[tuple[Any, ...]]:
    """When each item went in, and when it was taken, by an inbox or by a store of SimPy."""
    env = simpy.Environment()
    inbox: Any = store(env, room)
    seen: list[tuple[Any, ...]] = []

    def send(name: str, waits: list[int]) -> Generator[simpy.Event, Any, None]:
        for number, pause in enumerate(waits):
            yield env.timeout(pause)
            put = inbox.put((name, number))
            if put is not None and not put.triggered:
                yield put
            seen.append(("in", env.now, name, number))

    def take() -> Generator[simpy.Event, Any, None]:
        for pause in pauses:
            if store is TaskInbox:
                if not inbox.items:
                    yield inbox.filled()
                item = inbox.take()
            else:
                item = yield inbox.get()
            seen.append(("out", env.now, *item))
            yield env.timeout(pause)

    for at, waits in enumerate(senders):
        env.process(send(f"s{at}", waits))
    env.process(take())
    env.run()
    return seen


@given(st.lists(PAUSES, min_size=1, max_size=3), PAUSES, st.sampled_from([1, 2, 3, inf]))
def test_an_inbox_is_a_store(senders: list[list[int]], pauses: list[int], room: float) -> None:
    """The same items at the same times, and out in the same order."""
    ours, theirs = (deliveries(senders, pauses, room, one) for one in (TaskInbox, simpy.Store))
    assert sorted(ours) == sorted(theirs)
    assert [one for one in ours if one[0] == "out"] == [one for one in theirs if one[0] == "out"]
