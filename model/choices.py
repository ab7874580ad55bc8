"""The actions that are possible in a world: those of nodes, of the outside world, faults.

Rule of this file: no effect (model.world).  `enabled` lists the actions in an order that never
varies, and every driver is a way to choose one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product

from model.actions import (
    Action,
    Crash,
    Deliver,
    Disturb,
    Disturbance,
    Inject,
    OwnStep,
    Reread,
    Restart,
    StepAction,
    Suspect,
    Timeout,
)
from model.core import NodeName
from model.errors import StepFailed
from model.protocol import Failures
from model.system import System
from model.timers import parse_timer
from model.world import DOWN, World, is_down, real_effects, response


def enabled(system: System, world: World) -> tuple[Action, ...]:
    """All possible actions: progress first, then the outside world, then faults."""
    offered = (a for name in system.sites for a in offers(system, world, name))
    failing = (a for name in system.sites for a in faults(system, world, name))
    return (*ready(system, world), *offered, *failing)


# --- actions of the system by itself ------------------------------------------------------------
def ready(system: System, world: World) -> tuple[OwnStep, ...]:
    """The actions that nodes may take by themselves, in the order of the sites; patient timers run
    out only if there is no other."""
    own = tuple(a for name in system.sites for a in progress(system, world, name))
    return own or tuple(a for name in system.sites for a in patience(system, world, name))


def quiescent(system: System, world: World) -> bool:
    """Is the system at rest: does no node do anything more by itself?"""
    return not ready(system, world)


def progress(system: System, world: World, name: NodeName) -> tuple[OwnStep, ...]:
    """The actions that the node takes by itself, whatever else is possible."""
    node = world.nodes[system.node_at[name]]
    if node.state is DOWN:
        return tuple(_restarts(system, world, name)) if name in system.returning else ()
    takes = tuple(
        Deliver(name, sender)
        for (sender, receiver), channel in zip(
            system.deployment.channels, world.channels, strict=True
        )
        if receiver == name and channel
    )
    hasty: Iterable[str] = node.timers
    if system.deployment.patient:
        hasty = (timer for timer in node.timers if not is_patient(system, timer))
    reads = (Reread(name),) if node.behind else ()
    return (*takes, *(Timeout(name, timer) for timer in hasty), *reads)


def patience(system: System, world: World, name: NodeName) -> tuple[Timeout, ...]:
    """The patient timers of the node; they run out if nothing else is possible (`ready`)."""
    timers = world.nodes[system.node_at[name]].timers if system.deployment.patient else ()
    return tuple(Timeout(name, timer) for timer in timers if is_patient(system, timer))


def is_patient(system: System, timer: str) -> bool:
    """Does the timer run out only when nothing else is possible?"""
    patient = system.deployment.patient
    return bool(patient) and parse_timer(timer).kind in patient


def _restarts(system: System, world: World, name: NodeName) -> Iterator[Restart]:
    """The restarts of a node that is down: one for each way in which the crash may have left its
    writes that were not synced."""
    files = system.sites[name].files
    if not files:
        yield Restart(name)
        return
    writes = world.nodes[system.node_at[name]].durable
    for kept in product(*(range(len(own)) for own in writes)):
        cut = zip(files, writes, kept, strict=True)
        tears = [file.name for file, own, at in cut if file.tears and at + 1 < len(own)]
        for count in range(len(tears) + 1):
            yield from (Restart(name, kept=kept, torn=torn) for torn in combinations(tears, count))


# --- the outside world -------------------------------------------------------------------------
def offers(system: System, world: World, name: NodeName) -> tuple[Inject, ...]:
    """The events that the outside world may hand to the node next, if the node is a source.

    It waits while the source is down or reads again.
    """
    at = system.source_at.get(name)
    if at is None:
        return ()
    _, inputs = system.scope.inputs[at]
    node = world.nodes[system.node_at[name]]
    if len(world.arrivals[at]) >= inputs.length or node.behind or node.state is DOWN:
        return ()
    return tuple(Inject(name, arrival) for arrival in inputs.alphabet)


# --- faults ------------------------------------------------------------------------------------
def may_fail(system: System, world: World) -> bool:
    """May any fault come in this world?"""
    return bool(may_crash(system, world) or world.early or world.disturbances)


def may_crash(system: System, world: World) -> bool:
    """Does the protocol's assumption grant a crash or a suspicion in this world?

    Failures.SINGLE grants the first one always, further ones only when the system is at rest.
    """
    if not world.crashes:
        return False
    first = world.crashes == system.scope.crashes
    return (
        first
        or system.protocol.promise.assumes.failures is Failures.ANY
        or quiescent(system, world)
    )


def faults(system: System, world: World, name: NodeName) -> tuple[Action, ...]:
    """The faults at the node: its own crashes, those of its failure groups, false suspicions,
    patient timers that run out early, and faults of the links to it."""
    disturbed = disturbances(system, world, name)
    if not may_crash(system, world):
        return disturbed
    groups = ((), *(group for group in system.groups if name in group))
    crashes = (a for group in groups for a in crashes_of(system, world, name, group))
    idle = bool(system.deployment.patient) and not any(
        progress(system, world, other) for other in system.sites
    )
    late = (a for group in groups if idle for a in late_crashes_of(system, world, name, group))
    return (*disturbed, *crashes, *late)


def disturbances(system: System, world: World, name: NodeName) -> tuple[Timeout | Disturb, ...]:
    """The patient timers of the node that may run out early, and the faults of the links to it."""
    early = patience(system, world, name) if world.early else ()
    found: list[Timeout | Disturb] = [timer._replace(early=True) for timer in early]
    if world.disturbances:
        for (sender, receiver), link in system.deployment.links.items():
            if receiver == name and world.channels[system.channel_at[sender, name]]:
                kinds = link.lossy, link.doubling, link.unordered, link.resets
                found += (
                    Disturb(name, sender, how)
                    for how, may in zip(Disturbance, kinds, strict=True)
                    if may
                )
    return tuple(found)


def crashes_of(
    system: System, world: World, name: NodeName, group: tuple[NodeName, ...]
) -> tuple[Action, ...]:
    """The crashes at the node, alone (()) or with a group: between two steps, or between any two
    effects of a step that the node may take whatever else is possible; for the node alone also
    false suspicions.  `may_crash` knows whether any is granted now.

    Only these nodes are looked at: a suspicion is lost if its watcher is down.  Between two steps a
    group crashes at its first member that is up, so that no crash is listed twice.
    """
    if not world.crashes or name not in system.victims:
        return ()
    actions: list[Action] = []
    if group or name in system.alone:
        up = (member for member in group or (name,) if not is_down(system, world, member))
        if next(up, None) == name:
            actions += [Crash(name, False, group), Crash(name, True, group)]
        steps: tuple[StepAction, ...] = progress(system, world, name)
        steps += offers(system, world, name)
        if world.early:
            steps += tuple(t._replace(early=True) for t in patience(system, world, name))
        actions += [a for step in steps for a in cuts(system, world, step, group)]
    if system.protocol.promise.assumes.suspicions and not group:
        ends = system.deployment.channels
        watched = (end for end in ends if end[0] == name and end in system.deployment.watched)
        actions += [Suspect(*end) for end in watched if not is_down(system, world, name)]
    return tuple(actions)


def late_crashes_of(
    system: System, world: World, name: NodeName, group: tuple[NodeName, ...]
) -> tuple[StepAction, ...]:
    """The crashes within the steps on the node's patient timers, where nothing else is possible."""
    if not world.crashes or name not in system.victims or not (group or name in system.alone):
        return ()
    timers = patience(system, world, name)
    return tuple(a for timer in timers for a in cuts(system, world, timer, group))


def cuts(
    system: System, world: World, step: StepAction, group: tuple[NodeName, ...]
) -> Iterator[StepAction]:
    """The step with a crash between any two of its effects."""
    try:
        points = len(real_effects(response(system, world, step).effects))
    except StepFailed:  # `apply` of the step reports this; no step, so no crash in it
        return
    for crash_after in range(1, points):
        yield step._replace(crash_after=crash_after, group=group)
