"""A slow external system: a write takes effect some time after its request was sent.

Rule of this file: sites that never crash; which request takes effect next is the world's choice.
LOG.io, Sections 2.2 and 3.5.3, and Algorithm 8.  A request waits here while it is in a connection,
or while the external system works on it: nobody sees the difference.  The external system hands it
to a site that answers whenever it likes.  An answer to a node that has crashed is lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.core import Answer, Lost, NodeName, Send, Site
from model.protocols.log_io.design import SlowSystem, WriteStatus
from model.protocols.log_io.messages import Check, CheckGroup, Missing, MissingGroup
from model.protocols.log_io.places import hands
from model.protocols.log_io.states import ExternalSystem, UnderWay
from model.protocols.log_io.surroundings import execute


class HandOver(NamedTuple):
    """The first request of a hand: it is handed over, and it takes effect."""


def work(_site: Site, _state: Any, sender: NodeName, message: HandOver) -> Answer:
    """The step of a hand."""
    return None, (Send(sender, message),)


def take(site: Site, state: ExternalSystem, sender: NodeName, message: Any) -> Answer:
    """The step of a slow external system."""
    slow: SlowSystem = site.spec.design.slow
    match message:
        case HandOver():
            return _take_effect(site, state, sender)
        case Lost():
            lives = (state.lives + 1) % len(hands(slow, site.name))
            left = tuple(
                one._replace(orphan=True) if one.sender == sender else one
                for one in state.under_way
            )
            return state._replace(under_way=left, lives=lives), ()
        case Check() | CheckGroup() if slow.status is not WriteStatus.AWAITED:
            after, (answer,) = execute(site, state, sender, message)
            assert isinstance(answer, Send)
            no = isinstance(answer.message, Missing | MissingGroup)
            if no and slow.status is WriteStatus.FINAL:
                after = after._replace(under_way=_refused(state, sender))
            return after, (answer,)
    hand = hands(slow, site.name)[state.lives]
    asks = isinstance(message, Check | CheckGroup)
    under_way = (*state.under_way, UnderWay(sender, message, hand, asks))
    return state._replace(under_way=under_way), (Send(hand, HandOver()),)


def _take_effect(site: Site, state: ExternalSystem, hand: NodeName) -> Answer:
    """The first request of the hand takes effect, unless it is refused."""
    at = next(at for at, one in enumerate(state.under_way) if one.by == hand)
    first = state.under_way[at]
    state = state._replace(under_way=(*state.under_way[:at], *state.under_way[at + 1 :]))
    if first.refused:
        return state, ()
    after, effects = execute(site, state, first.sender, first.message)
    answers = () if first.orphan else tuple(one for one in effects if isinstance(one, Send))
    return after, (*(one for one in effects if not isinstance(one, Send)), *answers)


def _refused(state: ExternalSystem, sender: NodeName) -> tuple[UnderWay, ...]:
    """The requests, when the answer no to the sender is final."""
    return tuple(
        one._replace(refused=True) if one.sender == sender else one for one in state.under_way
    )
