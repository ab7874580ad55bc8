"""Where a check ran: the day, the versions of the engine, Java and Python, the cores, their load.

Rule of this file: it asks this machine, and measures no check.
"""

from __future__ import annotations

import os
import platform
from datetime import date

from engine_check.engine import CheckedEngine
from model.results.engine import EngineMachine


def engine_machine(engine: CheckedEngine) -> EngineMachine:
    """This machine, now."""
    return EngineMachine(
        day=date.today().isoformat(),
        engine=engine.title,
        version=engine.version(),
        java=engine.java(),
        python=platform.python_version(),
        cores=os.cpu_count() or 1,
        load=load(),
    )


def load() -> float:
    """Processes that run or are ready to run on this machine, over the last minute."""
    return round(os.getloadavg()[0], 1)
