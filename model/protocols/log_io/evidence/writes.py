"""Evidence about side-effect writes (Algorithms 5 and 8).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.evidence import Mutant
from model.protocols.log_io.design import LogIoDesign, WriteSupport
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import GAP, REPEATING, SEEN, build
from model.protocols.log_io.evidence.readings import TOGETHER
from model.protocols.log_io.quantities import PENDING

VARIANTS = (
    build(
        "plain-writes",
        LogIoDesign(writes=WriteSupport.PLAIN),
        (scopes.A_RELAY.fails(3_573, 6, REPEATING),),
        "A write that is neither checkable nor idempotent is executed twice, as Section 4.4 says.",
        (*SEEN, PENDING),
    ),
    build(
        "idempotent-writes",
        LogIoDesign(writes=WriteSupport.IDEMPOTENT),
        (
            scopes.A_RELAY.holds(3_269),
            scopes.TWO_TYPES.holds(6_610),
            scopes.TWO_WRITERS_OF_ONE_SYSTEM.holds(9_662),
            scopes.BATCHES_BY_TYPE.holds(58_974, quick=False),
        ),
        "Idempotent writes are enough if one is pending at a time.",
        (*SEEN, PENDING),
    ),
    build(
        "idempotent-writes-together",
        LogIoDesign(writes=WriteSupport.IDEMPOTENT),
        (scopes.A_RELAY.fails(3_375, 9, REPEATING),),
        "By Section 2.3 a write is idempotent if twice in a row is as once.  Two pending writes "
        "are repeated as w1 w2 w1 w2, and the external system shows w1 again.",
        (*SEEN, PENDING),
        readings=(TOGETHER,),
    ),
    build(
        "overwriting-writes",
        LogIoDesign(writes=WriteSupport.OVERWRITING),
        (
            scopes.TWO_WRITERS_OF_ONE_SYSTEM.fails(9_882, 7, REPEATING),
            scopes.A_RELAY.holds(3_269),
        ),
        "Two operators write to one place.  One writes and crashes, the other writes, the first "
        "one writes again: its write is idempotent, and the place shows it in the end.",
        (*SEEN, PENDING),
    ),
    build(
        "checkable-writes-together",
        LogIoDesign(),
        (scopes.A_RELAY.fails(3_626, 8, GAP),),
        "While Algorithm 8 asks for the status of a pending write, Algorithm 9 goes on, and a new "
        "write overtakes it.",
        readings=(TOGETHER,),
    ),
)
WRITES = "model.protocols.log_io.writing.writes"
RECOVERY = "model.protocols.log_io.operators.recovery"
SURROUNDINGS = "model.protocols.log_io.surroundings"
MUTANTS = (
    Mutant(
        "pending writes are forgotten",
        RECOVERY,
        "state, more = hand_on(site, state, [*sends, *writes], checks)  # Algorithms 7 and 8",
        "state, more = hand_on(site, state, [*sends, *writes[1:]], checks)",
    ),
    Mutant(
        "pending writes are not checked",
        RECOVERY,
        "state, more = hand_on(site, state, [*sends, *writes], checks)  # Algorithms 7 and 8",
        "state, more = hand_on(site, state, [*sends, *writes])",
    ),
    Mutant(
        "a write is done before it has succeeded",
        WRITES,
        "effects.append(_execute(write))",
        "effects += [Send(LOG, Executed(write.sink, write.number)), _execute(write)]",
    ),
    Mutant(
        "a write is never done",
        WRITES,
        "left = tuple(write for write in state.pending if write[:2] != (sink, number))",
        "left = state.pending",
    ),
    Mutant(
        "the next write waits for ever",
        WRITES,
        "more = (_execute(left[0]),)",
        "more = ()",
    ),
    Mutant(
        "a write that is missing counts as done",
        SURROUNDINGS,
        "known = newest is not None and number <= newest.number",
        "known = newest is not None",
        scope="two ports and two functions",
    ),
    Mutant(
        "the external system never knows a write",
        SURROUNDINGS,
        "known = newest is not None and number <= newest.number",
        "known = newest is not None and number < newest.number",
    ),
)
