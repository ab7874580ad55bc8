"""The steps of nodes in designs whose restarts run the tasks elsewhere, and of orphans.

Rule of this file: no step of an operator itself; a place runs the operator's steps under its name.

The tasks of run 0 stand in the first places, those of run 1 in the second ones, those of run 2 in
the first ones again.  A task whose run is over is an orphan: it goes on with the messages that are
on their way to it until its place is used again, and it may write.  That happens after a crash of
the coordinator, and after the suspicion of a task that is up (a pause, a broken link).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.core import Effect, Input, Lost, Note, Received, Send, Site, Step
from model.protocols.abs.coordinator import roll_back
from model.protocols.abs.design import Places
from model.protocols.abs.messages import ABANDONED, FromRun, OverseerState, Reborn, State
from model.protocols.abs.places import place_in, task_at
from model.queues import STALE_NOTE


def moves(site: Site) -> bool:
    """Does a restart run the tasks elsewhere?"""
    return site.config.design.places is Places.OTHERS


def step_in_place(
    site: Site, state: State, input_: Input, step: Callable[[Site, State, Input], Step]
) -> Step:
    """The step of a node that knows operators, and no places."""
    if isinstance(input_, Received):
        sender, message = input_
        if isinstance(message, Lost | Reborn):
            assert isinstance(state, OverseerState)
            return _directed(site, _leave(site, state, sender))
        input_ = Received(task_at(sender), message)
    return _directed(site, step(site._replace(name=task_at(site.name)), state, input_))


def recover_in_place(site: Site, durable: Any, recover: Callable[[Site, Any], Step]) -> Step:
    """The first step after a crash, in the same way."""
    return _directed(site, recover(site._replace(name=task_at(site.name)), durable))


def _leave(site: Site, state: OverseerState, place: str) -> Step:
    """Restart all tasks elsewhere, at once, if a task of this run is lost."""
    if place != place_in(state.run, task_at(place)):
        return Step(state, (STALE_NOTE,))
    notes = (Note(ABANDONED),) if state.begun else ()
    after, effects = roll_back(site, state)
    return Step(after, (*notes, *effects))


def _directed(site: Site, step: Step) -> Step:
    """The step with its messages to the places of the node's run."""
    state, effects = step
    run = getattr(state, "run", 0)
    return Step(state, tuple(_direct(site, run, one) for one in effects))


def _direct(site: Site, run: int, effect: Effect) -> Effect:
    if not isinstance(effect, Send):
        return effect
    if effect.to in site.config.tasks:
        return effect._replace(to=place_in(run, effect.to))
    if effect.to in site.config.sinks:
        return effect._replace(message=FromRun(run, effect.message))
    return effect
