"""A late answer to a snapshot clears the snapshot that a restart is about to be restored from.

Hazelcast Jet #2503, https://github.com/hazelcast/hazelcast-jet/pull/2503
(and again #2824, https://github.com/hazelcast/hazelcast-jet/pull/2824)
A member writes a snapshot and answers to the master, which notes it as the newest and clears the
one before.  If the member restarts meanwhile, the master has already named the one to restore.  The
restart finds none: the job fails (#2503), or it begins anew and repeats its results (#2824).
The fix drops an answer of another execution than the present one.
`asif check docs/how-to/engines/jet_2503.py` holds; its variant `reported` is refuted.
"""

# The master has the maps of the snapshots, too.  Its threads take messages in any order, which is
# an unordered link.  A job that finds no snapshot has failed for good, and is not restarted.

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Received, Replay, Role, Send, Site


class Running(NamedTuple):
    """A member: its execution, its last snapshot, how far it has read; for the master, which keeps
    one snapshot, the same.  As a message: this snapshot is written, or is the one to restore."""

    execution: int = 1
    snapshot: int = 0
    offset: int = 0


class Restore(NamedTuple):
    """The master: begin this execution from this snapshot.  The member: give it to me."""

    execution: int
    snapshot: int


class Gone(NamedTuple):
    """There is no such snapshot."""

    execution: int


def deploy(careful: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True)
    master = Site("master", Role.OPERATOR, None, ("member",), (), careful)
    return deployed._replace(
        sites=(*deployed.sites, master),
        channels=(*deployed.channels, ("member", "master"), ("master", "member")),
        prompt=frozenset({"sink"}),
        links={("member", "master"): asif.Link(unordered=True)},
    )


def boot(site: Site) -> Any:
    first = {"source": asif.QueueState(), "member": Running(), "master": Running()}
    return first.get(site.name, 0)


def recover(_site: Site, _durable: None) -> Answer:
    return None, (Send("master", asif.Restarted()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.name, state, input_:
        case "source", _, _:
            return asif.log_source(site, state, input_)
        case "member", Running(_, _, offset), Received(_, Event((n,)) as event) if n == offset + 1:
            return state._replace(offset=n), (Send("sink", event), asif.SetTimer("snapshot"))
        case "member", Running(execution, snapshot, offset), asif.TimerFired():
            written = Running(execution, snapshot + 1, offset)
            return written, (Send("master", written),)
        case "member", None, Received(_, Restore() as restore):
            return restore, (Send("master", restore),)
        case "member", Restore(now), Received(_, Running(of) as restored) if of == now:
            return restored, (Send("source", Replay(restored.offset)),)
        case "member", Restore(now), Received(_, Gone(of)) if of == now:
            return "failed", ()
        case "master", Running(now), Received(_, Running(of)) if of < now and site.config:
            return state, (asif.Note(asif.STALE),)
        case "master", Running(now), Received(_, Running() as written):
            return written._replace(execution=now), ()
        case "master", Running(last, number), Received(_, asif.Restarted()):
            restore = Restore(last + 1, number)
            return state._replace(execution=last + 1), (Send("member", restore),)
        case "master", Running(_, number), Received(_, Restore(of, wanted)):
            found = state._replace(execution=of) if number == wanted else Gone(of)
            return state, (Send("member", found),)
        case "sink", last, Received(_, Event((number,), body)):
            return max(number, last), (asif.Emit((0, body)),) if number > last else ()
        case _:  # events that come before a replay, or to a job that has failed
            return state, ()


GRAPH = asif.chain(("member", asif.Relay()))


def late(crashes: int) -> asif.Scope:
    return asif.over_words(GRAPH, 2, "a", crashes=crashes, disturbances=1)


REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
TWO = asif.Case("two events", late(1), REPEATABLE)
MORE = asif.Case("two events, two crashes", late(2), REPEATABLE)
TIMERS = {"snapshot": "From the first event after a snapshot to the next one."}
JET = asif.Family(
    "jet_2503",
    "Snapshots of a job, and a master that clears the old ones",
    "https://github.com/hazelcast/hazelcast-jet/pull/2503",
    asif.Behaviour(deploy, boot, step, recover, show=asif.show_stream, timers=TIMERS),
    must_occur=(asif.CRASHED, asif.DISTURBED),
)
REPORTED = JET.design("reported", False, (TWO.fails(502, 12, GAP),), claims=GAP)
SCOPES = (TWO.holds(475), MORE.holds(3_626))
OCCUR = asif.CRASHED, asif.DISTURBED, asif.REPLAYED, asif.STALE
PROTOCOL = JET.design(design=True, scopes=SCOPES, must_occur=OCCUR, variants=(REPORTED,))
