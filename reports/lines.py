"""Text in lines of a width: no line ends within a word, or between a number and its unit.

Rule of this file: text in, lines out; a word that is wider than the width stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

LEAST = 40
"""Nothing is drawn for fewer columns than this."""
HANGING = 2
"""The columns by which the lines of a paragraph stand behind its first one."""

_NUMBER = re.compile(r"(?<![^\s(≥≤~±+−-])(\d[\d.,]*%?) (?=[A-Za-zµ%°±×])")
_SIGN = re.compile(r"([≥≤±~×]) (?=\d)")


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """(begin, end) of each part that stays on one line: a word, or a number with its unit."""
    glued = _SIGN.sub("\\1\0", _NUMBER.sub("\\1\0", text))
    return (found.span() for found in re.finditer(r"[^ \t\n]+", glued))


def widest_piece(text: str) -> int:
    """The width of the widest part that stays on one line, in columns."""
    return max((cell_len(text[begin:end]) for begin, end in pieces(text)), default=0)


def spans(text: str, width: int, rest: int | None = None) -> Iterator[tuple[int, int]]:
    """(begin, end) of each line of a paragraph.  rest: the width of all lines but the first."""
    begin = end = 0
    for first, last in pieces(text):
        if end and cell_len(text[begin:last]) > width:
            yield begin, end
            begin, width = first, width if rest is None else rest
        end = last
    yield begin, end


def wrapped(text: Text, width: int, hanging: int | None = None) -> list[Text]:
    """The lines of a text with styles.

    Each paragraph keeps its indent; its further lines stand `hanging` columns behind that; None:
    below its first line.
    """
    lines = []
    for paragraph in text.split("\n", allow_blank=True):
        plain = paragraph.plain
        indent = len(plain) - len(plain.lstrip(" "))
        before = " " * (indent + (hanging or 0))
        for at, (begin, end) in enumerate(spans(plain, width, width - len(before))):
            part = paragraph[begin:end]
            lines.append(Text.assemble(before, part) if at else part)
    return lines


def wrap(text: str, width: int, hanging: int = HANGING) -> str:
    """The lines of a text, each paragraph with its indent.

    A command that a user may copy goes on behind a backslash, unless it has quotes.
    """
    return "\n".join(_wrap(paragraph, width, hanging) for paragraph in text.split("\n"))


def _wrap(text: str, width: int, hanging: int) -> str:
    if not _COMMAND.match(text):
        return "\n".join(one.plain for one in wrapped(Text(text), width, hanging))
    if {"'", '"'} & {*text}:
        return text
    if cell_len(text) <= width:
        return text
    return " \\\n".join(one.plain for one in wrapped(Text(text), width - 2, hanging))


_COMMAND = re.compile(r" +asif ")
