"""Scenarios: a TOML file with a protocol, its input, its costs and its failures.

Rule of this file: no unchecked Scenario; code that receives a Scenario need not check it again.  An
error about a file is one line: which line, what is wrong, and what would be right.

Time.  The model counts in whole units, and a unit lasts `unit_s`: an input event of model time t
is handed out t * unit_s after the start, so that windows are in units and rates in seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from model.core import COMMON, Arrival, NodeName
from model.errors import Invalid, nearest
from model.graph import SINK, SOURCE, Graph
from model.knobs import settings, turn
from model.machine.input_files import read_text
from model.protocol import Protocol
from model.registry import file_of, is_file, is_there, protocols, subject
from model.system import System
from sim.inputs.drawn import Events, MergedTimes, feed_of, last_time
from sim.inputs.flights import flight_workload
from sim.inputs.streams import Workload, deployed
from sim.scenarios.attributes import attributes_read
from sim.scenarios.complaints import Complaint, complaint
from sim.scenarios.jobs import by_node, wrong_failure
from sim.scenarios.limits import check_limits
from sim.scenarios.operators import OUTPUT, Form, graph_of, summary
from sim.scenarios.overrides import Override, place, put
from sim.scenarios.own_settings import check_settings, no_timer, place_settings
from sim.scenarios.placement import check_placement, strike_host
from sim.scenarios.sources import SourceTable, describe, draw, load_file, load_key, sources_of
from sim.scenarios.tables import RandomStream, ScenarioFile, StudyTable
from sim.scenarios.ticks import with_ticks
from sim.scenarios.toml_lines import Path as Key
from sim.scenarios.toml_lines import line_of, places
from sim.timed.costs import Costs, ScenarioTable, picoseconds
from sim.timed.detector import Detector
from sim.timed.failures import FailureTable, TimedCrash, plan_crashes
from sim.toml_values import TomlTable, parse

T = TypeVar("T", bound=ScenarioTable)

NO_PROTOCOL = "protocol is missing; give it a value, here or with --set protocol=NAME"
INPUTS = {"stream": "[stream]", "source": "[[source]]", "flights": "[flights]", "file": "[file]"}
"""The tables that say what comes in, as users write them."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checked scenario.  unit_ps: a time unit.  planned: all crashes to come, at fixed times.
    failures: as in the file, but with the nodes that run the operators.  study: as in the file."""

    name: str
    protocol: Protocol
    workload: Workload
    seed: int
    unit_ps: int
    costs: Costs
    detector: Detector
    planned: tuple[TimedCrash, ...]
    failures: tuple[FailureTable, ...] = ()
    study: StudyTable = StudyTable()

    def feed(self) -> Iterator[tuple[int, NodeName, Arrival]]:
        """The input events of all sources as (picoseconds, source, arrival), in order."""
        feeds = [
            feed_of(source, events, self.unit_ps) for source, events in self.workload.events.items()
        ]
        if len(feeds) == 1:
            return feeds[0]
        return merge(*feeds, key=itemgetter(0))  # at one time, in the order of the sources

    @property
    def ends_ps(self) -> int:
        """The time at which the last input event is handed out."""
        return max(map(last_time, self.workload.events.values()), default=0) * self.unit_ps


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a file with its overrides: unchecked, but picklable.

    overrides: each override, with its path in the content.
    """

    path: Path
    content: TomlTable
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

    def for_its_protocol(self) -> Draft:
        """The draft with the settings of its protocol in place of the common ones."""
        overridden = [at for at, _ in self.overrides]
        placed = place_settings(self.content, self.lines, overridden)
        return replace(self, content=placed.content, lines=placed.lines)

    def table(self, kind: type[T]) -> T:
        """The content, which has the shape of this table.  Raises Invalid if it has not."""
        try:
            return kind.model_validate(self.content)
        except ValidationError as error:
            raise self.wrong(*complaint(error, kind, self._line)) from None

    def wrong(self, key: Key, what: str) -> Complaint:
        """The error about a key; it names the override that set the key, or else the line."""
        setters = [override for at, override in self.overrides if key[: len(at)] == at]
        if setters:
            return Complaint(setters[-1].where, what)
        also = " ".join(str(override) for _, override in self.overrides)
        where = f"{self.path}:{self._line(key)}"
        return Complaint(f"{where}{also and f' with {also}'}", what)

    def _line(self, key: Key) -> int:
        return line_of(self.lines, key)


def read(path: Path | str, overrides: Iterable[Override] = ()) -> Scenario:
    """Read and check a scenario file.

    Raises Invalid with the line, what is wrong there, and what would be right.
    """
    return check_draft(draft(path).override(overrides))


def draft(path: Path | str) -> Draft:
    """Read a scenario file without a check.

    Raises Invalid if the file cannot be read or is not TOML.
    """
    path, called = Path(path), str(path)
    if is_file(called) or (not path.exists() and called in protocols()):
        raise Invalid(
            f"{called} is a protocol; give a scenario, as docs/scenarios/quickstart.toml, and "
            f"--set protocol={called}"
        )
    text = read_text(path)
    try:
        content = parse(text)
    except Invalid as error:
        raise Invalid(f"{path}: {error}") from None
    return Draft(path, content, places(text))


def settled(draft: Draft) -> ScenarioFile:
    """The content with all defaults, also those of the protocol's knobs; no event is drawn.

    Raises Invalid as `read` does, for what is wrong in the tables or the knobs.
    """
    reader, file = _begin(draft)
    return file.model_copy(update={"knobs": settings(reader.protocol(file))})


def check_draft(draft: Draft) -> Scenario:
    """Check a draft and return its scenario.  Raises Invalid as `read` does."""
    if draft.table(ScenarioFile).protocol is None:
        raise draft.wrong(("protocol",), NO_PROTOCOL)
    return fill(draft).check()


@dataclass(frozen=True, slots=True)
class FilledDraft:
    """A draft whose events are drawn; its operators in each form in which a protocol may run them
    (sim.scenarios.operators.Form)."""

    draft: Draft
    file: ScenarioFile
    workloads: tuple[Workload, ...]

    def protocol(self) -> Protocol:
        """The protocol of the file.  Raises Invalid."""
        reader, file = _begin(self.draft)
        return reader.protocol(file)

    def check(self, protocol: str | None = None) -> Scenario:
        """The scenario; with another protocol in place of the file's.  Raises Invalid."""
        changes = {} if protocol is None else {"protocol": protocol}
        reader, file = _begin(replace(self.draft, content={**self.draft.content, **changes}))
        return reader.scenario(file, self.workloads)


def fill(draft: Draft) -> FilledDraft:
    """Check the input and the operators of a draft, whatever its protocol.  Raises Invalid."""
    file = draft.table(ScenarioFile)
    return FilledDraft(draft, file, _Reader(draft).workloads(file))


def _begin(draft: Draft) -> tuple[_Reader, ScenarioFile]:
    """A reader of the scenario of one protocol, and its file.  The tables of all protocols have
    the right shape, also of those that do not run here."""
    file = draft.table(ScenarioFile)
    if not file.protocols:
        return _Reader(draft), file
    own = draft.for_its_protocol()
    check_settings(file.protocols, draft.wrong)
    return _Reader(own), own.table(ScenarioFile)


@dataclass(frozen=True, slots=True)
class _Reader:
    draft: Draft

    def _protocol(self, name: str) -> Protocol:
        """A registered one; or that of a file, whose path is relative to the scenario's folder.

        The path in an override that names no such file is relative to the current folder.
        """
        if is_file(name):
            beside = self.draft.path.parent / name
            written = any(at == ("protocol",) for at, _ in self.draft.overrides)
            called = name if written and not is_there(file_of(str(beside))) else str(beside)
            try:
                return subject(called).protocol
            except Invalid as error:
                raise self.draft.wrong(("protocol",), str(error)) from error
        known = protocols()
        if name not in known:
            raise self.draft.wrong(
                ("protocol",), f"no protocol {name!r}{nearest(name, sorted(known))}"
            )
        return known[name]

    def protocol(self, file: ScenarioFile) -> Protocol:
        """The protocol with its knobs as in the file."""
        if file.protocol is None:
            raise self.draft.wrong(("protocol",), NO_PROTOCOL)
        protocol = self._protocol(file.protocol)
        for name, value in file.knobs.items():
            try:
                protocol = turn(protocol, name, value)
            except Invalid as error:
                raise self.draft.wrong(("knobs", name), str(error)) from None
        return protocol

    def scenario(self, file: ScenarioFile, workloads: Sequence[Workload]) -> Scenario:
        protocol = self.protocol(file)
        if picoseconds(file.unit_s) < 1:
            raise self.draft.wrong(("unit_s",), f"unit_s = {file.unit_s}: give at least 1e-12")
        unit_ps = picoseconds(file.unit_s)
        try:
            workload, system = deployed(protocol, workloads)
        except Invalid as error:
            raise self.draft.wrong(("protocol",), str(error)) from error
        operators = [n for n, spec in workload.graph.nodes if spec not in (SOURCE, SINK)]
        for key, named in (("slow", file.costs.slow), ("work", file.costs.work)):
            for name in named:
                self._check_operator(("costs", key, name), key, name, operators, system)
        for name in file.costs.state:
            if name not in operators:
                raise self.draft.wrong(
                    ("costs", "state", name),
                    f"state: no operator {name!r}{nearest(name, operators)}",
                )
        for kind in file.costs.timers:
            if why := no_timer(protocol, kind):
                raise self.draft.wrong(("costs", "timers", kind), why)
        for name in file.costs.stores:
            if name not in system.prompt:
                fix = nearest(name, system.prompt)
                raise self.draft.wrong(
                    ("costs", "stores", name),
                    f"stores: {protocol.name} deploys no prompt site {name!r}{fix}",
                )
        priced = [quantity.name for quantity in (*COMMON, *protocol.behaviour.quantities)]
        for name in file.costs.notes:
            if name not in priced:
                fix = nearest(name, priced)
                raise self.draft.wrong(
                    ("costs", "notes", name), f"notes: no quantity {name!r}{fix}"
                )
        times = MergedTimes(workload.events, unit_ps)
        check_placement(file.costs, workload.graph, system, self.draft.wrong)
        failures = self._failures(file, workload, times, system)
        return Scenario(
            name=self.draft.path.stem,
            protocol=protocol,
            workload=workload,
            seed=file.seed,
            unit_ps=unit_ps,
            costs=file.costs,
            detector=file.detector,
            planned=plan_crashes(failures, times, file.seed),
            failures=failures,
            study=file.study,
        )

    def _failures(
        self, file: ScenarioFile, workload: Workload, times: Sequence[int], system: System
    ) -> tuple[FailureTable, ...]:
        """The failures of nodes, also those of jobs and hosts, checked."""
        specs = workload.graph.nodes
        operators = [name for name, spec in specs if spec not in (SOURCE, SINK)]
        ends = [*workload.events, OUTPUT]
        found = []
        for number, one in enumerate(file.failures):
            key: Key = ("failures", number)
            host = partial(self.draft.wrong, (*key, "host"))
            failure = by_node(strike_host(one, file.costs.hosts, workload.graph, host), system)
            for name in failure.nodes:
                if name not in (*ends, *system.deployment.crashable):
                    self._check_operator((*key, "nodes"), "nodes", name, operators, system)
            if wrong := wrong_failure(failure, ends, operators, times):
                raise self.draft.wrong((*key, wrong.key), wrong.why)
            found.append(failure)
        return tuple(found)

    def workloads(self, file: ScenarioFile) -> tuple[Workload, ...]:
        """The input and the operators, in each form in which a protocol may run them."""
        given = [name for name in INPUTS if getattr(file, name) is not None]
        if len(given) != 1:
            which = " and ".join(map(INPUTS.__getitem__, given)) or "none"
            raise self.draft.wrong(
                (*given[-1:], 0),  # the first of several tables
                f"input: give one of {', '.join(INPUTS.values())}; here is {which}",
            )
        if file.flights is not None:
            if file.operators:
                raise self.draft.wrong(
                    ("operators", 0), "[flights] has its own operators; leave out [[operators]]"
                )
            return (flight_workload(file.flights.departures, one_run=True),)
        check_limits(file, self.draft.wrong)
        sources = sources_of(file)
        events: dict[str, Events] = {}
        names = []
        for source in sources:
            if source.name in (*events, OUTPUT):
                key = (*source.key, "name")
                raise self.draft.wrong(key, f"name {source.name!r} is taken; choose another")
            called, events[source.name] = self._events(source, file)
            names.append(called if len(sources) == 1 else f"{source.name}: {called}")
        if not file.operators:
            raise self.draft.wrong((), "no [[operators]]; give at least one")
        words, pattern = "; ".join(names), "; ".join(map(summary, file.operators))
        found: dict[Graph, Workload] = {}
        for form in Form:
            try:
                graph = graph_of(file.operators, events, self.draft.wrong, form)
                if graph not in found:
                    plain = Workload(words, pattern, graph, events)
                    found[graph] = with_ticks(plain, sources, file, self.draft.wrong)
            except Invalid:
                if form is Form.AS_WRITTEN:  # another form may have no place for a tick
                    raise
        return tuple(found.values())

    def _events(self, source: SourceTable, file: ScenarioFile) -> tuple[str, Events]:
        """The name of a source's input, for people, and its events."""
        name, table, key = source
        if isinstance(table, RandomStream):
            try:
                events = draw(name, table, file.seed, file.unit_s)
            except Invalid as error:
                raise self.draft.wrong((*key, load_key(table)), str(error)) from None
            return describe(table, len(events), file.unit_s), events
        try:
            wanted = attributes_read(file.operators, name)
            return load_file(table, self.draft.path.parent, wanted, file)
        except Invalid as error:
            raise self.draft.wrong(key, str(error)) from None

    def _check_operator(
        self, key: Key, what: str, name: str, operators: Sequence[str], system: System
    ) -> None:
        if name not in operators:
            raise self.draft.wrong(key, f"{what}: no operator {name!r}{nearest(name, operators)}")
        if name not in system.sites:
            nodes = " or ".join(repr(one) for one in operators if one in system.sites)
            raise self.draft.wrong(
                key,
                f"{what}: {system.protocol.name} runs {name!r} within another node; name {nodes}",
            )
