"""The result of `asif simulate --explain`: what a scenario may say.

Rule of this file: values only; sim.scenarios.explain makes them.
"""

from __future__ import annotations

from typing import NamedTuple


class ExplainedKey(NamedTuple):
    """A key of a table.  values: what may stand there.  default: "" if the key must be given."""

    key: str
    values: str
    unit: str
    default: str
    meaning: str


class ExplainedTable(NamedTuple):
    """A table as users write it, as in [costs.link]."""

    name: str
    meaning: str
    keys: tuple[ExplainedKey, ...]
