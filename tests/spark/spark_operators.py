"""Operators on Spark with a flaw each, for the check to find.

Rule of this file: Spark's workers import it, so it imports no test tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.cep.operator import Operator, OperatorState, Scheme, push
from model.cep.windows import Extent, TimeWindows
from model.events import Body, Event
from spark_check.operator.stateful import KeyedOperators, KeyedQuery, boot


@dataclass(frozen=True, slots=True)
class ClosedWindows(TimeWindows):
    """[start, start + size] where [start, start + size) is meant."""

    def expires(self, window: Extent, event: Body) -> bool:
        return event.time > window.start + self.size


class Wider(KeyedOperators):
    """Windows in time hold one time unit too much."""

    def __init__(self, queries: Mapping[str, KeyedQuery]) -> None:
        super().__init__({name: _wider(query) for name, query in queries.items()})


class Forgetful(KeyedOperators):
    """What earlier batches left is lost."""

    def before(self, query: KeyedQuery) -> OperatorState:
        return boot(query)


def _misnumbered(
    operator: Operator, scheme: Scheme, state: OperatorState, edge: int, event: Event
) -> tuple[OperatorState, tuple[Event, ...]]:
    state, outputs = push(operator, scheme, state, edge, event)
    return state, tuple(out._replace(sn=(*out.sn[:-1], out.sn[-1] + 1)) for out in outputs)


class Misnumbering(KeyedOperators):
    """The right complex events, with numbers one too high in their last part."""

    step = staticmethod(_misnumbered)


def _wider(query: KeyedQuery) -> KeyedQuery:
    splitter = query.operator.splitter
    if not isinstance(splitter, TimeWindows):
        return query
    wider = ClosedWindows(splitter.size, splitter.slide, splitter.grid)
    return query._replace(operator=replace(query.operator, splitter=wider))
