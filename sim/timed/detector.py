"""The failure detector: when a failure is noticed, and when its nodes run again.

Rule of this file: no node and no run; times of one failure alone, in whole picoseconds.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import Field

from sim.timed.costs import None_or_more, ScenarioTable, Some, picoseconds

FailureKind: TypeAlias = Literal["process", "host", "pause"]
"""process: a process ends, and its connections break.  host: a host is gone, and no connection
breaks.  pause: a process is suspended, and wakes later."""


class OutageTimes(NamedTuple):
    """The fixed times of an outage, in picoseconds from the start of the run.

    detected: the failure is noticed.  back: its nodes run again.
    """

    detected: int
    back: int


class Detector(ScenarioTable):
    """The failure detector.  At each multiple of the period, every node reports that it is alive;
    after `misses` missing reports in a row, the detector takes the node for crashed and starts it
    again.  The time-outs below take the place of missing reports where the scenario has them."""

    keep_alive_s: Some = 0.1
    """The period of the reports."""
    misses: Annotated[int, Field(ge=1)] = 3
    """The number of missing reports in a row."""
    connection_s: Some | None = None
    """From the end of a process (`kind` of a failure) until its broken connections are noticed;
    without it, only missing reports show that the process is gone."""
    timeout_s: Some | None = None
    """From a failure to the time-out of its heartbeats, in place of missing reports: the detection
    then has one length, whatever the phase of the reports."""
    session_s: Some | None = None
    """From the crash of a node that leads the others, such as a coordinator, until its session
    times out.  The others go on and write until then; without it, until its heartbeats time out."""
    delay_s: None_or_more | None = None
    """The restart delay, from the detection to the attempt to restart.  An attempt before the
    heartbeats have timed out goes to the dead process; the second one comes a delay after the
    time-out."""
    restart_s: None_or_more = 0.5
    """The time from the detection, or from the end of the restart delay, to the restart."""
    whole_pipeline: bool = False
    """When a crash is detected, all other nodes that may crash are stopped, too, and all restart at
    the same time; a node that leads them goes on, and restarts last if it has crashed."""

    def outage(
        self, crashed_ps: int, kind: FailureKind = "process", *, leads: bool = False
    ) -> OutageTimes:
        """The fixed times of the outage after a failure of this kind.  leads: of a node that leads
        the others."""
        silent = self._silent_ps(crashed_ps)
        if leads:
            session = self.session_s
            detected = silent if session is None else crashed_ps + picoseconds(session)
            return OutageTimes(detected, detected + picoseconds(self.restart_s))
        detected = silent
        if kind == "process" and self.connection_s is not None:
            detected = min(silent, crashed_ps + picoseconds(self.connection_s))
        attempt = detected
        if self.delay_s is not None:
            delay = picoseconds(self.delay_s)
            attempt = detected + delay
            if attempt < silent:  # it goes to the dead process
                attempt = silent + delay
        return OutageTimes(detected, attempt + picoseconds(self.restart_s))

    def detecting_key(self, kind: FailureKind, *, leads: bool) -> str:
        """The keys of a scenario that give the detection of such a failure its length."""
        if leads and self.session_s is not None:
            return "detector.session_s"
        if kind == "process" and self.connection_s is not None and not leads:
            return "detector.connection_s"
        if self.timeout_s is not None:
            return "detector.timeout_s"
        return "detector.keep_alive_s x misses"

    def _silent_ps(self, crashed_ps: int) -> int:
        """The time at which missing reports show a failure, or heartbeats have timed out.  A node
        that fails at the very time of a report has still sent the report."""
        if self.timeout_s is not None:
            return crashed_ps + picoseconds(self.timeout_s)
        period = max(1, picoseconds(self.keep_alive_s))
        return (crashed_ps // period + self.misses) * period
