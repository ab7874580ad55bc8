"""A restarted sink asks for the newest timestamp before it fences the transactions of its past.

Materialize #9249, https://github.com/MaterializeInc/materialize/issues/9249
A transaction is on its way when the sink crashes.  The restarted sink reads the newest timestamp
that is committed; then the old transaction is committed; and the sink writes its results again.
The fix fences first: with a new producer of the same transactional id, the old one is refused.
`asif check docs/how-to/engines/materialize_9249.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Note, Received, Replay, Role, Send, Site


class Sinker(NamedTuple):
    """The epoch of its producer, its newest timestamp, its events: one under way, others wait."""

    epoch: int = 1
    stamp: int = 0
    waiting: tuple[Event, ...] = ()


class Transaction(NamedTuple):
    epoch: int
    event: Event


class Done(NamedTuple):
    """The transaction is committed, or refused if the epoch is another one."""

    epoch: int
    stamp: int


class Question(NamedTuple):
    """Of a restarted sinker, and the answer: a new epoch (`fence`) or the newest timestamp."""

    about: str
    answer: int = -1


def deploy(questions: tuple[str, str], scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: questions)
    # Two connections, the one before the crash and the one after it, in one channel.
    return deployed._replace(links={("sinker", "broker"): asif.Link(unordered=True)})


def boot(site: Site) -> Any:
    return {"source": asif.QueueState(), "sinker": Sinker(), "broker": Sinker()}[site.name]


def recover(site: Site, _durable: None) -> Answer:
    return (), (Send("broker", Question(site.config[0])),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case Role.SINK, Sinker(epoch, last), Received(_, Transaction(of, Event((stamp,), body))):
            if of < epoch:
                return state, (Note(asif.STALE), Send("sinker", Done(epoch, last)))
            done = Send("sinker", Done(epoch, stamp))
            return Sinker(epoch, max(stamp, last)), (asif.Emit((0, body)), done)
        case Role.SINK, Sinker(epoch, stamp), Received(_, Question(about)):
            fences = about == "fence"
            answer = Question(about, epoch + 1 if fences else stamp)
            return Sinker(epoch + fences, stamp), (Send("sinker", answer),)
        case _, Sinker(epoch), Received(_, Done(of)) if of > epoch:
            return state, (asif.Fail(),)  # fenced
        case _, Sinker(epoch, last, waiting), Received(_, Event((stamp,)) as event):
            if stamp != last + len(waiting) + 1:
                return state, ()
            return write(Sinker(epoch, last, (*waiting, event)), now=not waiting)
        case _, Sinker(now, _, (one, *rest)), Received(_, Done() as done) if done == (now, *one.sn):
            return write(Sinker(now, done.stamp, (*rest,)), now=bool(rest))
        case _, (), Received(_, Question(about) as known) if about == site.config[0]:
            return (known,), (Send("broker", Question(site.config[1])),)
        case _, (first,), Received(_, Question(about) as second) if about == site.config[1]:
            fence, newest = sorted((first, second))  # by their names
            sinker = Sinker(fence.answer, newest.answer)
            return sinker, (Send("source", Replay(newest.answer)),)
        case _:  # events that come before a replay; an old answer
            return state, ()


def write(sinker: Sinker, *, now: bool) -> Answer:
    """Begin the next transaction."""
    first = (Send("broker", Transaction(sinker.epoch, sinker.waiting[0])),) if now else ()
    return sinker, first


GRAPH = asif.chain(("sinker", asif.Relay()), sink="broker")


def late(length: int, crashes: int = 1) -> asif.Scope:  # one message may come late
    return asif.over_words(GRAPH, length, "a", crashes=crashes, disturbances=1)


REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
ONE = asif.Case("one event", late(1), REPEATABLE)
TWO = asif.Case("two events, two crashes", late(2, crashes=2), REPEATABLE)
SINKS = asif.Family(
    "materialize_9249",
    "A sink that reads where it stopped, and fences its past",
    "https://github.com/MaterializeInc/materialize/issues/9249",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=lambda value: getattr(value, "about", "") or asif.show_stream(value),
    ),
    must_occur=(asif.CRASHED, asif.REPLAYED),
)
FLAWED, FIXED = (ONE.fails(111, 15, REPEATING),), (ONE.holds(103), TWO.holds(2_847))
REPORTED = SINKS.design("reported", ("newest", "fence"), FLAWED, claims=REPEATING)
OCCUR = asif.CRASHED, asif.REPLAYED, asif.STALE
PROTOCOL = SINKS.design("", ("fence", "newest"), FIXED, must_occur=OCCUR, variants=(REPORTED,))
