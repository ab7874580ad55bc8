"""Designs of uncoordinated checkpoints that change one thing, each with the verdict expected of it.

Rule of this file: no design without its claim and the verdict expected of it, and none that takes a
checkpoint because of a message (induced_variants.py).
"""

from __future__ import annotations

from model.core import Guarantee
from model.properties import AS_IF, COMPLETE
from model.protocols.uncoordinated import scopes
from model.protocols.uncoordinated.design import (
    Collects,
    Duplicates,
    Exchange,
    LineDesign,
    LineRule,
    MessageLog,
    PassesOn,
)
from model.protocols.uncoordinated.family import RESTARTED, UNCOORDINATED
from model.protocols.uncoordinated.properties import CONSISTENT, NO_DOMINO, NO_LONG_DOMINO, USEFUL

GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
OUTPUTS_ALONE = (AS_IF, COMPLETE)

VARIANTS = (
    UNCOORDINATED.design(
        "at-once",
        LineDesign(outputs=PassesOn.AT_ONCE),
        (
            scopes.A_RELAY.holds(182),
            scopes.PAIRS.holds(418),
            scopes.TWO_RELAYS_AND_TWO_CRASHES.holds(2_994),
            scopes.TWO_RELAYS_AND_TWO_EVENTS.holds(6_478),
            scopes.PAIRS_BEHIND_A_RELAY.holds(5_203),
            scopes.A_RELAY_BEHIND_PAIRS.holds(1_216),
            scopes.NO_CRASH.holds(418),
        ),
        "Deterministic operators make the same outputs again, so a sink that knows the number of "
        "the last one need not wait for the recovery line.",
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "at-once-any",
        LineDesign(outputs=PassesOn.AT_ONCE),
        (scopes.A_UNION.fails(29_850, 13, GAP),),
        "A union that goes back takes its inputs in another order, and the application has seen "
        "the first one: an output must wait until no restart can undo it.",
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "newest",
        LineDesign(line=LineRule.NEWEST, outputs=PassesOn.AT_ONCE),
        (
            scopes.A_RELAY.holds(182),
            scopes.PAIRS.holds(418),
            scopes.TWO_RELAYS_AND_TWO_CRASHES.holds(3_604),
            scopes.TWO_RELAYS_AND_TWO_EVENTS.holds(9_625),
            scopes.PAIRS_BEHIND_A_RELAY.holds(7_528),
            scopes.A_RELAY_BEHIND_PAIRS.holds(1_521),
            scopes.NO_CRASH.holds(771),
        ),
        "Deterministic operators need no consistent line: an orphan is made again, with its "
        "number, and its receiver discards it.  The newest checkpoints are enough.",
        properties=OUTPUTS_ALONE,
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "orphans",
        LineDesign(line=LineRule.NEWEST),
        (scopes.A_UNION.fails(49_250, 17, GAP),),
        "With the newest checkpoints of operators that are not deterministic, a receiver has an "
        "orphan: the union makes another output with this number, and the receiver discards it.  "
        "One event comes twice, the other one never.",
        properties=OUTPUTS_ALONE,
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "keeps-the-newest",
        LineDesign(collects=Collects.ALL_BUT_NEWEST),
        (
            scopes.TWO_RELAYS.holds(668),
            scopes.A_UNION.fails(49_250, 17, GAP),
        ),
        "If all checkpoints but the newest one are deleted, a receiver with an orphan cannot go "
        "back: only checkpoints behind the recovery line are garbage.",
        properties=OUTPUTS_ALONE,
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "takes-duplicates",
        LineDesign(duplicates=Duplicates.TAKEN),
        (
            scopes.A_RELAY.holds(209),
            scopes.TWO_RELAYS.fails(481, 13, REPEATING),
        ),
        "A restart sends all that is kept; a receiver that does not compare numbers takes again "
        "what its checkpoint has.",
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "no-log",
        LineDesign(logs=MessageLog.NONE),
        (
            scopes.A_RELAY.holds(209),
            scopes.TWO_RELAYS.fails(448, 9, GAP),
            scopes.A_UNION.fails(23_254, 10, GAP),
        ),
        "A line without orphans may have lost messages: sent before the sender's checkpoint, not "
        "received before the receiver's.  Without a log nobody sends them again.",
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "no-log-matched",
        LineDesign(logs=MessageLog.NONE, line=LineRule.MATCHED),
        (
            scopes.A_RELAY.holds(209),
            scopes.TWO_RELAYS_AND_TWO_EVENTS.fails(2_623, 9, PRECISE),
            scopes.A_UNION.fails(11_153, 9, PRECISE),
        ),
        "Without logs senders go back for lost messages, and receivers for orphans, so that the "
        "domino effect comes though messages go one way.  The outputs stay right.",
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "two-way",
        LineDesign(exchange=Exchange.CREDITS),
        (
            scopes.A_RELAY.holds(227),
            scopes.TWO_RELAYS.holds(2_826),
            scopes.TWO_RELAYS_AND_TWO_CRASHES.holds(20_239),
            scopes.A_RELAY_BEHIND_A_COIN.holds(2_904),
            scopes.NO_CRASH.holds(5_472),
        ),
        "With messages both ways the line is still consistent, and the outputs are right.",
        properties=(AS_IF, COMPLETE, CONSISTENT),
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "domino",
        LineDesign(exchange=Exchange.CREDITS),
        (scopes.A_DOMINO.fails(44_739, 16, PRECISE),),
        "The domino effect.  Each operator takes its checkpoint between a receipt and the next "
        "send, so that each checkpoint has an orphan of the other operator.  One crash undoes "
        "two checkpoints of each, that is all.  The outputs stay right.",
        properties=(AS_IF, COMPLETE, NO_LONG_DOMINO),
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "domino-of-one-event",
        LineDesign(exchange=Exchange.CREDITS),
        (scopes.TWO_RELAYS.fails(2_826, 8, PRECISE),),
        "One event is enough for a restart that undoes the checkpoints of both operators.",
        properties=(AS_IF, COMPLETE, NO_DOMINO),
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "useless",
        LineDesign(exchange=Exchange.CREDITS),
        (scopes.TWO_RELAYS.fails(2_826, 6, PRECISE),),
        "A checkpoint between a receipt and the credit for it belongs to no consistent line once "
        "the sender has the credit in the interval of the sending (a Z-cycle): it is useless "
        "without any fault.",
        properties=(USEFUL,),
        must_occur=(),
    ),
)
