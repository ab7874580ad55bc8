"""The reach of every family is measured and fits into its paragraph.

Rule of this file: the smallest scope alone; `asif check NAME` measures all scopes together.
"""

from __future__ import annotations

from proofs.explore.verdict import verdict
from reports.results.reach import MOST, paragraph
from tests.conformance.subjects import FAMILIES, PROTOCOLS, SAMPLES


@FAMILIES
def test_the_paragraph_of_a_family_is_short_and_names_no_address(name: str) -> None:
    small = PROTOCOLS[name].vary(scopes=(SAMPLES[name].smallest,))
    found = verdict(small, walks=0, examples=1, reach=True)
    refuted = bool(found.refuted)
    assert (found.reach is None) == refuted
    lines = [] if found.reach is None else [*paragraph(found.reach)]
    assert len(lines) <= MOST
    assert not [line for line in lines if "0x" in line]
    assert refuted or any("events: up to" in line for line in lines)
