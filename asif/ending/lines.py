"""The one line that a failed command prints.

Rule of this file: text in, text out; a line has no secret, no control character, no line break.
"""

from __future__ import annotations

import re

MOST = 300
"""The characters of a line, without the name of the command before it."""
TAIL = 110
"""The characters of a longer text that are kept from its end, where the remedy stands."""

SECRETS = re.compile(
    r"""(?xi)
    (?P<name>(?:passw(?:or)?d|passphrase|pwd|secret|token|credential|access[._-]?key)
        [\w.-]{0,40}["']?\s{0,3}[=:]\s{0,3})            # password=..., "sslpassword": ...
    (?:'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | [^\s&;,'"]+)
    | (?P<url>://[^\s/:@]{0,200}:)[^\s/]{0,500}(?=@)    # scheme://user:...@host
    """
)
"""No part before a name is repeated without an end: the time is linear in the text."""


def without_secrets(text: str) -> str:
    """The text with *** in the place of each password, token or key."""
    return SECRETS.sub(lambda found: f"{found['name'] or found['url']}***", text)


def one_line(text: str, most: int = MOST) -> str:
    """The text on a line, at most `most` characters: of a longer one, its beginning and its end."""
    text = text if len(text) <= 100 * most else f"{text[: 50 * most]} ... {text[-50 * most :]}"
    words = without_secrets(" ".join(text.split()))
    line = "".join(one if one.isprintable() else "�" for one in words)
    if len(line) <= most:
        return line
    end = _from_a_word(line[-TAIL:])
    begin = line[: most - len(end) - len(" ... ")]
    return f"{begin.rsplit(' ', 1)[0] if ' ' in begin[-40:] else begin} ... {end}"


def _from_a_word(text: str) -> str:
    """The text without the word that was cut at its begin, unless the word is long."""
    cut, found, rest = text.partition(" ")
    return rest if found and len(cut) < 40 else text
