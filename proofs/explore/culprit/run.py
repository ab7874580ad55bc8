"""A run beside its story: the step and the moment of each action, of each event and each result.

Rule of this file: lookups alone.  A step is an action, counted from 1; a moment is its place in the
story, which also has the steps of prompt sites.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, TypeAlias

from model.actions import Action, Inject
from model.boxes.box import Of
from model.events import Body
from model.graph import SINK, SOURCE
from model.oracle import assign_times
from model.results.culprit import WrongResult
from model.results.story import Story, StoryMoment
from model.world import World, unfold
from proofs.explore.explorer import Trace
from proofs.explore.moment_words import show_body, show_output

Part: TypeAlias = tuple[Action, World, World]
"""An action or a step of a prompt site within it: the world before, and the one after."""


class EdgeOutput(NamedTuple):
    """The place of an observed result: the place of its sink in System.sink_at, its place among the
    outputs of the sink."""

    sink: int
    place: int


class StoryEvent(NamedTuple):
    """An event that arrived: its words, its body, and the step in which it came."""

    label: str
    body: Body
    step: int

    def __str__(self) -> str:
        return f"{self.label} (step {self.step})"


class ShownRun:
    """The run of a trace and its story."""

    def __init__(self, trace: Trace, story: Story) -> None:
        self.trace, self.story, self.system = trace, story, trace.system
        self.parts: list[tuple[Part, ...]] = [
            tuple(unfold(trace.system, world, action))
            for action, world, _ in zip(trace.actions, trace.worlds, trace.worlds[1:], strict=False)
        ]
        self.last = [sum(map(len, self.parts[: at + 1])) - 1 for at in range(len(self.parts))]
        """The last moment of each action."""

    def step_of(self, moment: int) -> int:
        """The number of the action with this moment, from 1."""
        return self.story.steps[moment]

    def moments_of(self, action: int) -> tuple[StoryMoment, ...]:
        """The moments of the action with this place."""
        return self.story.moments[self.first_moment(action) : self.last[action] + 1]

    def first_moment(self, action: int) -> int:
        """The first moment of the action with this place."""
        return self.last[action] + 1 - len(self.parts[action])

    @cached_property
    def _emits(self) -> dict[EdgeOutput, WrongResult]:
        """The place in the story of each result."""
        found: dict[EdgeOutput, WrongResult] = {}
        moments = [part for parts in self.parts for part in parts]
        for moment, (_, before, after) in enumerate(moments):
            for sink, (old, new) in enumerate(zip(before.outputs, after.outputs, strict=True)):
                for place in range(len(old), len(new)):
                    found[EdgeOutput(sink, place)] = WrongResult(moment, place - len(old))
        return found

    def edges(self) -> list[tuple[EdgeOutput, ...]]:
        """The results on every input edge of every sink of the graph, in their order."""
        graph, outputs = self.system.scope.graph, self.trace.worlds[-1].outputs
        sinks = [name for name, spec in graph.nodes if spec is SINK]
        return [
            tuple(
                EdgeOutput(sink, place)
                for place, output in enumerate(outputs[sink])
                if output[0] == edge
            )
            for sink, name in enumerate(sinks)
            for edge in range(len(graph.preds(name)))
        ]

    def emit(self, result: EdgeOutput) -> WrongResult:
        return self._emits[result]

    def step(self, result: EdgeOutput) -> int:
        """The step in which the result came."""
        return self.step_of(self._emits[result].moment)

    def label(self, result: EdgeOutput) -> str:
        """The result as the story shows it."""
        moment, emit = self._emits[result]
        return self.story.moments[moment].emits[emit]

    def edge_of(self, number: int) -> tuple[int, int]:
        """The place of the sink in System.sink_at, and of the edge among its input edges, of the
        edge with this number among all edges."""
        graph = self.system.scope.graph
        sinks = [name for name, spec in graph.nodes if spec is SINK]
        ends = [(at, one) for at, name in enumerate(sinks) for one in range(len(graph.preds(name)))]
        return ends[number]

    def label_expected(self, number: int, body: Body) -> str:
        """A result of the edge with this number, as the story would show it."""
        sink, edge = self.edge_of(number)
        name = [*self.system.sink_at][sink]
        return show_output(self.system.protocol, self.system.sites[name], (edge, body))

    def at_sink(self, number: int) -> str:
        """The words " at SINK" for the edge with this number; "" if there is one sink."""
        sinks = [*self.system.sink_at]
        return f" at {sinks[self.edge_of(number)[0]]}" if len(sinks) > 1 else ""

    @cached_property
    def events(self) -> dict[Of, StoryEvent]:
        """Every event that arrived, by its source among the graph's sources and its place there."""
        scope, arrivals = self.system.scope, self.trace.worlds[-1].arrivals
        sources = [name for name, spec in scope.graph.nodes if spec is SOURCE]
        numbers = {name: number for number, name in enumerate(sources)}
        steps: dict[str, list[int]] = {}
        for step, action in enumerate(self.trace.actions, start=1):
            if isinstance(action, Inject):
                steps.setdefault(action.node, []).append(step)
        return {
            Of(numbers[name], place): StoryEvent(show_body(body), body, steps[name][place])
            for (name, _), given in zip(scope.inputs, arrivals, strict=True)
            if name in numbers
            for place, body in enumerate(assign_times(given))
        }
