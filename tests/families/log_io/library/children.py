"""The example's pipeline in a child process that is killed, for real, or ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from docs.examples.log_io import external, pipeline
from spark_check.log_io.library import Capture, Log


class Outcome(NamedTuple):
    """What is outside and inside when the pipeline has ended.

    effects: the text of each write, by book, with numbers.  lineage: rows of EVENT_LINEAGE and of
    the Input Sets, with the bodies.  left: undone rows.  used: the readings of the till that the
    effects are made of.  read: how often it was read.
    """

    effects: dict[str, list[str]]
    lineage: list[Any]
    left: list[Any]
    used: list[list[external.Sale]]
    read: int


Run: TypeAlias = Callable[[str, Path, Capture, int, int | None], bool]
"""A function like run_and_kill."""


def run_and_kill(place: str, folder: Path, capture: Capture, readings: int, at: int | None) -> bool:
    """Run the pipeline in a child; was the child killed before statement or effect `at`?"""
    return was_killed(start(place, folder, capture, readings, at, pipeline.OPERATORS))


def run_and_kill_each(
    place: str, folder: Path, capture: Capture, readings: int, at: Sequence[int]
) -> None:
    """Run each operator in a child of its own, all at the same time; kill each one at its `at`."""
    children = [
        start(place, folder, capture, readings, when, [name])
        for name, when in zip(pipeline.OPERATORS, at, strict=True)
    ]
    for pid in children:
        was_killed(pid)


@contextmanager
def small_process() -> Iterator[Callable[..., Any]]:
    """A function that calls another one, with arguments, in a new, small process: to fork the
    process of many tests takes longer than the pipeline."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    forker = context.Process(target=_answer, args=(theirs,), daemon=True)
    forker.start()
    theirs.close()

    def call(function: Callable[..., Any], *arguments: object) -> Any:
        ours.send((function, arguments))
        try:
            return ours.recv()
        except EOFError:
            raise AssertionError("a run failed in the small process: see its traceback") from None

    try:
        yield call
    finally:
        ours.close()
        forker.join(10)  # longer only if a pipeline hangs, and the test ends for that
        forker.kill()
        forker.join()


def _answer(connection: Connection) -> None:
    import psycopg  # noqa: F401  # here and not in each child

    with suppress(EOFError):  # no more is asked
        while True:
            function, arguments = connection.recv()
            connection.send(function(*arguments))


def start(
    place: str,
    folder: Path,
    capture: Capture,
    readings: int,
    at: int | None,
    operators: Sequence[str],
) -> int:
    """The id of a child that runs these operators."""

    def work(log: Log, watch: external.Watch) -> None:
        pipeline.run(log, folder, watch, operators, readings)

    return start_work(place, capture, at, work)


def start_work(
    place: str,
    capture: Capture,
    at: int | None,
    work: Callable[[Log, external.Watch], object],
    wait_s: float = 0.0,
) -> int:
    """The id of a child that does some work on a log, and dies before its n-th statement."""
    pid = os.fork()
    if pid:
        return pid
    os.fsync = do_nothing  # type: ignore[assignment]  # nobody kills the machine
    try:
        watch = pipeline.kill_at(at) if at else do_nothing
        with Log(place, capture, synchronous="OFF", watch=watch, wait_s=wait_s) as log:
            work(log, watch)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def was_killed(pid: int) -> bool:
    """Wait for a child; was it killed?  If not, it has ended without an error."""
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the pipeline failed in the child: see its traceback"
    return False


def do_nothing(_what: object) -> None:
    """Nothing happens."""


def outcome(place: str, folder: Path, capture: Capture) -> Outcome:
    names = pipeline.BOOKS
    with Log(place, capture, synchronous="OFF") as log:
        made = log.database.execute(
            "SELECT made.send_op, made.send_port, made.rec_port, made.event_id, data.body,"
            " made.inset_id, log.send_op, log.send_port, log.rec_port, log.event_id, used.body"
            " FROM event_lineage AS made JOIN event_data AS data ON data.send_op = made.send_op"
            " AND data.send_port = made.send_port AND data.rec_port = made.rec_port"
            " AND data.event_id = made.event_id JOIN event_log AS log"
            " ON log.rec_op = made.send_op AND log.inset_id = made.inset_id"
            " JOIN event_data AS used ON used.send_op = log.send_op"
            " AND used.send_port = log.send_port AND used.rec_port = log.rec_port"
            " AND used.event_id = log.event_id WHERE log.send_port <> ''"
        )
        left = log.database.execute(
            "SELECT send_op, send_port, rec_op, rec_port, event_id, inset_id FROM event_log"
            " WHERE status = 'undone'"
        )
    files = {name: external.lines(folder / file) for name, file in names.items()}
    read = len(external.lines(folder / "till.jsonl"))
    return Outcome(files, sorted(made), sorted(left), pipeline.used_readings(folder), read)


def without_bodies(lineage: list[Any]) -> list[Any]:
    """The rows by operator, port, number and Input Set alone."""
    return [row[:4] + row[5:10] for row in lineage]
