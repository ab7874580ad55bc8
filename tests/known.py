"""Numbers of results that may be unknown, and are known in a test."""

from __future__ import annotations


def known(value: float | None) -> float:
    """The number; fails if it is None."""
    assert value is not None
    return value
