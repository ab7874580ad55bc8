"""The limits of a scenario: refused before an event is drawn, with an estimate.

Rule of this file: magnitudes alone; the shape of a table is in sim.scenarios.tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from model.errors import Invalid
from model.limits import Ceiling
from sim.scenarios.sources import sources_of
from sim.scenarios.tables import RandomStream, ScenarioFile, WindowTable
from sim.scenarios.toml_lines import Path as Key
from sim.timed.costs import Timer

EVENTS = Ceiling(50_000_000, 3e-4, 0, "give fewer events, a lower rate or a shorter time")
TICKS = Ceiling(10_000_000, 1e-4, 0, "give a longer tick, or fewer events")
KEYS = Ceiling(10_000_000, 1e-6, 200, "give fewer keys")
CRASHES = Ceiling(100_000, 0.01, 10_000, "give fewer crashes, or a longer time between them")
PERIODS = Ceiling(1_000_000_000, 1e-6, 0, "give a longer time")
"""The periods of a timer or of keep-alives within the input."""
WINDOW_STEPS = Ceiling(
    20_000_000_000, 1e-6, 0, "give a shorter window, a longer slide or less input"
)
"""An event takes a step in each window that is open."""
REPLICATIONS = Ceiling(1_000_000, 1.0, 1_000, "give fewer")
NARROWEST = 1e-4
"""Of a study: an interval of half the width needs four times the replications."""

Wrong = Callable[[Key, str], Invalid]


class _AskedAmount(NamedTuple):
    """An amount that a scenario asks for.  key: where; words: as it is written there."""

    limit: Ceiling
    key: Key
    words: str
    number: float


def check_limits(file: ScenarioFile, wrong: Wrong) -> None:
    """Raise Invalid, as `wrong` makes it, for the first amount beyond its limit."""
    for one in (*_input(file), *_failures(file), *_periods(file), *_windows(file), *_study(file)):
        if one.number > one.limit.most:
            raise wrong(one.key, one.limit.complaint(one.words, one.number))
    if file.study.half_width < NARROWEST:
        runs = min(1 / file.study.half_width, 1e150) ** 2
        words = f"half_width = {file.study.half_width:g}: at least {NARROWEST:g}"
        cost = f"this needs about {runs:.2g} replications"
        raise wrong(("study", "half_width"), f"{words}, and {cost}; give more")


def length_s(file: ScenarioFile) -> float:
    """The seconds of random input, in the mean; those of a file or of flights are not known: 0."""
    lengths = [0.0]
    for source in _random(file):
        table = source[0]
        rate = _rate(table)
        lengths.append(table.seconds or (table.events or 0) / rate if rate else 0.0)
    return max(lengths)


def _random(file: ScenarioFile) -> Iterator[tuple[RandomStream, Key]]:
    if [file.stream, file.source, file.flights, file.file].count(None) != 3:
        return  # refused elsewhere
    for source in sources_of(file) if file.flights is None else ():
        if isinstance(source.table, RandomStream):
            yield source.table, source.key


def _rate(table: RandomStream) -> float:
    """The events a second, in the mean: of several rates, that of the first period, or of what the
    input has of it."""
    if table.rate_per_s is not None:
        return table.rate_per_s
    rates = table.rates or ()
    known = [one for one in (table.repeats_s, table.seconds) if one]
    end = min(known) if known else rates[-1][0] * 2 or 1.0
    starts = [min(start, end) for start, _ in rates]
    spans = [until - start for start, until in pairwise([*starts, end])]
    events = sum(rate * span for (_, rate), span in zip(rates, spans, strict=True))
    return events / end


def _input(file: ScenarioFile) -> Iterator[_AskedAmount]:
    for table, key in _random(file):
        if table.events is not None:
            yield _AskedAmount(EVENTS, (*key, "events"), f"events = {table.events}", table.events)
        elif table.seconds is not None:
            events = table.seconds * _rate(table)
            words = f"seconds = {table.seconds:g} are {events:.2g} events"
            yield _AskedAmount(EVENTS, (*key, "seconds"), words, events)
        if table.keys is not None:
            yield _AskedAmount(KEYS, (*key, "keys"), f"keys = {table.keys}", table.keys)
        if table.tick_s is not None:
            ticks = length_s(file) / table.tick_s
            words = f"tick_s = {table.tick_s:g} is {ticks:.2g} ticks"
            yield _AskedAmount(TICKS, (*key, "tick_s"), words, ticks)


def _failures(file: ScenarioFile) -> Iterator[_AskedAmount]:
    seconds = length_s(file)
    for number, one in enumerate(file.failures):
        key: Key = ("failures", number)
        yield _AskedAmount(CRASHES, (*key, "times"), f"times = {one.times}", one.times)
        if one.mean_between_s is not None:
            crashes = seconds / one.mean_between_s
            words = f"mean_between_s = {one.mean_between_s:g} is {crashes:.2g} crashes"
            yield _AskedAmount(CRASHES, (*key, "mean_between_s"), words, crashes)


def _periods(file: ScenarioFile) -> Iterator[_AskedAmount]:
    seconds = length_s(file)
    found: list[tuple[Key, float]] = [(("detector", "keep_alive_s"), file.detector.keep_alive_s)]
    tables: list[tuple[Key, Mapping[str, Timer]]] = [(("costs", "timers"), file.costs.timers)]
    tables += [(("protocols", name, "timers"), own.timers) for name, own in file.protocols.items()]
    timers = [((*at, name), timer) for at, table in tables for name, timer in table.items()]
    for at, timer in timers:
        given = "every_s" if timer.after_s is None else "after_s"
        period = timer.every_s if timer.after_s is None else timer.after_s
        found.append(((*at, given), period or math.inf))
    for key, period in found:
        words = f"{key[-1]} = {period:g} is {seconds / period:.2g} periods of the input"
        yield _AskedAmount(PERIODS, key, words, seconds / period)


def _windows(file: ScenarioFile) -> Iterator[_AskedAmount]:
    events = sum(table.events or (table.seconds or 0) * _rate(table) for table, _ in _random(file))
    for number, one in enumerate(file.operators):
        if not isinstance(one, WindowTable):
            continue
        open_ = min(events, one.window / one.slide)
        words = f"window = {one.window}, slide = {one.slide}: {open_:.2g} windows of each event"
        key: Key = ("operators", number, "window")
        yield _AskedAmount(
            WINDOW_STEPS, key, f"{words}, {open_ * events:.2g} steps", open_ * events
        )


def _study(file: ScenarioFile) -> Iterator[_AskedAmount]:
    asked = file.study.replications
    words = f"replications = {asked}"
    yield _AskedAmount(REPLICATIONS, ("study", "replications"), words, asked)
