"""Operators on Spark with a flaw each, for the check to find.

Rule of this file: Spark's workers import it, so it imports no test tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.cep.operator import CepState, Iteration, Operator, process
from model.cep.windows import Extent, TimeWindows
from model.events import Body
from spark_check.operator.stateful import KeyedOperators


@dataclass(frozen=True, slots=True)
class ClosedWindows(TimeWindows):
    """[start, start + size] where [start, start + size) is meant."""

    def expires(self, window: Extent, event: Body) -> bool:
        return event.time > window.start + self.size


class Wider(KeyedOperators):
    """Windows in time hold one time unit too much."""

    def __init__(self, queries: Mapping[str, Operator]) -> None:
        super().__init__({name: _wider(operator) for name, operator in queries.items()})


class Forgetful(KeyedOperators):
    """What earlier batches left is lost."""

    def before(self) -> CepState:
        return CepState()


def _reversed(operator: Operator, state: CepState, body: Body) -> tuple[CepState, Iteration]:
    state, happened = process(operator, state, body)
    return state, happened._replace(produced=happened.produced[::-1])


class Reversing(KeyedOperators):
    """The right complex events; those of one trigger come in the opposite order."""

    process = staticmethod(_reversed)


def _wider(operator: Operator) -> Operator:
    splitter = operator.splitter
    if not isinstance(splitter, TimeWindows):
        return operator
    return replace(operator, splitter=ClosedWindows(splitter.size, splitter.slide, splitter.grid))
