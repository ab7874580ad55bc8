"""ABS at the named points of an epoch: the model's predictions, exact, without an engine.

Rule of this file: every number is derived from the events of EVENTS in its row or above it.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_loader
from inspect import getsource
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.errors import Invalid
from model.protocols.abs.messages import AskRun
from sim.predictions.abs import gates, points
from sim.predictions.abs.gates import (
    ACKNOWLEDGED,
    ANNOUNCED,
    COMMITTED,
    COORDINATOR_DIES,
    DECIDED,
    MARKED,
    OPERATOR_DIES,
    SINKS_DIE,
    STORING,
    UNCOMMITTED,
    UNDECIDED,
    EpochGate,
)
from sim.predictions.abs.points import JobEvents, JobRow, expected, predict, spans

EVENTS = JobEvents(ends=(20, 40, 60), held=75, total=100, keys=7)
"""Epoch 3 ends behind event 59, and 15 more events come while a step of it is held."""
FEW = JobEvents(ends=(2, 4), held=5, total=6, keys=2)


class Point(NamedTuple):
    """A row of the table.  appended, committed: at the kill.  restored: 2: the rows 40 and later
    are made again; 3: those from 60 on.  settled: committed when all nodes are back."""

    gate: EpochGate
    dies: tuple[str, ...]
    appended: int
    committed: int
    restored: int
    settled: int
    again: str


TEN = (
    # The operator is held before events 60 to 74.
    Point(MARKED, OPERATOR_DIES, 60, 40, 2, 40, "40-59"),
    Point(STORING, OPERATOR_DIES, 75, 40, 2, 40, "40-74"),
    # The coordinator lives, and its step ends before it learns of the crash.
    Point(UNDECIDED, OPERATOR_DIES, 75, 40, 3, 60, "60-74"),
    Point(DECIDED, OPERATOR_DIES, 75, 40, 3, 60, "60-74"),
    Point(ANNOUNCED, OPERATOR_DIES, 60, 60, 3, 60, "none"),
    # The restart commits the transaction of epoch 3.
    Point(UNCOMMITTED, SINKS_DIE, 75, 40, 3, 60, "60-74"),
    Point(COMMITTED, SINKS_DIE, 75, 60, 3, 60, "60-74"),
    # The step of the coordinator ends with the coordinator.
    Point(ACKNOWLEDGED, COORDINATOR_DIES, 75, 40, 2, 40, "40-74"),
    Point(UNDECIDED, COORDINATOR_DIES, 75, 40, 2, 40, "40-74"),
    Point(DECIDED, COORDINATOR_DIES, 75, 40, 3, 60, "60-74"),
)
NAMES = [f"{one.gate.title}; {', '.join(one.dies)}" for one in TEN]


@cache
def found(one: Point, module: ModuleType = points, events: JobEvents = EVENTS) -> Point:
    """The row of the table that a module predicts."""
    job = module.predict(one.gate, one.dies, events)
    return Point(
        *(one.gate, one.dies, job.appended_then, job.committed_then),
        *(job.restored, job.settled, spans(job.again)),
    )


@pytest.mark.parametrize("one", TEN, ids=NAMES)
def test_each_point_has_its_numbers(one: Point) -> None:
    assert found(one) == one


@pytest.mark.parametrize("one", TEN, ids=NAMES)
def test_the_rows_of_both_sinks_follow_from_the_epoch_that_is_restored(one: Point) -> None:
    events = JobEvents((4, 8, 12), held=15, total=20, keys=3)
    job = predict(one.gate, one.dies, events)
    rows = expected(events)
    assert [row.number for row in rows] == [*range(20)]
    assert rows[11] == JobRow(11, 2, 4)  # after 2, 5 and 8
    assert job.committed == rows
    again = rows[events.ends[job.restored - 1] :]
    assert job.appended == (*rows[: job.appended_then], *again)


@given(
    st.sampled_from(TEN),
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.integers(0, 4),
    st.integers(1, 4),
    st.integers(1, 4),
)
@settings(max_examples=15, deadline=None)
def test_any_events_give_the_same_epochs(
    one: Point, sizes: list[int], held: int, more: int, keys: int
) -> None:
    """Of however many epochs: the one of the point, or the one before it, is restored."""
    ends = tuple(sum(sizes[: number + 1]) for number in range(len(sizes)))
    events = JobEvents(ends, ends[-1] + held, ends[-1] + held + more, keys)
    job = predict(one.gate, one.dies, events)
    restored = len(ends) - 3 + one.restored
    begin = ends[restored - 1] if restored else 0
    assert job.restored == restored
    assert job.settled == begin
    assert job.committed == expected(events)
    assert job.again == tuple(range(begin, job.appended_then))


def test_a_gate_to_which_no_step_comes_is_refused() -> None:
    nowhere = EpochGate("a question for the run", gates.before_sending("count", AskRun))
    with pytest.raises(Invalid, match="no step of an epoch is at the gate: a question for the run"):
        predict(nowhere, OPERATOR_DIES, EVENTS)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((), "none"), ((4,), "4"), ((0, 1, 2, 2, 7, 8), "0-2 2 7-8"), ((3, 2), "3 2")],
)
def test_spans_are_as_people_write_them(numbers: tuple[int, ...], text: str) -> None:
    assert spans(numbers) == text


# --- faults of the prediction ----------------------------------------------------------------
MUTANTS = {
    "a held step of a node that lives never ends": ("play.do(held.action)", "pass"),
    "a held step ends, although its node dies": (
        "    else:\n        play.crash(dies[0], dies)",
        "    else:\n"
        "        held and held.action.node in dies and play.do(held.action)\n"
        "        play.crash(dies[0], dies)",
    ),
    "a node that dies in its step has done nothing of it": (
        "if held is not None and held.action.node in dies and held.effects:",
        "if False:",
    ),
    "a step with all its effects is held before them": (
        "if effects < len(real_effects(play.effects(action))):",
        "if True:",
    ),
    "a held node takes further steps": ("or one.node == blocked", ""),
    "a held step is taken by the others": ("if one == held or", "if"),
    "restarts come before the notices of the crash": ("int(isinstance(action, Restart))", "0"),
    "nobody dies": ("play.crash(dies[0], dies)", "pass"),
    "no events come while a step is held": (
        "play.inject(SOURCE, *events.arrivals(events.ends[-1], events.held))",
        "events = events._replace(held=events.ends[-1])",
    ),
    "both sinks write at once": ('("coordinator", "at-once")', '("at-once", "at-once")'),
    "both sinks commit in two phases": ('("coordinator", "at-once")', '("coordinator",) * 2'),
}


def mutated(old: str, new: str) -> ModuleType:
    """The module of the predictions with a piece of its source replaced."""
    source = getsource(points)
    assert source.count(old) == 1, old
    module = module_from_spec(spec_from_loader("mutated_points", None))  # type: ignore[arg-type]
    sys.modules[module.__name__] = module
    try:
        exec(compile(source.replace(old, new), "mutated", "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module


@pytest.mark.parametrize(("old", "new"), MUTANTS.values(), ids=MUTANTS)
def test_a_fault_of_the_prediction_changes_the_table(old: str, new: str) -> None:
    """Each one differs in a number, or finds that the sinks do not fit each other."""
    module = mutated(old, new)

    def differs(one: Point) -> bool:
        try:
            return found(one, module, FEW) != found(one, events=FEW)
        except (Invalid, AssertionError):
            return True

    assert any(map(differs, TEN))


def test_without_a_fault_nothing_changes() -> None:
    module = mutated("SOURCE, EPOCH", "SOURCE, EPOCH")
    assert all(found(one, module, FEW) == found(one, events=FEW) for one in TEN)
