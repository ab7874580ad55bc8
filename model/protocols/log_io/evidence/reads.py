"""Evidence about read actions of sources (Algorithms 1 and 6).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.evidence import Mutant
from model.protocols.log_io.design import GoesOn, Growth, LogIoDesign, Reads
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import CHECKED, GAP, PRECISE, REPEATING, SEEN, build
from model.protocols.log_io.evidence.readings import FROM_STORE, NEVER_ENDS, REPEATED
from model.protocols.log_io.quantities import READ_AGAIN, RESUMED

VARIANTS = (
    build(
        "stored-reads",
        LogIoDesign(reads=Reads.STORED),
        (
            scopes.A_READ.holds(45_879),
            scopes.A_READ_AND_THREE_CRASHES.holds(17_207),
            scopes.A_READ_AND_BATCHES.holds(25_643, quick=False),
        ),
        "A read action of a source that is not replayable: its effect is stored before the first "
        "output, and a restart goes on with the stored effect, or reads again if nothing was put "
        "out (Algorithm 1, step 2, and Algorithm 6).",
        (*CHECKED, RESUMED, READ_AGAIN),
    ),
    build(
        "reads-again",
        LogIoDesign(reads=Reads.STORED),
        (scopes.A_READ_AND_A_CRASH.fails(266, 12, GAP),),
        "As if the read action were replayable (Algorithm 1, step 3): outputs before and after a "
        "restart are of two reads.",
        SEEN,
        readings=(REPEATED,),
    ),
    build(
        "empty-reads",
        LogIoDesign(reads=Reads.STORED),
        (scopes.A_POLL.holds(1_633), scopes.A_READ_AND_A_CRASH.holds(255)),
        "A read action that shows nothing: a transaction without outputs ends it.",
        (*SEEN, RESUMED, READ_AGAIN),
    ),
    build(
        "empty-reads-never-end",
        LogIoDesign(reads=Reads.STORED),
        (scopes.A_POLL.fails(1_582, 3, PRECISE),),
        "Algorithm 1, step 2.c(3), sets the event of a read action to done with the last output.  "
        "An effect without an event has no last output, and the action is under way for ever, "
        "also without a crash.",
        (),
        readings=(NEVER_ENDS,),
    ),
    build(
        "destructive-reads",
        LogIoDesign(reads=Reads.DESTRUCTIVE),
        (scopes.A_QUEUE_OF_ONE_EVENT.fails(105, 9, GAP), scopes.A_QUEUE.fails(5_704, 9, GAP)),
        "A read of a queue removes its event.  Algorithm 6, step 4, reads again if the action "
        "is not complete, stored or not, and finds nothing: the event is lost.",
        SEEN,
    ),
    build(
        "destructive-reads-from-the-store",
        LogIoDesign(reads=Reads.DESTRUCTIVE),
        (scopes.A_QUEUE_OF_ONE_EVENT.fails(114, 9, GAP),),
        "To go on with an effect that is stored and not complete is not enough: a crash between "
        "the read and the store loses the event.",
        SEEN,
        readings=(FROM_STORE,),
    ),
    build(
        "acknowledged-reads",
        LogIoDesign(reads=Reads.ACKNOWLEDGED),
        (scopes.A_QUEUE.holds(4_934),),
        "A queue that keeps an event until the reader acknowledges it.  The reader does so when "
        "the action is complete, and again after a restart.",
        (*SEEN, RESUMED, READ_AGAIN),
    ),
    build(
        "subsequence-by-offset",
        LogIoDesign(growth=Growth.ANYWHERE),
        (
            scopes.A_RELAY_AND_A_CRASH.fails(402, 14, REPEATING),
            scopes.A_RELAY.fails(5_373, 14, REPEATING),
        ),
        "Section 2.2: a read action is replayable if an earlier effect is a subsequence of a later "
        "one.  [a, c] was read, and then it is [a, b, c]: a reader that goes on after two events "
        "shows c twice, and b never.  Go on by a key, or ask for a prefix.",
        SEEN,
    ),
    build(
        "subsequence-by-key",
        LogIoDesign(growth=Growth.ANYWHERE, goes_on=GoesOn.KEY),
        (scopes.A_RELAY.holds(4_370),),
        "A reader that goes on after the greatest time that it has read takes nothing twice.  "
        "Events that appear before that time are not read, as in an execution that began earlier.",
    ),
)
OPERATOR = "model.protocols.log_io.operators.operator"
ACTIONS = "model.protocols.log_io.sources.actions"
MUTANTS = (
    Mutant(
        "the acknowledgement of a read is forgotten by a restart",
        ACTIONS,
        "effects += _acknowledge(site, action.number)",
        "pass",
        "acknowledged-reads: a queue",
    ),
    Mutant(
        "a read is acknowledged before it is complete",
        ACTIONS,
        "stored += _acknowledge(site, request.sn[0])",
        "stored = (*_acknowledge(site, request.sn[0]), *stored)",
        "acknowledged-reads: a queue",
    ),
    Mutant(
        "an empty effect is the end of the action before",
        ACTIONS,
        "effects.append(Send(LOG, Commit((), ended, ends=True)))",
        "effects.append(Send(LOG, Commit((), ended)))",
        "empty-reads: a poll",
    ),
    Mutant(
        "a read action is complete before its effect is stored",
        ACTIONS,
        "stored = (Send(LOG, Store(effect)), Send(LOG, Complete()))  # 2.a and 2.b",
        "stored = (Send(LOG, Complete()), Send(LOG, Store(effect)))",
        "stored-reads: a read",
    ),
    Mutant(
        "a read action is not complete",
        ACTIONS,
        "stored = (Send(LOG, Store(effect)), Send(LOG, Complete()))  # 2.a and 2.b",
        "stored = (Send(LOG, Store(effect)),)",
        "stored-reads: a read",
    ),
    Mutant(
        "an effect goes on from its begin",
        ACTIONS,
        "state, more = _iterate(site, state, number, action.effect or (), offset)",
        "state, more = _iterate(site, state, number, action.effect or (), 0)",
        "stored-reads: a read",
    ),
    Mutant(
        "the effect of a read is discarded before its last output",
        ACTIONS,
        "ends = at == len(effect)",
        "ends = at == 1",
        "stored-reads: a read and batches",
    ),
    Mutant(
        "requests to read are forgotten",
        ACTIONS,
        "return state._replace(held=(*state.held, message)), ()",
        "return state, ()",
        "stored-reads: a read",
    ),
    Mutant(
        "the effect of a read stays in the store",
        ACTIONS,
        "return state, (*effects, *discard)",
        "return state, tuple(effects)",
        "stored-reads: a read",
    ),
    Mutant(
        "what waits for a read is forgotten",
        OPERATOR,
        "return state._replace(held=tuple(dict.fromkeys((*state.held, came)))), ()",
        "return state, ()",
        "a reader of writes no crash",
    ),
    Mutant(
        "inputs overtake a read",
        OPERATOR,
        "if state.busy:",
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
)
