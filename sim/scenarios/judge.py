"""The judge of a timed run: the properties that its end violates.

Rule of this file: no run; it reads a finished one.

The effects of a step take place later than its state changes, so a timed run has no list of worlds
between its actions: properties of every world are judged at its end only, which is one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from model.core import Arrival, NodeName, Observation, When
from model.observations import looks_at, see_inside
from model.properties import compares_outputs
from model.system import System, is_satisfied
from sim.timed.record import TimedResult


class TimedJudgement(NamedTuple):
    """violations: the names of the properties that the end violates.  at_end: the names of those
    that every world must satisfy, and that are judged there alone."""

    violations: tuple[str, ...]
    at_end: tuple[str, ...]


def asks_for_outputs(system: System) -> bool:
    """Does a property by which a run is judged look at its outputs?"""
    return any(one.outputs for one in system.properties if not compares_outputs(one))


def judge_end(
    system: System,
    result: TimedResult,
    arrivals: Mapping[NodeName, Sequence[Arrival]],
    outputs: Mapping[NodeName, Sequence[Any]],
) -> TimedJudgement:
    """Judge the end of a run, where nothing is on its way.

    Properties that compare the output with the allowed ones are not asked: the whole output is
    compared with the oracle's.
    """
    asked = [p for p in system.properties if not compares_outputs(p)]
    if not asked:
        return TimedJudgement((), ())
    view: Any = (tuple(arrivals.values()), tuple(outputs.values()))  # sequences, not tuples
    if asks_for_outputs(system):  # it may compare them with the allowed ones, by arrivals as a key
        view = tuple(tuple(map(tuple, given)) for given in view)
    seen = see_inside(
        Observation(*view),
        looks_at(asked),
        ((name, state, result.durable[name]) for name, state in result.states.items()),
        (),
    )
    return TimedJudgement(
        tuple(p.name for p in asked if not is_satisfied(system, p, seen)),
        tuple(p.name for p in asked if p.when is When.ALWAYS),
    )
