"""A run of a deployed protocol over whole streams: FIFO, untimed, crashes where they are told.

Rule of this file: it only chooses the next action; what an action does is what model.world says
(a differential test holds the two equal), without keeping worlds.

The schedule.  The sources are handed the events of all streams in time order.  After each, all
messages are delivered in the order in which they were sent, then the timers that are set run out,
then the nodes whose time has come restart.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate
from typing import Any, NamedTuple

from model.core import (
    Answer,
    Arrival,
    Effect,
    Emit,
    Inputs,
    NodeName,
    Note,
    Protocol,
    Received,
    Save,
    Scope,
    Send,
    SetTimer,
    TimerFired,
)
from model.errors import Invalid
from model.events import Body
from model.graph import SINK, SOURCE, Graph
from model.oracle import by_edge, oracle
from model.world import DOWN, Action, Crash, Deliver, Inject, Restart, System, Timeout, real_effects
from sim.inputs.streams import Workload, nearest

POINTS = 600
"""At most so many points of a series are kept."""
BEATS = 200
"""So often a watcher is called."""
AWAY = 50
"""Events that are handed out while a crashed node is away, unless told otherwise."""

Watch = Callable[[int, int], None]
"""Called now and then with (events done, of how many)."""
Outputs = tuple[tuple[tuple[Body, ...], ...], ...]
"""What the sinks passed on: by sink, by input edge (between edges there is no order to keep)."""


class Strike(NamedTuple):
    """A crash to come: `node`, as soon as it has had `effects` effects since event `event` (from
    1) was handed out; with none, before it learns of the event."""

    node: NodeName
    event: int
    effects: int = 0

    def __str__(self) -> str:
        return f"{self.node}@{self.event}" + (f"+{self.effects}" if self.effects else "")


@dataclass(frozen=True, slots=True)
class Ran:
    """peak: the most events that all nodes together kept as upstream backup, an edge each, looked
    at after every event.  series: (event, the most since the last point).  struck: when crashes
    happened, in order."""

    events: int
    outputs: Outputs
    notes: Mapping[str, int]
    peak: int
    series: tuple[tuple[int, int], ...]
    struck: tuple[tuple[NodeName, int], ...]
    seconds: float

    @property
    def count(self) -> int:
        return sum(len(bodies) for edges in self.outputs for bodies in edges)


def strikes(texts: Sequence[str], graph: Graph, events: int) -> tuple[Strike, ...]:
    """Crashes as people write them, NODE@EVENT or NODE@EVENT+EFFECTS, in order of their events."""
    names = [name for name, spec in graph.nodes if spec not in (SOURCE, SINK)]
    found = []
    for text in texts:
        parts = re.fullmatch(r"(.+)@(\d+)(?:\+(\d+))?", text.strip(), flags=re.ASCII)
        if parts is None:
            raise Invalid(
                f"crash {text!r}: write NODE@EVENT or NODE@EVENT+EFFECTS, as in {names[0]}@100"
            )
        node, event = parts[1], int(parts[2])
        if node not in names:
            if node in graph.specs:
                raise Invalid(f"crash {text!r}: sources and sinks do not fail{nearest('', names)}")
            raise Invalid(f"crash {text!r}: no operator {node!r}{nearest(node, names)}")
        if not 1 <= event <= events:
            raise Invalid(f"crash {text!r}: there is no event {event}; there are 1 to {events}")
        found.append(Strike(node, event, int(parts[3] or 0)))
    return tuple(sorted(found, key=lambda strike: strike.event))


def run(
    protocol: Protocol,
    workload: Workload,
    planned: Sequence[Strike] = (),
    *,
    away: int = AWAY,
    watch: Watch | None = None,
    record: Callable[[Action], None] | None = None,
) -> Ran:
    """Run to the end of the input, and on until nothing is left to do.

    away: a node restarts after so many further events (0: as soon as there are no messages).
    record: is told every action, in the words of model.world.
    Raises Invalid for a crash that cannot happen: its node is down, or does too little.
    """
    started = time.perf_counter()
    inputs = tuple((name, Inputs((), 0)) for name in workload.events)
    system = System(protocol, Scope(workload.graph, inputs, len(planned)))
    driver = _Driver(system, planned, away, record)
    total = workload.size
    stride, beat = -(-total // POINTS) or 1, -(-total // BEATS) or 1
    highest: dict[int, int] = {}
    for at, (source, arrival) in enumerate(_merged(workload.events), 1):
        driver.hand(at, source, arrival)
        point = min(total, -(-at // stride) * stride)
        highest[point] = max(highest.get(point, 0), driver.backup())
        if watch and (at % beat == 0 or at == total):
            watch(at, total)
    driver.finish()
    highest[total] = max(highest.get(total, 0), driver.backup())
    return Ran(
        total,
        driver.outputs(),
        dict(sorted(driver.notes.items())),
        max(highest.values()),
        tuple(highest.items()),
        tuple(driver.struck),
        time.perf_counter() - started,
    )


def report(
    protocol: Protocol,
    without: Protocol,
    workload: Workload,
    planned: Sequence[Strike],
    *,
    away: int = AWAY,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Run failure-free, with crashes, and with crashes under `without` (the protocol without skip
    ranges), and compare all outputs with each other and with the oracle; a JSON-able value.

    watch: is called with (done, total) over all of it.
    """
    started = time.perf_counter()
    total = 4 * workload.size

    def stage(number: int) -> Watch | None:
        return watch and (lambda done, _: watch(number * workload.size + done, total))

    free = run(protocol, workload, watch=stage(0))
    crashed = run(protocol, workload, planned, away=away, watch=stage(1))
    skipless = run(without, workload, planned, away=away, watch=stage(2))
    expected = tuple(oracle(workload.graph, workload.events).values())
    if watch:
        watch(total, total)
    hashes = [digest(outputs) for outputs in (expected, free.outputs, crashed.outputs)]
    both = zip(crashed.series, skipless.series, strict=True)
    return {
        "input": workload.name,
        "events": workload.size,
        "graph": {
            "nodes": [name for name, _ in workload.graph.nodes],
            "edges": [list(edge) for edge in workload.graph.edges],
        },
        "pattern": workload.pattern,
        "expected": {"count": _count(expected), "sha256": hashes[0]},
        "failure_free": {"count": _count(free.outputs), "sha256": hashes[1]},
        "with_crashes": {"count": _count(crashed.outputs), "sha256": hashes[2]},
        "same": len({*hashes, digest(skipless.outputs)}) == 1,
        "crashes": [{"node": node, "at_event": event} for node, event in crashed.struck],
        "replayed": crashed.notes.get("events replayed", 0),
        "discarded": crashed.notes.get("duplicates discarded", 0),
        "peak_backup": crashed.peak,
        "seconds": time.perf_counter() - started,
        "without_skips": {
            "replayed": skipless.notes.get("events replayed", 0),
            "peak_backup": skipless.peak,
        },
        "series": [
            {"event": event, "with_skips": kept, "without_skips": kept_without}
            for (event, kept), (_, kept_without) in both
        ],
    }


def digest(outputs: Outputs) -> str:
    """SHA-256 of the outputs as compact JSON: [sink][edge][body] with body [time, type, data]."""
    text = json.dumps(outputs, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _count(outputs: Outputs) -> int:
    return sum(len(bodies) for edges in outputs for bodies in edges)


def _merged(events: Mapping[str, Sequence[Arrival]]) -> Iterator[tuple[str, Arrival]]:
    """All streams as one in time order; among equals in the order of the sources."""
    keyed = (
        [
            (now, at, name, arrival)
            for now, arrival in zip(accumulate(a.gap for a in stream), stream, strict=True)
        ]
        for at, (name, stream) in enumerate(events.items())
    )
    return ((name, arrival) for _, _, name, arrival in merge(*keyed, key=lambda entry: entry[:2]))


class _Driver:
    """The moving parts of a run: states, messages, and who is down."""

    def __init__(
        self,
        system: System,
        planned: Sequence[Strike],
        away: int,
        record: Callable[[Action], None] | None,
    ) -> None:
        protocol = system.protocol
        self.system, self.away, self.record = system, away, record
        self.states = {name: protocol.boot(site) for name, site in system.sites.items()}
        self.durable: dict[NodeName, Any] = {}
        self.timers: dict[NodeName, set[str]] = {name: set() for name in system.sites}
        self.messages: deque[tuple[NodeName, NodeName, Any]] = deque()
        self.passed_on: dict[NodeName, list[Any]] = {name: [] for name in system.sink_at}
        self.notes: Counter[str] = Counter()
        self.struck: list[tuple[NodeName, int]] = []
        self.event = 0
        self.planned = deque(sorted(planned, key=lambda strike: strike.event))
        self.armed: dict[NodeName, list[tuple[int, Strike]]] = {}
        self.back: dict[NodeName, int] = {}
        self.kept = dict.fromkeys(system.sites, 0)
        self.touched: set[NodeName] = set()

    def hand(self, event: int, source: NodeName, arrival: Arrival) -> None:
        """The next event, and everything that follows from it."""
        self.event = event
        site, state = self.system.sites[source], self.states[source]
        self._do(Inject(source, arrival), self.system.protocol.step(site, state, arrival))
        while self.planned and self.planned[0].event == event:
            strike = self.planned.popleft()
            if strike.effects:
                self.armed.setdefault(strike.node, []).append((strike.effects, strike))
            elif strike.node in self.back:
                raise Invalid(
                    f"crash {strike}: the node is down then; it restarts {self.away} events after "
                    f"a crash, here with event {self.back[strike.node]}"
                )
            else:
                self._crash(strike.node)
                if self.record:
                    self.record(Crash(strike.node))
        self._settle(event)

    def finish(self) -> None:
        """Restart who is down; and see that every crash has happened."""
        while self.back:  # a recovery may crash, too
            self._settle(max(self.back.values()))
        for _, strike in (entry for armed in self.armed.values() for entry in armed):
            raise Invalid(
                f"crash {strike}: from event {strike.event} on the node has fewer than "
                f"{strike.effects} effects; name an earlier event or fewer effects"
            )

    def backup(self) -> int:
        """Events that all nodes together now keep for others."""
        protocol, sites = self.system.protocol, self.system.sites
        for name in self.touched:
            state = self.states[name]
            up = state is not DOWN
            self.kept[name] = protocol.gauges(sites[name], state).get("backup", 0) if up else 0
        self.touched.clear()
        return sum(self.kept.values())

    def outputs(self) -> Outputs:
        sites = self.system.sites
        return tuple(
            by_edge(outputs, len(sites[name].preds)) for name, outputs in self.passed_on.items()
        )

    def _settle(self, now: int) -> None:
        """Until nothing happens by itself before event `now` is over."""
        protocol, sites = self.system.protocol, self.system.sites
        self._deliver()
        for name, timers in self.timers.items():
            for timer in sorted(timers):
                if timer in timers:  # not lost in a crash meanwhile
                    timers.discard(timer)
                    self._do(
                        Timeout(name, timer),
                        protocol.step(sites[name], self.states[name], TimerFired(timer)),
                    )
                    self._deliver()
        while due := [name for name, event in self.back.items() if event <= now]:
            for name in due:
                del self.back[name]
                self._do(Restart(name), protocol.recover(sites[name], self.durable.get(name)))
            self._deliver()

    def _deliver(self) -> None:
        step, sites, states = self.system.protocol.step, self.system.sites, self.states
        while self.messages:
            sender, name, message = self.messages.popleft()
            answer = step(sites[name], states[name], Received(sender, message))
            self._do(Deliver(name, sender), answer)

    def _do(self, action: Deliver | Timeout | Inject | Restart, answer: Answer) -> None:
        """What a step does, up to the crash that may strike in it."""
        name = action.node
        state, effects = answer
        self.states[name] = state
        self.touched.add(name)
        fatal = self._fatal(name, effects) if name in self.armed else None
        for effect in effects if fatal is None else _until(effects, fatal):
            match effect:
                case Send(to, message):
                    if to not in self.back:
                        self.messages.append((name, to, message))
                case Note(what, times):
                    self.notes[what] += times
                case Emit(output):
                    self.passed_on[name].append(output)
                case Save(value):
                    self.durable[name] = value
                case SetTimer(timer):
                    self.timers[name].add(timer)
        if fatal is None:
            if self.record:
                self.record(action)
            return
        self._crash(name)
        if self.record:
            if not isinstance(action, Inject) and fatal < len(real_effects(effects)):
                self.record(action._replace(crash_after=fatal))
            else:
                self.record(action)
                self.record(Crash(name))

    def _fatal(self, name: NodeName, effects: tuple[Effect, ...]) -> int | None:
        """After how many effects of the step the node crashes, if it does."""
        armed = self.armed.pop(name)
        points = len(real_effects(effects))
        first = min(left for left, _ in armed)
        passed = min(first, points)
        waiting = [(left - passed, strike) for left, strike in armed if left > passed]
        if waiting:
            self.armed[name] = waiting
        struck = [strike for left, strike in armed if left == passed]
        if len(struck) > 1:
            raise Invalid(f"crashes {struck[0]} and {struck[1]} strike at the same effect")
        return passed if struck else None

    def _crash(self, name: NodeName) -> None:
        self.states[name] = DOWN
        self.touched.add(name)
        self.timers[name].clear()
        self.messages = deque(entry for entry in self.messages if entry[1] != name)
        self.back[name] = self.event + self.away
        self.struck.append((name, self.event))


def _until(effects: tuple[Effect, ...], count: int) -> Iterator[Effect]:
    """The effects up to the `count`-th physical one, notes between them included."""
    for effect in effects:
        yield effect
        count -= not isinstance(effect, Note)
        if not count:
            return
