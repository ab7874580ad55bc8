"""The evidence of an exploration: the crash points, those that were hit, and the protocol's notes.

Rule of this file: one action at a time; whoever explores adds up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from model.actions import (
    Action,
    Crash,
    Disturb,
    Inject,
    Restart,
    StepAction,
    Suspect,
    Timeout,
)
from model.core import CRASHED, DISTURBED, EARLY, SPANNED, SUSPECTED, NodeName, Note, TimerFired
from model.system import System, describe, read_gauges
from model.timers import parse_timer
from model.world import DOWN, World, fails, input_of, real_effects, response, struck


class ScopeCrashPoint(NamedTuple):
    """A place where a crash may fall: in the step of `node` `on` an input, after some effects.

    after: the effects that have happened; empty for a crash between two steps.  group: the failure
    group that goes down there; (): the node alone.
    """

    node: NodeName
    on: str
    after: tuple[str, ...]
    group: tuple[NodeName, ...] = ()

    def __str__(self) -> str:
        others = [name for name in self.group if name != self.node]
        who = f"{self.node} with {', '.join(others)}" if others else self.node
        if not self.after:
            return f"{who}: between steps"
        return f"{who}: on {self.on}, after {', '.join(self.after)}"


class ActionEvidence(NamedTuple):
    """The evidence of an action: its notes, the crash points in it, and the one where it
    crashes."""

    notes: Mapping[str, int] = {}
    points: frozenset[ScopeCrashPoint] = frozenset()
    hit: frozenset[ScopeCrashPoint] = frozenset()


class FoundEvidence:
    """The evidence of a search so far.

    points, hit: the crash points that exist, and those where a crash has struck.  notes: their
    sums, counted once for each distinct focus of a node (proofs.explore.collapse).
    """

    def __init__(self) -> None:
        self.points: set[ScopeCrashPoint] = set()
        self.hit: set[ScopeCrashPoint] = set()
        self.notes: Counter[str] = Counter()

    def add(self, one: ActionEvidence) -> None:
        for name, times in one.notes.items():
            self.notes[name] += times
        self.points |= one.points
        self.hit |= one.hit


def gather_evidence(system: System, world: World, action: Action) -> ActionEvidence:
    """The evidence of the action in this world.

    A group of which one member is up crashes as this node alone does: no point of the group is hit.
    """
    if isinstance(action, Inject) and action.node not in system.victims:
        return ActionEvidence()
    if isinstance(action, Suspect):
        return ActionEvidence({SUSPECTED.name: 1})
    if isinstance(action, Disturb):
        return ActionEvidence({DISTURBED.name: 1})
    if isinstance(action, Crash) or action.crash_after is not None:
        down = struck(system, world, action)
        hit = {_hit(system, world, action)} if len(down) > 1 or not action.group else ()
        spanned = sum(map(bool, (_open_windows(system, world, name) for name in down)))
        notes = {CRASHED.name: len(down), **({SPANNED.name: spanned} if spanned else {})}
        return ActionEvidence(notes, hit=frozenset(hit))
    node = action.node
    effects = response(system, world, action).effects
    counted: Counter[str] = Counter()
    if fails(effects):
        counted[CRASHED.name] += len(struck(system, world, action))
    if isinstance(action, Timeout) and action.early:
        counted[EARLY.name] += 1
    for effect in effects:
        if isinstance(effect, Note):
            counted[effect.what.name] += effect.times
    if node not in system.victims:
        return ActionEvidence(counted)
    inside = range(1, len(real_effects(effects)))
    groups = [group for group in ((), *system.groups) if node in group or not group]
    if node not in system.alone:  # it never crashes but with a group
        groups.remove(())
    points = {_between(node, group) for group in groups}
    points |= {_within(system, world, action, i, group) for i in inside for group in groups}
    return ActionEvidence(counted, frozenset(points))


def _open_windows(system: System, world: World, name: NodeName) -> int | None:
    state = world.nodes[system.node_at[name]].state
    return None if state is DOWN else read_gauges(system, name, state).windows


def _hit(system: System, world: World, action: StepAction | Crash) -> ScopeCrashPoint:
    """The point at which the action crashes."""
    if isinstance(action, Crash):
        return _between(action.node, action.group)
    assert action.crash_after is not None
    return _within(system, world, action, action.crash_after, action.group)


def _between(node: NodeName, group: tuple[NodeName, ...]) -> ScopeCrashPoint:
    """The point between two steps; one for all members of a group."""
    return ScopeCrashPoint(group[0] if group else node, "", (), group)


def _within(
    system: System,
    world: World,
    action: StepAction,
    crash_after: int,
    group: tuple[NodeName, ...],
) -> ScopeCrashPoint:
    """The point in the step of an action, after `crash_after` effects."""
    effects = real_effects(response(system, world, action).effects)[:crash_after]
    input_ = None if isinstance(action, Restart) else input_of(system, world, action)
    if isinstance(input_, TimerFired):  # timers of one kind are set in one place of the protocol
        input_ = TimerFired(parse_timer(input_.timer).kind)
    return ScopeCrashPoint(action.node, describe(input_), tuple(map(_kind, effects)), group)


def _kind(effect: Any) -> str:
    kind = type(effect).__name__
    if kind == "Send":
        return f"{type(effect.message).__name__} to {effect.to}"
    return kind
