"""Independent calls in several processes, for the parts of a command that do not depend on others.

Rule of this file: it knows nothing of the calls.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

from model.progress import Progress

T = TypeVar("T")


def side_by_side(
    stage: str, calls: Mapping[str, Callable[[], T]], watch: Progress, workers: int = 2
) -> dict[str, T]:
    """The results of named calls, in their order; calls and results travel between processes."""
    context = multiprocessing.get_context("spawn")
    watch(stage, 0, len(calls))
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        running = {pool.submit(call): name for name, call in calls.items()}
        try:
            for done, future in enumerate(as_completed(running), 1):
                watch(stage, done, len(calls), running[future])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return {name: future.result() for future, name in running.items()}
