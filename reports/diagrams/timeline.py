"""The content of a space-time diagram, read from a story: arrows, notes, times of being down.

Rule of this file: no drawing, so that the picture and the terminal show the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.costs import MessageKind
from model.errors import Invalid
from model.results.culprit import Culprit, CulpritKind
from model.results.story import MomentKind, Story, StoryMoment, StoryRead, StoryWrite
from model.words import cut

CRASH, RESTART, STEP = "crash", "restart", "step"
DECIDED = "✗ no continuation is right from here"
_VALUE = 30
"""The length of a durable value in a note."""
_WRONG = {
    CulpritKind.MISSING: "too early",
    CulpritKind.TWICE: "twice",
    CulpritKind.MADE_UP: "made up",
    CulpritKind.COUNTED_TWICE: "counted twice",
    CulpritKind.OUT_OF_ORDER: "out of order",
}


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
class Emitted:
    """A result.  wrong: the fault in a word or two; "" of a result that is right."""

    text: str
    wrong: str = ""

    @property
    def words(self) -> str:
        """The result, with a mark that needs no colour if it is wrong."""
        return f"⇒ ✗ {self.text} ({self.wrong})" if self.wrong else f"⇒ {self.text}"


@dataclass(frozen=True, slots=True)
class LostMark:
    """The mark of the place where the last copy of something went."""

    lane: int
    words: str


@dataclass(frozen=True, slots=True)
class TimelineMoment:
    """A row of the diagram.

    mark: the mark on the lane.  handed: the input from outside, "" if there is none.  taken: the
    arrow that ends here.  stray: arrows that start here and end nowhere.  writes: durable values
    and the like, in words.  state, backup: the present ones of the node; "" and None if they have
    not changed.  crash: the place in the step where a crash struck, "" if none did.  others: the
    lanes of other nodes that went down with it.  lost: None unless the culprit was lost here.
    """

    lane: int
    mark: str
    handed: str
    taken: Arrow | None
    stray: tuple[Arrow, ...]
    words: str
    writes: tuple[str, ...]
    state: str
    backup: int | None
    crash: str
    others: tuple[int, ...]
    emits: tuple[Emitted, ...]
    lost: LostMark | None

    @property
    def parts(self) -> tuple[str, ...]:
        """The texts about the node itself."""
        backup = "" if self.backup is None else f"backup {self.backup}"
        return tuple(part for part in (self.words, *self.writes, self.state, backup) if part)

    @property
    def notes(self) -> str:
        """All texts about the node itself, on one line."""
        return " · ".join(self.parts)

    @property
    def side(self) -> int:
        """The side of the notes, away from the arrow: +1 right of the lane, -1 left of it."""
        return -1 if self.taken and self.taken.sender > self.taken.receiver else 1


@dataclass(frozen=True, slots=True)
class Timeline:
    """The lanes, moments and arrows of a diagram.

    down: for every lane, the half-open ranges of moments after which the node is down.  steps: for
    every moment, the number of its step; a step of a prompt site has that of the action it is a
    part of.  circle: the last moments, which repeat without end.  decided: the moment after which
    no continuation of the run is right; None: not known.
    """

    lanes: tuple[str, ...]
    moments: tuple[TimelineMoment, ...]
    arrows: tuple[Arrow, ...]
    down: tuple[tuple[range, ...], ...]
    steps: tuple[int, ...]
    circle: range = range(0)
    decided: int | None = None

    def number(self, at: int) -> str:
        """The number of the step, at its first moment; with a sign if it repeats without end."""
        number = f"{self.steps[at]}" if self.is_first(at) else ""
        return f"↻ {number}".rstrip() if at in self.circle else number

    @property
    def decisive(self) -> tuple[int, ...]:
        """The moments to show before others: marks of the culprit, faults, writes."""
        marks, faults, writes = [], [], []
        for at, moment in enumerate(self.moments):
            if at == self.decided or moment.lost or any(one.wrong for one in moment.emits):
                marks.append(at)
            elif moment.crash or moment.mark != STEP:
                faults.append(at)
            elif moment.writes:
                writes.append(at)
        return *marks, *faults, *writes

    @property
    def has_culprit(self) -> bool:
        """Is a wrong or a lost result marked?"""
        return any(moment.lost or any(one.wrong for one in moment.emits) for moment in self.moments)

    def is_first(self, at: int) -> bool:
        """Is the moment the first one of its step?"""
        return at == 0 or self.steps[at] != self.steps[at - 1]

    def is_down(self, lane: int, moment: int) -> bool:
        """Is the node down just after this moment?"""
        return any(moment in stretch for stretch in self.down[lane])


def captions(law: str, culprit: Culprit | None) -> tuple[str, ...]:
    """The paragraphs below a diagram: the fault of this run, then the law that it violates."""
    if not law:
        return ()
    if culprit is None or not culprit.says:
        return (f"Violated: {law}",)
    return f"Violated: {culprit.says}", f"Property: {law}"


def timeline(story: Story, culprit: Culprit | None = None) -> Timeline:
    """The timeline of a story, with the marks of the culprit.

    Raises Invalid if the story takes a message that nobody sent, or names an unknown lane, or if
    the culprit names a moment, a result or a node that the story does not have.
    """
    lane_of = {name: at for at, name in enumerate(story.lanes)}
    arrows = _arrows(story, lane_of)
    wrong = _wrong(story, culprit)
    lost = _lost(story, culprit, lane_of)
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
        unchanged = stopped or state == before[0]
        moments.append(
            TimelineMoment(
                lane=lane_of[moment.node],
                mark=_MARKS.get(moment.kind, STEP),
                handed=moment.label if moment.kind is MomentKind.INJECT else "",
                taken=taken.get(at),
                stray=tuple(a for a in arrows if a.sent_at == at and a.taken_at is None),
                words=_words(moment, with_),
                writes=tuple(map(_write, moment.writes)),
                state=moment.changes if unchanged else state or "holds nothing",
                backup=None if stopped or (backup or 0) == before[1] else backup,
                crash=_cut(moment, with_),
                others=tuple(lane_of[other] for other in others),
                emits=tuple(
                    Emitted(text, wrong.get((at, place), ""))
                    for place, text in enumerate(moment.emits)
                ),
                lost=lost.get(at),
            )
        )
    return Timeline(
        lanes=story.lanes,
        moments=tuple(moments),
        arrows=arrows,
        down=_down(story),
        steps=story.steps,
        circle=range(len(moments) - story.circle, len(moments)),
        decided=_decided(story, culprit),
    )


def _wrong(story: Story, culprit: Culprit | None) -> Mapping[tuple[int, int], str]:
    """The fault of each wrong result, by its moment and its place there."""
    if culprit is None:
        return {}
    for one in culprit.wrong:
        if not 0 <= one.emit < len(_moment(story, one.moment).emits):
            raise Invalid(f"culprit: moment {one.moment} has no result {one.emit}")
    return dict.fromkeys(culprit.wrong, _WRONG.get(culprit.kind, "wrong"))


def _lost(
    story: Story, culprit: Culprit | None, lane_of: Mapping[str, int]
) -> Mapping[int, LostMark]:
    """The mark of the place where the culprit was lost, by its moment."""
    if culprit is None or culprit.lost is None:
        return {}
    at, node = culprit.lost
    _moment(story, at)
    if node not in lane_of:
        raise Invalid(f"culprit: {node!r} has no lane")
    words = f"✗ {culprit.result} is lost here" if culprit.result else "✗ lost here"
    return {at: LostMark(lane_of[node], words)}


def _decided(story: Story, culprit: Culprit | None) -> int | None:
    """The last moment of the step that decides: a step is done when its prompt sites are."""
    if culprit is None or culprit.decided is None:
        return None
    _moment(story, culprit.decided)
    at = culprit.decided + 1
    while at < len(story.moments) and story.moments[at].part:
        at += 1
    return at - 1


def _moment(story: Story, at: int) -> StoryMoment:
    if not 0 <= at < len(story.moments):
        raise Invalid(f"culprit: the story has no moment {at}")
    return story.moments[at]


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
            restart = f"restart ({moment.label})" if moment.label else "restart"
            reads = ", ".join(map(_read, moment.reads))
            return f"{restart}, reads {reads}" if reads else restart
        case MomentKind.SUSPECT | MomentKind.REREAD | MomentKind.DISTURB:
            return moment.label
        case MomentKind.TIMEOUT:
            return f"timer {moment.label}"
        case _:
            return ""


def _write(write: StoryWrite) -> str:
    return replace(write, label=cut(write.label, _VALUE)).words


def _read(read: StoryRead) -> str:
    label = cut(read.label, _VALUE) or "nothing"
    return f"{label} from {read.file}" if read.file else label


def _cut(moment: StoryMoment, with_: str) -> str:
    """The crash within a step, in words."""
    count = moment.cut
    if count is None:
        return ", ".join(part for part in ("fails", with_) if part) if moment.fails else ""
    effects = f"after {count} effect" if count == 1 else f"after {count} effects"
    place = f"before {moment.undone}" if moment.undone else effects
    return ", ".join(part for part in (f"crash {place}", with_) if part)


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
