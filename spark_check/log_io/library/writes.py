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
    """An external system.  A write that is neither checkable nor idempotent may happen twice."""

    def execute(self, write: Event) -> None:
        """Return when the write is durable.  Raise to give up; it is pending then."""

    def is_done(self, write: Event) -> bool:
        """Has the write taken effect?  A system with idempotent writes may always answer no."""


def execute_writes(
    log: Log, operator: str, systems: Mapping[str, External], *, check: bool
) -> None:
    """Execute the operator's pending writes, by number.

    systems: by connection.  check: ask first whether a write has taken effect (Algorithm 8, step
    2.a): a restarted operator must, a running one has nothing to ask for.  Raises LogError, and
    executes nothing, if a connection has no system.
    """
    writes = log.get_write_actions(operator)
    unknown = {one.receiver_port for one in writes} - {*systems}
    if unknown:
        raise LogError(f"{operator}: give an external system for {', '.join(sorted(unknown))}")
    for write in writes:
        system = systems[write.receiver_port]
        if not (check and system.is_done(write)):
            system.execute(write)
        log.done_event(write)
