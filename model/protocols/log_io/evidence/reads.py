"""Evidence about read actions of sources (Algorithms 1 and 6).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.evidence import Mutant
from model.protocols.log_io.design import LogIoDesign, Reads
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import CHECKED, GAP, SEEN, build
from model.protocols.log_io.evidence.readings import REPEATED
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
)
OPERATOR = "model.protocols.log_io.operators.operator"
ACTIONS = "model.protocols.log_io.sources.actions"
MUTANTS = (
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
