"""Small logs are compared without Spark, with the same result; rows may be close and not equal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from model.errors import Invalid
from model.results.plain import plain as as_json
from spark_check.runtime.jvm import Jvm
from spark_check.runtime.session import BRIEF, INTERPRETED, session
from spark_check.traces import columns, memory, verify
from spark_check.traces.logs import OutputLog, find_log
from spark_check.traces.plain import plain_rows, read_tables
from spark_check.traces.roles import ColumnRoles
from spark_check.traces.streams import COUNTS
from tests.traces.test_lineage import cases as lineage_cases
from tests.traces.test_spark_traces import ASKED, packed
from tests.traces.trace_oracle import KNOWN, Row, TraceCase, cases, judge

SIDES = ("reference", "actual")


def first_only(values: Iterable[Any], quick: Sequence[Any]) -> list[Any]:
    """Parameters of a test on Spark, which takes seconds for each: all but some in test-all."""
    return [
        pytest.param(value, marks=() if value in quick else pytest.mark.exhaustive)
        for value in values
    ]


ALL = 10_000
"""Differences shown: more than there are."""


def write(folder: Path, reference: Sequence[Row], actual: Sequence[Row]) -> tuple[Path, Path]:
    """As JSON lines."""
    paths = folder / "r.jsonl", folder / "a.jsonl"
    for path, rows in zip(paths, (reference, actual), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


def logs_at(reference: Path, actual: Path) -> tuple[OutputLog, OutputLog]:
    return find_log("REFERENCE", reference), find_log("ACTUAL", actual)


def in_memory(
    logs: tuple[OutputLog, OutputLog], asked: ColumnRoles, close: float | None = None
) -> dict[str, Any]:
    tables = read_tables(logs)
    assert tables is not None
    found = memory.compare(logs, tables, asked, ALL, close)
    assert found is not None
    compared: dict[str, Any] = as_json(found)
    return compared


NOTHING = ColumnRoles()


def is_plain(logs: tuple[OutputLog, OutputLog], asked: ColumnRoles = NOTHING) -> bool:
    tables = read_tables(logs)
    return tables is not None and plain_rows(tables, logs, asked) is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@pytest.mark.parametrize("name", ASKED)
@given(many=st.lists(cases(), min_size=1, max_size=4))
def test_streams_are_judged_as_defined(name: str, folder: Path, many: list[TraceCase]) -> None:
    reference, actual = packed(many)
    if not reference or not actual:
        return
    found = in_memory(logs_at(*write(folder, reference, actual)), ASKED[name])
    expected = judge(reference, actual, ASKED[name]).values()
    assert found["streams"] == dict(Counter(one.guarantee for one in expected))
    assert found["rows"] == {kind: sum(getattr(one, kind) for one in expected) for kind in COUNTS}
    shown = Counter(one["kind"] for one in found["differences"])
    assert {kind for kind in COUNTS if found["rows"][kind]} == shown.keys()


def test_the_command_starts_no_spark_for_small_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def on_spark(*asked: Any) -> Any:
        started.append(asked)
        raise Invalid("Spark was asked")

    monkeypatch.setattr(verify, "_on_spark", on_spark)
    rows = [{"n": n, "v": n / 7} for n in range(3_000)]
    reference, actual = write(tmp_path, rows, rows[:-1])
    result = verify.verify(reference, actual, order=["n"])
    assert (result.guarantee, result.rows.missing, started) == ("gap", 1, [])
    for asked in ({"master": "local[1]"}, {"conf": {"spark.x": "1"}}):
        with pytest.raises(Invalid, match="Spark was asked"):
            verify.verify(reference, actual, order=["n"], **asked)


def test_a_foreign_row_that_ties_with_the_last_one_comes_after_it(tmp_path: Path) -> None:
    reference: list[Row] = [{"n": 1, "v": 0.5}, {"n": 2, "v": 0.5}]
    asked = ColumnRoles(order=("n",), id=("n", "v"))
    for n, type_ in ((1, "convergent"), (2, "divergent")):
        paths = write(tmp_path, reference, [*reference, {"n": n, "v": 1.0}])
        assert in_memory(logs_at(*paths), asked)["streams"] == {type_: 1}


@pytest.mark.parametrize("limit", ["plain.SMALL_BYTES", "plain_tables.SMALL_ROWS"])
def test_what_is_not_small_is_left_to_spark(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"n": [1, 2, 3]}), path)
    assert is_plain(logs_at(path, path))
    monkeypatch.setattr(f"spark_check.traces.{limit}", 2)
    assert not is_plain(logs_at(path, path))


def test_a_reference_without_rows_is_refused(tmp_path: Path) -> None:
    for side in SIDES:
        pq.write_table(pa.table({"n": pa.array([], pa.int64())}), tmp_path / f"{side}.parquet")
    with pytest.raises(Invalid, match=r"REFERENCE .* holds no rows"):
        verify.verify(*(tmp_path / f"{side}.parquet" for side in SIDES))


# --- as on Spark -----------------------------------------------------------------------------
@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory, jvm: Jvm) -> Iterator[SparkSession]:
    conf = {"spark.sql.shuffle.partitions": "3", **columns.READING, **BRIEF, **INTERPRETED}
    with session(tmp_path_factory.mktemp("spark"), conf=conf, jvm=jvm) as spark:
        yield spark


def without_ties(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result with its differences in an order of their own: of rows that tie, either may come
    first, either may be the row that is meant or the nearest one, and either may be shown with
    columns that are not compared.
    """
    shown = []
    for one in result["differences"]:
        for side in SIDES:
            if one[side]:
                values = {name: one[side]["row"][name] for name in result["compared"]}
                one = {**one, side: {**one[side], "row": values}}
        one = {**one, "nearest": one["nearest"] is not None, "columns": len(one["columns"])}
        if one["kind"] == "different":
            one = {**one, "reference": None, "order": None, "copies": one["copies"]["actual"]}
            one["columns"] = None
        shown.append(json.dumps(one, sort_keys=True))
    return {**result, "differences": sorted(shown)}


def assert_as_on_spark(
    spark: SparkSession,
    logs: tuple[OutputLog, OutputLog],
    asked: ColumnRoles,
    close: float | None = None,
) -> None:
    expected = verify.compare(spark, logs, asked, ALL, lambda *_: None, close)
    assert without_ties(in_memory(logs, asked, close)) == without_ties(as_json(expected))


@pytest.fixture(scope="module")
def attempts(folder: Path) -> tuple[OutputLog, OutputLog]:
    many: list[TraceCase] = list(KNOWN)

    @settings(max_examples=40)
    @given(cases())
    def collect(case: TraceCase) -> None:
        many.append(case)

    collect()
    (folder / "many").mkdir()
    return logs_at(*write(folder / "many", *packed(many)))


@pytest.mark.spark
@pytest.mark.parametrize("name", first_only(ASKED, ["sequence numbers"]))
def test_the_result_is_that_of_spark(
    name: str, spark: SparkSession, attempts: tuple[OutputLog, OutputLog]
) -> None:
    assert_as_on_spark(spark, attempts, ASKED[name])


@pytest.mark.spark
@pytest.mark.exhaustive  # `.ci/run` has tests/traces/test_lineage.py
@pytest.mark.parametrize("order", [(), ("n",)])
def test_lineage_is_that_of_spark(
    order: tuple[str, ...], spark: SparkSession, tmp_path: Path
) -> None:
    """Inputs are text here; some rows name none."""
    many: list[Any] = []

    @settings(max_examples=60)
    @given(lineage_cases())
    def collect(case: Any) -> None:
        many.append(case)

    collect()
    rows: list[list[Row]] = [
        [
            {"case": at, "n": n, "v": value, "of": " ".join(map(str, of))}
            for at, case in enumerate(many)
            for n, value, of in case[side]
        ]
        for side in range(2)
    ]
    asked = ColumnRoles(("case",), order=order, lineage=("of",))
    assert_as_on_spark(spark, logs_at(*write(tmp_path, *rows)), asked)


DAY = date(2024, 2, 29)
MOMENT = datetime(2024, 2, 29, 23, 59, 58, 123456, UTC)
TYPED = {
    "whole": pa.array([1, None, -5], pa.int16()),
    "float": pa.array([0.1, float("nan"), float("inf")]),
    "text": pa.array(["a,b", None, 'é "quoted"']),
    "category": pa.array(["x", "y", None]).dictionary_encode(),
    "truth": pa.array([True, False, None]),
    "date": pa.array([DAY, None, DAY - timedelta(days=40_000 // 2)]),
    "utc": pa.array([MOMENT, None, MOMENT], pa.timestamp("us", "UTC")),
    "zoned": pa.array([MOMENT, None, MOMENT], pa.timestamp("ms", "Asia/Tokyo")),
    "local": pa.array([MOMENT, None, MOMENT], pa.timestamp("us")),
    "nanoseconds": pa.array([1, None, 1_700_000_000_000_000_123], pa.timestamp("ns")),
}


@pytest.mark.spark
@pytest.mark.parametrize(
    "asked",
    first_only(
        [
            ColumnRoles(),
            ColumnRoles(order=tuple(TYPED)),
            ColumnRoles(order=("local",), ignore=("local",)),
        ],
        [ColumnRoles(order=tuple(TYPED))],
    ),
)
def test_typed_columns_are_read_and_shown_as_on_spark(
    asked: ColumnRoles, spark: SparkSession, tmp_path: Path
) -> None:
    table = pa.table(TYPED)
    pq.write_table(table, tmp_path / "r.parquet")
    (tmp_path / "folder").mkdir()
    pq.write_table(table.slice(2), tmp_path / "folder" / "part-2.parquet")
    pq.write_table(table.slice(0, 1), tmp_path / "folder" / "part-10.parquet")
    logs = logs_at(tmp_path / "r.parquet", tmp_path / "folder")
    assert_as_on_spark(spark, logs, asked)


@pytest.mark.spark
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", TYPED)
def test_a_typed_column_is_ordered_as_on_spark(
    name: str, spark: SparkSession, tmp_path: Path
) -> None:
    pq.write_table(pa.table(TYPED), tmp_path / "r.parquet")
    pq.write_table(pa.table(TYPED).slice(1), tmp_path / "a.parquet")
    logs = logs_at(tmp_path / "r.parquet", tmp_path / "a.parquet")
    assert_as_on_spark(spark, logs, ColumnRoles(order=(name,)))


TEXTS = {
    "plain": ("n,v\n1,a\n2,\n", "n,v\n1,a\n2,b\n"),
    "numbers as text": ("n,v\n9,1.0\n10,1\n", "n,v\n10,1\n9,1.00\n"),
    "signs and points": ("n,v\n-1,a\n+2,b\n.5,c\n1e1,d\n", "n,v\n2.,b\n-1,a\n"),
    "dates": ("n,v\n2024-01-02,a\n2024-01-10,b\n", "n,v\n2024-01-10,b\n2024-01-02,a\n"),
    "windows": ("n,v\r\n1,a\r\n", "n,v\r\n1,b\r\n\r\n"),
    "spaces": ("n,v\n 1, a\n", "n,v\n1,a\n"),
    "quotes": (
        'n,v\n1,"a,b"\n2,"say ""x"""\n3,"""y"""\n"4",""""\n5," z "\n',
        '"n",v\n1,"a,b"\n2,say\n3,"""y"""\n4,""""\n',
    ),
    "one column": ("n\n1\n2\n", "n\n2\n\n1\n"),
}
"""REFERENCE and ACTUAL, by what is in them."""


@pytest.mark.spark
@pytest.mark.parametrize("what", first_only(TEXTS, ["signs and points"]))
@pytest.mark.parametrize(
    "order", first_only([(), ("n",)], [("n",)]), ids=["in the file", "ordered"]
)
def test_text_is_read_as_on_spark(
    what: str, order: tuple[str, ...], spark: SparkSession, tmp_path: Path
) -> None:
    for side, text in zip("ra", TEXTS[what], strict=True):
        (tmp_path / f"{side}.csv").write_bytes(text.encode())
    logs = logs_at(tmp_path / "r.csv", tmp_path / "a.csv")
    asked = ColumnRoles(order=order)
    if what == "spaces" and order:  # " 1" may be a number
        assert not is_plain(logs, asked)
    else:
        assert_as_on_spark(spark, logs, asked)


LINES = {
    "plain": ('{"b": 1, "a": "x"}\n{"a": null, "b": 2}\n', '{"a": "x", "b": 1}\n{"b": 3}\n'),
    "whole and not": ('{"a": 1}\n{"a": 2}\n', '{"a": 1.0}\n{"a": 2.5}\n'),
    "all null": ('{"a": null, "b": 1}\n', '{"a": "x", "b": 1}\n'),
    "null in both": ('{"a": null, "b": 1}\n', '{"a": null, "b": 2}\n'),
    "truth": ('{"a": true}\n', '{"a": false}\n'),
    "large": ('{"a": 9223372036854775807, "b": 1e300}\n', '{"a": 1, "b": -1e-300}\n'),
    "objects": (
        '{"a": {"x": 1, "y": {"z": "t"}}, "b": 1}\n{"a": null, "b": 2}\n{"a": {"x": 2}, "b": 3}\n',
        '{"a": {"x": 1.0, "y": {"z": "t"}}, "b": 1}\n{"a": {"w": true}, "b": 2}\n{"b": 3}\n',
    ),
    "numbers as text": ('{"a": "10"}\n{"a": "9"}\n', '{"a": "9"}\n'),
}


@pytest.mark.spark
@pytest.mark.parametrize("what", first_only(LINES, ["whole and not"]))
def test_json_is_read_as_on_spark(what: str, spark: SparkSession, tmp_path: Path) -> None:
    for side, text in zip("ra", LINES[what], strict=True):
        (tmp_path / f"{side}.jsonl").write_text(text)
    logs = logs_at(tmp_path / "r.jsonl", tmp_path / "a.jsonl")
    other = ColumnRoles(ignore=("a.y.z",)) if what == "objects" else ColumnRoles(order=("a",))
    for asked in (ColumnRoles(), other):
        assert_as_on_spark(spark, logs, asked)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("empty.csv", 'n,v\n1,""\n'),
        ("inside.csv", 'n,v\n1,a"b"\n'),
        ("behind.csv", 'n,v\n1,"a"b\n'),
        ("lines.csv", 'n,v\n1,"a\nb"\n'),
        ("short.csv", "n,v\n1\n"),
        ("blank.csv", "n,v\n1,a\n \n"),
        ("one.csv", "n\n1\n \n"),
        ("old.csv", "n,v\r1,a\r"),
        ("nothing.jsonl", '{"n": {}}\n'),
        ("zero.jsonl", '{"n": {"v": -0.0}}\n'),
        ("inside.jsonl", '{"n": {"v": [1]}}\n'),
        ("objects.jsonl", '{"n": {"v": 1}}\n{"n": 1}\n'),
        ("array.jsonl", '{"n": [1]}\n'),
        ("list.jsonl", "[1]\n"),
        ("mixed.jsonl", '{"n": 1}\n{"n": "1"}\n'),
        ("wide.jsonl", '{"n": 9223372036854775808}\n'),
        ("twice.jsonl", '{"n": 1, "n": 2}\n'),
        ("nan.jsonl", '{"n": NaN}\n'),
        ("huge.jsonl", '{"n": 1e999}\n'),
        ("cut.jsonl", '{"n": 1}\n{"n": \n'),
    ],
)
def test_what_is_not_plain_is_left_to_spark(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert not is_plain(logs_at(tmp_path / name, tmp_path / name))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1], pa.uint8()),
        pa.array([0.5], pa.float32()),
        pa.array([b"x"]),
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array([datetime(1850, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
        pa.array([date(1500, 1, 1)]),
        pa.array([None]),
    ],
    ids=str,
)
def test_columns_that_are_not_plain_are_left_to_spark(column: pa.Array, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"n": column}), path)
    assert not is_plain(logs_at(path, path))


# --- close rows ------------------------------------------------------------------------------
CLOSE = 1e-6


def csv(path: Path, rows: Sequence[Sequence[Any]]) -> Path:
    path.write_text("\n".join(["n,v", *(",".join(map(str, row)) for row in rows), ""]))
    return path


FINITE = st.floats(-1e9, 1e9)


@given(
    values=st.lists(FINITE, min_size=1, max_size=6),
    share=st.floats(-0.9, 0.9),
    far=st.sampled_from([2.0, -2.0, 1e5]),
    data=st.data(),
)
def test_floats_within_the_tolerance_are_the_same(
    folder: Path, values: list[float], share: float, far: float, data: st.DataObject
) -> None:
    def moved(value: float, by: float) -> float:
        return value + by * CLOSE * max(1.0, abs(value))

    reference: list[Row] = [{"n": n, "v": value} for n, value in enumerate(values)]
    actual = [{**row, "v": moved(row["v"], share)} for row in reference]
    asked = ColumnRoles(order=("n",))
    logs = logs_at(*write(folder, reference, actual))
    assert in_memory(logs, asked, CLOSE)["streams"] == {"precise": 1}
    at = data.draw(st.integers(0, len(values) - 1))
    actual[at]["v"] = moved(values[at], far)
    found = in_memory(logs_at(*write(folder, reference, actual)), asked, CLOSE)
    assert (found["streams"], found["rows"]["different"]) == ({"divergent": 1}, 1)
    assert found["differences"][0]["actual"]["row"]["v"] == actual[at]["v"]


ROWS_CLOSE: dict[str, tuple[list[Any], list[Any]]] = {
    "floats": ([(1, 0.5), (2, 1e9)], [(1, 0.5000001), (2, 1e9 + 100)]),
    "too far": ([(1, 0.5), (2, 1e9)], [(1, 0.50001), (2, 1e9 + 5000)]),
    "order of numbers": ([(1.5, 1), (2.5, 2)], [(1.5000001, 1), (2.4999999, 2)]),
    "written otherwise": ([(1, "1.50")], [(1, "1.5")]),
    "copies": ([(1, 0.5), (1, 0.5)], [(1, 0.5000001), (1, 0.5), (1, 0.5)]),
    "null": ([(1, ""), (2, 0.5)], [(1, ""), (2, "")]),
}


@pytest.mark.spark
@pytest.mark.parametrize("what", first_only(ROWS_CLOSE, ["floats"]))
@pytest.mark.parametrize(
    "order", first_only([(), ("n",)], [("n",)]), ids=["in the file", "ordered"]
)
def test_close_rows_are_those_of_spark(
    what: str, order: tuple[str, ...], spark: SparkSession, tmp_path: Path
) -> None:
    reference, actual = ROWS_CLOSE[what]
    logs = logs_at(csv(tmp_path / "r.csv", reference), csv(tmp_path / "a.csv", actual))
    asked = ColumnRoles(order=order)
    assert_as_on_spark(spark, logs, asked, CLOSE)
    same = what in ("floats", "order of numbers", "written otherwise")
    assert (in_memory(logs, asked, CLOSE)["streams"] == {"precise": 1}) == same


@pytest.mark.exhaustive  # `.ci/run` asks tests/traces/test_near.py
@pytest.mark.spark
def test_what_is_no_number_is_close_to_itself_alone(spark: SparkSession, tmp_path: Path) -> None:
    inf, nan = float("inf"), float("nan")
    values = [inf, -inf, nan, None, 1.0]
    for side, row in (("r", values), ("a", [nan, inf, -inf, 1.0, None])):
        table = pa.table({"n": range(5), "v": pa.array(row, pa.float64(), from_pandas=False)})
        pq.write_table(table, tmp_path / f"{side}.parquet")
    logs = logs_at(tmp_path / "r.parquet", tmp_path / "a.parquet")
    asked = ColumnRoles(order=("n",))
    assert in_memory(logs, asked, 1e300)["rows"]["different"] == 5
    assert_as_on_spark(spark, logs, asked, 1e300)
    assert in_memory((logs[0], logs[0]), asked, CLOSE)["streams"] == {"precise": 1}


@pytest.mark.spark
def test_close_rows_keep_their_nulls_and_nans_apart(spark: SparkSession, tmp_path: Path) -> None:
    """A null is not close to NaN; beside a float that is close, each stays as it is."""
    nan, none, near = float("nan"), None, 0.5000001
    rows = {
        "r": [(nan, 0.5), (none, 0.5), (nan, 0.5), (none, 0.5), (none, 0.5), (nan, 0.5)],
        "a": [(nan, near), (none, near), (none, 0.5), (nan, near), (0.0, 0.5), (0.0, near)],
    }
    for side, values in rows.items():
        v, w = (pa.array(one, pa.float64(), from_pandas=False) for one in zip(*values, strict=True))
        pq.write_table(pa.table({"n": range(6), "v": v, "w": w}), tmp_path / f"{side}.parquet")
    logs = logs_at(tmp_path / "r.parquet", tmp_path / "a.parquet")
    asked = ColumnRoles(order=("n",))
    found = in_memory(logs, asked, CLOSE)
    assert [one["actual"]["row"]["n"] for one in found["differences"]] == [2, 3, 4, 5]
    assert_as_on_spark(spark, logs, asked, CLOSE)


UNDECIDED = r"--close 0\.1: a row of ACTUAL with v=0\.5 is close to two different rows of REFERENCE"


@pytest.mark.spark
def test_a_row_that_is_close_to_two_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """And one that is equal to one of them is that one."""
    paths = csv(tmp_path / "r.csv", [(1, 0.45), (1, 0.55)]), csv(tmp_path / "a.csv", [(1, 0.5)])
    logs = logs_at(*paths)
    with pytest.raises(Invalid, match=UNDECIDED):
        in_memory(logs, ColumnRoles(), 0.1)
    with pytest.raises(Invalid, match=UNDECIDED):
        verify.compare(spark, logs, ColumnRoles(), 1, lambda *_: None, 0.1)
    rows = [(1, 0.45), (1, 0.5)]
    equal = logs_at(csv(tmp_path / "c.csv", rows), csv(tmp_path / "d.csv", rows))
    assert_as_on_spark(spark, equal, ColumnRoles(), 0.1)


@pytest.mark.spark
def test_a_tolerance_without_floats_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    logs = logs_at(csv(tmp_path / "r.csv", [(1, "a")]), csv(tmp_path / "a.csv", [(1, "a")]))
    said = "--close 0.1: no column that is compared holds floats"
    with pytest.raises(Invalid, match=said):
        in_memory(logs, ColumnRoles(), 0.1)
    with pytest.raises(Invalid, match=said):
        verify.compare(spark, logs, ColumnRoles(), 1, lambda *_: None, 0.1)
