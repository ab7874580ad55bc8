"""Scenarios: a TOML file with a protocol, its input, its costs and its failures.

Rule of this file: no unchecked Scenario; code that receives a Scenario need not check it again.  An
error about a file is one line: which line, what is wrong, and what would be right.

Time.  The model counts in whole units, and a unit lasts `unit_s`: an input event of model time t
is handed out t * unit_s after the start, so that windows are in units and rates in seconds.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from model.core import COMMON, Arrival, NodeName, Protocol, Scope
from model.errors import Invalid, nearest
from model.graph import SINK, SOURCE
from model.registry import is_file, protocols, subject
from model.system import System
from sim.inputs.flights import flight_workload
from sim.inputs.streams import Workload, arrivals
from sim.scenarios.complaints import complaint
from sim.scenarios.operators import INPUT, OUTPUT, attributes_read, graph_of, summary
from sim.scenarios.overrides import Override, place, put
from sim.scenarios.tables import EventFile, RandomStream, ScenarioFile
from sim.scenarios.toml_lines import Path as Key
from sim.scenarios.toml_lines import line_of, places
from sim.timed.costs import PS, Costs, Detector, picoseconds
from sim.timed.failures import CrashPlan, FailureTable, plan_crashes

if TYPE_CHECKING:
    from sim.inputs.files import Arrivals


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checked scenario.  unit_ps: a time unit.  planned: all crashes to come, at fixed times."""

    name: str
    protocol: Protocol
    workload: Workload
    seed: int
    unit_ps: int
    costs: Costs
    detector: Detector
    planned: tuple[CrashPlan, ...]

    def feed(self) -> Iterator[tuple[int, NodeName, Arrival]]:
        """The input events as (picoseconds, source, arrival), in order."""
        ((source, events),) = self.workload.events.items()
        now = 0
        for arrival in events:
            now += arrival.gap * self.unit_ps
            yield now, source, arrival

    @property
    def ends_ps(self) -> int:
        """The time at which the last input event is handed out."""
        return max((at for at, _, _ in self.feed()), default=0)


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a file with its overrides: unchecked, but picklable.

    overrides: each override, with its path in the content.
    """

    path: Path
    content: Mapping[str, Any]
    lines: dict[Key, int]
    overrides: tuple[tuple[Key, Override], ...] = ()

    def override(self, overrides: Iterable[Override]) -> Draft:
        """The draft with these overrides.

        Raises Invalid if this scenario cannot have a key, or if a key is set twice.
        """
        content, done = self.content, dict(self.overrides)
        for override in overrides:
            try:
                at = place(content, override.key)
            except Invalid as error:
                raise Invalid(f"{override.where}: {error}") from None
            if at in done:
                raise Invalid(f"{override.where}: {done[at].name} is set already; set it once")
            content = put(content, at, override.value)
            done[at] = override
        return replace(self, content=content, overrides=tuple(done.items()))


def read(path: Path | str, overrides: Iterable[Override] = ()) -> Scenario:
    """Read and check a scenario file.

    Raises Invalid with the line, what is wrong there, and what would be right.
    """
    return check_draft(draft(path).override(overrides))


def draft(path: Path | str) -> Draft:
    """Read a scenario file without a check.

    Raises Invalid if the file cannot be read or is not TOML.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Invalid(f"{path}: cannot be read: {why}") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{path}: not TOML: {error}") from None
    return Draft(path, content, places(text))


def check_draft(draft: Draft) -> Scenario:
    """Check a draft and return its scenario.  Raises Invalid as `read` does."""
    reader = _Reader(draft)
    try:
        return reader.scenario(ScenarioFile.model_validate(draft.content))
    except ValidationError as error:
        raise reader.refuse(error) from None


@dataclass(frozen=True, slots=True)
class _Reader:
    draft: Draft

    def wrong(self, key: Key, what: str) -> Invalid:
        """The error about a key; it names the override that set the key, or else the line."""
        setters = [override for at, override in self.draft.overrides if key[: len(at)] == at]
        if setters:
            return Invalid(f"{setters[-1].where}: {what}")
        also = " ".join(str(override) for _, override in self.draft.overrides)
        where = f"{self.draft.path}:{self._line(key)}"
        return Invalid(f"{where}{also and f' with {also}'}: {what}")

    def _line(self, key: Key) -> int:
        return line_of(self.draft.lines, key)

    # --- the shape ---------------------------------------------------------------------------
    def refuse(self, error: ValidationError) -> Invalid:
        return self.wrong(*complaint(error, ScenarioFile, self._line))

    # --- the contents ------------------------------------------------------------------------
    def _protocol(self, name: str) -> Protocol:
        """A registered one; or that of a file, whose path is relative to the scenario's folder."""
        if is_file(name):
            try:
                return subject(str(self.draft.path.parent / name)).protocol
            except Invalid as error:
                raise self.wrong(("protocol",), str(error)) from error
        known = protocols()
        if name not in known:
            raise self.wrong(("protocol",), f"no protocol {name!r}{nearest(name, sorted(known))}")
        return known[name]

    def scenario(self, file: ScenarioFile) -> Scenario:
        protocol = self._protocol(file.protocol)
        if picoseconds(file.unit_s) < 1:
            raise self.wrong(("unit_s",), f"unit_s = {file.unit_s}: give at least 1e-12")
        unit_ps = picoseconds(file.unit_s)
        workload = self._workload(file)
        try:
            System(protocol, Scope(workload.graph, (), 0))
        except Invalid as error:
            raise self.wrong(("protocol",), str(error)) from error
        operators = [n for n, spec in workload.graph.nodes if spec not in (SOURCE, SINK)]
        for name in file.costs.slow:
            if name not in operators:
                fix = nearest(name, operators)
                raise self.wrong(("costs", "slow", name), f"slow: no operator {name!r}{fix}")
        for kind in file.costs.timers:
            if kind not in protocol.timers:
                fix = nearest(kind, sorted(protocol.timers))
                raise self.wrong(
                    ("costs", "timers", kind),
                    f"timers: {protocol.name} sets no timer {kind!r}{fix}",
                )
        priced = [quantity.name for quantity in (*COMMON, *protocol.quantities)]
        for name in file.costs.notes:
            if name not in priced:
                fix = nearest(name, priced)
                raise self.wrong(("costs", "notes", name), f"notes: no quantity {name!r}{fix}")
        ((_, events),) = workload.events.items()
        times = [time * unit_ps for time in accumulate(a.gap for a in events)]
        for number, failure in enumerate(file.failures):
            self._check_failure(("failures", number), failure, operators, times)
        return Scenario(
            name=self.draft.path.stem,
            protocol=protocol,
            workload=workload,
            seed=file.seed,
            unit_ps=unit_ps,
            costs=file.costs,
            detector=file.detector,
            planned=plan_crashes(file.failures, times, file.seed),
        )

    def _workload(self, file: ScenarioFile) -> Workload:
        given = [name for name in ("stream", "flights", "file") if getattr(file, name) is not None]
        if len(given) != 1:
            which = " and ".join(f"[{name}]" for name in given) or "none"
            raise self.wrong(
                tuple(given[-1:]),
                f"input: give one of [stream], [flights], [file]; here is {which}",
            )
        if file.flights is not None:
            if file.operators:
                raise self.wrong(
                    ("operators", 0), "[flights] has its own operators; leave out [[operators]]"
                )
            return flight_workload(file.flights.departures)
        if file.stream is not None:
            events = self._stream(file.stream, file)
            return self._through_operators(f"{len(events):,} random events", events, file)
        assert file.file is not None
        from sim.inputs.files import load  # with pandas, which other inputs do without

        try:
            stream = load(
                self.draft.path.parent / file.file.path,
                file.file.type,
                file.file.time,
                attributes_read(file.operators),
            )
        except Invalid as error:
            raise self.wrong(("file",), str(error)) from None
        events = self._in_units(stream, file.file, file)
        return self._through_operators(stream.name, events, file)

    def _in_units(
        self, stream: Arrivals, table: EventFile, file: ScenarioFile
    ) -> tuple[Arrival, ...]:
        """The events of a file, with times in units of `unit_s`."""
        clock = stream.clock
        if clock.stamps and table.unit_s is not None:
            raise self.wrong(
                ("file", "unit_s"), f"unit_s: {clock.column!r} has timestamps; leave unit_s out"
            )
        if not clock.stamps and table.unit_s is None and "unit_s" not in file.model_fields_set:
            raise self.wrong(
                ("file",),
                f"file: {clock.column!r} has numbers; give file.unit_s, the seconds that 1 lasts",
            )
        each = clock.units(file.unit_s, table.unit_s or file.unit_s)
        if each.denominator > 1:
            finest = file.unit_s * each.numerator / each.denominator
            raise self.wrong(
                ("unit_s",) if "unit_s" in file.model_fields_set else ("file",),
                f"unit_s = {file.unit_s:g}: times of {stream.name} are multiples of {clock}; give "
                f"a unit_s of {finest:g}, or a whole part of it",
            )
        return tuple(one._replace(gap=one.gap * each.numerator) for one in stream.events)

    def _stream(self, stream: RandomStream, file: ScenarioFile) -> tuple[Arrival, ...]:
        draw = random.Random(f"{file.seed}: stream")
        kinds = draw.choices(
            list(stream.types), weights=list(stream.types.values()), k=stream.events
        )
        rate = stream.rate_per_s * file.unit_s
        if stream.arrivals == "constant":
            if rate > 1:
                raise self.wrong(
                    ("stream", "rate_per_s"),
                    f"rate_per_s = {stream.rate_per_s:g}: constant arrivals need a time unit each, "
                    f"and unit_s is {file.unit_s:g}; give a unit_s of at most "
                    f"{1 / stream.rate_per_s:g}",
                )
            times = [round(at / rate) for at in range(stream.events)]
        else:
            gaps = (draw.expovariate(rate) for _ in range(stream.events))
            times = [int(time) for time in accumulate(gaps)]
        return arrivals(times, kinds, self._keys(stream, file.seed))

    def _keys(self, stream: RandomStream, seed: int) -> list[tuple[Any, ...]] | None:
        """The data of each event: a key that is drawn with the weights that `skew` gives."""
        if stream.keys is None:
            return None
        keys = range(1, stream.keys + 1)
        draw = random.Random(f"{seed}: keys")
        drawn = draw.choices(keys, [key**-stream.skew for key in keys], k=stream.events)
        return [(("key", key),) for key in drawn]

    def _through_operators(
        self, name: str, events: tuple[Arrival, ...], file: ScenarioFile
    ) -> Workload:
        if not file.operators:
            raise self.wrong((), "no [[operators]]; give at least one")
        graph = graph_of(file.operators, events, self.wrong)
        return Workload(name, "; ".join(map(summary, file.operators)), graph, {INPUT: events})

    def _check_failure(
        self, key: Key, failure: FailureTable, operators: list[str], times: list[int]
    ) -> None:
        for name in failure.nodes:
            if name in (INPUT, OUTPUT):
                raise self.wrong(
                    (*key, "nodes"), f"nodes: sources and sinks do not fail{nearest('', operators)}"
                )
            if name not in operators:
                raise self.wrong(
                    (*key, "nodes"), f"nodes: no operator {name!r}{nearest(name, operators)}"
                )
        if failure.at_event is not None and failure.at_event > len(times):
            raise self.wrong(
                (*key, "at_event"),
                f"at_event = {failure.at_event}: there is no such event; there are 1 to "
                f"{len(times)}",
            )
        if failure.at_s is not None and picoseconds(failure.at_s) > times[-1]:
            raise self.wrong(
                (*key, "at_s"),
                f"at_s = {failure.at_s:g}: the last input event comes at {times[-1] / PS:g} s; "
                "give an earlier time",
            )
