"""A secondary that holds the last checkpoint of its primary, takes over, and renews the failed one.

Passive standby (Hwang et al., Section 5.1), a precise form (Section 6), and three faults.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from asif.protocol import (
    AS_IF,
    CHECKPOINTED,
    COMPLETE,
    CRASHED,
    REPLAYED,
    TRIMMED,
    Answer,
    Arrival,
    Assumptions,
    Behaviour,
    Case,
    CepState,
    CountWindows,
    Deployment,
    Emit,
    Event,
    Failures,
    Family,
    Function,
    Gauges,
    Guarantee,
    Lost,
    Mutant,
    Note,
    Observation,
    Operator,
    OperatorClass,
    PinnedScope,
    Property,
    Protocol,
    QueueState,
    Received,
    Replay,
    Replayed,
    Restarted,
    Role,
    Scope,
    Send,
    SetTimer,
    Site,
    TimerFired,
    Trim,
    When,
    chain,
    deploy_graph,
    guarantee,
    over_words,
    process,
    produce,
    serve,
    trim,
)


class Checkpoint(NamedTuple):  # a delta has None for what has not changed since the last one
    number: int | None = 0  # of the last input
    inner: CepState | None = CepState()
    outputs: QueueState | None = QueueState()  # those that the sink has not acknowledged


class Replica(NamedTuple):
    primary: bool
    copy: Checkpoint = Checkpoint()
    sent: Checkpoint = Checkpoint(None, None, None)  # the last checkpoint
    after: int = 0  # the sink has the outputs up to this one


def deploy(_design: None, scope: Scope) -> Deployment:
    source, first, sink = deploy_graph(scope.graph).sites
    both = ((first.name, "standby"), ("standby", first.name))
    sites = (source, *(first._replace(name=name, config=other) for name, other in both), sink)
    ends = [(name, end.name) for name, _ in both for end in (source, sink)]
    channels = (*ends, *((end, name) for name, end in ends), *both)
    return Deployment(sites, channels, frozenset(both[0]), watched=frozenset(both))


def boot(site: Site) -> Any:
    if site.role is Role.OPERATOR:
        return Replica(site.name != "standby")
    return (site.succs[0], QueueState()) if site.role is Role.SOURCE else (site.preds[0], 0)


def recover(site: Site, _durable: None) -> Answer:
    return Replica(primary=False), (Send(site.config, Restarted()),)


def step(site: Site, state: Any, input_: Any, variant: str = "") -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, (primary, queue), Arrival():
            queue, effects = produce(queue, input_, (primary,))
            return (primary, queue), effects
        case Role.SOURCE, (primary, queue), Received(_, Trim(number)):
            queue, effects = trim(queue, number)
            return (primary, queue), effects
        case Role.SOURCE, (_, queue), Received(primary, Replay() as request):
            queue, effects = serve(queue, primary, request)
            return (primary, queue), effects
        case Role.SINK, (_, last), Received(primary, Replayed()):
            return (primary, last), ()
        case Role.SINK, (_, last), Received(primary, Restarted()):
            return (primary, last), (Send(primary, Replay(last)),)
        case Role.SINK, (primary, _), Received(sender, Event((last,), body)) if sender == primary:
            return (primary, last), (Emit((0, body)), Send(primary, Trim(last)))
        case _, Replica(primary=True), Received(_, Event((number,), body)):
            inner, (*_, produced, _) = process(site.spec, state.copy.inner, body)
            place, now, kept = state.copy.outputs
            made = [Event((n,), body) for n, (_, body) in enumerate(produced, place + 1)]
            copy = Checkpoint(number, inner, QueueState(place + len(made), now, kept.extend(made)))
            sends = [Send(site.succs[0], event) for event in made if event.sn[0] > state.after]
            sends += [Send(site.preds[0], Trim(number))] if variant == "early" else []
            return state._replace(copy=copy), (*sends, SetTimer("checkpoint"))
        case _, Replica(_, copy, sent), TimerFired():
            delta = Checkpoint(*(None if a == b else a for a, b in zip(copy, sent, strict=True)))
            return state._replace(sent=copy), (Note(CHECKPOINTED), Send(site.config, delta))
        case _, Replica(_, copy), Received(_, Checkpoint() as delta):
            copy = Checkpoint(*(b if a is None else a for a, b in zip(delta, copy, strict=True)))
            held, ack = state._replace(copy=copy), Send(site.preds[0], Trim(copy.number))
            return held, (ack,)
        case _, Replica(_, copy), Received(_, Trim(number)):
            outputs, effects = trim(copy.outputs, number)
            return state._replace(copy=copy._replace(outputs=outputs)), effects
        case _, Replica(primary=False), Received(_, Lost()) if variant == "precise":
            return state, (Send(site.succs[0], Restarted()),)
        case _, Replica(primary=False), Received(_, Lost()):
            return step(site, state, Received(site.succs[0], Replay(0)), variant)
        case _, Replica(_, copy), Received(sink, Replay(after) as request):
            _, sends = serve(copy.outputs, sink, request)
            taken, ask = state._replace(primary=True, after=after), Send(site.preds[0], Replay(0))
            return taken, (*sends, ask)
        case _, Replica(), Received(other, Restarted()) if (variant, other) != ("alone", "A"):
            sent = state.sent if variant == "delta" else Checkpoint(None, None, None)
            return state._replace(sent=sent), (SetTimer("checkpoint"),)
        case _:  # the beginning of a replay, and what was from or for the failed node
            return state, ()


def ready(_scope: Scope, seen: Observation) -> bool:
    (_, queue), one, other, _ = (state for _, state in seen.states)
    return one.copy[:2] == other.copy[:2] and not queue.kept


PAIRS = Operator(Function(lambda window: tuple((body,) for body in window)), CountWindows(2, 2))
SCOPE = over_words(chain(("A", PAIRS)), 2, "a", crashes=2)
CLASS, REST = OperatorClass.DETERMINISTIC, When.QUIESCENT
GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
READY = Property("at rest, the secondary has all, and the source nothing", REST, ready, True)
REPEATS = Property("at rest, outputs repeat", REST, lambda *of: guarantee(*of) <= REPEATING)
TWO_CRASHES = Case("two crashes", SCOPE, CLASS)
BEHAVIOUR = Behaviour(
    deploy,
    boot,
    step,
    recover,
    gauges=lambda _, one: Gauges(progress=one.copy[0] if isinstance(one, Replica) else None),
    show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
    timers={"checkpoint": "From the first input after a checkpoint to the next checkpoint."},
    quantities=(TRIMMED,),
)
STANDBY = Family(
    "passive_standby",
    "A standby that holds checkpoints",
    "Hwang et al., Section 5.1",
    BEHAVIOUR,
    properties=(READY, REPEATS),
    assumes=Assumptions(Failures.SINGLE),
    must_occur=(CRASHED, REPLAYED, CHECKPOINTED),
)
MUTANTS = (
    Mutant("nothing is acknowledged", __name__, "return held, (ack,)", "return held, ()"),
    Mutant("nothing is stored", __name__, "return held, (ack,)", "return state, (ack,)"),
    Mutant("nobody is asked", __name__, "return taken, (*sends, ask)", "return taken, sends"),
    Mutant("the sink stays", __name__, "return (primary, last), ()", "return state, ()"),
)


def variant(name: str, found: PinnedScope, **more: Any) -> Protocol:
    behaviour = replace(BEHAVIOUR, step=lambda *of: step(*of, name))
    return STANDBY.design(name, scopes=(found,), behaviour=behaviour, **more)


EXACT = variant("precise", TWO_CRASHES.holds(24_454), properties=(READY, AS_IF, COMPLETE))
FAULTS = (
    variant("alone", TWO_CRASHES.fails(18_824, 10, GAP), claims=GAP),
    variant("delta", TWO_CRASHES.fails(51_349, 10, GAP), claims=GAP),
    variant("early", TWO_CRASHES.fails(140_647, 15, GAP), claims=GAP),
)
PROTOCOL = STANDBY.design(
    scopes=(TWO_CRASHES.holds(29_563, REPEATING),),
    claims=REPEATING,
    mutants=MUTANTS,
    variants=(EXACT, *FAULTS),
)
