"""A savepoint commits the transactions of the sinks, and a restart does not begin from it.

Apache Flink FLINK-10354, https://issues.apache.org/jira/browse/FLINK-10354
Fixed in https://github.com/apache/flink/pull/6704 by restarts from savepoints, too (`retained`);
since https://github.com/apache/flink/pull/18092 (FLINK-25191) a savepoint does not commit.
`asif check docs/how-to/engines/flink_10354.py` holds, as does `retained`; `reported` is refuted.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Body, Event, Received, Replay, Role, Save, Send, Site


class Savepoint(Enum):
    """The effect of a savepoint."""

    COMMITS = "it commits, and a restart does not know it"
    RETAINED = "it is a checkpoint"
    APART = "it only copies the state"


class Checkpoint(NamedTuple):
    """How far the job has read, and the transaction that has all results up to there."""

    offset: int = 0
    transaction: int = 0


class Write(NamedTuple):
    transaction: int
    body: Body


class Commit(NamedTuple):
    transaction: int


class Restore(NamedTuple):
    """Commit this transaction, if that has not been done, and abort all others."""

    transaction: int


def deploy(design: Savepoint, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: design)
    sites = tuple(
        site._replace(timers=("savepoint",) if site.name == "job" else ())
        for site in deployed.sites
    )
    return deployed._replace(sites=sites, prompt=frozenset({"broker"}))


def boot(site: Site) -> Any:
    first = {Role.SOURCE: asif.QueueState(), Role.OPERATOR: Checkpoint(0, 1)}
    return first.get(site.role, ())


def recover(_site: Site, durable: Checkpoint | None) -> Answer:
    offset, transaction = durable or Checkpoint()
    asks = Send("broker", Restore(transaction)), Send("source", Replay(offset))
    return Checkpoint(offset, transaction + 1), asks


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, Checkpoint(offset, transaction), Received(_, Event((number,), body)) if (
            number == offset + 1
        ):
            write = Send("broker", Write(transaction, body))
            return Checkpoint(number, transaction), (write, asif.SetTimer("checkpoint"))
        case _, Checkpoint(offset, transaction), asif.TimerFired(timer):
            if timer == "savepoint" and site.config is Savepoint.APART:
                return state, ()
            lost = timer == "savepoint" and site.config is Savepoint.COMMITS
            safe = () if lost else (Save(state), asif.Note(asif.CHECKPOINTED))
            return Checkpoint(offset, transaction + 1), (*safe, Send("broker", Commit(transaction)))
        case Role.SINK, writes, Received(_, Write() as write):
            return (*writes, write), ()
        case Role.SINK, writes, Received(_, Commit(number) | Restore(number) as end):
            ended = tuple(asif.Emit((0, w.body)) for w in writes if w.transaction == number)
            others = tuple(w for w in writes if w.transaction != number)
            return () if isinstance(end, Restore) else others, ended
        case _:  # the beginning of a replay, and the events before it
            return state, ()


GRAPH = asif.chain(("job", asif.Relay()), sink="broker")
REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
TIMERS = {
    "checkpoint": "From the first result of a transaction to the next checkpoint.",
    "savepoint": "From the start of the job to the savepoint that a user asks for.",
}
FLINK = asif.Family(
    "flink_10354",
    "Checkpoints, savepoints and transactions",
    "https://issues.apache.org/jira/browse/FLINK-10354",
    asif.Behaviour(deploy, boot, step, recover, show=asif.show_stream, timers=TIMERS),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.CHECKPOINTED),
)
RETAINED = FLINK.design("retained", Savepoint.RETAINED, (ONE.holds(55), TWO.holds(664)))
REPORTED = FLINK.design(
    "reported",
    Savepoint.COMMITS,
    (ONE.fails(45, 9, REPEATING),),
    "After a restart from the checkpoint before it, all results of a savepoint come again.",
    claims=REPEATING,
)
PROTOCOL = FLINK.design(
    design=Savepoint.APART, scopes=(ONE.holds(31), TWO.holds(358)), variants=(RETAINED, REPORTED)
)
