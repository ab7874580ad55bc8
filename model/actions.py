"""Actions: everything that may happen to a deployed system, as values.

Rule of this file: values only.  model.choices lists the actions that are possible in a world, and
model.world gives each action its effect.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias

from model.core import Arrival, NodeName


# --- steps: a crash may come inside ------------------------------------------------------------
class Deliver(NamedTuple):
    """The message at the head of the channel from `sender` is delivered to the node.

    Of all actions that are steps: crash_after: the number of effects after which the node crashes;
    None: it does not.  group: the failure group that goes down in this crash; (): the node alone.
    """

    node: NodeName
    sender: NodeName
    crash_after: int | None = None
    group: tuple[NodeName, ...] = ()


class Timeout(NamedTuple):
    """early: a patient timer runs out although something else may still happen."""

    node: NodeName
    timer: str
    crash_after: int | None = None
    group: tuple[NodeName, ...] = ()
    early: bool = False


class Inject(NamedTuple):
    """The outside world hands an event to a source."""

    node: NodeName
    arrival: Arrival
    crash_after: int | None = None
    group: tuple[NodeName, ...] = ()


class Reread(NamedTuple):
    """A source that has gone back in its log (Rewind) reads its next arrival again."""

    node: NodeName
    crash_after: int | None = None
    group: tuple[NodeName, ...] = ()


class Restart(NamedTuple):
    """kept: for each file of the site, the number of its writes without a sync that survived the
    crash; torn: the files of which the next write is half there."""

    node: NodeName
    crash_after: int | None = None
    group: tuple[NodeName, ...] = ()
    kept: tuple[int, ...] = ()
    torn: tuple[str, ...] = ()


# --- faults ------------------------------------------------------------------------------------
class Crash(NamedTuple):
    """The node crashes between two steps; `drops_sent`: messages that the node sent and nobody
    has received are lost.

    group: the failure group that goes down; `node` is its first member that is up.  (): the node
    alone.
    """

    node: NodeName
    drops_sent: bool = False
    group: tuple[NodeName, ...] = ()


class Suspect(NamedTuple):
    """The watcher gets the notice that the node has crashed, and the node is up."""

    node: NodeName
    watcher: NodeName


class Disturbance(Enum):
    """A fault of a link: the first message on its way is lost, or comes once more after those
    behind it, or comes after them; or the connection is reset, and loses all messages both ways."""

    LOSE = "lost"
    DOUBLE = "doubled"
    DELAY = "delayed"
    RESET = "reset"

    def __repr__(self) -> str:
        return str(self)  # as Python reads it: the text of a found run has it


class Disturb(NamedTuple):
    """A fault of the link from `sender` to `node`."""

    node: NodeName
    sender: NodeName
    how: Disturbance


OwnStep: TypeAlias = Deliver | Timeout | Reread | Restart
"""An action that a node takes by itself."""
StepAction: TypeAlias = Deliver | Timeout | Inject | Reread | Restart
"""An action that is a step of a node."""
Action: TypeAlias = StepAction | Crash | Suspect | Disturb
