"""The words of the core that a timed run refuses, each in one line; an untimed run takes them.

Rule of this file: no change of a run; only errors.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.choices import is_patient
from model.core import CancelTimer, Effect, Fail, Input, Rewind, Role, SetTimer, Sync
from model.errors import Invalid
from model.system import System, check_step
from sim.timed.detector import Detector
from sim.timed.failures import TimedCrash
from sim.timed.network import TimedNode

REFUSED = Rewind | Fail
RARE = frozenset({CancelTimer, Sync, Rewind, Fail})
"""The effects that few protocols have; the loops check a step that has one."""


def check_deployment(system: System) -> None:
    """Raise Invalid for patient timers and for prompt sites that send to each other."""
    for site in system.sites.values():
        for timer in site.timers:
            _check_timer(system, timer)
    for sender, receiver in system.channel_at:
        if sender in system.prompt and receiver in system.prompt:
            raise _left_out(system, f"a prompt site that sends to another ({sender}, {receiver})")


def check_plans(
    system: System, detector: Detector, planned: Sequence[TimedCrash], blocking: bool
) -> None:
    """Raise Invalid for crashes that the deployment never has, or that timed runs leave out.

    blocking: do nodes wait for their own storage?
    """
    name = system.protocol.name
    if not blocking and any(plan.pause_ps is not None for plan in planned):
        raise Invalid('failures: with kind = "pause", give costs.storage.blocking = true')
    if planned and system.bound and detector.whole_pipeline:
        raise Invalid(f"detector: {name} has nodes that never crash alone; omit whole_pipeline")
    for plan in planned:
        for node in plan.nodes:
            if node not in system.deployment.crashable:
                raise Invalid(f"failures: {name} deploys {node!r} never to crash")
            if system.sites[node].role is Role.SOURCE:
                raise _left_out(system, f"a crash of a source, as {node} is")
            whole = system.bound.get(node)
            if whole and ({*whole} != {*plan.nodes} or plan.again_ps is not None):
                raise Invalid(
                    f"failures: {node} never crashes alone; give its group, "
                    f"{', '.join(whole)}, and no again_after_s"
                )
            for ends in system.channel_at:
                if node in ends and system.resets(ends):
                    raise _left_out(system, f"a crash that resets a link, {ends[0]} -> {ends[1]}")


def check_effects(
    system: System, node: TimedNode, effects: Sequence[Effect], input_: Input | None
) -> None:
    """Check a step with rare effects; raise Invalid for an effect that timed runs leave out."""
    unusual = node.unsynced or system.deployment.patient
    if not unusual and RARE.isdisjoint(map(type, effects)):
        return
    check_step(system, node.name, input_, (node.state, effects), hashed=False)
    for effect in effects:
        if isinstance(effect, REFUSED):
            raise _left_out(system, f"the effect {type(effect).__name__}")
        if isinstance(effect, SetTimer):
            _check_timer(system, effect.name)


def _check_timer(system: System, timer: str) -> None:
    """Raise Invalid for a patient timer, the only kind that a prompt site sets."""
    if is_patient(system, timer):
        raise _left_out(system, f"patient timers, such as {timer}")


def _left_out(system: System, word: str) -> Invalid:
    return Invalid(f"{system.protocol.name}: a timed run has not {word}; an untimed run has")
