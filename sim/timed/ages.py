"""The ages of events when nodes begin with them, and the ages that are usual.

Rule of this file: no family and no kind of message; an event itself has the time of its hand-out.

The age of an event at a node is the time from the hand-out of the input event that triggers it
until the node begins with it.  Usual is an age of the run without failures, in the same of
STRETCHES parts of the input: in a burst, greater ages are usual than before it.  Queues that only
approach their old length have caught up: an age is usual, too, if it is longer by one SLACK-th of
the time from the hand-out until the node has processed the event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from model.core import Effect, Input, NodeName, Received, Send, TimerFired
from model.events import Body
from model.protocol import Protocol
from model.system import size_of
from sim.timed.network import TimedNode

STRETCHES = 60
"""The number of parts of the input whose ages are kept apart."""
SLACK = 20
"""The part of a time that does not count: a twentieth."""


def times_of(message: Any) -> Iterator[int]:
    """The times of the events in a message, in units; a complex event has that of its trigger."""
    if isinstance(message, Body):
        yield message.time
    elif isinstance(message, tuple):
        for part in message:
            yield from times_of(part)
    else:
        for name in getattr(message, "__match_args__", ()):
            yield from times_of(getattr(message, name))


class DataStep(NamedTuple):
    """A step on events of the stream.

    job: that of the node.  sender: the job of the node that sent the events.  handed_out: of each
    of them.  began, done: the step begins, and its effects take place.  Times in picoseconds.
    """

    job: NodeName
    sender: NodeName
    handed_out: tuple[int, ...]
    began: int
    done: int

    @property
    def oldest(self) -> int:
        return min(self.handed_out)

    @property
    def age(self) -> int:
        return self.began - self.oldest


def data_step(
    protocol: Protocol,
    node: TimedNode,
    input_: Input | None,
    effects: tuple[Effect, ...],
    events: int,
    times: tuple[int, int],
    unit_ps: int,
) -> DataStep | None:
    """The step, if its input is a message with events of the stream, or a timer on which the node
    sends some that it had.  events: their number in the input.  times: began, done."""
    if isinstance(input_, Received) and events:
        messages = [input_.message]
        sender = node.jobs_before.get(input_.sender, input_.sender)
    elif isinstance(input_, TimerFired):
        sent = (effect.message for effect in effects if isinstance(effect, Send))
        messages = [message for message in sent if size_of(protocol, message).events]
        sender = node.job
    else:
        return None
    found = tuple(time * unit_ps for message in messages for time in times_of(message))
    return DataStep(node.job, sender, found, *times) if found else None


class StretchAges:
    """The ages of events between two jobs, by stretch: the largest one (None: no event), the
    longest time from the hand-out until an event was processed, and the number of events."""

    def __init__(self) -> None:
        self.largest: list[int | None] = [None] * STRETCHES
        self.longest = [0] * STRETCHES
        self.events = [0] * STRETCHES

    def add(self, step: DataStep, stretch: int) -> None:
        self.largest[stretch] = max(self.largest[stretch] or 0, step.age)
        self.longest[stretch] = max(self.longest[stretch], step.done - step.oldest)
        self.events[stretch] += len(step.handed_out)

    def usual(self) -> list[int]:
        """By stretch, the largest usual age: of events in it, and in the next ones with events at
        either side."""
        slack = [longest // SLACK for longest in self.longest]
        pairs = zip(self.largest, slack, strict=True)
        largest = [None if age is None else age + more for age, more in pairs]
        found = []
        for at in range(STRETCHES):
            before = (age for age in reversed(largest[:at]) if age is not None)
            after = (age for age in largest[at + 1 :] if age is not None)
            found.append(max(largest[at] or 0, next(before, 0), next(after, 0)))
        return found


class UsualAges(NamedTuple):
    """The ages of a run without failures, in picoseconds.

    unit_ps: the length of a time unit.  width: that of a stretch.  ages, events: the largest usual
    age, and the number of events, by job, sender and stretch.
    """

    unit_ps: int
    width: int
    ages: Mapping[NodeName, Mapping[NodeName, Sequence[int]]]
    events: Mapping[NodeName, Mapping[NodeName, Sequence[int]]]

    def senders(self, job: NodeName) -> frozenset[NodeName]:
        """The jobs that send events to this one."""
        return frozenset(self.ages.get(job, ()))

    def usual(self, step: DataStep) -> int:
        """The largest usual age of its events; 0 if this sender usually sends none."""
        ages = self.ages.get(step.job, {}).get(step.sender)
        return ages[_stretch(step.oldest, self.width)] if ages else 0


class AgeRecord:
    """The ages in a run without failures, while it lasts.

    watched: the nodes whose ages are kept, with all nodes of the same job.  ends_ps: the time of
    the last input event.
    """

    def __init__(self, watched: frozenset[NodeName], ends_ps: int, unit_ps: int) -> None:
        self.watched, self.unit_ps = watched, unit_ps
        self.width = ends_ps // STRETCHES + 1
        self.jobs: dict[NodeName, dict[NodeName, StretchAges]] = {}

    def add(self, step: DataStep) -> None:
        ages = self.jobs.setdefault(step.job, {}).setdefault(step.sender, StretchAges())
        ages.add(step, _stretch(step.oldest, self.width))

    def usual(self) -> UsualAges:
        """The ages at the end of the run."""
        jobs = self.jobs.items()
        return UsualAges(
            self.unit_ps,
            self.width,
            {job: {sender: ages.usual() for sender, ages in of.items()} for job, of in jobs},
            {job: {sender: ages.events for sender, ages in of.items()} for job, of in jobs},
        )


def _stretch(handed_out: int, width: int) -> int:
    return min(handed_out // width, STRETCHES - 1)
