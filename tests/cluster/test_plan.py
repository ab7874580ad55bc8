"""Which calls share a task: every call has one result, whichever calls end their processes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import chain
from pickle import dumps
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_check.runtime import parallel_calls
from spark_check.runtime.parallel_calls import CallResult, LostTask, call_all, plan

NUMBERS = st.sets(st.integers(0, 60))
SIZES = st.none() | st.integers(1, 20)
CORES = st.integers(1, 9)


@given(NUMBERS, NUMBERS, SIZES, CORES)
def test_a_plan_is_empty_only_if_nothing_is_left(
    left: set[int], suspects: set[int], size: int | None, cores: int
) -> None:
    tasks = plan(sorted(left), suspects, size, cores)
    planned = [*chain.from_iterable(tasks)]
    assert bool(tasks) == bool(left)
    assert all(tasks)
    assert len(planned) == len({*planned})  # none is called twice
    assert left >= {*planned}
    assert all(len(task) == 1 for task in tasks if suspects & {*task})
    assert size is None or all(len(task) <= size for task in tasks)
    if size is not None or left <= suspects:
        assert left == {*planned}


@given(st.integers(0, 40), st.sets(st.integers(0, 40)), SIZES, CORES, st.data())
def test_every_call_ends_once_whichever_die(
    count: int, fatal: set[int], size: int | None, cores: int, data: st.DataObject
) -> None:
    """All, the last ones, one of several in a task: a call that dies has its reason."""

    def job(_: Any, work_on: object, tasks: Sequence[Any]) -> Generator[Any, None, None]:
        """Ends at the first task that dies; others may have ended before, in any order."""
        dying = [at for at, task in enumerate(tasks) if fatal & {number for number, _ in task}]
        whole = [at for at in range(len(tasks)) if at not in dying]
        seen = data.draw(st.sets(st.sampled_from(whole)) if whole else st.just(set()))
        for at in seen if dying else whole:
            yield [CallResult(number, dumps(item * item), "", 0.01) for number, item in tasks[at]]
        if dying:
            raise LostTask(data.draw(st.sampled_from(dying)), "its process died")

    spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=cores))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel_calls, "_job", job)
        patch.setattr(parallel_calls, "_let_hang_up", lambda _: None)
        found = sorted(chain.from_iterable(call_all(spark, lambda n: n * n, range(count), size)))
    assert found == [
        (n, None, "its process died") if n in fatal else (n, n * n, "") for n in range(count)
    ]
