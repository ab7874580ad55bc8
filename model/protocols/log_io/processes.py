"""Two processes of one operator, of which one was taken for dead.

Rule of this file: whose transactions and writes count; no algorithm of an operator.
LOG.io, Section 6.4: "When an operator in a group (pod) fails, the Deployment Engine recreates the
failed pod".  A process that is slow, or cut off, looks as if it had failed; the paper is silent on
it.  Both processes have the operator's name in the log.  With epochs, the log gives each process
that restores the operator a greater number, and refuses the transactions of the others; a process
waits for the answer to each transaction before it goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from model.core import (
    STALE,
    Answer,
    Effect,
    Lost,
    NodeName,
    Note,
    Received,
    Send,
    Site,
)
from model.protocols.log_io.design import Fencing, LogIoDesign, Processes
from model.protocols.log_io.log import transact
from model.protocols.log_io.messages import Restore
from model.protocols.log_io.operators import operator
from model.protocols.log_io.places import LOG, second_process
from model.protocols.log_io.quantities import FENCED_OFF
from model.protocols.log_io.states import ExternalSystem, Image, Recovering
from model.protocols.log_io.surroundings import execute
from model.protocols.log_io.tables import LogDatabase

Operate: TypeAlias = Callable[[Site, Any, Received], Answer]
"""The step of an operator that has one process."""


class Start(NamedTuple):
    """The deployment engine starts the second process."""


class Stamped(NamedTuple):
    """A transaction, or a request to an external system, of the process with this epoch."""

    epoch: int
    message: Any


class Granted(NamedTuple):
    """The log's answer to a transaction.  epoch: of the process, if it has restored the operator.

    granted: False: another process has restored the operator since.
    """

    granted: bool
    epoch: int


class EpochProcess(NamedTuple):
    """A process with an epoch.  state: of the operator.

    rest: the effects behind a transaction that the log has not answered; None: there is none.
    held: inputs that came meanwhile.
    """

    epoch: int
    state: Any
    rest: tuple[Effect, ...] | None = None
    held: tuple[Received, ...] = ()


# --- the deployment engine -----------------------------------------------------------------
def start(site: Site, _state: Any, _sender: NodeName, message: Lost) -> Answer:
    """The step of the deployment engine on the notice that a process has crashed."""
    return None, (Send(second_process(message.node), Start()),)


# --- processes -------------------------------------------------------------------------------
def begin(site: Site) -> Any:
    """The first state of a process."""
    if site.name != site.spec.process:
        return Image.ABSENT
    state = operator.begin(site)
    return EpochProcess(0, state) if _has_epochs(site.spec.design) else state


def step(site: Site, state: Any, input_: Received, operate: Operate) -> Answer:
    """The step of a process."""
    own = site._replace(name=site.spec.process)
    message = input_.message
    if isinstance(message, Start):
        if state is not Image.ABSENT:
            return state, (Note(STALE),)
        restores = (Send(LOG, Restore()),)
        if not _has_epochs(site.spec.design):
            return Recovering(), restores
        return _perform(own, EpochProcess(0, Recovering()), restores, operate)
    if isinstance(state, Image):
        return state, (Note(STALE),)
    if not isinstance(state, EpochProcess):
        return operate(own, state, input_)
    if isinstance(message, Granted):
        if not message.granted:
            return Image.STOPPED, (Note(FENCED_OFF),)
        assert state.rest is not None
        return _perform(own, state._replace(epoch=message.epoch), state.rest, operate)
    if state.rest is not None:
        return state._replace(held=(*state.held, input_)), ()
    after, effects = operate(own, state.state, input_)
    return _perform(own, state._replace(state=after), effects, operate)


def _perform(
    site: Site, process: EpochProcess, effects: tuple[Effect, ...], operate: Operate
) -> Answer:
    """The effects up to the next transaction, of which the log has to answer first; if there is
    none, those of the inputs that are held."""
    performed: list[Effect] = []
    while True:
        stamped = [_stamp(site, process.epoch, one) for one in effects]
        asks = (at for at, one in enumerate(effects) if isinstance(one, Send) and one.to == LOG)
        at = next(asks, None)
        if at is not None:
            rest = effects[at + 1 :]
            return process._replace(rest=rest), (*performed, *stamped[: at + 1])
        performed += stamped
        if not process.held:
            return process._replace(rest=None), tuple(performed)
        first, *held = process.held
        state, effects = operate(site, process.state, first)
        process = process._replace(state=state, held=tuple(held))


def _stamp(site: Site, epoch: int, effect: Effect) -> Effect:
    """The effect as a request of the process with this epoch, if its receiver looks at epochs."""
    fencing = site.spec.design.processes.fencing
    asked = {LOG, *(site.spec.sinks if fencing is Fencing.LOG_AND_SYSTEMS else ())}
    if isinstance(effect, Send) and effect.to in asked:
        return Send(effect.to, Stamped(epoch, effect.message))
    return effect


def _has_epochs(design: LogIoDesign) -> bool:
    assert design.processes is not None
    return design.processes.fencing in (Fencing.LOG, Fencing.LOG_AND_SYSTEMS)


# --- the log and the external systems --------------------------------------------------------
def transact_for(site: Site, tables: LogDatabase, sender: NodeName, message: Any) -> Answer:
    """The step of the log, which knows a process by the name of its operator."""
    design: LogIoDesign = site.spec.design
    if design.processes is None:
        return transact(design, tables, sender, message)
    node = _operator(design.processes, sender)
    if not isinstance(message, Stamped):
        tables, effects = transact(design, tables, node, message)
        return tables, _to(sender, node, effects)
    epoch, asked = message
    if isinstance(asked, Restore):
        epoch = tables.epoch + 1
    elif epoch < tables.epoch:
        return tables, (Send(sender, Granted(False, epoch)),)
    tables, effects = transact(design, tables._replace(epoch=epoch), node, asked)
    return tables, (Send(sender, Granted(True, epoch)), *_to(sender, node, effects))


def execute_for(site: Site, state: ExternalSystem, sender: NodeName, message: Any) -> Answer:
    """The step of an external system, which takes no request of an older process than one that has
    sent a request to it."""
    processes: Processes | None = site.spec.design.processes
    if processes is None:
        return execute(site, state, sender, message)
    node = _operator(processes, sender)
    if isinstance(message, Stamped):
        epoch, message = message
        if epoch < state.epoch:
            return state, (Note(FENCED_OFF),)
        state = state._replace(epoch=epoch)
    state, effects = execute(site, state, node, message)
    return state, _to(sender, node, effects)


def _operator(processes: Processes, sender: NodeName) -> NodeName:
    """The operator of which the sender is the second process, or the sender."""
    return processes.operator if sender == second_process(processes.operator) else sender


def _to(sender: NodeName, node: NodeName, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects, with answers to the operator for the process that has asked."""
    return tuple(
        Send(sender, one.message) if isinstance(one, Send) and one.to == node else one
        for one in effects
    )
