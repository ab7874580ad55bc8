"""Stories: a run to show to people: who did what when, and which message went where.

Rule of this file: nothing of a protocol or of a drawing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from model.costs import MessageKind
from model.results.plain import key


class MomentKind(StrEnum):
    INJECT = "inject"
    DELIVER = "deliver"
    TIMEOUT = "timeout"
    CRASH = "crash"
    RESTART = "restart"
    SUSPECT = "suspect"
    REREAD = "reread"
    DISTURB = "disturb"


@dataclass(frozen=True, slots=True)
class SentFrom:
    """The origin of a message that is taken: its sender, and the moment that sent it."""

    node: str
    sent_at: int


@dataclass(frozen=True, slots=True)
class StoryMessage:
    """A message that a moment sends.  by: of a notice, the node that went down."""

    to: str
    label: str
    lost: bool
    kind: MessageKind
    by: str | None = key(absent=True, default=None)


class WriteKind(StrEnum):
    """SAVE: a durable value.  WRITE: one that a crash may lose until the next SYNC.  REWIND: a
    source goes back in its log."""

    SAVE = "save"
    WRITE = "write"
    SYNC = "sync"
    REWIND = "rewind"


@dataclass(frozen=True, slots=True)
class StoryWrite:
    """An effect on the values that a crash leaves: the durable ones, and the place in the log.

    label: the value, or the place.  file: "" of a node without files.
    """

    kind: WriteKind
    label: str = key(absent=True, default="")
    file: str = key(absent=True, default="")

    @property
    def words(self) -> str:
        """The effect in words."""
        label = f" to place {self.label}" if self.kind is WriteKind.REWIND else f" {self.label}"
        return self.kind.value + label.rstrip() + (f" in {self.file}" if self.file else "")


@dataclass(frozen=True, slots=True)
class StoryRead:
    """A durable value that a restart reads back; label: "" if none was ever saved."""

    label: str
    file: str = key(absent=True, default="")


@dataclass(frozen=True, slots=True)
class StoryMoment:
    """An action of a node, or a step of a prompt site within the action before it (`part`).

    label: the input.  cut: after how many effects a crash ended the step; undone: the first effect
    that the crash prevented, in words; "" if none matters, as the timers of a node that crashes.
    fails: the node crashed by the step itself.  with_: the other nodes that went down with this
    one.  from_: None unless it takes a message.  writes: in the order of the step.  reads: of a
    restart, the durable values.  state, windows, backup: those of the node afterwards; "" and None
    while it is down.  changes: of a state that the protocol does not show, the fields that changed.
    """

    node: str
    kind: MomentKind
    label: str = ""
    part: bool = key(absent=True, default=False)
    cut: int | None = None
    undone: str = key(absent=True, default="")
    fails: bool = key(absent=True, default=False)
    with_: tuple[str, ...] = key("with", default=())
    from_: SentFrom | None = key("from", default=None)
    sends: tuple[StoryMessage, ...] = ()
    emits: tuple[str, ...] = ()
    writes: tuple[StoryWrite, ...] = key(absent=True, default=())
    reads: tuple[StoryRead, ...] = key(absent=True, default=())
    changes: str = key(absent=True, default="")
    state: str = ""
    windows: int | None = None
    backup: int | None = None

    @property
    def down(self) -> tuple[str, ...]:
        """The nodes that go down in this moment, its own first."""
        crashes = self.kind is MomentKind.CRASH or self.cut is not None or self.fails
        return (self.node, *self.with_) if crashes else ()


@dataclass(frozen=True, slots=True)
class Story:
    """lanes: the nodes, upstream first.  circle: the number of the last moments that repeat without
    end."""

    lanes: tuple[str, ...]
    moments: tuple[StoryMoment, ...]
    circle: int = 0

    @property
    def steps(self) -> tuple[int, ...]:
        """Of each moment, the number of the step, from 1, that it is a part of: of an action."""
        return tuple(accumulate(int(not one.part) for one in self.moments))
