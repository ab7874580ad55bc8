"""The public door: strategies to build property-based suites of your own on.

>>> from hypothesis import given
>>> from tests.strategies import operators, words
"""

from __future__ import annotations

from proofs.explore.strategies import (
    TYPES,
    actions,
    arrivals,
    crash_schedules,
    engines,
    graphs,
    machines,
    operators,
    patterns,
    scopes,
    streams,
    windows,
    words,
)

__all__ = [
    "TYPES",
    "actions",
    "arrivals",
    "crash_schedules",
    "engines",
    "graphs",
    "machines",
    "operators",
    "patterns",
    "scopes",
    "streams",
    "windows",
    "words",
]
