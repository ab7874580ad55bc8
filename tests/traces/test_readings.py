"""A log is broken in a known way, and the comparison names exactly this.

The logs are those of change data capture (rows with `before`, `after`, `source`, and the time of
output) and of a Kafka topic (rows with a partition and an offset).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from asif.cli import main
from asif.console import console
from model.comparison import Shape
from model.core import Guarantee
from model.results.plain import plain
from model.results.trace import RowCounts, TraceComparison, TraceReading
from reports.results import trace_words
from spark_check.traces import readings
from spark_check.traces.readings import ForeignRows, Names
from spark_check.traces.roles import ColumnRoles
from spark_check.traces.verify import compare, verify
from tests.traces.test_small_logs import (  # noqa: F401
    in_memory,
    logs_at,
    spark,
    without_ties,
    write,
)
from tests.traces.test_spark_traces import ASKED, packed
from tests.traces.trace_oracle import TraceCase, cases

Rows = list[dict[str, Any]]
LATER = 50_000
"""Milliseconds by which rows come later when they come again."""


def changes(count: int, start: int = 1_700_000_000_000) -> Rows:
    """Rows as Debezium has them: every third creates an order, the others update it."""
    rows: Rows = []
    for at in range(count):
        here = {"id": at // 3, "total": 7 * at}
        before = None if at % 3 == 0 else {"id": at // 3, "total": 7 * (at - 1)}
        source = {"table": "orders", "lsn": 900 + at, "ts_ms": 1_600_000_000_000 + at}
        op = "c" if before is None else "u"
        rows.append(
            {"op": op, "before": before, "after": here, "source": source, "ts_ms": start + 3 * at}
        )
    return rows


def records(count: int) -> Rows:
    """Rows of a Kafka topic with two partitions."""
    return numbered(
        [{"partition": at % 2, "key": f"k{at % 5}", "v": 3 * at} for at in range(count)]
    )


def numbered(rows: Sequence[dict[str, Any]]) -> Rows:
    """The rows with offsets in their partitions."""
    ends = {row["partition"]: 0 for row in rows}
    found: Rows = []
    for row in rows:
        found.append({**row, "offset": ends[row["partition"]]})
        ends[row["partition"]] += 1
    return found


def compared(folder: Path, reference: Rows, actual: Rows, **asked: Any) -> TraceComparison:
    paths = folder / "r.jsonl", folder / "a.jsonl"
    for path, rows in zip(paths, (reference, actual), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return verify(*paths, **asked)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readings")


class Damage(NamedTuple):
    """The rows of a log, by the fault that strikes them.  again: these come twice in one piece.
    moved: these two change places."""

    rows: int
    again: range
    lost: frozenset[int]
    changed: frozenset[int]
    moved: tuple[int, int] | None


@st.composite
def damages(draw: st.DrawFn) -> Damage:
    count = draw(st.integers(12, 30))
    start = draw(st.integers(0, count - 8))
    again = range(start, start + draw(st.integers(0, 4)))
    free = draw(st.permutations([at for at in range(count) if at not in again]))
    lost, other = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    moved = (free[6], free[7]) if draw(st.booleans()) else None
    return Damage(count, again, frozenset(free[:lost]), frozenset(free[3 : 3 + other]), moved)


def damaged(damage: Damage, rows: Rows, later: int) -> Rows:
    rows = [*rows]
    if damage.moved:
        one, other = damage.moved
        rows[one], rows[other] = rows[other], rows[one]
    for at in damage.changed:
        rows[at] = {**rows[at], "after": {**rows[at]["after"], "total": -rows[at]["ts_ms"]}}
    again = [{**rows[at], "ts_ms": rows[at]["ts_ms"] + later} for at in damage.again]
    end = damage.again.stop
    kept = [None if at in damage.lost else row for at, row in enumerate(rows)]
    return [row for row in (*kept[:end], *again, *kept[end:]) if row is not None]


class Explained(NamedTuple):
    """Rows that came again or with other content, by the columns; and the rest."""

    again: dict[tuple[str, ...], int]
    changed: dict[tuple[str, ...], int]
    missing: int
    duplicated: int
    unexpected: int


def last(result: TraceComparison) -> TraceComparison | TraceReading:
    """The last reading that leaves out columns."""
    found = [one for one in result.readings if one.left_out]
    return found[-1] if found else result


def explained(result: TraceComparison) -> Explained:
    rows = last(result).rows
    return Explained(
        {one.left_out: one.again for one in result.readings if one.again},
        {one.left_out: one.changed for one in result.readings if one.changed},
        rows.missing,
        rows.duplicated,
        rows.unexpected + rows.different,
    )


@given(damage=damages())
def test_what_came_again_is_named_with_all_other_faults(folder: Path, damage: Damage) -> None:
    """Rows come again with a new time; some are lost or have other content; two change places."""
    rows = changes(damage.rows)
    result = compared(folder, rows, damaged(damage, rows, LATER))
    again, changed = len(damage.again), len(damage.changed)
    assert explained(result) == Explained(
        {("ts_ms",): again} if again else {},
        {("after.total",): changed} if changed else {},
        len(damage.lost),
        again,
        0,
    )
    nothing = not again and not changed and not damage.lost
    assert (result.guarantee == "precise") == (nothing and not damage.moved)
    if not damage.lost and not damage.moved:
        assert last(result).guarantee == ("repeating" if again else "precise")
    if not damage.lost and damage.moved:
        assert last(result).rows.out_of_order


@given(damage=damages())
def test_a_run_at_another_time_is_named_first(folder: Path, damage: Damage) -> None:
    """All times are new, so that no row is in both logs."""
    rows = changes(damage.rows)
    other = damaged(damage, changes(damage.rows, start=1_800_000_000_000), LATER)
    result = compared(folder, rows, other)
    assert result.rows.missing == len(rows)
    first, again = result.readings[0], len(damage.again)
    same = len(rows) - len(damage.lost) - len(damage.changed)
    assert (first.left_out, first.changed, first.again) == (("ts_ms",), same, again)
    found = explained(result)
    assert found.changed.get(("after.total",), 0) == len(damage.changed)
    assert (found.missing, found.duplicated, found.unexpected) == (len(damage.lost), again, 0)
    line = trace_words.sentence(first, result.asked)
    assert "agree if `ts_ms` is left out" in line
    assert f"{again} came twice" in line or not again


OFFSETS: tuple[dict[str, list[str]], ...] = (
    {},
    {"key": ["partition"]},
    {"key": ["partition"], "order": ["offset"]},
)
"""How logs with offsets are compared."""


@given(
    count=st.integers(20, 40),
    back=st.integers(1, 6),
    data=st.data(),
    asked=st.sampled_from(
        [{}, {"key": ["partition"]}, {"key": ["partition"], "order": ["offset"]}]
    ),
)
def test_shifted_offsets_are_named(
    folder: Path, count: int, back: int, data: st.DataObject, asked: dict[str, Any]
) -> None:
    """A producer sends rows again: all later ones have other offsets."""
    rows = records(count)
    end = data.draw(st.integers(back, count // 2))
    result = compared(folder, rows, numbered([*rows[:end], *rows[end - back :]]), **asked)
    (found,) = result.readings
    assert found.left_out == ("offset",)
    assert (found.again, found.rows) == (back, RowCounts(0, 0, back, 0, 0))
    assert (found.guarantee, result.holds) == ("repeating", False)
    assert found.asked.order == tuple(asked.get("order", ()))


def test_two_columns_may_be_left_out(folder: Path) -> None:
    rows = [{**row, "at": 10 * at} for at, row in enumerate(records(20))]
    other = numbered([*rows[:8], *rows[5:]])
    other = [{**row, "at": 10_000 + at} for at, row in enumerate(other)]
    (found,) = compared(folder, rows, other).readings
    assert (found.left_out, found.again) == (("at", "offset"), 3)
    assert found.guarantee == "repeating"


def test_a_field_of_an_object_may_be_left_out(folder: Path) -> None:
    rows = changes(12)
    other = [{**row, "source": {**row["source"], "ts_ms": 5}} for row in rows]
    (found,) = compared(folder, rows, other).readings
    assert (found.left_out, found.guarantee) == (("source.ts_ms",), "precise")
    result = compared(folder, rows, other, ignore=["source.ts_ms"])
    assert (result.guarantee, result.readings) == ("precise", ())


def test_an_identity_that_is_new_each_time_is_none(folder: Path) -> None:
    rows: Rows = [{"event": f"e{at}", "v": at * at} for at in range(20)]
    other = [*rows[:10], *({**row, "event": f"x{row['event']}"} for row in rows[7:10]), *rows[10:]]
    result = compared(folder, rows, other, id=["event"])
    (found,) = result.readings
    assert (found.left_out, found.asked.id, found.again) == (("event",), (), 3)
    assert found.guarantee == "repeating"
    assert "if `event` is no identity of a result" in trace_words.sentence(found, result.asked)


def test_a_table_keeps_its_identity(folder: Path) -> None:
    rows: Rows = [{"user": at, "v": at * at, "at": at} for at in range(9)]
    other: Rows = [{**row, "at": 100 + row["at"]} for row in rows]
    (found,) = compared(folder, rows, other, id=["user"], sink=Shape.TABLE).readings
    assert (found.left_out, found.asked.id, found.guarantee) == (("at",), ("user",), "precise")


@pytest.mark.parametrize("sink", [Shape.BAG, Shape.SET])
def test_sinks_without_an_order_have_readings(folder: Path, sink: Shape) -> None:
    rows = changes(12)
    other = damaged(Damage(12, range(2, 5), frozenset(), frozenset(), (7, 8)), rows, LATER)
    (found,) = compared(folder, rows, other, sink=sink).readings
    type_ = "repeating" if sink is Shape.BAG else "precise"
    assert (found.left_out, found.again, found.guarantee) == (("ts_ms",), 3, type_)


def test_rows_that_are_lost_have_no_other_reading(folder: Path) -> None:
    rows = changes(12)
    result = compared(folder, rows, rows[:5] + rows[7:])
    assert (result.guarantee, result.readings) == ("gap", ())
    assert trace_words.everyday(result) == "at most once"


def test_two_rows_that_change_places_are_in_another_order(folder: Path) -> None:
    rows = changes(12)
    other = [*rows[:4], rows[5], rows[4], *rows[6:]]
    result = compared(folder, rows, other)
    assert trace_words.everyday(result) == "exactly once, in another order"
    (one,) = result.differences
    places = [side and side.at for side in (one.reference, one.actual)]
    assert (one.kind, places) == ("out_of_order", ["row 5", "row 6"])
    assert "--sink bag" in [*trace_words.sentences(result)][-1]


def test_rows_of_several_streams_are_named(folder: Path) -> None:
    """Writers of several users share a file; the order between them differs from run to run."""
    rows: Rows = [{"user": f"u{at % 4}", "v": at * at % 17} for at in range(20)]
    other = sorted(rows, key=lambda row: row["user"])
    result = compared(folder, rows, other)
    (found,) = result.readings
    assert (found.left_out, found.asked.key, found.guarantee) == ((), ("user",), "precise")
    assert trace_words.sentence(found, result.asked) == (
        "the rows of each `user` are in order: if it names streams, nothing differs "
        "(precise recovery)"
    )
    swapped = [*other[:2], other[3], other[2], *other[4:]]
    assert compared(folder, rows, swapped).readings == ()


def test_the_nearest_row_is_shown_with_the_columns_that_differ(folder: Path) -> None:
    """By the first reading: the offset counts less than the value."""
    rows = records(40)
    result = compared(folder, rows, numbered([*rows[:20], *rows[16:]]))
    missing = next(one for one in result.differences if one.kind == "missing")
    assert missing.columns == ("offset",)
    assert missing.reference
    assert missing.nearest
    assert missing.reference.row["v"] == missing.nearest.row["v"]


def test_the_command_that_is_shown_gives_the_reading(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = records(40)
    result = compared(folder, rows, numbered([*rows[:20], *rows[16:]]), expect=Guarantee.REPEATING)
    words = trace_words.command(result, result.readings[0].asked).split()
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    assert "at least as good as repeating: repeating recovery" in capsys.readouterr().out


@given(many=st.lists(cases(), min_size=1, max_size=3), name=st.sampled_from([*ASKED]))
def test_a_reading_says_what_its_columns_give(
    folder: Path, many: list[TraceCase], name: str
) -> None:
    """Compared with the columns of a reading, logs have its counts; and fewer rows disagree."""
    reference, actual = packed(many)
    if not reference or not actual:
        return
    logs = logs_at(*write(folder, reference, actual))
    before = in_memory(logs, ASKED[name])
    for one in before["readings"]:
        key, order, id_, ignore = (
            tuple(one["asked"][role]) for role in ("key", "order", "id", "ignore")
        )
        found = in_memory(logs, ColumnRoles(key, order, id_, ignore))
        for field in ("read", "streams", "rows"):
            assert found[field] == one[field]
        assert one["changed"] + one["again"] == foreign(before) - foreign(found)
        assert one["changed"] >= 0
        assert one["again"] >= 0
        if one["left_out"]:
            assert foreign(found) < foreign(before)
        else:
            assert (foreign(before), found["rows"]["out_of_order"]) == (0, 0)
        before = found


FEW_ROWS = st.lists(
    st.builds(lambda id_, ts: {"id": id_, "ts": ts}, st.sampled_from("abc"), st.integers(0, 3)),
    min_size=1,
    max_size=7,
)


@given(reference=FEW_ROWS, actual=FEW_ROWS)
@example(
    reference=[{"id": "a", "ts": 1}, {"id": "a", "ts": 2}, {"id": "b", "ts": 1}],
    actual=[{"id": "a", "ts": 1}, {"id": "a", "ts": 1}, {"id": "b", "ts": 9}],
)
def test_a_surplus_copy_is_no_row_that_differs(folder: Path, reference: Rows, actual: Rows) -> None:
    """It may stand for a missing row once a column is left out, and yet it is not foreign."""
    result = compared(folder, reference, actual)
    before = result.rows.different + result.rows.unexpected
    for one in result.readings:
        after = one.rows.different + one.rows.unexpected
        assert one.changed + one.again == before - after
        assert one.changed >= 0
        assert one.again >= 0
        assert not trace_words.sentence(one, result.asked).startswith("0 rows")
        before = after


def foreign(found: dict[str, Any]) -> int:
    return int(found["rows"]["different"] + found["rows"]["unexpected"])


@pytest.mark.exhaustive  # `.ci/run` leaves out those of JSON
@pytest.mark.spark
def test_fields_of_parquet_are_left_out_as_those_of_json(
    spark: SparkSession,  # noqa: F811
    tmp_path: Path,
) -> None:
    """JSON lines are compared in this process, and Parquet on Spark."""
    damage = Damage(14, range(3, 6), frozenset({8}), frozenset({10}), (11, 13))
    rows = changes(14)
    sides = {"r": rows, "a": damaged(damage, rows, LATER)}
    for side, some in sides.items():
        ordered = [{name: row[name] for name in sorted(row)} for row in some]
        for row in ordered:
            row["source"] = {name: row["source"][name] for name in sorted(row["source"])}
        pq.write_table(pa.Table.from_pylist(ordered), tmp_path / f"{side}.parquet")
    small = logs_at(*write(tmp_path, sides["r"], sides["a"]))
    large = logs_at(tmp_path / "r.parquet", tmp_path / "a.parquet")
    for asked in (ColumnRoles(), ColumnRoles(ignore=("source.ts_ms", "ts_ms"))):
        found = plain(compare(spark, large, asked, 10_000, lambda *_: None))
        assert without_ties(found) == without_ties(in_memory(small, asked))


# --- the search ------------------------------------------------------------------------------
def counted(rows: Sequence[Names], names: str, tried: list[Names]) -> ForeignRows:
    """Foreign rows by the columns in which they differ from the nearest row."""

    def matched(sets: Sequence[Names]) -> list[int]:
        tried.extend(sets)
        return [sum(differ <= some for differ in rows) for some in sets]

    return ForeignRows(tuple(names), len(rows), matched)


@pytest.mark.parametrize("names", ["abc", "abcdefghijkl"])
@given(data=st.data())
def test_the_columns_that_explain_most_rows_are_found(names: str, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 2))
    meant = frozenset(data.draw(st.permutations(names[:9]))[:size])
    others = st.sets(st.sampled_from(names), min_size=3, max_size=3).map(frozenset)
    rest = data.draw(st.lists(others, max_size=3))
    tried: list[Names] = []
    rows = [meant] * 5 + rest
    assert readings._candidates(counted(rows, names, tried), ())[0] == meant
    assert len(tried) < 100


def test_what_names_streams_is_never_left_out() -> None:
    rows = [frozenset({"a"})] * 3 + [frozenset({"b"})]
    assert readings._candidates(counted(rows, "abc", []), ("a",)) == [frozenset({"b"})]
    assert readings._candidates(counted(rows[:3], "abc", []), ("a",)) == []


# --- the page --------------------------------------------------------------------------------
ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_the_commands_print(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "how-to" / "verify-trace.md").read_text(encoding="utf-8")
    shown = "".join(re.findall(r"```console\n(.*?)```", page, re.DOTALL))
    parts = re.split(r"^\$ ", shown.replace("\\\n", " "), flags=re.MULTILINE)[1:]
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(console, "width", 100)
    for part in parts:
        command, *lines = part.splitlines()
        monkeypatch.setattr("sys.argv", command.split())
        with pytest.raises(SystemExit):
            main()
        printed = untimed(" ".join(capsys.readouterr().out.replace("\\\n", " ").split()))
        words = (" ".join(untimed(line).split()) for line in lines if line != "...")
        missing = [line for line in words if line not in printed]
        assert missing == [], command
    assert len(parts) == 4


def untimed(line: str) -> str:
    return re.sub(r"\d+\.\d s$", "", line.rstrip())
