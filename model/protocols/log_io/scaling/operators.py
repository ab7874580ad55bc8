"""The dispatcher, the merger and the replicas, while a replica comes or goes away.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithms 12 and 13 and Section 7.2.
"""

from __future__ import annotations

from typing import Any

from model.core import STALE, Answer, Note, Received, Save, Send, Site
from model.protocols.log_io.messages import Commit, Peek, Restore
from model.protocols.log_io.operators.generation import context_of
from model.protocols.log_io.operators.operator import begin, go_on
from model.protocols.log_io.places import CONTROLLER, LOG, connection
from model.protocols.log_io.quantities import ADDED, MOVED, MOVED_STATE, THWARTED, note
from model.protocols.log_io.roles import Place, is_absent, receives
from model.protocols.log_io.scaling.keyed import MovedState
from model.protocols.log_io.scaling.messages import (
    Add,
    Added,
    Back,
    Choose,
    Chosen,
    Committed,
    Deploy,
    Deployed,
    Move,
    Prepared,
    Remove,
    Removed,
    Resent,
    Traffic,
    Updated,
)
from model.protocols.log_io.states import Image, Recovering, RunningOperator
from model.protocols.log_io.writing.writes import hand_on

MESSAGES = (Committed, Deploy, Add, Remove, Chosen, Resent, Removed)
"""What operators are sent while a replica comes or goes away."""


def deploy(site: Site, message: Any) -> Answer:
    """Algorithm 12, step 1: the step of a replica that is not there yet."""
    if not isinstance(message, Deploy):
        return Image.ABSENT, (Note(STALE),)
    peeks = tuple(Send(one, Peek()) for one in site.spec.ins)
    return begin(site), (Save(Image.DEPLOYED), *peeks, Send(CONTROLLER, Deployed()))


def obey(site: Site, state: RunningOperator, message: Any) -> Answer:
    """The step of the dispatcher, the merger or the replica."""
    if isinstance(message, Committed):
        return _end_commit(site, state, message.succeeds)
    scaling = site.spec.design.scaling
    replicas = scaling.replicas
    once = scaling.in_turn or site.spec.moves_state
    if isinstance(message, Add | Remove) and state.moving and once:
        return state, (Note(STALE),)  # the controller asks twice
    match message:
        case Deploy():  # the controller asks twice
            return state, (Send(CONTROLLER, Deployed()),)
        case Add() if not state.alone:
            return state, (Send(CONTROLLER, Added()),)
        case Add() if site.spec.place is Place.MERGER:  # Algorithm 12, step 2
            state = state._replace(alone=False)
            peek = Send(connection(replicas.second, site.name), Peek())
            return state, (_store(site, state), peek, Send(CONTROLLER, Added()))
        case Remove() if state.alone:  # Algorithm 13: "Step 1.a is done" (7.2)
            return state, (Send(CONTROLLER, Prepared()),)
        case Add() | Remove():  # Algorithm 12, step 3; Algorithm 13, steps 1.a and 1.b
            replica = replicas.first if isinstance(message, Add) else replicas.second
            return state._replace(moving=True), (Send(LOG, Choose(replica)),)
        case Chosen(replica, rows):
            alone = replica == replicas.second
            return _move(site, state._replace(alone=alone), message)  # Algorithm 13, step 1.c
        case Resent(rows):  # step 1.d
            state, sends = hand_on(site, state._replace(moving=False), [*rows])
            done = Prepared() if state.alone else Added()
            added = note(ADDED, not state.alone)
            states = sum(isinstance(row.body, MovedState) for row in rows)
            counted = (*note(MOVED, len(rows) - states), *note(MOVED_STATE, states))
            effects = (*added, *counted, *sends, Send(CONTROLLER, done))
            return go_on(site, state, effects)
        case Removed():  # step 2
            return state, (_store(site, state), Send(CONTROLLER, Updated()))
    raise TypeError(f"{site.name}: nothing to do with {message}")


def _store(site: Site, state: RunningOperator) -> Send:
    """7.2: a node acknowledges "only after successfully storing its new state"."""
    return Send(LOG, Commit((), context_of(site, state)))


def _move(site: Site, state: RunningOperator, chosen: Chosen) -> Answer:
    """Algorithm 13, step 1.c: the events whose replica is another one now."""
    replicas = site.spec.design.scaling.replicas
    to = replicas.first if chosen.replica == replicas.second else replicas.second
    rows = tuple(row for row in chosen.rows if receives(site, state, to, row.data))
    at = site.succs.index(to)
    number = state.sent[at] + 1
    key = replicas.key if site.spec.moves_state else ""
    count = len({row.number for row in rows}) + bool(key)
    sent = (*state.sent[:at], state.sent[at] + count, *state.sent[at + 1 :])
    state = state._replace(sent=sent)
    context = context_of(site, state)
    return state, (Send(LOG, Move(chosen.replica, to, rows, number, context, key)),)


def _end_commit(site: Site, state: RunningOperator, succeeds: bool) -> Answer:
    """Step 5 of the replica, if its transaction has not failed (7.2)."""
    assert state.committing is not None
    rows, state = [*state.committing], state._replace(committing=None)
    if succeeds:
        state, effects = hand_on(site, state, rows)
        return go_on(site, state, effects)
    if state.box != ():  # an event state without the events that have moved is in the log alone
        held = tuple(one for one in state.held if isinstance(one, Received))
        return Recovering(held), (Note(THWARTED), Send(LOG, Restore()))
    lost = [sum(row.receiver == succ for row in rows) for succ in site.succs]
    sent = tuple(one - less for one, less in zip(state.sent, lost, strict=True))
    return go_on(site, state._replace(sent=sent), (Note(THWARTED),))


def report_first(site: Site, before: RunningOperator, answer: Answer) -> Answer:
    """The step, and what the controller hears of the first input, if there is a controller."""
    state, effects = answer
    begins = any(state.last) and not any(before.last)
    if site.spec.place is not Place.DISPATCHER or not begins:
        return answer
    return state, (*effects, Send(CONTROLLER, Traffic()))


def report_back(site: Site, answer: Answer) -> Answer:
    """The step of a node that has restarted, and what the controller hears of it."""
    if site.spec.place not in (Place.DISPATCHER, Place.MERGER) and not is_absent(site):
        return answer
    state, effects = answer
    return state, (*effects, Send(CONTROLLER, Back()))
