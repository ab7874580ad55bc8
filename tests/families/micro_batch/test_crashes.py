"""Spark recovers from crashes and damages as expected, and the checks notice if it does not."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException

from engine_check.check import Check, CheckSetting
from engine_check.victim import JobEnded
from model.core import Guarantee
from model.errors import Invalid
from model.protocols.micro_batch.crashes import CrashPoint as Modelled
from model.protocols.micro_batch.messages import Batch
from model.protocols.micro_batch.protocol import PROTOCOL
from model.results.engine import EngineCase
from spark_check.micro_batch import crashes
from spark_check.micro_batch.checks import crash_kinds, damage
from spark_check.micro_batch.checks import crash_points as micro_batch
from spark_check.micro_batch.crashes import JobLoad, predict
from spark_check.micro_batch.external_store import (
    STARTED,
    ExternalStore,
    RunningCountRow,
    StoreSink,
)
from spark_check.micro_batch.job import JobSettings
from spark_check.micro_batch.verdict import bodies, expected_bodies, judge
from spark_check.runtime.jvm import Jvm

CHECKS = {
    "micro-batch": micro_batch.CHECK,
    "crash-kinds": crash_kinds.CHECK,
    "damage": damage.CHECK,
}


class Results:
    """The quick profile of each check, run once."""

    def __init__(self, work: Path, jvm: Jvm) -> None:
        self.work, self.jvm, self.known = work, jvm, dict[str, tuple[EngineCase, ...]]()

    def of(self, name: str) -> tuple[EngineCase, ...]:
        if name not in self.known:
            self.known[name] = cases(CHECKS[name], self.work / name, "quick", self.jvm)
        return self.known[name]


def cases(check: Check, work: Path, profile: str, jvm: Jvm | None = None) -> tuple[EngineCase, ...]:
    return check.run(CheckSetting(work, profile, lambda *_: None, jvm))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, jvm: Jvm) -> Results:
    return Results(tmp_path_factory.mktemp("spark"), jvm)


def differences(case: EngineCase) -> dict[str, Any]:
    both = case.predicted.keys() | case.seen.keys()
    pairs = {key: (case.predicted.get(key), case.seen.get(key)) for key in both}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


@pytest.mark.spark
@pytest.mark.exhaustive  # `.ci/run` runs the same checks
@pytest.mark.parametrize("name", ["micro-batch", "crash-kinds", "damage"])
def test_a_quick_check_holds(name: str, results: Results) -> None:
    found = results.of(name)
    assert {case.name: differences(case) for case in found} == {case.name: {} for case in found}
    assert all(case.crashed for case in found)


# --- what the checks would notice ----------------------------------------------------------------
@pytest.mark.spark
@pytest.mark.exhaustive  # it needs what the check has seen
@pytest.mark.parametrize(
    "other",
    [
        "offsets-after",
        "offsets-after-keyed-rows",
        "eager-acks",
        "prompt-acks",
        "commit-first",
        "state-in-place",
    ],
)
def test_spark_is_no_other_design(other: str, results: Results) -> None:
    """What was seen of it contradicts the model of each design that does one thing otherwise."""
    sinks = {StoreSink.BY_BATCH: PROTOCOL.named(f"micro-batch:{other}")}
    contradictions = set()
    for crash, case in zip(micro_batch.QUICK, results.of("micro-batch"), strict=True):
        left, later = predict(crash.point, crash.load, sinks)
        said = {**left, **later}
        contradictions |= {key for key, value in said.items() if case.seen[key] != value}
    assert contradictions


def test_no_two_points_are_alike() -> None:
    """Spark cannot pass for having been crashed elsewhere."""
    said = {point: predict(point, JobLoad()) for point in micro_batch.WHERE}
    assert all(said[one] != said[other] for one, other in combinations(said, 2))


def test_sinks_differ_where_a_batch_is_written_again_only() -> None:
    differ = {
        point
        for point in micro_batch.WHERE
        if predict(point, JobLoad())[1]["append sink"] != "precise"
    }
    assert differ == {Modelled.AFTER_SINK}


def test_a_batch_that_was_not_logged_regroups() -> None:
    _, later = predict(Modelled.BEFORE_OFFSETS, JobLoad((4, 4, 2), late=3))
    assert later["ran after the restart"] == [[2, 8, 13]]


@pytest.mark.parametrize(
    ("refused", "sinks", "named"),
    [
        (False, ["precise", "precise"], "same"),
        (False, ["precise", "repeating"], "replayed"),
        (False, ["gap", "repeating"], "wrong"),
        (False, ["repeating", "repeating"], "wrong"),
        (True, ["right so far", "right so far"], "refused"),
        (True, ["right so far", "copies so far"], "refused"),
        (True, ["wrong so far", "right so far"], "wrong"),
    ],
)
def test_an_outcome_is_called_by_its_name(refused: bool, sinks: list[str], named: str) -> None:
    assert damage.outcome(refused, sinks) == named


@pytest.mark.parametrize(
    ("error", "named"),
    [
        ("Failed to read log file file:/w/checkpoint/offsets/2. Incomplete log file", True),
        ("Failed to read log file file:/w/checkpoint/offsets/20. Incomplete log file", False),
        ("Input length = 1", False),
        ("Input length = 1\n\tat offsets/2", False),
    ],
)
def test_an_error_names_a_file_or_not(error: str, named: bool) -> None:
    assert damage.names_file(error, ["offsets/2"]) == named


def test_silence_about_a_wrong_output_is_a_failure() -> None:
    wanted = damage.ExpectedOutcome("wrong", found=True, sinks=("gap", "gap"))
    warned = damage.as_seen("", ["gap", "gap"], ["offsets/2"], ("offsets/2: is odd",))
    silent = damage.as_seen("", ["gap", "gap"], ["offsets/2"], ())
    assert warned == damage.as_expected(wanted)
    assert silent != damage.as_expected(wanted._replace(found=False))


@pytest.mark.parametrize(
    "module", ["spark_check.micro_batch.stream", "spark_check.upstream_backup.source"]
)
def test_what_spark_asks_of_a_source_needs_few_imports(module: str) -> None:
    """It starts a process for each of its questions, which takes as long as what that imports."""
    code = f"import sys, {module}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    many = {"pandas", "pyarrow", "numpy", "networkx", "psutil", "spark_check.runtime.session"}
    assert many.isdisjoint(ran.stdout.split())


def test_a_busy_machine_is_no_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    died_of = [crashes.BUSY, "no such offset", crashes.BUSY]

    def dying(*_: Any) -> None:
        if died_of:
            raise PySparkException(f"Spark says: {died_of.pop()}")

    monkeypatch.setattr(crashes, "run_to_end", dying)
    spark: Any = None
    ran = [crashes.restart(spark, JobSettings(str(tmp_path)), JobLoad()) for _ in range(2)]
    assert ran == ["Spark says: no such offset", ""]
    died_of += [crashes.BUSY] * crashes.ATTEMPTS
    with pytest.raises(Invalid, match="too busy"):
        crashes.restart(spark, JobSettings(str(tmp_path)), JobLoad())


def test_a_job_that_a_busy_machine_ends_is_crashed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time with a new store; a job that ends for another reason is no job to try again."""
    job = crash_kinds.QUICK[0].job
    died_of = ["no such offset", crashes.BUSY]
    tried: list[str] = []

    def ending(settings: JobSettings, *_: Any) -> None:
        tried.append(settings.work)
        if died_of:
            (Path(settings.work) / "spark.log").write_text(f"ERROR: {died_of.pop()}")
            raise JobEnded

    monkeypatch.setattr(crashes, "crash", ending)
    with pytest.raises(JobEnded):
        crashes.crash_job(tmp_path / "first", job)
    assert len({*tried}) == len(tried) == 2
    store, code = crashes.crash_job(tmp_path / "second", job)
    assert (store.work, code) == (tried[-1], None)
    died_of += [crashes.BUSY] * crashes.ATTEMPTS
    with pytest.raises(Invalid, match="too busy"):
        crashes.crash_job(tmp_path / "third", job)


# --- what is outside of Spark --------------------------------------------------------------------
ROWS = (RunningCountRow(1, "a", 1), RunningCountRow(2, "b", 1), RunningCountRow(3, "a", 2))


def test_counted_rows_are_what_the_model_expects(tmp_path: Path) -> None:
    store = ExternalStore(str(tmp_path))
    store.arrive("aba")
    assert bodies(ROWS) == expected_bodies(store.events())


def test_one_sink_takes_a_batch_twice_and_the_other_does_not(tmp_path: Path) -> None:
    store = ExternalStore(str(tmp_path))
    store.arrive("aba")
    first, second = Batch(0, 0, 2), Batch(1, 2, 3)
    assert store.write(first, ROWS[:2])
    assert store.taken() == first
    assert not store.write(first, ROWS[:2])
    assert store.write(second, ROWS[2:])
    assert judge(store.events(), store.output(StoreSink.BY_BATCH)) is Guarantee.PRECISE
    assert judge(store.events(), store.output(StoreSink.APPEND)) is Guarantee.REPEATING


def test_a_sink_that_knows_batches_drops_another_one_with_the_same_id(tmp_path: Path) -> None:
    store = ExternalStore(str(tmp_path))
    store.arrive("aba")
    store.write(Batch(0, 0, 2), ROWS[:2])
    store.write(Batch(0, 0, 3), ROWS)
    assert judge(store.events(), store.output(StoreSink.BY_BATCH)) is Guarantee.GAP


def test_double_counting_shows(tmp_path: Path) -> None:
    store = ExternalStore(str(tmp_path))
    store.arrive("aba")
    store.write(Batch(0, 0, 3), [*ROWS[:2], RunningCountRow(3, "a", 3)])
    assert judge(store.events(), store.output(StoreSink.BY_BATCH)) is Guarantee.GAP


def test_what_was_noted_lately_is_of_the_last_start(tmp_path: Path) -> None:
    store = ExternalStore(str(tmp_path))
    for number in range(2):
        store.note(STARTED)
        store.note("acked", start=number)
    assert [line["start"] for line in store.notes("acked")] == [0, 1]
    assert [line["start"] for line in store.notes("acked", lately=True)] == [1]
    assert store.acked() == 1
