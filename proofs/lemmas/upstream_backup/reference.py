"""The failure-free run, with which abstractions compare what the explorer sees.

Rule of this file: it runs model.cep.operator on what sources send and adds nothing of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from model.cep.engines import Matches
from model.cep.operator import Operator
from model.cep.savepoint import Place, Savepoint
from model.core import Arrival, NodeName, Role, Site
from model.events import NOTHING, SN, Body, Event
from model.protocols.upstream_backup.layouts import KeptWindow
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
    Scheme,
    origin,
    push,
    restore,
)
from model.system import System

Arrivals = tuple[tuple[Arrival, ...], ...]
Taken = tuple[int, Event]
"""An input event with the input edge on which it comes."""


def operator_of(site: Site) -> Operator:
    """What the operator of the site computes."""
    assert isinstance(site.spec, Operator)
    return site.spec


def scheme_of(site: Site) -> Scheme:
    """How the operator of the site numbers, skips and saves."""
    scheme = site.config.design.scheme
    assert isinstance(scheme, Scheme)
    return scheme


def kept_windows(state: NumberedOperator) -> tuple[KeptWindow, ...]:
    """The windows that an operator has not dropped, oldest first."""
    return (*state.closed, *state.open)


def matches_by_window(
    outputs: Iterable[Event], state: NumberedOperator, at: Mapping[Place, int]
) -> dict[int, Matches]:
    """The matches of an iteration by the position of the opener of their window.

    The window is the last part but one of their numbers.
    """
    openers = {window.number: at[window.opener] for window in kept_windows(state)}
    matches: dict[int, Matches] = {}
    for event in outputs:
        opener = openers[event.sn[-2]]
        matches[opener] = (*matches.get(opener, ()), event.body.data)
    return matches


@dataclass(frozen=True, eq=False)
class FailureFreeRun:
    """The run of one operator without failures, up to an event.

    states: before the first event and after each.  outputs: of each event.  at: the position of an
    event by its edge and number; `coming` is the position of all events to come.
    """

    site: Site
    inputs: tuple[Taken, ...]
    states: tuple[NumberedOperator, ...]
    outputs: tuple[tuple[Event, ...], ...]
    at: Mapping[Place, int]

    @property
    def coming(self) -> int:
        return len(self.inputs)

    def opener(self, window: KeptWindow) -> int:
        """The position of the event that opened the window."""
        return self.at[window.opener]

    def last(self, state: NumberedOperator) -> int:
        """The position of the last event that an operator has consumed; -1 if there is none."""
        return max(self.at.get(place, -1) for place in enumerate(state.last))

    @cached_property
    def windows(self) -> tuple[KeptWindow, ...]:
        """All windows that opened, oldest first."""
        return kept_windows(self.states[-1])

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The numbers of the windows, by the position of their openers."""
        return {self.opener(window): window.number for window in self.windows}

    @cached_property
    def openers(self) -> tuple[int, ...]:
        """The openers of the windows, and of the one yet to come."""
        return (*self.numbers, self.coming)

    @cached_property
    def matches(self) -> dict[tuple[int, int], Matches]:
        """The matches by position and by the position of the opener of their window."""
        return {
            (position, opener): matches
            for position, outputs in enumerate(self.outputs)
            for opener, matches in matches_by_window(
                outputs, self.states[position + 1], self.at
            ).items()
        }

    @cached_property
    def numbers_of_matches(self) -> tuple[SN, ...]:
        """The numbers of all matches, in the order of production."""
        return tuple(event.sn for outputs in self.outputs for event in outputs)

    @cached_property
    def ends(self) -> dict[tuple[int, int], bool]:
        """Does the event at a position close a window by being in it (else it expires)?"""
        return {
            (position, self.opener(window)): window.closer is not None
            for position, (before, after) in enumerate(pairwise(self.states))
            for window in (*after.closed,)[len(before.closed) :]
        }


def replay(
    site: Site, savepoint: Savepoint, inputs: Iterable[Taken]
) -> tuple[list[NumberedOperator], list[tuple[Event, ...]]]:
    """The states of the operator, restored and after each event that was not trimmed, and the
    outputs of each."""
    operator, scheme = operator_of(site), scheme_of(site)
    states, outputs = [restore(scheme, savepoint)], []
    for edge, event in inputs:
        if event.sn > savepoint.trim[edge]:
            state, produced = push(operator, scheme, states[-1], edge, event)
            states.append(state)
            outputs.append((*produced,))
    return states, outputs


def start_of(site: Site) -> Savepoint:
    """The savepoint with which the operator is deployed."""
    return origin(scheme_of(site), len(site.preds))


def run_operator(site: Site, inputs: tuple[Taken, ...]) -> FailureFreeRun:
    """The run of the operator from its deployment on."""
    states, outputs = replay(site, start_of(site), inputs)
    at = {(edge, event.sn): position for position, (edge, event) in enumerate(inputs)}
    return FailureFreeRun(site, inputs, tuple(states), tuple(outputs), at)


class Reference:
    """The failure-free run of every node, for the arrivals of a world."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._inputs: dict[tuple[NodeName, Arrivals], tuple[Taken, ...]] = {}
        self._outputs: dict[tuple[NodeName, Arrivals], tuple[Event, ...]] = {}
        self._runs: dict[tuple[NodeName, tuple[Taken, ...]], FailureFreeRun] = {}
        self._thetas: dict[tuple[NodeName, Savepoint, Arrivals], SN] = {}

    def inputs(self, name: NodeName, arrivals: Arrivals) -> tuple[Taken, ...]:
        """What the node takes, in order: merged by time and edge."""
        key = (name, arrivals)
        if key not in self._inputs:
            site = self._system.sites[name]
            merged = [
                (event.body.time, edge, event)
                for edge, pred in enumerate(site.preds)
                for event in self.outputs(pred, arrivals)
            ]
            self._inputs[key] = tuple((edge, event) for _, edge, event in sorted(merged))
        return self._inputs[key]

    def outputs(self, name: NodeName, arrivals: Arrivals) -> tuple[Event, ...]:
        """What the node sends: a source its arrivals, an operator its complex events."""
        key = (name, arrivals)
        if key not in self._outputs:
            site = self._system.sites[name]
            if site.role is Role.SOURCE:
                self._outputs[key] = _events_of(arrivals[self._system.source_at[name]])
            else:
                self._outputs[key] = self.replay(name, start_of(site), arrivals)
        return self._outputs[key]

    def replay(self, name: NodeName, savepoint: Savepoint, arrivals: Arrivals) -> tuple[Event, ...]:
        """What the operator sends once it is restored, if nothing has been deleted upstream."""
        _, outputs = replay(self._system.sites[name], savepoint, self.inputs(name, arrivals))
        return tuple(event for produced in outputs for event in produced)

    def run(self, site: Site, taken: Taken, arrivals: Arrivals) -> FailureFreeRun:
        """The run of an operator up to an event that it takes."""
        inputs = self.inputs(site.name, arrivals)
        inputs = inputs[: inputs.index(taken) + 1]
        key = (site.name, inputs)
        if key not in self._runs:
            self._runs[key] = run_operator(site, inputs)
        return self._runs[key]

    def theta(self, name: NodeName, savepoint: Savepoint, arrivals: Arrivals) -> SN:
        """The last of its events that a node does not give again, restored from the savepoint."""
        key = (name, savepoint, arrivals)
        if key not in self._thetas:
            again = set(self.replay(name, savepoint, arrivals))
            gone = [e.sn for e in self.outputs(name, arrivals) if e not in again]
            self._thetas[key] = max(gone, default=NOTHING)
        return self._thetas[key]


def _events_of(arrivals: tuple[Arrival, ...]) -> tuple[Event, ...]:
    events, now = [], 0
    for number, (gap, type_, data) in enumerate(arrivals, 1):
        now += gap
        events.append(Event((number,), Body(now, type_, data)))
    return tuple(events)
