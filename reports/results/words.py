"""Words of classes, guarantees and numbers of steps, as all outputs have them.

Rule of this file: a value in, a word out.
"""

from __future__ import annotations

from enum import Enum


def word(one: Enum | None) -> str:
    """The word of a class or a guarantee; without a stream there is none."""
    return "–" if one is None else one.name.lower().replace("_", "-")


def steps(count: int) -> str:
    """The number of steps, in words."""
    return "1 step" if count == 1 else f"{count} steps"
