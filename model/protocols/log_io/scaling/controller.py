"""The controller that adds a replica and removes one.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithms 12 and 13 and Section 7.2.

The controller begins when it first hears of traffic, and each message of it may take as long as it
likes.
"""

from __future__ import annotations

from typing import Any

from model.core import STALE, Answer, Effect, NodeName, Note, Save, Send, Site
from model.protocols.log_io.places import AHEAD, DISPATCHER, LEAVES, LOG, MERGER
from model.protocols.log_io.scaling.design import Deletes, Task
from model.protocols.log_io.scaling.messages import (
    Add,
    Added,
    Back,
    Close,
    Deploy,
    Deployed,
    Drained,
    Open,
    Prepared,
    Remove,
    Removed,
    Traffic,
    Updated,
    Watch,
)
from model.protocols.log_io.states import Controller

CONNECTIONS = (f"{DISPATCHER}{AHEAD}{LEAVES}", f"{LEAVES}{AHEAD}{MERGER}")
"""The two connections of the replica."""
ASKED = {
    Task.DEPLOY: (LEAVES, Deploy(), Deployed()),
    Task.ADD_TO_MERGER: (MERGER, Add(), Added()),
    Task.ADD_TO_DISPATCHER: (DISPATCHER, Add(), Added()),
    Task.PREPARE: (DISPATCHER, Remove(), Prepared()),
    Task.REMOVE_FROM_MERGER: (MERGER, Removed(), Updated()),
    Task.DELETE: (LOG, Watch(), Drained()),
}
"""By task: who is asked, for what, and what is the answer."""


def begin(site: Site) -> Controller:
    return Controller(False, site.spec.design.scaling.plan)


def control(site: Site, state: Controller, sender: NodeName, message: Any) -> Answer:
    """The step of the controller; what it has begun is durable."""
    if isinstance(message, Traffic) and not state.begun:
        return _go_on(site, state.left)
    if state.begun and state.left:
        node, _, answer = ASKED[state.left[0]]
        if sender == node and isinstance(message, type(answer)):
            if state.left[0] is Task.DELETE:
                return _delete(state)
            return _go_on(site, state.left[1:])
        if isinstance(message, Back) and sender == node:
            return state, _requests(state)
    return state, (Note(STALE),)


def restart(site: Site, durable: Controller | None) -> Answer:
    """7.2: "the Controller restarts at that step"."""
    state = durable or begin(site)
    if _deletes_early(site, state):
        return _delete(state)
    return state, _requests(state)


def _go_on(site: Site, left: tuple[Task, ...]) -> Answer:
    state = Controller(True, left)
    if _deletes_early(site, state):
        after, effects = _delete(state)
        return after, (Save(state), *effects)
    return state, (Save(state), *_requests(state))


def _requests(state: Controller) -> tuple[Effect, ...]:
    if not state.begun or not state.left:
        return ()
    node, request, _ = ASKED[state.left[0]]
    opens = CONNECTIONS if state.left[0] is Task.DEPLOY else ()
    return (*(Send(name, Open()) for name in opens), Send(node, request))


def _deletes_early(site: Site, state: Controller) -> bool:
    first = state.begun and state.left[:1] == (Task.DELETE,)
    return first and site.spec.design.scaling.deletes is Deletes.MOVED


def _delete(state: Controller) -> tuple[Controller, tuple[Effect, ...]]:
    """Algorithm 13, step 3."""
    after = state._replace(left=state.left[1:])
    closes = tuple(Send(name, Close()) for name in CONNECTIONS)
    return after, (*closes, Save(after))
