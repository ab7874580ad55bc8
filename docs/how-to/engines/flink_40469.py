"""A checkpoint that falls into a recovery knows no partition, and a restart reads none.

Apache Flink FLINK-40469, https://issues.apache.org/jira/browse/FLINK-40469
(fixed in https://github.com/apache/flink-connector-kafka/pull/295)
A restored reader reports its partitions to the enumerator, which gives them out again when it has
discovered which ones there are.  A checkpoint in between has them neither with the readers nor as
partitions to give out.  The fix saves partitions that are reported and not yet given out.
`asif check docs/how-to/engines/flink_40469.py` holds; its variant `reported` is refuted.
"""

# Reader and enumerator are one node here, since the job restarts as a whole.

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Emit, Event, Note, Received, Replay, Role, Save, Send, Site


class Job(NamedTuple):
    """How far the reader has read its partition, and the place it has reported; None: none."""

    read: int | None = 0
    reported: int | None = None


def deploy(keeps: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: keeps)
    return deployed._replace(prompt=frozenset({"sink"}))


def boot(site: Site) -> Any:
    return {Role.SOURCE: asif.QueueState(), Role.OPERATOR: Job(), Role.SINK: 0}[site.role]


def recover(_site: Site, durable: Job | None) -> Answer:
    saved = durable or Job()
    reported = saved.reported if saved.read is None else saved.read
    timers = asif.SetTimer("discover"), asif.SetTimer("checkpoint")
    return Job(None, reported), () if reported is None else timers


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, Job(int(read)), Received(_, Event((number,), _) as event) if number == read + 1:
            return Job(number), (Send("sink", event), asif.SetTimer("checkpoint"))
        case _, Job(read, reported), asif.TimerFired("checkpoint"):
            kept = reported if site.config else None
            return state, (Note(asif.CHECKPOINTED), Save(Job(read, kept)))
        case _, Job(None, int(reported)), asif.TimerFired("discover"):
            return Job(reported), (Note(asif.RESTORED), Send("partition", Replay(reported)))
        case Role.SINK, last, Received(_, Event((number,), body)):
            if number <= last:
                return last, (Note(asif.DISCARDED),)
            return number, (Emit((0, body)),)
        case _:  # events that a replay brings again, that come before it, or that nobody reads
            return state, ()


GRAPH = asif.chain(("job", asif.Relay()), source="partition")
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
ONE = asif.Case("one event, two crashes", asif.over_words(GRAPH, 1, "a", crashes=2), REPEATABLE)
TWO = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
FLINK = asif.Family(
    "flink_40469",
    "A source that gives out its partitions again",
    "https://issues.apache.org/jira/browse/FLINK-40469",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=asif.show_stream,
        timers={
            "checkpoint": "From a restart or an event to the next checkpoint.",
            "discover": "From a restart to the answer which partitions there are.",
        },
    ),
    must_occur=(asif.CRASHED, asif.CHECKPOINTED),
)
REPORTED = FLINK.design(
    "reported",
    False,
    (ONE.fails(335, 6, GAP),),
    "Nobody reads the partition any more.",
    claims=GAP,
)
PROTOCOL = FLINK.design(
    design=True,
    scopes=(ONE.holds(369), TWO.holds(1_302)),
    must_occur=(asif.CRASHED, asif.CHECKPOINTED, asif.RESTORED, asif.REPLAYED),
    variants=(REPORTED,),
)
