"""On resume, only the workers that have written progress are asked where to begin.

Bytewax #181, https://github.com/bytewax/bytewax/issues/181
Fixed in https://github.com/bytewax/bytewax/pull/193: each start of a cluster first writes how many
workers it has, so that a missing progress message is seen to be missing.
The cluster resumes at one epoch for all: the lowest that a worker has reached.  Event n of an input
is its epoch n.  A worker that crashed before its first write does not count, and skips the epochs
that the other one has done.  Results may come again, and none may be missing.
`asif check docs/how-to/engines/bytewax_181.py` holds; its variant `reported` is refuted.
"""

# Here the two workers are one node, since a cluster falls as one.

from __future__ import annotations

from typing import Any

import asif.protocol as asif
from asif.protocol import Answer, Emit, Event, Received, Replay, Role, Save, Send, Site

Progress = tuple[int, ...]  # of each worker: the last epoch that is done


def deploy(counts: bool, scope: asif.Scope) -> asif.Deployment:
    back = tuple(("cluster", name) for name in scope.graph.preds("cluster"))
    deployed = asif.deploy_graph(scope.graph, config=lambda _: counts)
    return deployed._replace(channels=(*deployed.channels, *back), prompt=frozenset({"sink"}))


def boot(site: Site) -> Any:
    first = {Role.SOURCE: asif.QueueState(), Role.OPERATOR: (0,) * len(site.preds)}
    return first.get(site.role)


def recover(site: Site, durable: Progress | None) -> Answer:
    written = durable or (0,) * len(site.preds)
    known = written if site.config else [epoch for epoch in written if epoch]
    resume = min(known, default=0)
    return (resume,) * len(written), tuple(Send(name, Replay(resume)) for name in site.preds)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, input_:
        case Role.SOURCE, _:
            return asif.log_source(site, state, input_)
        case Role.OPERATOR, Received(sender, Event((epoch,), _) as event):
            worker = site.preds.index(sender)
            if epoch != state[worker] + 1:
                return state, ()
            done = (*state[:worker], epoch, *state[worker + 1 :])
            return done, (Send("sink", event), Save(done))
        case Role.SINK, Received(_, Event(_, body)):
            return state, (Emit((0, body)),)
        case _:  # the beginning of a replay
            return state, ()


GRAPH = asif.Graph(
    (
        *(("left", asif.SOURCE), ("right", asif.SOURCE)),
        *(("cluster", asif.Union()), ("sink", asif.SINK)),
    ),
    (("left", "cluster"), ("right", "cluster"), ("cluster", "sink")),
)
ARBITRARY, GAP = asif.OperatorClass.ARBITRARY, asif.Guarantee.GAP
REPEATING = asif.Guarantee.REPEATING
ONE = asif.Case("an event each", asif.over_words(GRAPH, 1, "a"), ARBITRARY)
MORE = asif.Case("two crashes", asif.over_words(GRAPH, 1, "a", crashes=2), ARBITRARY)
BYTEWAX = asif.Family(
    "bytewax_181",
    "Two workers that resume at one epoch",
    "https://github.com/bytewax/bytewax/issues/181",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=asif.show_stream,
    ),
    properties=(asif.NOTHING_LOST,),
    must_occur=(asif.CRASHED,),
)
REPORTED = BYTEWAX.design(
    "reported",
    False,
    (ONE.fails(333, 9, GAP),),
    "The worker that had written nothing skips the epochs that the other one had done.",
    claims=GAP,
)
PROTOCOL = BYTEWAX.design(
    design=True,
    scopes=(ONE.holds(328, REPEATING), MORE.holds(2_664, REPEATING)),
    claims=REPEATING,
    must_occur=(asif.CRASHED, asif.REPLAYED),
    variants=(REPORTED,),
)
