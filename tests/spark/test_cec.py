"""CEC in micro-batches, without Spark: keys apart, numbered, cut, scanned and loaded again."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.events import Body
from model.log import Log
from model.protocols.cec.design import MENDED
from model.protocols.cec.messages import Segment
from model.protocols.cec.scan import reconstruct
from sim.predictions.cec import CrashPlan, CrashPoint, plain, predict
from spark_check.cec.keyed_node import InputRow, Query
from spark_check.cec.loop import find_in, go_on

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


queries = st.builds(Query, st.sampled_from(BOXES), st.integers(1, 12), st.just(MENDED))


@given(streams(), queries)
def test_keys_apart_make_the_log_of_the_single_node(stream: Stream, query: Query) -> None:
    found = go_on(query, stream.rows, stream.ends, [])
    expected = predict(query.box, stream.bodies, stream.ends, query.patience)
    assert [plain(one.record) for one in found] == [*expected.log]


@given(streams(), queries, st.data())
def test_a_restart_goes_on_as_the_single_node_does(
    stream: Stream, query: Query, data: st.DataObject
) -> None:
    """The log is cut after any batch; the rest of the stream is run from what it says."""
    batch = data.draw(st.integers(0, len(stream.ends) - 1))
    crash = CrashPlan(CrashPoint.BEFORE, batch)
    expected = predict(query.box, stream.bodies, stream.ends, query.patience, [crash])
    last = stream.ends[batch - 1] if batch else 0
    log = go_on(query, stream.rows[:last], stream.ends[:batch], [])
    again = go_on(query, stream.rows, stream.ends, log)
    assert [plain(one.record) for one in again] == [*expected.log]
    found = find_in(query, log)
    assert found.scanned == expected.restarts[-1].scanned
    assert found.start == expected.restarts[-1].start


@given(streams(), queries)
def test_the_newest_records_are_all_that_a_scan_looks_at(stream: Stream, query: Query) -> None:
    log = go_on(query, stream.rows, stream.ends, [])
    nothing: Log[Segment] = Log()
    whole = nothing.extend(Segment(at, (record,)) for at, record in log)
    assert find_in(query, log) == reconstruct(query.design, query.box, whole)
