"""The steps of the brokers that keep the results and the places in the input.

Rule of this file: no step of a worker or of the transaction coordinator.  Both are prompt: each
message is written at once, and no crash loses it.
"""

from __future__ import annotations

from typing import TypeVar

from model.core import Effect, Emit, Input, NodeName, Note, Received, Send, Site, Step
from model.protocols.kafka_transactions.design import OffsetCommit, ReaderView, ZombieFence
from model.protocols.kafka_transactions.messages import (
    ABORT_MARKED,
    COMMIT_MARKED,
    REQUEST_REFUSED,
    AddPlace,
    EndMarker,
    FetchPlace,
    GroupState,
    JoinGroup,
    PartitionRecord,
    PlaceAdded,
    PlaceIs,
    ProduceRecord,
    ProducerFenced,
    ResultPartition,
    SetPlace,
)

T = TypeVar("T")


# --- results ---------------------------------------------------------------------------------
def keep(site: Site, state: ResultPartition, input_: Input) -> Step:
    design = site.config.design
    match input_:
        case Received(_, ProduceRecord(producer, epoch, out)):
            if design.checks and epoch < dict(state.epochs).get(producer, 1):
                return Step(state, (Note(REQUEST_REFUSED),))
            shown = design.reads is ReaderView.UNCOMMITTED
            emits: tuple[Effect, ...] = (Emit((0, out.body), out.of),) if shown else ()
            records = (*state.records, PartitionRecord(producer, out))
            return Step(state._replace(records=records), emits)
        case Received(_, EndMarker(producer, epoch, commits)):
            records = tuple(
                one if one.producer != producer or one.committed else one._replace(committed=True)
                for one in state.records
                if one.producer != producer or one.committed or commits
            )
            epochs = _put(state.epochs, producer, epoch)
            note = Note(COMMIT_MARKED if commits else ABORT_MARKED)
            after, emits = _release(site, ResultPartition(epochs, records))
            return Step(after, (note, *emits))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _release(site: Site, state: ResultPartition) -> Step:
    """Show the readers the committed results, up to the first result of an open transaction."""
    effects: list[Effect] = []
    records = list(state.records)
    while records and records[0].committed:
        out = records.pop(0).out
        if site.config.design.reads is ReaderView.COMMITTED:
            effects.append(Emit((0, out.body), out.of))
    return Step(state._replace(records=tuple(records)), tuple(effects))


# --- places in the input ---------------------------------------------------------------------
def group(site: Site, state: GroupState, input_: Input) -> Step:
    match input_:
        case Received(worker, AddPlace() as add):
            return _add(site, state, worker, add)
        case Received(_, SetPlace(at)):
            return Step(state._replace(at=at))
        case Received(worker, JoinGroup()):
            return Step(state._replace(generation=state.generation + 1, member=worker))
        case Received(worker, FetchPlace()):
            if _counts_generations(site) and state.member not in ("", worker):
                return Step(state, (Note(REQUEST_REFUSED), Send(worker, ProducerFenced())))
            return Step(state, (Send(worker, PlaceIs(state.generation, state.at)),))
        case Received(_, EndMarker(producer, epoch, commits)):
            pending = dict(state.pending)
            at = pending.pop(producer, state.at)
            after = state._replace(
                at=at if commits else state.at,
                epochs=_put(state.epochs, producer, epoch),
                pending=tuple(pending.items()),
            )
            return Step(after)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _counts_generations(site: Site) -> bool:
    return site.config.design.fence in (ZombieFence.GENERATION, ZombieFence.GENERATION_ALONE)


def _add(site: Site, state: GroupState, worker: NodeName, add: AddPlace) -> Step:
    """Take the place into the transaction, unless the sender is not the newest."""
    design = site.config.design
    old = add.tag.epoch < dict(state.epochs).get(add.producer, 1)
    if old or (_counts_generations(site) and add.generation < state.generation):
        return Step(
            state, (Note(REQUEST_REFUSED), Send(worker, PlaceAdded(add.tag, accepted=False)))
        )
    if design.offsets is OffsetCommit.BEFORE:
        state = state._replace(at=add.at)
    else:
        state = state._replace(pending=_put(state.pending, add.producer, add.at))
    return Step(state, (Send(worker, PlaceAdded(add.tag, accepted=True)),))


def _put(
    pairs: tuple[tuple[NodeName, T], ...], name: NodeName, value: T
) -> tuple[tuple[NodeName, T], ...]:
    """The pairs, by name, with this value of the name."""
    return (*((one, old) for one, old in pairs if one != name), (name, value))
