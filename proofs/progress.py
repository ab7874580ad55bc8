"""How long work tells how far it is.

Rule of this file: whoever works calls; whoever watches decides what is shown.
"""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, parts done, parts in all); a stage is what precedes ": "."""


def silent(_what: str, _done: int, _total: int) -> None:
    """Nobody watches."""
