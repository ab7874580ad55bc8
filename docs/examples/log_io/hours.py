"""A second pipeline: windows of hours, whose Input Sets overlap, and a bank that is slow.

Rule of this file: one pipeline on one page, with its outside world in bank.py and external.py.

    meter -> hours --totals--> payer -> bank

A batch of the meter has records of several hours.  So it goes into several Input Sets (Examples 4
and 7 of the paper), and it may complete several: those of all hours that are over.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from asif.log_io import Connection, Event, Log, LogError, Made, Operator, Sink, Source
from docs.examples.log_io.bank import Bank
from docs.examples.log_io.external import EffectStore, Watch, append, lines
from docs.examples.log_io.pipeline import ignore, kill_at, run_all

BATCHES = Connection("meter", "batches", "hours", "batches")
TOTALS = Connection("hours", "totals", "payer", "totals")
HOURS = ((10,), (10, 11), (12,), (12, 13, 14))
"""Of the records of each batch.  The last batch completes two windows, and no batch comes after it;
the third one completes a window that it is not in."""


class Meter(Source):
    """Reads a meter, once; a second reading would show other amounts.  It is kept in a file."""

    def __init__(self, log: Log, folder: Path, watch: Watch) -> None:
        super().__init__(log, BATCHES, "meter")
        self.path, self.watch = folder / "meter.jsonl", watch
        self.effects = EffectStore(folder, watch)

    def ready(self, number: int) -> bool:
        return number == 1

    def read(self) -> Sequence[bytes]:
        self.watch("read the meter")
        reading = len(lines(self.path)) + 1  # another one shows other amounts
        batches = [[[hour, 100 * reading + at] for hour in hours] for at, hours in enumerate(HOURS)]
        append(self.path, json.dumps(batches))
        return [json.dumps(one).encode() for one in batches]

    def store(self, number: int, effect: Sequence[bytes]) -> bytes:
        return self.effects.store(number, effect).encode()

    def load(self, reference: bytes) -> Sequence[bytes]:
        return self.effects.load(reference.decode())

    def discard(self, number: int) -> None:
        self.effects.discard(number)


class Hours(Operator):
    """The total of each hour, once a later hour has begun.  Global state: the latest hour."""

    def new_state(self) -> int:
        return 0

    def in_sets(self, event: Event) -> Iterable[str]:
        return [str(hour) for hour, _ in json.loads(event.body)]

    def update(self, event: Event) -> None:
        self.state = max(self.state, *(hour for hour, _ in json.loads(event.body)))

    def completed(self, _event: Event) -> Iterable[str]:
        return [hour for hour in self.inputs if int(hour) < self.state]

    def generate(self, key: str, inputs: Sequence[Event]) -> Iterable[Made]:
        return [(TOTALS, total(int(key), [json.loads(one.body) for one in inputs]).encode())]


class Payments:
    """The bank as the library wants it: after "no", a request from before is refused."""

    def __init__(self, bank: Bank) -> None:
        self.bank, self.session = bank, bank.begin_session()

    def execute(self, write: Event) -> None:
        request = self.bank.request(self.session, write.number, write.body.decode())
        if self.bank.wait(request) == "refused":
            raise RuntimeError("another process has begun a session")

    def is_done(self, write: Event) -> bool:
        self.session = self.bank.begin_session()  # first the fence, and then the look
        return self.bank.has_paid(write.number)


def total(hour: int, batches: Sequence[Sequence[Sequence[int]]]) -> str:
    amounts = [amount for batch in batches for at, amount in batch if at == hour]
    return json.dumps({"hour": hour, "total": sum(amounts)})


def run(log: Log, folder: Path, watch: Watch) -> list[str]:
    """Run the pipeline until nothing is left to do, and return the payments."""
    bank = Bank(folder / "bank.db", watch)
    payer = Sink(log, "payer", "bank", Payments(bank))
    run_all([Meter(log, folder, watch), Hours(log, "hours"), payer])
    payments = bank.payments()
    bank.close()
    return payments


def expected(folder: Path) -> list[str]:
    """The payments of a run without failures, computed without operators, events or a log."""
    batches = json.loads(lines(folder / "meter.jsonl")[-1])
    over = sorted({hour for hours in HOURS for hour in hours})[:-1]
    return [f"{at} {total(hour, batches)}" for at, hour in enumerate(over, 1)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.examples.log_io.hours")
    parser.add_argument("folder", type=Path, help="of the log and of the outside world")
    parser.add_argument("--kill-at", type=int, help="SIGKILL before this statement or effect")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    watch = kill_at(arguments.kill_at) if arguments.kill_at else ignore
    try:
        with Log(folder / "log.db", watch=watch) as log:
            payments = run(log, folder, watch)
    except LogError as error:
        raise SystemExit(f"{error} (run again goes on)") from None
    print(*payments, sep="\n")
    print("as without failures" if payments == expected(folder) else "LOST OR DOUBLED")


if __name__ == "__main__":
    main()
