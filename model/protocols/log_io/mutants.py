"""One-line faults of LOG.io, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.core.Mutant explains the fields.
"""

from __future__ import annotations

from model.core import Mutant

OPERATOR = "model.protocols.log_io.operator"
DATABASE = "model.protocols.log_io.log"
READS = "model.protocols.log_io.reads"
NODES = "model.protocols.log_io.nodes"
AROUND = "model.protocols.log_io.surroundings"
MUTANTS = (
    Mutant(
        "an obsolete event is taken",
        OPERATOR,
        "if event.number <= bound:  # step 1: filtering",
        "if event.number < 0:",
    ),
    Mutant(
        "an obsolete event stays in the connection",
        OPERATOR,
        "return state, (Note(DISCARDED), *drops)",
        "return state, (Note(DISCARDED), *drops[1:])",
    ),
    Mutant(
        "an event is removed before it is assigned",
        OPERATOR,
        "return state, (assign, *drops, *effects)  # acknowledged: removed from the connection",
        "return state, (*drops, assign, *effects)",
    ),
    Mutant(
        "an event is assigned after the generation",
        OPERATOR,
        "return state, (assign, *drops, *effects)  # acknowledged: removed from the connection",
        "return state, (*drops, *effects, assign)",
    ),
    Mutant(
        "an event is never assigned",
        OPERATOR,
        "return state, (assign, *drops, *effects)  # acknowledged: removed from the connection",
        "return state, (*drops, *effects)",
    ),
    Mutant(
        "outputs are sent before they are logged",
        OPERATOR,
        "return state, (commit, *effects)",
        "return state, (*effects, commit)",
    ),
    Mutant(
        "outputs are not logged",
        OPERATOR,
        "commit = Send(LOG, Commit(tuple(rows), context_of(state), inset, lineage))  # step 4",
        "commit = Send(LOG, Commit((), context_of(state), inset, lineage))",
    ),
    Mutant(
        "the Input Set stays undone",
        OPERATOR,
        "commit = Send(LOG, Commit(tuple(rows), context_of(state), inset, lineage))  # step 4",
        "commit = Send(LOG, Commit(tuple(rows), context_of(state), -1, lineage))",
    ),
    Mutant(
        "all Input Sets have one number",
        OPERATOR,
        "return open_.get(key, state.insets + 1)",
        "return open_.get(key, 1)",
        "crashes of the operator alone",
    ),
    Mutant(
        "an Input Set under way gets a new number",
        OPERATOR,
        "return open_.get(key, state.insets + 1)",
        "return state.insets + 1",
        "crashes of the operator alone",
    ),
    Mutant(
        "the stored context has the event states",
        OPERATOR,
        "box = Sets((), state.box.done) if isinstance(state.box, Sets) else state.box",
        "box = state.box",
        "crashes of the operator alone",
    ),
    Mutant(
        "the stored context forgets the global state",
        OPERATOR,
        "box = Sets((), state.box.done) if isinstance(state.box, Sets) else state.box",
        "box = Sets((), 0) if isinstance(state.box, Sets) else state.box",
        "batches in turn",
    ),
    Mutant(
        "numbers sent are forgotten",
        OPERATOR,
        "sent=stored.sent if design.sent is Known.CONTEXT else known,",
        "sent=begin(site).sent,",
    ),
    Mutant(
        "the last number accepted is forgotten",
        OPERATOR,
        "last=stored.last if design.greatest is Known.CONTEXT else logged,",
        "last=begin(site).last,",
    ),
    Mutant(
        "replayed inputs count for no number",
        OPERATOR,
        "last[item.edge] = max(last[item.edge], number)",
        "last[item.edge] = number",
        "crashes of the operator alone",
    ),
    Mutant(
        "undone outputs are not sent again",
        OPERATOR,
        "state, more = hand_on(site, state, sends)  # Algorithm 7, step 1",
        "state, more = hand_on(site, state, sends[1:])",
    ),
    Mutant(
        "pending writes are forgotten",
        OPERATOR,
        "state, more = hand_on(site, state, writes, checks)  # Algorithm 8",
        "state, more = hand_on(site, state, writes[1:], checks)",
    ),
    Mutant(
        "pending writes are not checked",
        OPERATOR,
        "state, more = hand_on(site, state, writes, checks)  # Algorithm 8",
        "state, more = hand_on(site, state, writes)",
    ),
    Mutant(
        "undone inputs are not replayed",
        OPERATOR,
        "held: list[Received | LoggedEvent] = [*found.assigned]  # Algorithm 9, step 2",
        "held: list[Received | LoggedEvent] = [*found.assigned[1:]]",
    ),
    Mutant(
        "undone inputs are replayed from the newest on",
        OPERATOR,
        "held: list[Received | LoggedEvent] = [*found.assigned]  # Algorithm 9, step 2",
        "held: list[Received | LoggedEvent] = [*found.assigned[::-1]]",
    ),
    Mutant(
        "what came while it recovered is forgotten",
        OPERATOR,
        "held += recovering.held  # Algorithm 9, step 3: go on with Algorithm 2",
        "held += recovering.held[1:]",
        "lossy-from-the-log: a relay",
    ),
    Mutant(
        "a restarted operator does not ask its connections",
        OPERATOR,
        'return tuple(Send(f"{pred}{AHEAD}{site.name}", Peek()) for pred in site.preds)',
        "return ()",
    ),
    Mutant(
        "a read action is complete before its effect is stored",
        READS,
        "stored = (Send(LOG, Store(effect)), Send(LOG, Complete()))  # 2.a and 2.b",
        "stored = (Send(LOG, Complete()), Send(LOG, Store(effect)))",
        "stored-reads: a read",
    ),
    Mutant(
        "a read action is not complete",
        READS,
        "stored = (Send(LOG, Store(effect)), Send(LOG, Complete()))  # 2.a and 2.b",
        "stored = (Send(LOG, Store(effect)),)",
        "stored-reads: a read",
    ),
    Mutant(
        "an effect goes on from its begin",
        READS,
        "state, more = _iterate(site, state, number, action.effect or (), offset)",
        "state, more = _iterate(site, state, number, action.effect or (), 0)",
        "stored-reads: a read",
    ),
    Mutant(
        "the effect of a read is discarded before its last output",
        READS,
        "ends = at == len(effect)",
        "ends = at == 1",
        "stored-reads: a read",
    ),
    Mutant(
        "requests to read are forgotten",
        READS,
        "return state._replace(held=(*state.held, message)), ()",
        "return state, ()",
        "stored-reads: a read",
    ),
    Mutant(
        "the effect of a read stays in the store",
        READS,
        "return state, (*effects, *discard)",
        "return state, tuple(effects)",
        "stored-reads: a read",
    ),
    Mutant(
        "what waits for a read is forgotten",
        OPERATOR,
        "return state._replace(held=tuple(dict.fromkeys((*state.held, came)))), ()",
        "return state, ()",
        "a side effect read",
    ),
    Mutant(
        "inputs overtake a read",
        OPERATOR,
        "if state.reading is not None:",
        "if state.held:",
        "a side effect read",
    ),
    Mutant(
        "what was held before a read is taken in another order",
        OPERATOR,
        "first, *held = state.held",
        "*held, first = state.held",
        "two types",
    ),
    Mutant(
        "a write is done before it has succeeded",
        OPERATOR,
        "effects.append(_execute(write))",
        "effects += [Send(LOG, Executed(write.sink, write.number)), _execute(write)]",
    ),
    Mutant(
        "a write is never done",
        OPERATOR,
        "left = tuple(write for write in state.pending if write[:2] != (sink, number))",
        "left = state.pending",
    ),
    Mutant(
        "the next write waits for ever",
        OPERATOR,
        "more = (_execute(left[0]),)",
        "more = ()",
    ),
    Mutant(
        "a write that is missing counts as done",
        AROUND,
        "known = newest is not None and number <= newest.number",
        "known = newest is not None",
    ),
    Mutant(
        "the external system never knows a write",
        AROUND,
        "known = newest is not None and number <= newest.number",
        "known = newest is not None and number < newest.number",
    ),
    Mutant(
        "a connection forgets what it has delivered",
        AROUND,
        "return Connected((*state.held, message), state.closed), sends",
        "return Connected(state.held, state.closed), sends",
    ),
    Mutant(
        "a connection stays closed",
        AROUND,
        "return Connected(state.held), tuple(Send(receiver, put) for put in state.held)",
        "return state, tuple(Send(receiver, put) for put in state.held)",
    ),
    Mutant(
        "a connection keeps what is acknowledged",
        AROUND,
        "return state._replace(held=tuple(put for put in state.held if put.number != number)), ()",
        "return state, ()",
    ),
    Mutant(
        "all inputs of the operator are done",
        DATABASE,
        "row._replace(done=True) if row.receiver == node and inset == row.inset else row",
        "row._replace(done=True) if row.receiver == node else row",
    ),
    Mutant(
        "the Input Set of everybody is done",
        DATABASE,
        "row._replace(done=True) if row.receiver == node and inset == row.inset else row",
        "row._replace(done=True) if inset == row.inset else row",
    ),
    Mutant(
        "the first context is kept",
        DATABASE,
        "contexts = _added(contexts, (node, context))",
        "contexts = tables.contexts or ((node, context),)",
    ),
    Mutant(
        "a reader forgets where it was",
        NODES,
        "request = Replay(context.box)",
        "request = Replay(0)",
    ),
    Mutant(
        "a reader skips an event",
        NODES,
        "request = Replay(context.box)",
        "request = Replay(context.box + 1)",
    ),
    Mutant(
        "a reader sends before it has logged",
        NODES,
        "return after, (commit, *sends)",
        "return after, (*sends, commit)",
        "two types",
    ),
    Mutant(
        "a reader forgets its numbers",
        NODES,
        "state = Reader(Inlet(request=request), context.sent)",
        "state = Reader(Inlet(request=request), (0,) * len(site.succs))",
    ),
)
