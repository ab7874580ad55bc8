"""Of all readings of the paper's bounds and stamps, one alone makes every run right."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from model.core import Guarantee
from model.evidence import Case, Outcome
from model.protocols.cec import scopes
from model.protocols.cec.design import MENDED, PUBLISHED, Bound, CecDesign, Checked
from model.protocols.cec.family import CEC
from model.protocols.cec.variants import VARIANTS
from model.protocols.cec.warrants import WARRANTS, ReadingOrigin, flaws
from model.queues import Stamp
from proofs.explore.explorer import explore

ROOT = Path(__file__).parents[3]
SHOWN = (
    scopes.BACKGROUND,
    scopes.GAPS_BETWEEN_WINDOWS,
    scopes.EQUAL_TIMES,
    scopes.WINDOWS_OF_TWO_TUPLES,
)
READINGS = [
    replace(MENDED, replay=replay, ignore=ignore, checked=checked, stamp=stamp)
    for replay, ignore, checked, stamp in product(Bound, Bound, Checked, Stamp)
]


def holds(design: CecDesign, cases: tuple[Case, ...]) -> bool:
    """Does the design hold in all of these scopes?"""
    for case in cases:
        protocol = CEC.design("reading", design, (case.holds(0),))
        found = explore(protocol, case.scope, until=Guarantee.PRECISE)
        if found.outcome is Outcome.REFUTED:
            return False
        assert found.complete
    return True


@pytest.mark.slow
def test_one_of_sixteen_readings_of_bounds_and_stamps_holds() -> None:
    assert [reading for reading in READINGS if holds(reading, SHOWN)] == [MENDED]


def test_each_choice_has_the_words_of_the_paper() -> None:
    assert {*WARRANTS} == {*MENDED.__dataclass_fields__}
    for name, warrant in WARRANTS.items():
        if warrant.origin is ReadingOrigin.OURS:
            assert warrant.right, f"{name}: no flaw of the paper"


def test_the_pages_count_the_flaws_of_the_paper_alone() -> None:
    assert len(flaws()) == 16
    assert not {"count", "phase", "input_trim", "index"} & {*flaws()}
    page = (ROOT / "docs" / "explanation" / "findings" / "cec.md").read_text(encoding="utf-8")
    assert "With 16 choices mended" in page
    for name, (origin, section, words, right) in WARRANTS.items():
        whose = f"{origin.value}{'; the published one is right' if right else ''}"
        assert f"| {name} | {section} | {words} | {whose} |" in page
    assert "flaw were fifteen more" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_each_variant_but_the_published_one_differs_in_one_choice() -> None:
    fields = MENDED.__dataclass_fields__
    named = set()
    for variant in VARIANTS:
        design = variant.design
        different = [name for name in fields if getattr(design, name) != getattr(MENDED, name)]
        if variant.name == "cec:published":
            assert design == PUBLISHED
        elif variant.name.startswith("cec:closed-windows-"):
            assert design == MENDED  # its property differs
        else:
            assert len(different) == 1
            named.add(different[0])
    assert named == {*fields}


MENDS = [
    name
    for name in MENDED.__dataclass_fields__
    if getattr(PUBLISHED, name) != getattr(MENDED, name)
]


@pytest.mark.parametrize("name", MENDS)
def test_one_mend_alone_does_not_make_the_published_protocol_right(name: str) -> None:
    """A flaw hides the next one."""
    one = replace(PUBLISHED, **{name: getattr(MENDED, name)})
    assert not holds(one, (scopes.WINDOWS_OF_ONE_TUPLE, scopes.WINDOWS_OF_TWO_TUPLES))
