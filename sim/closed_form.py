"""The length of a recovery in closed form: fixed terms, and the catch-up that they cause.

Rule of this file: arithmetic alone; no family by name, no driver and no scenario.

R = D + rs + rd + (age + D + rs + rd) * rho / (1 - rho): while nothing is processed, events arrive
at the rate rho of the capacity, and those since the last complete checkpoint are processed again.
A family states which of the terms it has (model.outages).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from model.outages import OutageTerms, Since


@dataclass(frozen=True, slots=True)
class RecoveryTerms:
    """The terms of one recovery, in seconds; a family that has not a term gives 0.

    detection_s: from the crash to its detection.  restart_s: from there until the process runs.
    read_s: then, until its state is read back.  age_s: at the crash, the age of the last complete
    checkpoint.  busy: the share of its time for which the node works on events without failures.
    orphaned_s: the part of the detection in which the node goes on, since the crash is that of its
    leader.
    """

    detection_s: float
    restart_s: float
    read_s: float
    age_s: float
    busy: float
    orphaned_s: float = 0.0

    @property
    def outage_s(self) -> float:
        """From the crash until the node processes events again."""
        return self.detection_s + self.restart_s + self.read_s

    @property
    def catch_up_s(self) -> float:
        """From then until the node processes an event as soon after it came as without failures;
        replay included.  inf: the node has no time left for it."""
        behind = self.age_s + self.outage_s
        if self.busy >= 1:
            return inf
        return behind * self.busy / (1 - self.busy)

    @property
    def recovery_s(self) -> float:
        """From the crash until the node has caught up."""
        return self.outage_s + self.catch_up_s

    @property
    def repeated_s(self) -> float:
        """The stretch of input whose results come twice at a sink that writes each at once."""
        return self.age_s + self.orphaned_s


def restart_s(detection_s: float, timeout_s: float, delay_s: float, start_s: float) -> float:
    """The time from the detection to the restart, with a restart delay before each attempt.

    An attempt before the heartbeats have timed out goes to the dead process; the second one comes
    a delay after that.  start_s: from the attempt that succeeds.
    """
    first = detection_s + delay_s
    attempt = timeout_s + delay_s if first < timeout_s else first
    return attempt - detection_s + start_s


def applied(possible: RecoveryTerms, outage: OutageTerms) -> RecoveryTerms:
    """The terms that apply in a family, of those that are possible."""
    return RecoveryTerms(
        detection_s=possible.detection_s,
        restart_s=possible.restart_s if outage.restart else 0.0,
        read_s=possible.read_s if outage.read else 0.0,
        age_s=0.0 if outage.again is Since.NOTHING else possible.age_s,
        busy=possible.busy if outage.backlog else 0.0,
    )
