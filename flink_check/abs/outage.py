"""The parts of an outage, from a kill to the first output, and their shares of its variance.

Rule of this file: arithmetic; it calls no engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple


class OutageMoments(NamedTuple):
    """Moments of an outage in order, in seconds since the epoch: the kill; the job manager notices
    it; the restart delay is over; all tasks have a slot; the first output."""

    killed_s: float
    noticed_s: float
    restarted_s: float
    placed_s: float
    output_s: float

    def parts(self) -> OutageParts:
        """The times between the moments."""
        return OutageParts(
            detection_s=self.noticed_s - self.killed_s,
            delay_s=self.restarted_s - self.noticed_s,
            process_s=self.placed_s - self.restarted_s,
            deployment_s=self.output_s - self.placed_s,
        )


class OutageParts(NamedTuple):
    """Seconds.  detection_s: from the kill until it is noticed.  delay_s: then, the restart delay
    of the settings.  process_s: then, until the new process offers its slot (the start of its JVM,
    as far as it lasts longer than the parts before).  deployment_s: then, until the first output:
    deployment, the state that is read back, and the first event."""

    detection_s: float
    delay_s: float
    process_s: float
    deployment_s: float

    @property
    def outage_s(self) -> float:
        """The sum of the parts."""
        return sum(self)


PARTS = MappingProxyType(
    {
        "detection_s": "detection",
        "delay_s": "restart delay",
        "process_s": "start of the process",
        "deployment_s": "deployment",
    }
)
"""The names of the parts for people."""


def variance_shares(series: Sequence[Sequence[OutageParts]]) -> Mapping[str, float]:
    """By part, its share of the variance of the outages: the covariance with the outage, divided by
    the variance of the outage, so that the shares add up to 1.

    series: kills with the same settings; only differences within a series count.  Nothing varies:
    no shares.
    """
    varied = [one for kills in series for one in _centred(kills)]
    variance = sum(one.outage_s**2 for one in varied)
    if not variance:
        return {}
    return {
        called: sum(getattr(one, name) * one.outage_s for one in varied) / variance
        for name, called in PARTS.items()
    }


def _centred(kills: Sequence[OutageParts]) -> list[OutageParts]:
    """The parts, each less its mean."""
    means = [fmean(part) for part in zip(*kills, strict=True)]
    return [
        OutageParts(*(part - mean for part, mean in zip(kill, means, strict=True)))
        for kill in kills
    ]


def explained_share(usual: Sequence[float], own: Sequence[float]) -> float | None:
    """The share of the squared errors that is gone when each prediction has its own outage.

    usual, own: the errors of the same predictions with the usual outage, and with their own.  None:
    there is no error.
    """
    before, after = (sum(error**2 for error in errors) for errors in (usual, own))
    return 1 - after / before if before else None
