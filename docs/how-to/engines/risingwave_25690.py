"""A coordinator that restarts between a note and its acknowledgement notes the same again.

RisingWave #25690, https://github.com/risingwavelabs/risingwave/pull/25690
The coordinator of a sink notes an epoch as pending in a table with a primary key, acknowledges it
to the writer, and commits it.  A writer that has missed the acknowledgement sends the epoch again;
the second note violates the key: an error, which comes again after each restart.
The fix remembers the newest noted epoch as acknowledged, and answers up to there without a note.
`asif check docs/how-to/engines/risingwave_25690.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Fail, Received, Replay, Role, Save, Send, Site, Trim


class Row(NamedTuple):
    """The newest row of the table: an epoch, and its data as long as it is pending."""

    epoch: int = 0
    pending: Event | None = None


class Coordinator(NamedTuple):
    """The newest epoch that has a row, and the last one that the writer knows to have one."""

    noted: int = 0
    acknowledged: int = 0


def deploy(remembers: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: remembers)
    return deployed._replace(prompt=frozenset({"lake"}))


def boot(site: Site) -> Any:
    first = {Role.SOURCE: asif.QueueState(), Role.OPERATOR: Coordinator()}
    return first.get(site.role, 0)


def recover(_site: Site, durable: Row | None) -> Answer:
    epoch, pending = durable or Row()
    commits = (Send("lake", pending), Save(Row(epoch))) if pending else ()
    return Coordinator(epoch, -1), (*commits, Send("writer", Replay(0)))


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, Coordinator(noted, acknowledged), Received(_, Event((epoch,), _) as data) if (
            epoch == acknowledged + 1
        ):
            acknowledge = Send("writer", Trim(epoch))
            if epoch > noted:
                note, commit = Save(Row(epoch, data)), Send("lake", data)
                return Coordinator(epoch, epoch), (note, acknowledge, commit, Save(Row(epoch)))
            if site.config:
                return Coordinator(noted, epoch), (asif.Note(asif.DISCARDED), acknowledge)
            return state, (Fail(),)  # the key of the table is violated
        case _, Coordinator(noted), Received(_, asif.Replayed(_, start)):
            return Coordinator(noted, start), ()
        case Role.SINK, last, Received(_, Event((epoch,), body)):
            return max(epoch, last), (asif.Emit((0, body)),) if epoch > last else ()
        case _:  # events that come before a replay
            return state, ()


GRAPH = asif.chain(("coordinator", asif.Relay()), source="writer", sink="lake")
REPEATABLE = asif.OperatorClass.REPEATABLE
TWO = asif.Case("two epochs", asif.over_words(GRAPH, 2, "a"), REPEATABLE)
MORE = asif.Case("two epochs, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
RISINGWAVE = asif.Family(
    "risingwave_25690",
    "A sink with a coordinator",
    "https://github.com/risingwavelabs/risingwave/pull/25690",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=asif.show_stream,
        quantities=(asif.TRIMMED,),
    ),
    must_occur=(asif.CRASHED, asif.REPLAYED),
)
REPORTED = RISINGWAVE.design(
    "reported",
    False,
    (TWO.fails(93, 7, asif.Guarantee.PRECISE),),
    "The coordinator fails at the second note of an epoch, and at each restart again.",
)
PROTOCOL = RISINGWAVE.design(
    design=True,
    scopes=(TWO.holds(94), MORE.holds(323)),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.DISCARDED),
    variants=(REPORTED,),
)
