"""ABS in micro-batches, without Spark: what the model predicts, the operator, and the sink."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.core import Guarantee
from model.errors import Invalid
from model.events import Body
from model.recovery import classify
from sim.predictions.abs import CrashPlan, CrashPoint, SinkKind, expected, predict
from spark_check.abs.checks import crash_points
from spark_check.abs.checks.crash_points import ENDS, QUICK, TYPES
from spark_check.abs.job import Pipeline, write
from spark_check.abs.pairs import pair
from spark_check.check import Setting, run_check
from spark_check.log_io.external import Pair, open_book

CRASHES = [
    [CrashPlan(point, batch) for batch in batches]
    for batches in ((0,), (1,), (2,), (1, 1), (1, 2), (2, 2, 2))
    for point in CrashPoint
]


@pytest.mark.parametrize("crashes", CRASHES, ids=lambda plans: ", ".join(map(str, plans)))
@pytest.mark.parametrize("sink", SinkKind)
def test_the_gap_is_between_the_write_and_the_commit(
    sink: SinkKind, crashes: list[CrashPlan]
) -> None:
    found = predict(TYPES, ENDS, crashes, sink)
    repeats = sink is SinkKind.PLAIN and crashes[0].point is CrashPoint.WRITTEN
    wanted = Guarantee.REPEATING if repeats else Guarantee.PRECISE
    assert classify(expected(TYPES), found.rows) is wanted
    sizes = [end - begin for begin, end in pairwise((0, *ENDS))]
    assert found.replayed == sum(sizes[plan.batch] for plan in crashes)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_crash_in_a_batch_that_writes_nothing_is_refused(batch: int) -> None:
    plan = CrashPlan(CrashPoint.WRITTEN, batch)
    with pytest.raises(Invalid, match="writes nothing, or there is no such batch"):
        predict("aabab", (2, 3, 5), [plan], SinkKind.PLAIN)


# --- the job without Spark -------------------------------------------------------------------
class State:
    """What Spark hands to the operator as its state."""

    value: tuple[int] | None = None

    @property
    def exists(self) -> bool:
        return self.value is not None

    @property
    def get(self) -> tuple[int] | None:
        return self.value

    def update(self, value: tuple[int]) -> None:
        self.value = value


@given(st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_operator_makes_the_pairs_of_the_oracle(batches: list[str]) -> None:
    states: dict[str, State] = {}
    found: list[Body] = []
    number = 0
    for batch in batches:
        rows: dict[str, list[int]] = {}
        for type_ in batch:
            number += 1
            rows.setdefault(type_, []).append(number)
        made: list[Pair] = []
        for type_, numbers in rows.items():
            parts = [pd.DataFrame({"number": numbers[::-1]})]  # Spark keeps no order
            state = states.setdefault(type_, State())
            for frame in pair((type_,), parts, state):  # type: ignore[arg-type]
                made += [Pair(*row) for row in frame.itertuples(index=False)]
        found += [one.body() for one in sorted(made, key=lambda one: one.second)]
    assert tuple(found) == expected("".join(batches))


@pytest.mark.parametrize("sink", SinkKind)
def test_the_sink_writes_a_batch_again_or_not(sink: SinkKind, tmp_path: Path) -> None:
    pipeline = Pipeline(str(tmp_path), TYPES, ENDS, str(tmp_path / "book.db"), sink)
    first, second = Pair("a", 1, 2), Pair("b", 3, 5)
    write(pipeline, 0, [first])
    write(pipeline, 1, [second])
    write(pipeline, 1, [second])
    with open_book(pipeline.book) as book:
        rows = [one for _, one in book.rows()]
    assert rows == [first, second, second][: 3 if sink is SinkKind.PLAIN else 2]


@pytest.mark.spark
@pytest.mark.exhaustive  # the report runs the same check
def test_killed_queries_do_as_predicted(tmp_path: Path) -> None:
    result = run_check(crash_points.CHECK, Setting(tmp_path, "quick", lambda *_: None))
    assert result["holds"]
    assert len(result["cases"]) == len(QUICK)
