"""Upstream backup on Spark: its buffer, sink and operator, with Spark and without."""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_check.breakpoints import Breakpoints
from engine_check.check import CheckSetting
from model.cep.operator import Operator as Cep
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import Arrival
from model.graph import chain
from model.oracle import assign_times
from model.protocols.upstream_backup.buffers import Ack
from model.results.engine import EngineCase
from proofs.explore.strategies import operators, streams
from spark_check.runtime.crash_kinds import CrashKind
from spark_check.upstream_backup import buffer as buffers
from spark_check.upstream_backup.buffer import Buffer, Fenced
from spark_check.upstream_backup.cases import (
    CORRECT,
    FACTS,
    NO_SKIPS,
    OUTLIVED,
    PUBLISHED,
    QUICK,
    TWICE,
    BackupCase,
    BackupCrash,
    correct,
)
from spark_check.upstream_backup.checks.crashes import CHECK, NONE, create, judge, outlive
from spark_check.upstream_backup.job import ChainPipeline, HostedOperator
from spark_check.upstream_backup.sink import DurableSink
from spark_check.upstream_backup.source import (
    BackupPartition,
    BackupReader,
    BackupStop,
    BackupStream,
    breakpoint_at,
)


# --- an engine without Spark ------------------------------------------------------------------
class ProcessLost(Exception):
    """All that is not on disk is gone."""


class Bang(NamedTuple):
    """Breakpoints that crash."""

    armed: str
    passes: Iterator[int]

    def here(self, place: str) -> None:
        if place == self.armed and next(self.passes) == 0:
            raise ProcessLost


class ReadRow(NamedTuple):
    sn: int
    body: bytes


def live(pipeline: ChainPipeline, crash: BackupCrash | None) -> None:
    """One incarnation, in the order in which Spark calls."""
    armed = breakpoint_at(pipeline.name, crash.point) if crash else ""
    bang: Any = Bang(armed, count(-crash.passed if crash else 0))
    operator = HostedOperator(pipeline)
    stream = BackupStream(
        pipeline.name, pipeline.buffer, operator.epoch, operator.start, pipeline.rows, bang
    )
    reader, before = BackupReader(stream), None
    offset = reader.initialOffset()
    log = pipeline.checkpoint(operator.epoch) / "offsets"
    log.mkdir(parents=True)
    for batch in count():
        end = reader.latestOffset(offset, reader.getDefaultReadLimit())
        if end == offset:
            return
        (log / str(batch)).write_text(f"v1\n{{}}\n{json.dumps(end)}")
        if before:
            reader.commit(before)
        parts = reader.partitions(offset, end)
        operator.batch(sorted(ReadRow(*row) for part in parts for row in reader.read(part)), stream)
        before = offset = end


def play(folder: Path, planned: BackupCase) -> EngineCase:
    (pipeline,) = create(folder, [planned])
    for crash in planned.crashes:
        with pytest.raises(ProcessLost):
            live(pipeline, crash)
    live(pipeline, None)
    kinds = [CrashKind.TREE] * len(planned.crashes)
    return judge(planned, pipeline, kinds)


def _setting(folder: Path, profile: str) -> CheckSetting:
    return CheckSetting(folder, profile, lambda *_: None)


@st.composite
def crash_cases(draw: st.DrawFn) -> BackupCase:
    """Any operator; up to two crashes, each in a batch to which there are events enough."""
    arrivals = draw(streams(longest=16).filter(bool))
    rows = draw(st.integers(1, 5))
    plans = []
    left = -(-len(arrivals) // rows)
    for _ in range(draw(st.integers(0, 2))):
        point = draw(st.sampled_from([point for point in BackupStop if FACTS[point].first <= left]))
        batch = draw(st.integers(FACTS[point].first, left))
        left = left - batch + 1  # at least so many are needed afterwards
        plans.append(BackupCrash(point, batch))
    protocol = draw(st.sampled_from((CORRECT, NO_SKIPS)))
    graph = chain(("A", draw(operators())))
    return BackupCase("drawn", protocol, graph, arrivals, rows, tuple(plans))


# --- properties ------------------------------------------------------------------------------
@pytest.mark.slow
@settings(max_examples=25)
@given(planned=crash_cases())
def test_what_the_files_hold_is_what_the_simulator_predicts(
    planned: BackupCase, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case = play(tmp_path_factory.mktemp("case"), planned)
    assert case.seen == case.predicted


@pytest.mark.parametrize("planned", [*QUICK, TWICE[2], *PUBLISHED, *map(correct, PUBLISHED)])
def test_each_case_ends_as_its_evidence_says(planned: BackupCase, tmp_path: Path) -> None:
    case = play(tmp_path, planned)
    assert case.seen == case.predicted
    assert len(case.crashed) == len(planned.crashes)


def test_published_numbers_go_wrong_in_one_batch_and_not_before(tmp_path: Path) -> None:
    wrong, harmless = (
        planned for planned in PUBLISHED if planned.arrivals == PUBLISHED[2].arrivals
    )
    assert wrong.crashes[0].batch == harmless.crashes[0].batch + 1
    assert play(tmp_path / "wrong", wrong).seen["lost"] == "a7 a8 at 8"
    assert play(tmp_path / "harmless", harmless).seen["lost"] == NONE


# --- what is broken is found -------------------------------------------------------------------
def _trims_too_much(file: Any, ack: Ack) -> None:
    RELEASE(file, ack._replace(trim=(ack.trim[0] + 1,) if ack.trim else ack.trim))


def _skips_too_much(file: Any, ack: Ack) -> None:
    RELEASE(file, ack._replace(skips=tuple((lo, (hi[0] + 1,)) for lo, hi in ack.skips)))


def _keeps_skipped(file: Any, ack: Ack) -> None:
    RELEASE(file, ack._replace(skips=()))


def _forgets_the_savepoint(file: Any, ack: Ack) -> None:
    RELEASE(file, ack)
    file.execute("UPDATE source SET savepoint = NULL")


RELEASE = buffers._release


@pytest.mark.parametrize(
    "careless", [_trims_too_much, _skips_too_much, _keeps_skipped, _forgets_the_savepoint]
)
def test_a_careless_buffer_is_found(
    careless: Callable[[Any, Ack], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buffers, "_release", careless)
    assert not _all_agree(tmp_path)


def test_a_sink_that_forgets_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = DurableSink.take

    def forgetful(sink: DurableSink, *arguments: Any) -> tuple[Any, ...]:
        answers = take(sink, *arguments)
        with closing(sqlite3.connect(sink.path)) as file:
            file.execute("UPDATE sink SET heard = '[]'")
            file.commit()
        return answers

    monkeypatch.setattr(DurableSink, "take", forgetful)
    assert not _all_agree(tmp_path)


def test_acknowledgements_without_their_lag_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = Buffer.post

    def prompt(buffer: Buffer, epoch: int, end: int, acks: Sequence[Ack]) -> None:
        post(buffer, epoch, end, acks)
        buffer.release(epoch, end)

    monkeypatch.setattr(Buffer, "post", prompt)
    case = play(tmp_path, TWICE[0])
    assert case.seen["lost"] == case.seen["surplus"] == NONE  # harmless
    assert case.seen["peak buffer"] < case.predicted["peak buffer"]  # but not Spark's way


@pytest.mark.parametrize("fenced", [True, False])
def test_a_reader_that_outlives_its_query_does_harm_unless_it_is_refused(
    fenced: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It acknowledges the third batch while the next incarnation is about to read its first."""
    read = BackupReader.read

    def late(reader: BackupReader, partition: BackupPartition) -> Iterator[tuple[Any, ...]]:
        if reader.stream.epoch == 2:
            with suppress(Fenced):
                reader.stream.buffer.release(1, 30)
        return read(reader, partition)

    monkeypatch.setattr(BackupReader, "read", late)
    if not fenced:
        monkeypatch.setattr(buffers, "_fence", lambda *_: None)
    assert play(tmp_path, OUTLIVED).agrees is fenced


def _all_agree(folder: Path) -> bool:
    return all(play(folder / str(number), planned).agrees for number, planned in enumerate(TWICE))


# --- the buffer by itself ----------------------------------------------------------------------
def test_what_is_left_of_an_older_incarnation_is_refused(tmp_path: Path) -> None:
    buffer = Buffer(str(tmp_path / "buffer.db"))
    buffer.create(assign_times([Arrival(1, "a")] * 5))
    old = buffer.begin().epoch
    buffer.arrive(old, 0, 3)
    buffer.post(old, 3, [])
    new = buffer.begin()
    attempts: list[Callable[[], object]] = [
        lambda: buffer.release(old, 3),
        lambda: buffer.arrive(old, 3, 2),
        lambda: buffer.post(old, 5, []),
        lambda: buffer.handed(old, 2),
    ]
    for attempt in attempts:
        with pytest.raises(Fenced):
            attempt()
    assert [life.refused for life in buffer.incarnations()] == [len(attempts), 0]
    assert buffer.incarnations()[1].replayed == buffer.usage().events == 3
    assert buffer.arrive(new.epoch, new.trimmed, 4) == 4


def test_a_batch_is_filled_from_the_backup_and_then_from_outside(tmp_path: Path) -> None:
    buffer = Buffer(str(tmp_path / "buffer.db"))
    buffer.create(assign_times([Arrival(1, type_) for type_ in "abcdef"]))
    epoch = buffer.begin().epoch
    assert buffer.arrive(epoch, 0, 2) == 2
    assert buffer.arrive(epoch, 0, 3) == 3  # asked again, as after a crash: one more
    assert buffer.arrive(epoch, 3, 9) == 6
    assert buffer.arrive(epoch, 6, 9) == 6  # no more
    assert [pickle.loads(body).type for _, body in buffer.events(1, 4)] == ["b", "c", "d"]
    assert buffer.incarnations()[0].ends == (2, 3, 6)


def test_a_batch_is_read_in_two_parts_that_cover_it(tmp_path: Path) -> None:
    stream = BackupStream("p0", Buffer(""), 1, 0, 4, Breakpoints(""))
    for start in range(3):
        for end in range(start + 1, 7):
            parts = BackupReader(stream).partitions({"sn": start}, {"sn": end})
            covered = [sn for part in parts for sn in range(part.start + 1, part.end + 1)]
            assert covered == list(range(start + 1, end + 1))
            assert [part.first for part in parts] == [True, False][: len(parts)]
            assert all(isinstance(part, BackupPartition) for part in parts)


def test_batches_that_spark_does_not_have_are_found(tmp_path: Path) -> None:
    planned = BackupCase(
        "8", CORRECT, chain(("A", Cep(sequence("a"), CountWindows(2, 2)))), (), 2, ()
    )
    planned = planned._replace(arrivals=(Arrival(1, "a"),) * 8)
    (pipeline,) = create(tmp_path, [planned])
    live(pipeline, None)
    log = pipeline.checkpoint(1) / "offsets"
    assert judge(planned, pipeline, []).agrees
    (log / "1").write_text('v1\n{}\n{"sn": 3}')
    assert judge(planned, pipeline, []).seen["batches"] == [-1]


# --- Spark -----------------------------------------------------------------------------------
@pytest.mark.spark
@pytest.mark.exhaustive  # the report runs the same check
def test_spark_crashed_and_as_predicted(tmp_path: Path) -> None:
    cases = CHECK.run(_setting(tmp_path, "quick"))
    for case in cases:
        assert case.seen == case.predicted, case.name
    assert sum(len(case.crashed) for case in cases) == 8
    kinds = {outage.kind for case in cases for outage in case.crashed}
    assert kinds == {CrashKind.TREE.value, CrashKind.DRIVER.value}
    assert all(sum(case.seen["replayed"]) > 0 for case in cases)
    assert sum(case.seen["duplicates discarded"] for case in cases) > 0
    wrong = [case for case in cases if case.seen["guarantee"] != "precise"]
    assert [case.seen["surplus"] for case in wrong] == ["a2 at 2"]


@pytest.mark.spark
@pytest.mark.exhaustive  # a case of the full profile; above it is played without Spark
def test_a_source_that_outlives_its_query_is_refused(tmp_path: Path) -> None:
    case = outlive(tmp_path)
    assert case.seen == case.predicted
    assert case.seen["refused"] == 1
