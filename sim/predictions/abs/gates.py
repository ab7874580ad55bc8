"""The places in an epoch of ABS where a step of a node can be held, and the job that is held there.

Rule of this file: places as values, in the words of the model (model.protocols.abs); no crash, and
no class or method of an engine.

The job: a source, a running count of each key, and two writers with a sink each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from model.actions import Deliver, OwnStep
from model.core import Effect, NodeName, Save, Send
from model.play import Play
from model.protocols.abs.deployment import OVERSEER
from model.protocols.abs.messages import EpochComplete
from model.uploads import PartUpload, StoredPart
from model.world import real_effects

SOURCE, COUNT, FILES, APPEND = "source", "count", "files", "append"
"""FILES writes in two phases; APPEND writes each row when it is made."""
OPERATOR_DIES, SINKS_DIE, COORDINATOR_DIES = (COUNT,), (FILES, APPEND), (OVERSEER,)
"""The nodes that die together: the process of the operator, that of the sinks, the coordinator.
The process of the sinks has the source, too, which does not crash in the model: it reads again."""

Reached: TypeAlias = Callable[[Play, OwnStep], "int | None"]
"""The number of effects after which the action is held; None: it is not."""


@dataclass(frozen=True, slots=True)
class EpochGate:
    """A place where one step of a node is held.

    reached: the step, and how much of it has happened.  blocks: the node that takes no other step
    meanwhile; "": all nodes go on, since something beside them is held.
    """

    title: str
    reached: Reached
    blocks: NodeName = ""


# --- ways to find a step ---------------------------------------------------------------------
def _effects(play: Play, action: OwnStep) -> tuple[Effect, ...]:
    return real_effects(play.effects(action))


def before_sending(node: NodeName, kind: type[Any]) -> Reached:
    """The step in which the node sends such a message, after the effects before it."""

    def reached(play: Play, action: OwnStep) -> int | None:
        effects = _effects(play, action) if action.node == node else ()
        for number, effect in enumerate(effects):
            if isinstance(effect, Send) and isinstance(effect.message, kind):
                return number
        return None

    return reached


def before_taking(node: NodeName, kind: type[Any], sender: NodeName = "") -> Reached:
    """The step in which the node takes such a message, before any effect.  sender: "": any."""

    def reached(play: Play, action: OwnStep) -> int | None:
        if not isinstance(action, Deliver) or action.node != node:
            return None
        right = isinstance(play.message(action), kind) and sender in ("", action.sender)
        return 0 if right else None

    return reached


def behind_taking(node: NodeName, kind: type[Any]) -> Reached:
    """The step in which the node takes such a message, with all its effects."""
    taking = before_taking(node, kind)

    def reached(play: Play, action: OwnStep) -> int | None:
        return None if taking(play, action) is None else len(_effects(play, action))

    return reached


def deciding(play: Play, action: OwnStep, *, behind: int = 0) -> int | None:
    """The step in which the coordinator stores that an epoch is complete: before it stores that, or
    `behind` effects later."""
    effects = _effects(play, action) if action.node == OVERSEER else ()
    for number, effect in enumerate(effects):
        if isinstance(effect, Save):
            return number + behind
    return None


def announcing(play: Play, action: OwnStep) -> int | None:
    """The same step, with all its effects: nodes are informed."""
    return None if deciding(play, action) is None else len(_effects(play, action))


# --- the places ------------------------------------------------------------------------------
MARKED = EpochGate(
    "the operator has the marker, no snapshot yet", before_sending(COUNT, PartUpload), COUNT
)
STORING = EpochGate(
    "the marker is sent on, the snapshot is not stored",
    before_taking(OVERSEER, PartUpload, COUNT),
)
ACKNOWLEDGED = EpochGate(
    "an acknowledgement is at the coordinator", before_taking(OVERSEER, StoredPart), OVERSEER
)
UNDECIDED = EpochGate(
    "all have acknowledged, the epoch is not stored as complete", deciding, OVERSEER
)
DECIDED = EpochGate(
    "the epoch is stored as complete, no node knows", partial(deciding, behind=1), OVERSEER
)
ANNOUNCED = EpochGate("the operator is informed that the epoch is complete", announcing, COUNT)
UNCOMMITTED = EpochGate(
    "the epoch is complete, the sink has not committed", before_taking(FILES, EpochComplete), FILES
)
COMMITTED = EpochGate("the sink has committed", behind_taking(FILES, EpochComplete), FILES)
