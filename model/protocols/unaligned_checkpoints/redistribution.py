"""The parts of a checkpoint, shared out among the instances of the next run.

Rule of this file: pure functions of the parts; no message is sent here.
FLINK-19801: a restart with another number of instances moves key groups, and with them the records
on their way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.core import NodeName
from model.protocols.unaligned_checkpoints.design import Redistribution, StateOwners
from model.protocols.unaligned_checkpoints.instances import InstancePlace, PipelinePlan
from model.protocols.unaligned_checkpoints.messages import BufferedRecord, InstancePart, KeyState

Parts = tuple[tuple[NodeName, Any], ...]


def share_out(job: PipelinePlan, parts: Parts, run: int) -> Mapping[NodeName, Any]:
    """By node, the part from which it begins this run; None: from the beginning, or not at all.

    A source has its place, an instance its keys and the records that it takes first, and a sink
    these records alone.
    """
    stored = dict(parts)
    keys = _keys(job, stored, run)
    flights = _flights(job, stored, run)
    shared: dict[NodeName, Any] = {name: stored.get(name) for name in job.readers}
    for name in job.working(run)[len(job.readers) :]:
        shared[name] = InstancePart(tuple(keys.get(name, ())), tuple(flights.get(name, ())))
    return shared


def on_their_way(parts: Parts) -> tuple[BufferedRecord, ...]:
    """All records in buffers, in the order of each channel: its input buffer was filled first."""
    held = [part for _, part in parts if isinstance(part, InstancePart)]
    inputs = tuple(one for part in held for one in part.inputs)
    return inputs + tuple(one for part in held for one in part.outputs)


def _keys(
    job: PipelinePlan, stored: Mapping[NodeName, Any], run: int
) -> Mapping[NodeName, list[KeyState]]:
    """The states of keys by the instance that receives them in this run."""
    owned: dict[NodeName, list[KeyState]] = {}
    for name, part in stored.items():
        if isinstance(part, InstancePart):
            for one in part.keys:
                owner = _owner(job, name, one.key, run)
                owned.setdefault(owner, []).append(one)
    return {name: sorted(ones, key=repr) for name, ones in owned.items()}


def _owner(job: PipelinePlan, name: NodeName, key: Any, run: int) -> NodeName:
    """The instance that receives the state of a key which this instance had."""
    node, number = job.places[name]
    if job.design.owners is StateOwners.BY_NUMBER:
        return InstancePlace(node, number % job.parallelism(node, run)).name
    return job.owner_of(node, key, run)


def _flights(
    job: PipelinePlan, stored: Mapping[NodeName, Any], run: int
) -> Mapping[NodeName, list[BufferedRecord]]:
    """The records on their way by the instance that takes them in this run."""
    taken: dict[NodeName, list[BufferedRecord]] = {}
    for one in on_their_way(tuple(stored.items())):
        for receiver in _receivers(job, one, run):
            taken.setdefault(receiver, []).append(one)
    return taken


def _receivers(job: PipelinePlan, one: BufferedRecord, run: int) -> tuple[NodeName, ...]:
    node, number = job.places[one.receiver]
    match job.design.redistribution:
        case Redistribution.BY_KEY:
            return (job.owner(node, one.record.body, run),)
        case Redistribution.BY_CHANNEL:
            return (InstancePlace(node, number % job.parallelism(node, run)).name,)
        case Redistribution.TO_ALL:
            return job.instances(node, run)
        case Redistribution.NONE:
            return ()
