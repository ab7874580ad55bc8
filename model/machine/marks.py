"""Marks: a part of a file says that asif wrote it.

Rule of this file: no file is changed here.  A mark is part of the content: a first key of JSON, a
first line of Python, JavaScript, TOML and SMT-LIB, a last line of SVG, HTML and Markdown, a text of
PNG, metadata of Parquet, a comment of PDF.  CSV has no place for one: there it is the header, of
the outputs of a run or of the numbers of a plot.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from model.results.plain import MADE_BY

NAME = "asif"
CSV_HEADER = ("edge", "n", "time", "type", "content")
"""The columns of outputs (sim.outputs): the mark of a file of CSV."""
NUMBERS_HEADER = (
    *("panel", "x axis", "y axis", "series"),
    *("x", "y", "x low", "x high", "y low", "y high"),
)
"""The columns of the numbers of a plot: the mark of another file of CSV."""

_PNG, _PNG_END, _PARQUET = b"\x89PNG\r\n\x1a\n", b"\0\0\0\0IEND\xaeB`\x82", b"PAR1"
_PNG_TEXT = b"tEXtSoftware\0" + NAME.encode()
_KEY = f'"{MADE_BY}": "{NAME}"'
_WORDS = f"made by {NAME}"
_LAST = f"<!-- {_WORDS} -->\n"
_LINES = {".py": "#", ".toml": "#", ".smt2": ";", ".js": "//"}
"""How a comment begins, in files that have one in their first line."""
_HEAD = re.compile(
    rf"\s*(?:\[\s*)?\{{\s*{_KEY}|(?:[#;]|//) {_WORDS}\b|(?:{','.join(CSV_HEADER)}|"
    rf"{','.join(NUMBERS_HEADER)})\r?\n".encode()
)
_PDF, _PDF_END = b"%PDF-", f"% {_WORDS}\n".encode()
_TAIL = re.compile(rf"{_LAST.strip()}\s*\Z".encode())
KIB = 1024


def marked(path: Path, content: str | bytes) -> bytes:
    """The content of a file, with its mark if it has none yet.  Text becomes UTF-8.

    Raises ValueError for a list of JSON whose first item is no object: it has no place for a mark.
    """
    if isinstance(content, str):
        content = content.encode(errors="backslashreplace")
    if has_mark(content[:KIB], content[-KIB:]) or content.startswith(_PARQUET):
        return content
    if content.startswith(_PNG):
        chunk = len(_PNG_TEXT) - 4
        text = chunk.to_bytes(4) + _PNG_TEXT + zlib.crc32(_PNG_TEXT).to_bytes(4)
        return content.removesuffix(_PNG_END) + text + _PNG_END
    if content.startswith(_PDF):
        return content + b"\n" * (not content.endswith(b"\n")) + _PDF_END
    if content[:1] in (b"{", b"["):
        return _marked_json(content)
    comment = _LINES.get(path.suffix)
    if comment and not content.startswith(b"<"):
        return f"{comment} {_WORDS}\n".encode() + content
    return content + b"\n" * (not content.endswith(b"\n")) + _LAST.encode()


def _marked_json(content: bytes) -> bytes:
    found = re.match(rb"(\[\s*)?\{(\s*)(\})?", content)
    if found is None:
        if content.split() in ([b"[]"], [b"[", b"]"]):
            return content  # nothing is in it: it counts as empty
        raise ValueError(f"{content[:KIB]!r:.60}: a list of no objects has no place for a mark")
    end = found.start(3) if found[3] else found.end()
    start = found.end(2) - len(found[2])
    between = b"" if found[3] else b"," + (found[2] or b" ")
    return content[:start] + found[2] + _KEY.encode() + between + content[end:]


def has_mark(head: bytes, tail: bytes) -> bool:
    """Has asif written a file with this first and last KiB?  Of Parquet, `tail` is the footer.

    A file of white space alone, or an empty list of JSON, holds nothing to lose: True.
    """
    if head.startswith(_PNG):
        return _PNG_TEXT in tail
    if head.startswith(_PDF):
        return tail.endswith(_PDF_END)
    if head.startswith(_PARQUET):
        return MADE_BY.encode() in tail and NAME.encode() in tail
    nothing = len(head) < KIB and head.split() in ([], [b"[]"], [b"[", b"]"])
    return nothing or _HEAD.match(head) is not None or _TAIL.search(tail) is not None


def is_ours(path: Path) -> bool:
    """Has asif written this file, or is it empty?  Raises OSError if it cannot be read."""
    with path.open("rb") as file:
        head = file.read(KIB)
        size = file.seek(0, 2)
        tail = min(size, KIB)
        if head.startswith(_PARQUET) and size > 12:
            file.seek(size - 8)
            tail = min(size, 8 + int.from_bytes(file.read(4), "little"))
        file.seek(size - tail)
        return has_mark(head, file.read(tail))
