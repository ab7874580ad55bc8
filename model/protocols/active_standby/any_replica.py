"""Designs of active standby for arbitrary networks in which any replica crashes.

Rule of this file: the secondary may crash, too, and return or not; in variants.py, only a primary
of an arbitrary network does.
Hwang et al., Section 6: "the primary cannot send tuples downstream until the secondary receives all
determinants".
"""

from __future__ import annotations

from dataclasses import replace

from model import pair_scopes as cases
from model.core import CRASHED, Guarantee
from model.properties import AS_IF, COMPLETE
from model.protocols.active_standby import runs
from model.protocols.active_standby.design import ARBITRARY
from model.protocols.active_standby.family import ACTIVE_STANDBY, ALL
from model.protocols.active_standby.properties import IDLE
from model.standbys.choices import Alone, NodeReturns

LOST = replace(ARBITRARY, returns=NodeReturns.NO_SECONDARY)
GAP = Guarantee.GAP
ANY_REPLICA = (
    ACTIVE_STANDBY.design(
        "arbitrary-again",
        ARBITRARY,
        (
            cases.A_RELAY.holds(413_717, reduced=44_513),
            cases.ONE_TUPLE_OF_A_UNION_ANY.holds(42_731, reduced=5_483),
            cases.ONE_TUPLE_OF_A_UNION_TWO_CRASHES.holds(55_952, reduced=10_612),
            cases.A_UNION.holds(None, quick=False, reduced=401_378),
            cases.A_UNION_ANY.holds(None, quick=False, reduced=605_176),
            cases.A_UNION_TWO_CRASHES.holds(None, quick=False, reduced=866_668),
        ),
        "If a new secondary forgets the determinants that came before its copy, and its copy has "
        "the tuples that wait for others, recovery is precise for arbitrary networks after an "
        "earlier failure, too, and no replica waits.",
        must_occur=ALL,
        properties=(AS_IF, COMPLETE, IDLE),
        runs=(runs.B_WAITED,),
    ),
    ACTIVE_STANDBY.design(
        "arbitrary-alone",
        LOST,
        (
            cases.A_RELAY_SECONDARY.holds(5_848),
            cases.A_UNION_SECONDARY.holds(122_819, reduced=10_167),
            cases.PAIRS_OF_A_UNION_SECONDARY.holds(1_857_458, quick=False, reduced=107_060),
        ),
        "If a primary that has lost its secondary for ever goes on alone, recovery is precise for "
        "arbitrary networks.",
        must_occur=(CRASHED,),
    ),
    ACTIVE_STANDBY.design(
        "alone-silent",
        replace(LOST, alone=Alone.NOTHING),
        (
            cases.A_RELAY_SECONDARY.fails(4_925, 6, GAP),
            cases.A_UNION_SECONDARY.fails(98_432, 7, GAP, reduced=11_259),
        ),
        '"Until the secondary receives all determinants": a primary that is up sends nothing once '
        "its secondary is lost.",
        must_occur=(CRASHED,),
    ),
)
