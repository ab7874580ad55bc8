"""The claims of papers that have to be changed, by family.

Rule of this file: blocks of findings; the families' rooms have those of one family.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from reports import findings
from reports.page.blocks import FoldedPart, PageRoom, Sentence
from reports.page.family import claims_table
from reports.page.formats import counted

ROOM = "errata"
_MEANT = (
    "Claims that are refuted or right in part, and passages that disagree, by family.  A number of "
    "steps is the length of a shortest counterexample."
)


def room(families: Sequence[str]) -> PageRoom | None:
    """The claims of these families; None if there are none."""
    grouped = [
        FoldedPart(f"{family}: {counted(len(some), 'claim')}", [claims_table(some)])
        for family, members in groupby(findings.errata(families), key=lambda one: one["family"])
        for some in [[*members]]
    ]
    if not grouped:
        return None
    return PageRoom(ROOM, "Errata of the papers", [Sentence(_MEANT), *grouped])
