"""A secondary that holds the last checkpoint of its primary, takes over, and renews the failed one.

Passive standby (Hwang et al., Section 5.1), a precise form (Section 6), and three faults.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Guarantee, Mutant, Note, Received, Replay, Role, Send, Site


class Checkpoint(NamedTuple):  # a delta has None for what has not changed since the last one
    number: int | None = 0  # of the last input
    inner: asif.CepState | None = asif.CepState()
    outputs: asif.QueueState | None = asif.QueueState()  # those that the sink has not acknowledged


class Replica(NamedTuple):
    primary: bool
    copy: Checkpoint = Checkpoint()
    sent: Checkpoint = Checkpoint(None, None, None)  # the last checkpoint
    after: int = 0  # the sink has the outputs up to this one


def deploy(_design: None, scope: asif.Scope) -> asif.Deployment:
    source, first, sink = asif.deploy_graph(scope.graph).sites
    both = ((first.name, "standby"), ("standby", first.name))
    sites = (source, *(first._replace(name=name, config=other) for name, other in both), sink)
    ends = [(name, end.name) for name, _ in both for end in (source, sink)]
    channels = (*ends, *((end, name) for name, end in ends), *both)
    return asif.Deployment(sites, channels, frozenset(both[0]), watched=frozenset(both))


def boot(site: Site) -> Any:
    if site.role is Role.OPERATOR:
        return Replica(site.name != "standby")
    return (site.succs[0], asif.QueueState()) if site.role is Role.SOURCE else (site.preds[0], 0)


def recover(site: Site, _durable: None) -> Answer:
    return Replica(primary=False), (Send(site.config, asif.Restarted()),)


def step(site: Site, state: Any, input_: Any, variant: str = "") -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, (primary, queue), asif.Arrival():
            queue, effects = asif.produce(queue, input_, (primary,))
            return (primary, queue), effects
        case Role.SOURCE, (primary, queue), Received(_, asif.Trim(number)):
            queue, effects = asif.trim(queue, number)
            return (primary, queue), effects
        case Role.SOURCE, (_, queue), Received(primary, Replay() as request):
            queue, effects = asif.serve(queue, primary, request)
            return (primary, queue), effects
        case Role.SINK, (_, last), Received(primary, asif.Replayed()):
            return (primary, last), ()
        case Role.SINK, (_, last), Received(primary, asif.Restarted()):
            return (primary, last), (Send(primary, Replay(last)),)
        case Role.SINK, (primary, _), Received(sender, asif.Event((last,), body)) if (
            sender == primary
        ):
            return (primary, last), (asif.Emit((0, body)), Send(primary, asif.Trim(last)))
        case _, Replica(primary=True), Received(_, asif.Event((number,), body)):
            inner, (*_, produced, _) = asif.process(site.spec, state.copy.inner, body)
            place, now, kept = state.copy.outputs
            made = [asif.Event((n,), body) for n, (_, body) in enumerate(produced, place + 1)]
            queue = asif.QueueState(place + len(made), now, kept.extend(made))
            copy = Checkpoint(number, inner, queue)
            sends = [Send(site.succs[0], event) for event in made if event.sn[0] > state.after]
            sends += [Send(site.preds[0], asif.Trim(number))] if variant == "early" else []
            return state._replace(copy=copy), (*sends, asif.SetTimer("checkpoint"))
        case _, Replica(_, copy, sent), asif.TimerFired():
            delta = Checkpoint(*(None if a == b else a for a, b in zip(copy, sent, strict=True)))
            return state._replace(sent=copy), (Note(asif.CHECKPOINTED), Send(site.config, delta))
        case _, Replica(_, copy), Received(_, Checkpoint() as delta):
            copy = Checkpoint(*(b if a is None else a for a, b in zip(delta, copy, strict=True)))
            held, ack = state._replace(copy=copy), Send(site.preds[0], asif.Trim(copy.number))
            return held, (ack,)
        case _, Replica(_, copy), Received(_, asif.Trim(number)):
            outputs, effects = asif.trim(copy.outputs, number)
            return state._replace(copy=copy._replace(outputs=outputs)), effects
        case _, Replica(primary=False), Received(_, asif.Lost()) if variant == "precise":
            return state, (Send(site.succs[0], asif.Restarted()),)
        case _, Replica(primary=False), Received(_, asif.Lost()):
            return step(site, state, Received(site.succs[0], Replay(0)), variant)
        case _, Replica(_, copy), Received(sink, Replay(after) as request):
            _, sends = asif.serve(copy.outputs, sink, request)
            taken, ask = state._replace(primary=True, after=after), Send(site.preds[0], Replay(0))
            return taken, (*sends, ask)
        case _, Replica(), Received(other, asif.Restarted()) if (variant, other) != ("alone", "A"):
            sent = state.sent if variant == "delta" else Checkpoint(None, None, None)
            return state._replace(sent=sent), (asif.SetTimer("checkpoint"),)
        case _:  # the beginning of a replay, and what was from or for the failed node
            return state, ()


def ready(_scope: asif.Scope, seen: asif.Observation) -> bool:
    (_, queue), one, other, _ = (state for _, state in seen.states)
    return one.copy[:2] == other.copy[:2] and not queue.kept


EACH = asif.Function(lambda window: tuple((body,) for body in window))
PAIRS = asif.Operator(EACH, asif.CountWindows(2, 2))
SCOPE = asif.over_words(asif.chain(("A", PAIRS)), 2, "a", crashes=2)
GAP, REPEATING, REST = Guarantee.GAP, Guarantee.REPEATING, asif.When.QUIESCENT
READY = asif.Property("at rest, the secondary has all, and the source nothing", REST, ready, True)
REPEATS = asif.Property("at rest, outputs repeat", REST, lambda *x: asif.guarantee(*x) <= REPEATING)
TWO_CRASHES = asif.Case("two crashes", SCOPE, asif.OperatorClass.DETERMINISTIC)
BEHAVIOUR = asif.Behaviour(
    *(deploy, boot, step, recover),
    gauges=lambda _, one: asif.Gauges(progress=one.copy[0] if isinstance(one, Replica) else None),
    show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, asif.Event) else "",
    timers={"checkpoint": "From the first input after a checkpoint to the next checkpoint."},
    quantities=(asif.TRIMMED,),
)
STANDBY = asif.Family(
    "passive_standby",
    "A standby that holds checkpoints",
    "Hwang et al., Section 5.1",
    BEHAVIOUR,
    properties=(READY, REPEATS),
    assumes=asif.Assumptions(asif.Failures.SINGLE),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.CHECKPOINTED),
)


def variant(name: str, found: asif.PinnedScope, **more: Any) -> asif.Protocol:
    behaviour = replace(BEHAVIOUR, step=lambda *of: step(*of, name))
    return STANDBY.design(name, scopes=(found,), behaviour=behaviour, **more)


EXACT = variant("precise", TWO_CRASHES.holds(24_454), properties=(READY, asif.AS_IF, asif.COMPLETE))
FOUND = (("alone", 18_824, 10), ("delta", 51_349, 10), ("early", 140_647, 15))
FAULTS = (variant(name, TWO_CRASHES.fails(*found, GAP), claims=GAP) for name, *found in FOUND)
PROTOCOL = STANDBY.design(
    scopes=(TWO_CRASHES.holds(29_563, REPEATING),),
    claims=REPEATING,
    mutants=(
        Mutant("nothing is acknowledged", __name__, "return held, (ack,)", "return held, ()"),
        Mutant("nothing is stored", __name__, "return held, (ack,)", "return state, (ack,)"),
        Mutant("nobody is asked", __name__, "return taken, (*sends, ask)", "return taken, sends"),
        Mutant("the sink stays", __name__, "return (primary, last), ()", "return state, ()"),
    ),
    variants=(EXACT, *FAULTS),
)
