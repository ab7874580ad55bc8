"""A slow external system: a write takes effect later than the answer to a question.

A warehouse accepts rows and applies each of them some time later.  A loader that restarts asks how
many rows are applied, while a row of its past still waits, and sends this row again.  The fix is a
question that waits behind all rows that were accepted before it.
`asif check docs/how-to/slow_system.py` holds; its variant `eager` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Received, Replay, Role, Send, SetTimer, Site, TimerFired


class Applied(NamedTuple):
    """How many rows are applied?  The answer has the number."""

    rows: int = -1


class Warehouse(NamedTuple):
    """How many rows are applied, and the requests that wait."""

    applied: int = 0
    waiting: tuple[Event | Applied, ...] = ()


def deploy(waits: bool, scope: asif.Scope) -> asif.Deployment:
    """The warehouse is an ordinary site, and not prompt: its steps come when they like."""
    return asif.deploy_graph(scope.graph, replies=True, config=lambda _: waits)


def boot(site: Site) -> Any:
    first = {Role.SOURCE: asif.QueueState(), Role.OPERATOR: 0, Role.SINK: Warehouse()}
    return first[site.role]


def recover(_site: Site, _durable: None) -> Answer:
    return None, (Send("warehouse", Applied()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, int(last), Received(_, Event((n,)) as row) if n == last + 1:
            return n, (Send("warehouse", row),)
        case _, None, Received("warehouse", Applied(rows)):
            return rows, (Send("source", Replay(rows)),)
        case _, Warehouse(rows), Received(loader, Applied()) if not site.config:
            return state, (Send(loader, Applied(rows)),)
        case _, Warehouse(rows, waiting), Received(_, request):
            return Warehouse(rows, (*waiting, request)), (SetTimer("apply"),)
        case _, Warehouse(rows, (first, *rest)), TimerFired():
            more = (SetTimer("apply"),) if rest else ()
            if isinstance(first, Applied):
                return Warehouse(rows, (*rest,)), (Send("loader", Applied(rows)), *more)
            return Warehouse(rows + 1, (*rest,)), (asif.Emit((0, first.body)), *more)
        case _:  # rows that come before a replay; its beginning; an answer that comes again
            return state, ()


GRAPH = asif.chain(("loader", asif.Relay()), sink="warehouse")
REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
ONE = asif.Case("one row", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two rows, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
TIMERS = {"apply": "From a request to the moment at which the warehouse serves it."}
SLOW = asif.Family(
    "slow_system",
    "A warehouse that applies rows later",
    "an example",
    asif.Behaviour(deploy, boot, step, recover, show=asif.show_stream, timers=TIMERS),
    must_occur=(asif.CRASHED, asif.REPLAYED),
)
EAGER = SLOW.design("eager", False, (ONE.fails(55, 13, REPEATING),), claims=REPEATING)
PROTOCOL = SLOW.design(design=True, scopes=(ONE.holds(47), TWO.holds(986)), variants=(EAGER,))
