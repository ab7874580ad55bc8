"""Many independent calls in processes of this machine: each result as soon as it is there.

Rule of this file: it knows nothing of the calls.  It receives a function that can be pickled, and
its arguments; `spark_check.runtime.parallel_calls` does the same on a cluster.  This is the one
pool of the project: commands hand it down as an Execute (model.calls).

A pool of the standard library ends as a whole when one of its processes is killed, and does not say
which call was lost; so each process has a pipe of its own here.
"""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Container, Generator, Hashable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import spawn
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias, TypeVar

from model.calls import EndedCall, one_by_one
from model.errors import Invalid
from model.machine import children
from model.machine.users_code import blaming
from proofs.explore.search.cores import usable_cores

T = TypeVar("T")
R = TypeVar("R")

BEGIN = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from multiprocessing import process, spawn
from multiprocessing.connection import Connection
connection = Connection(os.dup(1))
os.dup2(2, 1)
process.current_process()._inheriting = True
spawn.prepare(connection.recv())
del process.current_process()._inheriting
connection.recv()(connection)
"""
"""The program of a process.  It never sees Ctrl-C, which ends its parent; its output is a
connection, and its own prints go to the errors."""
Child: TypeAlias = "subprocess.Popen[bytes]"


def call_all(
    call: Callable[[T], R],
    items: Sequence[T],
    workers: int | None = None,
    kind: Callable[[T], Hashable] = lambda _: None,
) -> Generator[list[EndedCall[R]], None, None]:
    """An Execute in processes of this machine.

    workers: the number of processes; None: one a core; 1: none but this one.
    A process begins the items of one kind in their order, then those of a kind that no process is
    at: what it has imported and cached for one item serves the next one.  Where all kinds are
    begun, it helps with the first item that waits.

    A process that dies takes its call along, and no other one.  No process outlives the generator,
    or this process.  Raises Invalid if a call does.
    """
    if workers == 1:
        yield from one_by_one(call, items)
        return
    most = workers or usable_cores()
    kinds = [kind(item) for item in items]
    waiting = {*range(len(items))}
    busy: dict[Connection, tuple[Child, int]] = {}

    def hand_out(connection: Connection, process: Child, last: int | None = None) -> None:
        begun = {kinds[number] for _, number in busy.values()}
        number = first_of(waiting, kinds, None if last is None else kinds[last], begun)
        waiting.remove(number)
        busy[connection] = process, number
        with suppress(OSError):  # a dead process; the lack of an answer shows that
            connection.send(items[number])

    try:
        while waiting or busy:
            while waiting and len(busy) < most:
                hand_out(*_start(call))
            for connection in wait([*busy]):
                assert isinstance(connection, Connection)
                process, number = busy[connection]
                try:
                    fine, answer = connection.recv()
                except (EOFError, OSError):  # the process dies
                    process.wait()
                    _end(connection, process)
                    del busy[connection]
                    yield [(number, None, _cause(process))]
                    continue
                if not fine:
                    raise answer
                if waiting:
                    hand_out(connection, process, number)
                else:
                    _end(connection, process)
                    del busy[connection]
                yield [(number, answer, "")]
    finally:
        for connection, (process, _) in busy.items():
            _end(connection, process)


def first_of(
    waiting: Iterable[int], kinds: Sequence[Hashable], same: Hashable, begun: Container[Hashable]
) -> int:
    """The item for a process that has done one of kind `same`; `begun` kinds are under way."""
    return min(waiting, key=lambda at: (kinds[at] != same, kinds[at] in begun, at))


def _start(call: Callable[[T], R]) -> tuple[Connection, Child]:
    """A process that waits for items, and the connection to it."""
    ours, theirs = multiprocessing.Pipe()
    with theirs:
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        command = [sys.executable, *flags, "-c", BEGIN]
        process = children.start(command, output=theirs.fileno())
    with suppress(OSError):  # as of a process that dies at once
        ours.send(_preparation())
        ours.send(partial(_serve, call))
    return ours, process


def _preparation() -> dict[str, object]:
    """The data with which a process can read a function: the path of modules, and the program."""
    data = spawn.get_preparation_data("a call")
    del data["authkey"]  # the connection needs none
    return data


def _end(connection: Connection, process: Child) -> None:
    connection.close()
    children.end(process)


def _cause(process: Child) -> str:
    code = process.returncode
    if code >= 0:
        return f"its process ended with exit code {code}"
    memory = " (is there enough memory?)" if code == -signal.SIGKILL else ""
    return f"its process was ended by {signal.Signals(-code).name}{memory}"


def _serve(call: Callable[[Any], Any], connection: Connection) -> None:
    """In a process of its own: call what is received, and send the results back."""
    with suppress(EOFError, OSError):  # the parent is gone
        while True:
            item = connection.recv()
            try:
                with blaming():
                    answer = True, call(item)
            except Invalid as error:
                answer = False, error
            except Exception:
                trace = traceback.format_exc()
                answer = False, RuntimeError(f"a call raised, in a process of its own:\n{trace}")
            connection.send(answer)
