"""Evidence about connections, and a log that answers late (2.1).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.evidence import Mutant
from model.protocols.log_io.design import Delivery, LogIoDesign
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import GAP, SEEN, build
from model.protocols.log_io.evidence.readings import INPUTS_LOST

LOSSY = LogIoDesign(connection=Delivery.LOSSY)

VARIANTS = (
    build(
        "lossy",
        LOSSY,
        (
            scopes.A_RELAY.fails(2_668, 5, GAP),
            scopes.TWO_RELAYS.fails(6_934, 5, GAP),
        ),
        "Nothing in Algorithms 6 to 9 sends again what was on its way to a node that crashed: "
        "connections have to keep events until they are acknowledged.",
        SEEN,
        readings=(INPUTS_LOST,),
    ),
    build(
        "lossy-from-the-log",
        LOSSY,
        (
            scopes.A_RELAY.holds(2_576),
            scopes.TWO_TYPES.holds(5_092),
            scopes.TWO_RELAYS.holds(6_550),
            scopes.BATCHES_BY_TYPE.holds(39_304, quick=False),
            scopes.TWO_PORTS_THAT_RACE.holds(83_894, quick=False),
        ),
        "With lossy connections, a restarted node has to read its unassigned inputs from the log; "
        "they are all there.",
    ),
    build(
        "late-log",
        LogIoDesign(prompt=False),
        (scopes.A_RELAY.fails(102_118, 8, GAP, reduced=38_811),),
        "Outputs are sent before the log has confirmed the transaction of Algorithm 3, step 4; a "
        "restarted node asks a log that knows less than its neighbours.",
        SEEN,
    ),
)
RECOVERY = "model.protocols.log_io.operators.recovery"
SURROUNDINGS = "model.protocols.log_io.surroundings"
MUTANTS = (
    Mutant(
        "a restarted operator does not ask its connections",
        RECOVERY,
        "return tuple(Send(one, Peek()) for pred, one in known if reads(site, state, pred))",
        "return ()",
        scope="two ports and two functions",
    ),
    Mutant(
        "a connection forgets what it has delivered",
        SURROUNDINGS,
        "return state._replace(held=(*state.held, message)), sends",
        "return state, sends",
    ),
    Mutant(
        "a connection stays closed",
        SURROUNDINGS,
        "return Connected(state.held, to=to), tuple(Send(sender, put) for put in state.held)",
        "return state, tuple(Send(sender, put) for put in state.held)",
        scope="two ports and two functions",
    ),
    Mutant(
        "a connection keeps what is acknowledged",
        SURROUNDINGS,
        "return state._replace(held=tuple(put for put in state.held if put.number != number)), ()",
        "return state, ()",
    ),
)
