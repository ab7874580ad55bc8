"""Spark runs the model's operator unchanged, and the check notices any change."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from engine_check.check import CheckSetting
from model.cep.denotation import evaluate
from model.cep.operator import CepState, Operator
from model.cep.patterns import Strategy
from model.events import Body
from model.results.engine import EngineCase
from model.results.plain import plain
from proofs.explore.strategies import operators, words
from spark_check.operator.checks.equality import cases, cut, merge, run_in_loop, run_random
from spark_check.operator.outcome import differing_keys, outcome
from spark_check.operator.queries import STRATEGIES, draw_query, operator
from spark_check.operator.sql import Simple, SqlMatch, answer
from spark_check.operator.stateful import (
    ROCKSDB,
    MatchRow,
    advance,
    body,
    match_rows,
    row,
)
from spark_check.runtime.jvm import Jvm
from spark_check.runtime.session import BRIEF, session
from tests.spark.spark_operators import Forgetful, Reversing, Wider

FLAWED = 200
"""Random queries that flawed operators are tried with."""


# --- without Spark ---------------------------------------------------------------------------
@given(
    operators(),
    words(),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_batches_and_order_in_a_batch_change_nothing(
    operator: Operator, word: tuple[Body, ...], batches: int, random: Random
) -> None:
    streams = {("q", "k"): word}
    state, done = CepState(), list[MatchRow]()
    for rows in cut(streams, batches):
        random.shuffle(rows)
        state, more = advance(operator, state, rows)
        state = pickle.loads(pickle.dumps(state))
        done += more
    assert done == run_in_loop({"q": operator}, streams)


@given(operators(), words())
def test_events_come_back_from_rows(operator: Operator, word: tuple[Body, ...]) -> None:
    """Also complex ones, and ones with attributes."""
    for one in (Body(3, "a", (("x", 1), ("y", "é"))), *word, *evaluate(operator, word)):
        assert body(row("q", "k", 1, one)) == one
        assert [body(back) for back in match_rows("q", "k", 1, [(4, one)])] == [one]


def test_the_merge_takes_what_is_certain() -> None:
    late, early = Body(5, "a"), Body(2, "b")
    assert list(merge([[late], [early]], 5)) == [early, late]
    assert list(merge([[late], [early]], 4)) == [early]


@pytest.mark.parametrize("parallel", [True, False])
def test_a_state_does_not_grow_with_the_stream(parallel: bool) -> None:
    query = operator(Simple("count", 3, 1, "any", "a", "a", parallel=parallel))
    short, long = (
        advance(query, CepState(), rows)[0]
        for events in (100, 200)
        for rows in cut({("q", "k"): [Body(n, "a") for n in range(1, events + 1)]}, 1)
    )
    assert len(long.open) == len(short.open) == 2
    assert len(long.queue) == len(short.queue) == (0 if parallel else 2)
    assert len(pickle.dumps(long)) == len(pickle.dumps(short))


def test_random_queries_are_of_every_kind_and_the_same_again() -> None:
    all_ = [draw_query(seed, 3) for seed in range(400)]
    assert all_ == [draw_query(seed, 3) for seed in range(400)]
    simple = [one.simple for one in all_ if one.simple]
    assert {(one.windows, one.finds) for one in simple} == {
        (windows, finds)
        for windows in ("count", "grid", "anchored", "opened")
        for finds in ("how many", *STRATEGIES)
    }
    assert {one.parallel for one in simple} == {True, False}
    assert {one.a == one.b for one in simple} == {True, False}
    assert {one.size < one.slide for one in simple} == {True, False}
    kinds = Counter(type(one.operator.engine).__name__ for one in all_)
    assert set(kinds) == {"Function", "Pattern", "OneRun", "Mealy", "Partitioned"}
    assert all(set(one.batches) <= {0, 1, 2} for one in all_)
    assert {
        engine.strategy for one in all_ if hasattr(engine := one.operator.engine, "strategy")
    } == set(Strategy)


def test_a_difference_in_any_field_is_a_difference() -> None:
    one = MatchRow("q", "k", 3, 0, 2, 5, "match", "[]")
    others = [MatchRow._make((*one[:at], 9, *one[at + 1 :])) for at in range(len(one))]
    told = [outcome([other])["sha256"] for other in (one, *others)]
    assert len(set(told)) == len(told)
    assert differing_keys([one], [one]) == []
    assert differing_keys([one, one], [one]) == ["q k"]
    assert differing_keys([one], []) == ["q k"]


# --- with Spark ------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory, jvm: Jvm) -> Iterator[SparkSession]:
    with session(tmp_path_factory.mktemp("spark"), conf={**ROCKSDB, **BRIEF}, jvm=jvm) as started:
        yield started


@pytest.fixture(scope="module")
def seen(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[EngineCase, ...]:
    work = tmp_path_factory.mktemp("operator")
    return cases(spark, CheckSetting(work, "quick", lambda *_: None))


@pytest.mark.spark
@pytest.mark.exhaustive  # `.ci/run` runs the same check
def test_spark_finds_what_the_model_and_sql_find(seen: tuple[EngineCase, ...]) -> None:
    assert [case.name for case in seen if not case.agrees] == []
    assert len(seen) == 7
    json.dumps([plain(case) for case in seen])


@pytest.mark.spark
@pytest.mark.exhaustive
def test_and_there_was_something_to_find_across_batches(seen: tuple[EngineCase, ...]) -> None:
    by_name = {case.name: case for case in seen}
    assert all(case.seen["matches"] > 100 for case in seen)
    assert all(len(case.seen["batches"]) > 1 for case in seen if "batches" in case.seen)
    random = by_name["1,000 random queries"]
    assert random.seen["states"] == 1_000
    assert random.seen["keys"] > 600
    assert random.details["queries that need what earlier batches left"] > 500


@pytest.mark.spark
@pytest.mark.parametrize(
    "operators",
    [Wider, *(pytest.param(one, marks=pytest.mark.exhaustive) for one in (Forgetful, Reversing))],
)
def test_a_flawed_operator_is_found_out(
    operators: type[Wider | Forgetful | Reversing], spark: SparkSession, tmp_path: Path
) -> None:
    against_model, against_sql = run_random(spark, tmp_path, range(FLAWED), 2, operators)
    assert not against_model.agrees
    assert against_model.details["keys that differ"]
    assert against_sql.agrees == (operators is Reversing)  # SQL gives no order to one trigger's


@pytest.mark.spark
def test_a_flawed_question_is_found_out(spark: SparkSession) -> None:
    """Each part of a question counts: half-open windows, slides, types, what is in between."""
    times, types = (2, 2, 4, 5, 5, 5, 7, 8, 9, 10), "acbabcaaab"  # on which all of these differ
    word = list(enumerate(zip(times, types, strict=True), 1))
    right = Simple("grid", 3, 2, "next", "a", "b", "c")
    wrong = [
        right._replace(size=4),
        right._replace(slide=3),
        right._replace(but_not=""),
        right._replace(finds="any"),
        right._replace(finds="strict"),
        right._replace(parallel=False),
        right._replace(windows="anchored"),
        right._replace(windows="opened"),
        right._replace(windows="count"),
        right._replace(a="c"),
    ]
    names = ["q", *(f"q{at}" for at in range(len(wrong)))]
    table = spark.createDataFrame(
        [(name, "k", n, time, type_) for name in names for n, (time, type_) in word],
        "query string, key string, n long, time long, type string",
    )
    all_ = answer(spark, zip(names, [right, *wrong], strict=True), table)
    told = {name: _of(all_, name) for name in names}
    stream = [Body(time, type_) for _, (time, type_) in word]
    for name, simple in zip(names, [right, *wrong], strict=True):
        by_model = run_in_loop({name: operator(simple)}, {(name, "k"): stream})
        assert told[name] == [(one.n, one.time, one.data) for one in by_model]
    assert all(told["q"] != told[name] for name in names[1:])


def _of(rows: Sequence[SqlMatch], name: str) -> list[tuple[int, int, str]]:
    return sorted((one.n, one.time, one.data) for one in rows if one.query == name)
