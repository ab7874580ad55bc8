"""Designs of upstream backup by acknowledgements in chains: the guarantee at the end.

Rule of this file: rollback recovery, and one node behind another one; Table 2 is about the stream
that leaves the failed node, and here the application stands behind the next node.
Hwang et al., Section 3.1, "Propagation of Recovery Effects".
"""

from __future__ import annotations

from dataclasses import replace

from model import pair_scopes as cases
from model.core import Guarantee
from model.properties import COMPLETE
from model.protocols.upstream_backup_acks.design import (
    PRECISE,
    PUBLISHED,
    StreamsMapped,
    UpstreamBackupAcksDesign,
)
from model.protocols.upstream_backup_acks.family import ROLLBACK, UPSTREAM_BACKUP_ACKS
from model.standbys.choices import NodeReturns

GAP, DIVERGENT, REPEATING = Guarantee.GAP, Guarantee.DIVERGENT, Guarantee.REPEATING
MENDED = UpstreamBackupAcksDesign()
CHAINS = (
    ROLLBACK.design(
        "published-behind",
        replace(PUBLISHED, returns=NodeReturns.NEVER),
        (
            cases.TWO_NODES_THAT_RELAY.holds(388_302, DIVERGENT, reduced=13_021),
            cases.TWO_NODES_WINDOWS_BY_TIME.holds(None, DIVERGENT, quick=False, reduced=96_227),
            cases.TWO_NODES.fails(683_470, 22, GAP, reduced=16_932),
        ),
        "A node behind the failed one pairs tuples with their copies in windows by count.",
        claims=DIVERGENT,
    ),
    ROLLBACK.design(
        "published-behind-again",
        PUBLISHED,
        (
            cases.TWO_NODES_THAT_RELAY_TWO_CRASHES.holds(
                None, DIVERGENT, quick=False, reduced=157_689
            ),
            cases.TWO_NODES_WINDOWS_BY_TIME_TWO_CRASHES.fails(
                None, 43, GAP, quick=False, reduced=3_462_907
            ),
            cases.TWO_NODES_TWO_CRASHES.fails(None, 23, GAP, reduced=203_148),
        ),
        "What the restarted node makes again begins with what the next node has received, and that "
        "one needs earlier tuples for its windows when it fails, too.",
        claims=DIVERGENT,
    ),
    ROLLBACK.design(
        "rollback-behind",
        replace(MENDED, returns=NodeReturns.NEVER),
        (
            cases.TWO_NODES_THAT_RELAY.holds(179_932, DIVERGENT, reduced=8_529),
            cases.TWO_NODES_WINDOWS_BY_TIME.holds(None, DIVERGENT, reduced=45_749),
            cases.TWO_NODES.fails(248_812, 22, GAP, reduced=9_043),
        ),
        "A node behind the failed one pairs tuples with their copies in windows by count.",
        claims=DIVERGENT,
    ),
    ROLLBACK.design(
        "rollback-behind-again",
        MENDED,
        (
            cases.TWO_NODES_THAT_RELAY_TWO_CRASHES.holds(
                None, DIVERGENT, quick=False, reduced=86_364
            ),
            cases.TWO_NODES_WINDOWS_BY_TIME_TWO_CRASHES.holds(
                None, DIVERGENT, quick=False, reduced=886_144
            ),
            cases.TWO_NODES_TWO_CRASHES.fails(None, 23, GAP, reduced=101_079),
        ),
        "Level 1 follows level 1 from downstream: only windows that count copies lose tuples.",
        claims=DIVERGENT,
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "joins",
        PRECISE,
        (cases.A_JOIN_BY_TIME.fails(None, 26, REPEATING, reduced=50_326),),
        "The most recent tuple processed depends on the order of arrival, though the outputs do "
        "not: after a restart an output has a greater watermark than before, and comes twice.",
        properties=(COMPLETE,),
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "streams-acknowledged",
        replace(PRECISE, streams=StreamsMapped.ACKNOWLEDGED, returns=NodeReturns.NEVER),
        (cases.TWO_STREAMS.fails(105_968, 21, GAP, reduced=4_756),),
        "An output stream of which nothing is acknowledged has no mapping, and what it still needs "
        "is released by the other one.",
    ),
)
