"""How long work reports how far it is.

Rule of this file: whoever works calls; whoever watches decides what is shown.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is called now and then with the stage of the work, how many of how many parts of it are done,
    and what is being done now."""

    def __call__(self, stage: str, done: int, total: int, what: str = "") -> None: ...


def silent(stage: str, done: int, total: int, what: str = "") -> None:
    """Nobody watches."""
