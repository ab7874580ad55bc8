"""The input of a scenario: the events of each source, drawn at random or read from a file.

Rule of this file: no operator; a source knows its own table, the seed and the time unit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from model.core import Arrival
from model.errors import Invalid
from sim.inputs.streams import arrivals
from sim.scenarios.attributes import ReadAttributes
from sim.scenarios.load_over_time import constant, highest_rate, poisson, stretches
from sim.scenarios.tables import EventFile, RandomStream, ScenarioFile
from sim.scenarios.toml_lines import Path as Key

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


def draw(name: str, stream: RandomStream, seed: int, unit_s: float) -> tuple[Arrival, ...]:
    """The events of a random source; its draws depend on its name and the seed alone.

    Raises Invalid for constant arrivals at more than one event a time unit, or for no events.
    """
    rate = highest_rate(stream)
    if stream.arrivals == "constant" and rate * unit_s > 1:
        raise Invalid(
            f"{load_key(stream)} = {rate:g}: constant arrivals need a time unit each, "
            f"and unit_s is {unit_s:g}; give a unit_s of at most {1 / rate:g}"
        )
    chance = random.Random(f"{seed}: stream{_of(name)}")
    if stream.events is not None:
        kinds = _kinds(stream, chance, stream.events)
        times = list(islice(_times(stream, chance, unit_s), stream.events))
        if len(times) < stream.events:
            raise Invalid(
                f"rates: only {len(times):,} of {stream.events:,} events come, since the last rate "
                "is 0; give fewer events, repeats_s, or seconds in place of events"
            )
    else:
        assert stream.seconds is not None
        ends = stream.seconds / unit_s
        times = list(takewhile(lambda time: time < ends, _times(stream, chance, unit_s)))
        if not times:
            raise Invalid(
                f"no event comes in {stream.seconds:g} s at {rate:g} events/s; give "
                "more seconds or a higher rate"
            )
        kinds = _kinds(stream, chance, len(times))
    return arrivals(times, kinds, _keys(name, stream, seed, len(times)))


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


def _kinds(stream: RandomStream, chance: random.Random, events: int) -> list[str]:
    return chance.choices(list(stream.types), weights=list(stream.types.values()), k=events)


def _keys(name: str, stream: RandomStream, seed: int, events: int) -> list[tuple[Any, ...]] | None:
    """The data of each event: a key that is drawn with the weights that `skew` gives."""
    if stream.keys is None:
        return None
    keys = range(1, stream.keys + 1)
    chance = random.Random(f"{seed}: keys{_of(name)}")
    drawn = chance.choices(keys, [key**-stream.skew for key in keys], k=events)
    return [(("key", key),) for key in drawn]
