"""The two errors of this project: bad input from the user, and a step that is no step.

Rule of this file: no message without a remedy; an error says what is wrong, where, and what would
be right.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from pathlib import PurePath
from signal import SIG_IGN, SIGINT, getsignal
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
        pass_ctrl_c(other)
        return f"its words raise {type(other).__name__}"


def pass_ctrl_c(error: BaseException) -> None:
    """Raise the error again if it is Ctrl-C, which is nobody's fault.

    A process that ignores Ctrl-C raises no such error: a step does, as any other one.
    """
    if type(error) is KeyboardInterrupt and getsignal(SIGINT) is not SIG_IGN:
        raise error


def brief(value: object) -> str:
    """The first characters of a value, which may be anybody's."""
    try:
        return f"{value!r:.60}"
    except BaseException as error:
        pass_ctrl_c(error)
        return f"a {type(value).__name__}"


def describe_error(error: BaseException) -> str:
    """The words of an exception of a protocol, with its line: the deepest outside Python's library.

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


NEAR, ALL = 3, 8
"""The nearest names that an error about an unknown name lists; so few names are all listed."""
NAME_CHARACTERS = 60
"""The characters of a name in an error."""


def nearest(name: str, names: Collection[str]) -> str:
    """The end of an error message about an unknown name: the names that would be right."""
    return f"; {_hint(name, names, repr)}"


def unknown(kind: str, name: str, known: Collection[str]) -> Invalid:
    """The error for an unknown name, with the nearest known names."""
    return Invalid(f"unknown {kind} {shown(name)}; {_hint(name, known, str)}")


def shown(name: str) -> str:
    """A name of the user's in quotes, cut if it is long."""
    return repr(name if len(name) <= NAME_CHARACTERS else f"{name[:NAME_CHARACTERS]}...")


def some_of(names: Collection[str]) -> str:
    """Names in a row: all of few; of more, the first ones and the number of the others."""
    if len(names) <= ALL:
        return ", ".join(names) or "none"
    return f"{', '.join([*names][:NEAR])} and {len(names) - NEAR} others"


def _hint(name: str, known: Collection[str], show: Callable[[str], str]) -> str:
    """The nearest names; where none is near, some of all."""
    near = get_close_matches(name[:NAME_CHARACTERS], known, n=NEAR)
    if not near:
        return f"there are {some_of([*map(show, known)])}"
    *others, last = map(show, near)
    return f"did you mean {', '.join(others)}{' or ' * bool(others)}{last}?"
