"""Logs whose rows name their inputs are judged by these, as the model defines it.

Random logs are packed into one pair of files, a case a stream, and judged by one job.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from model.boxes.box import Of, Out
from model.core import Guarantee
from model.errors import Invalid
from model.events import Body
from model.recovery import beside, inputs_of
from model.results.plain import plain
from proofs.classify.figure2 import EXPECTED, OUTPUTS, tuples
from spark_check.runtime.jvm import Jvm
from spark_check.runtime.session import BRIEF, INTERPRETED, session
from spark_check.traces import columns, lineage
from spark_check.traces.logs import OutputLog, find_log
from spark_check.traces.roles import ColumnRoles
from spark_check.traces.streams import Verdicts
from spark_check.traces.verify import SHOWN, _standing, compare
from tests.traces.trace_oracle import Row, judge

pytestmark = pytest.mark.spark
RARE = pytest.mark.exhaustive  # Spark takes some ten seconds for each

LINE = tuple[int, int, tuple[int, ...]]
"""(number in the stream, value, inputs)"""
LINES = st.tuples(
    st.integers(0, 2),
    st.integers(0, 1),
    st.lists(st.integers(1, 4), min_size=1, max_size=2).map(tuple),
)


INPUTS = LINES.map(lambda line: line[2])


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[LINE], list[LINE]]:
    """A log, and the same after a few faults.  Some numbers count up; some actual logs name no
    inputs, and some rows in them name other ones."""
    reference = draw(st.lists(LINES, min_size=1, max_size=4))
    if draw(st.booleans()):
        reference = [(at, value, (at + 1,)) for at, (_, value, _) in enumerate(reference)]
    actual = list(reference)
    for fault in draw(st.lists(st.sampled_from(FAULTS), max_size=3)):
        at = draw(st.integers(0, max(0, len(actual) - 1)))
        match fault:
            case "drop":
                del actual[at : at + 1]
            case "again":
                actual[at:at] = actual[:1]
            case "other" if actual:
                actual[at] = (actual[at][0], 7, actual[at][2])
            case "rewind":
                actual[at:at] = [(n, draw(st.sampled_from([v, 8])), of) for n, v, of in actual[:at]]
            case "made of" if actual:
                actual[at] = (*actual[at][:2], draw(INPUTS))
            case "copy" if actual:
                actual.append((*actual[at][:2], draw(INPUTS)))
    if draw(st.integers(0, 9)) == 0:
        actual = [(n, value, ()) for n, value, _ in actual]
    return reference, actual[:6]


FAULTS = ("drop", "again", "other", "rewind", "made of", "copy")


def figure_2(type_: Guarantee) -> tuple[list[LINE], list[LINE]]:
    """The rows of the figure; a mark behind a tuple is another value."""

    def lines(text: str) -> list[LINE]:
        made = [(out.body, sorted(of.place for of in out.of)) for out in tuples(text)]
        return [(body.time, body.type.endswith("'") * 9, tuple(of)) for body, of in made]

    return lines(EXPECTED), lines(" ".join(OUTPUTS[type_]))


@pytest.fixture(scope="module")
def attempts() -> list[tuple[list[LINE], list[LINE]]]:
    many = [figure_2(type_) for type_ in OUTPUTS]

    @settings(max_examples=500)
    @given(cases())
    def collect(case: tuple[list[LINE], list[LINE]]) -> None:
        many.append(case)

    collect()
    return many


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory, jvm: Jvm) -> Iterator[SparkSession]:
    conf = {"spark.sql.shuffle.partitions": "3", **columns.READING, **BRIEF, **INTERPRETED}
    with session(tmp_path_factory.mktemp("spark"), conf=conf, jvm=jvm) as spark:
        yield spark


def packed(many: Sequence[tuple[list[LINE], list[LINE]]], side: int) -> list[dict[str, Any]]:
    return [
        {"case": at, "n": n, "v": value, "of": list(of)}
        for at, case in enumerate(many)
        for n, value, of in case[side]
    ]


def as_csv(rows: Sequence[Row]) -> str:
    lines = [f"{r['case']},{r['n']},{r['v']},{' '.join(map(str, r['of']))}" for r in rows]
    return "\n".join(["case,n,v,of", *lines, ""])


def as_json(rows: Sequence[Row]) -> str:
    """No inputs are null here, and numbers."""
    return "".join(json.dumps({**row, "of": row["of"] or None}) + "\n" for row in rows)


def orders(rows: Sequence[Row], asked: ColumnRoles) -> Iterator[list[Out]]:
    """The rows in each order that they may have had: rows that tie have none."""
    ties: dict[int, list[Out]] = {}
    for at, row in enumerate(rows):
        out = Out(Body(0, "", (row["n"], row["v"])), frozenset(Of(0, one) for one in row["of"]))
        ties.setdefault(row["n"] if asked.order else at, []).append(out)
    for some in product(*(permutations(ties[place]) for place in sorted(ties))):
        yield [out for tie in some for out in tie]


def expected_verdicts(
    reference: Sequence[Row], actual: Sequence[Row], asked: ColumnRoles
) -> dict[int, tuple[str, int]]:
    """Of each stream the strongest type of all orders of ties, and how many inputs were lost."""
    by_values = judge(reference, actual, asked._replace(lineage=(), ignore=("of",)))
    found = {}
    for (case,), verdict in by_values.items():
        one, other = ([r for r in rows if r["case"] == case] for rows in (reference, actual))
        want = next(orders(one, asked))
        if all(row["of"] for row in (*one, *other)) and verdict.guarantee != "precise":
            strongest = min(beside(want, got) for got in orders(other, asked))
            lost = inputs_of(want) - inputs_of(next(orders(other, asked)))
            found[case] = (strongest.name.lower(), len(lost))
        else:
            found[case] = (verdict.guarantee, 0)
    return found


ASKED = {
    "file order": ColumnRoles(("case",), lineage=("of",)),
    "numbers": ColumnRoles(("case",), order=("n",), lineage=("of",)),
}


def pair(folder: Path) -> tuple[OutputLog, OutputLog]:
    one, other = (find_log(s, next(folder.glob(f"{s}.*"))) for s in ("REFERENCE", "ACTUAL"))
    return one, other


def found(spark: SparkSession, folder: Path, asked: ColumnRoles) -> dict[str, Any]:
    found: dict[str, Any] = plain(compare(spark, pair(folder), asked, SHOWN, lambda *_: None))
    return found


def verdicts_of(spark: SparkSession, folder: Path, asked: ColumnRoles) -> list[Any]:
    """Of each stream its case, if there are several, its type, and how many inputs were lost."""
    logs = pair(folder)
    both = columns.read_alike(spark, *logs, asked)
    rank = columns.rank(both)
    sides = [columns.digest_rows(both, side, rank) for side in range(2)]
    verdicts = Verdicts(_standing(sides, logs, asked), bool(asked.identity))
    case = "cast(row.case as int)" if asked.key else "0"
    keys = sides[0].unionAll(sides[1]).selectExpr("k", f"{case} n").distinct()
    rows = verdicts.streams().join(keys, "k").collect()
    verdicts.close()
    return [(row["n"], Guarantee(row["guarantee"]).name.lower(), row["lost"]) for row in rows]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "numbers" else RARE) for name in ASKED]
)
def test_types_are_those_of_the_model(
    name: str, spark: SparkSession, attempts: list[Any], tmp_path: Path
) -> None:
    """The reference is JSON with numbers, the actual log is text."""
    reference, actual = packed(attempts, 0), packed(attempts, 1)
    (tmp_path / "REFERENCE.jsonl").write_text(as_json(reference))
    (tmp_path / "ACTUAL.csv").write_text(as_csv(actual))
    expected = expected_verdicts(reference, actual, ASKED[name])
    seen = {case: tuple(rest) for case, *rest in verdicts_of(spark, tmp_path, ASKED[name])}
    wrong = [case for case in expected if expected[case] != seen[case]]
    smallest = min(wrong, key=lambda case: sum(map(len, attempts[case])), default=None)
    assert smallest is None, (attempts[smallest], expected[smallest], seen[smallest])
    assert seen.keys() == expected.keys()
    types = Counter(type_ for type_, _ in expected.values())
    assert min(types[one.name.lower()] for one in Guarantee) > 5, types


@pytest.mark.parametrize("type_", OUTPUTS)
def test_figure_2_is_told_apart(type_: Guarantee) -> None:
    """As the task that judges a stream sees it."""
    rows = []
    for side, lines in enumerate(figure_2(type_)):
        for at, (n, value, of) in enumerate(lines):
            rows.append({"k": 5, "side": side, "place": at, "d1": n, "d2": value, "of": of})
    import pandas as pd

    judged = lineage._judge(pd.DataFrame(rows)).to_dict("records")
    lost = 1 if type_ is Guarantee.GAP else 0
    assert judged == [{"k": 5, "by_lineage": type_.value, "lost": lost}]


@RARE
def test_the_page_quotes_figure_2(spark: SparkSession, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "verify-trace.md").read_text(
        encoding="utf-8"
    )
    (rows,) = re.findall(r"```csv\n(.*?)```", page, re.DOTALL)
    (tmp_path / "ACTUAL.csv").write_text(rows)
    lines = [f"{n},t{n},{n}" for n in range(1, 7)]
    (tmp_path / "REFERENCE.csv").write_text("\n".join(["n,v,of", *lines, ""]))
    for asked, type_ in (
        (ColumnRoles(ignore=("n",), lineage=("of",)), "divergent"),
        (ColumnRoles(ignore=("n", "of")), "gap"),
    ):
        seen = found(spark, tmp_path, asked)
        assert seen["streams"] == {type_: 1}
        assert not seen["lost_inputs"]


def parquet(path: Path, of: pa.Array) -> None:
    numbers = pa.array(range(len(of)), pa.int64())
    pq.write_table(pa.table({"n": numbers, "of": of}), path)


FORMATS = [
    pytest.param(pa.array([[1, 2], [3], [4]], pa.list_(pa.int32())), "n,of\n0,2   1\n2,4\n", 1),
    pytest.param(pa.array([1, 1, 3], pa.int64()), "n,of\n0, 1 \n2,\t3\n", 0, marks=RARE),
    pytest.param(pa.array([" 1 ", "1", "3"]), "n,of\n0,1\n2,3\n", 0, marks=RARE),
    pytest.param(
        pa.array([[1], [None], [3]], pa.list_(pa.int64())), "n,of\n0,1\n2,1\n", None, marks=RARE
    ),
    pytest.param(pa.array([[1], [2], [3]]), 'n,of\n0,1\n2," "\n', None, marks=RARE),
]
"""Inputs in REFERENCE, ACTUAL as text, and how many are lost; None: some row names none."""


@pytest.mark.parametrize(("of", "actual", "lost"), FORMATS)
def test_formats_of_lineage_agree(
    of: pa.Array, actual: str, lost: int | None, spark: SparkSession, tmp_path: Path
) -> None:
    """An array, its text, and a single number name the same inputs; null and "" name none."""
    parquet(tmp_path / "REFERENCE.parquet", of)
    (tmp_path / "ACTUAL.csv").write_text(actual)
    seen = verdicts_of(spark, tmp_path, ColumnRoles(lineage=("of",)))
    assert seen == [(0, "divergent" if lost == 0 else "gap", lost or 0)]


BAD = [
    (
        ColumnRoles(lineage=("form",)),
        r"has no column form \(--lineage\); it has n, of",
    ),
    (
        ColumnRoles(lineage=("of",), ignore=("of",)),
        "--lineage of: it is a column of --ignore as well; give another",
    ),
    (
        ColumnRoles(lineage=("of",)),
        "--lineage of: a column of map<string,bigint> names no inputs; an array does, and so does "
        "text with spaces between them",
    ),
    (ColumnRoles(lineage=("of",), ignore=("n",)), "--ignore leaves no column to compare"),
]


@pytest.mark.parametrize(("asked", "said"), BAD, ids=[said[:30] for _, said in BAD])
def test_what_names_no_inputs_is_refused(
    asked: ColumnRoles, said: str, spark: SparkSession, tmp_path: Path
) -> None:
    nested = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    for side in ("REFERENCE", "ACTUAL"):
        parquet(tmp_path / f"{side}.parquet", nested)
    with pytest.raises(Invalid, match=said):
        found(spark, tmp_path, asked)
