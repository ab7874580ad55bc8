"""The controller of a scale-down.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithm 13 and Section 7.2.

The controller scales down when it first hears of traffic, and that message may take as long as it
likes.
"""

from __future__ import annotations

from typing import Any

from model.core import STALE, Answer, Effect, NodeName, Note, Save, Send, Site
from model.protocols.log_io.places import AHEAD, DISPATCHER, LEAVES, LOG, MERGER
from model.protocols.log_io.scaling.design import Deletes
from model.protocols.log_io.scaling.messages import (
    Back,
    Close,
    Drained,
    Prepared,
    Remove,
    Removed,
    Traffic,
    Updated,
    Watch,
)
from model.protocols.log_io.states import Controller

CLOSED = (f"{DISPATCHER}{AHEAD}{LEAVES}", f"{LEAVES}{AHEAD}{MERGER}")


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
