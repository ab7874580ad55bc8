"""The nodes of unaligned checkpoints: who takes which step, and the gauges.

Rule of this file: no step itself; sources.py, operators.py, sinks.py and coordinator.py have these.

Theory of operation (FLIP-76, FLINK-19801; 4, 6 and 9 are choices of the model):

1. An operator with a state for each key has several instances; each owns a range of key groups.
2. An instance has input buffers, with records that it has not processed, and output buffers, with
   outputs that it has not sent (operators.py).
3. A source reports new records to the coordinator, and a sink new outputs; the coordinator begins a
   checkpoint (coordinator.py): the sources put a barrier into their streams (sources.py).
4. Sources have no buffers.  A record on the wire is before or behind a barrier for good: barriers
   overtake buffers alone.
5. At the first barrier an instance hands the barrier on, past its output buffers.  Its snapshot has
   its state, the records in its buffers, and the records that come before the barriers of its other
   inputs (snapshots.py).
6. A sink prepares outputs, and commits those of a complete checkpoint (sinks.py).
7. When all parts are stored the checkpoint is complete.  The outputs of records on their way belong
   to a later one, which comes even if no source has anything new.
8. After a crash all nodes go back to the last complete checkpoint in a new run.  An instance takes
   the records that were on their way first; then sources read the events after the barrier again.
9. A run may have another number of instances.  Keys and records on their way go to the instances
   that own them now (redistribution.py), into input buffers, also those from output buffers.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.core import Input, NodeName, Observation, Received, Role, Scope, Send, Site, Step
from model.costs import Amount, Gauges, Memory
from model.parts import contents, open_windows
from model.protocols.unaligned_checkpoints.coordinator import oversee
from model.protocols.unaligned_checkpoints.instances import OVERSEER
from model.protocols.unaligned_checkpoints.messages import (
    CommitterState,
    GeneratorState,
    InstanceState,
    InstanceUp,
    KeeperState,
    NodeState,
)
from model.protocols.unaligned_checkpoints.operators import operate
from model.protocols.unaligned_checkpoints.sinks import conclude
from model.protocols.unaligned_checkpoints.sources import generate


def boot(site: Site) -> NodeState:
    if site.name == OVERSEER:
        return KeeperState()
    if site.role is Role.SINK:
        return CommitterState()
    return GeneratorState() if site.role is Role.SOURCE else InstanceState()


def recover(_site: Site, _durable: None) -> Step:
    """A restarted instance has nothing, and waits for its part."""
    return Step(InstanceState(run=-1), (Send(OVERSEER, InstanceUp()),))


def step(site: Site, state: NodeState, input_: Input) -> Step:
    match state, input_:
        case KeeperState(), Received():
            return oversee(site, state, input_)
        case CommitterState(), _:
            return conclude(site, state, input_)
        case GeneratorState(), _:
            return generate(site, state, input_)
        case InstanceState(), _:
            return operate(site, state, input_)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


# --- words and gauges ------------------------------------------------------------------------
def gauges(site: Site, state: NodeState) -> Gauges:
    """The gauges of a node.  progress: the run, and how many records are in the state.  The backup
    of a source whose job goes on after its savepoint is in a log of others."""
    match state:
        case GeneratorState(place=place, kept=kept):
            return Gauges(0 if site.config.goes_on else len(kept), None, place)
        case InstanceState(run, _, keys, inbox, outbox, early=early):
            counts = [open_windows(one.box) for one in keys]
            windows = None if None in counts else sum(count or 0 for count in counts)
            waiting = len(inbox) + len(outbox) + len(early)
            return Gauges(waiting, windows, (run, sum(one.taken for one in keys)))
        case _:
            return Gauges()


def memory(_site: Site, state: NodeState) -> Memory:
    """Parts in the storage, and outputs that are prepared in the external system, are on disks."""
    match state:
        case GeneratorState(kept=kept):
            return Memory(Amount(len(kept)))
        case InstanceState(_, _, keys, inbox, outbox, early=early):
            waiting = len(inbox) + len(outbox) + len(early)
            return Memory(Amount(waiting), state=contents(tuple(one.box for one in keys)))
        case _:
            return Memory()


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that sources keep at rest: nothing, since everything is in a complete checkpoint."""
    return {name: 0 for name, _ in scope.inputs}
