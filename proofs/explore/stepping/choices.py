"""The actions that may come next in a world, in words, with the crashes in each.

Rule of this file: no action of its own; model.choices lists them, in the order that counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.actions import (
    Action,
    Crash,
    Deliver,
    Disturb,
    Inject,
    Reread,
    Restart,
    StepAction,
    Suspect,
    Timeout,
)
from model.choices import enabled, may_crash
from model.core import NodeName
from model.errors import StepFailed, words_of
from model.protocol import Failures
from model.results.explored import ActionChoice, ChoiceKind, CrashChoice
from model.system import System
from model.words import listed
from model.world import World, real_effects, response, struck
from proofs.explore.evidence import gather_evidence
from proofs.explore.moment_words import describe_effect, label_of

STEPS = Deliver, Timeout, Inject, Reread, Restart
"""The actions within which a crash may come."""


def choices_of(system: System, world: World) -> Iterator[ActionChoice]:
    """The possible actions, those of one step together with the crashes in it; in the order of
    model.choices."""
    possible = enabled(system, world)
    crashes: dict[Action, list[CrashChoice]] = {}
    for number, action in enumerate(possible):
        if isinstance(action, STEPS) and action.crash_after is not None:
            whole = action._replace(crash_after=None, group=())
            crashes.setdefault(whole, []).append(_crash(system, world, number, action))
    for number, action in enumerate(possible):
        if not isinstance(action, STEPS) or action.crash_after is None:
            yield _choice(system, world, number, action, tuple(crashes.pop(action, ())))
    assert not crashes, "every crash within a step is of a step that is possible"


def refused_crash(system: System, world: World) -> str:
    """The reason why no crash may come now; "" if one may."""
    if system.protocol.promise.assumes.failures is Failures.NONE:
        return "The protocol assumes that no node crashes."
    if not system.victims:
        return "No node of this scope may crash."
    if not world.crashes:
        return "No crash of this scope is left."
    if not may_crash(system, world):
        return "After the first fault, a further one comes only at rest."
    return ""


def _refused_within(system: System, world: World, node: NodeName, effects: int) -> str:
    """The reason why no crash may strike within a step of the node; "" without effects."""
    if not effects:
        return ""
    if refused := refused_crash(system, world):
        return refused
    if node not in system.victims:
        return f"{node} does not crash in this scope."
    return f"A crash before or after its one effect is a crash of {node} between two steps."


def _choice(
    system: System, world: World, number: int, action: Action, crashes: tuple[CrashChoice, ...]
) -> ActionChoice:
    says = describe_action(system, world, action)
    if isinstance(action, Crash | Suspect | Disturb):
        return ActionChoice(number, ChoiceKind.FAULT, action.node, says)
    kind = ChoiceKind.OUTSIDE if isinstance(action, Inject) else ChoiceKind.NODE
    if isinstance(action, Timeout) and action.early:
        kind = ChoiceKind.FAULT
    try:
        found = real_effects(response(system, world, action).effects)
    except StepFailed as error:
        return ActionChoice(number, kind, action.node, says, fails=words_of(error))
    site = system.sites[action.node]
    effects = tuple(describe_effect(system, site, one) for one in found)
    refused = "" if crashes else _refused_within(system, world, action.node, len(effects))
    return ActionChoice(number, kind, action.node, says, effects, crashes, refused)


def _crash(system: System, world: World, number: int, action: StepAction) -> CrashChoice:
    assert action.crash_after is not None
    (point,) = gather_evidence(system, world, action).hit or {""}
    return CrashChoice(number, action.crash_after, str(point), _others(system, world, action))


def _others(system: System, world: World, action: Action) -> tuple[NodeName, ...]:
    """The other nodes that go down in the action."""
    return tuple(name for name in struck(system, world, action) if name != action.node)


def describe_deed(system: System, world: World, action: Action) -> str:
    """The action in words, as it happens: with the crash in it, or the failure of its step."""
    says = describe_action(system, world, action)
    if isinstance(action, Crash):
        return says
    try:
        down = struck(system, world, action)
    except StepFailed:
        return f"{says}: this step fails"
    others = [name for name in down if name != action.node]
    crash = f", and crashes{' with ' * bool(others)}{listed(others)}"
    return says + crash * bool(down)


def describe_action(system: System, world: World, action: Action) -> str:
    """The action in words, before it happens."""
    node, label = action.node, label_of(system, world, action)
    match action:
        case Deliver():
            return f"{node} takes {label} of {action.sender}"
        case Timeout():
            return f"the timer {label} of {node} runs out"
        case Inject():
            return f"{label} comes to {node}"
        case Reread():
            return f"{node} reads {label}"
        case Restart():
            return f"{node} restarts{', ' * bool(label)}{label}"
        case Suspect():
            return f"{node} is {label}, and is up"
        case Disturb():
            return f"{label} on the way to {node}"
        case Crash():
            names = [node, *_others(system, world, action)]
            verb = "crash" if len(names) > 1 else "crashes"
            return f"{listed(names)} {verb} between two steps{', ' * bool(label)}{label}"
