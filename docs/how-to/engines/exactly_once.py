"""Consume, produce, commit: a TLA+ series about Kafka's exactly-once processing, step by step.

Qaiser, Modelling Exactly-Once Using TLA+ (parts 3 and 4),
https://medium.com/@fqaiser94/modelling-exactly-once-using-tla-9512e1eb8ca5 and
https://github.com/fqaiser94/tla-exactly-once
A process that produces and then commits its offset repeats after a restart (`apart`); in one
transaction it does not (`transaction`, whose states are the 5 of the published graph); two such
processes repeat without any fault (`zombies`); with a token for each start they do not.
`asif check docs/how-to/engines/exactly_once.py` holds, as does `transaction`; the others are
refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Received, Role, Send, Site, TimerFired


class Design(NamedTuple):
    processes: tuple[str, ...] = ("one", "two")
    together: bool = True  # produce and commit in one transaction
    fenced: bool = True


class Process(NamedTuple):
    """pc: the request that it sends next, or `done` or `fenced`.  buffer: what it has consumed."""

    pc: str
    buffer: Event | None = None


class Broker(NamedTuple):
    """The input topic, the committed offset, the last token and the one of each process."""

    topic: tuple[Event, ...] = ()
    offset: int = 0
    token: int = 0
    tokens: frozenset[tuple[str, int]] = frozenset()


class Request(NamedTuple):
    """`acquire` a token, `consume`, `produce`, `commit` the offset of this event."""

    kind: str
    event: Event | None


class Reply(NamedTuple):
    """The next `pc` of a process, and what it has consumed."""

    pc: str
    buffer: Event | None = None


def deploy(design: Design, scope: asif.Scope) -> asif.Deployment:
    source, one, broker = asif.deploy_graph(scope.graph, config=lambda _: design).sites
    source, broker = source._replace(succs=("broker",)), broker._replace(preds=design.processes)
    processes = tuple(
        one._replace(name=name, preds=(), succs=("broker",), timers=("next",))
        for name in design.processes
    )
    ends = tuple(pair for name in design.processes for pair in ((name, "broker"), ("broker", name)))
    return asif.Deployment(
        *((source, *processes, broker), (("source", "broker"), *ends)),
        *(frozenset(design.processes),),
        prompt=frozenset({"broker"}),
    )


def boot(site: Site) -> Any:
    if site.role is Role.OPERATOR:
        return Process("acquire" if site.config.fenced else "consume")
    return asif.QueueState() if site.role is Role.SOURCE else Broker()


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, input_:
        case Role.SOURCE, _:
            return asif.produce(state, input_, site.succs)
        case Role.OPERATOR, TimerFired():
            return state, (Send("broker", Request(state.pc, state.buffer)),)
        case Role.OPERATOR, Received(_, Reply("wake")):
            woken = state.pc == "done"
            return (Process("consume"), (asif.SetTimer("next"),)) if woken else (state, ())
        case Role.OPERATOR, Received(_, Reply(pc, buffer)):
            return Process(pc, buffer), () if pc in ("done", "fenced") else (asif.SetTimer("next"),)
        case Role.SINK, Received("source", Event() as event):
            wakes = tuple(Send(name, Reply("wake")) for name in site.preds)
            return state._replace(topic=(*state.topic, event)), wakes
        case _, Received(process, Request(kind, event)):
            return answer(site.config, state, process, kind, event)
        case _:
            raise TypeError(f"nothing to do with {input_}")


def answer(design: Design, state: Broker, process: str, kind: str, event: Event | None) -> Answer:
    """The broker's answer to a request: all of it is one transaction."""
    match kind, event:
        case "acquire", _:
            token = state.token + 1
            others = {one for one in state.tokens if one[0] != process}
            granted = state._replace(token=token, tokens=frozenset({*others, (process, token)}))
            return granted, (Send(process, Reply("consume")),)
        case "consume", _ if state.offset == len(state.topic):
            return state, (Send(process, Reply("done")),)
        case "consume", _:
            return state, (Send(process, Reply("produce", state.topic[state.offset])),)
        case "produce", Event() if design.fenced and (process, state.token) not in state.tokens:
            return state, (Send(process, Reply("fenced", event)),)
        case "produce", Event((number,), body):
            after = state._replace(offset=number) if design.together else state
            reply = Reply("consume" if design.together else "commit", event)
            return after, (asif.Emit((0, body)), Send(process, reply))
        case _, Event((number,), _):
            return state._replace(offset=number), (Send(process, Reply("consume", event)),)
        case _:
            raise TypeError(f"no event to {kind}")


GRAPH = asif.chain(("one", asif.Relay()), sink="broker")
REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
NONE = asif.Case("one event, no fault", asif.over_words(GRAPH, 1, "a", crashes=0), REPEATABLE)
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
ALONE = ("one",)
KAFKA = asif.Family(
    "exactly_once",
    "Consume, produce, commit",
    "https://github.com/fqaiser94/tla-exactly-once",
    asif.Behaviour(
        *(deploy, boot, step),
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
        timers={"next": "Until a process takes its next step."},
    ),
)
VARIANTS = (
    KAFKA.design(
        "zombies", Design(fenced=False), (NONE.fails(153, 9, REPEATING),), claims=REPEATING
    ),
    KAFKA.design(
        "apart",
        Design(ALONE, together=False, fenced=False),
        (ONE.fails(47, 10, REPEATING),),
        claims=REPEATING,
    ),
    KAFKA.design("transaction", Design(ALONE, fenced=False), (ONE.holds(33), TWO.holds(152))),
)
PROTOCOL = KAFKA.design(
    design=Design(),
    scopes=(NONE.holds(479), ONE.holds(2_294), TWO.holds(quick=False)),
    must_occur=(asif.CRASHED,),
    variants=VARIANTS,
)
