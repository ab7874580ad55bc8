"""A run of a deployed protocol over whole streams: FIFO, untimed, with crashes where planned.

Rule of this file: no own semantics.  The driver only chooses the next action; an action has the
effect that model.world gives it (a differential test compares the two), but no world is kept.

The schedule.  The sources receive the events of all streams in time order.  After each event, all
messages are delivered in the order in which they were sent, then the timers that are set run out,
then the nodes whose time has come restart.  A prompt site takes its messages before all that.
"""

from __future__ import annotations

import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

from model.core import (
    Arrival,
    Effect,
    Emit,
    Input,
    Inputs,
    Lost,
    NodeName,
    Note,
    Received,
    Save,
    Scope,
    Send,
    SetTimer,
    TimerFired,
)
from model.errors import Invalid, nearest
from model.oracle import by_edge
from model.protocol import Failures, Protocol
from model.system import System, call_step, check_state, check_step, faulty_output, read_gauges
from model.world import (
    DOWN,
    Action,
    Crash,
    Deliver,
    Inject,
    Restart,
    Timeout,
    boot_node,
    real_effects,
)
from sim.inputs.streams import Workload
from sim.outputs import Outputs, count

POINTS = 600
"""The largest number of points in a series."""
PROGRESS_CALLS = 200
"""The number of calls of a watcher in a run."""
ROUNDS = 1_000
"""A run in which timers have run out more often than this since the last event never ends."""
NEVER = inf
"""The event at which a node comes back that does not return."""
RESTART_AFTER_EVENTS = 50
"""A crashed node restarts after so many further events, unless the caller says otherwise."""

Watch = Callable[[int, int], None]
"""A function that is called now and then with (events done, all events)."""


class CrashPlan(NamedTuple):
    """A crash to come: `node` crashes after `effects` of its effects, counted from the moment when
    event `event` (from 1) is handed out; if `effects` is 0, before any message of this event
    arrives.

    others: the other members of a failure group, which goes down as a whole.
    """

    node: NodeName
    event: int
    effects: int = 0
    others: tuple[NodeName, ...] = ()

    def __str__(self) -> str:
        effects = f"+{self.effects}" if self.effects else ""
        return f"{','.join((self.node, *self.others))}@{self.event}{effects}"


class Outage(NamedTuple):
    """A crash that happened: the node, and the event that was handed out before the crash."""

    node: NodeName
    event: int


@dataclass(frozen=True, slots=True)
class UntimedResult:
    """The result of an untimed run.

    peak: the most events that all nodes together kept as upstream backup, counted for each edge and
    measured after every event.  series: (event, the most since the last point).  outages: in order.
    """

    events: int
    outputs: Outputs
    notes: Mapping[str, int]
    peak: int
    series: tuple[tuple[int, int], ...]
    outages: tuple[Outage, ...]
    seconds: float

    @property
    def count(self) -> int:
        return count(self.outputs)


def crash_plans(
    texts: Sequence[str], names: Sequence[NodeName], events: int
) -> tuple[CrashPlan, ...]:
    """The crashes that people write as NODE@EVENT or NODE@EVENT+EFFECTS, in order of their events.

    NODE,NODE,... is a failure group; the effects are those of the first one.  names: the nodes that
    may crash.  Raises Invalid for a text that names no crash of them.
    """
    if texts and not names:
        raise Invalid(f"crash {texts[0]!r}: no node of this deployment may crash")
    found = []
    for text in texts:
        parts = re.fullmatch(r"(.+)@(\d+)(?:\+(\d+))?", text.strip(), flags=re.ASCII)
        if parts is None:
            raise Invalid(
                f"crash {text!r}: write NODE@EVENT or NODE@EVENT+EFFECTS, as in {names[0]}@100"
            )
        nodes, event = parts[1].split(","), int(parts[2])
        for node in nodes:
            if node not in names:
                raise Invalid(f"crash {text!r}: no node {node!r} may crash{nearest(node, names)}")
        if not 1 <= event <= events:
            raise Invalid(f"crash {text!r}: there is no event {event}; there are 1 to {events}")
        found.append(CrashPlan(nodes[0], event, int(parts[3] or 0), tuple(nodes[1:])))
    return tuple(sorted(found, key=lambda plan: plan.event))


def crashable(protocol: Protocol, workload: Workload) -> list[NodeName]:
    """The nodes that may crash when the protocol runs the workload, in the order of the sites."""
    deployment = protocol.deploy(Scope(workload.graph, (), 0))
    return [site.name for site in deployment.sites if site.name in deployment.crashable]


def run(
    protocol: Protocol,
    workload: Workload,
    plans: Sequence[CrashPlan] = (),
    *,
    restart_after: int = RESTART_AFTER_EVENTS,
    watch: Watch | None = None,
    record: Callable[[Action], None] | None = None,
) -> UntimedResult:
    """Run to the end of the input, then until the system is at rest; return the result.

    restart_after: a node restarts after so many further events (0: as soon as there are no
    messages).  record: receives every action, as a value of model.world.
    Raises Invalid for a crash that cannot happen: its node is down or has too few effects, or its
    nodes are no failure group.
    """
    started = time.perf_counter()
    inputs = tuple((name, Inputs((), 0)) for name in workload.events)
    system = System(protocol, Scope(workload.graph, inputs, len(plans)))
    driver = UntimedRun(system, plans, restart_after, record)
    total = workload.size
    stride, beat = -(-total // POINTS) or 1, -(-total // PROGRESS_CALLS) or 1
    highest: dict[int, int] = {}
    for at, (source, arrival) in enumerate(_merge(workload.events), 1):
        driver.hand(at, source, arrival)
        point = min(total, -(-at // stride) * stride)
        highest[point] = max(highest.get(point, 0), driver.backup())
        if watch and (at % beat == 0 or at == total):
            watch(at, total)
    driver.finish()
    highest[total] = max(highest.get(total, 0), driver.backup())
    return UntimedResult(
        total,
        driver.outputs(),
        dict(sorted(driver.notes.items())),
        max(highest.values()),
        tuple(highest.items()),
        tuple(driver.outages),
        time.perf_counter() - started,
    )


def _merge(events: Mapping[str, Sequence[Arrival]]) -> Iterator[tuple[str, Arrival]]:
    """The arrivals of all streams in time order; among equals in the order of the sources."""
    keyed = (
        [
            (now, at, name, arrival)
            for now, arrival in zip(accumulate(a.gap for a in stream), stream, strict=True)
        ]
        for at, (name, stream) in enumerate(events.items())
    )
    return ((name, arrival) for _, _, name, arrival in merge(*keyed, key=lambda entry: entry[:2]))


class UntimedRun:
    """The mutable parts of a run: states, messages, and the nodes that are down."""

    def __init__(
        self,
        system: System,
        plans: Sequence[CrashPlan],
        restart_after: int,
        record: Callable[[Action], None] | None,
    ) -> None:
        protocol = system.protocol
        self.system, self.restart_after, self.record = system, restart_after, record
        self.states = {name: boot_node(protocol, site).state for name, site in system.sites.items()}
        self.durable: dict[NodeName, Any] = {}
        self.timers: dict[NodeName, set[str]] = {
            name: {*site.timers} for name, site in system.sites.items()
        }
        self.messages: deque[tuple[NodeName, NodeName, Any]] = deque()
        self.asked: list[tuple[NodeName, NodeName, Any]] = []
        self.passed_on: dict[NodeName, list[Any]] = {name: [] for name in system.sink_at}
        self.notes: Counter[str] = Counter()
        self.outages: list[Outage] = []
        self.single = protocol.promise.assumes.failures is Failures.SINGLE
        self.event = 0
        for plan in plans:
            self._group(plan)
        self.plans = deque(sorted(plans, key=lambda plan: plan.event))
        self.armed: dict[NodeName, list[tuple[int, CrashPlan]]] = {}
        self.back: dict[NodeName, float] = {}
        self.kept = dict.fromkeys(system.sites, 0)
        self.touched: set[NodeName] = set()

    def hand(self, event: int, source: NodeName, arrival: Arrival) -> None:
        """Hand out the next event and process everything that follows from it.

        After its first crash, a protocol that assumes single failures is granted crashes at rest
        only: for such a protocol, crashes come before the event is handed out.
        """
        self.event = event
        if self.single:
            self._crash_now(event)
        self._do(Inject(source, arrival), arrival)
        self._crash_now(event)
        self._settle(event)

    def _crash_now(self, event: int) -> None:
        while self.plans and self.plans[0].event == event:
            plan = self.plans.popleft()
            further = self.armed or (self.outages and (plan.effects or not self._resting()))
            if self.single and further:
                raise Invalid(
                    f"crash {plan}: {self.system.protocol.name} assumes single failures: after "
                    f"the first a node may crash only at rest, when all nodes are back (after "
                    f"{self.restart_after} events) and nothing is in progress"
                )
            if plan.effects:
                self.armed.setdefault(plan.node, []).append((plan.effects, plan))
                continue
            group = self._group(plan)
            up = [name for name in group or (plan.node,) if name not in self.back]
            if not up:
                raise Invalid(
                    f"crash {plan}: the node is down then; it restarts {self.restart_after} events "
                    f"after a crash, here with event {self.back[plan.node]}"
                )
            self._crash(up)
            if self.record:
                self.record(Crash(up[0], False, group))
            self._ask()

    def _group(self, plan: CrashPlan) -> tuple[NodeName, ...]:
        """The failure group of a plan, as the system names it; () for a node alone."""
        if not plan.others:
            return ()
        members = {plan.node, *plan.others}
        group = next((group for group in self.system.groups if {*group} == members), None)
        if group is None:
            raise Invalid(
                f"crash {plan}: {self.system.protocol.name} deploys no failure group of "
                f"{', '.join((plan.node, *plan.others))}"
            )
        return group

    def _resting(self) -> bool:
        """Is there nothing that the system does by itself?"""
        returns = any(event < NEVER for event in self.back.values())
        return not (returns or self.messages or any(self.timers.values()))

    def finish(self) -> None:
        """Restart the nodes that are down and let timers run out.

        Raises Invalid if timers are set again and again, or if a planned crash did not happen.
        """
        rounds = 0
        while not self._resting():  # a recovery may crash, and set timers, too
            returns = (event for event in self.back.values() if event < NEVER)
            self._settle(max(returns, default=self.event))
            rounds += 1
            if rounds > ROUNDS:
                name, timers = next((n, t) for n, t in self.timers.items() if t)
                raise Invalid(
                    f"{self.system.protocol.name}: the run never ends: {name} sets the timer "
                    f"{min(timers)!r} again whenever it runs out"
                )
        for name, state in self.states.items():
            check_state(name, "its last step", state)
        for _, plan in (entry for armed in self.armed.values() for entry in armed):
            raise Invalid(
                f"crash {plan}: from event {plan.event} on the node has fewer than "
                f"{plan.effects} effects; name an earlier event or fewer effects"
            )

    def backup(self) -> int:
        """The number of events that all nodes together keep for others now."""
        for name in self.touched:
            state = self.states[name]
            up = state is not DOWN
            self.kept[name] = (read_gauges(self.system, name, state).buffered or 0) if up else 0
        self.touched.clear()
        return sum(self.kept.values())

    def outputs(self) -> Outputs:
        sites = self.system.sites
        return tuple(
            by_edge(outputs, len(sites[name].preds)) for name, outputs in self.passed_on.items()
        )

    def _settle(self, now: float) -> None:
        """Deliver, let timers run out and restart nodes until event `now` is over."""
        self._deliver()
        for name, timers in self.timers.items():
            for timer in sorted(timers):
                if timer in timers:  # a crash meanwhile clears them
                    timers.discard(timer)
                    self._do(Timeout(name, timer), TimerFired(timer))
                    self._deliver()
        while due := [name for name, event in self.back.items() if event <= now]:
            for name in due:
                del self.back[name]
                self._do(Restart(name), None)
            self._deliver()

    def _deliver(self) -> None:
        while self.messages:
            sender, name, message = self.messages.popleft()
            self._do(Deliver(name, sender), Received(sender, message))

    def _ask(self) -> None:
        """Let the prompt sites take what they were sent, channel after channel."""
        asked, self.asked = self.asked, []
        for sender, name, message in sorted(asked, key=lambda e: self.system.channel_at[e[:2]]):
            self._step(Deliver(name, sender), Received(sender, message), None)

    def _do(self, action: Deliver | Timeout | Inject | Restart, input_: Input | None) -> None:
        """Do an action.  input_: None for a restart."""
        self._step(action, input_, self.record)
        if self.asked:
            self._ask()

    def _step(
        self,
        action: Deliver | Timeout | Inject | Restart,
        input_: Input | None,
        record: Callable[[Action], None] | None,
    ) -> None:
        """Do a step, up to the crash that may strike in it."""
        name, system = action.node, self.system
        value = self.durable.get(name) if input_ is None else self.states[name]
        answer = call_step(system, name, value, input_)
        # Only a wrong answer is checked whole: a hash of each state would take longer than a step.
        if input_ is None or not isinstance(answer, tuple) or not _pair(answer):
            check_step(system, name, input_, answer)
        state, effects = answer
        self.states[name] = state
        self.touched.add(name)
        struck = self._fatal(name, effects) if name in self.armed else None
        fatal = None if struck is None else struck[0]
        for effect in effects if fatal is None else _until(effects, fatal):
            match effect:
                case Send(to, message):
                    if (name, to) not in system.channel_at:
                        check_step(system, name, input_, answer)
                    if to in system.prompt:
                        self.asked.append((name, to, message))
                    elif to not in self.back:
                        self.messages.append((name, to, message))
                case Note(what, times):
                    self.notes[what.name] += times
                case Emit(output):
                    if faulty_output(system, name, output):
                        check_step(system, name, input_, answer)
                    self.passed_on[name].append(output)
                case Save(value) if name not in system.prompt:
                    self.durable[name] = value
                case SetTimer(timer) if name not in system.prompt:
                    self.timers[name].add(timer)
                case _:
                    check_step(system, name, input_, answer)
        if struck is None:
            if record:
                record(action)
            return
        fatal, group = struck
        up = [member for member in group or (name,) if member not in self.back]
        self._crash(up)
        if record:
            if not isinstance(action, Inject) and fatal < len(real_effects(effects)):
                record(action._replace(crash_after=fatal, group=group))
            else:
                record(action)
                record(Crash(up[0], False, group))

    def _fatal(
        self, name: NodeName, effects: tuple[Effect, ...]
    ) -> tuple[int, tuple[NodeName, ...]] | None:
        """The number of effects of the step before the node crashes, and the failure group that
        goes down with it; None if it does not crash."""
        armed = self.armed.pop(name)
        points = len(real_effects(effects))
        first = min(left for left, _ in armed)
        passed = min(first, points)
        waiting = [(left - passed, plan) for left, plan in armed if left > passed]
        if waiting:
            self.armed[name] = waiting
        due = [plan for left, plan in armed if left == passed]
        if len(due) > 1:
            raise Invalid(f"crashes {due[0]} and {due[1]} strike at the same effect")
        return (passed, self._group(due[0])) if due else None

    def _crash(self, names: Sequence[NodeName]) -> None:
        """Take down these nodes, which are up; watched channels from them end with a notice."""
        for name in names:
            self.states[name] = DOWN
            self.touched.add(name)
            self.timers[name].clear()
            returns = name in self.system.returning
            self.back[name] = self.event + self.restart_after if returns else NEVER
            self.outages.append(Outage(name, self.event))
        self.messages = deque(entry for entry in self.messages if entry[1] not in names)
        deployment = self.system.deployment
        for sender, receiver in deployment.channels if deployment.watched else ():
            noticed = sender in names and receiver not in self.back
            if noticed and (sender, receiver) in deployment.watched:
                waiting = self.asked if receiver in self.system.prompt else self.messages
                waiting.append((sender, receiver, Lost(sender)))


def _pair(answer: tuple[Any, ...]) -> bool:
    return len(answer) == 2 and isinstance(answer[1], tuple)


def _until(effects: tuple[Effect, ...], count: int) -> Iterator[Effect]:
    """The effects up to the `count`-th real one, with the notes between them."""
    for effect in effects:
        yield effect
        count -= not isinstance(effect, Note)
        if not count:
            return
