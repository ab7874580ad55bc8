"""A family of protocols: its variants in a table, each with a panel, and the claims of its paper.

Rule of this file: one room for each family of the results, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from model.results.report import ReportResults
from model.results.verdict import Verdict
from reports import findings
from reports.page.blocks import (
    Block,
    FoldedPart,
    Ink,
    PagePanel,
    PageRoom,
    Sentence,
    TableRow,
    Word,
    Words,
    coded,
    table,
)
from reports.page.formats import counted, joined, judged, number, outcome, time
from reports.page.variant import address, guarantees, panel_of
from reports.results import families as family_results
from reports.results.families import family_of

COLUMNS = (
    "Protocol or variant",
    "Outcome",
    "As expected?",
    "Guarantee found, by operator class",
    "#Shortest run",
    "#Worlds",
    "#Crash points hit",
    "#Mutants killed",
)
CLAIMS = ("Claim", "Section", "Verdict", "Shown by", "Correction")


def rooms(results: ReportResults) -> list[PageRoom]:
    """A room for each family."""
    seconds = {one.family: one for one in family_results.seconds_by_family(results)}
    claims: dict[str, list[dict[str, str]]] = {}
    grouped = [
        (name, [*members])
        for name, members in groupby(results.verdicts, key=lambda one: family_of(one.protocol))
    ]
    for one in findings.errata([name for name, _ in grouped]):
        claims.setdefault(one["family"], []).append(one)
    return [
        PageRoom(
            name,
            members[0].title,
            [
                Sentence(Word(f"{members[0].source}.", Ink.DIM)),
                _table(name, members),
                *_claims(claims.get(name, [])),
                *_took(seconds.get(name)),
            ],
            [
                PagePanel(
                    address(one.protocol),
                    one.protocol,
                    panel_of(one),
                    one.finding,
                    outcome(one),
                )
                for one in members
            ],
            family=True,
        )
        for name, members in grouped
    ]


def _table(name: str, members: Sequence[Verdict]) -> Block:
    return table(f"Variants of {name}", COLUMNS, [*map(_row, members)])


def _row(one: Verdict) -> TableRow:
    shortest = one.shortest
    killed = "–" if one.mutants is None else f"{one.killed} of {len(one.mutants)}"
    return TableRow(
        [
            Word(one.protocol, to=address(one.protocol)),
            outcome(one),
            judged(one.expected),
            joined([*guarantees(one)], "; "),
            "" if shortest is None else counted(shortest.steps, "step"),
            number(one.states),
            f"{one.hit:,} of {one.points:,}",
            killed,
        ],
        off=not one.expected,
    )


def _claims(errata: Sequence[dict[str, str]]) -> Iterator[Block]:
    if errata:
        title = f"Errata: {counted(len(errata), 'claim')} of the paper to change"
        yield FoldedPart(title, [claims_table(errata)], open=True)


def claims_table(errata: Sequence[dict[str, str]]) -> Block:
    """The claims that have to be changed."""
    names = ("claim", "section", "verdict", "shown_by", "mend")
    rows: list[Sequence[Words]] = [[coded(one[name]) for name in names] for one in errata]
    return table("Claims of the paper that have to be changed", CLAIMS, rows)


def _took(one: family_results.FamilySeconds | None) -> Iterator[Block]:
    if one is not None:
        parts = ", ".join(f"{part} {time(took)}" for part, took in one.parts)
        yield Sentence(Word(f"Seconds of work: {time(one.total)} ({parts}).", Ink.DIM))
