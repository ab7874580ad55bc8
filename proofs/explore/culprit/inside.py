"""A violation inside the system: a property of nodes, a step that fails, a run without end.

Rule of this file: a node is blamed if the property holds of the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.core import Observation, Property, When
from model.errors import Invalid, StepFailed
from model.observations import look_inside, looks_at
from model.results.culprit import Culprit, CulpritKind
from model.system import LETS_GO, is_satisfied, read_gauges
from model.world import apply, initial
from proofs.explore.culprit.run import ShownRun
from proofs.explore.culprit.words import deed, some_of
from proofs.explore.explorer import Trace


def failed_step(trace: Trace) -> Culprit:
    """The culprit of a run whose last step fails, or that has no world since a boot fails.

    A step that answers otherwise when it is asked again has no reason.
    """
    at = f"in step {len(trace.actions)}" if trace.worlds else "at its start"
    says = f"a node fails {at}, and not if it is asked again."
    try:
        if trace.worlds:
            apply(trace.system, trace.worlds[-1], trace.actions[-1])
        else:
            initial(trace.system)
    except StepFailed as error:
        on = f"{at} ({error.on})" if trace.worlds else at
        says = f"{error.node} fails {on}: {error.why}."
    return Culprit(CulpritKind.FAILED_STEP, says)


def circle(run: ShownRun, length: int) -> Culprit:
    """The culprit of a run whose last actions repeat without end."""
    first = len(run.parts) - length
    moments = [one for at in range(first, len(run.parts)) for one in run.moments_of(at)]
    nodes = dict.fromkeys(one.node for one in moments)
    which = (
        f"steps {first + 1} to {first + length} repeat" if length > 1 else "the last step repeats"
    )
    never = f"{some_of(nodes)} never come{'s' * (len(nodes) == 1)} to rest"
    says = f"{which} without end, and {never}: {some_of(map(deed, moments))}"
    return Culprit(CulpritKind.STUCK, says)


def state(run: ShownRun, broken: Property) -> Culprit:
    """The culprit of a run whose last world violates a property that outputs alone do not show."""
    world, system = run.trace.worlds[-1], run.system
    seen = look_inside(system, world, looks_at([broken]))
    blamed = [*_blamed(run, broken, seen)]
    says = f"{some_of(blamed)} break{'s' * (len(blamed) == 1)} the law"
    if not blamed:
        inside = broken.nodes or broken.messages
        says = f"{'the nodes together' if inside else 'the results'} break the law"
    if broken.name == LETS_GO:
        says = some_of(_hoarding(run, seen)) or says
    return Culprit(CulpritKind.STATE, f"{_last_step(run, broken)} {says}")


def _last_step(run: ShownRun, broken: Property) -> str:
    if not run.parts:
        return "at the start:"
    deeds = run.moments_of(len(run.parts) - 1)
    rest = ", at rest" if broken.when is When.QUIESCENT else ""
    return f"after step {len(run.parts)} ({deed(deeds[0])}){rest}:"


def _hoarding(run: ShownRun, seen: Observation) -> Iterator[str]:
    """The nodes that buffer more than a restart needs."""
    needed = run.system.protocol.behaviour.needed
    bounds = needed(run.system.scope, seen) if needed is not None else {}
    for name, held in seen.states:
        buffered = read_gauges(run.system, name, held).buffered or 0
        if buffered > bounds.get(name, buffered):
            yield f"{name} buffers {buffered}, and a restart needs {bounds[name]}"


def _blamed(run: ShownRun, broken: Property, seen: Observation) -> Iterator[str]:
    """The nodes and messages without which the property holds, a few words each."""
    shown = {moment.node: moment.state for moment in run.story.moments}
    up = [name for name, _ in seen.states]
    for name in run.system.sites:
        others = seen._replace(
            states=tuple(one for one in seen.states if one[0] != name),
            durable=tuple(one for one in seen.durable if one[0] != name),
        )
        if others != seen and _holds(run, broken, others):
            about = shown.get(name, "") if name in up else "down"
            yield f"{name} ({about})" if about else name
    for ends, _ in seen.messages:
        others = seen._replace(messages=tuple(one for one in seen.messages if one[0] != ends))
        if _holds(run, broken, others):
            yield f"the messages from {ends[0]} to {ends[1]}"


def _holds(run: ShownRun, broken: Property, seen: Observation) -> bool:
    """Does the property hold of an observation that lacks a part?  Not if it cannot say."""
    try:
        return is_satisfied(run.system, broken, seen)
    except Invalid:
        return False
