"""The content of a space-time diagram, read from a story: arrows, notes, times of being down.

Rule of this file: no drawing, so that the picture and the terminal show the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.costs import MessageKind
from model.errors import Invalid
from model.results.story import MomentKind, Story, StoryMoment

CRASH, RESTART, STEP = "crash", "restart", "step"


@dataclass(frozen=True, slots=True)
class Arrow:
    """A message.  taken_at: None if the message was lost, or is still on its way at the end."""

    sender: int
    receiver: int
    sent_at: int
    taken_at: int | None
    label: str
    kind: MessageKind
    lost: bool


@dataclass(frozen=True, slots=True)
class TimelineMoment:
    """A row of the diagram.

    mark: the mark on the lane.  handed: the input from outside, "" if there is none.  taken: the
    arrow that ends here.  stray: arrows that start here and end nowhere.  state, backup: the
    present ones of the node; "" and None if they have not changed.  crash: the place in the step
    where a crash struck, "" if none did.  others: the lanes of other nodes that went down with it.
    """

    lane: int
    mark: str
    handed: str
    taken: Arrow | None
    stray: tuple[Arrow, ...]
    words: str
    state: str
    backup: int | None
    crash: str
    others: tuple[int, ...]
    emits: tuple[str, ...]

    @property
    def notes(self) -> str:
        """All texts about the node itself, on one line."""
        backup = "" if self.backup is None else f"backup {self.backup}"
        return " · ".join(part for part in (self.words, self.state, backup) if part)

    @property
    def side(self) -> int:
        """The side of the notes, away from the arrow: +1 right of the lane, -1 left of it."""
        return -1 if self.taken and self.taken.sender > self.taken.receiver else 1


@dataclass(frozen=True, slots=True)
class Timeline:
    """The lanes, moments and arrows of a diagram.

    down: for every lane, the half-open ranges of moments after which the node is down.  circle: the
    last moments, which repeat without end.
    """

    lanes: tuple[str, ...]
    moments: tuple[TimelineMoment, ...]
    arrows: tuple[Arrow, ...]
    down: tuple[tuple[range, ...], ...]
    circle: range = range(0)

    def number(self, at: int) -> str:
        """The number of a moment, with a sign if the moment repeats without end."""
        return f"↻ {at + 1}" if at in self.circle else f"{at + 1}"

    def is_down(self, lane: int, moment: int) -> bool:
        """Is the node down just after this moment?"""
        return any(moment in stretch for stretch in self.down[lane])


def timeline(story: Story) -> Timeline:
    """The timeline of a story.

    Raises Invalid if the story takes a message that nobody sent, or names an unknown lane.
    """
    lane_of = {name: at for at, name in enumerate(story.lanes)}
    arrows = _arrows(story, lane_of)
    taken = {arrow.taken_at: arrow for arrow in arrows if arrow.taken_at is not None}
    held: dict[str, tuple[str, int]] = {}
    moments = []
    for at, moment in enumerate(story.moments):
        state, backup = moment.state, moment.backup
        before = held.get(moment.node, ("", 0))
        stopped, others = bool(moment.down), moment.down[1:]
        held[moment.node] = (state, backup or 0)
        held |= dict.fromkeys(moment.down, ("", 0))
        with_ = f"with {', '.join(others)}" if others else ""
        moments.append(
            TimelineMoment(
                lane=lane_of[moment.node],
                mark=_MARKS.get(moment.kind, STEP),
                handed=moment.label if moment.kind is MomentKind.INJECT else "",
                taken=taken.get(at),
                stray=tuple(a for a in arrows if a.sent_at == at and a.taken_at is None),
                words=_words(moment, with_),
                state="" if stopped or state == before[0] else state or "holds nothing",
                backup=None if stopped or (backup or 0) == before[1] else backup,
                crash=_cut(moment, with_),
                others=tuple(lane_of[other] for other in others),
                emits=moment.emits,
            )
        )
    circle = range(len(moments) - story.circle, len(moments))
    return Timeline(story.lanes, tuple(moments), arrows, _down(story), circle)


_MARKS = {MomentKind.CRASH: CRASH, MomentKind.RESTART: RESTART}


def _arrows(story: Story, lane_of: Mapping[str, int]) -> tuple[Arrow, ...]:
    """The arrows of a story.  Channels are FIFO: if the lost messages are left out, the n-th
    message sent is the n-th one taken."""
    takes: dict[tuple[str, str, int], deque[int]] = {}
    for at, moment in enumerate(story.moments):
        if moment.node not in lane_of:
            raise Invalid(f"story: moment {at} is of {moment.node!r}, which has no lane")
        if moment.from_:
            origin = moment.from_.node, moment.node, moment.from_.sent_at
            takes.setdefault(origin, deque()).append(at)
    arrows = []
    for at, moment in enumerate(story.moments):
        for send in moment.sends:
            if send.to not in lane_of:
                raise Invalid(f"story: moment {at} sends to {send.to!r}, which has no lane")
            ends = send.by or moment.node, send.to
            waiting = takes.get((*ends, at))
            taken_at = waiting.popleft() if waiting and not send.lost else None
            lanes = lane_of[ends[0]], lane_of[ends[1]]
            arrows.append(Arrow(*lanes, at, taken_at, send.label, send.kind, send.lost))
    for (sender, receiver, at), left in takes.items():
        ends_at = lane_of.get(sender), lane_of[receiver], at
        sent = [a for a in arrows if (a.sender, a.receiver, a.sent_at) == ends_at]
        for again_at in left:
            if not sent:
                raise Invalid(
                    f"story: in moment {again_at} {receiver} takes what {sender} never sent"
                )
            arrows.append(replace(sent[-1], taken_at=again_at, lost=False))  # a link doubled it
    return tuple(arrows)


def _words(moment: StoryMoment, with_: str) -> str:
    match moment.kind:
        case MomentKind.CRASH:
            return ", ".join(part for part in ("crash", with_, moment.label) if part)
        case MomentKind.RESTART:
            return f"restart ({moment.label})" if moment.label else "restart"
        case MomentKind.SUSPECT | MomentKind.REREAD | MomentKind.DISTURB:
            return moment.label
        case MomentKind.TIMEOUT:
            return f"timer {moment.label}"
        case _:
            return ""


def _cut(moment: StoryMoment, with_: str) -> str:
    """The crash within a step, in words."""
    count = moment.cut
    if count is None:
        return ", ".join(part for part in ("fails", with_) if part) if moment.fails else ""
    effects = f"{count} effect" if count == 1 else f"{count} effects"
    return ", ".join(part for part in (f"crash after {effects}", with_) if part)


def _down(story: Story) -> tuple[tuple[range, ...], ...]:
    stretches = []
    for name in story.lanes:
        found: list[range] = []
        since: int | None = None
        for at, moment in enumerate(story.moments):
            if since is not None and moment.node == name:
                found.append(range(since, at))
                since = None
            if name in moment.down:
                since = at
        if since is not None:
            found.append(range(since, len(story.moments)))
        stretches.append(tuple(found))
    return tuple(stretches)
