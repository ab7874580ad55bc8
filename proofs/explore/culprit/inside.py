"""A violation inside the system: a property of nodes, a step that fails, a run without end.

Rule of this file: a node is blamed if the property holds of the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.core import Observation, Property, When
from model.errors import Invalid, StepFailed
from model.observations import look_inside, looks_at
from model.results.culprit import Culprit, CulpritKind
from model.results.story import MomentKind, StoryMoment
from model.system import LETS_GO, is_satisfied, read_gauges
from model.world import DOWN, apply, initial
from proofs.explore.culprit.run import ShownRun
from proofs.explore.culprit.words import listed
from proofs.explore.explorer import Trace


def failed_step(trace: Trace) -> Culprit:
    """The culprit of a run whose last step fails, or that has no world since a boot fails."""
    try:
        if trace.worlds:
            apply(trace.system, trace.worlds[-1], trace.actions[-1])
        else:
            initial(trace.system)
    except StepFailed as error:
        on = "at its start" if not trace.worlds else f"in step {len(trace.actions)} ({error.on})"
        return Culprit(CulpritKind.FAILED_STEP, f"{error.node} fails {on}: {error.why}")
    raise AssertionError("the last step answers")


def circle(run: ShownRun, length: int) -> Culprit:
    """The culprit of a run whose last actions repeat without end."""
    first = len(run.parts) - length
    moments = [one for at in range(first, len(run.parts)) for one in run.moments_of(at)]
    nodes = dict.fromkeys(one.node for one in moments)
    which = f"steps {first + 1} to {first + length} repeat" if length > 1 else "the last step repeats"
    says = f"{which} without end, and {listed(nodes)} never come{'s' * (len(nodes) == 1)} to rest: "
    return Culprit(CulpritKind.STUCK, says + listed(map(_deed, moments)))


def _deed(moment: StoryMoment) -> str:
    """The thing that happens in a moment, in a few words."""
    after = ", and crashes" if moment.kind is not MomentKind.CRASH and moment.down else ""
    match moment.kind:
        case MomentKind.DELIVER if moment.from_ is not None:
            text = f"{moment.node} takes {moment.label} of {moment.from_.node}"
        case MomentKind.TIMEOUT:
            text = f"the timer {moment.label} of {moment.node} runs out"
        case MomentKind.INJECT:
            text = f"{moment.label} comes to {moment.node}"
        case MomentKind.REREAD:
            text = f"{moment.node} reads {moment.label}"
        case MomentKind.DISTURB:
            text = f"{moment.label} on the way to {moment.node}"
        case MomentKind.SUSPECT:
            text = f"{moment.node} is {moment.label}"
        case MomentKind.CRASH:
            text = f"{listed(moment.down)} crash{'es' * (len(moment.down) == 1)}"
        case _:
            text = f"{moment.node} restarts"
    return text + after


def state(run: ShownRun, broken: Property) -> Culprit:
    """The culprit of a run whose last world violates a property that outputs alone do not show."""
    says = f"{_last_step(run, broken)} {'; '.join(_blamed(run, broken)) or 'it is violated'}"
    return Culprit(CulpritKind.STATE, says)


def _last_step(run: ShownRun, broken: Property) -> str:
    if not run.parts:
        return "at the start:"
    deeds = run.moments_of(len(run.parts) - 1)
    rest = ", at rest" if broken.when is When.QUIESCENT else ""
    return f"after step {len(run.parts)} ({_deed(deeds[0])}){rest}:"


def _blamed(run: ShownRun, broken: Property) -> Iterator[str]:
    """The nodes and messages without which the property holds, a few words each."""
    system, world = run.system, run.trace.worlds[-1]
    seen = look_inside(system, world, looks_at([broken]))
    needed = system.protocol.behaviour.needed
    bounds = needed(system.scope, seen) if needed and broken.name == LETS_GO else {}
    shown = {moment.node: moment.state for moment in run.story.moments}
    for name, node in zip(system.sites, world.nodes, strict=True):
        others = seen._replace(
            states=tuple(one for one in seen.states if one[0] != name),
            durable=tuple(one for one in seen.durable if one[0] != name),
        )
        if not _holds(run, broken, others):
            continue
        if name in bounds and node.state is not DOWN:
            buffered = read_gauges(system, name, node.state).buffered
            yield f"{name} buffers {buffered}, and a restart needs {bounds[name]}"
        else:
            about = f" ({shown[name]})" if shown.get(name) else " is down" * (node.state is DOWN)
            yield f"{name}{about} is in a state that breaks it"
    for ends, _ in seen.messages:
        others = seen._replace(messages=tuple(one for one in seen.messages if one[0] != ends))
        if _holds(run, broken, others):
            yield f"the messages from {ends[0]} to {ends[1]} break it"


def _holds(run: ShownRun, broken: Property, seen: Observation) -> bool:
    """Does the property hold of an observation that lacks a part?  Not if it cannot say."""
    if seen == look_inside(run.system, run.trace.worlds[-1], looks_at([broken])):
        return False
    try:
        return is_satisfied(run.system, broken, seen)
    except Invalid:
        return False
