"""A replayed micro-batch is committed twice, since every commit has a user of its own.

Apache Paimon #9666, https://github.com/apache/paimon/issues/9666
Fixed as proposed in https://github.com/apache/paimon/pull/9667 (one user a query, the identifier
is that of the batch; a table keeps the last identifier of each user).
In a table by key the repetition does no harm (the variant `upserts`).
`asif check docs/how-to/engines/paimon_9666.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Body, Emit, Event, Note, Received, Replay, Role, Save, Send, Site


class Logs(NamedTuple):
    """The two logs of a query: a batch is planned before it runs, and done after it."""

    planned: int = 0
    done: int = 0


class Commit(NamedTuple):
    """The rows of a batch, here one.  user: None is a new name, which nobody has ever had."""

    user: str | None
    identifier: int
    row: Body


def deploy(design: str | None, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: design)
    return deployed._replace(prompt=frozenset({"table"}))


def boot(site: Site) -> Any:
    return {Role.SOURCE: asif.QueueState(), Role.OPERATOR: Logs(), Role.SINK: 0}[site.role]


def recover(_site: Site, durable: Logs | None) -> Answer:
    logs = durable or Logs()
    return logs, (Send("source", Replay(logs.done)),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, input_:
        case Role.SOURCE, _:
            return asif.log_source(site, state, input_)
        case Role.OPERATOR, Received(_, Event((batch,), row)) if batch == state.done + 1:
            plan, done = Logs(batch, state.done), Logs(batch, batch)
            return done, (Save(plan), Send("table", Commit(site.config, batch, row)), Save(done))
        case Role.SINK, Received(_, Commit(user, identifier, row)):
            if user and identifier <= state:
                return state, (Note(asif.DISCARDED),)
            return identifier, (Emit((0, row)),)
        case _:  # the beginning of a replay, and events that it brings again
            return state, ()


def show(value: Any) -> str:
    match value:
        case Event((number,), body):
            return f"{body.type}{number}"
        case Commit(user, identifier):
            return f"commit {user or 'by somebody'} {identifier}"
        case _:
            return ""


GRAPH = asif.chain(("query", asif.Relay()), sink="table")


def into(table: asif.Compare, length: int, crashes: int = 1) -> asif.Scope:
    return asif.over_words(GRAPH, length, "a", crashes=crashes, sinks=(("table", table),))


REPEATABLE = asif.OperatorClass.REPEATABLE
ONE = asif.Case("one batch", into(asif.BAG, 1), REPEATABLE)
TWO = asif.Case("two batches, two crashes", into(asif.BAG, 2, 2), REPEATABLE)
KEYED = asif.Case("a table by key", into(asif.table(lambda row: row.time), 2, 2), REPEATABLE)
PAIMON = asif.Family(
    "paimon_9666",
    "Micro-batches into a table",
    "https://github.com/apache/paimon/issues/9666",
    asif.Behaviour(deploy, boot, step, recover, show=show),
    must_occur=(asif.CRASHED, asif.REPLAYED),
)
REPORTED = PAIMON.design(
    "reported",
    None,
    scopes=(ONE.fails(29, 6, asif.Guarantee.REPEATING),),
    finding="A batch that was committed, but not noted as done, is committed again.",
    claims=asif.Guarantee.REPEATING,
)
UPSERTS = PAIMON.design(
    "upserts",
    None,
    (KEYED.holds(380),),
    "In a table by key the second commit of a row changes nothing.",
)
PROTOCOL = PAIMON.design(
    design="query",
    scopes=(ONE.holds(28), TWO.holds(315)),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.DISCARDED),
    variants=(REPORTED, UPSERTS),
)
