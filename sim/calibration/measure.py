"""The costs of link, disk, step and savepoint on this machine.

Rule of this file: each measurement is repeated and reported with its spread; no number is rounded
or made up here.  A measurement of a busy machine is one of its load, too.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from threading import Thread
from time import perf_counter
from typing import Any

from model.boxes.box import Box, Item
from model.core import Arrival
from model.errors import Invalid
from model.events import Body
from model.machine import temporary
from model.results.calibration import MeasuredCost

PING, BLOCK = 1, 1 << 20
"""Bytes of a message whose way is timed, and of a block whose transfer or write is timed."""
BLOCKS = 16
"""Blocks that are sent or written in one go."""
ROUNDS, LONG_ROUNDS = 200, 9
"""Repetitions of a short measurement, and of one that moves many blocks."""
EVENTS = 2_000
"""Events of a round of steps."""


def summarize(key: str, values: Sequence[float], what: str) -> MeasuredCost:
    """The median of the values and their middle half; two values or more."""
    low, _, high = quantiles(values, n=4, method="inclusive")
    return MeasuredCost(key, median(values), low, high, len(values), what)


# --- the link --------------------------------------------------------------------------------
def measure_link() -> tuple[MeasuredCost, ...]:
    """The delay and the bandwidth of TCP within this machine: half of a round trip of one byte, and
    blocks in one direction.  A network between machines is slower in both."""
    with _echo() as link:
        short, long = (size.to_bytes(8) + bytes(size) for size in (PING, BLOCKS * BLOCK))
        trips = [_seconds(lambda: _exchange(link, short)) for _ in range(ROUNDS)]
        sends = [_seconds(lambda: _exchange(link, long)) for _ in range(LONG_ROUNDS)]
    delays, rates = [trip / 2 for trip in trips], [BLOCKS * BLOCK / took for took in sends]
    return (
        summarize("costs.link.delay_s", delays, "half a round trip, local TCP"),
        summarize("costs.link.bandwidth_bytes_per_s", rates, f"{BLOCKS} MiB, local TCP"),
    )


@contextmanager
def _echo() -> Iterator[socket.socket]:
    """A connection to a thread that answers each message, which has its length before it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=_serve, args=(server,), daemon=True)
        thread.start()
        with socket.create_connection(server.getsockname()) as link:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield link
        thread.join()


def _serve(server: socket.socket) -> None:
    link, _ = server.accept()
    with link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while head := link.recv(8, socket.MSG_WAITALL):
            left = int.from_bytes(head)
            while left:
                left -= len(link.recv(min(left, BLOCK)))
            link.sendall(b"!")


def _exchange(link: socket.socket, message: bytes) -> None:
    link.sendall(message)
    link.recv(1)


# --- the disk --------------------------------------------------------------------------------
def measure_disk(folder: Path) -> tuple[MeasuredCost, ...]:
    """The latency and the bandwidth of durable writes (fsync) in a folder.  Raises Invalid if it
    cannot be written."""
    try:
        with temporary.folder(folder) as inside:
            short = [_write(inside / "short", 1) for _ in range(ROUNDS)]
            long = [_write(inside / "long", BLOCKS * BLOCK) for _ in range(LONG_ROUNDS)]
    except OSError as error:
        raise Invalid(f"{folder}: cannot be written: {error.strerror}") from None
    latency = median(short)
    rates = [BLOCKS * BLOCK / max(took - latency, took / 10) for took in long]
    return (
        summarize("costs.storage.latency_s", short, "a new file of one byte, with fsync"),
        summarize("costs.storage.bandwidth_bytes_per_s", rates, f"{BLOCKS} MiB, less that"),
    )


def _write(path: Path, size: int) -> float:
    """The seconds to write a new file of this size to the disk."""
    content = bytes(size)

    def write() -> None:
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    took = _seconds(write)
    path.unlink()
    return took


# --- an operator -----------------------------------------------------------------------------
def measure_operator(
    name: str, box: Box, edges: Sequence[Sequence[Arrival]]
) -> tuple[MeasuredCost, ...]:
    """The step of an operator, and the serialization of its state: (event, savepoint, bytes of an
    empty one: what is in it counts as items).

    edges: the events of each input edge, which come in turn, one a time unit, again and again.  The
    state is the one after a round of events.
    """
    items = []
    for at in range(EVENTS):
        turn, edge = divmod(at, len(edges))
        arrival = edges[edge][turn % len(edges[edge])]
        items.append(Item(edge, Body(at, arrival.type, arrival.data)))
    state: Any = None
    steps = []
    for _ in range(LONG_ROUNDS):
        state = box.begin(len(edges))
        began = perf_counter()
        for item in items:
            fed, *_ = box.feed(state, item)
            state = fed.state
        steps.append((perf_counter() - began) / EVENTS)
    saves = [_seconds(lambda: pickle.dumps(state)) for _ in range(ROUNDS)]
    empty = float(len(pickle.dumps(box.begin(len(edges)))))
    return (
        summarize("costs.service.event_s", steps, f"a step of {name}, in runs of {EVENTS:,}"),
        summarize("costs.service.savepoint_s", saves, f"serialization of a state of {name}"),
        MeasuredCost(
            "costs.sizes.saved_bytes", empty, empty, empty, 1, f"an empty state of {name}"
        ),
    )


def _seconds(call: Callable[[], Any]) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began
