"""A middle operator or writer of LOG.io: state update, generation, writes, and their recovery.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithms 2, 3, 5, 7, 8 and 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.boxes.box import Fed, Item, Of, Out
from model.boxes.triggered import Functions, Sets, Triggered
from model.core import (
    DISCARDED,
    REPLAYED,
    RESENT,
    RESTORED,
    Answer,
    Effect,
    NodeName,
    Note,
    Received,
    Send,
    Site,
)
from model.protocols.log_io.design import (
    Again,
    Delivery,
    Executes,
    Inputs,
    Known,
    Obsolete,
    Order,
    Triggers,
    Writes,
)
from model.protocols.log_io.log import DISPATCHER, LEAVES, LOG, STAYS
from model.protocols.log_io.messages import (
    CONFIRMED,
    PENDING,
    THWARTED,
    Assign,
    Check,
    Commit,
    Context,
    Drop,
    Executed,
    LoggedEvent,
    Missing,
    Operator,
    Peek,
    Pending,
    Put,
    Query,
    Recovering,
    Reply,
    Restored,
    Success,
    Taken,
    Used,
    Write,
    inputs_of,
    note,
)
from model.protocols.log_io.surroundings import SERVICE

SECOND = "b"
"""The type of the events that a dispatcher sends to its second replica."""
AHEAD = ">"
"""A connection is called SENDER>RECEIVER."""


def begin(site: Site) -> Operator:
    """The state of an operator that has seen nothing."""
    spec = site.spec
    return Operator(spec.box.begin(len(site.preds)), (0,) * len(site.preds), (0,) * len(site.succs))


def work(site: Site, state: Operator, input_: Received) -> Answer:
    """The step of an operator that is not recovering."""
    sender, message = input_
    match message:
        case Reply(value):  # Algorithm 4: the generation goes on
            assert state.reading is not None
            taken, state = state.reading, state._replace(reading=None)
            state, effects = _update(site, state, taken, value)
            return go_on(site, state, effects)
        case Put():
            return _take(site, state, sender, message)
        case Success(number):
            return _succeed(site, state, sender, number, ())
        case Missing(number, body):  # Algorithm 8: else replay the write
            return state, (Note(PENDING), Send(sender, Write(number, body)))
    raise TypeError(f"{site.name}: nothing to do with {message} from {sender}")


def _edge(site: Site, sender: NodeName) -> int:
    return site.preds.index(sender.partition(AHEAD)[0])


def go_on(site: Site, state: Operator, effects: tuple[Effect, ...]) -> Answer:
    """Take what is held, until another read is needed."""
    while state.held and not state.busy:
        first, *held = state.held
        state = state._replace(held=tuple(held))
        more: tuple[Effect, ...]
        if isinstance(first, LoggedEvent):
            state, more = _replay(site, state, first)
        else:
            state, more = work(site, state, first)
        effects += more
    return state, effects


# --- Algorithm 2: state update ---------------------------------------------------------------
def _take(site: Site, state: Operator, sender: NodeName, event: Put) -> Answer:
    edge = _edge(site, sender)
    design, last = site.spec.design, state.last[edge]
    drops: tuple[Effect, ...] = ()
    if design.connection is Delivery.LASTING:
        drops = (Send(f"{site.preds[edge]}{AHEAD}{site.name}", Drop(event.number)),)
    bound = last if design.obsolete is Obsolete.NOT_GREATER else last - 1
    if event.number <= bound:  # step 1: filtering
        return state, (Note(DISCARDED), *drops)
    if state.busy:
        came = Received(sender, event)
        return state._replace(held=tuple(dict.fromkeys((*state.held, came)))), ()
    item = Item(edge, event.body, frozenset({Of(edge, event.number)}))
    keys = _keys(site.spec.box, item)
    insets = _insets_of(state, keys)
    assign = Send(LOG, Assign(site.preds[edge], event.number, insets))  # step 2
    state = state._replace(insets=max(state.insets, *insets))
    effects: tuple[Effect, ...] = ()
    for key, inset in zip(keys, insets, strict=True):
        state, more = _update(site, state, Taken(item, event.number, key, inset))
        effects += more
    return state, (assign, *drops, *effects)  # acknowledged: removed from the connection


def _keys(box: Any, item: Item) -> tuple[Any, ...]:
    """The Input Sets of an item: of a box that gathers no sets, each item is one."""
    if isinstance(box, Triggered | Functions):
        return box.keys(item)
    return (item.of,)


def _insets_of(state: Operator, keys: tuple[Any, ...]) -> tuple[int, ...]:
    """The numbers of the Input Sets with these keys; new ones for those that are not under way.

    A number says which function the set is for: it is the place of the function, modulo how many
    there are.
    """
    open_: Mapping[Any, int] = dict(state.open)
    first, among = state.insets + 1, len(keys)
    new = {key: first + (at - first) % among for at, key in enumerate(keys)}
    return tuple(open_.get(key, new[key]) for key in keys)


def _update(
    site: Site, state: Operator, taken: Taken, value: int | None = None
) -> tuple[Operator, tuple[Effect, ...]]:
    """Global and event state after an assigned event (Algorithm 2, step 2), and the generation that
    it triggers (step 3).

    value: what a side-effect read has shown, where the box has several answers.  The read may be
    executed again until the outputs are logged, so its effect is stored with them.
    """
    item, number, key, inset = taken
    last = list(state.last)
    last[item.edge] = max(last[item.edge], number)
    newest = (item.edge, key[0]) if isinstance(site.spec.box, Functions) else (0, 0)
    state = state._replace(last=tuple(last), insets=max(state.insets, inset), newest=newest)
    answers = _feed(site.spec.box, state.box, item, key)
    if len(answers) > 1 and value is None:  # Algorithm 3, step 1; Algorithm 4
        return state._replace(reading=taken), (Send(SERVICE, Query()),)
    fed = answers[(value or 0) % len(answers)]
    state = state._replace(
        box=fed.state, open=tuple(sorted({**dict(state.open), key: inset}.items(), key=str))
    )
    if isinstance(site.spec.box, Triggered | Functions) and not fed.outs:
        return state, ()
    return _generate(site, state, fed.outs, key, inset)


def _feed(box: Any, state: Any, item: Item, key: Any) -> tuple[Fed, ...]:
    return box.feed_set(state, item, key) if isinstance(box, Functions) else box.feed(state, item)


# --- Algorithm 3: generation -----------------------------------------------------------------
def _generate(
    site: Site, state: Operator, outs: tuple[Out, ...], key: Any, inset: int
) -> tuple[Operator, tuple[Effect, ...]]:
    rows, used = [], []
    for out in outs:  # step 3: numbers of the outputs
        for at, succ in enumerate(site.succs):
            if not _receives(site, state, succ, out):
                continue
            sent = (*state.sent[:at], state.sent[at] + 1, *state.sent[at + 1 :])
            state = state._replace(sent=sent)
            rows.append(LoggedEvent(site.name, succ, sent[at], 0, out.body))
            really = inputs_of(site.preds, out.of)
            used.append(Used(site.name, succ, sent[at], inset, really))
    state = state._replace(open=tuple(entry for entry in state.open if entry[0] != key))
    lineage = tuple(used) if site.spec.design.lineage else ()
    commit = Send(LOG, Commit(tuple(rows), context_of(state), inset, lineage))  # step 4
    if _may_go(site):
        asking = Send(LOG, commit.message._replace(asks=True))
        return state._replace(committing=tuple(rows)), (asking,)
    state, effects = hand_on(site, state, rows)  # steps 5 and 6
    return state, (commit, *effects)


def _receives(site: Site, state: Operator, succ: NodeName, out: Out) -> bool:
    """Does the successor get the output?  A dispatcher sends it to one of its replicas."""
    if site.spec.design.scaling is None or site.name != DISPATCHER:
        return True
    goes = out.body.type == SECOND and not state.alone
    return succ == (LEAVES if goes else STAYS)


def _may_go(site: Site) -> bool:
    """Is it the replica that goes away, whose transactions may fail?"""
    return site.spec.design.scaling is not None and site.name == LEAVES


def end_commit(site: Site, state: Operator, succeeds: bool) -> Answer:
    """Step 5 of the replica, if its transaction has not failed (7.2)."""
    assert state.committing is not None
    rows, state = [*state.committing], state._replace(committing=None)
    if not succeeds:
        lost = [sum(row.receiver == succ for row in rows) for succ in site.succs]
        sent = tuple(one - less for one, less in zip(state.sent, lost, strict=True))
        return go_on(site, state._replace(sent=sent), (Note(THWARTED),))
    state, effects = hand_on(site, state, rows)
    return go_on(site, state, effects)


def context_of(state: Operator) -> Context:
    """The global state; the event states are made anew from the undone inputs."""
    box = _global_state(state.box)
    return Context(box, state.last, state.sent, state.insets, state.newest, state.alone)


def _global_state(box: Any) -> Any:
    if isinstance(box, Sets):
        return Sets((), box.done)
    if isinstance(box, tuple) and all(isinstance(one, Sets) for one in box):
        return tuple(_global_state(one) for one in box)
    return box


def hand_on(
    site: Site, state: Operator, rows: list[LoggedEvent], check: bool = False
) -> tuple[Operator, tuple[Effect, ...]]:
    """Send logged outputs (Algorithm 3, step 5), and let writes be executed (step 6)."""
    design = site.spec.design
    effects: list[Effect] = []
    for row in rows:
        if row.receiver not in site.spec.sinks:
            lasting = design.connection is Delivery.LASTING
            to = f"{site.name}{AHEAD}{row.receiver}" if lasting else row.receiver
            effects.append(Send(to, Put(row.number, row.body)))
            continue
        write = Pending(row.receiver, row.number, row.body, check)
        if design.executes is Executes.TOGETHER or not state.pending:
            effects.append(_execute(write))
        state = state._replace(pending=(*state.pending, write))
    return state, tuple(effects)


# --- Algorithm 5: writes ---------------------------------------------------------------------
def _execute(write: Pending) -> Send:
    sink, number, body, check = write
    return Send(sink, Check(number, body) if check else Write(number, body))


def _succeed(
    site: Site, state: Operator, sink: NodeName, number: int, effects: tuple[Effect, ...]
) -> Answer:
    """The external system has executed a write."""
    left = tuple(write for write in state.pending if write[:2] != (sink, number))
    found = [write for write in state.pending if write[:2] == (sink, number)]
    confirmed = note(CONFIRMED, sum(write.check for write in found))
    done = Send(LOG, Executed(sink, number))
    more: tuple[Effect, ...] = ()
    if left and found and site.spec.design.executes is Executes.ONE_BY_ONE:
        more = (_execute(left[0]),)
    return state._replace(pending=left), (*confirmed, *effects, done, *more)


# --- Algorithms 7 to 9: recovery -------------------------------------------------------------
def restore(site: Site, found: Restored, recovering: Recovering) -> Answer:
    """The operator as it is again, once the log has answered."""
    design = site.spec.design
    state = _restored_context(site, found)
    sends = [row for row in found.outputs if row.receiver not in site.spec.sinks]
    writes = [row for row in found.outputs if row.receiver in site.spec.sinks]
    replayed = len(found.assigned)
    effects: list[Effect] = [Note(RESTORED), *note(RESENT, len(sends)), *note(REPLAYED, replayed)]
    state, more = hand_on(site, state, sends)  # Algorithm 7, step 1
    effects += more
    checks = design.writes is Writes.CHECKABLE
    if not checks:
        effects += note(PENDING, len(writes))
    state, more = hand_on(site, state, writes, checks)  # Algorithm 8
    effects += more
    rows = _in_order(site, found.assigned)
    held: list[Received | LoggedEvent] = [*rows]  # Algorithm 9, step 2
    if design.inputs is Inputs.EVENT_LOG:
        held += (Received(row.sender, Put(row.number, row.body)) for row in found.unassigned)
    held += recovering.held  # Algorithm 9, step 3: go on with Algorithm 2
    state, all_ = go_on(site, state._replace(held=tuple(held)), tuple(effects))
    return state, (*all_, *_reconnect(site))


def _in_order(site: Site, rows: tuple[LoggedEvent, ...]) -> tuple[LoggedEvent, ...]:
    """The rows by sender, number and function."""
    box = site.spec.box
    if not isinstance(box, Functions) or site.spec.design.order is Order.NUMBERS:
        return rows
    functions = len(box.parts)
    return tuple(sorted(rows, key=lambda row: (row.sender, row.number, row.inset % functions)))


def _replay(site: Site, state: Operator, row: LoggedEvent) -> Answer:
    """Take an assigned input again, without another assignment (Algorithm 9, step 2)."""
    edge = site.preds.index(row.sender)
    item = Item(edge, row.body, frozenset({Of(edge, row.number)}))
    keys = _keys(site.spec.box, item)
    wanted = [keys[row.inset % len(keys)]]
    if site.spec.design.again is Again.ALL:
        wanted = [*keys]
    effects: tuple[Effect, ...] = ()
    for key in wanted:
        taken = Taken(item, row.number, key, row.inset)
        if _is_seen(site, state, taken):
            state = _gather(site, state, taken)
            continue
        state, more = _update(site, state, taken)
        effects += more
    return state, effects


def _is_seen(site: Site, state: Operator, taken: Taken) -> bool:
    """Has the condition seen the input before the global state was stored, and been false?"""
    box, edge = site.spec.box, taken.item.edge
    if site.spec.design.triggers is Triggers.EACH or not isinstance(box, Triggered | Functions):
        return False
    if taken.number != state.last[edge]:
        return taken.number < state.last[edge]
    newest, function = state.newest
    return not isinstance(box, Functions) or edge != newest or taken.key[0] <= function


def _gather(site: Site, state: Operator, taken: Taken) -> Operator:
    item, _, key, inset = taken
    box = site.spec.box
    gathered = (
        box.gather_set(state.box, item, key)
        if isinstance(box, Functions)
        else box.gather(state.box, item)
    )
    open_ = tuple(sorted({**dict(state.open), key: inset}.items(), key=str))
    return state._replace(box=gathered, open=open_, insets=max(state.insets, inset))


def _restored_context(site: Site, found: Restored) -> Operator:
    """Algorithm 9, step 1."""
    design, state = site.spec.design, begin(site)
    stored = found.context or context_of(state)
    greatest, sent = dict(found.greatest), dict(found.sent)
    logged = tuple(greatest.get(name, 0) for name in site.preds)
    known = tuple(sent.get(name, 0) for name in site.succs)
    return Operator(
        box=stored.box,
        last=stored.last if design.greatest is Known.CONTEXT else logged,
        sent=stored.sent if design.sent is Known.CONTEXT else known,
        insets=stored.insets,
        newest=stored.newest,
        alone=stored.alone,
    )


def _reconnect(site: Site) -> tuple[Effect, ...]:
    """A restarted operator asks its lasting connections for what they hold."""
    if site.spec.design.connection is Delivery.LOSSY:
        return ()
    return tuple(Send(f"{pred}{AHEAD}{site.name}", Peek()) for pred in site.preds)
