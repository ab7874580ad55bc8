"""The kernel of the LOG.io paper, Section 9, beside timed runs of log-io and abs.

A run is a line: a source, operators that gather so many inputs for an output, and a sink; one
operator may fail after so many inputs.  Both have the same work, prices, bounds and restarts.

What the two have by design in different ways, so that the tests convert it:

- The kernel's source logs an output while it waits for the next event (max of the two times).  The
  model's reader logs an event when it has come, so that all that follows is a transaction later.
- The kernel's last operator is one of the paper's: it logs its input.  The model has an external
  system there.  The kernel's writer logs the success of a write before it hands the output on; the
  model's writer logs it when the external system has answered.
- In the kernel each transaction has a device of its own.  Here the log has more devices than there
  are nodes; other tests have one device (test_waiting.py).
- An input leaves the kernel's connection for good when work on it begins.  In a timed run it is in
  the connection again if the receiver crashes before the step has ended.
- The kernel reads an undone input in the time of an update.  The log of the model answers with the
  inputs that are not assigned, too: here, reading has no price, and the restart takes longer.
- After a restart under ABS the kernel's source makes its events again one by one, in their rhythm;
  the model's source has kept them and sends them at once, so that all is a period earlier.  In the
  kernel the time to the next marker begins with the restart; a timed run has a clock for markers.
- In the kernel all nodes stop when one fails.  In a timed run the others stop when the failure has
  been detected (detector.whole_pipeline), and all return at the same time.
- The kernel's source ends an epoch at each interval; the model has one epoch under way at a time.
- A marker takes room in the kernel's connections, and none in a timed run, which bounds events.
- The kernel's snapshots of the source cost nothing; a timed run's are transactions like others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from model.actions import Deliver
from model.boxes.triggered import Triggered
from model.core import Arrival, Inputs, Scope
from model.graph import chain
from model.knobs import turn
from model.registry import protocols
from model.system import System
from sim.experiments.logio import pipeline as kernel
from sim.experiments.logio.study import (
    Failure,
    PipelineCosts,
    PipelineRecovery,
    PipelineStudy,
    PipelineTask,
    StudiedPipeline,
)
from sim.timed.costs import PS, Costs, LinkCosts, OperatorWork, Service, StoreCosts, Timer
from sim.timed.detector import Detector
from sim.timed.failures import TimedCrash
from sim.timed.record import LogEntry, TimedResult
from sim.timed.simulator import run_timed

LOG, ABS = PipelineRecovery.LOG, PipelineRecovery.SNAPSHOTS
NAMES = {PipelineRecovery.NONE: "amnesia", LOG: "log-io", ABS: "abs"}
DEVICES = 99
LOOKS_PS = 10**6 * PS
"""The series of a run is no part of these tests."""
QUICK = Detector(keep_alive_s=1e-6, misses=1)
ASSIGN_S, GENERATE_S = 0.0625, 0.25


class Timed(NamedTuple):
    """A timed run.  seconds: until the last output."""

    seconds: float
    result: TimedResult
    log: list[LogEntry]


def timed(case: PipelineStudy) -> Timed:
    """The timed run of a case; a failure strikes before an output is made of the last input."""
    before = _run(case, [])
    if not case.failures:
        return before
    (failure,) = case.failures
    assert failure.after is not None
    taken = [
        entry
        for entry in before.log
        if isinstance(entry.action, Deliver)
        and entry.action.node == failure.task
        and entry.what[0] in ("event", "records")
    ]
    (gathers,) = (_gathers(one) for one in case.pipeline.tasks if one.name == failure.task)
    undone, last = failure.after % gathers, taken[failure.after - 1]
    at_ps = last.done_ps if undone else last.began_ps
    wait_ps = round(case.costs.restart_s * PS) - (QUICK.outage(at_ps).detected - at_ps)
    if case.recovery is LOG:
        wait_ps += round((undone or gathers) * case.costs.assign_s * PS)
    return _run(case, [TimedCrash(at_ps, (failure.task,), None, (wait_ps,))])


def _gathers(task: PipelineTask) -> int:
    assert isinstance(task.gathers, int)
    return task.gathers


def _run(case: PipelineStudy, planned: list[TimedCrash]) -> Timed:
    line, costs = case.pipeline, case.costs
    operators = line.tasks[:-1]
    graph = chain(*((one.name, Triggered((_gathers(one),))) for one in operators), source="OP1")
    protocol = protocols()[NAMES[case.recovery]]
    if case.recovery is ABS and not any(one.writes for one in operators):
        protocol = turn(protocol, "writes", "idempotent")
    system = System(protocol, Scope(graph, (("OP1", Inputs((), 0)),), 1))
    stores = {}
    if case.recovery is LOG:
        stores["log"] = StoreCosts(
            transaction_s=costs.assign_s,
            event_s=costs.generate_s - costs.assign_s,
            devices=DEVICES,
        )
    if case.recovery is ABS:
        stores["coordinator"] = StoreCosts(transaction_s=costs.snapshot_s, devices=DEVICES)
    share = costs.share if case.recovery is ABS else 0.0
    timers = {}
    if case.recovery is ABS:
        timers["epoch"] = Timer(every_s=case.interval_s, phase_s=case.interval_s + 1e-6)
    priced = Costs(
        service=Service(event_s=0, control_s=0, item_s=0, savepoint_s=0),
        link=LinkCosts(delay_s=0, bandwidth_bytes_per_s=None),
        work={one.name: OperatorWork(output_s=one.work_s * (1 + share)) for one in operators},
        stores=stores,
        room=costs.room,
        timers=timers,
    )
    log: list[LogEntry] = []
    passed: list[int] = []
    period_ps = round(line.period_s * PS)
    result = run_timed(
        system,
        ((period_ps * (at + 1), "OP1", Arrival(1, "a")) for at in range(line.events)),
        priced,
        lambda _sink, at, _output: passed.append(at),
        ends_ps=LOOKS_PS,
        detector=QUICK.model_copy(update={"whole_pipeline": case.recovery is ABS}),
        planned=planned,
        log=log,
    )
    return Timed(passed[line.ends - 1] / PS, result, sorted(log))


# --- lines -----------------------------------------------------------------------------------
@st.composite
def lines(draw: st.DrawFn) -> StudiedPipeline:
    """A line whose second operator is never slower than the source, and whose writer is fast, so
    that successes of its writes are logged before its next input comes."""
    period_s = draw(st.sampled_from([1.0, 1.5]))
    works = [period_s + draw(st.sampled_from([0.0, 0.5]))]
    works += draw(st.lists(st.sampled_from([0.0, 1.0, 4.0, 7.0]), max_size=2))
    gathers = [1, *(draw(st.integers(1, 3)) for _ in works[1:]), draw(st.integers(1, 4))]
    ends = draw(st.integers(1, 4))
    events = ends
    for each in gathers:
        events *= each
    tasks = [
        PipelineTask(f"OP{at + 2}", (f"OP{at + 1}",), work, gathers[at], writes=at == len(works))
        for at, work in enumerate([*works, 0.0])
    ]
    last = PipelineTask("end", (tasks[-1].name,))
    return StudiedPipeline(events, period_s, (*tasks, last), ends)


ROOMS = st.sampled_from([None, 1, 2, 5])


def logged(room: int | None, restart_s: float = 0.0) -> PipelineCosts:
    return PipelineCosts(ASSIGN_S, GENERATE_S, room=room, restart_s=restart_s)


def assert_logged(case: PipelineStudy) -> None:
    ran, found = kernel.run(case), timed(case)
    converted = ran.seconds + GENERATE_S - 2 * ASSIGN_S
    assert found.seconds == pytest.approx(converted, abs=1e-5)
    if not case.failures:  # a step that a crash takes back may have begun a transaction
        assert found.result.saves == ran.transactions - case.pipeline.ends


@settings(max_examples=40)
@given(lines(), ROOMS)
def test_log_io_in_normal_operation(line: StudiedPipeline, room: int | None) -> None:
    assert_logged(PipelineStudy(line, LOG, logged(room)))


@settings(max_examples=40)
@given(lines(), ROOMS, st.data())
def test_log_io_with_a_failure_of_the_writer(
    line: StudiedPipeline, room: int | None, data: st.DataObject
) -> None:
    """It has no work of its own, so that no input waits for it when it fails, and fails between
    two outputs, so that no write is under way."""
    writer = line.tasks[-2]
    assert isinstance(writer.gathers, int)
    assume(writer.gathers > 1)
    set_ = data.draw(st.integers(0, line.ends - 1))
    after = set_ * writer.gathers + data.draw(st.integers(1, writer.gathers - 1))
    assert_logged(
        PipelineStudy(line, LOG, logged(room, restart_s=20.0), (Failure(writer.name, after),))
    )


@pytest.mark.slow
@settings(max_examples=40)
@given(lines(), ROOMS, st.data())
def test_log_io_with_a_failure_of_the_slowest(
    line: StudiedPipeline, room: int | None, data: st.DataObject
) -> None:
    one = max(line.tasks[:-2], key=lambda task: task.work_s)
    inputs = line.events
    for task in line.tasks[: line.tasks.index(one)]:
        inputs //= _gathers(task)
    after = data.draw(st.integers(1, inputs))
    assume(room is None or after % _gathers(one))  # an input that is taken again takes room again
    case = PipelineStudy(line, LOG, logged(room, restart_s=20.0), (Failure(one.name, after),))
    assert_logged(case)


@settings(max_examples=40)
@given(lines(), st.sampled_from([11.0, 1e3]))
def test_abs_in_normal_operation(line: StudiedPipeline, interval_s: float) -> None:
    """The writer hands on what it has when the marker comes, which waits behind all records."""
    case = PipelineStudy(line, ABS, PipelineCosts(share=0.25), (), interval_s)
    assert timed(case).seconds == pytest.approx(kernel.run(case).seconds, abs=1e-5)


@settings(max_examples=40)
@given(lines(), ROOMS)
def test_abs_with_one_snapshot_a_node(line: StudiedPipeline, room: int | None) -> None:
    case = PipelineStudy(line, ABS, PipelineCosts(share=0.25, snapshot_s=0.5, room=room), (), 1e3)
    ran, found = kernel.run(case), timed(case)
    assert found.seconds == pytest.approx(ran.seconds + 0.5, abs=1e-5)  # that of the source
    assert found.result.saves == ran.snapshots + 1


def at_once(line: StudiedPipeline) -> StudiedPipeline:
    """The line with a writer that hands on each output, as with idempotent writes."""
    return replace(line, tasks=tuple(replace(one, writes=False) for one in line.tasks))


@settings(max_examples=40)
@given(lines(), ROOMS, st.data())
def test_abs_with_a_failure_before_the_first_marker(
    line: StudiedPipeline, room: int | None, data: st.DataObject
) -> None:
    one = data.draw(st.sampled_from(line.tasks[:-1]))
    inputs = line.events
    for task in line.tasks[: line.tasks.index(one)]:
        inputs //= _gathers(task)
    failure = Failure(one.name, data.draw(st.integers(1, inputs)))
    case = PipelineStudy(
        at_once(line), ABS, PipelineCosts(room=room, restart_s=20.0), (failure,), 1e3
    )
    ran, found = kernel.run(case), timed(case)
    crashed_s = found.result.outages[0].crashed_ps / PS
    assume(timed(replace(case, failures=())).seconds > crashed_s)  # not all outputs are out
    assert found.seconds == pytest.approx(ran.seconds - line.period_s, abs=1e-5)


@settings(max_examples=20)
@given(st.integers(2, 9), st.integers(1, 27), st.sampled_from(["OP2", "OP3"]))
def test_abs_with_a_failure_after_snapshots(every: int, after: int, fails: str) -> None:
    """The slowest operator is as fast as the source, so that an epoch is complete before the next
    one begins; the failure is not at the very moment of a marker."""
    assume(after % every > (fails == "OP2"))
    tasks = (
        PipelineTask("OP2", ("OP1",), 1.0),
        PipelineTask("OP3", ("OP2",), 0.25),
        PipelineTask("end", ("OP3",)),
    )
    line = StudiedPipeline(30, 1.0, tasks, 30)
    costs = PipelineCosts(restart_s=20.0)
    case = PipelineStudy(line, ABS, costs, (Failure(fails, after),), float(every))
    ran, found = kernel.run(case), timed(case)
    assert found.seconds == pytest.approx(ran.seconds - line.period_s, abs=1e-5)
    assert ran.lost_s == (after % every - (fails == "OP2"),)  # OP2 has not made the last output
