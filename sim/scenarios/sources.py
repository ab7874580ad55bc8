"""The input of a scenario: the events of each source, drawn at random or read from a file.

Rule of this file: no operator; a source knows its own table, the seed and the time unit.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, repeat, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from model.core import Arrival
from model.errors import Invalid
from sim.inputs.drawn import DrawnEvents
from sim.scenarios.attributes import ReadAttributes
from sim.scenarios.load_over_time import constant, highest_rate, poisson, stretches
from sim.scenarios.tables import EventFile, RandomStream, ScenarioFile
from sim.scenarios.toml_lines import Path as Key

V = TypeVar("V")

BATCH = 1024
"""The number of choices that are drawn together."""
ONLY = "source"
"""The name of the source of [stream] and [file]."""


class SourceTable(NamedTuple):
    """A source: its name, its table, and the table's place in the file."""

    name: str
    table: RandomStream | EventFile
    key: Key


def sources_of(file: ScenarioFile) -> tuple[SourceTable, ...]:
    """The sources of a scenario; [stream] or [file] is one source with the name ONLY."""
    if file.stream is not None:
        return (SourceTable(ONLY, file.stream, ("stream",)),)
    if file.file is not None:
        return (SourceTable(ONLY, file.file, ("file",)),)
    tables = enumerate(file.source or ())
    return tuple(SourceTable(table.name, table, ("source", number)) for number, table in tables)


def draw(name: str, stream: RandomStream, seed: int, unit_s: float) -> DrawnEvents:
    """The events of a random source; its draws depend on its name and the seed alone.  No event is
    kept: whoever reads the events draws them anew.

    Raises Invalid for constant arrivals at more than one event a time unit, or for no events.
    """
    rate = highest_rate(stream)
    if stream.arrivals == "constant" and rate * unit_s > 1:
        raise Invalid(
            f"{load_key(stream)} = {rate:g}: constant arrivals need a time unit each, "
            f"and unit_s is {unit_s:g}; give a unit_s of at most {1 / rate:g}"
        )
    draws = _draws(name, seed)
    if stream.events is not None:
        _skip(draws.times, stream.events)  # the types are drawn first
        begun = draws.times.getstate()
        events, last = _measure(islice(_times(stream, draws.times, unit_s), stream.events))
        if events < stream.events:
            raise Invalid(
                f"rates: only {events:,} of {stream.events:,} events come, since the last rate "
                "is 0; give fewer events, repeats_s, or seconds in place of events"
            )
    else:
        assert stream.seconds is not None
        ends = stream.seconds / unit_s
        begun = draws.times.getstate()
        times = _times(stream, draws.times, unit_s)
        events, last = _measure(takewhile(lambda time: time < ends, times))
        if not events:
            raise Invalid(
                f"no event comes in {stream.seconds:g} s at {rate:g} events/s; give "
                "more seconds or a higher rate"
            )
        draws.kinds.setstate(draws.times.getstate())  # the types are drawn last
    kinds = draws.kinds.getstate()

    def events_anew() -> Iterator[Arrival]:
        again = _draws(name, seed)
        again.times.setstate(begun)
        again.kinds.setstate(kinds)
        return _arrivals(stream, again, unit_s, events)

    return DrawnEvents(events_anew, events, last)


def load_key(stream: RandomStream) -> str:
    """The key of the load."""
    return "rate_per_s" if stream.rates is None else "rates"


def describe(stream: RandomStream, events: int, unit_s: float) -> str:
    """The input, for people; also that events come in bunches, if a unit has more than one."""
    rate = highest_rate(stream)
    words = f"{events:,} random events"
    if rate * unit_s <= 1:
        return words
    most = "about" if stream.rates is None else "up to about"
    return (
        f"{words}, in bunches of {most} {rate * unit_s:.3g} at once (unit_s = {unit_s:g}; at most "
        f"{1 / rate:.3g} parts them)"
    )


def load_file(
    table: EventFile, folder: Path, read: ReadAttributes, file: ScenarioFile
) -> tuple[str, tuple[Arrival, ...]]:
    """The name of the file and its events, with times in units of `unit_s`.  Raises Invalid."""
    from sim.inputs.files import columns, load  # with pandas, which other inputs do without

    path = folder / table.path
    known = columns(path) if read.maybe else ()
    attributes = (*read.surely, *(name for name in read.maybe if name in known))
    stream = load(path, table.type, table.time, attributes)
    clock = stream.clock
    if clock.stamps and table.unit_s is not None:
        raise Invalid(f"unit_s: {clock.column!r} has timestamps; leave unit_s out")
    if not clock.stamps and table.unit_s is None and "unit_s" not in file.model_fields_set:
        raise Invalid(f"file: {clock.column!r} has numbers; give unit_s, the seconds that 1 lasts")
    each = clock.units(file.unit_s, table.unit_s or file.unit_s)
    if each.denominator > 1:
        raise Invalid(
            f"unit_s = {file.unit_s:g}: times of {stream.name} are multiples of {clock}; give the "
            f"scenario a unit_s of {file.unit_s * each.numerator / each.denominator:g}, or a whole "
            "part of it"
        )
    return stream.name, tuple(one._replace(gap=one.gap * each.numerator) for one in stream.events)


def _of(name: str) -> str:
    return "" if name == ONLY else f" of {name}"


def _times(stream: RandomStream, chance: random.Random, unit_s: float) -> Iterator[int]:
    """The times of the events, in whole units."""
    load = stretches(stream, unit_s)
    return constant(load) if stream.arrivals == "constant" else poisson(load, chance)


class Draws(NamedTuple):
    """Where the times, the types and the keys of a stream are drawn."""

    times: random.Random
    kinds: random.Random
    keys: random.Random


def _draws(name: str, seed: int) -> Draws:
    begin = f"{seed}: stream{_of(name)}"
    return Draws(
        random.Random(begin), random.Random(begin), random.Random(f"{seed}: keys{_of(name)}")
    )


def _skip(chance: random.Random, draws: int) -> None:
    for _ in repeat(None, draws):
        chance.random()


def _measure(times: Iterable[int]) -> tuple[int, int]:
    """The number of times, and the last one."""
    events, last = 0, 0
    for events, last in enumerate(times, 1):  # noqa: B007
        pass
    return events, last


def _arrivals(stream: RandomStream, draws: Draws, unit_s: float, events: int) -> Iterator[Arrival]:
    times = islice(_times(stream, draws.times, unit_s), events)
    kinds = _chosen(draws.kinds, list(stream.types), list(stream.types.values()))
    before = 0
    for time, kind, data in zip(times, kinds, _data(stream, draws.keys), strict=False):
        yield Arrival(time - before, kind, data)
        before = time


def _data(stream: RandomStream, chance: random.Random) -> Iterator[tuple[Any, ...]]:
    """The data of endless events: a key that is drawn with the weights that `skew` gives."""
    if stream.keys is None:
        return repeat(())
    keys = range(1, stream.keys + 1)
    return _chosen(chance, [(("key", key),) for key in keys], [key**-stream.skew for key in keys])


def _chosen(chance: random.Random, values: Sequence[V], weights: Sequence[float]) -> Iterator[V]:
    """Endless choices, drawn as one call of `choices` draws them."""
    sums = list(accumulate(weights))
    while True:
        yield from chance.choices(values, cum_weights=sums, k=BATCH)
