"""The dispatcher, the merger and the replicas, while a replica goes away.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithm 13 and Section 7.2.

The dispatcher sends events of type "b" to the second replica.
"""

from __future__ import annotations

from typing import Any

from model.core import Answer, Note, Send, Site
from model.protocols.log_io.generation import context_of
from model.protocols.log_io.messages import Commit
from model.protocols.log_io.operator import go_on
from model.protocols.log_io.places import CONTROLLER, DISPATCHER, LOG, MERGER, STAYS
from model.protocols.log_io.quantities import MOVED, THWARTED, note
from model.protocols.log_io.scaling.messages import (
    Back,
    Choose,
    Chosen,
    Committed,
    Move,
    Prepared,
    Remove,
    Removed,
    Resent,
    Traffic,
    Updated,
)
from model.protocols.log_io.states import Operator
from model.protocols.log_io.writes import hand_on

MESSAGES = (Committed, Remove, Chosen, Resent, Removed)
"""What operators are sent while a replica goes away."""


def obey(site: Site, state: Operator, message: Any) -> Answer:
    """The step of the dispatcher, the merger or the replica."""
    match message:
        case Committed(succeeds):
            return _end_commit(site, state, succeeds)
        case Remove() if state.alone:  # 7.2: "Step 1.a is done", and there is nothing to move
            return state, (Send(CONTROLLER, Prepared()),)
        case Remove():  # 1.a and 1.b
            return state._replace(moving=True), (Send(LOG, Choose()),)
        case Chosen(rows):
            at = site.succs.index(STAYS)
            number = state.sent[at] + 1
            count = len({row.number for row in rows})
            sent = (*state.sent[:at], state.sent[at] + count, *state.sent[at + 1 :])
            state = state._replace(alone=True, sent=sent)
            return state, (Send(LOG, Move(rows, number, context_of(state))),)  # 1.c
        case Resent(rows):  # 1.d
            state, sends = hand_on(site, state._replace(moving=False), [*rows])
            effects = (*note(MOVED, len(rows)), *sends, Send(CONTROLLER, Prepared()))
            return go_on(site, state, effects)
        case Removed():  # step 2
            return state, (Send(LOG, Commit((), context_of(state))), Send(CONTROLLER, Updated()))
    raise TypeError(f"{site.name}: nothing to do with {message}")


def _end_commit(site: Site, state: Operator, succeeds: bool) -> Answer:
    """Step 5 of the replica, if its transaction has not failed (7.2)."""
    assert state.committing is not None
    rows, state = [*state.committing], state._replace(committing=None)
    if not succeeds:
        lost = [sum(row.receiver == succ for row in rows) for succ in site.succs]
        sent = tuple(one - less for one, less in zip(state.sent, lost, strict=True))
        return go_on(site, state._replace(sent=sent), (Note(THWARTED),))
    state, effects = hand_on(site, state, rows)
    return go_on(site, state, effects)


def report_first(site: Site, before: Operator, answer: Answer) -> Answer:
    """The step, and what the controller hears of the first input, if there is a controller."""
    state, effects = answer
    begins = any(state.last) and not any(before.last)
    if site.spec.design.scaling is None or site.name != DISPATCHER or not begins:
        return answer
    return state, (*effects, Send(CONTROLLER, Traffic()))


def report_back(site: Site, answer: Answer) -> Answer:
    """The step of a node that has restarted, and what the controller hears of it."""
    if site.spec.design.scaling is None or site.name not in (DISPATCHER, MERGER):
        return answer
    state, effects = answer
    return state, (*effects, Send(CONTROLLER, Back()))
