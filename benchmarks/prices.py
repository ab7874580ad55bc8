"""The prices of steps that scenarios have by default, measured: an event, an acknowledgement, a
savepoint and an item on this machine.

Rule of this file: medians of single acts, with the quartiles beside them; no limit.  The operators
are the model's own, in Python.  `asif calibrate` measures disk and link.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from statistics import median, quantiles
from typing import Any, NamedTuple

from rich.table import Column, Table

from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.core import CHECKPOINTED, Arrival, Input, Inputs, Note, Received, Scope, Send
from model.events import Body, Event
from model.graph import SOURCE, chain
from model.progress import Progress
from model.protocol import Protocol
from model.registry import protocols, unprotected
from model.system import System
from model.world import boot_node

EVENTS, ROUNDS = 4_000, 200
GRAPH = chain(
    ("match", Operator(one_run("a", "b", "c"), CountWindows(40, 20))),
    ("pair", Operator(one_run("match", "match"), CountWindows(2, 1))),
)


class Price(NamedTuple):
    """A price with the seconds of single acts: quartiles, the second of which is the median."""

    key: str
    what: str
    low: float
    median: float
    high: float


def price(key: str, what: str, seconds: list[float]) -> Price:
    return Price(key, what, *quantiles(seconds, n=4))


# --- steps of operators ----------------------------------------------------------------------
def steps(protocol: Protocol) -> Iterator[tuple[str, Any, tuple[Any, ...], float]]:
    """The steps of a run without failures: node, input, effects, seconds."""
    inputs = tuple((name, Inputs((), 0)) for name, spec in GRAPH.nodes if spec is SOURCE)
    system = System(protocol, Scope(GRAPH, inputs, 0))
    states = {name: boot_node(protocol, site).state for name, site in system.sites.items()}
    for number in range(EVENTS):
        waiting: list[tuple[str, Input]] = [("source", Arrival(1, "abc"[number % 3]))]
        while waiting:
            name, input_ = waiting.pop(0)
            started = time.perf_counter()
            states[name], effects = protocol.behaviour.step(
                system.sites[name], states[name], input_
            )
            took = time.perf_counter() - started
            yield name, input_, effects, took
            waiting += [(e.to, Received(name, e.message)) for e in effects if isinstance(e, Send)]


def of_steps() -> list[Price]:
    plain = [
        took
        for name, input_, _, took in steps(unprotected())
        if name == "match" and isinstance(input_, Received)
    ]
    acknowledged: dict[str, list[float]] = {"source": [], "match": []}
    for name, input_, effects, took in steps(protocols()["upstream-backup"]):
        control = isinstance(input_, Received) and not isinstance(input_.message, Event)
        if control and (name == "source" or (name == "match" and _saves(effects))):
            acknowledged[name].append(took)
    usual = median(acknowledged["source"])
    saving = [took - usual for took in acknowledged["match"]]
    return [
        price("service.event_s", "a step with an event, unprotected", plain),
        price("service.control_s", "an acknowledgement that trims", acknowledged["source"]),
        price("service.savepoint_s", "what a savepoint adds to one", saving),
        price("service.item_s", "an item, pickled and read", _per_item(Event((1,), Body(1, "a")))),
    ]


def _saves(effects: tuple[Any, ...]) -> bool:
    return any(isinstance(effect, Note) and effect.what == CHECKPOINTED for effect in effects)


def _per_item(item: Any, count: int = 1_000) -> list[float]:
    items = [(number, item) for number in range(count)]
    found = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        pickle.loads(pickle.dumps(items))
        found.append((time.perf_counter() - started) / count)
    return found


def tables(_progress: Progress) -> Iterator[Table]:
    table = Table(
        Column("price", no_wrap=True), "of what", "lower quartile", "median", "upper quartile"
    )
    for row in of_steps():
        table.add_row(row.key, row.what, *(f"{value:.3g}" for value in row[2:]))
    yield table
