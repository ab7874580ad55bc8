"""Evidence about the global state (Algorithm 2, step 2; Algorithm 9, steps 1 and 2).

Rule of this file: designs that change what a restarted operator knows of its global state, or the
order in which it makes the state anew, with the verdicts expected of them, and one-line faults.
"""

from __future__ import annotations

from model.evidence import Mutant
from model.protocols.log_io.design import Garbage, Known, LogIoDesign
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import CONVERGENT, DIVERGENT, FAILED, GAP, build
from model.protocols.log_io.evidence.readings import (
    FILTER_IS_ARRAY,
    NO_ARRAY,
    OWN_ARRAY,
    PORT_BY_PORT,
    ROUND_ROBIN,
    STATE_OF_FUNCTION,
    TRIGGERS_AGAIN,
)

LOGGED = LogIoDesign(greatest=Known.EVENT_LOG, garbage=Garbage.NEVER)

VARIANTS = (
    build(
        "no-array",
        LogIoDesign(),
        (
            scopes.COUNTED_BY_TYPE.fails(2_403, 12, DIVERGENT),
            scopes.TWO_INPUTS_COUNTED_BY_TWO_FUNCTIONS.fails(645, 13, DIVERGENT),
            scopes.TWO_PORTS_COUNTED_BY_TYPE.fails(3_688, 12, DIVERGENT, quick=False),
            scopes.COUNTED_BY_TWO_FUNCTIONS.fails(3_823, 13, DIVERGENT, quick=False),
        ),
        "A replayed input updates a global state that it has updated already: it is counted twice.",
        FAILED,
        readings=(NO_ARRAY,),
    ),
    build(
        "array-of-the-filter",
        LOGGED,
        (
            scopes.COUNTED_BY_TYPE.fails(2_389, 8, GAP),
            scopes.TWO_INPUTS_COUNTED_BY_TWO_FUNCTIONS.fails(673, 8, GAP),
        ),
        "The filter knows inputs that were assigned after the global state was stored.  If it is "
        "the array, too, a replayed one is not counted.",
        FAILED,
        readings=(FILTER_IS_ARRAY,),
    ),
    build(
        "array-of-its-own",
        LOGGED,
        (
            scopes.COUNTED_BY_TYPE.holds(2_245),
            scopes.TWO_PORTS_COUNTED_BY_TWO_FUNCTIONS.holds(1_643),
            scopes.COUNTED_BY_TWO_FUNCTIONS.holds(3_249, quick=False),
            scopes.TWO_PORTS_COUNTED_BY_TYPE.holds(3_786, quick=False),
        ),
        "An array that is stored with the global state says which inputs have updated it.",
        FAILED,
    ),
    build(
        "array-and-triggers",
        LogIoDesign(greatest=Known.EVENT_LOG),
        (scopes.COUNTED_BY_TYPE.fails(2_647, 10, DIVERGENT),),
        "With the array, as published: a replayed input is not counted twice, and the condition is "
        "evaluated all the same.  The stored count is full, and an input that was not the last one "
        "triggers.",
        FAILED,
        readings=(OWN_ARRAY, TRIGGERS_AGAIN),
    ),
    build(
        "state-of-the-function",
        LogIoDesign(),
        (
            scopes.BATCHES_IN_TURN.fails(14_374, 9, GAP),
            scopes.BATCHES_IN_TURN_BY_TYPE_THAT_CRASH_ONCE.fails(1_036, 12, GAP),
        ),
        "Algorithm 3, step 2, stores the global state if the function uses it.  One that the "
        "triggering condition alone uses (Example 2) is at its begin again after a crash: an "
        "Input Set is complete too early.  Store it always.",
        FAILED,
        readings=(STATE_OF_FUNCTION,),
    ),
    build(
        "ports-in-turn",
        LogIoDesign(),
        (
            scopes.TWO_PORTS_AND_TWO_FUNCTIONS.fails(739, 10, CONVERGENT),
            scopes.TWO_PORTS_BY_TYPE.fails(15_310, 15, GAP),
        ),
        "A round-robin order between ports could not always occur without a failure: an output "
        "that was sent before the failure shows another one.",
        FAILED,
        readings=(ROUND_ROBIN, TRIGGERS_AGAIN),
    ),
    build(
        "ports-in-turn-unseen",
        LogIoDesign(),
        (scopes.TWO_PORTS_AND_TWO_FUNCTIONS.fails(703, 10, GAP),),
        "In another order, the input that was the last one of its Input Set comes before those "
        "that a condition has seen, and the set is never complete.",
        FAILED,
        readings=(ROUND_ROBIN,),
    ),
    build(
        "port-by-port",
        LogIoDesign(),
        (scopes.TWO_PORTS_AND_TWO_FUNCTIONS.fails(739, 10, CONVERGENT),),
        "So it is with one port after the other.",
        FAILED,
        readings=(PORT_BY_PORT, TRIGGERS_AGAIN),
    ),
    build(
        "ports-in-turn-with-an-order",
        LogIoDesign(),
        (scopes.TWO_PORTS_IN_ORDER_OF_TIME.holds(966),),
        "An operator that enforces an order of its own between ports keeps in its global state "
        "what it holds back, so that the order of replay makes no difference.",
        FAILED,
        readings=(ROUND_ROBIN,),
    ),
    build(
        "in-order-of-assignment",
        LogIoDesign(),
        (
            scopes.TWO_PORTS_AND_TWO_FUNCTIONS.holds(709),
            scopes.TWO_PORTS_BY_TYPE.holds(15_590, quick=False),
        ),
        "The log has the order in which inputs were assigned, and they are replayed in it.",
        FAILED,
        readings=(TRIGGERS_AGAIN,),
    ),
)
OPERATOR = "model.protocols.log_io.operators.operator"
RECOVERY = "model.protocols.log_io.operators.recovery"
MUTANTS = (
    Mutant(
        "an input that has updated the global state updates it again",
        OPERATOR,
        "if not _has_updated(site, state, taken):",
        "if True:",
        "counted by type",
    ),
    Mutant(
        "replayed inputs do not update the global state",
        OPERATOR,
        "if not _has_updated(site, state, taken):",
        "if False:",
        "counted by type",
    ),
    Mutant(
        "the array is not stored",
        RECOVERY,
        "array=stored.last if design.greatest is Known.EVENT_LOG else None,",
        "array=logged if design.greatest is Known.EVENT_LOG else None,",
        "array-of-its-own: counted by type",
    ),
    Mutant(
        "the array forgets the inputs of the second port",
        OPERATOR,
        "array = None if state.array is None else _raised(state.array, item.edge, number)",
        "array = None if state.array is None else _raised(state.array, 0, number)",
        "array-of-its-own: two ports counted by type",
    ),
    Mutant(
        "the order of assignment is that of the port",
        OPERATOR,
        "order = sum(state.last) - state.last[edge] + event.number if _keeps_order(site) else 0",
        "order = event.number if _keeps_order(site) else 0",
        "two ports and two functions",
    ),
    Mutant(
        "the order of assignment is not logged",
        "model.protocols.log_io.log",
        "rows = (events[at]._replace(inset=inset, order=order) for inset in sorted(insets))",
        "rows = (events[at]._replace(inset=inset) for inset in sorted(insets))",
        "two ports and two functions",
    ),
)
