"""Text of users in pictures and prints: no character of it is an order to a reader's program.

Rule of this file: text in, text out; each kind of result has its one function here.
"""

from __future__ import annotations

import re

_COLOUR = r"\x1b\[[0-9;]*m"
"""The orders of a terminal that rich gives for colours."""
_UNSEEN = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
_HIDDEN = re.compile(_UNSEEN)
_HIDDEN_OR_COLOUR = re.compile(f"({_COLOUR})|{_UNSEEN}")


def visible(text: str) -> str:
    """The text with each control character and each half of a pair as its number: \\x1b, \\ud800.

    Line ends and tabs stay.  The text may be in UTF-8, and in XML.
    """
    return _HIDDEN.sub(_number, text)


def visible_in_colour(text: str) -> str:
    """As `visible`; colours for a terminal stay."""
    return _HIDDEN_OR_COLOUR.sub(lambda found: found[1] or _number(found), text)


def in_table(text: str) -> str:
    """The text as a cell of a Markdown table: on one line, without bars and tags."""
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", visible(" ".join(text.split())))


def _number(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
