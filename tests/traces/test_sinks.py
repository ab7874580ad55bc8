"""Sinks without an order: logs are judged by the comparison of the model, plainly and on Spark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from asif.cli import main
from model.comparison import BAG, SET, Compare, Shape, table
from model.errors import Invalid
from model.events import Body
from model.recovery import classify_content
from model.results.plain import plain
from spark_check.traces.roles import ColumnRoles
from spark_check.traces.verify import compare, verify
from tests.sizes import FULL
from tests.traces.test_small_logs import in_memory, logs_at, spark, write  # noqa: F401

COMPARED = {
    Shape.BAG: BAG,
    Shape.SET: SET,
    Shape.TABLE: table(lambda body: body.data[0]),
}
Pairs = list[tuple[int, int]]
PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5)


def rows(pairs: Pairs) -> list[dict[str, int]]:
    return [{"id": one, "v": value} for one, value in pairs]


def asked(shape: Shape) -> ColumnRoles:
    return ColumnRoles(id=("id",) if shape is Shape.TABLE else (), sink=shape.value)


def expected(one: Pairs, other: Pairs, how: Compare) -> str:
    bodies = [[Body(0, "", pair) for pair in pairs] for pairs in (one, other)]
    return classify_content(bodies[0], bodies[1], how).name.lower()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sinks")


@pytest.mark.parametrize("shape", COMPARED)
@given(one=PAIRS, other=PAIRS)
def test_a_log_is_judged_as_the_model_judges_a_sink(
    shape: Shape, folder: Path, one: Pairs, other: Pairs
) -> None:
    found = in_memory(logs_at(*write(folder, rows(one), rows(other))), asked(shape))
    assert found["streams"] == {expected(one, other, COMPARED[shape]): 1}
    assert found["rows"]["out_of_order"] == 0


ONE: Pairs = [(0, 0), (1, 0), (0, 1), (2, 2)]
OTHERS: Sequence[Pairs] = (
    [(2, 2), (0, 0), (1, 0), (0, 1)],
    [(0, 0), (1, 0), (1, 0), (0, 1), (2, 2)],
    [(0, 0), (0, 1), (2, 2)],
    [(0, 0), (1, 0), (0, 2), (2, 2), (3, 3)],
)


@pytest.mark.slow
@pytest.mark.parametrize("shape", COMPARED)
def test_spark_finds_the_same(
    shape: Shape,
    folder: Path,
    spark: SparkSession,  # noqa: F811
) -> None:
    for other in OTHERS if FULL else OTHERS[1:3]:
        logs = logs_at(*write(folder, rows(ONE), rows(other)))
        small = in_memory(logs, asked(shape))
        large = plain(compare(spark, logs, asked(shape), 10_000, lambda *_: None))
        for key in ("read", "streams", "rows", "compared"):
            assert large[key] == small[key], (key, other)
        kinds = [sorted(one["kind"] for one in found["differences"]) for found in (small, large)]
        assert kinds[0] == kinds[1]


def test_a_table_has_a_key_and_no_lineage(folder: Path) -> None:
    paths = write(folder, rows(ONE), rows(ONE))
    with pytest.raises(Invalid, match="--sink table: give the columns of its key with --id"):
        verify(*paths, sink=Shape.TABLE)
    with pytest.raises(Invalid, match="--lineage: of a bag the values alone decide"):
        verify(*paths, sink=Shape.BAG, lineage=["v"])


def test_the_last_row_is_that_of_the_order(folder: Path) -> None:
    late = [{"n": 2, "id": 0, "v": 1}, {"n": 1, "id": 0, "v": 0}]
    paths = write(folder, late[::-1], late)
    given = {"id": ["id"], "ignore": ["n"], "sink": Shape.TABLE}
    assert verify(*paths, **given).guarantee == "divergent"  # type: ignore[arg-type]
    assert verify(*paths, **given, order=["n"]).guarantee == "precise"  # type: ignore[arg-type]


def test_the_command_has_the_option(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reference, actual = write(folder, rows(ONE), rows([*ONE, (1, 0)]))
    words = ["verify-trace", str(reference), str(actual)]
    for options, code in (([], 1), (["--sink", "set"], 0), (["--sink", "bag"], 1)):
        result = ["--json", str(folder / "found.json")]
        monkeypatch.setattr("sys.argv", ["asif", *words, *options, *result])
        with pytest.raises(SystemExit) as ended:
            main()
        assert int(ended.value.code or 0) == code
        asked_for = json.loads((folder / "found.json").read_text())["asked"]
        assert asked_for["sink"] == (options[1] if options else "sequence")
    assert "repeating recovery" in capsys.readouterr().out
