"""The cores that this process may use.

Rule of this file: nothing else; it is imported before everything that is slow to load.
"""

from __future__ import annotations

import os


def usable_cores() -> int:
    """The number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system has it
        return os.cpu_count() or 1
