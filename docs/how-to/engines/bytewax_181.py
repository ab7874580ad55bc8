"""On resume, only the workers that have written progress are asked where to begin.

Bytewax #181, https://github.com/bytewax/bytewax/issues/181
Fixed in https://github.com/bytewax/bytewax/pull/193: each start of a cluster first writes how many
workers it has, so that a missing progress message is seen to be missing.
The cluster falls and resumes as one, at the lowest epoch that a worker has reached.  Event n of an
input is its epoch n.  A worker that crashed before its first write does not count, and skips the
epochs that the other one has done.  Results may come again, and none may be missing.
`asif check docs/how-to/engines/bytewax_181.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Emit, Event, Received, Replay, Role, Send, Site

WORKERS = ("one", "two")


class Progress(NamedTuple):
    """A worker has done this epoch; from the store: all workers resume after it."""

    epoch: int


def deploy(counts: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True)
    store = Site("store", Role.OPERATOR, None, WORKERS, (), counts)
    ends = (pair for name in WORKERS for pair in ((name, "store"), ("store", name)))
    return deployed._replace(
        sites=(*deployed.sites, store),
        channels=(*deployed.channels, *ends),
        together=(asif.Group(frozenset(WORKERS), alone=False),),
        prompt=frozenset({"sink", "store"}),
    )


def boot(site: Site) -> Any:
    """The state of a worker is its last epoch, the one of the store has those of all workers."""
    first = {Role.SOURCE: asif.QueueState(), Role.SINK: None}
    return first.get(site.role, (0, 0) if site.name == "store" else 0)


def recover(_site: Site, _durable: None) -> Answer:
    return None, (Send("store", asif.Restarted()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case Role.SINK, _, Received(worker, Event(_, body)):
            return state, (Emit((site.preds.index(worker), body)),)
        case _, (one, two), Received(worker, Progress(epoch)):
            return ((epoch, two) if worker == "one" else (one, epoch)), ()
        case _, (_, _), Received(worker, asif.Restarted()):
            known = state if site.config else [epoch for epoch in state if epoch]
            return state, (Send(worker, Progress(min(known, default=0))),)
        case _, int(last), Received(_, Event((epoch,)) as event) if epoch == last + 1:
            return epoch, (Send("sink", event), Send("store", Progress(epoch)))
        case _, None, Received("store", Progress(epoch)):
            return epoch, tuple(Send(source, Replay(epoch)) for source in site.preds)
        case _:  # events that come before a replay; its beginning
            return state, ()


SOURCES = (("left", asif.SOURCE), ("right", asif.SOURCE))
RELAYS = (("one", asif.Relay()), ("two", asif.Relay()))
EDGES = (("left", "one"), ("right", "two"), ("one", "sink"), ("two", "sink"))
GRAPH = asif.Graph((*SOURCES, *RELAYS, ("sink", asif.SINK)), EDGES)
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
REPEATING = asif.Guarantee.REPEATING
ONE = asif.Case("an event each", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
MORE = asif.Case("two crashes", asif.over_words(GRAPH, 1, "a", crashes=2), REPEATABLE)
BYTEWAX = asif.Family(
    "bytewax_181",
    "Two workers that resume at one epoch",
    "https://github.com/bytewax/bytewax/issues/181",
    asif.Behaviour(deploy, boot, step, recover, show=asif.show_stream),
    properties=(asif.NOTHING_LOST,),
    must_occur=(asif.CRASHED,),
)
REPORTED = BYTEWAX.design(
    "reported",
    False,
    (ONE.fails(907, 12, GAP),),
    "The worker that had written nothing skips the epochs that the other one had done.",
    claims=GAP,
)
PROTOCOL = BYTEWAX.design(
    design=True,
    scopes=(ONE.holds(843, REPEATING), MORE.holds(10_410, REPEATING)),
    claims=REPEATING,
    must_occur=(asif.CRASHED, asif.REPLAYED),
    variants=(REPORTED,),
)
