"""The ages of events when nodes have processed them, and the ages that are usual.

Rule of this file: no family and no kind of message; an event itself has the time of its hand-out.

The age of an event at a node is the time from the hand-out of the input event that triggers it
until the node has processed it.  Usual is an age of the run without failures, in the same of
STRETCHES parts of the input: in a burst, greater ages are usual than before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from model.core import Input, NodeName, Received
from model.events import Body
from sim.timed.network import TimedNode

STRETCHES = 60
"""The number of parts of the input whose ages are kept apart."""


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

    job: that of the node.  sender: the job of the node that sent the events.  handed_out: the
    oldest of them, in picoseconds.  events: their number.  done: the effects take place.
    """

    job: NodeName
    sender: NodeName
    handed_out: int
    events: int
    done: int

    @property
    def age(self) -> int:
        return self.done - self.handed_out


def data_step(
    node: TimedNode, input_: Input | None, events: int, done: int, unit_ps: int
) -> DataStep | None:
    """The step, if its input is a message with events of the stream.  events: their number."""
    if not events or not isinstance(input_, Received):
        return None
    oldest = min(times_of(input_.message), default=None)
    if oldest is None:
        return None
    sender = node.jobs_before.get(input_.sender, input_.sender)
    return DataStep(node.job, sender, oldest * unit_ps, events, done)


class JobAges:
    """The ages at the nodes with one job, by stretch: the largest one (None: no event), and the
    number of events.  senders: the jobs that sent them."""

    def __init__(self) -> None:
        self.largest: list[int | None] = [None] * STRETCHES
        self.events = [0] * STRETCHES
        self.senders: set[NodeName] = set()

    def add(self, step: DataStep, stretch: int) -> None:
        self.largest[stretch] = max(self.largest[stretch] or 0, step.age)
        self.events[stretch] += step.events
        self.senders.add(step.sender)

    def usual(self) -> list[int]:
        """By stretch, the largest age in it and in the next ones with events at either side."""
        found = []
        for at in range(STRETCHES):
            before = (age for age in reversed(self.largest[:at]) if age is not None)
            after = (age for age in self.largest[at + 1 :] if age is not None)
            found.append(max(self.largest[at] or 0, next(before, 0), next(after, 0)))
        return found


class UsualAges(NamedTuple):
    """The ages of a run without failures, by job, in picoseconds.

    unit_ps: the length of a time unit.  width: that of a stretch.  ages, events, senders: as in
    JobAges.
    """

    unit_ps: int
    width: int
    ages: Mapping[NodeName, Sequence[int]]
    events: Mapping[NodeName, Sequence[int]]
    senders: Mapping[NodeName, frozenset[NodeName]]

    def usual(self, job: NodeName, handed_out: int) -> int:
        """The largest usual age of events that are handed out at this time."""
        ages = self.ages.get(job)
        return ages[_stretch(handed_out, self.width)] if ages else 0


class AgeRecord:
    """The ages in a run without failures, while it lasts.

    watched: the nodes whose ages are kept, with all nodes of the same job.  ends_ps: the time of
    the last input event.
    """

    def __init__(self, watched: frozenset[NodeName], ends_ps: int, unit_ps: int) -> None:
        self.watched, self.unit_ps = watched, unit_ps
        self.width = ends_ps // STRETCHES + 1
        self.jobs: dict[NodeName, JobAges] = {}

    def add(self, node: TimedNode, input_: Input, events: int, done: int) -> None:
        """Keep the ages of the events that the node has processed at `done`."""
        step = data_step(node, input_, events, done, self.unit_ps)
        if step is not None:
            ages = self.jobs.setdefault(node.job, JobAges())
            ages.add(step, _stretch(step.handed_out, self.width))

    def usual(self) -> UsualAges:
        """The ages at the end of the run."""
        jobs = self.jobs.items()
        return UsualAges(
            self.unit_ps,
            self.width,
            {job: one.usual() for job, one in jobs},
            {job: one.events for job, one in jobs},
            {job: frozenset(one.senders) for job, one in jobs},
        )


def _stretch(handed_out: int, width: int) -> int:
    return min(handed_out // width, STRETCHES - 1)
