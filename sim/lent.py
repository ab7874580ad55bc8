"""What the simulator lends to runs on another engine, by name: predictions, and inputs to run on.

Rule of this file: whoever runs the protocols elsewhere is handed these functions, since engines and
the simulator do not know each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sim.batches import run
from sim.flights import departures, flight_workload
from sim.predicted import micro_batches

LENT: Mapping[str, Callable[..., Any]] = {
    "flights": flight_workload,
    "departures": departures,
    "micro-batches": micro_batches,
    "upstream backup": run,
}
