"""The controller that adds a replica and removes one.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithms 12 and 13 and Section 7.2.

The controller begins when it first hears of traffic, and each message of it may take as long as it
likes.
"""

from __future__ import annotations

import typing
from typing import Any

from model.core import STALE, Answer, Effect, NodeName, Note, Save, Send, Site
from model.protocols.log_io.design import Deletes, Replicas, ScalingTask
from model.protocols.log_io.places import LOG, connection
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


class Request(typing.NamedTuple):
    """A task: who is asked, for what, and the type of the answer."""

    node: NodeName
    message: Any
    answer: type


def connections(replicas: Replicas) -> tuple[NodeName, NodeName]:
    """The two connections of the replica that comes or goes away."""
    second = replicas.second
    return connection(replicas.dispatcher, second), connection(second, replicas.merger)


def request(replicas: Replicas, task: ScalingTask) -> Request:
    """The request of the controller for a task."""
    match task:
        case ScalingTask.DEPLOY:  # Algorithm 12, step 1
            return Request(replicas.second, Deploy(), Deployed)
        case ScalingTask.ADD_TO_MERGER:  # step 2
            return Request(replicas.merger, Add(), Added)
        case ScalingTask.ADD_TO_DISPATCHER:  # step 3
            return Request(replicas.dispatcher, Add(), Added)
        case ScalingTask.PREPARE:  # Algorithm 13, step 1
            return Request(replicas.dispatcher, Remove(), Prepared)
        case ScalingTask.REMOVE_FROM_MERGER:  # step 2
            return Request(replicas.merger, Removed(), Updated)
        case ScalingTask.DELETE:  # step 3
            return Request(LOG, Watch(), Drained)


def begin(site: Site) -> Controller:
    return Controller(False, site.spec.design.scaling.plan)


def control(site: Site, state: Controller, sender: NodeName, message: Any) -> Answer:
    """The step of the controller; what it has begun is durable."""
    if isinstance(message, Traffic) and not state.begun:
        return _go_on(site, state.left)
    if state.begun and state.left:
        node, _, answer = request(_replicas(site), state.left[0])
        if sender == node and isinstance(message, answer):
            if state.left[0] is ScalingTask.DELETE:
                return _delete(site, state)
            return _go_on(site, state.left[1:])
        if isinstance(message, Back) and sender == node:
            return state, _requests(site, state)
    return state, (Note(STALE),)


def restart(site: Site, durable: Controller | None) -> Answer:
    """7.2: "the Controller restarts at that step"."""
    state = durable or begin(site)
    if _deletes_early(site, state):
        return _delete(site, state)
    return state, _requests(site, state)


def _go_on(site: Site, left: tuple[ScalingTask, ...]) -> Answer:
    state = Controller(True, left)
    if _deletes_early(site, state):
        after, effects = _delete(site, state)
        return after, (Save(state), *effects)
    return state, (Save(state), *_requests(site, state))


def _requests(site: Site, state: Controller) -> tuple[Effect, ...]:
    if not state.begun or not state.left:
        return ()
    node, message, _ = request(_replicas(site), state.left[0])
    opens = connections(_replicas(site)) if state.left[0] is ScalingTask.DEPLOY else ()
    return (*(Send(name, Open()) for name in opens), Send(node, message))


def _replicas(site: Site) -> Replicas:
    replicas: Replicas = site.spec.design.scaling.replicas
    return replicas


def _deletes_early(site: Site, state: Controller) -> bool:
    first = state.begun and state.left[:1] == (ScalingTask.DELETE,)
    return first and site.spec.design.scaling.deletes is Deletes.MOVED


def _delete(site: Site, state: Controller) -> tuple[Controller, tuple[Effect, ...]]:
    """Algorithm 13, step 3."""
    after = state._replace(left=state.left[1:])
    closes = tuple(Send(name, Close()) for name in connections(_replicas(site)))
    return after, (*closes, Save(after))
