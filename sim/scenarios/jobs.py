"""Jobs: which node runs each operator of a scenario under a protocol, and the failures of nodes.

Rule of this file: no protocol by name; the deployment of a protocol has the nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from model.core import NodeName
from model.errors import nearest
from model.system import System
from sim.timed.costs import PS, picoseconds
from sim.timed.failures import FailureTable


def homes(system: System) -> Mapping[str, NodeName]:
    """The node that runs each operator: its own one, or else the first one that runs it."""
    found: dict[str, NodeName] = {}
    for name in system.sites:
        for operator in system.operators_at(name):
            if operator == name or operator not in found:
                found[operator] = name
    return found


def by_node(failure: FailureTable, system: System) -> FailureTable:
    """The failure with the nodes that run its operators, each once.

    Of several operators in one node, the first one has the node's time to restart.
    """
    at = homes(system)
    times = dict(zip(reversed(failure.nodes), reversed(failure.restart_s), strict=False))
    jobs: dict[NodeName, str] = {}
    for name in failure.nodes:
        jobs.setdefault(at.get(name, name), name)
    restarts = tuple(times[name] for name in jobs.values()) if times else ()
    return failure.model_copy(update={"nodes": tuple(jobs), "restart_s": restarts})


class WrongFailure(NamedTuple):
    """The key of a failure's table, and the mistake."""

    key: str
    why: str


def wrong_failure(
    failure: FailureTable, ends: Collection[str], operators: list[str], times_ps: Sequence[int]
) -> WrongFailure | None:
    """The mistake in a failure, if there is one.  ends: the sources and sinks.  times_ps: those of
    the input events, in order."""
    if any(name in ends for name in failure.nodes):
        return WrongFailure(
            "nodes", f"nodes: sources and sinks do not fail{nearest('', operators)}"
        )
    if failure.at_event is not None and failure.at_event > len(times_ps):
        return WrongFailure(
            "at_event",
            f"at_event = {failure.at_event}: there is no such event; there are 1 to "
            f"{len(times_ps)}",
        )
    if failure.at_s is not None and picoseconds(failure.at_s) > times_ps[-1]:
        return WrongFailure(
            "at_s",
            f"at_s = {failure.at_s:g}: the last input event comes at {times_ps[-1] / PS:g} s; "
            "give an earlier time",
        )
    return None
