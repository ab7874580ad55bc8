"""Which function answers which input at which part of LOG.io.

Rule of this file: no decision of the protocol.
"""

from __future__ import annotations

from typing import Any

from model.core import STALE, Answer, Input, Note, Received, Send, Site
from model.protocols.log_io.deployment import Part
from model.protocols.log_io.log import transact
from model.protocols.log_io.messages import Restore, Restored
from model.protocols.log_io.operators import operator, recovery
from model.protocols.log_io.places import LOG
from model.protocols.log_io.replaying import engine
from model.protocols.log_io.roles import is_absent
from model.protocols.log_io.scaling import controller
from model.protocols.log_io.scaling import operators as scaling
from model.protocols.log_io.sources import actions, readers
from model.protocols.log_io.states import Connected, External, Image, Recovering
from model.protocols.log_io.surroundings import carry, execute, offer, show_next
from model.protocols.log_io.tables import Tables
from model.queues import QueueState


def boot(site: Site) -> Any:
    match site.spec.part:
        case Part.INPUT:
            return QueueState()
        case Part.OUTPUT:
            return External((None,) * len(site.preds))
        case Part.READER:
            return readers.begin(site)
        case Part.ACTION:
            return actions.begin(site)
        case Part.OPERATOR:
            return Image.ABSENT if is_absent(site) else operator.begin(site)
        case Part.LOG:
            return Tables()
        case Part.CONNECTION:
            return Connected((), site.spec.absent, site.spec.absent)
        case Part.SERVICE:
            return 0
        case Part.CONTROLLER:
            return controller.begin(site)
        case Part.ENGINE:
            return None
    raise TypeError(f"{site.name}: no such part")


def recover(site: Site, durable: Any) -> Answer:
    """Ask the log: a node saves nothing, but for the controller, and that a replica is there."""
    if site.spec.part is Part.CONTROLLER:
        return controller.restart(site, durable)
    if is_absent(site) and durable is None:
        return scaling.report_back(site, (Image.ABSENT, ()))
    return Recovering(), (Send(LOG, Restore()),)


def step(site: Site, state: Any, input_: Input) -> Answer:
    design, part = site.spec.design, site.spec.part
    if part is Part.INPUT:
        return offer(site, state, input_)
    assert isinstance(input_, Received)
    sender, message = input_
    match part:
        case Part.OUTPUT:
            return execute(design, site, state, sender, message)
        case Part.LOG:
            return transact(design, state, sender, message)
        case Part.CONNECTION:
            return carry(site.spec.receiver, state, message)
        case Part.SERVICE:
            return show_next(state, sender)
        case Part.CONTROLLER:
            return controller.control(site, state, sender, message)
        case Part.ENGINE:
            return engine.ask(site, message)
    if state is Image.ABSENT:
        return scaling.deploy(site, message)
    if isinstance(state, Recovering):
        return _recover(site, state, input_)
    if isinstance(message, Restored):  # an answer to the life before, of a log that is late
        return state, (Note(STALE),)
    match part:
        case Part.READER:
            return readers.read(site, state, message)
        case Part.ACTION:
            return actions.act(site, state, message)
    if isinstance(message, scaling.MESSAGES):
        return scaling.obey(site, state, message)
    return scaling.report_first(site, state, operator.work(site, state, input_))


def _recover(site: Site, state: Recovering, input_: Received) -> Answer:
    """The step of a node that waits for the log's answer."""
    message = input_.message
    if isinstance(message, scaling.MESSAGES):  # the controller asks again
        return state, (Note(STALE),)
    if not isinstance(message, Restored):
        return Recovering((*state.held, input_)), ()
    match site.spec.part:
        case Part.READER:
            return readers.read_again(site, message)
        case Part.ACTION:
            return actions.resume(site, message)
    return scaling.report_back(site, recovery.restore(site, message, state))
