"""The prices that scenarios have by default, measured: what a step, a savepoint, a write and a
message cost on this machine.  `python -m benchmarks.prices [FOLDER]`

Rule of this file: medians of single acts, with the quartiles beside them; no limit.  The operators
are the model's own, in Python; FOLDER is on the disk that is measured.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import CHECKPOINTED, Arrival, Input, Inputs, Note, Protocol, Received, Scope, Send
from model.events import Body, Event
from model.graph import SOURCE, chain
from model.registry import protocols, unprotected
from model.system import System
from model.world import boot_node

EVENTS, WRITES, MESSAGES = 4_000, 200, 2_000
BLOCK = 32 << 20
"""The bytes of a write and of a message from which a bandwidth follows."""
GRAPH = chain(
    ("match", Operator(sequence("a", "b", "c"), CountWindows(40, 20))),
    ("pair", Operator(sequence("match", "match"), CountWindows(2, 1))),
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
            states[name], effects = protocol.step(system.sites[name], states[name], input_)
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
    return [seconds / count for seconds in timed(lambda: pickle.loads(pickle.dumps(items)), WRITES)]


# --- disk and network ------------------------------------------------------------------------
def timed(act: Callable[[], Any], times: int) -> list[float]:
    found = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        found.append(time.perf_counter() - started)
    return found


def of_disk(folder: Path) -> list[Price]:
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:

        def write(block: bytes) -> None:
            file.seek(0)
            file.write(block)
            os.fsync(file.fileno())

        small = timed(lambda: write(bytes(1_000)), WRITES)
        large = timed(lambda: write(bytes(BLOCK)), 5)
    return [
        price("storage.latency_s", "1,000 bytes, written and synced", small),
        price("storage.bandwidth_bytes_per_s", f"{BLOCK >> 20} MiB, seconds a byte", _each(large)),
    ]


def of_link() -> list[Price]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        echo = threading.Thread(target=_echo, args=(server,), daemon=True)
        echo.start()
        with socket.create_connection(server.getsockname()) as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def there_and_back(message: bytes) -> None:
                peer.sendall(message)
                left = len(message)
                while left:
                    left -= len(peer.recv(1 << 20))

            one_way = [
                seconds / 2 for seconds in timed(lambda: there_and_back(b"e" * 100), MESSAGES)
            ]
    return [price("link.delay_s", "100 bytes, one way, TCP on this machine", one_way)]


def _echo(server: socket.socket) -> None:
    peer, _ = server.accept()
    with peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while received := peer.recv(1 << 20):
            peer.sendall(received)


def _each(seconds: list[float]) -> list[float]:
    return [one / BLOCK for one in seconds]


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir())
    table = Table("price", "of what", "lower quartile", "median", "upper quartile")
    for row in (*of_steps(), *of_disk(folder), *of_link()):
        table.add_row(row.key, row.what, *(f"{value:.3g}" for value in row[2:]))
    Console().print(table)


if __name__ == "__main__":
    main()
