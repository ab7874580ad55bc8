"""A chain of servers that pass each tuple on, simulated in several ways: the costs of a hop.

Rule of this file: no difference in the network; each way simulates the same queueing network with
the same arrivals, in its library's own style.  Only our driver also runs a protocol and interprets
its effects.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterable, Iterator
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from typing import Any

import simpy

from model.core import Answer, Arrival, Deployment, Emit, Input, Inputs, Received, Scope, Send, Site
from model.costs import EVENT
from model.family import Family
from model.graph import chain
from model.parts import deploy_graph
from model.protocol import Assumptions, Behaviour, Failures
from model.system import System
from sim.timed.costs import PS, Costs, LinkCosts, Service
from sim.timed.simulator import run_timed

SERVICE_S = 0.0007
GAP_S = 0.001
"""The mean time between arrivals: servers are busy for 70 % of the time."""


# --- a protocol that recovers nothing ----------------------------------------------------------
def deploy(_design: None, scope: Scope) -> Deployment:
    return deploy_graph(scope.graph)


def step(site: Site, state: None, input_: Input) -> Answer:
    message = input_ if isinstance(input_, Arrival) else input_[-1]
    if site.succs:
        return state, (Send(site.succs[0], message),)
    return state, (Emit(message),)


RELAY = Family(
    "relay",
    "Relay",
    "benchmarks/relay.py",
    Behaviour(deploy, lambda _: None, step, lambda *_: (None, ()), show=str, size=lambda _: EVENT),
    assumes=Assumptions(Failures.NONE),
    properties=(),
).design(claims={})
COSTS = Costs(
    service=Service(event_s=SERVICE_S), link=LinkCosts(delay_s=0.0, bandwidth_bytes_per_s=None)
)


@cache
def arrivals(tuples: int) -> array[float]:
    """The arrival times of a Poisson stream, in seconds."""
    draw = random.Random(1).expovariate
    return array("d", accumulate(draw(1 / GAP_S) for _ in range(tuples)))


@cache
def arrivals_ps(tuples: int) -> array[int]:
    """The same times in picoseconds, the unit of our driver."""
    return array("q", (round(at * PS) for at in arrivals(tuples)))


def system(operators: int) -> System:
    graph = chain(*((f"o{at}", None) for at in range(operators)))
    return System(RELAY, Scope(graph, (("source", Inputs((), 0)),), 0))


# --- ways to simulate it: each returns when the last tuple left, in seconds ----------------------
def driver(tuples: int, operators: int) -> float:
    """Simulate with our driver."""
    arrival = Arrival(1, "a")
    left = 0

    def record(_: str, at: int, __: Any) -> None:
        nonlocal left
        left = at

    feed = ((at, "source", arrival) for at in arrivals_ps(tuples))
    run_timed(system(operators), feed, COSTS, record, ends_ps=round(tuples * GAP_S * PS))
    return left / PS


def store(tuples: int, operators: int) -> float:
    """Simulate with SimPy's own pattern: a process for each server, with a Store before it."""
    env = simpy.Environment()
    queues = [simpy.Store(env) for _ in range(operators + 1)]
    left = 0.0

    def source() -> Any:
        before = 0.0
        for at in arrivals(tuples):
            yield env.timeout(at - before)
            before = at
            yield queues[0].put(at)

    def server(inlet: simpy.Store, outlet: simpy.Store) -> Any:
        while True:
            item = yield inlet.get()
            yield env.timeout(SERVICE_S)
            yield outlet.put(item)

    def sink() -> Any:
        nonlocal left
        while True:
            yield queues[-1].get()
            left = env.now

    env.process(source())
    for inlet, outlet in pairwise(queues):
        env.process(server(inlet, outlet))
    env.process(sink())
    env.run()
    return left


def timeouts(tuples: int, operators: int) -> float:
    """Simulate with SimPy's Timeout events and callbacks: about the least that SimPy costs."""
    env = simpy.Environment()
    free = [0.0] * operators
    left = 0.0
    stream = iter(arrivals(tuples))

    def feed(now: float) -> None:
        at = next(stream, None)
        if at is not None:
            timeout = env.timeout(at - now)
            timeout.callbacks = [offer]

    def offer(_: Any) -> None:
        serve(0)
        feed(env.now)

    def serve(hop: int) -> None:
        nonlocal left
        now = env.now
        if hop == operators:
            left = now
            return
        free[hop] = done = max(free[hop], now) + SERVICE_S
        timeout = env.timeout(done - now, hop + 1)
        timeout.callbacks = [arrive]

    def arrive(event: Any) -> None:
        serve(event.value)

    feed(0.0)
    env.run()
    return left


def heap(tuples: int, operators: int) -> float:
    """Simulate with a loop over a heap, without a library or a protocol."""
    free = [0.0] * operators
    stream = iter(arrivals(tuples))
    events = [(next(stream), 0, 0)]
    order = 0
    left = 0.0
    while events:
        now, _, hop = heappop(events)
        if hop == 0:
            at = next(stream, None)
            if at is not None:
                order += 1
                heappush(events, (at, order, 0))
        if hop == operators:
            left = now
            continue
        free[hop] = done = max(free[hop], now) + SERVICE_S
        order += 1
        heappush(events, (done, order, hop + 1))
    return left


def ciw(tuples: int, operators: int) -> float:
    """Simulate with Ciw, a library for queueing networks; raises ImportError if it is missing, as
    it is none of our dependencies."""
    import ciw as library  # type: ignore[import-not-found,import-untyped,unused-ignore]

    routing = [[float(to == at + 1) for to in range(operators)] for at in range(operators)]
    network = library.create_network(
        arrival_distributions=[
            library.dists.Sequential([*_gaps(arrivals(tuples)), float("inf")]),
            *[None] * (operators - 1),
        ],
        service_distributions=[library.dists.Deterministic(SERVICE_S)] * operators,
        number_of_servers=[1] * operators,
        routing=routing,
    )
    simulation = library.Simulation(network)
    simulation.simulate_until_max_customers(tuples, method="Finish")
    return float(simulation.current_time)


def steps(tuples: int, operators: int) -> float:
    """Run the protocol's steps alone, in a loop without times: every driver has these costs."""
    source, *rest = system(operators).sites.values()
    arrive = Arrival(1, "a")
    for _ in range(tuples):
        _, effects = step(source, None, arrive)
        for site in rest:
            (effect,) = effects
            assert isinstance(effect, Send)
            _, effects = step(site, None, Received(site.preds[0], effect.message))
    return 0.0


def _gaps(times: Iterable[float]) -> Iterator[float]:
    return (after - before for before, after in pairwise((0.0, *times)))


WAYS = {
    "process and Store": store,
    "Ciw": ciw,
    "Timeout and callbacks": timeouts,
    "heapq": heap,
    "our driver": driver,
    "protocol steps alone": steps,
}
