"""A checkpoint file outlives the restoration, so writes of an aborted transaction count.

Apache Kafka KAFKA-20685, https://issues.apache.org/jira/browse/KAFKA-20685 (Kafka Streams 4.1 and
4.2, exactly once), fixed in https://github.com/apache/kafka/pull/22548
The fix deletes the file when the restoration is complete.  No file after a crash means that the
disk may hold writes that were never committed, so it is wiped.
`asif check docs/how-to/engines/kafka_20685.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, CepState, Event, Received, Replay, Role, Save, Send, Site

STORE, CHECKPOINT = "store", "checkpoint"
"""The files of a task: the local store, and how many changes the store is known to have."""


class Task(NamedTuple):
    """A running task: its last input.  One that restores has no offset."""

    offset: int | None = 0


class Write(NamedTuple):
    """A part of the open transaction: input offset, change of the store, results."""

    offset: int
    store: CepState
    results: tuple[asif.Body, ...]


class Commit(NamedTuple):
    """Commit the open transaction."""


class Init(NamedTuple):
    """Abort the open transaction, and answer with the committed state."""


class Broker(NamedTuple):
    """What is committed: the last input offset, the last change, how many changes there are."""

    offset: int = 0
    store: CepState = CepState()
    changes: int = 0
    open: tuple[Write, ...] = ()


def deploy(keeps: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: keeps)
    source, task, broker = deployed.sites
    task = task._replace(files=(asif.File(STORE), asif.File(CHECKPOINT)))
    return deployed._replace(sites=(source, task, broker), prompt=frozenset({"broker"}))


def boot(site: Site) -> Any:
    return {Role.SOURCE: asif.QueueState(), Role.OPERATOR: Task(), Role.SINK: Broker()}[site.role]


def recover(_site: Site, _files: tuple[CepState | None, int | None]) -> Answer:
    return Task(None), (Send("broker", Init()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, Task(int(offset)), Received(_, Event((number,), body)) if number == offset + 1:
            store, (*_, produced, _) = asif.process(site.spec, site.disk[0] or CepState(), body)
            write = Write(number, store, tuple(result for _, result in produced))
            # RocksDB flushes when it likes: a crash may find this write on the disk, or not.
            saved = Save(store, STORE, synced=False)
            return Task(number), (saved, Send("broker", write), asif.SetTimer("commit"))
        case _, Task(int()), asif.TimerFired():
            return state, (Send("broker", Commit()),)
        case _, Task(None), Received(_, Broker(offset, committed, changes)):
            # A checkpoint spares the changes before it; without one the store is made anew.
            store, checkpoint = site.disk
            restored = Save(store if checkpoint == changes else committed, STORE)
            forgets = () if site.config else (Save(None, CHECKPOINT),)
            saves = restored, Save(changes, CHECKPOINT), *forgets
            return Task(offset), (asif.Note(asif.RESTORED), *saves, Send("source", Replay(offset)))
        case Role.SINK, Broker(), Received(_, Write() as write):
            return state._replace(open=(*state.open, write)), ()
        case Role.SINK, Broker(_, _, changes, (*_, last) as writes), Received(_, Commit()):
            ended = Broker(last.offset, last.store, changes + len(writes))
            return ended, tuple(asif.Emit((0, one)) for write in writes for one in write.results)
        case Role.SINK, Broker(), Received(task, Init()):
            return state._replace(open=()), (Send(task, state._replace(open=())),)
        case _:  # events that a replay brings again, or that come before it; nothing to commit
            return state, ()


EACH = asif.Function(lambda window: tuple((body,) for body in window))
GRAPH = asif.chain(("task", asif.Operator(EACH, asif.CountWindows(2, 2))), sink="broker")
SCOPE = asif.over_words(GRAPH, 2, "a", crashes=2)
TWO = asif.Case("a pair, two crashes", SCOPE, asif.OperatorClass.DETERMINISTIC)
TIMERS = {"commit": "From the first write of a transaction to its commit."}
KAFKA = asif.Family(
    "kafka_20685",
    "A store, its changelog and a checkpoint file",
    "https://issues.apache.org/jira/browse/KAFKA-20685",
    asif.Behaviour(deploy, boot, step, recover, show=asif.show_stream, timers=TIMERS),
    must_occur=(asif.CRASHED, asif.RESTORED, asif.REPLAYED),
)
REPORTED = KAFKA.design(
    "reported",
    True,
    (TWO.fails(598, 11, asif.Guarantee.GAP),),
    "The window has an event twice: the aborted write is still on the disk.",
    claims=asif.Guarantee.GAP,
)
PROTOCOL = KAFKA.design(design=False, scopes=(TWO.holds(479),), variants=(REPORTED,))
