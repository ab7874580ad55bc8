"""A call in a process of its own, which may die without the caller.

Rule of this file: it knows no engine.  A worker of Spark makes calls in this way after its first
loss.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def call_apart(call: Callable[[T], Any], item: T) -> tuple[Any, str]:
    """(call(item), ""); if its process dies, (None, the reason).  Raises as the call does.

    The process is a copy of this one, and ends with it.
    """
    answers, answer = os.pipe()
    alive, parent = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(answers)
        os.close(parent)
        _serve(call, item, alive, answer)
    os.close(answer)
    os.close(alive)
    try:
        with open(answers, "rb") as read:
            found = read.read()
        _, status = os.waitpid(child, 0)
    finally:
        os.close(parent)  # if this process was interrupted, the other one ends now
    code = os.waitstatus_to_exitcode(status)
    if code or not found:
        return None, _reason(code)
    fine, result = pickle.loads(found)
    if not fine:
        raise result
    return result, ""


def _serve(call: Callable[[T], Any], item: T, alive: int, answer: int) -> None:
    """In the new process: it never returns."""
    code = 1
    try:
        threading.Thread(target=_end_with, args=(alive,), daemon=True).start()
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)  # those of the worker are for the worker
        try:
            found = True, call(item)
        except Exception as error:
            found = False, error
        with open(answer, "wb") as write:
            write.write(pickle.dumps(found))
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) and error.code else 1
    finally:
        os._exit(code)


def _end_with(alive: int) -> None:
    os.read(alive, 1)  # returns when the parent is gone
    os._exit(1)


def _reason(code: int) -> str:
    if code >= 0:
        return f"it ended with exit code {code}"
    memory = " (is there enough memory?)" if code == -signal.SIGKILL else ""
    return f"it was ended by {signal.Signals(-code).name}{memory}"
