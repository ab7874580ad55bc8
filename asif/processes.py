"""Many independent calls in processes of this machine: each result as soon as it is there.

Rule of this file: it knows nothing of the calls.  It receives a function that can be pickled, and
its arguments; `spark_check.runtime.parallel_calls` does the same on a cluster.  This is the one
pool of the project: commands hand it down as an Execute (model.calls).

A pool of the standard library ends as a whole when one of its processes is killed, and does not say
which call was lost; so each process has a pipe of its own here.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Container, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from typing import Any, TypeVar

from model.calls import EndedCall, one_by_one
from model.errors import Invalid
from model.machine.users_code import blaming
from proofs.explore.search.cores import usable_cores

T = TypeVar("T")
R = TypeVar("R")


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
    busy: dict[Connection, tuple[BaseProcess, int]] = {}

    def hand_out(connection: Connection, process: BaseProcess, last: int | None = None) -> None:
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
                    process.join()
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


def _start(call: Callable[[T], R]) -> tuple[Connection, BaseProcess]:
    """A process that waits for items, and the connection to it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, call), daemon=True)
    with blocked_ctrl_c(), theirs:
        process.start()
    return ours, process


def _end(connection: Connection, process: BaseProcess) -> None:
    connection.close()
    process.kill()
    process.join()


@contextmanager
def blocked_ctrl_c() -> Iterator[None]:
    """A context in which Ctrl-C waits.  A process that starts here never sees it: a terminal sends
    it to all processes, and this one ends the others.

    The mask is inherited by the new process.  Here another thread may still take the signal, and
    Python would raise in the middle of a start; so the handler of this process waits as well.
    """
    ensure_running()  # else it runs within, and lets Ctrl-C pass again
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    came: list[int] = []
    try:
        if main:  # the only thread in which Python raises
            signal.signal(signal.SIGINT, lambda number, _: came.append(number))
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if came:
            signal.raise_signal(signal.SIGINT)


def _cause(process: BaseProcess) -> str:
    code = process.exitcode or 0
    if code >= 0:
        return f"its process ended with exit code {code}"
    memory = " (is there enough memory?)" if code == -signal.SIGKILL else ""
    return f"its process was ended by {signal.Signals(-code).name}{memory}"


def _serve(connection: Connection, call: Callable[[Any], Any]) -> None:
    """In a process of its own: call what is received, and send the results back."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
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


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
