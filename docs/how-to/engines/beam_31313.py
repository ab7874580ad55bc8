"""After a restart a part of the source has two readers, so all of it comes twice.

Apache Beam #31313, https://github.com/apache/beam/issues/31313 (the runner on Flink; the same cause
is described in https://github.com/apache/beam/issues/34890)
The readers restore their splits, each with its place; and the enumerator computes the splits again
and hands them out, each without one.  Fixed in https://github.com/apache/beam/pull/33606: an
enumerator that is restored hands nothing out.
`asif check docs/how-to/engines/beam_31313.py` holds; its variant `reported` is refuted.
"""

# Reader and enumerator are one node here, since a job restarts as a whole; and checkpoint and
# results are one transaction of the sink, so that only the source can be at fault.

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Body, Emit, Event, Note, Received, Replay, Role, Send, Site


class Job(NamedTuple):
    """How far each reader of the split has read, and the results since the last checkpoint."""

    readers: tuple[int, ...] = (0,)
    results: tuple[Body, ...] = ()


class Ask(NamedTuple):
    """A restarted job asks for the last checkpoint: its readers."""


def deploy(hands_out: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: hands_out)
    return deployed._replace(prompt=frozenset({"sink"}))


def boot(site: Site) -> Any:
    return {Role.SOURCE: asif.QueueState(), Role.OPERATOR: Job(), Role.SINK: (0,)}[site.role]


def recover(_site: Site, _durable: None) -> Answer:
    return None, (Send("sink", Ask()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, None, Received("sink", Job(readers)):
            readers = (*readers, 0) if site.config else readers
            return Job(readers), (Note(asif.RESTORED), Send("source", Replay(min(readers))))
        case _, Job(readers, results), Received(_, Event((number,), body)):
            taken = readers.count(number - 1)  # each reader takes the one after its last
            now = tuple(number if last == number - 1 else last for last in readers)
            timer = (asif.SetTimer("checkpoint"),) if taken else ()
            return Job(now, (*results, *(body,) * taken)), timer
        case _, Job(readers), asif.TimerFired():
            return Job(readers), (Note(asif.CHECKPOINTED), Send("sink", state))
        case Role.SINK, readers, Received(job, Ask()):
            return readers, (Send(job, Job(readers)),)
        case Role.SINK, _, Received(_, Job(readers, results)):
            return readers, tuple(Emit((0, body)) for body in results)
        case _:  # events that come before a replay
            return state, ()


GRAPH = asif.chain(("job", asif.Relay()))
REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
BEAM = asif.Family(
    "beam_31313",
    "Splits that are restored, and handed out again",
    "https://github.com/apache/beam/issues/31313",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=asif.show_stream,
        timers={"checkpoint": "From the first result after a checkpoint to the next one."},
    ),
    must_occur=(asif.CRASHED, asif.RESTORED, asif.CHECKPOINTED),
)
REPORTED = BEAM.design("reported", True, (ONE.fails(31, 6, REPEATING),), claims=REPEATING)
PROTOCOL = BEAM.design(design=False, scopes=(ONE.holds(29), TWO.holds(340)), variants=(REPORTED,))
