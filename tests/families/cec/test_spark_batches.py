"""CEC in micro-batches, without Spark: keys apart, numbered, cut, scanned and loaded again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_check.check import CheckSetting, run_check
from model.boxes.aggregate import Aggregate
from model.errors import Invalid
from model.events import Body
from model.log import Log
from model.protocols.cec.design import MENDED, CecDesign
from model.protocols.cec.messages import NodeState, Segment
from model.protocols.cec.scan import EventualCheckpoint, reconstruct
from sim.predictions import cec as predictions
from sim.predictions.cec import plain, predict
from sim.predictions.crashes import BatchCrash
from spark_check.cec.calibration import ExtentParts, calibrate
from spark_check.cec.checks import crash_points
from spark_check.cec.checks.crash_points import MORE, QUICK, REFUTED
from spark_check.cec.crashes import CecCase, prediction_of
from spark_check.cec.keyed_node import InputRow, KeyedQuery, Made, load
from spark_check.cec.log import End, Placed, RecordLog, end_of, number
from spark_check.cec.loop import find_in, go_on, incarnation
from spark_check.cec.operator import CONF
from spark_check.cec.recovery import FAILING, WindowsSize, measure, seek
from spark_check.cec.scan import summarize
from spark_check.cec.stops import CecPoint
from spark_check.engine import ENGINE
from spark_check.runtime.session import BRIEF, session

BEFORE = predictions.DurablePart.BEFORE
BOXES = (
    Aggregate("list", 2, 2, of="time", group="type"),
    Aggregate("list", 3, 1, of="time", group="type"),
    Aggregate("list", 1, 3, of="time", group="type"),
    Aggregate("count", 4, 4, by="time", group="type"),
    Aggregate("count", 4, 2, by="time", group="type"),
    Aggregate("count", 3, 3, by="time", group="type", aligned=False),
)


class Stream(NamedTuple):
    rows: tuple[InputRow, ...]
    ends: tuple[int, ...]

    @property
    def bodies(self) -> list[Body]:
        return [row.event().body for row in self.rows]


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    times = [*accumulate(draw(st.integers(0, 2)) for _ in range(sum(sizes)))]
    keys = draw(st.text("abc", min_size=len(times), max_size=len(times)))
    rows = (InputRow(n, *one) for n, one in enumerate(zip(times, keys, strict=True), 1))
    return Stream((*rows,), (*accumulate(sizes),))


queries = st.builds(KeyedQuery, st.sampled_from(BOXES), st.integers(1, 12), st.just(MENDED))


@given(streams(), queries)
def test_keys_apart_make_the_log_of_the_single_node(stream: Stream, query: KeyedQuery) -> None:
    found = go_on(query, stream.rows, stream.ends, [])
    expected = predict(query.box, stream.bodies, stream.ends, query.patience)
    assert [plain(one.record) for one in found] == [*expected.log]


@given(streams(), queries, st.data())
def test_a_restart_goes_on_as_the_single_node_does(
    stream: Stream, query: KeyedQuery, data: st.DataObject
) -> None:
    """The log is cut after any batch; the rest of the stream is run from what it says."""
    batch = data.draw(st.integers(0, len(stream.ends) - 1))
    crash = BatchCrash(BEFORE, batch)
    expected = predict(query.box, stream.bodies, stream.ends, query.patience, [crash])
    last = stream.ends[batch - 1] if batch else 0
    log = go_on(query, stream.rows[:last], stream.ends[:batch], [])
    again = go_on(query, stream.rows, stream.ends, log)
    assert [plain(one.record) for one in again] == [*expected.log]
    found = find_in(query, log)
    assert found.scanned == expected.restarts[-1].scanned
    assert found.start == expected.restarts[-1].start


@given(streams(), queries)
def test_the_newest_records_are_all_that_a_scan_looks_at(stream: Stream, query: KeyedQuery) -> None:
    log = go_on(query, stream.rows, stream.ends, [])
    nothing: Log[Segment] = Log()
    whole = nothing.extend(Segment(at, (record,)) for at, record in log)
    assert find_in(query, log) == reconstruct(query.design, query.box, whole)


# --- crashes ---------------------------------------------------------------------------------
class PowerCut(Exception):
    """The end of an incarnation in the middle of a write."""


def play(case: CecCase, folder: Path) -> dict[str, object]:
    """What the check would compare, if the case's one crash ends a plain loop, and not Spark."""
    world, (plan,) = case.world, case.crashes
    query, log = world.query, RecordLog(str(folder), world.in_place)
    batches = incarnation(query, world.rows, world.ends, [])
    for file, placed in enumerate(batches, 1):
        if file <= plan.batch or plan.point in (CecPoint.STORED, CecPoint.SENT):
            log.write(file, placed)
        elif plan.point is CecPoint.HALF:
            with pytest.raises(PowerCut):
                log.write(file, placed, cut_power)
        if file > plan.batch:
            break
    files, cut = log.cut(query.design)
    records = [*log.read(files)]
    found = find_in(query, records)
    assert found.start is not None
    again = incarnation(query, world.rows, world.ends, records)
    for file, placed in enumerate(filter(None, again), len(files) + 1):
        log.write(file, placed)
    restart = (len(found.windows), found.start, found.newest, found.scanned, cut)
    return {"restart": restart, "log": [plain(one.record) for one in log.read()]}


def cut_power() -> None:
    raise PowerCut


def predicted(case: CecCase) -> dict[str, object]:
    found = prediction_of(case)
    return {"restart": found.restarts[-1][:5], "log": [*found.log]}


ONCE = [case for case in (*QUICK, *MORE, *REFUTED) if len(case.crashes) == 1]


@pytest.mark.parametrize("case", ONCE, ids=lambda case: case.name)
def test_a_crashed_loop_does_as_predicted(case: CecCase, tmp_path: Path) -> None:
    assert play(case, tmp_path) == predicted(case)


def no_floors(found: EventualCheckpoint) -> dict[str, NodeState]:
    return {key: state._replace(floors=()) for key, state in load(found).items()}


def no_open_floors(found: EventualCheckpoint) -> dict[str, NodeState]:
    """Keys remember what closed; windows take every tuple."""
    return {
        key: state._replace(floors=tuple(f for f in state.floors if f.opened is None))
        for key, state in load(found).items()
    }


def later(design: CecDesign, box: Aggregate, newest: Iterable[Placed]) -> EventualCheckpoint:
    found = summarize(design, box, newest)
    assert found.start is not None
    return found._replace(start=found.start + 1)


def stops_early(design: CecDesign, box: Aggregate, newest: Iterable[Placed]) -> EventualCheckpoint:
    """The scan looks for one footprint less than N."""
    if not (kept := sorted(newest)):
        return summarize(design, box, [])
    *rest, last = kept
    fewer = last.record._replace(n=max(0, last.record.n - 1))
    return summarize(design, box, [*rest, last._replace(record=fewer)])


def one_too_many(end: End, made: Iterable[Made]) -> list[Placed]:
    placed = number(end, made)
    return [one._replace(record=one.record._replace(n=one.record.n + 1)) for one in placed]


def by_key(end: End, made: Iterable[Made]) -> list[Placed]:
    """The records of a batch as the tasks hand them over, key by key."""
    apart: list[Placed] = []
    ordered = sorted(made, key=lambda one: one.record.key)
    for one in ordered:
        apart += number(end_of(end, apart), [one])
    return apart


def never(_: KeyedQuery, state: NodeState, __: int) -> tuple[NodeState, list[Made]]:
    return state, []


LOOP, LOG = "spark_check.cec.loop", "spark_check.cec.log"
FAULTS = {
    "floors ignored": (f"{LOOP}.load", no_floors),
    "floors of open windows ignored": (f"{LOOP}.load", no_open_floors),
    "T too late": (f"{LOOP}.summarize", later),
    "a scan for N - 1 footprints": (f"{LOOP}.summarize", stops_early),
    "N off by one": (f"{LOOP}.number", one_too_many),
    "records in the order of the tasks": (f"{LOOP}.number", by_key),
    "no G_check of a key without tuples": (f"{LOOP}.make_checkpoints", never),
    "no G_check of a key with tuples": ("spark_check.cec.keyed_node.make_checkpoints", never),
    "a torn file taken as whole": (f"{LOG}._is_torn", lambda _: False),
    "nothing cut": (f"{LOG}.repair", lambda _, disk: (disk, 0)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_check_notices(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    noticed = []
    for at, case in enumerate(ONCE):
        try:
            noticed.append(play(case, tmp_path / f"{at}") != predicted(case))
        except pa.ArrowInvalid:  # a torn file cannot be read
            noticed.append(True)
    assert any(noticed)


def test_a_crash_in_no_batch_is_refused() -> None:
    stream = Stream((InputRow(1, 0, "a"),), (1,))
    with pytest.raises(Invalid, match="incarnation 0 has no batch 1"):
        predict(BOXES[0], stream.bodies, stream.ends, 1, [BatchCrash(BEFORE, 1)])


# --- costs -----------------------------------------------------------------------------------
seconds = st.floats(0.001, 10)


@given(seconds, seconds, seconds, seconds, seconds)
def test_costs_are_found_again(
    scan: float, record: float, each: float, rest: float, at: float
) -> None:
    runs = [
        ExtentParts(size, 2 * size, scan + record * size, at + each * 2 * size, rest)
        for size in (100, 300, 1_000)
    ]
    costs = calibrate(runs)
    for run in runs:
        assert costs.recovery_s(run.read, run.loaded) == pytest.approx(run.total_s)


def test_one_size_calibrates_nothing() -> None:
    with pytest.raises(Invalid, match="need two sizes"):
        calibrate([ExtentParts(5, 5, 1, 1, 1)] * 2)


def test_what_the_restart_will_find_follows_from_the_loop() -> None:
    """The sizes of the measurement, by the model's own node."""
    world = WindowsSize(12).world(Path("unused"))
    sought = seek(world)
    crash = BatchCrash(BEFORE, FAILING)
    bodies = [row.event().body for row in world.rows]
    found = predict(world.query.box, bodies, world.ends, world.query.patience, [crash])
    assert found.restarts[-1][:2] == (sought.windows, sought.start)
    assert found.restarts[-1].scanned == sought.scanned


# --- on Spark --------------------------------------------------------------------------------
@pytest.mark.spark
@pytest.mark.exhaustive  # the report runs the same check
def test_killed_queries_do_as_predicted(tmp_path: Path) -> None:
    result = run_check(ENGINE, crash_points.CHECK, CheckSetting(tmp_path, "quick", lambda *_: None))
    assert result.holds
    assert [case.crashed[0].kind for case in result.cases] == ["tree"] * len(QUICK)


@pytest.mark.spark
@pytest.mark.exhaustive  # only the full profile of the check measures
def test_both_recoveries_are_measured_beside_each_other(tmp_path: Path) -> None:
    with session(tmp_path / "session", conf={**BRIEF, **CONF}) as spark:
        found = measure(spark, tmp_path / "run", WindowsSize(12))
    assert found.same
    assert found.sought == seek(WindowsSize(12).world(Path("unused")))
    assert found.recovery.total_s > 0
    assert found.restart.total_s > 0
