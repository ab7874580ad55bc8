"""Values of results that may be unknown, and are known in a test."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value; fails if it is None."""
    assert value is not None
    return value
