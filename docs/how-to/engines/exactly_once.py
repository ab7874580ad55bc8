"""Consume, produce, commit: a TLA+ series about Kafka's exactly-once processing, step by step.

Qaiser, Modelling Exactly-Once Using TLA+ (parts 3 and 4),
https://medium.com/@fqaiser94/modelling-exactly-once-using-tla-9512e1eb8ca5 and
https://github.com/fqaiser94/tla-exactly-once
A process that produces and then commits its offset repeats after a restart (`apart`); in one
transaction it does not (`transaction`, whose states are the 5 of the published graph); two such
processes repeat without any fault (`zombies`); with a token for each start they do not.
`asif check docs/how-to/engines/exactly_once.py` holds, as does `transaction`; the others do not.
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
    """A process, its request, and the answer, which is its next state.

    pc: the next request (`acquire` a token, `consume`, `produce`, `commit`), or `done` or `fenced`.
    """

    pc: str
    buffer: Event | None = None


class Broker(NamedTuple):
    """The input topic, the committed offset, the last token and the one of each process."""

    topic: tuple[Event, ...] = ()
    offset: int = 0
    token: int = 0
    tokens: frozenset[tuple[str, int]] = frozenset()


def deploy(design: Design, scope: asif.Scope) -> asif.Deployment:
    source, one, broker = asif.deploy_graph(scope.graph, config=lambda _: design).sites
    names = design.processes
    processes = (one._replace(name=name, preds=(), timers=("next",)) for name in names)
    ends = (pair for name in names for pair in ((name, "broker"), ("broker", name)))
    return asif.Deployment(
        (source._replace(succs=("broker",)), *processes, broker._replace(preds=names)),
        (("source", "broker"), *ends),
        frozenset(names),
        prompt=frozenset({"broker"}),
    )


def boot(site: Site) -> Any:
    if site.role is Role.OPERATOR:
        return Process("acquire" if site.config.fenced else "consume")
    return asif.QueueState() if site.role is Role.SOURCE else Broker()


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, input_:
        case Role.SOURCE, _:
            return asif.log_source(site, state, input_)
        case Role.OPERATOR, TimerFired():
            return state, (Send("broker", state),)
        case Role.OPERATOR, Received(_, Process("wake")):
            woken = state.pc == "done"
            return (Process("consume"), (asif.SetTimer("next"),)) if woken else (state, ())
        case Role.OPERATOR, Received(_, Process(pc) as after):
            return after, () if pc in ("done", "fenced") else (asif.SetTimer("next"),)
        case Role.SINK, Received("source", Event() as event):
            wakes = tuple(Send(name, Process("wake")) for name in site.preds)
            return state._replace(topic=(*state.topic, event)), wakes
        case _:
            after, reply, *results = answer(site.config, state, *input_)
            return after, (*results, Send(input_.sender, reply))


def answer(design: Design, state: Broker, process: str, request: Process) -> tuple[Any, ...]:
    """The broker after a request, its reply, and a result: all of it is one transaction."""
    match request:
        case Process("acquire"):
            others = (one for one in state.tokens if one[0] != process)
            tokens = frozenset({*others, (process, state.token + 1)})
            return state._replace(token=state.token + 1, tokens=tokens), Process("consume")
        case Process("consume"):
            rest = state.topic[state.offset :]
            return state, Process("produce", rest[0]) if rest else Process("done")
        case Process("produce", event) if design.fenced and (
            (process, state.token) not in state.tokens
        ):
            return state, Process("fenced", event)
        case Process("produce", Event((number,), body) as event):
            after = state._replace(offset=number) if design.together else state
            reply = Process("consume" if design.together else "commit", event)
            return after, reply, asif.Emit((0, body))
        case Process(_, Event((number,)) as event):
            return state._replace(offset=number), Process("consume", event)
        case _:
            raise TypeError(f"no event in {request}")


GRAPH = asif.chain(("one", asif.Relay()), sink="broker")
REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
NONE = asif.Case("one event, no fault", asif.over_words(GRAPH, 1, "a", crashes=0), REPEATABLE)
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
KAFKA = asif.Family(
    "exactly_once",
    "Consume, produce, commit",
    "https://github.com/fqaiser94/tla-exactly-once",
    asif.Behaviour(
        *(deploy, boot, step),
        show=lambda value: getattr(value, "pc", "") or asif.show_stream(value),
        timers={"next": "Until a process takes its next step."},
    ),
)
ALONE, APART = Design(("one",), fenced=False), Design(("one",), together=False, fenced=False)
FREE, CRASH = (NONE.fails(153, 9, REPEATING),), (ONE.fails(47, 10, REPEATING),)
VARIANTS = (
    KAFKA.design("zombies", Design(fenced=False), FREE, claims=REPEATING),
    KAFKA.design("apart", APART, CRASH, claims=REPEATING),
    KAFKA.design("transaction", ALONE, (ONE.holds(33), TWO.holds(152))),
)
FIXED = NONE.holds(479), ONE.holds(2_294), TWO.holds(quick=False)
PROTOCOL = KAFKA.design("", Design(), FIXED, must_occur=(asif.CRASHED,), variants=VARIANTS)
