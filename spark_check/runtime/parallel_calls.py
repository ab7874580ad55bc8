"""Many independent calls on Spark: each result as soon as it is there, however other calls end.

Rule of this file: it knows nothing of the calls.  It receives a function that can be pickled, and
its arguments.

Results come back through an accumulator, to which Spark adds the results of a task once, as soon as
the task has succeeded: a job's own result would come when all is done, and a local iterator waits
for one partition after the other.  Calls are put together into tasks of about TASK_S, for a task
costs some 10 ms of its own.

A call may end the process in which it runs.  So a task that Spark repeats makes each of its calls
in a process of its own, and so do all later jobs after one that was lost.
"""

from __future__ import annotations

import pickle
import sys
import threading
import time
from collections.abc import Callable, Container, Generator, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from math import ceil
from statistics import mean
from typing import Any, NamedTuple, TypeVar

from pyspark import Accumulator, AccumulatorParam, SparkContext, TaskContext
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from model.calls import EndedCall
from model.errors import Invalid
from model.machine.own_process import call_apart
from spark_check.runtime.cluster.failures import explain, first_line, lost_task

T = TypeVar("T")
R = TypeVar("R")

TASK_S = 1.0
"""Seconds of work that a core loses at most, approximately, when all is killed."""
TASKS_A_CORE = 4
"""The minimum while there are calls, so that at the end no core waits long for another."""
POLL_S = 0.05
GROUP = "calls"


class CallResult(NamedTuple):
    """The report of a worker on a call.

    packed: the result, as bytes: a worker need not know its type, which may be of a user's file.
    why: the process of the call died, and packed is None.
    """

    number: int
    packed: bytes | None
    why: str
    seconds: float

    def result(self) -> Any:
        return None if self.packed is None else pickle.loads(self.packed)


class LostTask(Exception):
    """A task ended, and with it the process that ran it."""

    def __init__(self, task: int, why: str) -> None:
        super().__init__(why)
        self.task = task


class ResultList(AccumulatorParam[list[CallResult]]):
    def zero(self, value: list[CallResult]) -> list[CallResult]:
        return value[:0]

    def addInPlace(self, value1: list[CallResult], value2: list[CallResult]) -> list[CallResult]:
        value1.extend(value2)
        return value1


def call_all(
    spark: SparkSession, call: Callable[[T], R], items: Sequence[T], size: int | None = None
) -> Generator[list[EndedCall[R]], None, None]:
    """call(item) of all items, begun in their order, as results come: some at a time.

    size: calls of a task; None: as many as take about TASK_S, by the time that the first ones take.
    A call may end the process in which it runs (it is killed for its memory, say).  It is then
    repeated in a process of its own.  A call that ends its whole executor is repeated in a task of
    its own, and has ended for good if that task is lost as well.  Raises Invalid if Spark ends.
    """
    context = spark.sparkContext
    _let_hang_up(context)
    cores = context.defaultParallelism
    left = dict(enumerate(items))
    suspects: set[int] = set()
    apart = False
    if len(left) <= TASKS_A_CORE * cores:
        size = 1
    while left:
        tasks = plan([*left], suspects, size, cores)
        seconds: list[float] = []
        try:
            work = [[(number, left[number]) for number in task] for task in tasks]
            for found in _job(context, partial(_calls, call, apart), work):
                yield [(one.number, one.result(), one.why) for one in found]
                seconds += [one.seconds for one in found]
                for one in found:
                    del left[one.number]
            if lacking := [number for task in tasks for number in task if number in left]:
                raise RuntimeError(f"Spark says that all is done, but {len(lacking)} results lack")
        except LostTask as lost:
            task = tasks[lost.task]
            if len(task) == 1 and task[0] in suspects:
                yield [(task[0], None, str(lost))]
                del left[task[0]]
            elif apart:
                suspects.update(task)
            apart = True
        if size is None and seconds:
            most = ceil(len(left) / (TASKS_A_CORE * cores))
            size = max(1, min(most, int(TASK_S / max(mean(seconds), 1e-6))))


def plan(
    left: Sequence[int], suspects: Container[int], size: int | None, cores: int
) -> list[Sequence[int]]:
    """The tasks of the next job, each the numbers of its calls: some task, while a call is left.

    suspects: each is alone in its task.  size: the most calls of a task of the others; None: it is
    not known yet how long a call takes, and as many as there are cores, from all over, show it.
    """
    plain = [number for number in left if number not in suspects]
    if size is None and plain:
        return [[number] for number in plain[:: ceil(len(plain) / cores)]]
    alone = [[number] for number in left if number in suspects]
    return [*alone, *_split(plain, size or 1, cores)]


def _split(numbers: Sequence[int], size: int, cores: int) -> list[Sequence[int]]:
    """Tasks of at most that size, as equal as can be, and equally many for each core.

    The longer ones come first: if they took turns with the others, then so would two cores, and one
    of these would have all the longer ones.
    """
    count = min(len(numbers), cores * ceil(len(numbers) / (size * cores)))
    least, longer = divmod(len(numbers), max(count, 1))
    ends = [at * least + min(at, longer) for at in range(count + 1)]
    return [numbers[start:end] for start, end in pairwise(ends)]


def _let_hang_up(context: SparkContext) -> None:
    """Spark may close the accumulator's connection before Python does, as after Ctrl-C; the
    server would print a traceback of that."""
    server: Any = context._accumulatorServer
    if "handle_error" in vars(server):  # it is replaced already
        return
    print_traceback = server.handle_error

    def handle_error(request: Any, address: Any) -> None:
        if not isinstance(sys.exception(), EOFError):
            print_traceback(request, address)

    server.handle_error = handle_error


def _job(
    context: SparkContext, work_on: Callable[..., None], tasks: Sequence[Sequence[tuple[int, T]]]
) -> Generator[list[CallResult], None, None]:
    """The results of tasks, as each task ends.  Raises LostTask; that task has then no result."""
    results = context.accumulator([], ResultList())
    failures: list[Exception] = []

    def work() -> None:
        try:
            context.setJobGroup(GROUP, "calls", interruptOnCancel=True)
            context.parallelize(tasks, len(tasks)).foreachPartition(partial(work_on, results))
        except Exception as error:
            failures.append(error)

    # Not a thread of pyspark, which asks Spark for more before the first result can be received.
    thread = threading.Thread(target=work)
    thread.start()
    try:
        running = True
        while running:
            thread.join(POLL_S)
            running = thread.is_alive()  # asked before results are taken, so that none is left
            if found := _take(results):
                yield found
    finally:
        if thread.is_alive():
            with suppress(Exception):  # a Spark that has ended raises many kinds of errors
                context.cancelJobGroup(GROUP)
            thread.join()
    if failures:
        raise _explain(failures[0])


def _take(results: Accumulator[list[CallResult]]) -> list[CallResult]:
    """Take the results since the last time; another thread may add more meanwhile."""
    found = results.value[:]
    del results.value[: len(found)]
    return found


def _explain(error: Exception) -> Exception:
    text = str(error)
    if lost := lost_task(text):
        return LostTask(*lost)
    if why := explain(text):
        return Invalid(f"Spark ended before its work did ({why}); what was done is kept")
    if isinstance(error, PythonException):  # the call itself raised: it should not
        return RuntimeError(text)  # the exception has no words once Spark has ended
    why = first_line(text) if text else type(error).__name__
    return Invalid(f"Spark ended before its work did ({why}); what was done is kept")


def _calls(
    call: Callable[[T], R],
    apart: bool,
    results: Accumulator[list[CallResult]],
    tasks: Iterable[Sequence[tuple[int, T]]],
) -> None:
    """In a worker."""
    context = TaskContext.get()
    apart = apart or (context is not None and context.attemptNumber() > 0)
    packing = partial(_packed, call)
    for task in tasks:
        for number, item in task:
            started = time.perf_counter()
            packed, why = call_apart(packing, item) if apart else (packing(item), "")
            results.add([CallResult(number, packed, why, time.perf_counter() - started)])


def _packed(call: Callable[[T], R], item: T) -> bytes:
    """The result, as bytes."""
    return pickle.dumps(call(item))
