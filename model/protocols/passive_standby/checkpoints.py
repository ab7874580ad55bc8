"""Checkpoints: the sweep line passes the operators of a primary; the secondary stores the copy.

Rule of this file: no takeover; nodes.py begins one from the stored copy.
Hwang et al., Section 5.1.
"""

from __future__ import annotations

from model.core import CHECKPOINTED, Effect, NodeName, Note, Send, SetTimer, Site, Step
from model.protocols.passive_standby.design import FirstCheckpoint, Forwards, Releases
from model.protocols.passive_standby.messages import (
    Checkpoint,
    Copy,
    Primary,
    Secondary,
    Spare,
    Stage,
    Stored,
)
from model.protocols.passive_standby.stages import empty, release, run
from model.standbys import consumers, producers
from model.standbys.producers import OutputQueue

CHECKPOINT = "checkpoint"


def sweep(site: Site, state: Primary) -> Step:
    """Move the sweep line behind one more operator; after the last one, send the checkpoint."""
    if state.spare is Spare.NONE:
        return Step(state)
    at = len(state.behind.stages) if state.behind else 0
    begun = Copy(state.inlets, (), state.queue)
    behind = state.behind or begun
    behind = behind._replace(stages=(*behind.stages, Stage(state.stages[at].inner)))
    if at + 1 < len(state.stages):
        return Step(state._replace(behind=behind), (SetTimer(CHECKPOINT),))
    return _ship(site, state, behind._replace(queue=state.queue))


def _ship(site: Site, state: Primary, copy: Copy) -> Step:
    """Send the checkpoint; what waited before the sweep line goes on."""
    design, (queue, (stages, number)) = site.config.design, (copy.queue, state.shipped)
    complete = state.spare is Spare.NEW and design.renewal is not FirstCheckpoint.DELTA
    pairs = zip(copy.stages, stages, strict=True)
    changed = tuple(one if complete or one != old else None for one, old in pairs)
    new = tuple(o for o in queue.kept if complete or o.place > number)
    message = Checkpoint(complete, copy.inlets, changed, queue.readers, queue.place, new)
    after = state._replace(shipped=(copy.stages, queue.place), spare=Spare.READY)
    if design.forwards is Forwards.SENT:
        after = after._replace(safe=queue.place)
    after, effects = stop_line(site, after)
    changed_since = after.stages != copy.stages or after.inlets != copy.inlets
    again = state.behind is not None and (changed_since or after.queue != queue)
    timer = (SetTimer(CHECKPOINT),) if again else ()
    return Step(after, (Note(CHECKPOINTED), Send(site.config.other, message), *effects, *timer))


def stop_line(site: Site, state: Primary) -> tuple[Primary, tuple[Effect, ...]]:
    """End a checkpoint: what waited before the sweep line goes on."""
    waiting = [stage.waiting for stage in state.stages]
    stages = tuple(Stage(stage.inner) for stage in state.stages)
    state = state._replace(stages=stages, behind=None)
    effects: tuple[Effect, ...] = ()
    for at, items in enumerate(waiting):
        for item in items:
            state, more = run(site, state, at, item)
            effects += more
    state, sends = release(site, state)
    return state, (*effects, *sends)


def renew(site: Site, state: Primary, _sender: NodeName) -> Step:
    """The other replica is a new secondary: it gets the complete state in a checkpoint."""
    state, effects = stop_line(site, state._replace(spare=Spare.NEW))
    idle = site.config.design.renewal is FirstCheckpoint.NOTHING
    return Step(state, effects if idle else (*effects, SetTimer(CHECKPOINT)))


def store(site: Site, state: Secondary, checkpoint: Checkpoint) -> Step:
    """Apply the checkpoint, and acknowledge to upstream what it holds."""
    old = empty(site) if state.copy is None or checkpoint.complete else state.copy
    kept = old.queue.kept.extend(checkpoint.outputs)
    queue, _ = producers.trim(OutputQueue(checkpoint.readers, checkpoint.number, kept))
    pairs = zip(checkpoint.stages, old.stages, strict=True)
    stages = tuple(before if new is None else new for new, before in pairs)
    copy = Copy(checkpoint.inlets, stages, queue)
    effects: list[Effect] = []
    if site.config.design.releases is Releases.COPIED:
        effects += consumers.acknowledge(copy.inlets)
    if site.config.design.forwards is Forwards.STORED:
        effects.append(Send(site.config.other, Stored(checkpoint.number)))
    return Step(Secondary(copy), tuple(effects))
