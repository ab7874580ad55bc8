"""The blocks that a page is made of: sections, sentences, tables, pictures.

Rule of this file: content alone; no block says how it looks, and none holds HTML.  Every text may
be a user's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from model.results.grid import Grid
from model.results.steps import SteppedRun


class Ink(StrEnum):
    """The look of words.  GOOD, BAD: as expected, or not.  NOTE: refuted as expected."""

    PLAIN = ""
    STRONG = "strong"
    DIM = "dim"
    CODE = "code"
    GOOD = "good"
    BAD = "bad"
    HOLDS = "holds"
    REFUTED = "refuted"


class Word(NamedTuple):
    """Words with a look, or with a link to an address of the page ("log-io:published")."""

    text: str
    tone: Ink = Ink.PLAIN
    to: str = ""


Words: TypeAlias = str | Word | Sequence[str | Word]
"""A text, or its parts in order."""


def parts_of(words: Words) -> Sequence[str | Word]:
    """The parts of words, in order."""
    return [words] if isinstance(words, str | Word) else words


def said(*parts: str | Word) -> Words:
    """The words that these parts make."""
    return parts


def plain_text(words: Words) -> str:
    """The words alone."""
    return "".join(one if isinstance(one, str) else one.text for one in parts_of(words))


def coded(text: str) -> Words:
    """The text with each part between backquotes as code."""
    parts = re.split(r"`([^`]+)`", text)
    return [Word(one, Ink.CODE) if at % 2 else one for at, one in enumerate(parts) if one]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A paragraph.  tone: GOOD and BAD have a box of that colour."""

    words: Words
    tone: Ink = Ink.PLAIN


@dataclass(frozen=True, slots=True)
class FactList:
    """Names with their facts."""

    rows: Sequence[tuple[str, Words]]


@dataclass(frozen=True, slots=True)
class ItemList:
    """Short items.  small: chips in a row."""

    items: Sequence[Words]
    small: bool = False


class TableColumn(NamedTuple):
    """number: its cells stand at the right."""

    name: str
    number: bool = False


class TableRow(NamedTuple):
    """off: something in it is not as expected.  group: the one cell is a heading of those below."""

    cells: Sequence[Words]
    off: bool = False
    group: bool = False


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table; the first cell of a row names it.  name: for those who hear the page."""

    name: str
    columns: Sequence[TableColumn]
    rows: Sequence[TableRow]


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture as an <svg> element.  plain: the same in characters, where there is such a form.

    scope, steps: of a picture of a run, the name that addresses have, and the run by steps, from
    which a page draws the picture; then svg is "".
    """

    name: str
    svg: str
    caption: Words = ""
    plain: str = ""
    scope: str = ""
    steps: SteppedRun | None = None


@dataclass(frozen=True, slots=True)
class GridDrawing:
    """A grid (model.results.grid)."""

    grid: Grid


@dataclass(frozen=True, slots=True)
class CodeText:
    """Lines of a program.  diff: lines that begin with - and + are removed and added ones."""

    text: str
    diff: bool = False


@dataclass(frozen=True, slots=True)
class FoldedPart:
    """Blocks behind a line: they are drawn when a reader opens them.  name: as addresses have it;
    "": it has no address."""

    summary: Words
    blocks: Sequence[Block]
    open: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class PageSection:
    """Blocks with a heading.  anchor: where links of the index find them; "": nowhere."""

    title: Words
    blocks: Sequence[Block]
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class FindingCard:
    """Something that was found: a sentence or two, the facts, and a small picture of the run."""

    source: str
    claim: Words
    verdict: Words
    run: Words
    svg: str = ""
    to: str = ""


Block: TypeAlias = (
    Sentence
    | FactList
    | ItemList
    | DataTable
    | DrawnPicture
    | GridDrawing
    | CodeText
    | FoldedPart
    | PageSection
    | FindingCard
)


class PagePanel(NamedTuple):
    """A part of a room that opens in a panel.  address: of the panel, which begins with that of the
    room.  words: found by a search beside the title.  mark: a word or two after the title."""

    address: str
    title: str
    blocks: Sequence[Block]
    words: str = ""
    mark: Word | None = None


class PageRoom(NamedTuple):
    """A part of the report that opens on demand, with its panels.  family: is it of a family?"""

    address: str
    title: str
    blocks: Sequence[Block]
    panels: Sequence[PagePanel] = ()
    family: bool = False


def table(
    name: str, columns: Sequence[str], rows: Sequence[TableRow | Sequence[Words]]
) -> DataTable:
    """A table; a column whose name begins with "#" has numbers."""
    return DataTable(
        name,
        [TableColumn(one.removeprefix("#"), one.startswith("#")) for one in columns],
        [one if isinstance(one, TableRow) else TableRow(one) for one in rows],
    )
