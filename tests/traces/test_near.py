"""Close rows are those of a look at all pairs, and found with few looks."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_check.traces import near

FLOAT = st.floats() | st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 1.5, 3.0, 1e300])
ROW = st.tuples(FLOAT, FLOAT | st.sampled_from(["a", "b"]))
CLOSE = st.sampled_from([0.0, 1e-9, 0.1, 0.5, 0.99]) | st.floats(0, 1, exclude_max=True)


@given(rows=st.lists(ROW, max_size=8), known=st.lists(ROW, max_size=8, unique=True), close=CLOSE)
def test_two_of_the_close_rows_are_found(rows: list[Any], known: list[Any], close: float) -> None:
    found = near.close_rows(rows, known, close)
    for row, places in zip(rows, found, strict=True):
        right = {
            at
            for at, one in enumerate(known)
            if all(near.is_close(*pair, close) for pair in zip(row, one, strict=True))
        }
        assert {*places} <= right
        assert len({*places}) == len(places) == min(2, len(right))


@pytest.mark.parametrize("close", [1e-9, 0.1, 0.5, 0.9, 0.999999])
def test_the_looks_grow_with_the_rows(close: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with their pairs, also if all are close to all."""
    looks = 0
    exactly = near.is_close

    def is_close(*what: Any) -> bool:
        nonlocal looks
        looks += 1
        return exactly(*what)

    monkeypatch.setattr(near, "is_close", is_close)
    pick = random.Random(1)
    rows = [(pick.gauss(100, 50), pick.random()) for _ in range(2_000)]
    known = [(one + pick.random() * 1e-10, other) for one, other in rows]
    assert all(near.close_rows(rows, known, close))
    assert looks < 12_000
