"""Stories: a run to show to people: who did what when, and which message went where.

Rule of this file: nothing of a protocol or of a drawing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class StoryMoment:
    """An action of a node, or a step of a prompt site.

    label: the input.  cut: after how many effects a crash ended the step.  fails: the node crashed
    by the step itself.  with_: the other nodes that went down with this one.  from_: None unless it
    takes a message.  state, windows, backup: those of the node afterwards; "" and None while it is
    down.
    """

    node: str
    kind: MomentKind
    label: str = ""
    cut: int | None = None
    fails: bool = key(absent=True, default=False)
    with_: tuple[str, ...] = key("with", default=())
    from_: SentFrom | None = key("from", default=None)
    sends: tuple[StoryMessage, ...] = ()
    emits: tuple[str, ...] = ()
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
