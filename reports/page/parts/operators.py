"""Meanings of operators: the types of recovery, and the classes of operators with their witnesses.

Rule of this file: blocks of model.results.classes alone.
"""

from __future__ import annotations

from model.results.classes import BoxResult, OperatorResults
from reports.page.blocks import (
    Block,
    GridDrawing,
    Ink,
    PagePanel,
    PageRoom,
    PageSection,
    Sentence,
    TableRow,
    Word,
    said,
    table,
)
from reports.page.formats import number
from reports.results.words import word

ROOM = "operators"
_TYPES = (
    "Figure 2 of Hwang et al.: tuple t4' is made of the same input as t4.  By values alone, "
    "without lineage, a different result looks like a lost one."
)
_CLASSES = (
    "Figure 3 of Hwang et al., derived from the code of each operator: two copies of it, one that "
    "never failed and one that begins empty later, get every stream over a small alphabet.  A "
    "difference from the paper has a run that shows it."
)
TYPES = ("In the paper", "Before the failure", "After it", "Found", "By values alone")
CLASSES = ("Operator", "Name", "Class found", "In the paper", "#Pairs of states")


def room(results: OperatorResults) -> PageRoom:
    """The rows of both figures; an operator with witnesses has a panel."""
    types = [
        TableRow(
            [
                word(one.paper),
                one.before,
                one.after,
                Word(word(one.found), Ink.GOOD if one.found is one.paper else Ink.BAD),
                word(one.by_values),
            ],
            off=one.found is not one.paper,
        )
        for one in results.figure_2
    ]
    blocks: list[Block] = [
        PageSection(
            "Types of recovery", [Sentence(_TYPES), table("Types of recovery", TYPES, types)]
        ),
        PageSection(
            "Classes of operators",
            [
                Sentence(_CLASSES),
                table("Classes of operators", CLASSES, [*map(_row, results.figure_3)]),
            ],
        ),
    ]
    panels = [_panel(one) for one in results.figure_3 if one.witnesses]
    return PageRoom(ROOM, "What operators mean", blocks, panels)


def _row(one: BoxResult) -> TableRow:
    title = Word(one.title, to=_address(one) if one.witnesses else "")
    differs = [Word(" differs", Ink.BAD)] if one.differs else []
    paper = said(word(one.paper), *differs)
    return TableRow([title, Word(one.name, Ink.CODE), word(one.class_), paper, number(one.pairs)])


def _panel(one: BoxResult) -> PagePanel:
    blocks: list[Block] = []
    for witness in one.witnesses:
        title = f"{one.title} is not {word(witness.not_of)}"
        blocks.append(PageSection(title, [Sentence(f"{witness.why}."), GridDrawing(witness.grid)]))
    return PagePanel(_address(one), f"Operator: {one.title}", blocks, one.name)


def _address(one: BoxResult) -> str:
    return f"{ROOM}/{one.name}"
