"""The recovery of a job that restarts as a whole from its last complete checkpoint, predicted.

Rule of this file: no time is computed here.  A scenario file has the costs, and the simulator runs
it: `asif simulate` prints the same for the same file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from model.errors import Invalid
from sim.closed_form import RecoveryTerms
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read

OPERATOR = "count"
DETECTION_S = 0.001
"""The detection in the scenario; the outage that was measured is in the restart, but for it."""
SPARE_S = 2.0
"""The stream goes on for so long after the end of the recovery."""


class PacedJob(NamedTuple):
    """A job: events a second, and the seconds from one checkpoint to the next."""

    rate_per_s: float
    interval_s: float


class RecoveryParts(NamedTuple):
    """A kill that was measured; seconds.

    age_s: at the kill, since the beginning of the last complete checkpoint.  outage_s: from the
    kill to the first output.  recovery_s: from the kill until an event is processed as soon after
    it came as before.  replayed: events that had an output before the kill, and another after it.
    service_s: of an event, while the job catches up.  checkpoint_s: of the checkpoint that was
    restored, from its beginning to its end.
    """

    age_s: float
    outage_s: float
    recovery_s: float
    replayed: int
    service_s: float
    checkpoint_s: float


class RecoveryCosts(NamedTuple):
    """Seconds: of an event, of a checkpoint, and from a kill to the first output."""

    service_s: float
    checkpoint_s: float
    outage_s: float


class RecoveryPrediction(NamedTuple):
    """The same quantities as of RecoveryParts.  same: is the output of a sink with two phases that
    of a run without failures?"""

    same: bool
    replayed: int
    recovery_s: float


def calibrate(kills: Sequence[RecoveryParts]) -> RecoveryCosts:
    """The costs that these kills had: the median of each.  Raises Invalid if there are none."""
    if not kills:
        raise Invalid("no kill to calibrate on; give one or more")
    return RecoveryCosts(
        median(kill.service_s for kill in kills),
        median(kill.checkpoint_s for kill in kills),
        median(kill.outage_s for kill in kills),
    )


def scenario(job: PacedJob, costs: RecoveryCosts, age_s: float, about: str) -> str:
    """A scenario file: the job with these costs, one kill, and its only complete checkpoint so old.

    about: a line of comment.  Raises Invalid if the job is too busy to catch up, or its outage is
    shorter than one event.
    """
    busy = job.rate_per_s * costs.service_s
    restart_s = costs.outage_s - DETECTION_S - costs.service_s  # the first output ends an outage
    if busy >= 1 or restart_s < 0:
        raise Invalid(
            f"{job.rate_per_s:g} events a second of {costs.service_s:g} s, and an outage of "
            f"{costs.outage_s:g} s: give a job that is busy for less than all of its time, and an "
            "outage longer than one event"
        )
    terms = RecoveryTerms(DETECTION_S, restart_s, 0.0, age_s, busy)
    # The checkpoint that the next tick begins is not complete at the kill.
    every_s = max(job.interval_s, age_s)
    at_s = every_s + age_s
    return TEMPLATE.format(
        about=about,
        seconds=_number(at_s + terms.recovery_s + SPARE_S),
        rate_per_s=_number(job.rate_per_s),
        operator=OPERATOR,
        service_s=_number(costs.service_s),
        checkpoint_s=_number(costs.checkpoint_s),
        every_s=_number(every_s),
        detection_s=_number(DETECTION_S),
        restart_s=_number(restart_s),
        at_s=_number(at_s),
    )


TEMPLATE = """\
# {about}
protocol = "abs"

[knobs]
snapshots = "asynchronous"
sources = "seeking"
writes = "two-phases"

[stream]
seconds = {seconds}
rate_per_s = {rate_per_s}
arrivals = "constant"
types = {{ event = 1.0 }}

[[operators]]
name = "{operator}"
selectivity = 1.0

[costs.service]
event_s = {service_s}
control_s = 0.0

[costs.link]
delay_s = 0.0

[costs.stores.coordinator]
transaction_s = {checkpoint_s}  # a checkpoint, from its beginning to its end

[costs.timers]
epoch = {{ every_s = {every_s}, phase_s = {every_s} }}

[detector]
keep_alive_s = {detection_s}  # the rest of the outage is in restart_s
misses = 1
restart_s = {restart_s}
whole_pipeline = true

[[failures]]
nodes = ["{operator}"]
at_s = {at_s}
"""


def predict(file: Path) -> RecoveryPrediction:
    """The prediction of a scenario file with one kill.

    Raises Invalid as `asif simulate` does, or if the input ends before the job has caught up.
    """
    found = simulate(read(file))
    course = found.failures[0]
    if course.recovery_s is None or course.cut_off:
        raise Invalid(f"{file}: the input ends before the job has caught up; give more seconds")
    return RecoveryPrediction(found.same, found.metrics.events_again, course.recovery_s)


def _number(value: float) -> str:
    return repr(round(float(value), 6))
