"""The LOG.io context of an operator: the numbers that outlive a crash.

Rule of this file: a context is a value; each method returns another one, and reads no table.

LOG.io, Sections 3.4 and 4.3.  The paper restores "the latest event_ID sent" and the greatest one
received from EVENT_LOG, from which Section 3.6 deletes done events: a restarted operator takes an
event twice, or numbers its outputs from 1 again.  Here the context has both, and is stored with
each Output Set (docs/explanation/findings.md, LOG.io).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from spark_check.log_io.library.values import Event

JSON = json.JSONEncoder(sort_keys=True)


@dataclass(frozen=True, slots=True)
class Context:
    """functions: how many generative functions the operator has, from 1.  An Input Set says by its
    number which function it is for: the number modulo `functions`.

    accepted: by input port, the greatest number accepted.  sent: by output port or connection, the
    latest number given.  in_sets: the greatest number of an Input Set.  newest: the input port of
    the newest input, and the last function whose condition has seen that input.
    """

    functions: int = 1
    accepted: Mapping[str, int] = field(default_factory=dict)
    sent: Mapping[str, int] = field(default_factory=dict)
    in_sets: int = 0
    newest: tuple[str, int] = ("", 0)

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

    def new_in_set(self, function: int = 0) -> tuple[Context, int]:
        """The context, and the number of a new Input Set of the function (Section 3.4)."""
        after = self.in_sets + 1
        number = after + (function - after) % self.functions
        return replace(self, in_sets=number), number

    def function_of(self, in_set: int) -> int:
        """The function that the Input Set is for."""
        return in_set % self.functions

    def see(self, event: Event, in_set: int) -> Context:
        """The context when the condition of the function of an Input Set looks at an input that is
        assigned to it (Algorithm 2, steps 2 and 3).  Call it before the condition is evaluated,
        for the Input Sets of an input in the order of their functions."""
        port = event.receiver_port
        greatest = max(event.number, self.accepted.get(port, 0))
        return replace(
            self,
            accepted={**self.accepted, port: greatest},
            in_sets=max(in_set, self.in_sets),
            newest=(port, self.function_of(in_set)),
        )

    def has_seen(self, event: Event, in_set: int) -> bool:
        """Did the condition look at the input, and was it false, before this context was stored?"""
        port = event.receiver_port
        accepted = self.accepted.get(port, 0)
        if event.number != accepted:
            return event.number < accepted
        newest, function = self.newest
        return port != newest or self.function_of(in_set) <= function

    def send(self, port: str) -> tuple[Context, int]:
        """The context, and the number of the next output on a port or a connection (Algorithm 3,
        step 3)."""
        number = self.sent.get(port, 0) + 1
        return replace(self, sent={**self.sent, port: number}), number

    def to_json(self) -> str:
        return JSON.encode((self.functions, self.accepted, self.sent, self.in_sets, self.newest))

    @staticmethod
    def from_json(text: str) -> Context:
        functions, accepted, sent, in_sets, newest = json.loads(text)
        return Context(functions, accepted, sent, in_sets, (newest[0], newest[1]))
