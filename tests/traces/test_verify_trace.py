"""The comparison of two logs without Spark: files, rewinds, refusals, printed results."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from rich.console import Console

from asif import cli
from model.core import Guarantee
from model.errors import Invalid
from model.recovery import classify
from model.results.trace import (
    AskedColumns,
    ComparedLog,
    LogRow,
    RowCounts,
    RowDifference,
    SideCounts,
    TraceComparison,
    TraceReading,
)
from reports.results import trace_words
from reports.results import traces as traced
from spark_check.traces import rewinds
from spark_check.traces.logs import find_log
from spark_check.traces.roles import ColumnRoles
from tests.traces.trace_oracle import FIGURE_2, Row, StreamVerdict, judge

# --- rewinds ---------------------------------------------------------------------------------
FEW = st.integers(0, 3)
Pair: TypeAlias = tuple[list[int], list[int]]
"""Expected rows, observed rows."""


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Expected rows, and the same with rewinds, sometimes disturbed."""
    expected: list[int] = draw(st.lists(st.one_of(FEW, st.integers(4, 40)), max_size=20))
    observed: list[int] = []
    at = 0
    for back in draw(st.lists(st.integers(0, 6), max_size=6)):
        forward = draw(st.integers(0, 6))
        observed += expected[at : at + forward]
        at = max(0, min(len(expected), at + forward) - back)
    observed += expected[at:]
    disturbed = draw(st.booleans())
    if observed and disturbed:
        observed[draw(st.integers(0, len(observed) - 1))] = draw(FEW)
    return expected, observed


def as_classified(expected: Sequence[int], observed: Sequence[int]) -> tuple[bool, bool]:
    """(same, rewinds)"""
    type_ = classify(expected, observed)  # type: ignore[arg-type]
    return type_ is Guarantee.PRECISE, type_ is Guarantee.REPEATING


SMALL = (("1 << 16", "2"), ("1 << 24", "40"), ("FIRST_STEP = 16", "FIRST_STEP = 1"))
"""Chunks of two rows, so that every border is crossed, and files for all but the shortest."""


def version(*changes: tuple[str, str]) -> ModuleType:
    source = Path(rewinds.__file__).read_text(encoding="utf-8")
    for old, new in (*SMALL, *changes):
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    module = ModuleType("version")
    exec(compile(source, "version", "exec"), module.__dict__)
    return module


def followed(module: ModuleType, many: Sequence[Pair], cuts: int) -> list[tuple[bool, bool]]:
    """Of streams numbered from 0, in batches of some rows."""
    rows = [
        {"k": number, "side": side, "d1": row}
        for number, pair in enumerate(many)
        for side, rows in enumerate(pair)
        for row in rows
    ]
    schema = pa.schema({"k": pa.int64(), "side": pa.int32(), "d1": pa.int64()})
    batches = (
        pa.RecordBatch.from_pylist(rows[at : at + cuts], schema) for at in range(0, len(rows), cuts)
    )
    verdicts: dict[int, tuple[bool, bool]] = {}
    for batch in module.judge(batches):
        for row in batch.to_pylist():
            assert row["k"] not in verdicts
            verdicts[row["k"]] = (row["same"], row["rewinds"])
    return [verdicts.get(number, (True, False)) for number in range(len(many))]


SMALL_CHUNKS = version()


@pytest.mark.slow
@settings(max_examples=500)
@given(st.lists(pairs(), min_size=1, max_size=4), st.integers(1, 9))
def test_streams_are_followed_as_classify_does(many: list[Pair], cuts: int) -> None:
    assert followed(SMALL_CHUNKS, many, cuts) == [as_classified(*pair) for pair in many]


MUTANTS = (
    ("self.at = found + 1", "self.at = found"),
    ("return not self.lost and self.at == self.expected.length", "return not self.lost"),
    ("return not self.lost and self.at", "return self.at"),
    ("return start + int(found[-1])", "return start + int(found[0])"),
    ("while end > 0:", "while end > 1:"),
    ("self.rewinds += 1", "pass"),
    ("stream, expected = int(ks[start]), ExpectedStream()", "stream = int(ks[start])"),
    ("last(digest, self.at)", "last(digest, self.expected.length)"),
    ("if stream is not None:\n        yield", "if False:\n        yield"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), MUTANTS)
def test_a_mutant_follows_otherwise(old: str, new: str) -> None:
    mutant = version((old, new))

    @settings(max_examples=500, phases=[Phase.generate])
    @given(st.lists(pairs(), min_size=1, max_size=4), st.integers(1, 9))
    def attack(many: list[Pair], cuts: int) -> None:
        assert followed(mutant, many, cuts) == [as_classified(*pair) for pair in many]

    with pytest.raises((AssertionError, ValueError)):
        attack()


# --- definitions -----------------------------------------------------------------------------
@pytest.mark.parametrize("type_", FIGURE_2)
def test_the_types_are_those_of_the_paper(type_: str) -> None:
    one = FIGURE_2[type_]
    for asked in (ColumnRoles(id=("n",), ignore=("t",)), ColumnRoles(order=("n",), ignore=("t",))):
        (found,) = judge(one.reference, one.actual, asked).values()
        assert found.guarantee == type_


def test_without_identities_other_content_is_a_loss() -> None:
    one = FIGURE_2["divergent"]
    (found,) = judge(one.reference, one.actual, ColumnRoles(ignore=("t",))).values()
    assert found == StreamVerdict("gap", missing=3, unexpected=5)


# --- files -----------------------------------------------------------------------------------
def parquet(path: Path, rows: Sequence[Row] = ({"n": 1},)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def test_files_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("part-10.parquet", "part-9.parquet", "day=2/part-1.parquet", "_hidden.parquet"):
        parquet(tmp_path / name)
    parquet(tmp_path / "_temporary" / "part-1.parquet")
    found = find_log("ACTUAL", tmp_path)
    assert [str(file.relative_to(tmp_path)) for file in found.files] == [
        "day=2/part-1.parquet",
        "part-9.parquet",
        "part-10.parquet",
    ]
    assert found.notes == ()


def test_empty_files_are_left_out_with_a_note(tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").touch()
    found = find_log("ACTUAL", tmp_path)
    assert [file.name for file in found.files] == ["a.parquet"]
    assert found.notes == ("1 file of 0 bytes left out (Spark leaves such when it is killed)",)


@pytest.mark.parametrize(
    ("name", "content", "format_"),
    [
        ("a.jsonl", b'{"n": 1}\n', "json"),
        ("a.json.gz", gzip.compress(b'{"n": 1}\n', mtime=0), "json"),
        ("part-0-17", b' {"n": 1}\n', "json"),
        ("part-0-18", b"PAR1", None),
        ("A.CSV", b"n\n1\n", "csv"),
        ("a.csv.gz", gzip.compress(b"n\n1\n", mtime=0), "csv"),
        ("a.txt", b"n\n1\n", None),
    ],
)
def test_formats_are_known_by_names_or_beginnings(
    name: str, content: bytes, format_: str | None, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if format_ is None:
        with pytest.raises(Invalid, match=r"neither Parquet|no whole Parquet file"):
            find_log("ACTUAL", path)
    else:
        assert find_log("ACTUAL", path).format == format_


def commit(folder: Path, name: str, *files: str) -> None:
    """As Spark's file sink does."""
    entries = [
        json.dumps({"path": f"file:///elsewhere/out/{file}", "action": "add"}) for file in files
    ]
    (folder / "_spark_metadata").mkdir(exist_ok=True)
    (folder / "_spark_metadata" / name).write_text("\n".join(["v1", *entries]))


def test_what_spark_committed_is_read_by_batch(tmp_path: Path) -> None:
    for name in ("z.parquet", "y.parquet", "x.parquet", "a b.parquet", "torn.parquet"):
        parquet(tmp_path / name)
    commit(tmp_path, "0", "z.parquet")
    commit(tmp_path, "1.compact", "z.parquet", "y.parquet")
    commit(tmp_path, "2", "a%20b.parquet")
    commit(tmp_path, "10", "x.parquet")
    found = find_log("ACTUAL", tmp_path)
    names = ["z.parquet", "y.parquet", "a b.parquet", "x.parquet"]
    assert [file.name for file in found.files] == names
    assert found.notes == (
        "read through Spark's own _spark_metadata, in the order of its batches",
        "1 file left out that Spark wrote and did not commit",
    )
    (tmp_path / "x.parquet").unlink()
    with pytest.raises(Invalid, match=r"committed x.parquet in batch 10; it is not there"):
        find_log("ACTUAL", tmp_path)


def test_what_cannot_be_a_log_is_refused(tmp_path: Path) -> None:
    def refused(match: str, path: Path) -> None:
        with pytest.raises(Invalid, match=f"ACTUAL {path}: {match}"):
            find_log("ACTUAL", path)

    refused("there is no such file", tmp_path / "none")
    (tmp_path / "bare").mkdir()
    refused("the folder holds no files", tmp_path / "bare")
    (tmp_path / "bare" / "a.json").touch()
    refused("nothing to compare, 1 file of 0 bytes", tmp_path / "bare")
    torn = parquet(tmp_path / "torn.parquet")
    torn.write_bytes(torn.read_bytes()[:-9])
    refused("torn.parquet is no whole Parquet file", torn)
    mixed = parquet(tmp_path / "mixed" / "a.parquet").parent
    (mixed / "b.csv").write_text("n\n1\n")
    refused(r"holds parquet \(a.parquet\) and csv \(b.csv\): a log is of one format", mixed)
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "a.csv").write_text("n,v\n1,2\n")
    (tables / "b.csv").write_text("v,n\n1,2\n")
    refused("a.csv has the columns n, v, and b.csv v, n", tables)
    (tables / "b.csv").write_bytes(b"\xff\xfe\n")
    refused("b.csv is no CSV file in UTF-8", tables)
    twice = tmp_path / "twice.csv"
    twice.write_text("n,n\n1,2\n")
    refused("its first line must name each column once, and is n,n", twice)


def test_a_missing_log_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["asif", "verify-trace", str(tmp_path / "r"), str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said == f"asif: REFERENCE {tmp_path / 'r'}: there is no such file or folder"


# --- reports ---------------------------------------------------------------------------------
def result(**changes: Any) -> TraceComparison:
    side = ComparedLog("a", "csv", 1, 9)
    one = RowDifference(
        "different",
        {"user": "a"},
        {"n": 3},
        LogRow({"user": "a", "n": 3, "v": 1.5}, "row 7"),
        LogRow({"user": "a", "n": 3, "v": None}, None),
        SideCounts(1, 1),
    )
    found = TraceComparison(
        reference=side,
        actual=side,
        asked=AskedColumns(key=("user",), order=("n",)),
        close=None,
        read=SideCounts(1200, 3),
        streams={"precise": 2, "divergent": 1},
        rows=RowCounts(0, 2, 0, 0, 0),
        lost_inputs=None,
        compared=("user", "n", "v"),
        differences=(one,),
        readings=(),
        notes=("ACTUAL: a note",),
        guarantee="divergent",
        expect="precise",
        holds=False,
        seconds=1.25,
    )
    return replace(found, **changes)


def printed(value: TraceComparison) -> str:
    console = Console(width=120, record=True)
    for part in traced.render(value):
        console.print(part, highlight=False)
    return console.export_text()


def test_a_result_is_reported_with_both_sides_and_a_verdict() -> None:
    text = printed(result())
    assert text.startswith("ACTUAL: a note\n")
    assert "│ REFERENCE │ a    │ csv    │ 1     │ 1,200 │" in text
    assert "│ different │ a   │ row 7: n=3, v=1.5 │ n=3, v=null │" in text
    assert text.rstrip().endswith(
        "in everyday words: at least once, some with other content\n"
        "NOT as if nothing had failed: divergent recovery (streams: 2 precise, 1 divergent), 1.2 s"
    )


NO_ROWS = RowCounts(0, 0, 0, 0, 0)


def reading(**changes: Any) -> TraceReading:
    found = TraceReading(
        left_out=("t",),
        asked=AskedColumns(key=("user",), order=("n",), ignore=("t",)),
        changed=1200,
        again=3,
        read=SideCounts(1200, 1203),
        streams={"repeating": 1},
        rows=RowCounts(0, 0, 3, 0, 0),
        guarantee="repeating",
    )
    return replace(found, **changes)


READINGS: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "all rows agree if `t` is left out: then 3 came twice (repeating recovery)"),
    (
        {"left_out": ("s", "t"), "rows": RowCounts(0, 1, 0, 0, 0), "read": SideCounts(1200, 1200)},
        "more rows agree if `s` and `t` are left out: then 1 came with other content "
        "(repeating recovery)",
    ),
    (
        {"left_out": ("n",)},
        "all rows agree if `n` is the order and no part of a result: then 3 came twice "
        "(repeating recovery)",
    ),
    (
        {"changed": 0},
        "3 rows differ from a row that came as well in `t` alone; if `t` is left out, 3 came twice "
        "(repeating recovery)",
    ),
    (
        {"changed": 1, "again": 0, "rows": NO_ROWS, "guarantee": "precise"},
        "1 row differs from a row of REFERENCE in `t` alone; if `t` is left out, nothing differs "
        "(precise recovery)",
    ),
)


@pytest.mark.parametrize(("changes", "line"), READINGS)
def test_a_reading_is_a_sentence(changes: dict[str, Any], line: str) -> None:
    asked = AskedColumns(key=("user",), order=("n",))
    assert trace_words.sentence(reading(**changes), asked) == line


def test_a_reading_comes_with_its_command() -> None:
    """But not if few rows differ: then it is their content that is wrong."""
    line = "    asif verify-trace a a --key user --order n --ignore t\n"
    assert line in printed(result(readings=(reading(),)))
    assert line not in printed(result(readings=(reading(changed=1, again=0),)))


def test_a_row_shows_the_columns_that_differ() -> None:
    one = result().differences[0]
    row = {"user": "a", "n": 3, "v": {"x": 1, "y": 2}, "w": 5}
    lonely = replace(
        one,
        kind="missing",
        order={},
        reference=LogRow(row, "row 7"),
        actual=None,
        nearest=LogRow({**row, "v": {"x": 1, "y": 3}}, "row 8"),
        columns=("v.y",),
    )
    text = printed(result(asked=AskedColumns(), differences=(lonely,)))
    assert "│ missing   │ row 7: v.y=2 │ not there; nearest: row 8: v.y=3 │" in text
    alone = printed(result(differences=(replace(lonely, nearest=None, columns=()),)))
    assert "row 7: n=3, v.x=1, v.y=2, w=5 │ -" in alone


@pytest.mark.parametrize(
    ("expect", "holds", "line"),
    [
        ("precise", True, "as if nothing had failed: precise recovery, 1.2 s"),
        ("repeating", True, "at least as good as repeating: precise recovery, 1.2 s"),
        ("repeating", False, "NOT as good as repeating: precise recovery, 1.2 s"),
    ],
)
def test_the_verdict_is_one_line(expect: str, holds: bool, line: str) -> None:
    found = result(expect=expect, holds=holds, asked=AskedColumns(), guarantee="precise")
    assert traced.verdict(found) == line


@pytest.mark.parametrize(
    ("guarantee", "rows", "words"),
    [
        ("repeating", {"duplicated": 1}, "at least once: results come again as they were"),
        ("gap", {"missing": 1}, "at most once"),
        ("gap", {"missing": 1, "duplicated": 1}, "results are missing, some came again"),
        ("gap", {"missing": 1, "unexpected": 1}, "results are missing or have other content"),
        (
            "gap",
            {"missing": 3, "unexpected": 1, "out_of_order": 1},
            "results are missing or have other content (at least 2 are missing), some in another "
            "order",
        ),
        ("convergent", {"out_of_order": 2}, "exactly once, in another order"),
        ("divergent", {"out_of_order": 2, "duplicated": 1}, "at least once, in another order"),
        ("divergent", {"different": 1}, "at least once, some with other content"),
        (
            "convergent",
            {"unexpected": 1},
            "at least once, some that REFERENCE does not hold",
        ),
    ],
)
def test_a_verdict_has_everyday_words(guarantee: str, rows: dict[str, int], words: str) -> None:
    found = result(guarantee=guarantee, rows=replace(NO_ROWS, **rows), asked=AskedColumns())
    assert trace_words.everyday(found) == words


def test_what_has_an_identity_is_missing_unless_other_content_stands_for_it() -> None:
    found = result(guarantee="gap", rows=replace(NO_ROWS, missing=1, unexpected=1))
    assert trace_words.everyday(found) == "results are missing, others came"
    stands = replace(found, readings=(reading(left_out=("n",)),))
    assert trace_words.everyday(stands) == "results are missing or have other content"


def test_no_row_agrees() -> None:
    rows = replace(NO_ROWS, missing=1200, unexpected=3)
    assert "NOT as if nothing had failed: no row is in both logs" in traced.verdict(
        result(rows=rows)
    )


# --- the command -----------------------------------------------------------------------------
def test_the_command_asks_as_it_is_reported_and_exits_with_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[dict[str, Any]] = []

    def verify(*paths: Path, **asked: Any) -> TraceComparison:
        calls.append({"paths": paths, **asked})
        return result(holds=asked["expect"] >= Guarantee.DIVERGENT)

    monkeypatch.setattr("spark_check.traces.verify.verify", verify)
    words = "r a --key u,v --key w --order n --ignore t --conf spark.x=1 --json out/result.json"
    for expect, code in (("precise", 1), ("divergent", 0)):
        given_ = ["asif", "verify-trace", *words.split(), "--expect", expect]
        monkeypatch.setattr(sys, "argv", given_)
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == code
        assert "divergent recovery" in capsys.readouterr().out
    saved = json.loads((tmp_path / "out" / "result.json").read_text())
    assert saved["guarantee"] == "divergent"
    assert calls[0]["paths"] == (Path("r"), Path("a"))
    assert calls[0]["key"] == ["u", "v", "w"]
    assert calls[0]["conf"] == {"spark.x": "1"}
    assert (calls[0]["expect"], calls[1]["expect"]) == (Guarantee.PRECISE, Guarantee.DIVERGENT)
