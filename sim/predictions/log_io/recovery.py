"""The time of a recovery under LOG.io, given the costs of its parts.

Rule of this file: arithmetic; how many parts there are says replay.py, from a run of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from sim.predictions.log_io.replay import TaskWork


class ReplayParts(NamedTuple):
    """A recovery that was measured; seconds.  start_s: from the start of the query until its task
    begins.  restore_s: until the operators have recovered.  rest_s: until the task has ended."""

    work: TaskWork
    start_s: float
    restore_s: float
    rest_s: float

    @property
    def total_s(self) -> float:
        return self.start_s + self.restore_s + self.rest_s


class ReplayCosts(NamedTuple):
    """Seconds.  start_s: until the task begins.  replay_s: for each undone input that is read
    again.  commit_s: for each transaction of the log or of the external system, with the work
    around it."""

    start_s: float
    replay_s: float
    commit_s: float

    def recovery_s(self, work: TaskWork) -> float:
        """The time until the external system has all of the batch that crashed."""
        return self.start_s + self.replay_s * work.replayed + self.commit_s * work.commits


def calibrate(runs: Sequence[ReplayParts], commit_s: float) -> ReplayCosts:
    """The costs that these runs had; each of them replays inputs.

    commit_s: the cost of a transaction in the pipeline before it failed.  It depends on the disk,
    which other work may slow down by ten times from one minute to the next.
    """
    return ReplayCosts(
        median(run.start_s for run in runs),
        sum(run.restore_s for run in runs) / sum(run.work.replayed for run in runs),
        commit_s,
    )
