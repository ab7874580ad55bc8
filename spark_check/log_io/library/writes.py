"""Write actions on external systems: one at a time, checked before one is repeated.

Rule of this file: nothing but Algorithms 5 and 8.

LOG.io, Sections 3.5.3, 4.3 and 4.4.  The paper executes and replays "each" pending write.  Then an
idempotent write is not repeated directly after itself (w1 w2 w1 w2), and a new write overtakes one
whose status is still asked for.  Here the next write waits for the success of the one before.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping

from spark_check.log_io.library.log import Log
from spark_check.log_io.library.values import Event, LogError


class External(typing.Protocol):
    """An external system.  A write that is neither checkable nor idempotent may happen twice.

    A request may still be under way when the operator that sent it is gone.  So "no" promises more
    than the present: **after `is_done` has answered no, no request from before takes effect.**  A
    system keeps this promise by a fence: each request has the number of its session, the question
    begins a new session, and requests of older sessions are refused from then on.  A system that
    only looks into its books answers "no" while a request waits, and the write happens twice.

    A system that executes each number of a connection once, whenever requests come, needs no fence:
    an older request for a write and the new one are one write there.
    """

    def execute(self, write: Event) -> None:
        """Return when the write is durable.  Raise to give up; it is pending then, and its request
        may still take effect: execute_writes with `check` is next."""

    def is_done(self, write: Event) -> bool:
        """Has the write taken effect?  No: it has not, and no older request will take effect.

        A system with idempotent writes may answer no without a look, and has to keep the promise:
        a request that is late would undo the writes after it.
        """


def execute_writes(
    log: Log, operator: str, systems: Mapping[str, External], *, check: bool
) -> None:
    """Execute the operator's pending writes, by number.

    systems: by connection.  check: ask first whether a write has taken effect (Algorithm 8, step
    2.a): an operator must after a restart, and after this function has raised; a running one has
    nothing to ask for.  Raises LogError, and executes nothing, if a connection has no system, and
    executes no further write if another process has taken the operator over.
    """
    writes = log.get_write_actions(operator)
    unknown = {one.receiver_port for one in writes} - {*systems}
    if unknown:
        raise LogError(f"{operator}: give an external system for {', '.join(sorted(unknown))}")
    for write in writes:
        system = systems[write.receiver_port]
        if not (check and system.is_done(write)):
            log.check(operator)  # `is_done` may have taken long
            system.execute(write)
        log.done_event(write)
