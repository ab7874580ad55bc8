"""The LOG.io context of an operator: the numbers that outlive a crash.

Rule of this file: a context is a value; each method returns another one, and reads no table.

LOG.io, Sections 3.4 and 4.3.  The paper restores "the latest event_ID sent" and the greatest one
received from EVENT_LOG, from which Section 3.6 deletes done events: a restarted operator takes an
event twice, or numbers its outputs from 1 again.  Here the context has both, and is stored with
each Output Set (docs/explanation/findings.md, LOG.io).
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from spark_check.log_io.library.values import Event, InputSet, LogError, integer

JSON = json.JSONEncoder(sort_keys=True, default=operator.index)


@dataclass(frozen=True, slots=True)
class Context:
    """accepted: by input port, the greatest number accepted.  sent: by output port or connection,
    the latest number given.  in_sets: the greatest number of an Input Set.
    """

    accepted: Mapping[str, int] = field(default_factory=dict)
    sent: Mapping[str, int] = field(default_factory=dict)
    in_sets: int = 0

    def check_event(self, event: Event) -> bool:
        """Is the input new?  Table 7, CheckEvent; Algorithm 2, step 1.

        The paper discards numbers that are "smaller than the greatest"; an event that comes twice
        in a row has an equal one, so equal numbers are obsolete, too.
        """
        return event.number > self.accepted.get(event.receiver_port, 0)

    def order_of(self, event: Event) -> int:
        """The place of a new input among those of all ports, for assign_in_sets.

        Not in the paper: Algorithm 9, step 2, replays the undone inputs "in a round-robin fashion
        between port IDs", and may replay the last one of an Input Set before the others.
        """
        port = event.receiver_port
        return event.number + sum(n for name, n in self.accepted.items() if name != port)

    def new_in_set(self, key: str = "") -> tuple[Context, InputSet]:
        """The context, and a new Input Set (Section 3.4).  key: comes back after a restart."""
        number = self.in_sets + 1
        return replace(self, in_sets=number), InputSet(number, key)

    def see(self, event: Event, in_sets: Iterable[InputSet]) -> Context:
        """The context when the triggering conditions look at an input that is assigned to these
        Input Sets (Algorithm 2, steps 2 and 3).  Call it before a condition is evaluated.

        All Input Sets that the input completes end in the transaction that stores this context, or
        in none: a restarted operator asks no condition about an input that was seen.
        """
        port = event.receiver_port
        greatest = max(event.number, self.accepted.get(port, 0))
        return replace(
            self,
            accepted={**self.accepted, port: greatest},
            in_sets=max(self.in_sets, *(one.number for one in in_sets), 0),
        )

    def has_seen(self, event: Event) -> bool:
        """Did the conditions look at the input before this context was stored?"""
        return not self.check_event(event)

    def send(self, port: str) -> tuple[Context, int]:
        """The context, and the number of the next output on a port or a connection (Algorithm 3,
        step 3)."""
        number = self.sent.get(port, 0) + 1
        return replace(self, sent={**self.sent, port: number}), number

    def check(self) -> None:
        """Raise LogError for a number that is no integer."""
        numbers = (*self.accepted.items(), *self.sent.items(), ("Input Sets", self.in_sets))
        for name, number in numbers:
            integer(number, partial("the number of {} in a context".format, name))

    def to_json(self) -> str:
        return JSON.encode((self.accepted, self.sent, self.in_sets))

    @staticmethod
    def from_json(text: str) -> Context:
        """The context that `to_json` has made this text of.  Raises LogError for another text."""
        try:
            accepted, sent, in_sets = json.loads(text)
            context = Context(accepted, sent, in_sets)
            context.check()
        except (ValueError, TypeError, AttributeError, RecursionError, LogError):
            raise LogError("its context is damaged") from None
        return context
