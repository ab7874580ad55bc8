"""The outer fence: however a command ends, it has an exit code and at most one line.

Rule of this file: no traceback on a stream; the file about a fault has it (asif.ending.details).
"""

from __future__ import annotations

import errno
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import typer

from asif.drawings import refuse_without_place
from asif.early import ask_early
from asif.ending import streams
from asif.ending.codes import EPILOG, ExitCode
from asif.ending.details import write_details
from asif.ending.lines import one_line
from asif.force import ForcibleCommand, forced
from asif.json_output import words_aside
from model.errors import Invalid, StepFailed, describe_error, words_of
from model.machine.users_code import blaming

BadUsage: type[Exception] = typer.BadParameter.__mro__[1]
"""Click's UsageError, wherever this version of typer has it."""
PASSED = (Invalid, StepFailed, typer.Exit, typer.Abort, BadUsage, KeyboardInterrupt)
"""The ends of a command that the fence knows."""


class Escaped(Exception):
    """An exception that no command expects; its cause is that exception."""


class FencedCommand(ForcibleCommand):
    """A command of asif: its help has the exit codes, and typer sees none of its exceptions.

    Typer would end with 1 on a broken pipe, as a refuted protocol does.
    """

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **{**how, "epilog": EPILOG})

    def invoke(self, context: Any) -> Any:
        """Perform the command, if its results can be written.  Raises Escaped."""
        try:
            refuse_without_place(context)
            ask_early(context, force=forced())
            with words_aside(context), blaming():
                return super().invoke(context)
        except PASSED:
            raise
        except BaseException as error:
            raise Escaped from error


def end_of(command: str, run: Callable[[], object], argv: Sequence[str]) -> int:
    """Run, print the one line if it fails, and return the exit code.

    run: as typer without its standalone mode; returns an exit code or None.
    """
    sys.excepthook = lambda _kind, error, _trace: _pass_over(command, error, argv)
    threading.excepthook = lambda of: _pass_over(command, of.exc_value, argv)
    sys.unraisablehook = lambda _: None  # a destructor's: Python goes on
    try:
        code = run()
    except BaseException as error:
        code = _end_with(command, error, argv)
    if code == ExitCode.INTERRUPTED:
        _say("interrupted; nothing half-written was left behind")
    return _after_output(code if isinstance(code, int) else ExitCode.HOLDS)


def _end_with(command: str, error: BaseException, argv: Sequence[str]) -> int:
    """Print the line about an exception, and return the exit code."""
    if isinstance(error, Escaped) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, BadUsage):
        return _say_usage(command, error)
    match error:
        case Invalid():
            return _say(words_of(error), ExitCode.INVALID)
        case StepFailed():
            return _say(f"a step fails: {words_of(error)}", ExitCode.REFUTED)
        case KeyboardInterrupt() | typer.Abort():
            return ExitCode.INTERRUPTED
        case OSError(errno=errno.ENAMETOOLONG):  # asif's own names are short
            name = str(error.filename or "a name")[:40]
            return _say(f"{name}...: too long for a file's name", ExitCode.INVALID)
        case SystemExit():  # a command raises typer.Exit, so this is of a file of the user's
            return _say(f"a file of yours ends Python: {describe_error(error)}", ExitCode.INVALID)
    return _fault(command, error, argv)


def _fault(command: str, error: BaseException, argv: Sequence[str]) -> int:
    """Print the line about a fault of asif, and write its details."""
    try:
        cause, details = one_line(describe_error(error)), write_details(command, error, argv)
    except Exception as other:  # the fence itself, as without memory
        cause, details = type(error).__name__, f"its details raise {type(other).__name__}"
    print(f"asif: a fault of asif, in {command}: {cause}; {details}", file=sys.stderr)
    return ExitCode.FAULT


def _pass_over(command: str, error: BaseException | None, argv: Sequence[str]) -> None:
    """Print the line about an exception of a thread, or of a function at exit."""
    if error is not None and not isinstance(error, KeyboardInterrupt | SystemExit):
        _fault(command, error, argv)


def _say_usage(command: str, error: Any) -> int:
    """Print how the options are wrong; without any option, typer has printed the help."""
    text = error.format_message().rstrip(".")
    if text:
        help_ = "" if text.endswith("?") else f"; `{command} --help` has the options"
        _say(f"{text}{help_}")
    return ExitCode.INVALID


def _say(text: str, code: int = ExitCode.INTERRUPTED) -> int:
    print(f"asif: {one_line(text)}", file=sys.stderr)
    return code


def _after_output(code: int) -> int:
    """The exit code once the output is flushed: another one if a part of it was lost."""
    lost = streams.failure()
    if lost is None or code not in (ExitCode.HOLDS, ExitCode.REFUTED):
        return code
    _say(f"the output cannot be printed: {lost.strerror}; files that were written are whole")
    return ExitCode.INVALID
