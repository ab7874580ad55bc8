"""A command's demand on a cluster: the needs of its workers, and the longest wait for them.

Rule of this file: values alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

ROOMS = {
    "proofs": ("hypothesis", "networkx", "numpy", "psutil"),
    "sim": ("networkx", "numpy", "pandas", "pyarrow", "pydantic", "scipy", "simpy"),
    "spark_check": ("numpy", "pandas", "pyarrow"),
}
"""Distributions that functions of a package need in a worker."""


def ignore(_: str) -> None:
    """Print nothing."""


class ClusterDemand(NamedTuple):
    """needs: names of distributions that the workers need; none: a session that knows its workers,
    and asks for nothing.  wait: seconds for which a cluster may have no free worker; None: any
    time.  say: prints a line."""

    needs: tuple[str, ...]
    wait: float | None = None
    say: Callable[[str], object] = ignore


NOTHING = ClusterDemand(())
"""The demand of a session that knows its workers."""


def needs_of(call: Callable[..., object]) -> tuple[str, ...]:
    """The distributions that a function needs, by its package; all of them if it has another."""
    while isinstance(call, partial):
        call = call.func
    room = call.__module__.partition(".")[0]
    every = dict.fromkeys(name for names in ROOMS.values() for name in names)
    return ROOMS.get(room, tuple(every))
