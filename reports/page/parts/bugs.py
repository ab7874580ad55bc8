"""Bugs of real engines: symptoms, reports, and the run that shows each bug.

Rule of this file: blocks of model.results.bugs; reports.results.bugs has the words.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.results.bugs import BugResult
from reports.page.blocks import (
    Block,
    Ink,
    PagePanel,
    PageRoom,
    PageSection,
    Sentence,
    TableRow,
    Word,
    Words,
    coded,
    said,
    table,
)
from reports.page.formats import joined, judged
from reports.page.variant import run
from reports.results import bugs

ROOM = "bugs"
REPORTS = ("Report", "Engine", "Symptom", "As reported", "As mended", "As expected?")
SYMPTOMS = ("You see", "Look at", "Or at the built-in variant")


def room(results: Sequence[BugResult]) -> PageRoom:
    """A panel for each report."""
    found = bugs.shown(results)
    title = "Bugs of real engines"
    if not found.rows:
        words = f"The models of reported bugs are in `{found.folder}` of the project, and not in "
        words += "this installation; `asif check FILE.py` checks one."
        return PageRoom(ROOM, title, [Sentence(coded(words))])
    words = "Reports about stream engines, each as a model of the engine as it was reported and as "
    words += f"it was mended.  `asif check` checks the files, which are in `{found.folder}`; each "
    words += "names the address of its report."
    count = f"{found.expected} of {found.forms} forms are as expected, in {found.states:,} "
    fine = found.expected == found.forms
    symptoms: list[Sequence[Words]] = [
        [
            seen,
            joined([Word(file, to=address(file)) for file in files]),
            joined([Word(name, Ink.CODE) for name in variants]),
        ]
        for seen, files, variants in found.symptoms
    ]
    blocks: list[Block] = [
        Sentence(coded(words)),
        Sentence(f"{count}reachable worlds.", Ink.PLAIN if fine else Ink.BAD),
        PageSection("The reports", [table("Reports", REPORTS, [*map(_row, found.rows)])]),
        PageSection("From a symptom to a model", [table("Symptoms", SYMPTOMS, symptoms)]),
    ]
    return PageRoom(ROOM, title, blocks, [_panel(one, found.folder) for one in found.rows])


def address(file: str) -> str:
    """Where a link finds the model of this file."""
    return f"{ROOM}/{file}"


def _row(row: bugs.ShownBug) -> TableRow:
    one = row.result
    return TableRow(
        [
            Word(one.report, to=address(one.file)),
            one.engine,
            one.symptom,
            row.flawed,
            row.fixed,
            judged(one.expected),
        ],
        off=not one.expected,
    )


def _panel(row: bugs.ShownBug, folder: str) -> PagePanel:
    one = row.result
    forms = f"; as reported: {row.flawed}; as mended: {row.fixed}."
    words = said(judged(one.expected), forms)
    blocks: list[Block] = [
        Sentence(words),
        Sentence(one.about),
        Sentence(coded(f"`asif check {folder}/{one.file}.py`")),
    ]
    if row.run is not None:
        blocks += run(row.run, one.report)
    title = f"{one.report}: {one.symptom}"
    return PagePanel(address(one.file), title, blocks, f"{one.engine} {one.about}")
