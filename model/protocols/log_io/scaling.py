"""Scale-down: a replica goes away, by the controller, the dispatcher and the merger.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithm 13 and Section 7.2.

The dispatcher sends events of type "b" to the second replica.  The controller scales down when it
first hears of traffic, and that message may take as long as it likes.
"""

from __future__ import annotations

from typing import Any

from model.core import STALE, Answer, Effect, NodeName, Note, Save, Send, Site
from model.protocols.log_io.design import Deletes
from model.protocols.log_io.log import CONTROLLER, DISPATCHER, LEAVES, LOG, MERGER, STAYS
from model.protocols.log_io.messages import (
    MOVED,
    Back,
    Choose,
    Chosen,
    Close,
    Commit,
    Committed,
    Controller,
    Drained,
    Move,
    Operator,
    Prepared,
    Remove,
    Removed,
    Resent,
    Traffic,
    Updated,
    Watch,
    note,
)
from model.protocols.log_io.operator import AHEAD, context_of, end_commit, go_on, hand_on

MESSAGES = (Committed, Remove, Chosen, Resent, Removed)
"""What operators are sent while a replica goes away."""
CLOSED = (f"{DISPATCHER}{AHEAD}{LEAVES}", f"{LEAVES}{AHEAD}{MERGER}")


# --- the controller --------------------------------------------------------------------------
def control(site: Site, state: Controller, sender: NodeName, message: Any) -> Answer:
    """The step of the controller; what it has begun is durable."""
    match message:
        case Traffic() if state.at == 0:
            return _reach(site, 1)
        case Prepared() if state.at == 1:
            return _reach(site, 2)
        case Updated() if state.at == 2:
            return _reach(site, 3)
        case Drained() if state.at == 3:
            return _delete()
        case Back() if (state.at, sender) in ((1, DISPATCHER), (2, MERGER)):
            return state, _requests(site, state.at)
        case _:
            return state, (Note(STALE),)


def restart(site: Site, durable: Controller | None) -> Answer:
    """7.2: "the Controller restarts at that step"."""
    state = durable or Controller()
    if state.at == 3 and _deletes_early(site):
        return _delete()
    return state, _requests(site, state.at)


def _reach(site: Site, at: int) -> Answer:
    state = Controller(at)
    if at == 3 and _deletes_early(site):
        after, effects = _delete()
        return after, (Save(state), *effects)
    return state, (Save(state), *_requests(site, at))


def _requests(site: Site, at: int) -> tuple[Effect, ...]:
    match at:
        case 1:
            return (Send(DISPATCHER, Remove()),)
        case 2:
            return (Send(MERGER, Removed()),)
        case 3:
            return (Send(LOG, Watch()),)
        case _:
            return ()


def _deletes_early(site: Site) -> bool:
    return site.spec.design.scaling.deletes is Deletes.MOVED


def _delete() -> tuple[Controller, tuple[Effect, ...]]:
    """Step 3."""
    closes = tuple(Send(name, Close()) for name in CLOSED)
    return Controller(4), (*closes, Save(Controller(4)))


# --- the operators ---------------------------------------------------------------------------
def obey(site: Site, state: Operator, message: Any) -> Answer:
    """The step of the dispatcher, the merger or the replica."""
    match message:
        case Committed(succeeds):
            return end_commit(site, state, succeeds)
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


def report(site: Site, state: Any, effects: tuple[Effect, ...], *, restarted: bool) -> Answer:
    """The step, and what the controller hears of it."""
    if restarted and site.name in (DISPATCHER, MERGER):
        return state, (*effects, Send(CONTROLLER, Back()))
    if not restarted and site.name == DISPATCHER and isinstance(state, Operator):
        return state, (*effects, Send(CONTROLLER, Traffic()))
    return state, effects
