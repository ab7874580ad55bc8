"""The steps of a run that cost nothing: each with the price that is 0, if there is one for it.

Rule of this file: no price is set here; a step is named if it took place and took no time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from model.results.simulation import FreeStep, Metrics
from model.system import System
from sim.timed.costs import Costs, StoreCosts
from sim.timed.detector import Detector

NO_PRICE = ""
"""The key of a step for which there is no price."""


class PricedStep(NamedTuple):
    """A step: how often or how much of it there was, and its price."""

    what: str
    key: str
    took_place: float
    price: float


def free_steps(
    run: Metrics, free: Metrics, costs: Costs, detector: Detector, system: System
) -> tuple[FreeStep, ...]:
    """The steps that took place and cost nothing.  free: of the run without failures."""
    steps = [*_common(run, free, costs, detector), *_stores(run, costs), *_hosts(costs, system)]
    found = [FreeStep(one.what, one.key) for one in steps if one.took_place and not one.price]
    names = ("sources", *sorted(system.prompt))
    return (*found, *(FreeStep(f"the work of {name}", NO_PRICE) for name in names))


def _common(run: Metrics, free: Metrics, costs: Costs, detector: Detector) -> Iterator[PricedStep]:
    service, storage, sink = costs.service, costs.storage, costs.sink
    yield PricedStep(
        "savepoints", "costs.service.savepoint_s", free.savepoints, service.savepoint_s
    )
    yield PricedStep(
        "control messages", "costs.service.control_s", free.link_control_bytes, service.control_s
    )
    yield PricedStep("events", "costs.service.event_s", free.events_first, free.service_event_s)
    yield PricedStep("keep-alives", "costs.sizes.control_bytes", True, costs.sizes.control_bytes)
    yield PricedStep("the way of a message", "costs.link.delay_s", True, costs.link.delay_s)
    yield PricedStep("durable writes", "costs.storage.latency_s", free.saves, storage.latency_s)
    yield PricedStep("restarts", "detector.restart_s", run.crashes, detector.restart_s)
    reads = bool(run.crashes and free.saved_bytes)
    yield PricedStep("reads of own storage", "costs.storage.read_s", reads, _reading(costs))
    writes = 0.0 if sink is None else sink.latency_s + sink.event_s
    yield PricedStep("writes of sinks", "costs.sink.latency_s", True, writes)


def _reading(costs: Costs) -> float:
    """A restart takes time to find its state, or to read one that has a size."""
    return costs.storage.read_s + _moving(costs, costs.storage.bandwidth_bytes_per_s)


def _moving(costs: Costs, bandwidth: float | None) -> bool:
    """Does it take time to move a state?"""
    return bool(costs.state and bandwidth)


def _stores(run: Metrics, costs: Costs) -> Iterator[PricedStep]:
    """The transactions of each store, and its reads after a crash."""
    for name, own in costs.stores.items():
        key = f"costs.stores.{name}"
        yield PricedStep(f"transactions of {name}", f"{key}.transaction_s", True, _writing(own))
        moving = _moving(costs, own.bandwidth_bytes_per_s)
        reading = own.read_s + own.read_event_s + moving
        yield PricedStep(f"reads from {name}", f"{key}.read_s", run.crashes, reading)


def _writing(own: StoreCosts) -> float:
    return own.transaction_s + own.event_s + own.item_s + (own.bandwidth_bytes_per_s or 0.0)


def _hosts(costs: Costs, system: System) -> Iterator[PricedStep]:
    """The messages from one node of a host to another one."""
    for name, host in costs.hosts.items():
        inside = any({*ends} <= {*host.nodes} for ends in system.channel_at)
        yield PricedStep(
            f"messages within {name}", f"costs.hosts.{name}.within_s", inside, host.within_s
        )
