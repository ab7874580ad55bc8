"""The nodes of asynchronous barrier snapshotting: who takes which step, and what is shown.

Rule of this file: no step itself; sources.py, operators.py, external.py and coordinator.py have
these.

Theory of operation (LOG.io, Sections 1, 8.1.1 and 9.1):

1. A source reports new records to the coordinator, which begins an epoch (coordinator.py).
2. The sources put a barrier with the number of the epoch into their streams (sources.py).
3. An operator that has received the barrier on all inputs hands a snapshot of its state to the
   coordinator, and sends the barrier on (operators.py).
4. When the coordinator has all snapshots, the epoch is complete.  The snapshot storage is the
   durable value of the coordinator.
5. A writer is an operator that puts out to a sink: it changes an external system.  Each message to
   that system is a transaction (external.py).
6. After a crash all nodes go back to the last complete epoch, and the sources send the records
   after it again.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.core import Input, NodeName, Observation, Received, Role, Scope, Send, Site, Step
from model.costs import Amount, Gauges, Memory
from model.parts import contents, open_windows
from model.protocols.abs.coordinator import oversee, recover_overseer
from model.protocols.abs.deployment import OVERSEER
from model.protocols.abs.design import Sources
from model.protocols.abs.external import change
from model.protocols.abs.messages import (
    ExternalState,
    Kept,
    OverseerState,
    ReaderState,
    Reborn,
    State,
    TaskState,
)
from model.protocols.abs.moves import moves, recover_in_place, step_in_place
from model.protocols.abs.operators import load, operate
from model.protocols.abs.sources import generate


def boot(site: Site) -> State:
    if site.name == OVERSEER:
        return OverseerState()
    if site.role is Role.SINK:
        return ExternalState()
    return ReaderState() if site.role is Role.SOURCE else load(site, 0, 0, None)


def recover(site: Site, durable: Kept | None) -> Step:
    """A restarted node has nothing, and waits for its snapshot; the coordinator has its storage."""
    return recover_in_place(site, durable, _recover) if moves(site) else _recover(site, durable)


def step(site: Site, state: State, input_: Input) -> Step:
    if moves(site):
        return step_in_place(site, state, input_, _step)
    return _step(site, state, input_)


def _recover(site: Site, durable: Kept | None) -> Step:
    if site.name == OVERSEER:
        return recover_overseer(site, durable)
    return Step(load(site, -1, 0, None), (Send(OVERSEER, Reborn()),))


def _step(site: Site, state: State, input_: Input) -> Step:
    match state, input_:
        case OverseerState(), Received():
            return oversee(site, state, input_)
        case ExternalState(), Received(sender, message):
            return change(site, state, sender, message)
        case ReaderState(), _:
            return generate(site, state, input_)
        case TaskState(), _:
            return operate(site, state, input_)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    """The gauges of a node.  progress: the run, and how many records are in the state.  The backup
    of a source that seeks is in a log of others: a restart reads these events again."""
    match state:
        case ReaderState(_, _, place, _, kept):
            return Gauges(len(kept), None, place)
        case TaskState(run, _, box, taken, held=held, outs=outs):
            return Gauges(len(held) + len(outs), open_windows(box), (run, taken))
        case _:
            return Gauges()


def memory(site: Site, state: State) -> Memory:
    """Snapshots in the storage, transactions of the external system, and the log that a source
    reads again are on disks."""
    match state:
        case ReaderState(kept=kept):
            seeks = site.config.design.sources is Sources.SEEKING
            return Memory() if seeks else Memory(Amount(len(kept)))
        case TaskState(box=box, held=held, outs=outs):
            return Memory(Amount(len(held) + len(outs)), state=contents(box))
        case _:
            return Memory()


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that sources keep at rest: nothing, since everything is in a complete epoch."""
    return {name: 0 for name, _ in scope.inputs}
