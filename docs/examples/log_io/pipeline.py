"""The example's pipeline: a shop, its sums, and its ledger.

Rule of this file: which operators there are, and what they compute; recovery is the library's.

    till -> shop --sales--> sums --totals--> ledger -> book.txt
                              \\-> alerts.txt

Operators are connected by the log itself: an operator reads the events that are logged for it and
that have no Input Set yet.  The model says that this is right: connections may lose what is on its
way, if a restarted operator reads its unassigned inputs from the log (`log-io:lossy-from-the-log`
holds, `log-io:lossy` loses events); here all inputs are read so, always.  The price is a query
where a pipe would have a message.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

from asif.log_io import (
    Capture,
    Connection,
    Event,
    Log,
    LogInterrupted,
    Made,
    Operator,
    Scope,
    Sink,
    Source,
    capture,
)
from docs.examples.log_io.external import Book, Sale, Till, Watch, lines

SALES = Connection("shop", "sales", "sums", "sales")
TOTALS = Connection("sums", "totals", "ledger", "totals")
CONNECTIONS = (SALES, TOTALS)
SCOPES = (
    Scope(("shop", "sales"), ("ledger", "book")),
    Scope(("shop", "sales"), ("sums", "alerts")),
)
WRITES = (("ledger", "book"), ("sums", "alerts"))
TRIES = 5
OPERATORS = ("shop", "sums", "ledger")
BOOKS = {"alerts": "alerts.txt", "book": "book.txt"}


class Shop(Source):
    """Reads a till some times, and sends each sale as an event."""

    def __init__(self, log: Log, till: Till, times: int) -> None:
        super().__init__(log, SALES, "till")
        self.till, self.times = till, times

    def ready(self, number: int) -> bool:
        return number <= self.times

    def read(self) -> Sequence[bytes]:
        return [json.dumps(sale).encode() for sale in self.till.read()]


class Sums(Operator):
    """Two functions: the total of two or one sales of an item, in turn, and the extremes of three
    sales.  Each sale goes into an Input Set of both.  Global state: how many totals were made."""

    def new_state(self) -> int:
        return 0

    def in_sets(self, event: Event) -> Iterable[str]:
        return [f"total of {json.loads(event.body)['item']}", "alert"]

    def completed(self, event: Event) -> Iterable[str]:
        of_item, alert = self.in_sets(event)
        if len(self.inputs[of_item]) >= (2, 1)[self.state % 2]:
            yield of_item
        if len(self.inputs[alert]) >= 3:
            yield alert

    def generate(self, key: str, inputs: Sequence[Event]) -> Iterable[Made]:
        sales = [json.loads(one.body) for one in inputs]
        if key == "alert":
            return [("alerts", json.dumps(extremes(sales)).encode())]
        self.state += 1
        return [(TOTALS, json.dumps(total(sales)).encode())]


class Writes:
    """A book as the library wants it: an external system with checkable writes.  A line is written
    before `write` returns or never, so no older request takes effect after a "no"."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def execute(self, write: Event) -> None:
        self._book.write(write.number, write.body.decode())

    def is_done(self, write: Event) -> bool:
        return self._book.has(write.number)


def total(sales: Sequence[Sale]) -> Sale:
    return {"item": sales[0]["item"], "total": sum(one["amount"] for one in sales)}


def extremes(sales: Sequence[Sale]) -> Sale:
    amounts = [one["amount"] for one in sales]
    return {"least": min(amounts), "greatest": max(amounts)}


def captured(lineage: bool = True) -> Capture:
    return capture(CONNECTIONS, *SCOPES, writes=WRITES) if lineage else Capture()


def build(log: Log, folder: Path, watch: Watch, times: int) -> dict[str, Source | Operator]:
    """All operators, as new.  times: how often the shop reads the till."""
    books = {name: Writes(Book(folder / file, watch)) for name, file in BOOKS.items()}
    return {
        "shop": Shop(log, Till(folder, watch), times),
        "sums": Sums(log, "sums", {"alerts": books["alerts"]}),
        "ledger": Sink(log, "ledger", "book", books["book"]),
    }


def run(
    log: Log, folder: Path, watch: Watch, names: Sequence[str] = OPERATORS, times: int = 2
) -> None:
    """Recover operators, and run them in turn until nothing is left to do for them."""
    built = build(log, folder, watch, times)
    run_all([built[name] for name in names])


def run_all(operators: Sequence[Source | Operator]) -> None:
    """Run operators in turn until nothing is left to do for them.

    An operator whose database has interrupted it steps again, and recovers: TRIES times in a row.
    """
    failures = 0
    while True:
        try:
            stepped = [operator.step() for operator in operators]
        except LogInterrupted:
            failures += 1
            if failures == TRIES:
                raise
            continue
        failures = 0
        if not any(stepped):
            return


def ignore(_what: str) -> None:
    """Nobody kills this process."""


def kill_at(count: int) -> Watch:
    """A watch that kills this process, for real, before the count-th statement or effect."""
    left = iter(range(count - 1))

    def watch(_what: str) -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    return watch


def used_readings(folder: Path) -> list[list[Sale]]:
    """The readings that the written lines are made of.  One that a crash cut short is followed by
    another one, and none of its sales is used."""
    alerts = [json.loads(line.split(" ", 1)[1]) for line in lines(folder / BOOKS["alerts"])]
    used = {alert["least"] // 100 for alert in alerts}
    readings = [json.loads(line) for line in lines(folder / "till.jsonl")]
    return [reading for reading in readings if reading[0]["reading"] in used]


def expected(readings: Sequence[Sequence[Sale]]) -> dict[str, list[str]]:
    """What a run without failures writes, computed without operators, events or a log."""
    sales = [sale for reading in readings for sale in reading]
    alerts = [extremes(sales[at : at + 3]) for at in range(0, len(sales) - 2, 3)]
    found = {"alerts": alerts, "book": _totals(sales)}
    return {
        name: [f"{at} {json.dumps(one)}" for at, one in enumerate(values, 1)]
        for name, values in found.items()
    }


def _totals(sales: Sequence[Sale]) -> list[Sale]:
    waiting: dict[str, list[Sale]] = {}
    found: list[Sale] = []
    for sale in sales:
        group = waiting.setdefault(sale["item"], [])
        group.append(sale)
        if len(group) >= (2, 1)[len(found) % 2]:
            found.append(total(waiting.pop(sale["item"])))
    return found
