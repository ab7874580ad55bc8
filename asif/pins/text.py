"""The text of a Python file, and where its nodes and tokens stand in it.

Rule of this file: no protocol; places are numbers of characters, whatever ends the lines.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

_END_OF_LINE = re.compile(r"\r\n|\r|\n")  # str.splitlines also ends lines where Python does not
_BLANK = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
_DEEPER = {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}


class Span(NamedTuple):
    """The characters of a text from `start` up to `end`, which is not included."""

    start: int
    end: int


class Edit(NamedTuple):
    """Other words for the characters of a span, which may be empty."""

    span: Span
    words: str


@dataclass(frozen=True)
class PythonText:
    """text: as it is read, with its own ends of lines.  encoding: in which the file has it."""

    text: str
    encoding: str

    @classmethod
    def decode(cls, content: bytes) -> PythonText:
        """The text of a file that Python can import."""
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return cls(content.decode(encoding), encoding)

    def encode(self) -> bytes:
        return self.text.encode(self.encoding)

    def parse(self) -> ast.Module:
        """A new tree of the text."""
        return ast.parse("\n".join(self.lines))

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return _END_OF_LINE.split(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        """The number of characters before each line."""
        return [0, *(found.end() for found in _END_OF_LINE.finditer(self.text))]

    def span(self, node: ast.expr) -> Span:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Span(
            self._place(node.lineno, node.col_offset),
            self._place(node.end_lineno, node.end_col_offset),
        )

    def _place(self, line: int, column: int) -> int:
        """column: in bytes of UTF-8, as nodes have it."""
        before = self.lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)

    @cached_property
    def _tokens(self) -> list[tuple[Span, str]]:
        """The spans of all tokens but comments, each with its word if that is an operator."""
        lines = io.StringIO("\n".join(self.lines))
        return [
            (
                Span(self._starts[row - 1] + column, self._starts[last - 1] + end),
                token.string if token.type == tokenize.OP else "",
            )
            for token in tokenize.generate_tokens(lines.readline)
            if token.type not in _BLANK
            for (row, column), (last, end) in [(token.start, token.end)]
        ]

    def arguments(self, call: ast.Call) -> tuple[int, list[Span]]:
        """The place behind the opening bracket of a call, and the spans of its arguments.

        An argument has the brackets around it, and no comma.
        """
        begin, end = self.span(call.func).end, self.span(call).end
        inside = [(at, word) for at, word in self._tokens if begin <= at.start < end]
        while inside[0][1] != "(":  # the call of a function in brackets
            del inside[0]
        depths = accumulate(_DEEPER.get(word, 0) for _, word in inside)
        spans: list[Span] = []
        begins = True
        for (at, word), depth in [*zip(inside, depths, strict=True)][1:-1]:
            if word == "," and depth == 1:
                begins = True
            else:
                spans.append(at if begins else Span(spans.pop().start, at.end))
                begins = False
        return inside[0][0].end, spans

    def edited(self, edits: Iterable[Edit]) -> PythonText:
        """The text after edits whose spans do not overlap; of two at one place in their order."""
        parts, done = [], 0
        for (start, end), words in sorted(edits, key=lambda edit: edit.span):
            parts += [self.text[done:start], words]
            done = end
        return PythonText("".join([*parts, self.text[done:]]), self.encoding)
