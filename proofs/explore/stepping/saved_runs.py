"""Runs that were made by hand, as a file of JSON and as a test, and their replay.

Rule of this file: nothing of a file is executed; an action is looked up among the possible ones by
the text that Python writes for it.
"""

from __future__ import annotations

from functools import partial

from model.actions import Action
from model.choices import enabled
from model.errors import Invalid, StepFailed, unknown
from model.evidence import PinnedScope
from model.observations import first_violation
from model.protocol import Protocol
from model.results.explored import SavedAction, SavedRun
from model.system import System
from model.world import World, apply, initial
from proofs.explore.explorer import Counterexample, Trace, answer_property
from proofs.explore.stepping.run import stepped
from proofs.explore.stepping.violations import violation

SHOWN = 120
"""The letters of an action that are shown."""


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


def replay_saved(protocol: Protocol, run: SavedRun) -> tuple[Trace, Counterexample | None]:
    """The run anew, up to the first violation, which is the run itself; None: it violates nothing.

    Raises Invalid if the world offers no such action at some place.
    """
    system = System(protocol, scope_of(protocol, run.scope).scope)
    try:
        trace = Trace(system, (), (initial(system),))
    except StepFailed as error:
        trace = Trace(system, (), ())
        return trace, Counterexample(answer_property(error), trace)
    judge = partial(first_violation, system)
    found = violation(trace, judge)
    for number, saved in enumerate(run.actions, start=1):
        if found is not None:
            break
        trace = _after(trace, saved, number)
        found = violation(trace, judge)
    return trace, found


def _after(trace: Trace, saved: SavedAction, number: int) -> Trace:
    """The run with one more action, whose step may fail."""
    action = _found(trace.system, trace.worlds[-1], saved, number)
    try:
        worlds = (*trace.worlds, apply(trace.system, trace.worlds[-1], action))
    except StepFailed:
        worlds = trace.worlds
    return Trace(trace.system, (*trace.actions, action), worlds)


def _found(system: System, world: World, saved: SavedAction, number: int) -> Action:
    for action in enabled(system, world):
        if repr(action) == saved.action:
            return action
    shown = f"{saved.action[:SHOWN]}…" if len(saved.action) > SHOWN else saved.action
    raise Invalid(f"action {number}: the protocol offers no {shown} there (“{saved.says}”)")
