"""The words of a line of a shell, as bash reads them, and words as bash has to be given them.

Rule of this file: text alone; no shell is asked, and nothing is completed (asif.completion).
"""

from __future__ import annotations

import re
from typing import NamedTuple

QUOTES = "\"'"
ESCAPED_IN_QUOTES = '$`"\\'


class OpenLine(NamedTuple):
    """A line up to the cursor.

    words: those before the last one.  last: the word at the cursor, without quotes and escapes.
    quote: the quote that is open at the cursor, or "".  kept: how many characters of the last word
    bash keeps when it completes: those before an open quote, or up to a break of words.
    """

    words: tuple[str, ...]
    last: str
    quote: str = ""
    kept: int = 0


def read_line(line: str, breaks: str = "") -> OpenLine:
    """The words of a line up to the cursor.  breaks: characters at which bash begins to complete
    anew, and which part no words for a command, as in name:variant."""
    words: list[str] = []
    word: str | None = None
    quote, kept = "", 0
    letters = iter(line)
    for letter in letters:
        if not quote and letter.isspace():
            words += [] if word is None else [word]
            word, kept = None, 0
            continue
        word = word or ""
        if letter == quote:
            quote = ""
        elif letter == "\\" and quote != "'":
            escaped = next(letters, "")
            word += escaped if not quote or escaped in ESCAPED_IN_QUOTES else letter + escaped
        elif letter in QUOTES and not quote:
            quote, kept = letter, len(word)
        else:
            at = len(word) if letter == "@" else len(word) + 1  # bash completes hosts with their @
            word += letter
            kept = at if letter in breaks and not quote else kept
    return OpenLine(tuple(words), word or "", quote, kept)


def quoted(text: str, quote: str = "") -> str:
    """The text such that bash reads it as part of one word.  quote: the one that is open."""
    if quote == "'":
        return text.replace("'", r"'\''")
    if quote == '"':  # a "!" in these quotes keeps its escape, so that it stands outside them
        return re.sub(r'[$`"\\]', r"\\\g<0>", text).replace("!", r'"\!"')
    return re.sub(r"[^\w@%+=:,./-]", r"\\\g<0>", text)
