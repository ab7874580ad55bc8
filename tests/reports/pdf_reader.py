"""A page of PDF as it is seen: its texts, its colours, and how often it paints.

Rule of this file: only what reportlab and matplotlib write is read: objects with their streams,
fonts with a table of Unicode, and the operators of text, colour and painting.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

CODE = r"<([0-9a-fA-F]+)>"
TOKEN = re.compile(
    rb"\((?:\\.|[^\\()])*\)|<[0-9a-fA-F\s]*>|[\[\]]|/[^\s\[\]()<>/]*|[^\s\[\]()<>/]+", re.DOTALL
)
ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
PAINTS = {b"f", b"f*", b"S", b"s", b"B", b"B*", b"b", b"b*"}
COLOURS = {b"rg": 3, b"RG": 3, b"g": 1, b"G": 1}
"""Operators, and how many numbers each has."""


class PdfPage(NamedTuple):
    """texts: in the order of the page, without spaces.  colours: of what is painted, as #rrggbb.
    paints: how often something but a text is painted."""

    texts: str
    colours: frozenset[str]
    paints: int


class _Font(NamedTuple):
    wide: bool
    letters: Mapping[int, str]


def read_page(content: bytes) -> PdfPage:
    """The one page of a PDF."""
    objects = {
        int(one[1]): one[2] for one in re.finditer(rb"(\d+) 0 obj(.*?)endobj", content, re.DOTALL)
    }
    fonts = {
        name.decode(): _font(objects, int(at))
        for one in objects.values()
        for name, at in re.findall(rb"/(F\d+(?:\+\d+)?) (\d+) 0 R", one)
    }
    (page,) = (one for one in objects.values() if re.search(rb"/Type /Page\b(?!s)", one))
    at = re.search(rb"/Contents (\d+) 0 R", page)
    assert at is not None
    return _shown(_stream(objects[int(at[1])]), fonts)


def _stream(found: bytes) -> bytes:
    head, _, rest = found.partition(b"stream")
    raw = rest.lstrip(b"\r\n").rpartition(b"endstream")[0]
    if b"ASCII85Decode" in head:
        raw = base64.a85decode(b"<~" + raw.strip(), adobe=True)
    return zlib.decompress(raw)


def _font(objects: Mapping[int, bytes], at: int) -> _Font:
    table = re.search(rb"/ToUnicode (\d+) 0 R", objects[at])
    if table is None:
        return _Font(False, {code: chr(code) for code in range(256)})
    text = _stream(objects[int(table[1])]).decode("ascii")
    return _Font(b"/Type0" in objects[at], dict(_letters(text)))


def _letters(table: str) -> Iterator[tuple[int, str]]:
    for part in re.findall("beginbfchar(.*?)endbfchar", table, re.DOTALL):
        for code, letter in re.findall(rf"{CODE}\s*{CODE}", part):
            yield int(code, 16), _unicode(letter)
    for part in re.findall("beginbfrange(.*?)endbfrange", table, re.DOTALL):
        for first, _, letters in re.findall(rf"{CODE}\s*{CODE}\s*\[(.*?)\]", part, re.DOTALL):
            for at, letter in enumerate(re.findall(CODE, letters)):
                yield int(first, 16) + at, _unicode(letter)


def _unicode(code: str) -> str:
    return bytes.fromhex(code.zfill(4)).decode("utf-16-be")


def _shown(stream: bytes, fonts: Mapping[str, _Font]) -> PdfPage:
    texts, font, paints = "", "", 0
    waiting: list[bytes] = []
    colours: set[str] = set()
    now = {"fill": "#000000", "line": "#000000"}
    for token in TOKEN.findall(stream):
        if token in COLOURS:
            now["line" if token.isupper() else "fill"] = _colour(waiting[-COLOURS[token] :])
        elif token in PAINTS:
            paints += 1
            colours |= {now["line"]} if token in (b"S", b"s") else {now["fill"]}
        elif token == b"Tf":
            font = waiting[-2].decode().removeprefix("/")
        elif token in (b"Tj", b"TJ"):
            shown = b"".join(_bytes(one) for one in waiting if one[:1] in (b"(", b"<"))
            texts += _text(shown, fonts[font])
            colours |= {now["fill"]}
        else:
            waiting.append(token)
            continue
        waiting = []
    return PdfPage("".join(texts.split()), frozenset(colours), paints)


def _colour(numbers: list[bytes]) -> str:
    levels = [round(float(one) * 255) for one in numbers]
    return "#" + "".join(f"{one:02x}" for one in (levels * 3 if len(levels) == 1 else levels))


def _bytes(token: bytes) -> bytes:
    if token.startswith(b"<"):
        return bytes.fromhex(token[1:-1].decode())
    return re.sub(rb"\\([0-7]{1,3}|.)", _unescaped, token[1:-1], flags=re.DOTALL)


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[1].isdigit():
        return bytes([int(found[1], 8)])
    return ESCAPES.get(found[1], found[1])


def _text(shown: bytes, font: _Font) -> str:
    codes = (
        [int.from_bytes(shown[at : at + 2]) for at in range(0, len(shown), 2)]
        if font.wide
        else [*shown]
    )
    return "".join(font.letters[code] for code in codes)
