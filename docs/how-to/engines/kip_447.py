"""A worker that was taken for dead commits events that its successor has taken over.

Apache Kafka KIP-447,
https://cwiki.apache.org/confluence/display/KAFKA/KIP-447%3A+Producer+scalability+for+exactly+once+semantics
Each worker has a transactional id of its own, so the epoch of one does not fence the other.  The
fix has two parts: offsets are committed with the generation of the group, and a member that asks
where to begin waits until nothing is pending (here the broker aborts at once, as it does at the
time-out of a transaction).  The variant `reported` has neither, `half` the first one alone.
`asif check docs/how-to/engines/kip_447.py` holds; both variants are refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Note, Received, Replay, Role, Send, Site


class Worker(NamedTuple):
    """A member of the group, and how far it has read."""

    generation: int = 1
    offset: int = 0


class Add(NamedTuple):
    """A result and the offset of its input, for the transaction of the sender."""

    generation: int
    event: Event


class End(NamedTuple):
    """Commit the transaction of the sender."""


class Join(NamedTuple):
    """A member asks for the partition of the one that is lost."""


class Group(NamedTuple):
    """The broker: the generation of the group, the committed offset, the open transactions."""

    generation: int = 1
    offset: int = 0
    open: tuple[tuple[str, Event], ...] = ()


def deploy(design: str, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, config=lambda _: design)
    source, one, broker = deployed.sites
    pair, joins = ("A", "B"), (("A", "B"), ("B", "broker"), ("broker", "B"), ("B", "source"))
    sites = source._replace(succs=pair), one, one._replace(name="B"), broker._replace(preds=pair)
    return deployed._replace(
        sites=sites,
        channels=(*deployed.channels, ("source", "B"), *joins),
        watched=frozenset({pair}),
        returning=frozenset(),
        prompt=frozenset({"broker"}),
    )


def boot(site: Site) -> Any:
    first = {"source": asif.QueueState(), "A": Worker(), "broker": Group()}
    return first.get(site.name)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, Worker(current, offset), Received(_, Event((n,)) as event) if n == offset + 1:
            add = Send("broker", Add(current, event))
            return Worker(current, n), (add, asif.SetTimer("commit"))
        case _, Worker(), asif.TimerFired():
            return state, (Send("broker", End()),)
        case _, None, Received(_, asif.Lost()):
            return "joining", (Send("broker", Join()),)
        case _, "joining", Received(_, Worker() as assigned):
            return assigned, (Send("source", Replay(assigned.offset)),)
        case _, Group(), Received(worker, Add(generation, event)):
            if site.config != "reported" and generation < state.generation:
                return state, (Note(asif.STALE),)
            return state._replace(open=(*state.open, (worker, event))), ()
        case _, Group(generation, offset, pending), Received(worker, End()):
            ended = [event for name, event in pending if name == worker]
            left = tuple(one for one in pending if one[0] != worker)
            offset = max([offset, *(event.sn[0] for event in ended)])
            emits = tuple(asif.Emit((0, event.body)) for event in ended)
            return Group(generation, offset, left), emits
        case _, Group(generation, offset, pending), Received(worker, Join()):
            left = () if site.config == "fixed" else pending
            assigned = Worker(generation + 1, offset)
            return Group(generation + 1, offset, left), (Send(worker, assigned),)
        case _:  # events that a worker has read, or is not to read
            return state, ()


GRAPH = asif.chain(("A", asif.Relay()), sink="broker")
REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two events, two faults", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
TIMERS = {"commit": "From the first result of a transaction to its commit."}
KAFKA = asif.Family(
    "kip_447",
    "Two workers of one consumer group",
    "https://cwiki.apache.org/confluence/display/KAFKA/KIP-447%3A+Producer+scalability+for+exactly+once+semantics",
    asif.Behaviour(deploy, boot, step, show=asif.show_stream, timers=TIMERS),
    assumes=asif.Assumptions(asif.Failures.ANY, suspicions=True),
    must_occur=(asif.SUSPECTED,),
)
VARIANTS = tuple(
    KAFKA.design(name, name, (ONE.fails(states, 8, REPEATING),), claims=REPEATING)
    for name, states in (("reported", 121), ("half", 146))
)
FIXED = ONE.holds(101), TWO.holds(1_260)
OCCUR = asif.CRASHED, asif.SUSPECTED, asif.STALE
PROTOCOL = KAFKA.design(design="fixed", scopes=FIXED, must_occur=OCCUR, variants=VARIANTS)
