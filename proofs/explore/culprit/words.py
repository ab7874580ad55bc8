"""Words of the sentences about a culprit.

Rule of this file: texts of texts and numbers; no run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MANY = 4
"""The number of things that a sentence names at most."""


def listed(items: Iterable[object], join: str = "and") -> str:
    """"a, b and c"; of many, the first ones and the number of the others."""
    texts = [*map(str, items)]
    if len(texts) > MANY:
        texts = [*texts[: MANY - 1], f"{len(texts) - MANY + 1} more"]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {join} {texts[-1]}"


def in_steps(steps: Sequence[int]) -> str:
    """"in step 7" or "in steps 7 and 8"."""
    return f"in step{'s' if len(steps) > 1 else ''} {listed(steps)}"


def made_of(events: Sequence[object]) -> str:
    """The beginning of the sentence about a result that these events make; "" without any."""
    return f"it is made of {listed(events)}; " if events else ""


def times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")
