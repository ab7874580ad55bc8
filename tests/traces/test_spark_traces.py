"""The comparison of two logs on Spark is the one that its definitions ask for.

Random logs with random faults are packed into one pair of files, a case a stream, and judged by
one job; each stream must be judged as by `tests.traces.trace_oracle`, and mutants must not be.
"""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from engine_check.victim import start
from model.core import Guarantee
from model.errors import Invalid
from model.results.plain import plain
from spark_check.runtime.jvm import Jvm
from spark_check.runtime.session import BRIEF, session
from spark_check.traces import columns, streams, verify
from spark_check.traces.logs import OutputLog, find_log
from spark_check.traces.roles import ColumnRoles
from tests.traces.trace_oracle import (
    FAULTS,
    KNOWN,
    Row,
    StreamVerdict,
    TraceCase,
    Values,
    cases,
    judge,
)

SIDES = ("reference", "actual")
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.spark

KEY = ("case", "u")
ASKED = {
    "file order": ColumnRoles(KEY, ignore=("t",)),
    "file order, identities": ColumnRoles(KEY, id=("n",), ignore=("t",)),
    "sequence numbers": ColumnRoles(KEY, order=("n",), ignore=("t",)),
    "several order columns": ColumnRoles(KEY, order=("n", "v"), id=("n",), ignore=("t",)),
    "times of output": ColumnRoles(KEY, order=("t",), ignore=("t",)),
    "times, identities over streams": ColumnRoles(
        ("case",), order=("t",), id=("u", "n"), ignore=("t",)
    ),
}

SIMPLER = {"file order", "several order columns", "sequence numbers", "times of output"}
"""Each has another one beside it that asks for more."""


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory, jvm: Jvm) -> Iterator[SparkSession]:
    conf = {"spark.sql.shuffle.partitions": "3", **columns.READING, **BRIEF}
    with session(tmp_path_factory.mktemp("spark"), conf=conf, jvm=jvm) as spark:
        yield spark


def packed(many: Sequence[TraceCase]) -> tuple[list[Row], list[Row]]:
    """Rows of both logs, with the number of their case."""
    reference: list[Row] = [
        {"case": n, **row} for n, case in enumerate(many) for row in case.reference
    ]
    actual: list[Row] = [{"case": n, **row} for n, case in enumerate(many) for row in case.actual]
    return reference, actual


def found(
    spark: SparkSession, logs: tuple[OutputLog, OutputLog], asked: ColumnRoles, by: ModuleType
) -> dict[Values, StreamVerdict]:
    """What a version of `streams` finds, by key."""
    both = columns.read_alike(spark, *logs, asked)
    rank = columns.rank(both)
    sides = [columns.digest_rows(both, side, rank) for side in range(2)]
    keys = [
        side.select(
            "k",
            F.to_json(
                F.struct(*(f"row.{n}" for n in asked.key)), {"ignoreNullFields": "false"}
            ).alias("key"),
        )
        for side in sides
    ]
    verdicts = by.Verdicts(verify._standing(sides, logs, asked), bool(asked.identity))
    rows = verdicts.streams().join(keys[0].unionAll(keys[1]).distinct(), "k").collect()
    verdicts.close()
    return {
        tuple(json.loads(row["key"]).values()): StreamVerdict(
            Guarantee(row["guarantee"]).name.lower(), *(row[name] for name in streams.COUNTS)
        )
        for row in rows
    }


@pytest.fixture(scope="module")
def attempts() -> list[TraceCase]:
    many: list[TraceCase] = list(KNOWN)

    @settings(max_examples=400)
    @given(cases())
    def collect(case: TraceCase) -> None:
        many.append(case)

    collect()
    return many


@pytest.fixture(scope="module")
def logs(
    attempts: list[TraceCase], tmp_path_factory: pytest.TempPathFactory
) -> tuple[OutputLog, OutputLog]:
    folder = tmp_path_factory.mktemp("logs")
    for name, rows in zip(("REFERENCE", "ACTUAL"), packed(attempts), strict=True):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    return find_log("REFERENCE", folder / "REFERENCE.jsonl"), find_log(
        "ACTUAL", folder / "ACTUAL.jsonl"
    )


def version(*changes: tuple[str, str]) -> ModuleType:
    """`streams` with buckets of two rows, so that their borders are crossed, and changed."""
    source = Path(streams.__file__).read_text(encoding="utf-8")
    for old, new in (("BUCKET_BITS = 20", "BUCKET_BITS = 1"), *changes):
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    module = ModuleType("version")
    exec(compile(source, "version", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.exhaustive if name in SIMPLER else ()) for name in ASKED],
)
def test_each_stream_is_judged_as_defined(
    name: str, spark: SparkSession, attempts: list[TraceCase], logs: tuple[OutputLog, OutputLog]
) -> None:
    expected = judge(*packed(attempts), ASKED[name])
    seen = found(spark, logs, ASKED[name], version())
    wrong = {key for key in {*expected, *seen} if expected.get(key) != seen.get(key)}
    smallest = min(wrong, key=lambda key: sum(map(len, attempts[key[0]][:2])), default=None)
    assert smallest is None, (
        smallest,
        attempts[smallest[0]],
        expected.get(smallest),
        seen.get(smallest),
    )


def test_the_random_logs_are_not_all_alike(attempts: list[TraceCase]) -> None:
    faults = Counter(fault for case in attempts for fault in case.faults)
    assert min(faults[fault] for fault in FAULTS) > 20
    for asked in ASKED.values():
        verdicts = judge(*packed(attempts), asked).values()
        types = Counter(one.guarantee for one in verdicts)
        possible = {"precise", "repeating", "convergent", "divergent", "gap"}
        assert min(types[one] for one in possible) > 5, (asked, types)


# --- mutants ---------------------------------------------------------------------------------
MUTANTS = (
    ("sequence numbers", "sum(greatest(r - a, 0))", "sum(if(a = 0, r, 0))"),
    ("sequence numbers", "if(r > 0, greatest(a - r, 0), 0)", "greatest(a - r, 0)"),
    ("sequence numbers", 'col("strange") < ', 'col("strange") <= '),
    ("sequence numbers", 'F.least("x", "l")', 'F.col("x")'),
    ("sequence numbers", '.when(F.col("lacking") > 0, Guarantee.DIVERGENT.value)', ""),
    ("several order columns", "join(known, [", 'join(known.where("l > 0"), ['),
    ("times of output", "max_by({d}, last_a)", "max_by({d}, first_a)"),
    (
        "times of output",
        '(F.lag("ref").over(within), F.col("carried"))',
        '(F.lag("ref").over(within))',
    ),
    ("times of output", 'orderBy("place")', 'orderBy(F.desc("place"))'),
    ("times of output", "last_r) <=>", "last_r) < "),
    ("file order", '.repartition("k")', '.where("side = 0 or place % 5 > 0").repartition("k")'),
    ("file order", "not same and not rewinds", "not same"),
)


@pytest.mark.slow
@pytest.mark.exhaustive  # a minute; whoever changes how streams are judged runs all tests
@pytest.mark.parametrize(("name", "old", "new"), MUTANTS, ids=[old for _, old, _ in MUTANTS])
def test_a_mutant_judges_otherwise(
    name: str,
    old: str,
    new: str,
    spark: SparkSession,
    attempts: list[TraceCase],
    logs: tuple[OutputLog, OutputLog],
) -> None:
    expected = judge(*packed(attempts), ASKED[name])
    assert found(spark, logs, ASKED[name], version((old, new))) != expected


# --- by example ------------------------------------------------------------------------------
NAMES = ("k", "n", "d1", "place", "side", "o", "row", "a.b", "we`ird", "r")
"""Columns of users may have names that are ours."""
NOTHING = ColumnRoles()


def written(path: Path, rows: Sequence[Row]) -> Path:
    """In the format of the name; a folder is of Parquet files of three rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        for at in range(0, len(rows), 3):
            written(path / f"part-{at}.parquet", rows[at : at + 3])
    return path


def compared(
    spark: SparkSession, reference: Path, actual: Path, asked: ColumnRoles = NOTHING
) -> dict[str, Any]:
    """Showing one difference of each kind."""
    logs = (find_log("REFERENCE", reference), find_log("ACTUAL", actual))
    found: dict[str, Any] = plain(verify.compare(spark, logs, asked, 1, lambda *_: None))
    return found


@pytest.mark.exhaustive
def test_formats_and_files_are_alike(spark: SparkSession, tmp_path: Path) -> None:
    """Repeated rows, in the order of the files: part-9 stands before part-12."""
    rows = [{name: (at + place) % 7 for place, name in enumerate(NAMES)} for at in range(20)]
    names = ("a.parquet", "folder", "a.jsonl", "a.csv")
    reference, *others = (written(tmp_path / name, rows) for name in names)
    for other in others:
        result = compared(spark, reference, other)
        assert result["streams"] == {"precise": 1}, other
        assert result["read"] == {"reference": 20, "actual": 20}
        assert result["compared"] == list(NAMES)
    rows[9], rows[10] = rows[10], rows[9]
    result = compared(spark, tmp_path / "a.csv", written(tmp_path / "folder", rows))
    assert result["streams"] == {"convergent": 1}
    assert result["rows"]["out_of_order"] == 1
    (first,) = result["differences"]
    places = [first[side]["at"] for side in SIDES]
    assert places == ["row 10", "row 2 of part-9.parquet"]
    assert first["reference"]["row"] == rows[10]


@pytest.mark.exhaustive  # `.ci/run` orders rows of one piece
def test_rows_of_a_divided_text_stay_in_order(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = "spark.sql.files.maxPartitionBytes"
    whole = str(spark.conf.get(size))
    monkeypatch.setattr(columns, "BLOCK_BYTES", 256)
    spark.conf.set(size, "256")
    rows = [{"v": at * at % 13, "w": "x" * (at % 9)} for at in range(500)]
    again = [*rows[:300], *rows[200:]]
    reference = written(tmp_path / "r.jsonl", rows)
    result = compared(spark, reference, written(tmp_path / "a.jsonl", again))
    assert spark.read.json(str(reference)).rdd.getNumPartitions() > 10
    spark.conf.set(size, whole)
    assert result["streams"] == {"repeating": 1}
    assert result["rows"]["duplicated"] == 100


INT, FLOAT = pa.int64(), pa.float64()
SCHEMA = pa.schema(
    {
        **{"n": INT, "a": INT, "b": INT, "f": FLOAT, "g": FLOAT, "s": pa.string()},
        **{"l": pa.list_(INT), "t": pa.struct({"x": INT})},
    }
)


def test_values_are_the_same_as_documented(spark: SparkSession, tmp_path: Path) -> None:
    row = {"a": None, "b": 1, "f": 0.0, "g": 1.5, "s": "", "l": [1, None], "t": {"x": None}}
    same: list[Row] = [{}, {"f": -0.0}]
    others: list[Row] = [
        {"a": 1, "b": None},
        {"b": 2},
        {"f": 1e-300},
        {"g": float("nan")},
        {"s": None},
        {"l": [None, 1]},
        {"l": [1]},
        {"l": []},
        {"t": {"x": 0}},
        {"t": None},
    ]
    nan = {**row, "g": float("nan")}
    pairs = [*((row, {**row, **one}) for one in (*same, *others)), (nan, nan)]
    paths = [tmp_path / f"{side}.parquet" for side in SIDES]
    for at, path in enumerate(paths):
        rows = [{"n": number, **pair[at]} for number, pair in enumerate(pairs)]
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    logs = [find_log(side, path) for side, path in zip(SIDES, paths, strict=True)]
    seen = found(spark, (logs[0], logs[1]), ColumnRoles(key=("n",)), streams)
    precise = {key for (key,), one in seen.items() if one.guarantee == "precise"}
    assert precise == {0, 1, len(pairs) - 1}


def test_the_first_differences_show_both_sides(spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"u": u, "n": n, "v": n / 2} for n in range(5) for u in "ab"]
    broken = [
        *(row for row in rows if row != {"u": "a", "n": 1, "v": 0.5}),
        {"u": "b", "n": 3, "v": 1.5},
        {"u": "c", "n": 0, "v": 0.0},
        {"u": "b", "n": 2, "v": 9.0},
    ]
    logs = (written(tmp_path / "r.csv", rows), written(tmp_path / "a.parquet", broken))

    def value(side: Any) -> Any:
        return side and side["row"]["v"]

    result = compared(spark, *logs, ColumnRoles(key=("u",), order=("n",)))
    assert result["streams"] == {"convergent": 1, "divergent": 1, "gap": 1}
    differences = [
        (one["kind"], one["key"]["u"], one["order"]["n"], *map(value, map(one.get, SIDES)))
        for one in result["differences"]
    ]
    assert differences == [
        ("missing", "a", 1, 0.5, None),
        ("different", "b", 2, 1.0, 9.0),
        ("duplicated", "b", 3, 1.5, 1.5),
        ("unexpected", "c", 0, None, 0.0),
    ]
    assert result["differences"][2]["copies"] == {"reference": 1, "actual": 2}


@pytest.mark.exhaustive  # `.ci/run` orders text of small logs
def test_text_is_in_the_order_of_its_numbers(spark: SparkSession, tmp_path: Path) -> None:
    """As text, 9 would come after 10, and a foreign row there would not be the last."""
    rows = [{"n": n, "v": 0} for n in range(8, 11)]
    reference = written(tmp_path / "r.csv", rows)
    actual = written(tmp_path / "a.csv", [*rows, {"n": 9, "v": 1}])
    assert compared(spark, reference, actual, ColumnRoles(order=("n",)))["streams"] == {
        "convergent": 1
    }


def test_what_spark_did_not_commit_does_not_count(spark: SparkSession, tmp_path: Path) -> None:
    """A real file sink, two batches; then files that a killed task could leave behind."""
    rows = [{"n": n} for n in range(6)]
    for at in range(2):
        file = written(tmp_path / "in" / f"{at}.jsonl", rows[at * 3 : at * 3 + 3])
        os.utime(file, (at, at))  # the older is read first
    stream = spark.readStream.schema("n long").option("maxFilesPerTrigger", 1)
    sink = stream.json(str(tmp_path / "in")).writeStream.format("parquet")
    sink = sink.option("checkpointLocation", str(tmp_path / "checkpoint"))
    sink.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
    written(tmp_path / "out" / "part-0-left.parquet", rows)
    (tmp_path / "out" / "part-1-left.parquet").touch()
    found = find_log("ACTUAL", tmp_path / "out")
    assert found.notes[1:] == ("2 files left out that Spark wrote and did not commit",)
    result = compared(spark, written(tmp_path / "r.jsonl", rows), tmp_path / "out")
    assert result["streams"] == {"precise": 1}


@pytest.mark.exhaustive
def test_nanoseconds_as_pandas_writes_them(spark: SparkSession, tmp_path: Path) -> None:
    """To the last nanosecond; a log with another resolution is refused in one line."""
    one = pd.DataFrame({"n": [1, 2], "at": pd.to_datetime(["2024-01-01", "2024-01-02"])})
    one["at"] = one["at"].astype("datetime64[ns]")
    later = one.assign(at=one["at"] + pd.Timedelta(1, "ns"))
    micro = one.assign(at=one["at"].astype("datetime64[us]"))
    for name, frame in {"one": one, "same": one, "later": later, "micro": micro}.items():
        frame.to_parquet(tmp_path / f"{name}.parquet")

    def against(name: str) -> dict[str, Any]:
        return compared(spark, tmp_path / "one.parquet", tmp_path / f"{name}.parquet")

    assert against("same")["streams"] == {"precise": 1}
    assert against("later")["rows"]["unexpected"] == 2
    with pytest.raises(
        Invalid, match="column at is bigint in REFERENCE and timestamp_ntz in ACTUAL"
    ):
        against("micro")


def test_what_cannot_be_compared_is_refused(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = [{"u": "a", "n": n, "v": 0.5} for n in range(100)]
    good = written(tmp_path / "r.parquet", rows)
    text = written(tmp_path / "text.jsonl", rows)

    def refused(match: str, reference: Path, actual: Path, **asked: Any) -> None:
        with pytest.raises(Invalid, match=match):
            compared(spark, reference, actual, ColumnRoles(**asked))

    def other(name: str, **values: Any) -> Path:
        return written(tmp_path / name, [{**row, **values} for row in rows])

    refused(r"REFERENCE .* has no column w \(--key\); it has u, n, v", good, good, key=("w",))
    refused("--ignore w: no such column; there are n, u, v", good, good, ignore=("w",))
    refused("--key u: it is ignored as well", good, good, key=("u",), ignore=("u",))
    refused("--ignore leaves no column", good, good, ignore=("u", "n", "v"))
    refused("only ACTUAL has w, x", good, other("more.parquet", w=1, x=1))
    refused("column u is string in REFERENCE and bigint in ACTUAL", good, other("u.parquet", u=1))
    listed = other("list.parquet", n=[1])
    refused("--order n: a column of array<bigint> has no order", listed, listed, order=("n",))
    refused("'x' is no BIGINT, which the other log's", good, other("x.csv", n="x"))
    empty = tmp_path / "empty.parquet"
    pq.write_table(pq.read_table(good).slice(0, 0), empty)
    refused("REFERENCE .*empty.parquet: holds no rows", empty, good)
    assert compared(spark, good, empty)["streams"] == {"gap": 1}
    text.write_text(text.read_text()[:-5])
    refused("ACTUAL .*text.jsonl: line 100 is not whole", good, text)
    other_text = tmp_path / "x.json"
    other_text.write_text("[1]\n")
    refused("ACTUAL .*x.json: line 1 is no JSON object", good, other_text)
    data = bytearray(good.read_bytes())
    data[20:60] = bytes(40)
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(data)
    refused("the logs cannot be compared: a damaged file, .*damaged.parquet$", good, damaged)
    assert capfd.readouterr().err == ""  # pyspark would print pages


def test_the_example_of_a_chaos_test_runs(tmp_path: Path) -> None:
    """On its own, in a process; the page shows it as it is."""
    example = ROOT / "docs" / "examples" / "chaos_trace.py"
    page = (ROOT / "docs" / "how-to" / "verify-trace.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```py\n(.*?)\n```", page, re.DOTALL)
    assert shown in example.read_text(encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(example)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert ran.stdout == "repeating recovery, 8 rows said twice\n", ran.stderr


def test_ctrl_c_ends_a_running_query_at_once(tmp_path: Path) -> None:
    """Its task stands at a breakpoint and would never end."""
    with start("tests.spark.spark_jobs:sleeper", tmp_path, {}, stop_at={"task": 0}) as victim:
        victim.stopped("task")
        os.kill(victim.process.pid, signal.SIGINT)
        assert victim.join() == -signal.SIGINT
        assert "while sending command" not in victim.said()
