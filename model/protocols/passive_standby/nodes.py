"""The nodes of passive standby: a replayable source, process pairs, a sink.

Rule of this file: no claim which choice is right (model.protocols.passive_standby.variants).

Theory of operation (Hwang et al., Section 5.1; process pairs: model.standbys):

1. The primary processes tuples.  The secondary processes none: it holds a copy of the primary's
   state as of the last checkpoint.
2. A checkpoint begins when a timer runs out, which is set while the state has changed.
3. A sweep line passes the operators of the node, one with each timer.  The state of an operator is
   copied when the line passes it; the position in the input is copied first.
4. A tuple that an operator behind the line makes waits before the next operator until the line has
   passed this one, too (`Line.BARRED`).
5. The checkpoint message has the operators that have changed since the last checkpoint, and the
   outputs since then.  A new secondary gets the complete state.
6. The secondary applies the message, and acknowledges to upstream the tuples that its copy
   includes.  Upstream keeps all tuples after these.
7. When the secondary receives `Lost`, it presents itself downstream and sends the outputs of its
   queue.  It asks upstream for the tuples that are kept there, and processes them again.
8. Section 6, precise recovery: the new primary asks its readers for the last tuples that they have,
   and sends what comes after these.
9. Section 6, arbitrary networks: a primary sends only outputs that its secondary has.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.boxes.box import Item
from model.core import (
    Answer,
    Deployment,
    Effect,
    Input,
    NodeName,
    Note,
    Observation,
    Received,
    Role,
    Scope,
    Send,
    SetTimer,
    Site,
    Step,
)
from model.costs import Amount, Gauges, Memory
from model.parts import contents, open_windows
from model.protocols.passive_standby.checkpoints import CHECKPOINT, renew, stop_line, store, sweep
from model.protocols.passive_standby.design import PassiveStandbyDesign, Releases
from model.protocols.passive_standby.messages import (
    LOST_COPY,
    Checkpoint,
    Copy,
    Primary,
    Secondary,
    Spare,
    State,
    Stored,
)
from model.protocols.passive_standby.stages import empty, release, run
from model.standbys import consumers, deployment, ends, producers, replicas
from model.standbys.choices import Again
from model.standbys.consumers import ACKNOWLEDGE
from model.standbys.messages import REJOINED, Output, Rejoined

TIMERS = {
    CHECKPOINT: "From the first change that no checkpoint has to the next step of the sweep line.",
    ACKNOWLEDGE: "From a tuple to the acknowledgement of a sink.",
}


def deploy(design: PassiveStandbyDesign, scope: Scope) -> Deployment:
    return deployment.deploy("passive-standby", design, scope)


def boot(site: Site) -> State:
    if site.role is not Role.OPERATOR:
        return ends.boot(site)
    copy = empty(site)
    if site.config.second:
        return Secondary(copy)
    spare = Spare.READY if site.config.other else Spare.NONE
    return Primary(*copy, spare, (copy.stages, 0))


def recover(site: Site, _durable: None) -> Answer:
    """Come back as the secondary of the other replica."""
    return Secondary(None), (Note(REJOINED), Send(site.config.other, Rejoined()))


def step(site: Site, state: State, input_: Input) -> Answer:
    if isinstance(state, Primary):
        return replicas.lead(PRIMARY, site, state, input_)
    if isinstance(state, Secondary):
        return replicas.follow(site, state, input_, _take_over, _follow)
    return ends.step(site, state, input_)


# --- a primary -------------------------------------------------------------------------------
def _process(site: Site, state: Primary, sender: NodeName, output: Output) -> Answer:
    edge, design = deployment.edge_of(site, sender), site.config.design
    inlet, known = consumers.receive(design.late, state.inlets[edge], sender, output)
    if known is not None:
        return Step(state, known)
    after = consumers.set_inlet(state, edge, inlet)
    after, effects = run(site, after, 0, Item(edge, output.body, output.of))
    after, sends = release(site, after)
    if design.releases is Releases.PROCESSED or not site.config.other:
        sends = (*sends, SetTimer(ACKNOWLEDGE))
    return _end(site, state, after, (*effects, *sends))


def _fire(site: Site, state: Primary, timer: str) -> Answer:
    if timer == CHECKPOINT:
        return sweep(site, state)
    return Step(state, consumers.acknowledge(state.inlets))


def _resume(site: Site, state: Primary, sender: NodeName, place: int) -> Answer:
    return replicas.resume(release, site, state, sender, place)


def _go_on_alone(site: Site, state: Primary) -> Answer:
    return Step(*stop_line(site, state._replace(spare=Spare.NONE)))


def _lead(site: Site, state: Primary, input_: Input) -> Answer:
    match input_:
        case Received(_, Stored(number)):
            return Step(*release(site, state._replace(safe=max(state.safe, number))))
        case Received(_, Checkpoint()):
            return replicas.stale(state)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _end(
    _site: Site,
    before: Primary,
    after: Primary,
    effects: tuple[Effect, ...],
    _received: Received | None = None,
) -> Answer:
    """The step, with the timer of the next checkpoint if something has changed."""
    if after.spare is not Spare.NONE and after != before:
        effects = (*effects, SetTimer(CHECKPOINT))
    return Step(after, effects)


PRIMARY = replicas.Conduct(
    process=_process,
    fired=_fire,
    resume=_resume,
    renew=renew,
    alone=_go_on_alone,
    own=_lead,
    recover=recover,
    begun=_end,
    heard=_end,
    connected=_end,
)


# --- a secondary -----------------------------------------------------------------------------
def _follow(site: Site, state: Secondary, received: Received) -> Answer:
    if isinstance(received.message, Checkpoint):
        return store(site, state, received.message)
    return replicas.stale(state)


def _take_over(site: Site, state: Secondary) -> Answer:
    """Become the primary: go on from the last checkpoint."""
    again = site.config.design.again
    inlets, stages, queue = state.copy or empty(site)
    effects = replicas.succeed(site, *(() if state.copy else (Note(LOST_COPY),)))
    asks, start = again is not Again.ALL, queue.place - len(queue.kept)
    queue = producers.ask(queue) if asks else queue
    forwarded = start if asks else queue.place
    shipped = (stages, queue.place)
    primary = Primary(inlets, stages, queue, Spare.NONE, shipped, queue.place, forwarded)
    effects += replicas.present(again, queue, start, queue.kept)
    effects += consumers.request(site)
    return Step(primary, tuple(effects))


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    match state:
        case Primary(inlets, stages, queue):
            windows = [open_windows(stage.inner) for stage in stages]
            known = [count for count in windows if count is not None]
            places = tuple((inlet.connection, inlet.place) for inlet in inlets)
            return Gauges(len(queue.kept), sum(known) if known else None, places)
        case Secondary():
            return Gauges(0)
        case _:
            return ends.gauges(state)


def memory(_site: Site, state: State) -> Memory:
    match state:
        case Primary(_, stages, queue):
            return Memory(Amount(len(queue.kept)), state=contents(tuple(s.inner for s in stages)))
        case Secondary(Copy(_, stages, queue)):
            events, items = contents(tuple(stage.inner for stage in stages))
            return Memory(savepoints=Amount(events + len(queue.kept), items))
        case Secondary():
            return Memory()
        case _:
            return ends.memory(state)


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: nothing, since the secondaries have everything."""
    return dict.fromkeys((name for name, _ in scope.graph.nodes), 0)
