"""A late answer to a snapshot clears the snapshot that a restart is about to be restored from.

Hazelcast Jet #2503, https://github.com/hazelcast/hazelcast-jet/pull/2503
(and again #2824, https://github.com/hazelcast/hazelcast-jet/pull/2824)
A member writes a snapshot and answers to the master, which notes it as the newest and clears the
one before.  If the member has restarted meanwhile, the master has already said from which snapshot.
The restart finds none: the job fails (#2503) or begins anew and repeats its results (#2824).
The fix drops an answer of another execution than the present one.
`asif check docs/how-to/engines/jet_2503.py` holds; its variant `reported` is refuted.
"""

# The answer goes through a site of its own, `responses` (in Jet: another thread).  A job that finds
# no snapshot has failed for good, and is not restarted.

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Emit, Event, Note, Received, Replay, Role, Send, Site


class Running(NamedTuple):
    """A member: which execution it is of, its last snapshot, how far it has read."""

    execution: int = 1
    snapshot: int = 0
    offset: int = 0


class Snapshot(NamedTuple):
    """A snapshot in the maps of the cluster; as an answer: None if there is none."""

    number: int
    offset: int | None


class Done(NamedTuple):
    """The member has written this snapshot."""

    execution: int
    snapshot: int


class Restore(NamedTuple):
    """The master: begin this execution from this snapshot.  The member: what is in it?"""

    execution: int
    snapshot: int


class Master(NamedTuple):
    """The present execution, the newest snapshot, and the maps."""

    execution: int = 1
    newest: int = 0
    maps: tuple[Snapshot, ...] = (Snapshot(0, 0),)


FAILED = "failed"  # a job that was to be restored from a snapshot that there is not


def deploy(careful: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True)
    others = tuple(
        Site(name, Role.OPERATOR, None, ("member",), (), careful)
        for name in ("responses", "master")
    )
    ends = (("member", "responses"), ("responses", "master"))
    return deployed._replace(
        sites=(*deployed.sites, *others),
        channels=(*deployed.channels, *ends, ("member", "master"), ("master", "member")),
        prompt=frozenset({"master", "sink"}),
    )


def boot(site: Site) -> Any:
    first = {"source": asif.QueueState(), "member": Running(), "master": Master()}
    return first.get(site.name, 0)


def recover(_site: Site, _durable: None) -> Answer:
    return None, (Send("master", asif.Restarted()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.name, state, input_:
        case "source", _, asif.Arrival():
            return asif.produce(state, input_, site.succs)
        case "source", _, Received(reader, Replay() as request):
            return asif.serve(state, reader, request)
        case "member", Running(offset=offset), Received(_, Event((n,), _) as event) if (
            n == offset + 1
        ):
            return state._replace(offset=n), (Send("sink", event), asif.SetTimer("snapshot"))
        case "member", Running(execution, snapshot, offset), asif.TimerFired():
            written = Send("master", Snapshot(snapshot + 1, offset))
            done = Send("responses", Done(execution, snapshot + 1))
            return Running(execution, snapshot + 1, offset), (written, done)
        case "member", None, Received(_, Restore() as restore):
            return restore, (Send("master", restore),)
        case "member", Restore(execution, number), Received(_, Snapshot(_, int(offset))):
            return Running(execution, number, offset), (Send("source", Replay(offset)),)
        case "member", Restore(), Received(_, Snapshot()):
            return FAILED, ()
        case "responses", _, Received(_, done):
            return state, (Send("master", done),)
        case "master", Master(execution, newest, maps), Received(_, message):
            return master(site, execution, newest, maps, message)
        case "sink", last, Received(_, Event((number,), body)):
            return max(number, last), (Emit((0, body)),) if number > last else ()
        case _:  # what comes before a replay, or to a job that has failed
            return state, ()


def master(
    site: Site, execution: int, newest: int, maps: tuple[Snapshot, ...], message: Any
) -> Answer:
    match message:
        case Done(of) if of < execution and site.config:
            return Master(execution, newest, maps), (Note(asif.STALE),)
        case Done(_, number):
            kept = tuple(one for one in maps if one.number >= number)
            return Master(execution, number, kept), ()
        case asif.Restarted():
            restore = Restore(execution + 1, newest)
            return Master(execution + 1, newest, maps), (Send("member", restore),)
        case Restore(_, number):
            found = Snapshot(number, dict(maps).get(number))
            return Master(execution, newest, maps), (Send("member", found),)
        case _:  # a snapshot
            others = (one for one in maps if one.number != message.number)
            return Master(execution, newest, (*others, message)), ()


GRAPH = asif.chain(("member", asif.Relay()))
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
TWO = asif.Case("two events", asif.over_words(GRAPH, 2, "a"), REPEATABLE)
MORE = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
JET = asif.Family(
    "jet_2503",
    "Snapshots of a job, and a master that clears the old ones",
    "https://github.com/hazelcast/hazelcast-jet/pull/2503",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
        timers={"snapshot": "From the first event after a snapshot to the next one."},
    ),
    must_occur=(asif.CRASHED,),
)
REPORTED = JET.design("reported", False, (TWO.fails(401, 9, GAP),), claims=GAP)
PROTOCOL = JET.design(
    design=True,
    scopes=(TWO.holds(312), MORE.holds(1_938)),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.STALE),
    variants=(REPORTED,),
)
