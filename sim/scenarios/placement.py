"""Placement: which nodes of a scenario are on which host, and crash with it.

Rule of this file: no run and no cores (sim.timed.hosts); it checks names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from model.errors import Invalid, nearest
from model.graph import SINK, SOURCE, Graph
from model.system import System
from sim.scenarios.toml_lines import Path as Key
from sim.timed.costs import Costs, HostCosts
from sim.timed.failures import FailureTable


def check_placement(
    costs: Costs, graph: Graph, system: System, wrong: Callable[[Key, str], Invalid]
) -> None:
    """Raise Invalid for a node that is not there, and for prices of a prompt site, which takes no
    time.  An operator that the protocol runs within another node has no place of its own."""
    known = [*graph.specs, *(name for name in system.sites if name not in graph.specs)]
    for host, table in costs.hosts.items():
        key = ("costs", "hosts", host, "nodes")
        for name in table.nodes:
            if name not in known:
                raise wrong(key, f"hosts: no node {name!r}{nearest(name, known)}")
            if name in system.prompt:
                raise wrong(key, f"hosts: {name!r} is a prompt site, on no host; leave it out")
    prompt = [name for name in system.sink_at if name in system.prompt]
    if costs.sink is not None and prompt:
        raise wrong(
            ("costs", "sink"),
            f"sink: {prompt[0]} is a prompt site of {system.protocol.name}; give it a price in "
            f"[costs.stores.{prompt[0]}]",
        )


def strike_host(
    failure: FailureTable,
    hosts: Mapping[str, HostCosts],
    graph: Graph,
    wrong: Callable[[str], Invalid],
) -> FailureTable:
    """The failure with the operators on its host, if it is one of a host."""
    if failure.host is None:
        return failure
    if failure.host not in hosts:
        raise wrong(f"host: no host {failure.host!r}{nearest(failure.host, sorted(hosts))}")
    ends = (SOURCE, SINK)
    nodes = tuple(
        name for name in hosts[failure.host].nodes if graph.specs.get(name) not in (*ends, None)
    )
    if not nodes:
        raise wrong(f"host: no operator is on {failure.host!r}; nothing there may crash")
    kind = failure.kind or "host"
    return failure.model_copy(update={"nodes": nodes, "host": None, "kind": kind})
