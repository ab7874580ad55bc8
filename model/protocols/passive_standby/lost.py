"""Designs of passive standby for arbitrary networks in which a crashed replica never returns.

Rule of this file: the replica that crashes in a scope stays down; variants.py has the designs in
which it comes back.
Hwang et al., Section 6: "can only forward checkpointed tuples".
"""

from __future__ import annotations

from dataclasses import replace

from model import pair_scopes as cases
from model.core import CRASHED, Guarantee
from model.protocols.passive_standby.design import ARBITRARY
from model.protocols.passive_standby.family import PASSIVE_STANDBY
from model.standbys.choices import Alone, NodeReturns

LOST = replace(ARBITRARY, returns=NodeReturns.NO_SECONDARY)
GAP = Guarantee.GAP
NO_RETURN = (
    PASSIVE_STANDBY.design(
        "arbitrary-lost",
        replace(ARBITRARY, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(1_509),
            cases.A_UNION.holds(12_732),
            cases.PAIRS_OF_A_UNION.holds(38_246, reduced=2_092),
        ),
        "A primary that is lost for ever: its secondary goes on alone, and forwards all.",
    ),
    PASSIVE_STANDBY.design(
        "arbitrary-alone",
        LOST,
        (
            cases.A_RELAY_SECONDARY.holds(1_145),
            cases.A_UNION_SECONDARY.holds(6_239),
            cases.PAIRS_OF_A_UNION_SECONDARY.holds(23_963),
        ),
        "If a primary that has lost its secondary for ever goes on alone, recovery is precise for "
        "arbitrary networks.",
        must_occur=(CRASHED,),
    ),
    PASSIVE_STANDBY.design(
        "alone-silent-up",
        replace(LOST, alone=Alone.NOTHING),
        (cases.A_RELAY_SECONDARY.fails(859, 4, GAP), cases.A_UNION_SECONDARY.fails(4_955, 4, GAP)),
        '"Only checkpointed tuples": a primary that is up sends nothing once its secondary is '
        "lost.",
        must_occur=(CRASHED,),
    ),
)
