"""The two errors of this project: bad input from the user, and a step that is no step.

Rule of this file: no message without a remedy; an error says what is wrong, where, and what would
be right.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from pathlib import PurePath
from traceback import walk_tb
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


class Invalid(ValueError):
    """Bad input from the user; the command line prints it as one line and exits with code 2."""


class Refused(Invalid):
    """All reasons for which a protocol does not run a graph, at once."""

    def __init__(self, protocol: str, why: Sequence[str]) -> None:
        super().__init__(f"{protocol}: {'; also: '.join(why)}")
        self.protocol, self.why = protocol, tuple(why)


def refuse(protocol: str, why: Iterable[str]) -> None:
    """Raise Refused if there is a reason; the same reason counts once."""
    if found := tuple(dict.fromkeys(why)):
        raise Refused(protocol, found)


def map_all(change: Callable[[S], T], values: Iterable[S]) -> tuple[T, ...]:
    """The values as `change` returns them.  Raises Refused for all those that it refuses."""
    found: list[T] = []
    refused: list[Refused] = []
    for value in values:
        try:
            found.append(change(value))
        except Refused as error:
            refused.append(error)
    for first in refused[:1]:
        refuse(first.protocol, (why for one in refused for why in one.why))
    return tuple(found)


def reasons(error: Invalid) -> tuple[str, ...]:
    """The reasons of a refusal, each a line."""
    return error.why if isinstance(error, Refused) else (str(error),)


class StepFailed(Exception):
    """A protocol's own function broke the contract of model.core: the function raised, returned no
    pair, sent where there is no channel, or returned a state that cannot be hashed.

    node: whose step it was.  on: what the node processed, in a few words.  why: what is wrong.
    """

    def __init__(self, node: str, on: str, why: str) -> None:
        super().__init__(f"{node}, {on}: {why}")
        self.node, self.on, self.why = node, on, why


def words_of(error: BaseException) -> str:
    """The text of an exception, which may be anybody's: its own function may raise."""
    try:
        return " ".join(str(error).split())
    except BaseException as other:
        if isinstance(other, KeyboardInterrupt):
            raise
        return f"its words raise {type(other).__name__}"


def pass_ctrl_c(error: BaseException) -> None:
    """Raise the error again if it is Ctrl-C, which is nobody's fault."""
    if type(error) is KeyboardInterrupt:
        raise error


def brief(value: object) -> str:
    """The first characters of a value, which may be anybody's."""
    try:
        return f"{value!r:.60}"
    except BaseException as error:
        pass_ctrl_c(error)
        return f"a {type(value).__name__}"


def describe_error(error: BaseException) -> str:
    """What an exception of a protocol says, with its line: the deepest outside Python's library.

    Raises the error again if it is Ctrl-C.
    """
    pass_ctrl_c(error)
    place = ""
    for frame, line in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith((sys.base_prefix, "<frozen")):
            place = f" (line {line} of {PurePath(file).name})"
    text = words_of(error)
    return f"{type(error).__name__}{': ' * bool(text)}{text}{place}"


def nearest(name: str, names: Sequence[str]) -> str:
    """The end of an error message about an unknown name: the names that would be right."""
    close = get_close_matches(name, names, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    shown = ", ".join(map(repr, names[:8])) or "none"
    return f"; there are {shown}{' and others' if len(names) > 8 else ''}"


def unknown(kind: str, name: str, known: Collection[str]) -> Invalid:
    """The error for an unknown name, with the nearest known name."""
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known) or 'none'}"
    return Invalid(f"unknown {kind} {name!r}; {hint}")
