"""The nodes of upstream backup: sources, CEP operators, sinks.

Lima, Endler, Slo, Bhowmik, Rothermel: "Skipping Unused Events to Speed Up Rollback-Recovery in
Distributed Data-Parallel CEP" (Sections cited below), on the base method of Koldehofe et al.
(DEBS 2013).

Rule of this file: nothing that an operator *computes* or saves, which is in
model.protocols.upstream_backup.savepoints.  A node is a value: its data for its neighbours
(outlets, replicas) and its reactions to messages are here.

Theory of operation:

1. Each producer keeps the events that it sent to a successor: its output queue is the backup of the
   nodes below (II-B).
2. An operator merges its inputs in the order of time, and processes the windows (III-B).
3. When a complex event is acknowledged from below, the operator makes a savepoint: the first window
   that a restart needs, and the numbers from which it goes on (III-A).
4. The savepoint goes to the predecessors in an acknowledgement, with the savepoints of the nodes
   below.  They trim their queues by it, and keep it for the restart (II-C).
5. Events that no window used are skip ranges: a predecessor need not send these again (III-A).
6. A crash loses everything that an operator holds.  After its restart the node says hello to all
   neighbours.
7. Each predecessor answers with the savepoints that it holds for the node and the nodes below it,
   then with its backup.
8. The node joins the savepoints, restores the operator, and replays the backup.
9. Receivers discard the outputs that they have already, by their sequence numbers.
"""

from __future__ import annotations

from model.cep.merge import InputQueue, low, ready
from model.cep.savepoint import Savepoint
from model.cep.skips import Ranges
from model.core import (
    CHECKPOINTED,
    DISCARDED,
    RESTORED,
    STALE,
    Answer,
    Arrival,
    Deployment,
    Effect,
    Emit,
    Input,
    NodeName,
    Note,
    Quantity,
    Received,
    Role,
    Scope,
    Send,
    Site,
)
from model.events import BEGINNING, NOTHING, SN, Body, Event, Mark
from model.parts import check_cep, deploy_graph
from model.protocols.upstream_backup.buffers import (
    Ack,
    Hello,
    Outlet,
    Replicas,
    answer,
    join,
    release,
    with_item,
)
from model.protocols.upstream_backup.design import UpstreamBackupConfig, UpstreamBackupDesign
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
    notice,
    origin,
    push,
    restore,
    save,
)
from model.protocols.upstream_backup.states import OperatorNode, SinkNode, SourceNode

NOTICES = Quantity("skip notices sent", "notices", "skip ranges went ahead of the next savepoint")


def deploy(design: UpstreamBackupDesign, scope: Scope) -> Deployment:
    """The deployment; raises Invalid for an operator that is no CEP operator."""
    graph = scope.graph
    check_cep("upstream-backup", graph)

    def config(name: NodeName) -> UpstreamBackupConfig:
        succs = graph.succs(name)
        marking = tuple(graph.merges_at_or_below(succ) for succ in succs)
        reach = tuple(graph.descendants(succ) | {succ} for succ in succs)
        return UpstreamBackupConfig(design, marking, reach)

    return deploy_graph(graph, replies=True, config=config)


def boot(site: Site) -> SourceNode | OperatorNode | SinkNode:
    outlets = (Outlet(),) * len(site.succs)
    if site.role is Role.SOURCE:
        return SourceNode(0, 0, outlets)
    if site.role is Role.SINK:
        return SinkNode((NOTHING,) * len(site.preds))
    scheme = site.config.design.scheme
    start = origin(scheme, len(site.preds))
    inlets = (InputQueue(),) * len(site.preds)
    return OperatorNode(restore(scheme, start), inlets, outlets, (), start)


def recover(site: Site, durable: None) -> Answer:
    """A restarted operator knows only its place in the graph."""
    empty = boot(site)
    assert isinstance(empty, OperatorNode)  # nothing else may crash
    node = empty._replace(operator=None, awaited=frozenset(site.preds))
    return node, tuple(Send(name, Hello()) for name in (*site.preds, *site.succs))


def step(site: Site, state: SourceNode | OperatorNode | SinkNode, input_: Input) -> Answer:
    match state, input_:
        case SourceNode(), Arrival(gap, type_, data):
            return _produce(site, state, gap, type_, data)
        case SourceNode(), Received(sender, Ack() as ack):
            outlets = release(site, state.outlets, sender, ack)
            replicas = join(state.replicas, ack.replicas)
            return state._replace(outlets=outlets, replicas=replicas), ()
        case SourceNode(), Received(sender, Hello()):
            mark = state.now if state.latest else BEGINNING
            return state, answer(site, state.outlets, state.replicas, mark, sender)
        case SinkNode(), Received(sender, message):
            return _consume(site, state, sender, message)
        case OperatorNode(), Received(sender, message):
            if isinstance(message, Event | Mark):
                return _hear(site, state, site.preds.index(sender), message)
            if isinstance(message, Ack):
                return _release(site, state, sender, message)
            if isinstance(message, Hello):
                return _greet(site, state, sender)
            return _restore(site, state, sender, message.replicas)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


# --- sources ---------------------------------------------------------------------------------
def _produce(
    site: Site, state: SourceNode, gap: int, type_: str, data: tuple[object, ...]
) -> Answer:
    now = state.now + gap
    event = Event((state.latest + 1,), Body(now, type_, data))
    outlets = tuple(outlet._replace(backup=outlet.backup.append(event)) for outlet in state.outlets)
    sends = tuple(Send(succ, event) for succ in site.succs)
    return state._replace(latest=state.latest + 1, now=now, outlets=outlets), sends


# --- sinks -----------------------------------------------------------------------------------
def _consume(site: Site, state: SinkNode, sender: NodeName, message: object) -> Answer:
    edge = site.preds.index(sender)
    heard = state.heard[edge]
    if isinstance(message, Hello):
        return state, (Send(sender, Ack(heard, (), ())),)
    if not isinstance(message, Event):
        return state, ()
    if message.sn <= heard:
        return state, (Note(DISCARDED),)
    heard = message.sn
    after = SinkNode(with_item(state.heard, edge, heard))
    return after, (Emit((edge, message.body)), Send(sender, Ack(heard, (), ())))


# --- operators: downstream -------------------------------------------------------------------
def _hear(site: Site, node: OperatorNode, edge: int, message: Event | Mark) -> Answer:
    if site.preds[edge] in node.awaited:
        return node, (Note(STALE),)
    inlet = node.inlets[edge]
    if isinstance(message, Mark):
        inlet = inlet._replace(mark=max(inlet.mark, message.time))
    elif message.sn <= inlet.heard:
        return node, (Note(DISCARDED),)
    else:
        inlet = inlet.hear(message)
    node = node._replace(inlets=with_item(node.inlets, edge, inlet))
    return _advance(site, node, ())


def _advance(site: Site, node: OperatorNode, effects: tuple[Effect, ...]) -> Answer:
    """Process the events that the merge allows; then inform successors and perhaps predecessors."""
    state = node.operator
    if state is None:
        return node, effects
    operator, design = site.spec, site.config.design
    inlets, outlets, marked = node.inlets, node.outlets, node.marked
    done: list[Effect] = [*effects]
    while (edge := ready(inlets)) is not None:
        inlet = inlets[edge]
        event = inlet.queue.first()
        inlets = with_item(inlets, edge, inlet._replace(queue=inlet.queue.rest()))
        state, outputs = push(operator, design.scheme, state, edge, event)
        for output in outputs:
            fresh = [output.sn > outlet.acked for outlet in outlets]
            outlets = tuple(
                outlet._replace(backup=outlet.backup.append(output)) if new else outlet
                for outlet, new in zip(outlets, fresh, strict=True)
            )
            done += [Send(s, output) for s, new in zip(site.succs, fresh, strict=True) if new]
            marked = max(marked, output.body.time)
    if low(inlets) > marked:
        marked = low(inlets)
        succs = zip(site.succs, site.config.marking, strict=True)
        done += [Send(succ, Mark(marked)) for succ, marking in succs if marking]
    node = node._replace(operator=state, inlets=inlets, outlets=outlets, marked=marked)
    if design.notice_every is not None and state.skipped >= design.notice_every:
        done.append(Note(NOTICES))
        return _report(
            site, node, done, *notice(design.scheme, operator.splitter, state, node.mine)
        )
    return node, tuple(done)


# --- operators: upstream ---------------------------------------------------------------------
def _release(site: Site, node: OperatorNode, sender: NodeName, ack: Ack) -> Answer:
    """Take an acknowledgement from below: trim, keep its savepoints, and save if a complex event is
    acknowledged."""
    node = node._replace(
        outlets=release(site, node.outlets, sender, ack),
        replicas=join(node.replicas, ack.replicas),
    )
    if node.operator is None:
        return node, ()
    theta = min(outlet.acked for outlet in node.outlets)
    saved = save(site.config.design.scheme, site.spec.splitter, node.operator, theta)
    if saved is None:
        return node, ()
    return _report(site, node, [Note(CHECKPOINTED)], *saved)


def _report(
    site: Site,
    node: OperatorNode,
    effects: list[Effect],
    operator: NumberedOperator,
    savepoint: Savepoint,
    skips: tuple[Ranges, ...],
) -> Answer:
    """Keep the savepoint; send it and the savepoints of the nodes below to all predecessors."""
    node = node._replace(operator=operator, mine=savepoint)
    for edge, pred in enumerate(site.preds):
        effects.append(
            Send(pred, Ack(savepoint.trim[edge], skips[edge], _gather_replicas(site, node)))
        )
    return node, tuple(effects)


def _gather_replicas(site: Site, node: OperatorNode) -> Replicas:
    below = node.replicas if site.config.design.ancestors else ()
    return join(below, ((site.name, node.mine),))


# --- operators: recovery ---------------------------------------------------------------------
def _greet(site: Site, node: OperatorNode, sender: NodeName) -> Answer:
    """Answer a neighbour that has lost its state."""
    if sender in site.succs:
        if node.operator is None:
            waiting = (*(name for name in node.greeted if name != sender), sender)
            return node._replace(greeted=waiting), ()
        return node, answer(site, node.outlets, node.replicas, node.marked, sender)
    if node.operator is not None:
        edge = site.preds.index(sender)
        return node, (Send(sender, Ack(node.mine.trim[edge], (), _gather_replicas(site, node))),)
    if sender in node.awaited:  # our own hello may have been lost with its state
        return node, (Send(sender, Hello()),)
    return node, ()


def _restore(site: Site, node: OperatorNode, sender: NodeName, replicas: Replicas) -> Answer:
    """Take an answer to our hello; after the last answer, restore the operator and replay."""
    if sender not in node.awaited:
        return node, (Note(STALE),)
    node = node._replace(awaited=node.awaited - {sender}, replicas=join(node.replicas, replicas))
    if node.awaited:
        return node, ()
    greeted, node = node.greeted, reinstate(site, node)
    answers = tuple(
        effect
        for name in greeted
        for effect in answer(site, node.outlets, node.replicas, node.marked, name)
    )
    return _advance(site, node, (Note(RESTORED), *answers))


def reinstate(site: Site, node: OperatorNode) -> OperatorNode:
    """The node with its operator restored from the savepoints held, before any replay."""
    held = dict(node.replicas)
    mine = held.pop(site.name, node.mine)
    inlets = tuple(_beyond(inlet, sn) for inlet, sn in zip(node.inlets, mine.trim, strict=True))
    return node._replace(
        operator=restore(site.config.design.scheme, mine),
        inlets=inlets,
        replicas=tuple(held.items()),
        mine=mine,
        greeted=(),
    )


def _beyond(inlet: InputQueue, trim: SN) -> InputQueue:
    """The inlet without what the restored operator has already consumed."""
    queue = inlet.queue.trim(lambda event: event.sn <= trim)
    return InputQueue(queue, max(inlet.heard, trim), inlet.mark)
