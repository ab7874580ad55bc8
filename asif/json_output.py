"""`--json -`: the result is the standard output, and all words are on standard error.

Rule of this file: no result is made here.  The text waits until the command has ended, so that no
print of a command, of a file of the user's or of a process that it starts comes between.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, TypeVar

import typer
from typer._click.globals import get_current_context

from asif.early import result_file

STANDARD = Path("-")
"""The file of --json that is the standard output."""
_KEY = "asif.json"
P = TypeVar("P", bound=Path | None)


def json_file(context: typer.Context, param: typer.CallbackParam, value: P) -> P:
    """The callback of the option --json."""
    if value != STANDARD:
        return result_file(context, param, value)
    context.meta[_KEY] = []
    return value


@contextmanager
def words_aside(context: Any) -> Iterator[None]:
    """A context in which a command runs: with `--json -`, its words go to standard error."""
    waiting: list[str] | None = context.meta.get(_KEY)
    if waiting is None:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)  # also of the processes that the command starts
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        for text in waiting:
            sys.stdout.write(text)


def put_out(text: str) -> None:
    """Have the text of a result printed on the standard output, when the command has ended."""
    get_current_context().meta[_KEY].append(text)
