"""Evidence about state update, generation and recovery (Algorithms 2, 3, 7 and 9).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from dataclasses import replace

from model.evidence import Mutant
from model.protocols.log_io.design import Garbage, Known, LogIoDesign
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import DIVERGENT, FAILED, GAP, REPEATING, SEEN, build
from model.protocols.log_io.evidence.readings import (
    BY_NUMBER,
    FILTER_IS_ARRAY,
    INTO_ALL_SETS,
    OUTPUTS_FIRST,
    ROUND_ROBIN,
    ROWS_ALONE,
    SENT_FROM_LOG,
    SETS_ALONE,
    SMALLER,
    TRIGGERS_AGAIN,
)

FROM_LOG = LogIoDesign(greatest=Known.EVENT_LOG)
PUBLISHED = (
    SMALLER,
    SENT_FROM_LOG,
    BY_NUMBER,
    ROUND_ROBIN,
    TRIGGERS_AGAIN,
    SETS_ALONE,
    ROWS_ALONE,
    OUTPUTS_FIRST,
)
"""Word by word; writes are executed "individually" (3.5.3), which is read as one by one."""

VARIANTS = (
    build(
        "published",
        FROM_LOG,
        (
            scopes.A_RELAY.fails(5_777, 7, GAP),
            scopes.TWO_RELAYS.fails(23_153, 8, GAP),
        ),
        "Word by word.  An output that was acknowledged is sent again while its sender has not "
        "yet seen that, and the receiver takes it twice: its number is not smaller than the "
        "greatest one.",
        SEEN,
        readings=PUBLISHED,
    ),
    build(
        "smaller-numbers",
        LogIoDesign(),
        (scopes.A_RELAY.fails(5_251, 7, REPEATING),),
        "Algorithm 2, step 1, discards smaller numbers alone, and an event that comes twice in a "
        "row has an equal one.  Discard numbers up to the greatest.",
        SEEN,
        readings=(SMALLER,),
    ),
    build(
        "published-without-garbage-collection",
        replace(FROM_LOG, garbage=Garbage.NEVER),
        (
            scopes.A_RELAY.holds(3_465),
            scopes.TWO_TYPES.holds(6_678),
            scopes.TWO_RELAYS.holds(9_526),
            scopes.WINDOWS_OF_HOURS.holds(28_846, quick=False),
            scopes.BATCHES_BY_TYPE.holds(60_082, quick=False),
        ),
        "Numbers may be learnt from EVENT_LOG (Algorithm 9, step 1) as long as done events stay "
        "there.",
        readings=PUBLISHED[1:],
    ),
    build(
        "greatest-from-the-log",
        FROM_LOG,
        (scopes.TWO_TYPES.fails(6_808, 15, REPEATING),),
        "Section 3.6 deletes done events, and with them the greatest number received: a restarted "
        "operator takes an event again.  The stored context has to have the number.",
        readings=(FILTER_IS_ARRAY, TRIGGERS_AGAIN),
    ),
    build(
        "sent-from-the-log",
        LogIoDesign(),
        (scopes.TWO_RELAYS.fails(10_364, 11, GAP),),
        "Section 3.6 deletes done events, and with them the latest number sent (Algorithm 9, step "
        "1): a restarted operator numbers from 1 again, and its outputs are taken for obsolete.",
        readings=(SENT_FROM_LOG,),
    ),
    build(
        "again-into-all-sets",
        LogIoDesign(),
        (
            scopes.TWO_INPUTS_OF_TWO_FUNCTIONS.fails(453, 6, GAP),
            scopes.WINDOWS_AND_A_RELAY.fails(7_239, 8, DIVERGENT),
        ),
        "A restarted operator that puts an undone input into all its Input Sets: one of them may "
        "be done, and the input is in the next one, too.  The row's own Input Set is meant.",
        SEEN,
        readings=(INTO_ALL_SETS, TRIGGERS_AGAIN),
    ),
    build(
        "triggers-again",
        LogIoDesign(),
        (
            scopes.BATCHES_IN_TURN_BY_TYPE_THAT_CRASH_ONCE.fails(1_030, 13, DIVERGENT),
            scopes.BATCHES_IN_TURN_BY_TYPE.fails(64_554, 13, DIVERGENT, quick=False),
        ),
        "Algorithm 9 replays undone inputs over the latest global state.  A condition that depends "
        "on it was false when the input came, and is true now: the operator generates earlier than "
        "it would have.",
        FAILED,
        readings=(TRIGGERS_AGAIN,),
    ),
    build(
        "sets-by-number",
        LogIoDesign(),
        (scopes.TWO_FUNCTIONS.fails(23_049, 9, DIVERGENT),),
        "Algorithm 9 has no order for the Input Sets of one input.  By their numbers, the function "
        "whose set began earlier generates first, and before the failure another one did.",
        SEEN,
        readings=(BY_NUMBER, TRIGGERS_AGAIN),
    ),
)
GENERATION = "model.protocols.log_io.operators.generation"
LOGIC = "model.protocols.log_io.operators.logic"
LOG = "model.protocols.log_io.log"
OPERATOR = "model.protocols.log_io.operators.operator"
READERS = "model.protocols.log_io.sources.readers"
RECOVERY = "model.protocols.log_io.operators.recovery"
MUTANTS = (
    Mutant(
        "an obsolete event is taken",
        OPERATOR,
        "if event.number <= last:  # step 1: filtering",
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
        scope="two ports and two functions",
    ),
    Mutant(
        "an event is never assigned",
        OPERATOR,
        "return state, (assign, *drops, *effects)  # acknowledged: removed from the connection",
        "return state, (*drops, *effects)",
    ),
    Mutant(
        "outputs are sent before they are logged",
        GENERATION,
        "return state, (Send(LOG, commit), *effects)",
        "return state, (*effects, Send(LOG, commit))",
        scope="two ports and two functions",
    ),
    Mutant(
        "outputs are not logged",
        GENERATION,
        "commit = Commit(tuple(rows), context_of(site, state), inset, lineage)  # step 4",
        "commit = Commit((), context_of(site, state), inset, lineage)",
    ),
    Mutant(
        "the Input Set stays undone",
        GENERATION,
        "commit = Commit(tuple(rows), context_of(site, state), inset, lineage)  # step 4",
        "commit = Commit(tuple(rows), context_of(site, state), -1, lineage)",
    ),
    Mutant(
        "all Input Sets have one number",
        OPERATOR,
        "return tuple(open_.get(key, new[key]) for key in keys)",
        "return tuple(open_.get(key, 1) for key in keys)",
        "two ports and two functions",
    ),
    Mutant(
        "an Input Set under way gets a new number",
        OPERATOR,
        "return tuple(open_.get(key, new[key]) for key in keys)",
        "return tuple(new[key] for key in keys)",
        "lineage-scope: two ports and batches",
    ),
    Mutant(
        "the stored context has the event states",
        GENERATION,
        "box = site.spec.logic.global_state(state.box)",
        "box = state.box",
    ),
    Mutant(
        "the stored context forgets the global state",
        LOGIC,
        "return Sets((), state.done)",
        "return Sets()",
        "batches in turn",
    ),
    Mutant(
        "numbers sent are forgotten",
        RECOVERY,
        "sent=stored.sent,",
        "sent=begin(site).sent,",
        scope="two ports and two functions",
    ),
    Mutant(
        "the last number accepted is forgotten",
        RECOVERY,
        "last=stored.last if design.greatest is Known.CONTEXT else logged,",
        "last=begin(site).last,",
        scope="two ports and two functions",
    ),
    Mutant(
        "replayed inputs count for no number",
        OPERATOR,
        "last = _raised(state.last, item.edge, number)",
        "last = (*state.last[: item.edge], number, *state.last[item.edge + 1 :])",
        "published-without-garbage-collection: batches by type",
    ),
    Mutant(
        "undone outputs are not sent again",
        RECOVERY,
        "state, more = hand_on(site, state, [*sends, *writes], checks)  # Algorithms 7 and 8",
        "state, more = hand_on(site, state, [*sends[1:], *writes], checks)",
        scope="outputs-after-idempotent-writes: a reader of two writes",
    ),
    Mutant(
        "undone inputs are not replayed",
        RECOVERY,
        "rows = _in_order(site, found.assigned)",
        "rows = _in_order(site, found.assigned[1:])",
        scope="two ports and two functions",
    ),
    Mutant(
        "undone inputs are replayed from the newest on",
        RECOVERY,
        "rows = _in_order(site, found.assigned)",
        "rows = _in_order(site, found.assigned)[::-1]",
    ),
    Mutant(
        "what came while it recovered is forgotten",
        RECOVERY,
        "held += recovering.held  # Algorithm 9, step 3: go on with Algorithm 2",
        "held += recovering.held[1:]",
        "scale-up-and-down: a pair",
    ),
    Mutant(
        "an event has a row for one of its Input Sets",
        LOG,
        "rows = (events[at]._replace(inset=inset, order=order) for inset in sorted(insets))",
        "rows = (events[at]._replace(inset=inset, order=order) for inset in insets[:1])",
        "two ports and two functions",
    ),
    Mutant(
        "the number of an Input Set does not say its function",
        OPERATOR,
        "new = {key: first + (at - first) % among for at, key in enumerate(keys)}",
        "new = {key: first + at for at, key in enumerate(keys)}",
        "two ports and two functions",
    ),
    Mutant(
        "an undone input goes into the Input Set of the first function",
        OPERATOR,
        "key = keys[row.inset % len(keys)]",
        "key = keys[0]",
        "two functions",
    ),
    Mutant(
        "the newest input has been seen by all functions",
        OPERATOR,
        "return one != newest or bool(function <= last)",
        "return True",
        "two ports and two functions",
    ),
    Mutant(
        "no input has been seen",
        OPERATOR,
        "return taken.number < state.updated[edge]",
        "return False",
        "two ports counted by two functions",
    ),
    Mutant(
        "an input that has been seen is forgotten",
        OPERATOR,
        "return state._replace(box=gathered, open=opened, insets=max(state.insets, inset))",
        "return state._replace(open=opened, insets=max(state.insets, inset))",
        "two ports and two functions",
    ),
    Mutant(
        "all inputs of the operator are done",
        LOG,
        "yield from compress(range(start, end), map(inset.__eq__, insets))",
        "yield from range(start, end)",
        scope="two ports and two functions",
    ),
    Mutant(
        "the Input Set of everybody is done",
        LOG,
        "if receiver == node:",
        "if receiver:",
        scope="replay: two receivers",
    ),
    Mutant(
        "the first context is kept",
        LOG,
        "contexts = with_row(tables.contexts, (node, context))",
        "contexts = tables.contexts or ((node, context),)",
        scope="two ports and two functions",
    ),
    Mutant(
        "a reader forgets where it was",
        READERS,
        "request = Replay(context.box)",
        "request = Replay(0)",
        scope="outputs-after-idempotent-writes: a reader of two writes",
    ),
    Mutant(
        "a reader skips an event",
        READERS,
        "request = Replay(context.box)",
        "request = Replay(context.box + 1)",
        scope="outputs-after-idempotent-writes: a reader of two writes",
    ),
    Mutant(
        "a reader sends before it has logged",
        READERS,
        "return after, (commit, *sends)",
        "return after, (*sends, commit)",
        "two types",
    ),
    Mutant(
        "a reader forgets its numbers",
        READERS,
        "state = Reader(Inlet(request=request), context.sent)",
        "state = Reader(Inlet(request=request), (0,) * len(site.succs))",
        scope="outputs-after-idempotent-writes: a reader of two writes",
    ),
)
