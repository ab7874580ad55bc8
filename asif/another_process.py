"""A process with a clock, an environment and a folder of its own; it asks protocols.

Rule of this file: it is started by asif.elsewhere alone, and answers a line of JSON for each name.
Its only argument is the task.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest import mock

SHIFTS_S = (0.0, 400.3 * 86_400, -433.6 * 86_400)
"""The seconds by which the clock of each process differs from the true one."""
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
OF_NOW = ("localtime", "gmtime", "ctime")
"""The functions of `time` that show the present if they are given no time."""


def main() -> None:
    """Ask the protocols of the task."""
    task = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a protocol may print
    shift_clock(SHIFTS_S[task["number"]])
    home = Path.cwd()
    for name in task["names"]:
        print(json.dumps(_rows(name, task["scope"], home)), file=answers)
        answers.flush()


def _rows(name: str, scope: str | None, home: Path) -> list[Any]:
    """The questions and the answers to them, as proofs.explore.purity compares them."""
    from model.registry import subject
    from proofs.explore.asked import ask
    from proofs.explore.purity import loading

    try:
        protocol = subject(name).protocol
        found = ask(protocol, scope, _moved)
    except Exception as error:  # whose words may name an address
        return [loading(name, f"raises {type(error).__name__}")]
    return [
        loading(name, "works"),
        *(
            ((*question[:3], _digest(question.given), _place(answer.by, home)), answer.texts)
            for question, answer in found.items()
        ),
    ]


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _place(function: Any, home: Path) -> str:
    """FILE:LINE of a function; the name of its type if it has no line."""
    while (inner := getattr(function, "func", getattr(function, "__wrapped__", None))) is not None:
        function = inner
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is None:
        return type(function).__name__
    file = Path(code.co_filename)
    shown = file.relative_to(home) if file.is_relative_to(home) else file.name
    return f"{shown}:{code.co_firstlineno}"


# --- another clock, environment and folder ---------------------------------------------------
def shift_clock(seconds: float) -> None:
    """Have every clock of `time`, `datetime` and `os` show another time."""
    for name in CLOCKS:
        _shift(name, lambda now: now + seconds)
        _shift(f"{name}_ns", lambda now: now + int(seconds * 1e9))
    times = os.times
    os.times = lambda: os.times_result([one + seconds for one in times()])
    for name in OF_NOW:
        setattr(time, name, _of_now(getattr(time, name)))
    write = time.strftime
    setattr(time, "strftime", lambda form, at=None: write(form, at or time.localtime()))  # noqa: B010
    now = datetime.datetime.now
    by = datetime.timedelta(seconds=seconds)

    class ShiftedDatetime(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return now(tz) + by

        @classmethod
        def utcnow(cls) -> Any:
            return now(datetime.UTC).replace(tzinfo=None) + by

        @classmethod
        def today(cls) -> Any:
            return now() + by

    class ShiftedDate(datetime.date):
        @classmethod
        def today(cls) -> Any:
            return (now() + by).date()

    datetime.datetime = ShiftedDatetime  # type: ignore[misc]
    datetime.date = ShiftedDate  # type: ignore[misc]


def _shift(name: str, change: Callable[[Any], Any]) -> None:
    read = getattr(time, name)
    setattr(time, name, lambda *of: change(read(*of)))


def _of_now(shown: Callable[[float], Any]) -> Callable[..., Any]:
    return lambda at=None: shown(time.time() if at is None else at)


class _Elsewhere(dict[str, str]):
    """An environment in which every variable has another value, also one that nobody set."""

    def __missing__(self, name: str) -> str:
        return "elsewhere"

    def get(self, name: str, _default: Any = None) -> Any:
        return self[name]

    def __contains__(self, name: object) -> bool:
        return True


@contextmanager
def _moved() -> Iterator[None]:
    """A context in another folder, with another environment."""
    home = Path.cwd()
    changed = dict.fromkeys(os.environ, "elsewhere")
    with mock.patch.dict(os.environ, changed), mock.patch.object(os, "environ", _Elsewhere()):
        os.chdir("/")
        try:
            yield
        finally:
            os.chdir(home)


if __name__ == "__main__":
    main()
