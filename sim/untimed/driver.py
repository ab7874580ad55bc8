"""The untimed driver: a deployed protocol takes its events in order, FIFO, with planned crashes.

Rule of this file: no own semantics.  The driver only chooses the next action; an action has the
effect that model.world gives it (a differential test compares the two), but no world is kept.

The schedule.  The sources receive the events of all streams in time order.  After each event, all
messages are delivered in the order in which they were sent, then the timers that are set run out,
then the nodes whose time has come restart, and sources that have gone back in their log read it
again.  Patient timers run out if nothing of this is left to do, now or later.  A prompt site takes
its messages before all that.  An event for a source that is down waits until the source is back.

Links are perfect but for resets, and no timer runs out early.  A crash loses every write that was
not synced: the worst that a crash of the machine does.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from model.actions import Action, Crash, Deliver, Inject, StepAction, Timeout
from model.choices import is_patient
from model.core import (
    Arrival,
    CancelTimer,
    Effect,
    Emit,
    Fail,
    Input,
    Lost,
    NodeName,
    Note,
    Received,
    Rewind,
    Save,
    Send,
    SetTimer,
    Sync,
    TimerFired,
)
from model.errors import Invalid
from model.oracle import by_edge
from model.protocol import Failures
from model.system import System, call_step, check_state, check_step, faulty_output, read_gauges
from model.world import DOWN, boot_node, real_effects
from sim.outputs import Outputs
from sim.untimed.crashes import UntimedCrash, UntimedOutage, group_of
from sim.untimed.durable import Disks, SourceLogs
from sim.untimed.judge import RunJudge
from sim.untimed.plans import CrashPlans

ROUNDS = 1_000
"""A run in which timers have run out more often than this since the last event never ends."""
NEVER = inf
"""The event at which a node comes back that does not return."""


class UntimedRun:
    """The mutable parts of a run: states, messages, and the nodes that are down."""

    def __init__(
        self,
        system: System,
        events: Mapping[NodeName, Sequence[Arrival]],
        plans: Sequence[UntimedCrash],
        restart_after: int,
        record: Callable[[Action], None] | None,
    ) -> None:
        protocol, sites = system.protocol, system.sites
        self.system, self.restart_after, self.record = system, restart_after, record
        booted = {name: boot_node(protocol, site) for name, site in sites.items()}
        self.states = {name: node.state for name, node in booted.items()}
        self.disks, self.logs = Disks(system, booted), SourceLogs(events)
        self.turns = _turns(system)
        self.resetting = frozenset(ends for ends in system.channel_at if system.resets(ends))
        self.timers: dict[NodeName, set[str]] = {
            name: {*site.timers} for name, site in sites.items()
        }
        self.messages: deque[tuple[NodeName, NodeName, Any]] = deque()
        self.asked: list[tuple[NodeName, NodeName, Any]] = []
        self.passed_on: dict[NodeName, list[Any]] = {name: [] for name in system.sink_at}
        self.notes: Counter[str] = Counter()
        self.outages: list[UntimedOutage] = []
        self.single = protocol.promise.assumes.failures is Failures.SINGLE
        self.event = self.faults = self.again = 0
        self.plans = CrashPlans(system, plans)
        self.back: dict[NodeName, float] = {}
        self.kept = dict.fromkeys(sites, 0)
        self.touched: set[NodeName] = set()
        self.judge = RunJudge(system, self.states, self.disks, self.logs, self.passed_on)
        self.judge.look(None, 0, ())

    def hand(self, event: int, source: NodeName, arrival: Arrival) -> None:
        """Hand out the next event and process everything that follows from it.

        After its first crash, a protocol that assumes single failures is granted crashes at rest
        only: for such a protocol, crashes come before the event is handed out.
        """
        self.event, self.again = event, 0
        if self.single:
            self._crash_now(event)
        while source in self.back or source in self.logs.behind:
            if self.back.get(source) == NEVER:
                raise Invalid(f"event {event}: {source} is down and never returns; nobody takes it")
            self._settle(self.back.get(source, event))
        self.logs.taken[source] += 1
        self._do(Inject(source, arrival), arrival)
        self._crash_now(event)
        self._settle(event)

    def _crash_now(self, event: int) -> None:
        while plan := self.plans.next(event):
            further = self.plans.armed or (self.faults and (plan.effects or not self._resting()))
            if self.single and further:
                raise Invalid(
                    f"crash {plan}: {self.system.protocol.name} assumes single failures: after "
                    f"the first a node may crash only at rest, when all nodes are back (after "
                    f"{self.restart_after} events) and nothing is in progress"
                )
            if plan.effects:
                self.plans.arm(plan)
                continue
            group = group_of(self.system, plan)
            up = [name for name in group or (plan.node,) if name not in self.back]
            if not up:
                raise Invalid(
                    f"crash {plan}: the node is down then; it restarts {self.restart_after} events "
                    f"after a crash, here with event {self.back[plan.node]}"
                )
            self._crash(up)
            self.faults += 1
            if self.record:
                self.record(Crash(up[0], False, group))
            self._ask()
            self._look(up[0])

    def _resting(self) -> bool:
        """Is there nothing that the system does by itself?"""
        returns = any(event < NEVER for event in self.back.values())
        timers = any(self.timers.values())
        return not (returns or self.messages or self.logs.behind or timers)

    def finish(self) -> None:
        """Restart the nodes that are down and let timers run out.

        Raises Invalid if timers are set again and again, or if a planned crash did not happen.
        """
        rounds = 0
        while not self._resting():  # a recovery may crash, and set timers, too
            returns = (event for event in self.back.values() if event < NEVER)
            self._settle(max(returns, default=self.event))
            rounds += 1
            if rounds > ROUNDS and any(self.timers.values()):
                name, timers = next((n, t) for n, t in self.timers.items() if t)
                raise Invalid(
                    f"{self.system.protocol.name}: the run never ends: {name} sets the timer "
                    f"{min(timers)!r} again whenever it runs out"
                )
        for name, state in self.states.items():
            check_state(name, "its last step", state)
        self.plans.check_done()
        self.judge.rest(self.event)

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
                # A crash meanwhile clears them.
                if timer in timers and not is_patient(self.system, timer):
                    timers.discard(timer)
                    self._do(Timeout(name, timer), TimerFired(timer))
                    self._deliver()
        while due := [name for name, event in self.back.items() if event <= now]:
            for name in due:
                del self.back[name]
                self._do(self.disks.restart(name), None)
            self._deliver()
        for reread, arrival in self.logs.rereads():
            self._do(reread, arrival)
            self._deliver()
        if self.system.deployment.patient:
            self._lose_patience()

    def _lose_patience(self) -> None:
        """Let each patient timer run out once, as long as nothing else is to be done."""
        for name, timers in self.timers.items():
            for timer in sorted(timers):
                if timer in timers and is_patient(self.system, timer) and self._waits():
                    timers.discard(timer)
                    self._do(Timeout(name, timer), TimerFired(timer))
                    self._deliver()

    def _waits(self) -> bool:
        """Is there nothing that the system does by itself but for patient timers?"""
        returns = any(event < NEVER for event in self.back.values())
        timers = (timer for timers in self.timers.values() for timer in timers)
        hasty = any(not is_patient(self.system, timer) for timer in timers)
        return not (returns or self.messages or self.logs.behind or hasty)

    def _go_on(self, name: NodeName, does: str) -> None:
        """Count steps that may have no end.  Raises Invalid if it has none."""
        self.again += 1
        if self.again > ROUNDS:
            raise Invalid(f"{self.system.protocol.name}: the run never ends: {name} {does}")

    def _deliver(self) -> None:
        while self.messages:
            sender, name, message = self.messages.popleft()
            self._do(Deliver(name, sender), Received(sender, message))

    def _ask(self) -> None:
        """Let the prompt sites take their messages, channel after channel."""
        while self.asked:
            self.asked.sort(key=lambda entry: self.turns[entry[:2]])
            sender, name, message = self.asked.pop(0)
            self._step(Deliver(name, sender), Received(sender, message), None)

    def _do(self, action: StepAction, input_: Input | None) -> None:
        """Do an action.  input_: None for a restart."""
        self._step(action, input_, self.record)
        if self.asked:
            self._ask()
        if self.judge.always:
            self._look(action.node)

    def _look(self, name: NodeName) -> None:
        """Judge the state after an action of the node."""
        self.judge.look(name, self.event, self.messages)

    def _step(
        self,
        action: StepAction,
        input_: Input | None,
        record: Callable[[Action], None] | None,
    ) -> None:
        """Do a step, up to the crash that may strike in it."""
        name, system, disks = action.node, self.system, self.disks
        disk = disks.read(action) if name in disks.filed else ()
        value = self.states[name] if input_ is not None else disk or disks.values[name]
        answer = call_step(system, name, value, input_, disk)
        # Only a wrong answer is checked whole: a hash of each state would take longer than a step.
        if input_ is None or not isinstance(answer, tuple) or not _pair(answer):
            check_step(system, name, input_, answer)
        state, effects = answer
        self.states[name] = state
        self.touched.add(name)
        struck = self.plans.strike(name, effects) if name in self.plans.armed else None
        failed = False
        for effect in effects if struck is None else _until(effects, struck[0]):
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
                case Save(value, "", True) if name in disks.unfiled:
                    disks.values[name] = value
                case SetTimer(timer) if name not in system.prompt:
                    self.timers[name].add(timer)
                case _:
                    check_step(system, name, input_, answer, hashed=False)
                    failed = self._take_rare(name, effect)
        if failed:
            self._fail(name)
        if struck:
            self._strike(action, *struck, len(real_effects(effects)))
        elif record:
            record(action)

    def _strike(
        self, action: StepAction, fatal: int, group: tuple[NodeName, ...], points: int
    ) -> None:
        """Crash the node, or its failure group, after so many effects of its step: within the
        step, or after it, when prompt sites have taken their messages."""
        self.faults += 1
        up = [member for member in group or (action.node,) if member not in self.back]
        if fatal == points:
            self._ask()
            self._look(action.node)
        self._crash(up)
        if self.record and fatal < points:
            self.record(action._replace(crash_after=fatal, group=group))
        elif self.record:
            self.record(action)
            self.record(Crash(up[0], False, group))

    def _fail(self, name: NodeName) -> None:
        """Crash a node by its own step, and the group without which it never crashes."""
        group = self.system.bound.get(name, (name,))
        self._crash([member for member in group if member not in self.back])
        self._go_on(name, "crashes by its own step again and again")

    def _take_rare(self, name: NodeName, effect: Effect) -> bool:
        """Let an effect take place that few protocols have; does the node crash by it?"""
        match effect:
            case Save():
                self.disks.write(name, effect)
            case Sync():
                self.disks.sync(name)
            case SetTimer(timer):
                self.timers[name].add(timer)
            case CancelTimer(timer):
                self.timers[name].discard(timer)
            case Rewind(to):
                self.logs.rewind(name, to)
                self._go_on(name, "goes back in its log again and again")
        return isinstance(effect, Fail)

    def _crash(self, names: Sequence[NodeName]) -> None:
        """Take down these nodes, which are up; watched channels from them end with a notice."""
        for name in names:
            self.states[name] = DOWN
            self.touched.add(name)
            self.timers[name].clear()
            self.logs.forget(name)
            returns = name in self.system.returning
            self.back[name] = self.event + self.restart_after if returns else NEVER
            self.outages.append(UntimedOutage(name, self.event))
        self.messages = deque(entry for entry in self.messages if entry[1] not in names)
        if self.resetting:
            self._reset(names)
        deployment = self.system.deployment
        for sender, receiver in deployment.channels if deployment.watched else ():
            noticed = sender in names and receiver not in self.back
            if noticed and (sender, receiver) in deployment.watched:
                waiting = self.asked if receiver in self.system.prompt else self.messages
                waiting.append((sender, receiver, Lost(sender)))

    def _reset(self, names: Sequence[NodeName]) -> None:
        """Lose the messages that these nodes have sent on links that a crash resets."""
        lost = {ends for ends in self.resetting if ends[0] in names}
        self.messages = deque(entry for entry in self.messages if entry[:2] not in lost)
        self.asked = [entry for entry in self.asked if entry[:2] not in lost]


def _turns(system: System) -> dict[tuple[NodeName, NodeName], tuple[int, int]]:
    """The turn of each channel to a prompt site; where they talk to each other, site by site."""
    turns = {}
    talk = any(sender in system.prompt for sender, to in system.channel_at if to in system.prompt)
    for (sender, to), at in system.channel_at.items():
        if to in system.prompt:
            turns[sender, to] = (system.prompt.index(to) if talk else 0, at)
    return turns


def _pair(answer: tuple[Any, ...]) -> bool:
    return len(answer) == 2 and isinstance(answer[1], tuple)


def _until(effects: tuple[Effect, ...], count: int) -> Iterator[Effect]:
    """The effects up to the `count`-th real one, with the notes between them."""
    for effect in effects:
        yield effect
        count -= not isinstance(effect, Note)
        if not count:
            return
