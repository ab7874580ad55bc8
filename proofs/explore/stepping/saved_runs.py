"""Runs that were made by hand, as a file of JSON and as a test, and their replay.

Rule of this file: nothing of a file is executed; an action is looked up among the possible ones by
the text that Python writes for it.
"""

from __future__ import annotations

from model.actions import Action
from model.choices import enabled
from model.core import Property
from model.errors import Invalid, StepFailed, unknown
from model.evidence import PinnedScope
from model.observations import first_violation
from model.protocol import Protocol
from model.results.explored import SavedAction, SavedRun
from model.system import System
from model.world import World, apply, initial
from proofs.explore.explorer import Trace, answer_property
from proofs.explore.stepping.run import stepped


def saved_run(called: str, scope: str, trace: Trace, violates: str) -> SavedRun:
    """The run as a value to save.  called: the protocol as `asif check` takes it."""
    steps = stepped(trace, compared=False).steps[1:]
    actions = (
        SavedAction(repr(action), step.says + ", before " * bool(step.undone) + step.undone)
        for action, step in zip(trace.actions, steps, strict=True)
    )
    return SavedRun(called, scope, tuple(actions), violates)


def scope_of(protocol: Protocol, name: str) -> PinnedScope:
    """The scope with this name.  Raises Invalid."""
    known = {one.name: one for one in protocol.evidence.scopes}
    if name not in known:
        raise unknown(f"scope of {protocol.name}", name, known)
    return known[name]


def replay_saved(protocol: Protocol, run: SavedRun) -> tuple[Trace, Property | None]:
    """The run anew, up to the first property that it violates; None: it violates none.

    Raises Invalid if the world offers no such action at some place.
    """
    system = System(protocol, scope_of(protocol, run.scope).scope)
    try:
        worlds = [initial(system)]
    except StepFailed as error:
        return Trace(system, (), ()), answer_property(error)
    actions: list[Action] = []
    broken = first_violation(system, worlds[-1])
    for number, saved in enumerate(run.actions, start=1):
        if broken is not None:
            break
        actions.append(_found(system, worlds[-1], saved, number))
        try:
            worlds.append(apply(system, worlds[-1], actions[-1]))
        except StepFailed as error:
            broken = answer_property(error)
            break
        broken = first_violation(system, worlds[-1])
    return Trace(system, tuple(actions), tuple(worlds)), broken


def _found(system: System, world: World, saved: SavedAction, number: int) -> Action:
    for action in enabled(system, world):
        if repr(action) == saved.action:
            return action
    raise Invalid(f"action {number}: the protocol offers no such action there: {saved.says}")
