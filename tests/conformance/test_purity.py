"""The functions of every protocol are pure: asked again elsewhere, they answer the same.

Rule of this file: it starts its processes once for many protocols; `asif check --all` asks none of
these, since they are asked here.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from asif.elsewhere import ask_elsewhere
from tests.conformance.subjects import NAMES


def assert_pure(names: Sequence[str]) -> None:
    with ask_elsewhere(names) as asked:
        found = dict(zip(names, asked, strict=True))
    assert {name: impure for name, impure in found.items() if impure} == {}


@pytest.mark.slow
def test_families_are_pure() -> None:
    assert_pure([name for name in NAMES if ":" not in name])


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(8))
def test_variants_are_pure(part: int) -> None:
    """They share most of the code of their families, and `asif check NAME` asks each one."""
    assert_pure([name for name in NAMES if ":" in name][part::8])
