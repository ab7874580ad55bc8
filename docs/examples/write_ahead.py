"""A write-ahead log, and the order of its two writes: the log, and the results.

The node logs each event that it takes, and a restarted one runs its operator on the log again.  It
sends results before it has written the log; the variant `flushed` sends them after that.

`asif check docs/examples/write_ahead.py` holds: a filter gives the same results again.
`asif check docs/examples/write_ahead.py --operators all` refutes it over two sources that race.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from asif.protocol import (
    CRASHED,
    DISCARDED,
    REPLAYED,
    Answer,
    Arrival,
    Behaviour,
    Body,
    Case,
    Deployment,
    Emit,
    Event,
    Family,
    Filter,
    Gauges,
    Input,
    Invalid,
    Item,
    Note,
    OperatorClass,
    Received,
    Role,
    Save,
    Scope,
    Send,
    Site,
    Type,
    chain,
    deploy_graph,
    over_words,
)

# States.  Source: all its events.  Node: all items that it took, in order: the log.  Sink: the
# number of its last result.


class Result(NamedTuple):
    number: int
    body: Body


class Hello(NamedTuple):
    """The node has restarted, and this is the number of events of this source in its log."""

    logged: int


class Write(NamedTuple):
    """The design: is the log written before the results are sent?"""

    first: bool = False


def deploy(design: Write, scope: Scope) -> Deployment:
    deployment = deploy_graph(scope.graph, replies=True, config=lambda _: design)
    if len(deployment.crashable) != 1:
        raise Invalid("write_ahead: the graph must have one operator")
    return deployment


def boot(site: Site) -> Any:
    return 0 if site.role is Role.SINK else ()


def recover(site: Site, durable: tuple[Item, ...] | None) -> Answer:
    log = durable or ()
    hellos = (Send(pred, Hello(taken(log, edge))) for edge, pred in enumerate(site.preds))
    again = (Send(site.succs[0], result) for result in results(site, log))
    return log, (*hellos, *again)


def step(site: Site, state: Any, input_: Input) -> Answer:
    match site.role, input_:
        case Role.SOURCE, Arrival(gap, type_, data):
            now = gap + (state[-1].body.time if state else 0)
            event = Event((len(state) + 1,), Body(now, type_, data))
            return (*state, event), (Send(site.succs[0], event),)
        case Role.SOURCE, Received(_, Hello(logged)):
            again = tuple(Send(site.succs[0], event) for event in state[logged:])
            return state, (Note(REPLAYED, len(again)), *again)
        case Role.OPERATOR, Received(sender, Event((number,), body)):
            return take(site, state, number, Item(site.preds.index(sender), body))
        case Role.SINK, Received(_, Result(number, body)) if number == state + 1:
            return number, (Emit((0, body)),)
        case _:  # the sink has it, or will be sent all before it
            return state, (Note(DISCARDED),)


def take(site: Site, log: tuple[Item, ...], number: int, item: Item) -> Answer:
    if number != taken(log, item.edge) + 1:  # the replay brings it, or brought it
        return log, (Note(DISCARDED),)
    before, log = len(results(site, log)), (*log, item)
    sends = tuple(Send(site.succs[0], result) for result in results(site, log)[before:])
    return log, (Save(log), *sends) if site.config.first else (*sends, Save(log))


def taken(log: tuple[Item, ...], edge: int) -> int:
    return sum(item.edge == edge for item in log)


def results(site: Site, log: tuple[Item, ...]) -> tuple[Result, ...]:
    """All results of the operator, from its beginning on."""
    state, outs = site.spec.begin(len(site.preds)), []
    for item in log:
        fed, *_ = site.spec.feed(state, item)
        state, outs = fed.state, [*outs, *fed.outs]
    return tuple(Result(number, out.body) for number, out in enumerate(outs, 1))


def gauges(site: Site, state: Any) -> Gauges:
    return Gauges(buffered=len(state) if site.role is Role.SOURCE else 0)


def show(value: Any) -> str:
    match value:
        case Event((number,), body):
            return f"{body.type}{number}"
        case Result(number, body):
            return f"result {number}: {body.type}"
        case Hello(logged):
            return f"Hello, {logged} logged"
        case (Item(), *_):
            return f"log {' '.join(body.type for _, body, _ in value)}"
        case _:
            return ""


GRAPH = chain(("node", Filter(Type("a"))))
TWO = Case("two crashes", over_words(GRAPH, 2, crashes=2), OperatorClass.REPEATABLE)
FAMILY = Family(
    "write_ahead",
    "A write-ahead log",
    "docs/tutorial/add-a-protocol.md",
    Behaviour(deploy, boot, step, recover, gauges=gauges, show=show),
    must_occur=(CRASHED, REPLAYED, DISCARDED),
)
FLUSHED = FAMILY.design("flushed", Write(first=True), scopes=(TWO.holds(1_120),))
PROTOCOL = FAMILY.design(
    design=Write(),
    scopes=(TWO.holds(1_340),),
    finding="Results that no log can give again may not leave before the log is written.",
    variants=(FLUSHED,),
)
