"""The limits of a search of `asif choose`: refused before a run, with an estimate.

Rule of this file: magnitudes alone; the shape of a table is in sim.choose.workload.
"""

from __future__ import annotations

from model.limits import Limit

LENGTHS = Limit(1_000, 10.0, 0, "give fewer")
"""Of a timer, that are tried for each protocol."""
REPLICATIONS = Limit(10_000, 10.0, 0, "give fewer")
LIMITS = {"lengths": LENGTHS, "refinements": LENGTHS, "replications": REPLICATIONS}
"""By the key of [search]."""
