"""A database may throw away its log up to a place that the connector has not yet saved.

Debezium dbz#2460, https://github.com/debezium/debezium/pull/7852 (the same fault was seen in
RisingWave: https://github.com/risingwavelabs/risingwave/issues/25071)
The connector saves its offset now and then, is notified later, and acknowledges to the database
all that it has read by then.  After a crash the saved offset points to a part of the log that is
gone.  Each restart fails, and nothing comes any more.
The fix acknowledges the changes read by the notification before, which this flush has saved.
`asif check docs/how-to/engines/debezium_2460.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Received, Replay, Role, Save, Send, Site, Trim


class Connector(NamedTuple):
    """The last change that was read, and the last one at the notification before."""

    last: int = 0
    before: int = 0


def deploy(careful: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: careful)
    return deployed._replace(prompt=frozenset({"topic"}))


def boot(site: Site) -> Any:
    return {Role.SOURCE: asif.QueueState(), Role.OPERATOR: Connector()}.get(site.role)


def recover(_site: Site, durable: int | None) -> Answer:
    return Connector(durable or 0), (Send("database", Replay(durable or 0)),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, Connector(last), Received(_, Event((number,), _) as change) if number == last + 1:
            return state._replace(last=number), (Send("topic", change), asif.SetTimer("flush"))
        case _, Connector(last), asif.TimerFired("flush"):
            return state, (Save(last), asif.SetTimer("notify"))
        case _, Connector(last), Received(_, asif.Replayed(_, start)) if start > last:
            return state, (asif.Fail(),)  # the log does not reach back to the saved offset
        case _, Connector(last, before), asif.TimerFired("notify"):
            safe = before if site.config else last
            return Connector(last, last), (Send("database", Trim(safe)),)
        case Role.SINK, _, Received(_, Event(_, body)):
            return state, (asif.Emit((0, body)),)
        case _:  # the beginning of a replay; a change that does not follow the last one
            return state, ()


GRAPH = asif.chain(("connector", asif.Relay()), source="database", sink="topic")
REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
THREE = asif.Case("three changes", asif.over_words(GRAPH, 3, "a"), REPEATABLE)
TWO = asif.Case("two changes, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
DEBEZIUM = asif.Family(
    "debezium_2460",
    "Offsets of a connector and the log of a database",
    "https://github.com/debezium/debezium/pull/7852",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=asif.show_stream,
        timers={
            "flush": "From the first change after a flush to the next flush.",
            "notify": "From a flush to the notification that it is done.",
        },
        quantities=(asif.TRIMMED,),
    ),
    properties=(asif.NOTHING_LOST,),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.TRIMMED),
)
REPORTED = DEBEZIUM.design(
    "reported",
    False,
    (THREE.fails(1_498, 11, REPEATING),),
    "The log no longer reaches back to the saved offset: no restart succeeds.",
)
PROTOCOL = DEBEZIUM.design(
    design=True,
    scopes=(THREE.holds(1_517, REPEATING), TWO.holds(1_347, REPEATING)),
    claims=REPEATING,
    variants=(REPORTED,),
)
