"""Evidence about writes that take time (2.2, Algorithms 5 and 8).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.evidence import Mutant
from model.protocols.log_io.design import LogIoDesign, SlowSystem, WriteStatus, WriteSupport
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import CHECKED, DIVERGENT, REPEATING, SEEN, build
from model.protocols.log_io.quantities import PENDING

IDEMPOTENT = WriteSupport.IDEMPOTENT
OF_NOW, AWAITED, FINAL = WriteStatus

VARIANTS = (
    build(
        "slow-writes",
        LogIoDesign(slow=SlowSystem(OF_NOW)),
        (scopes.A_RELAY.fails(5_968, 9, REPEATING),),
        "A node crashes while a write of it is under way, asks for the status after its restart, "
        "gets no, and has the write executed again: it takes effect twice.",
        CHECKED,
    ),
    build(
        "slow-writes-awaited-in-one-connection",
        LogIoDesign(slow=SlowSystem(AWAITED, in_order=False)),
        (scopes.A_RELAY.fails(7_674, 10, DIVERGENT),),
        "A question that waits for the requests before it in its own connection does not wait for "
        "those that came through the connection of before the restart.",
        CHECKED,
    ),
    build(
        "slow-writes-awaited",
        LogIoDesign(slow=SlowSystem(AWAITED)),
        (scopes.A_RELAY.holds(5_320), scopes.TWO_WRITES_OF_ONE_INPUT.holds(1_005)),
        "A question waits until all requests before it have taken effect.",
        CHECKED,
    ),
    build(
        "slow-writes-final",
        LogIoDesign(slow=SlowSystem(FINAL, in_order=False)),
        (scopes.A_RELAY.holds(6_368), scopes.TWO_WRITES_OF_ONE_INPUT.holds(1_245)),
        "After the answer no, no request of before the question takes effect.",
        CHECKED,
    ),
    build(
        "slow-idempotent-writes",
        LogIoDesign(writes=IDEMPOTENT, slow=SlowSystem()),
        (scopes.A_RELAY.holds(4_849), scopes.TWO_WRITES_OF_ONE_INPUT.holds(903)),
        "Idempotent writes ask nothing; requests that take effect in their order are enough.",
        (*SEEN, PENDING),
    ),
    build(
        "slow-idempotent-writes-without-order",
        LogIoDesign(writes=IDEMPOTENT, slow=SlowSystem(in_order=False)),
        (scopes.A_RELAY.fails(5_917, 12, DIVERGENT),),
        "A write of before a restart takes effect after the next write: w1 w2 w1, and the external "
        "system shows w1 again, also with one pending write at a time.",
        (*SEEN, PENDING),
    ),
)
SLOW = "model.protocols.log_io.slow_systems"
MUTANTS = (
    Mutant(
        "a slow external system forgets that its answer was final",
        SLOW,
        "if no and slow.status is WriteStatus.FINAL:",
        "if False:",
        "slow-writes-final: a relay",
    ),
    Mutant(
        "a slow external system answers a node of before a crash",
        SLOW,
        "answers = () if first.orphan else tuple(one for one in effects if isinstance(one, Send))",
        "answers = tuple(one for one in effects if isinstance(one, Send))",
        "slow-writes-awaited: a relay",
    ),
)
