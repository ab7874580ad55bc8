"""The checkpoints of a timed run: how long each was under way, and its age when a node crashed.

Rule of this file: no family; the notes of a family say when a checkpoint begins and ends
(model.protocol.CheckpointNotes).
"""

from __future__ import annotations

from model.core import Quantity
from model.protocol import CheckpointNotes
from model.results.simulation import Checkpoints
from sim.timed.costs import PS


class CheckpointClock:
    """The checkpoints so far.

    begun_at: the one under way; None: none is.  restored_from: the time at which the last complete
    one began, or the start of the run.  took: in all, and the longest; in picoseconds.
    """

    def __init__(self, notes: CheckpointNotes) -> None:
        self.notes = notes
        self.begun = self.complete = self.given_up = self.took = self.longest = 0
        self.begun_at: int | None = None
        self.restored_from = 0
        self.ages: list[int] = []

    def note(self, what: Quantity, now: int) -> None:
        """Take a note about a checkpoint; other notes change nothing."""
        if what == self.notes.begun:
            self.begun, self.begun_at = self.begun + 1, now
        elif what == self.notes.complete and self.begun_at is not None:
            took = now - self.begun_at
            self.complete, self.took = self.complete + 1, self.took + took
            self.longest = max(self.longest, took)
            self.restored_from, self.begun_at = self.begun_at, None
        elif what == self.notes.given_up:
            self.given_up, self.begun_at = self.given_up + 1, None

    def strike(self, now: int) -> None:
        """A crash: a restart replays the events since the last complete checkpoint began."""
        self.ages.append(now - self.restored_from)

    def result(self) -> Checkpoints:
        return Checkpoints(
            begun=self.begun,
            complete=self.complete,
            given_up=self.given_up,
            mean_s=self.took / self.complete / PS if self.complete else None,
            longest_s=self.longest / PS if self.complete else None,
            ages_s=tuple(age / PS for age in self.ages),
        )
