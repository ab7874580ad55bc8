"""A coordinator that restarts between a note and its acknowledgement notes the same again.

RisingWave #25690, https://github.com/risingwavelabs/risingwave/pull/25690
The coordinator of a sink notes an epoch as pending in a table with a primary key, acknowledges it
to the writer, and commits it.  A writer that has missed the acknowledgement sends the epoch again;
the second note violates the key, and the sink commits nothing any more.
The fix remembers the newest noted epoch as acknowledged, and answers up to there without a note.
`asif check docs/how-to/engines/risingwave_25690.py` holds; its variant `reported` is refuted.
"""

# Still to say: the coordinator throws (the effect `Fail()`) and meets the same error after each
# restart; here it is `Broken`, and answers nothing.

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Note, Received, Replay, Role, Save, Send, Site, Trim


class Row(NamedTuple):
    """The newest row of the table: an epoch, and its data as long as it is pending."""

    epoch: int = 0
    pending: Event | None = None


class Coordinator(NamedTuple):
    """The newest epoch that has a row, and the last one that the writer knows to have one."""

    noted: int = 0
    acknowledged: int = 0


class Broken(NamedTuple):
    """The coordinator after an error that a restart does not mend."""


def deploy(remembers: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: remembers)
    return deployed._replace(prompt=frozenset({"lake"}))


def boot(site: Site) -> Any:
    first = {Role.SOURCE: asif.QueueState(), Role.OPERATOR: Coordinator()}
    return first.get(site.role, 0)


def recover(_site: Site, durable: Row | None) -> Answer:
    epoch, pending = durable or Row()
    rewind = epoch - 1 if pending else epoch
    commits = (Send("lake", pending), Save(Row(epoch))) if pending else ()
    return Coordinator(epoch, rewind), (*commits, Send("writer", Replay(rewind)))


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, asif.Arrival():
            return asif.produce(state, input_, site.succs)
        case Role.SOURCE, _, Received(reader, Replay() as request):
            return asif.serve(state, reader, request)
        case Role.SOURCE, _, Received(_, Trim(epoch)):
            return asif.trim(state, epoch)
        case _, Coordinator(noted, acknowledged), Received(_, Event((epoch,), _) as data) if (
            epoch == acknowledged + 1
        ):
            acknowledge = Send("writer", Trim(epoch))
            if epoch > noted:
                note, commit = Save(Row(epoch, data)), Send("lake", data)
                return Coordinator(epoch, epoch), (note, acknowledge, commit, Save(Row(epoch)))
            if site.config:
                return Coordinator(noted, epoch), (Note(asif.DISCARDED), acknowledge)
            return Broken(), ()
        case _, Coordinator(noted), Received(_, asif.Replayed(_, start)):
            return Coordinator(noted, start), ()
        case Role.SINK, last, Received(_, Event((epoch,), body)):
            return max(epoch, last), (asif.Emit((0, body)),) if epoch > last else ()
        case _:  # what comes before a replay
            return state, ()


GRAPH = asif.Graph(
    (("writer", asif.SOURCE), ("coordinator", asif.Relay()), ("lake", asif.SINK)),
    (("writer", "coordinator"), ("coordinator", "lake")),
)
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
TWO = asif.Case("two epochs", asif.over_words(GRAPH, 2, "a"), REPEATABLE)
MORE = asif.Case("two epochs, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
RISINGWAVE = asif.Family(
    "risingwave_25690",
    "A sink with a coordinator",
    "https://github.com/risingwavelabs/risingwave/pull/25690",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
        quantities=(asif.TRIMMED,),
    ),
    must_occur=(asif.CRASHED, asif.REPLAYED),
)
REPORTED = RISINGWAVE.design(
    "reported",
    False,
    (TWO.fails(163, 8, GAP),),
    "After the second note of an epoch nothing comes any more.",
    claims=GAP,
)
PROTOCOL = RISINGWAVE.design(
    design=True,
    scopes=(TWO.holds(161), MORE.holds(836)),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.DISCARDED),
    variants=(REPORTED,),
)
