"""The steps of a worker: consume, process, produce, commit; take over.

Rule of this file: no step of a broker, and no claim which choice is right.
"""

from __future__ import annotations

from model.boxes.box import Item
from model.core import (
    RESTORED,
    Effect,
    Input,
    Lost,
    NodeName,
    Note,
    Received,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.events import Event
from model.protocols.kafka_transactions.design import FirstRequest, OffsetCommit, ZombieFence
from model.protocols.kafka_transactions.messages import (
    AddPlace,
    EndTransaction,
    FetchPlace,
    InitProducer,
    InputPlace,
    JoinGroup,
    PlaceAdded,
    PlaceIs,
    ProduceRecord,
    ProducerFenced,
    ProducerReady,
    SetPlace,
    TransactionEnded,
    TransactionTag,
    WorkerPhase,
    WorkerState,
)
from model.queues import STALE_NOTE, Inlet, Replay, Replayed, Restarted, Trim

COMMIT = "commit"
COORDINATOR, GROUP, SUCCESSOR = "coordinator", "group", "successor"


def producer_of(site: Site) -> NodeName:
    """The transactional id of the worker."""
    shared = site.config.design.fence is ZombieFence.EPOCH
    return site.config.worker if shared else site.name


def begin(site: Site) -> WorkerState:
    """The worker runs from the beginning; its successor waits."""
    phase = WorkerPhase.IDLE if site.name == SUCCESSOR else WorkerPhase.RUNNING
    return WorkerState(phase, Inlet(), site.spec.begin(1))


def take_over(site: Site, state: WorkerState) -> Step:
    """Join the group, and end the transactions of the predecessor."""
    waiting = begin(site)._replace(phase=WorkerPhase.STARTING, tag=state.tag)
    return Step(waiting, (Send(GROUP, JoinGroup()), *_ask(site, waiting)))


def _ask(site: Site, state: WorkerState) -> tuple[Effect, ...]:
    """The request that the worker waits for the answer to; after a restart of the coordinator it
    makes this again."""
    match state.phase:
        case WorkerPhase.STARTING:
            early = site.config.design.first is FirstRequest.PLACE
            fetch = (Send(GROUP, FetchPlace()),) if early else ()
            return (*fetch, Send(COORDINATOR, InitProducer()))
        case WorkerPhase.ENDING:
            return (Send(COORDINATOR, EndTransaction(state.tag, state.commits)),)
        case _:
            return ()


def work(site: Site, state: WorkerState, input_: Input) -> Step:
    match state.phase, input_:
        case WorkerPhase.IDLE, Received(_, Lost()):
            return take_over(site, state)
        case WorkerPhase.IDLE, _:
            return Step(state)
        case _, Received(_, Restarted()):
            return Step(state, _ask(site, state))
        case (
            WorkerPhase.RUNNING | WorkerPhase.ADDING | WorkerPhase.ENDING,
            Received(_, Event() | Replayed() as message),
        ):
            return _consume(site, state, message)
        case _, Received(_, ProducerFenced()):
            return Step(state._replace(phase=WorkerPhase.IDLE))
        case _, Received(_, ProducerReady(epoch)) if epoch > state.tag.epoch:
            return _ready(site, state, epoch)
        case WorkerPhase.FETCHING, Received(_, PlaceIs(generation, at)):
            return _resume(site, state, generation, at)
        case WorkerPhase.STARTING, Received(_, PlaceIs(generation, at)):
            inlet = Inlet(at.place, request=Replay(at.place))
            return Step(state._replace(inlet=inlet, box=at.box, generation=generation))
        case WorkerPhase.RUNNING, TimerFired():
            return _commit(site, state)
        case WorkerPhase.ADDING, Received(_, PlaceAdded(tag, accepted)) if tag == state.tag:
            after = state._replace(phase=WorkerPhase.ENDING, commits=accepted)
            return Step(after, _ask(site, after))
        case WorkerPhase.ENDING, Received(_, TransactionEnded() as end) if end.tag == state.tag:
            return _ended(site, state, end)
        case _, Received() | TimerFired():
            return Step(state, (STALE_NOTE,) if isinstance(input_, Received) else ())
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


# --- consume, process, produce ---------------------------------------------------------------
def _consume(site: Site, state: WorkerState, message: Event | Replayed) -> Step:
    """Process an event, or hold it back while the transaction ends."""
    if isinstance(message, Replayed):
        return Step(state._replace(inlet=state.inlet.begin(message)))
    if not state.inlet.is_next(message):
        return Step(state, (STALE_NOTE,))
    inlet, held = state.inlet.take(message), (*state.held, message)
    return _process(site, state._replace(inlet=inlet, held=held))


def _process(site: Site, state: WorkerState) -> Step:
    """Process the events that are held, if the transaction is open."""
    if state.phase is not WorkerPhase.RUNNING or not state.held:
        return Step(state)
    box, writes = state.box, list[Effect]()
    for event in state.held:
        fed, *_ = site.spec.feed(box, Item(0, event.body))
        box = fed.state
        writes += (
            Send(site.succs[0], ProduceRecord(producer_of(site), state.tag.epoch, out))
            for out in fed.outs
        )
    return Step(state._replace(box=box, held=()), (*writes, SetTimer(COMMIT)))


# --- transactions ----------------------------------------------------------------------------
def _commit(site: Site, state: WorkerState) -> Step:
    """Send the place in the input to the group, and ask for the commit when it is there."""
    after = state._replace(phase=WorkerPhase.ADDING)
    if site.config.design.offsets is OffsetCommit.AFTER:
        after = state._replace(phase=WorkerPhase.ENDING, commits=True)
        return Step(after, _ask(site, after))
    at = InputPlace(state.place, state.box)
    add = AddPlace(producer_of(site), state.generation, state.tag, at)
    return Step(after, (Send(GROUP, add),))


def _ended(site: Site, state: WorkerState, end: TransactionEnded) -> Step:
    """Go on with the next transaction; after an abort from the place that is committed."""
    epoch, number = state.tag
    tag = TransactionTag(end.epoch, number + 1 if end.epoch == epoch else 1)
    state = state._replace(tag=tag)
    if not end.committed:
        return Step(_lost_place(state), (Send(GROUP, FetchPlace()),))
    effects: tuple[Effect, ...] = (Send(site.preds[0], Trim(state.place)),)
    if site.config.design.offsets is OffsetCommit.AFTER:
        effects = (Send(GROUP, SetPlace(InputPlace(state.place, state.box))), *effects)
    state, more = _process(site, state._replace(phase=WorkerPhase.RUNNING))
    return Step(state, (*effects, *more))


# --- takeovers -------------------------------------------------------------------------------
def _ready(site: Site, state: WorkerState, epoch: int) -> Step:
    """The worker has its epoch, and everything before it is settled."""
    early = site.config.design.first is FirstRequest.PLACE
    known = early and state.phase is WorkerPhase.STARTING and state.inlet.request is not None
    state = state._replace(tag=TransactionTag(epoch))
    if known:
        return _resume(site, state, state.generation, InputPlace(state.inlet.place, state.box))
    return Step(_lost_place(state), (Send(GROUP, FetchPlace()),))


def _lost_place(state: WorkerState) -> WorkerState:
    """The worker waits for the place that is committed."""
    return state._replace(phase=WorkerPhase.FETCHING, inlet=Inlet(), held=())


def _resume(site: Site, state: WorkerState, generation: int, at: InputPlace) -> Step:
    """Have the source send again the events after the place."""
    replay = Replay(at.place)
    after = state._replace(
        phase=WorkerPhase.RUNNING,
        inlet=Inlet(at.place, request=replay),
        box=at.box,
        generation=generation,
    )
    return Step(after, (Note(RESTORED), Send(site.preds[0], replay)))
