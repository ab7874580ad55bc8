"""The rows of a counting job, in the model and on an engine.

Rule of this file: one row; no family, and no run that makes it.
"""

from __future__ import annotations

from typing import NamedTuple


class CountRow(NamedTuple):
    """A row of a sink: event `number` of `source` was the `nth` of its key."""

    source: int
    number: int
    key: int
    nth: int
