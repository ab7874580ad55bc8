"""Places where a job can be stopped, in whichever of its processes comes there.

Rule of this file: it imports little.  Spark starts a process for nearly every call of a Python data
source, and the imports of these processes take most of the time of a short run.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

POLL_S = 0.01

JsonSettings: TypeAlias = Mapping[str, Any]
"""The settings of a job, as the process that starts it writes them: JSON."""


class Breakpoints(NamedTuple):
    """Places where a job can be stopped; picklable, so workers have them too.

    folder: of the files by which stops are known.  armed: place -> how many times a job passes it
    before it stops there.
    """

    folder: str
    armed: Mapping[str, int] = {}

    def here(self, place: str) -> None:
        """Stop if armed; the process that stops is killed or continued.  A place stops once.

        The process ends with the one that started it.
        """
        if place not in self.armed:
            return
        root = Path(self.folder)
        for passed in range(self.armed[place] + 1):
            try:
                (root / f"{place}.{passed}").touch(exist_ok=False)
            except FileExistsError:
                continue
            if passed < self.armed[place]:
                return
            mark = root / f"{place}.stopped"
            part = mark.with_suffix(".part")
            part.write_text(json.dumps({"pid": os.getpid(), "at": time.time()}))
            part.rename(mark)
            parent = os.getppid()
            while not (root / f"{place}.go").exists():
                if os.getppid() != parent:
                    os._exit(1)
                time.sleep(POLL_S)
            return
