"""Designs of communication-induced checkpoints, each with the verdict expected of it.

Rule of this file: no design without its claim and the verdict expected of it; messages carry an
index in each.
Survey, 3.3 (index-based protocols).
"""

from __future__ import annotations

from dataclasses import replace

from model.core import Guarantee
from model.properties import AS_IF, COMPLETE
from model.protocols.uncoordinated import scopes
from model.protocols.uncoordinated.design import (
    INDUCED,
    Exchange,
    IndexOn,
    Induced,
    LineRule,
    PassesOn,
)
from model.protocols.uncoordinated.family import RESTARTED, UNCOORDINATED
from model.protocols.uncoordinated.messages import INDUCED_CHECKPOINTS
from model.protocols.uncoordinated.properties import CONSISTENT, NO_DOMINO, USEFUL

GAP, PRECISE = Guarantee.GAP, Guarantee.PRECISE
PUBLISHED = (AS_IF, COMPLETE, CONSISTENT, NO_DOMINO, USEFUL)
"""The published claims with the outputs: no domino effect, and no useless checkpoint."""

BY_INDEX = replace(INDUCED, line=LineRule.BY_INDEX, outputs=PassesOn.AT_ONCE)

INDUCED_VARIANTS = (
    UNCOORDINATED.design(
        "index-based",
        INDUCED,
        (
            scopes.A_RELAY.holds(238),
            scopes.PAIRS.holds(594),
            scopes.TWO_RELAYS.holds(4_339),
            scopes.TWO_RELAYS_AND_TWO_CRASHES.holds(39_310),
            scopes.PAIRS_BEHIND_A_RELAY.holds(137_610, quick=False),
            scopes.A_RELAY_BEHIND_PAIRS.holds(12_595),
            scopes.A_COIN.holds(248),
            scopes.A_RELAY_BEHIND_A_COIN.holds(4_362),
            scopes.TWO_EVENTS_AND_A_CRASH_OF_THE_FIRST.holds(106_335),
            scopes.NO_CRASH.holds(7_457),
        ),
        "An operator takes a checkpoint before it processes a message with a higher index than "
        "its own.  So no checkpoint is useless, and no restart undoes all of them, though "
        "messages go both ways.",
        properties=PUBLISHED,
        must_occur=(*RESTARTED, INDUCED_CHECKPOINTS),
    ),
    UNCOORDINATED.design(
        "index-one-way",
        replace(INDUCED, exchange=Exchange.ONE_WAY),
        (
            scopes.TWO_RELAYS_AND_TWO_CRASHES.holds(3_276),
            scopes.TWO_RELAYS_AND_TWO_EVENTS.holds(8_392),
            scopes.PAIRS_BEHIND_A_RELAY.holds(6_387),
            scopes.A_RELAY_BEHIND_PAIRS.holds(1_720),
            scopes.A_UNION.holds(40_426, quick=False),
            scopes.NO_CRASH.holds(421),
        ),
        "Where outputs go one way and are kept, uncoordinated checkpoints are never useless: the "
        "induced ones are more work for nothing.",
        properties=PUBLISHED,
        must_occur=(*RESTARTED, INDUCED_CHECKPOINTS),
    ),
    UNCOORDINATED.design(
        "index-line",
        BY_INDEX,
        (
            scopes.A_RELAY.holds(213),
            scopes.PAIRS.holds(555),
            scopes.TWO_RELAYS.holds(2_289),
            scopes.TWO_RELAYS_AND_TWO_CRASHES.holds(16_870),
            scopes.PAIRS_BEHIND_A_RELAY.holds(63_253, quick=False),
            scopes.A_RELAY_BEHIND_PAIRS.holds(6_675),
        ),
        "The first checkpoints with the index that all operators have reached are a consistent "
        "line, so the manager compares no counts of messages.",
        behaviour=replace(UNCOORDINATED.behaviour, needed=None),  # the line lags, and so do logs
        properties=PUBLISHED,
        must_occur=(*RESTARTED, INDUCED_CHECKPOINTS),
    ),
    UNCOORDINATED.design(
        "index-line-held",
        replace(BY_INDEX, exchange=Exchange.ONE_WAY, outputs=PassesOn.BEHIND_LINE),
        (scopes.TWO_RELAYS_AND_TWO_EVENTS.fails(3_757, 12, GAP),),
        "The line of an index moves only when all operators have reached the next index.  One "
        "that has nothing more to do takes no checkpoint, and outputs wait for it for ever.",
        properties=PUBLISHED,
        must_occur=RESTARTED,
    ),
    UNCOORDINATED.design(
        "induced-after",
        replace(BY_INDEX, induced=Induced.AFTER),
        (scopes.TWO_RELAYS.fails(2_761, 6, PRECISE),),
        "If the checkpoint comes after the message is processed, it has received what the "
        "sender's checkpoint with this index has not sent: equal indexes are no consistent line.",
        properties=(AS_IF, COMPLETE, CONSISTENT),
        must_occur=(),
    ),
    UNCOORDINATED.design(
        "induced-after-useless",
        replace(INDUCED, induced=Induced.AFTER),
        (scopes.TWO_RELAYS.fails(4_403, 6, PRECISE),),
        "If the checkpoint comes after the message is processed, it is useless, as is the one "
        "that forced it.",
        properties=PUBLISHED,
        must_occur=(),
    ),
    UNCOORDINATED.design(
        "index-on-outputs",
        replace(INDUCED, index_on=IndexOn.OUTPUTS),
        (scopes.TWO_RELAYS.fails(4_089, 6, PRECISE),),
        "If outputs carry the index and credits do not, checkpoints are useless as without it.",
        properties=PUBLISHED,
        must_occur=(),
    ),
    UNCOORDINATED.design(
        "index-not-replayed",
        replace(INDUCED, index_on=IndexOn.NOT_REPLAYED),
        (
            scopes.TWO_RELAYS.holds(4_160),
            scopes.NO_CRASH.holds(7_457),
            scopes.TWO_RELAYS_AND_TWO_CRASHES.holds(33_294, quick=False),
            scopes.PAIRS_BEHIND_A_RELAY.holds(129_769, quick=False),
            scopes.TWO_EVENTS_AND_A_CRASH_OF_THE_FIRST.holds(94_779),
        ),
        "A message that a restart sends again needs no index: the checkpoint of its sender has "
        "sent it, and older ones are gone.",
        properties=PUBLISHED,
        must_occur=(*RESTARTED, INDUCED_CHECKPOINTS),
    ),
)
