"""The costs of the parts of a recovery, from recoveries that were measured.

Rule of this file: it reads measured times, and fits; nothing is run or predicted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from sim.predictions.cec import ExtentCosts
from sim.predictions.linear import fit_line


class ExtentParts(NamedTuple):
    """A measured recovery under CEC; seconds.

    read: records in the files that the scan read.  loaded: windows and replayed tuples.  scan_s:
    repair and scan.  load_s: from then on until the replay has reached the newest record.  rest_s:
    the batch that had crashed.
    """

    read: int
    loaded: int
    scan_s: float
    load_s: float
    rest_s: float

    @property
    def total_s(self) -> float:
        return self.scan_s + self.load_s + self.rest_s


class RivalRestart(NamedTuple):
    """A measured restart on Spark's own checkpoint.  windows: in its state."""

    windows: int
    total_s: float


def calibrate(runs: Sequence[ExtentParts]) -> ExtentCosts:
    """The costs.  Raises Invalid unless two runs differ in size."""
    return ExtentCosts(
        scan=fit_line([run.read for run in runs], [run.scan_s for run in runs]),
        load=fit_line([run.loaded for run in runs], [run.load_s for run in runs]),
        batch_s=fmean(run.rest_s for run in runs),
    )
