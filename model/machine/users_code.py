"""Code in a user's own file: it cannot end the process unnoticed, and its exceptions are its own.

Rule of this file: no protocol and no box is known here.  A function of the system that ends or
replaces a process refuses, if code of such a file has called it; for all other code it is as ever.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_stack, walk_tb
from types import FrameType
from typing import Any

from model.errors import Invalid, StepFailed, pass_ctrl_c, words_of

ENDS = {
    os: ("_exit", "abort", "kill", "killpg", "fork", "forkpty", "execv", "execve"),
    signal: ("raise_signal", "pthread_kill"),
}
"""The functions of Python by which code may end the process, or have two of them."""

_files: set[str] = set()


class EndsProcess(BaseException):
    """Code of a user's file was about to end this process."""


def watch(file: Path) -> None:
    """From now on, code of the file that ends the process raises EndsProcess instead."""
    if not _files:
        for module, names in ENDS.items():
            for name in names:
                original = getattr(module, name)
                setattr(module, name, _refusing(f"{module.__name__}.{name}", original))
    _files.add(str(file.resolve()))


@contextmanager
def blaming() -> Iterator[None]:
    """A context that raises Invalid, with the line, for all that code of a user's file raises."""
    try:
        yield
    except (Invalid, StepFailed):
        raise
    except BaseException as error:
        pass_ctrl_c(error)
        frames = walk_tb(error.__traceback__)
        places = [(frame.f_code.co_filename, line) for frame, line in frames]
        theirs = [place for place in places if place[0] in _files]
        if not theirs:
            raise
        file, line = theirs[-1]
        why = f"raises {type(error).__name__}: {words_of(error)}"
        raise Invalid(f"{Path(file).name}:{line}: {why}") from error


def _refusing(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        theirs = any(frame.f_code.co_filename in _files for frame in _frames())
        if theirs and not _is_elsewhere(name, arguments):
            effect = "start a second process" if "fork" in name else "end this process"
            raise EndsProcess(f"{name} would {effect}")
        return original(*arguments, **named)

    return call


def _is_elsewhere(name: str, arguments: tuple[Any, ...]) -> bool:
    """Is it a signal to another process, to a program that takes too long, for one?"""
    ours = {os.getpid(), os.getppid(), os.getpgrp()}
    if name not in ("os.kill", "os.killpg") or not arguments:
        return False
    return isinstance(arguments[0], int) and arguments[0] > 0 and arguments[0] not in ours


def _frames() -> Iterator[FrameType]:
    return (frame for frame, _ in walk_stack(sys._getframe(1)))
