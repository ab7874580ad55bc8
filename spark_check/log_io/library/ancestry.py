"""The lineage of an event as numbers: it fits into memory, however many events it has.

Rule of this file: keys and edges; no body is kept, and nothing is drawn.

An event is a number from 0, in the order in which it was found; the one that was asked for is 0.
An event costs some hundred bytes, and an edge sixteen.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, TypeAlias

from spark_check.log_io.library.capture import Port
from spark_check.log_io.library.database import Row, read_bytes
from spark_check.log_io.library.lineage import Origin, origin, uses
from spark_check.log_io.library.log import Log
from spark_check.log_io.library.values import Key, LogError, event_name

PortKey: TypeAlias = tuple[str, str, str]
CHUNK = 1_000
"""How many bodies are read at once."""


class Ancestry:
    """Events and uses.  steps: the events by how long the way to them is: each event after those
    that it was made of.  sources: 1 for an event whose inputs the log does not name.
    inputs, outputs: of each use, the event that was used and the one that was made.
    """

    def __init__(self, asked: Key, asked_is_source: bool, rows: Iterable[Row], ahead: bool) -> None:
        self._ports: list[PortKey] = []
        self._found: dict[PortKey, tuple[int, dict[int, int]]] = {}
        self._port_of, self._numbers = array("l"), array("q")
        self.sources = bytearray()
        self.inputs, self.outputs = array("q"), array("q")
        self._number(asked, asked_is_source)
        for row in rows:
            at = self._number(row[:4], row[9])
            before = self._number(row[4:8], False)
            self.inputs.append(before if ahead else at)
            self.outputs.append(at if ahead else before)
        self.steps = self._steps()

    def __len__(self) -> int:
        return len(self._numbers)

    def _number(self, key: Sequence[Any], is_source: Any) -> int:
        """The number of an event, a new one if it is not known."""
        name, number = (key[0], key[1], key[2]), key[3]
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = len(self._ports), {}
            self._ports.append(name)
        place, numbers = found
        at = numbers.get(number)
        if at is None:
            at = numbers[number] = len(self._numbers)
            self._port_of.append(place)
            self._numbers.append(number)
            self.sources.append(bool(is_source))
        elif is_source:
            self.sources[at] = True
        return at

    def key(self, at: int) -> Key:
        return *self._ports[self._port_of[at]], self._numbers[at]

    def name(self, at: int) -> str:
        return event_name(self.key(at))

    def _steps(self) -> list[array[int]]:
        """The generations of the events, each one sorted by key."""
        by_name = sorted(range(len(self._ports)), key=self._ports.__getitem__)
        ranks = {at: rank for rank, at in enumerate(by_name)}

        def order(at: int) -> tuple[int, int]:
            return ranks[self._port_of[at]], self._numbers[at]

        waiting = array("q", bytes(8 * len(self)))
        for output in self.outputs:
            waiting[output] += 1
        first, uses_of = _by_input(len(self), self.inputs, self.outputs)
        step = [at for at in range(len(self)) if not waiting[at]]
        steps, placed = [], 0
        while step:
            steps.append(array("q", sorted(step, key=order)))
            placed += len(step)
            after = []
            for at in step:
                for output in uses_of[first[at] : first[at + 1]]:
                    waiting[output] -= 1
                    if not waiting[output]:
                        after.append(output)
            step = after
        if placed < len(self):
            raise LogError(f"{self.name(0)} is among the events that it was made of: damaged rows")
        return steps

    def found(self) -> Iterator[int]:
        """All events but the one that was asked for, each after those that it was made of."""
        return (at for step in self.steps for at in step if at)

    def away(self, ahead: bool) -> Callable[[int], Sequence[int]]:
        """A function that returns the inputs of an event, or the outputs made of it if `ahead`."""
        ends = (self.inputs, self.outputs) if ahead else (self.outputs, self.inputs)
        first, found = _by_input(len(self), *ends)
        return lambda at: found[first[at] : first[at + 1]]

    def uses(self) -> Iterator[tuple[int, int]]:
        """Each use once, sorted by the keys of its input and its output."""
        rank = array("q", bytes(8 * len(self)))
        for at, event in enumerate(sorted(range(len(self)), key=self.key)):
            rank[event] = at
        inputs, outputs = self.inputs, self.outputs
        order = sorted(range(len(inputs)), key=lambda at: (rank[inputs[at]], rank[outputs[at]]))
        return (pair for pair, _ in groupby((inputs[at], outputs[at]) for at in order))


def _by_input(
    events: int, inputs: array[int], outputs: array[int]
) -> tuple[array[int], array[int]]:
    """The outputs of all uses, those of one input together, and where those of each begin."""
    first = array("q", bytes(8 * (events + 1)))
    for one in inputs:
        first[one + 1] += 1
    for at in range(events):
        first[at + 1] += first[at]
    free, sorted_ = array("q", first), array("q", bytes(8 * len(inputs)))
    for one, output in zip(inputs, outputs, strict=True):
        sorted_[free[one]] = output
        free[one] += 1
    return first, sorted_


def ancestry(
    log: Log, event: Key, ports: Collection[Port] | None = None, *, ahead: bool = False
) -> Ancestry:
    """The lineage of an event, backward, or forward if `ahead`.  ports: see lineage.backward.

    Raises LogError for rows that say that an event was made of itself.
    """
    is_source = origin(log, event) is Origin.SOURCE
    sql, parameters = uses(event, ports, ahead=ahead)
    return log.database.read(sql, parameters, lambda rows: Ancestry(event, is_source, rows, ahead))


def bodies(
    log: Log, events: Iterable[int], key: Callable[[int], Key]
) -> Iterator[tuple[int, bytes]]:
    """Each event with its body, in this order; some are read together."""
    left = iter(events)
    while chunk := [*islice(left, CHUNK)]:
        by_port: dict[PortKey, list[int]] = {}
        for at in chunk:
            sender, port, receiver_port, number = key(at)
            by_port.setdefault((sender, port, receiver_port), []).append(number)
        found: dict[Key, bytes] = {}
        for name, numbers in by_port.items():
            rows = log.database.execute(
                "SELECT event_id, body FROM event_data WHERE send_op = ? AND send_port = ?"
                f" AND rec_port = ? AND event_id IN ({', '.join('?' for _ in numbers)})",
                (*name, *numbers),
            )
            found |= {(*name, number): read_bytes(body) for number, body in rows}
        yield from ((at, found.get(key(at), b"")) for at in chunk)
