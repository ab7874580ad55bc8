"""The example's pipeline: a shop, its sums, and its ledger.

Rule of this file: which operators there are, and what they compute; no step of recovery.

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
from collections.abc import Mapping, Sequence
from pathlib import Path

from asif.log_io import Capture, Connection, Log, Scope, capture
from docs.examples.log_io.external import Book, EffectStore, Sale, Till, Watch, lines
from docs.examples.log_io.middle import Function, Middle
from docs.examples.log_io.source import Source

SALES = Connection("shop", "sales", "sums", "sales")
TOTALS = Connection("sums", "totals", "ledger", "totals")
CONNECTIONS = (SALES, TOTALS)
SCOPES = (
    Scope(("shop", "sales"), ("ledger", "book")),
    Scope(("shop", "sales"), ("sums", "alerts")),
)
WRITES = (("ledger", "book"), ("sums", "alerts"))
OPERATORS = ("shop", "sums", "ledger")
BOOKS = {"alerts": "alerts.txt", "book": "book.txt"}


def total(sales: Sequence[Sale]) -> Sale:
    return {"item": sales[0]["item"], "total": sum(one["amount"] for one in sales)}


def extremes(sales: Sequence[Sale]) -> Sale:
    amounts = [one["amount"] for one in sales]
    return {"least": min(amounts), "greatest": max(amounts)}


def copy(totals: Sequence[Sale]) -> Sale:
    return totals[0]


SUMS = (
    Function(lambda sale: str(sale["item"]), (2, 1), total, TOTALS),
    Function(lambda _: "", (3,), extremes, "alerts"),
)
LEDGER = (Function(lambda _: "", (1,), copy, "book"),)
FUNCTIONS: Mapping[str, tuple[Function, ...]] = {"sums": SUMS, "ledger": LEDGER}


def captured(lineage: bool = True) -> Capture:
    return capture(CONNECTIONS, *SCOPES, writes=WRITES) if lineage else Capture()


def build(log: Log, folder: Path, watch: Watch, times: int) -> dict[str, Source | Middle]:
    """All operators, as new.  times: how often the shop reads the till."""
    books = {name: Book(folder / file, watch) for name, file in BOOKS.items()}
    source = Source(log, SALES, Till(folder, watch), EffectStore(folder, watch), times)
    middles = {name: Middle(log, name, FUNCTIONS[name], books) for name in FUNCTIONS}
    return {"shop": source, **middles}


def run(
    log: Log, folder: Path, watch: Watch, names: Sequence[str] = OPERATORS, times: int = 2
) -> None:
    """Recover operators, and run them in turn until nothing is left to do for them."""
    built = build(log, folder, watch, times)
    operators = [built[name] for name in names]
    for operator in operators:
        operator.on_recovery()
    while True:
        stepped = [operator.step() for operator in operators]
        if not any(stepped):
            return


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
