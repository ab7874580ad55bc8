"""The nodes of uncoordinated checkpoints: who takes which step, and what is shown.

Rule of this file: no step itself; sources.py, operators.py, sinks.py and manager.py have these.

Theory of operation (Survey, 3.1 and 3.3; CheckMate):

1. An operator takes checkpoints when its own timer runs out, and hands them to the manager, which
   is the storage, too.  A checkpoint has the state of the operator, the number of the last message
   of each input, and the outputs that a receiver may still ask for.
2. The recovery line is the newest set of checkpoints without orphans: no checkpoint has received a
   message that the checkpoint of its sender has not sent (lines.py).
3. The manager deletes older checkpoints, sources and operators let go of outputs that all have
   received there, and the sinks pass on the outputs that are in the line.
4. After a crash all nodes go back to the line, and send again what they have kept.  Numbers show
   the receivers what they have; messages from before the restart are dropped.
5. With credits, an operator below lets the one above send its next output.  So messages go both
   ways, and checkpoints may become useless: that is the domino effect.
6. Communication-induced: each message has the index of its sender's last checkpoint; who receives
   one that is higher than its own takes a checkpoint with this index first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.core import Input, NodeName, Observation, Received, Role, Scope, Send, Site, Step
from model.costs import Amount, Gauges, Memory
from model.graph import SINK
from model.log import Log
from model.parts import contents, open_windows
from model.protocols.uncoordinated.deployment import MANAGER, begin
from model.protocols.uncoordinated.manager import manage
from model.protocols.uncoordinated.messages import (
    HeldOutputs,
    LineManager,
    LoggingTask,
    NeedsLine,
    ReplayableSource,
    State,
)
from model.protocols.uncoordinated.operators import operate
from model.protocols.uncoordinated.sinks import hold
from model.protocols.uncoordinated.sources import generate


def boot(site: Site) -> State:
    if site.name == MANAGER:
        return LineManager(0, tuple((first,) for first in site.config.beginning))
    if site.role is Role.SINK:
        return HeldOutputs((0,) * len(site.preds), (Log(),) * len(site.preds))
    return ReplayableSource() if site.role is Role.SOURCE else LoggingTask(0, begin(site))


def recover(site: Site, _durable: Any) -> Step:
    """A restarted operator has nothing, and waits for its checkpoint."""
    return Step(LoggingTask(-1, begin(site)), (Send(MANAGER, NeedsLine()),))


def step(site: Site, state: State, input_: Input) -> Step:
    match state, input_:
        case LineManager(), Received():
            return manage(site, state, input_)
        case HeldOutputs(), Received():
            return hold(site, state, input_)
        case ReplayableSource(), _:
            return generate(site, state, input_)
        case LoggingTask(), _:
            return operate(site, state, input_)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    """The gauges of a node.  progress: the run, and how many messages are in the state."""
    match state:
        case ReplayableSource(_, _, made, kept):
            return Gauges(len(kept), None, made)
        case LoggingTask(run, part, _, early):
            buffered = len(part.kept) + len(early)
            return Gauges(buffered, open_windows(part.box), (run, sum(part.received)))
        case _:
            return Gauges()


def memory(_site: Site, state: State) -> Memory:
    """The storage of the manager is a disk."""
    match state:
        case ReplayableSource(kept=kept):
            return Memory(Amount(len(kept)))
        case LoggingTask(_, part, _, early):
            return Memory(Amount(len(part.kept) + len(early)), state=contents(part.box))
        case HeldOutputs(_, waiting):
            return Memory(Amount(sum(map(len, waiting))))
        case _:
            return Memory()


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that sources and operators keep at rest: nothing, since the line has everything."""
    return {name: 0 for name, spec in scope.graph.nodes if spec is not SINK}
