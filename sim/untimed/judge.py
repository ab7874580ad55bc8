"""The judge of an untimed run: the properties that its states violate, each with the first place.

Rule of this file: no step of a run (sim.untimed.driver); it reads the run between two actions.

A property that compares the output with the allowed ones is not asked: whoever runs a protocol
compares its whole output with the oracle's.  All others are: ALWAYS ones after every action, those
at rest when the run has come to its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from model.core import Arrival, NodeName, Observation, Property, When
from model.observations import looks_at, see_inside
from model.properties import compares_outputs
from model.results.run import RunViolation
from model.system import System, is_satisfied
from sim.untimed.durable import Disks, SourceLogs


class RunJudge:
    """The judge, and the violations so far: of each property the first one.

    always: the properties that every action is judged by, until they are violated.
    """

    def __init__(
        self,
        system: System,
        states: Mapping[NodeName, Any],
        disks: Disks,
        logs: SourceLogs,
        outputs: Mapping[NodeName, Sequence[Any]],
    ) -> None:
        self.system, self.states, self.disks = system, states, disks
        self.logs, self.outputs = logs, outputs
        self.asked = [p for p in system.properties if not compares_outputs(p)]
        self.always = [p for p in self.asked if p.when is When.ALWAYS]
        self.violations: list[RunViolation] = []
        self.arrivals: tuple[tuple[Arrival, ...], ...] = ((),) * len(logs.arrivals)
        self.passed_on: tuple[tuple[Any, ...], ...] = ((),) * len(outputs)

    def look(
        self, node: NodeName | None, event: int, messages: Iterable[tuple[NodeName, NodeName, Any]]
    ) -> None:
        """Judge the state after an action of this node; None: before the first action."""
        self._judge(self.always, node, event, messages)

    def rest(self, event: int) -> None:
        """Judge the state in which the run ends."""
        self._judge([p for p in self.asked if p.when is When.QUIESCENT], None, event, ())

    def _judge(
        self,
        asked: Sequence[Property],
        node: NodeName | None,
        event: int,
        messages: Iterable[tuple[NodeName, NodeName, Any]],
    ) -> None:
        if not asked:
            return
        seen = self._see(asked, messages)
        for property_ in [p for p in asked if not is_satisfied(self.system, p, seen)]:
            self.violations.append(RunViolation(property_.name, node, event))
            if property_ in self.always:
                self.always.remove(property_)

    def _see(
        self, asked: Sequence[Property], messages: Iterable[tuple[NodeName, NodeName, Any]]
    ) -> Observation:
        """The view of the run now; long tuples are made anew only where they have grown."""
        self.arrivals = tuple(
            old if len(old) == self.logs.taken[name] else tuple(word[: self.logs.taken[name]])
            for old, (name, word) in zip(self.arrivals, self.logs.arrivals.items(), strict=True)
        )
        self.passed_on = tuple(
            old if len(old) == len(outputs) else tuple(outputs)
            for old, outputs in zip(self.passed_on, self.outputs.values(), strict=True)
        )
        channels: dict[tuple[NodeName, NodeName], list[Any]] = {}
        for sender, receiver, message in messages:
            channels.setdefault((sender, receiver), []).append(message)
        return see_inside(
            Observation(self.arrivals, self.passed_on),
            looks_at(asked),
            ((name, state, self.disks.values[name]) for name, state in self.states.items()),
            ((ends, tuple(channels.get(ends, ()))) for ends in self.system.deployment.channels),
        )
