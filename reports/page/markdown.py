"""Blocks as Markdown: the same content as on the page, for those who have no browser.

Rule of this file: nothing is left out, and nothing is said that no block says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reports.diagrams import grid
from reports.page.blocks import (
    Block,
    CodeText,
    DataTable,
    DrawnPicture,
    FactList,
    FindingCard,
    FoldedPart,
    GridDrawing,
    Ink,
    ItemList,
    PageRoom,
    PageSection,
    Sentence,
    TableRow,
    Word,
    Words,
    parts_of,
    said,
)
from reports.page.formats import slug
from reports.safe_text import in_table, visible

_DEEPEST = 6


def document(title: str, first: Sequence[Block], rooms: Sequence[PageRoom]) -> str:
    """The whole report."""
    lines = [f"# {title}", "", *_blocks(first, 2), "## Contents", ""]
    lines += [f"- {_words(Word(room.title, to=room.address))}" for room in rooms]
    lines.append("")
    for room in rooms:
        lines += [*_heading(room.title, 2, room.address), *_blocks(room.blocks, 3)]
        for panel in room.panels:
            mark = said(": ", panel.mark) if panel.mark else ""
            lines += _heading(said(panel.title, *parts_of(mark)), 3, panel.address)
            lines += _blocks(panel.blocks, 4)
    return text(lines)


def text(lines: Sequence[str]) -> str:
    """The lines of a file, with no more than one empty line between two."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def lines_of(blocks: Sequence[Block], depth: int) -> list[str]:
    """The lines of some blocks.  depth: of their headings."""
    return [*_blocks(blocks, depth)]


def _blocks(blocks: Sequence[Block], depth: int) -> Iterator[str]:
    for one in blocks:
        yield from _block(one, depth)
        yield ""


def _block(one: Block, depth: int) -> Iterator[str]:
    match one:
        case Sentence(words):
            yield _words(words)
        case FactList(rows):
            yield from (f"- {in_table(name)}: {_words(fact)}" for name, fact in rows)
        case ItemList(items):
            yield from (f"- {_words(item)}" for item in items)
        case DataTable():
            yield from _table(one)
        case DrawnPicture():
            yield from (_words(one.caption), "")
            yield from _fenced(one.plain, "text") if one.plain else ()
        case GridDrawing(drawn):
            yield from _fenced(grid.text(drawn), "text")
        case CodeText(code, diff):
            yield from _fenced(code, "diff" if diff else "python")
        case FoldedPart(summary, inside):
            yield from _heading(summary, depth)
            yield from _blocks(inside, depth + 1)
        case PageSection(title, inside, anchor):
            yield from _heading(title, depth, anchor)
            yield from _blocks(inside, depth + 1)
        case FindingCard():
            claim = f"{in_table(one.source)}: {_words(one.claim)}"
            yield f"- {claim}; {_words(one.verdict)}; {_words(one.run)}"


def _heading(title: Words, depth: int, anchor: str = "") -> Iterator[str]:
    if anchor:
        yield from (f'<a id="{slug(anchor)}"></a>', "")
    yield from (f"{'#' * min(depth, _DEEPEST)} {_words(title)}", "")


def _table(one: DataTable) -> Iterator[str]:
    names = [in_table(column.name) for column in one.columns]
    yield f"| {' | '.join(names)} |"
    yield f"| {' | '.join('---:' if column.number else '---' for column in one.columns)} |"
    for row in one.rows:
        yield _row(row, len(names))


def _row(row: TableRow, width: int) -> str:
    if row.group:
        return f"| **{_words(row.cells[0])}** |{' |' * (width - 1)}"
    return f"| {' | '.join(map(_words, row.cells))} |"


def _fenced(code: str, language: str) -> Iterator[str]:
    code = visible(code).rstrip("\n")
    longest = max((len(found) for found in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    yield from (f"{fence}{language}", code, fence)


def _words(words: Words) -> str:
    return "".join(_word(one) for one in parts_of(words))


def _word(one: str | Word) -> str:
    if isinstance(one, str):
        return _escaped(one)
    found = _escaped(one.text)
    if one.tone is Ink.CODE:
        found = _code(one.text)
    elif one.tone is Ink.STRONG:
        found = f"**{found}**"
    return f"[{found}](#{slug(one.to)})" if one.to else found


def _escaped(words: str) -> str:
    """The text on one line; a space at its ends stays."""
    around = re.fullmatch(r"(\s?).*?(\s?)", words, re.DOTALL)
    assert around is not None
    inside = in_table(words)
    return f"{' ' * bool(around[1])}{inside}{' ' * bool(around[2] and inside)}"


def _code(words: str) -> str:
    words = visible(" ".join(words.split())).replace("|", "\\|")
    return f"`{words}`" if "`" not in words else f"`` {words} ``"
