"""Waiting for a state of the cluster, with a time limit.

Rule of this file: the only place where the runtime sleeps, and never without asking again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
POLL_S = 0.02


class Unanswered(RuntimeError):
    """The cluster did not answer a question, or answered with an error."""


def wait_for(
    read: Callable[[], T | None],
    state: str,
    timeout_s: float = 60,
    watch: Callable[[], None] = lambda: None,
) -> T:
    """The first value of `read` that is true; an Unanswered question is asked again.

    state: the beginning of "...: not in 60 s", for people.  watch: is called before each question,
    and raises an error that makes waiting vain.  Raises TimeoutError with the last answer.
    """
    until, last = time.monotonic() + timeout_s, ""
    while True:
        watch()
        try:
            found = read()
            if found:
                return found
            last = f"the last answer is {found!r}"
        except Unanswered as error:
            last = str(error)
        if time.monotonic() > until:
            raise TimeoutError(f"{state}: not in {timeout_s:g} s; {last}")
        time.sleep(POLL_S)
