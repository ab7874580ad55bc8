"""LOG.io: which function answers which input at which part of a pipeline.

Rule of this file: no decision of the protocol.

Theory of operation
-------------------
 1. A pipeline is a graph of operators.  Between two operators there is a connection, which keeps an
    event until its receiver has acknowledged the event.
 2. One log database has the tables of all operators (tables.py).  A transaction is atomic and
    durable (log.py).  Operators save nothing else, and each of them may crash at any moment.
 3. A source operator reads from an external system.  A replayable read action is executed again
    after a crash.  The effect of any other one is stored before its first output (Algorithm 1).
 4. An operator numbers the events that it sends to a successor.  A receiver discards an event whose
    number it has seen: up to the greatest one, not only below it (Algorithm 2, step 1).
 5. An operator assigns each event to one or more Input Sets, and logs this assignment.  Then the
    event is acknowledged, and goes into the global state and the event states (step 2).
 6. When a triggering condition is true for an Input Set, the operator generates outputs from it
    (step 3).  One transaction logs the outputs as undone, stores the global state with the numbers
    sent and received, and sets the events of the Input Set to done.  Only then are the outputs sent
    and the writes executed (Algorithm 3).  So an Input Set is used once, whatever crashes.  Where
    Input Sets of one function overlap, an input may complete several: one transaction has them all.
 7. What is done is garbage: nobody asks for it again (Section 3.6).
 8. A side-effect read is executed during a generation, and again if that is interrupted
    (Algorithm 4).  A write is executed until the external system has confirmed it, one at a time;
    then its event is done (Algorithm 5).
 9. A restarted operator asks the log for its context, its undone outputs and its undone inputs.  It
    sends the undone outputs again (Algorithms 6 and 7); its successors discard those that they
    have.  It asks the external system which pending writes have taken effect, and executes the
    others (Algorithm 8).  It takes its undone inputs again, in their old order, each into its own
    Input Set; a global state that has seen an input is not updated again (Algorithm 9).  Then it
    reads its connections.  No other operator restarts.
10. A replay operator logs no data of its outputs.  Who lacks the data of an input marks it; the
    replay operator generates the outputs of that Input Set again, from the global state that was
    logged for the Input Set (Algorithms 10 and 11).
11. A controller adds a replica of an operator, or removes one, while events come.  The dispatcher
    moves undone events from one replica to another in a transaction; a generation of the other
    replica that needs a moved event fails (Algorithms 12 and 13).  The replica's state of the key
    goes with them, as an event before them.
12. Lineage: a row of EVENT_LINEAGE names the Input Set of an output; the assignments of the Input
    Set name its events (Algorithm 3, step 4.5; Section 7.3).
13. An operator that is taken for dead has two processes for a while.  Each one that restores it has
    a greater epoch; the log and the external systems refuse what an older one asks for.

Where the algorithms stand
--------------------------
 1  sources/actions.py: _execute, _generate, _iterate; sources/readers.py: read;
    log.py: _begin, _store, _complete, _discard
 2  operators/operator.py: _take, _accept, _update; log.py: _assign
 3  operators/operator.py: _update; operators/generation.py: generate, generate_all, _commit;
    log.py: _commit, _commit_all;
    writing/writes.py: hand_on
 4  operators/operator.py: _update; operators/generation.py: store_read;
    lineage/rows.py: add_lineage
 5  writing/writes.py: _execute, succeed; writing/groups.py: send, succeed; log.py: _executed
 6  sources/actions.py: resume; sources/readers.py: read_again
 7  operators/recovery.py: restore
 8  operators/recovery.py: restore; writing/writes.py: _execute, succeed;
    operators/operator.py: work
 9  operators/recovery.py: restore, _restored_context; operators/operator.py: _replay, _update_again
10  operators/recovery.py: restore; replaying/log.py: restore, _recall;
    replaying/operators.py: replay, _generate_again
11  replaying/operators.py: restore, ask, fill; operators/recovery.py: _restored_context;
    operators/operator.py: _take, _replay, go_on
12  scaling/controller.py: request; scaling/operators.py: deploy, obey
13  scaling/controller.py: request, _delete; scaling/operators.py: obey, _move;
    scaling/log.py: _choose, move
Each of these functions has the numbers of its steps, at the step.  What is particular to an
operator is in operators/logic.py.  The text is the mended one.  Each reading of the paper that is
refuted is a patch of these lines, in evidence/readings.py and beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from model.core import STALE, Answer, Input, NodeName, Note, Received, Send, Site
from model.protocols.log_io import processes, slow_systems
from model.protocols.log_io.deployment import SiteKind
from model.protocols.log_io.messages import Restore, Restored
from model.protocols.log_io.operators import operator, recovery
from model.protocols.log_io.places import LOG
from model.protocols.log_io.replaying import engine
from model.protocols.log_io.roles import is_absent
from model.protocols.log_io.scaling import controller
from model.protocols.log_io.scaling import operators as scaling
from model.protocols.log_io.sources import actions, readers
from model.protocols.log_io.states import Connected, ExternalSystem, Image, Recovering
from model.protocols.log_io.surroundings import carry, offer, show_next
from model.protocols.log_io.tables import LogDatabase
from model.queues import QueueState

BEGINS: Mapping[SiteKind, Callable[[Site], Any]] = {
    SiteKind.INPUT: lambda _site: QueueState(),
    SiteKind.OUTPUT: lambda site: ExternalSystem((None,) * len(site.preds)),
    SiteKind.READER: readers.begin,
    SiteKind.ACTION: actions.begin,
    SiteKind.OPERATOR: lambda site: (
        processes.begin(site)
        if site.spec.process
        else Image.ABSENT
        if is_absent(site)
        else operator.begin(site)
    ),
    SiteKind.LOG: lambda _site: LogDatabase(),
    SiteKind.CONNECTION: lambda site: Connected((), site.spec.absent, site.spec.absent),
    SiteKind.SERVICE: lambda _site: 0,
    SiteKind.CONTROLLER: controller.begin,
    SiteKind.ENGINE: lambda _site: None,
    SiteKind.HAND: lambda _site: None,
    SiteKind.DEPLOYER: lambda _site: None,
}
SURROUNDINGS: Mapping[SiteKind, Callable[[Site, Any, NodeName, Any], Answer]] = {
    SiteKind.OUTPUT: lambda site, state, sender, asked: (
        slow_systems.take if site.spec.design.slow else processes.execute_for
    )(site, state, sender, asked),
    SiteKind.HAND: slow_systems.work,
    SiteKind.DEPLOYER: processes.start,
    SiteKind.LOG: processes.transact_for,
    SiteKind.CONNECTION: carry,
    SiteKind.SERVICE: show_next,
    SiteKind.CONTROLLER: controller.control,
    SiteKind.ENGINE: engine.ask,
}
"""The steps of what is no operator: they wait for nobody's answer."""


def boot(site: Site) -> Any:
    return BEGINS[site.spec.part](site)


def recover(site: Site, durable: Any) -> Answer:
    """Ask the log: a node saves nothing, but for the controller, and that a replica is there."""
    if site.spec.part is SiteKind.CONTROLLER:
        return controller.restart(site, durable)
    if is_absent(site) and durable is None:
        return scaling.report_back(site, (Image.ABSENT, ()))
    return Recovering(), (Send(LOG, Restore()),)


def step(site: Site, state: Any, input_: Input) -> Answer:
    part = site.spec.part
    if part is SiteKind.INPUT:
        return offer(site, state, input_)
    assert isinstance(input_, Received)
    sender, message = input_
    if part in SURROUNDINGS:
        return SURROUNDINGS[part](site, state, sender, message)
    if site.spec.process:
        return processes.step(site, state, input_, _operate)
    return _operate(site, state, input_)


def _operate(site: Site, state: Any, input_: Received) -> Answer:
    """The step of a source operator, a middle operator or a writer."""
    part, message = site.spec.part, input_.message
    if state is Image.ABSENT:
        return scaling.deploy(site, message)
    if isinstance(state, Recovering):
        return _recover(site, state, input_)
    if isinstance(message, Restored):  # an answer to the life before, of a log that is late
        return state, (Note(STALE),)
    if part is SiteKind.READER:
        return readers.read(site, state, message)
    if part is SiteKind.ACTION:
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
        case SiteKind.READER:
            return readers.read_again(site, message)
        case SiteKind.ACTION:
            return actions.resume(site, message)
    return scaling.report_back(site, recovery.restore(site, message, state))
