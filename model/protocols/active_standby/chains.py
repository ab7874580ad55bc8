"""Designs of active standby in chains of nodes: the guarantee at the end of the chain.

Rule of this file: rollback recovery, and one node behind another one; Table 2 is about the stream
that leaves the failed node, and here the application stands behind the next node.
Hwang et al., Section 3.1, "Propagation of Recovery Effects".
"""

from __future__ import annotations

from dataclasses import replace

from model import pair_scopes as cases
from model.core import Guarantee
from model.protocols.active_standby.design import PUBLISHED, ActiveStandbyDesign
from model.protocols.active_standby.family import ROLLBACK
from model.standbys.choices import NodeReturns

GAP, DIVERGENT = Guarantee.GAP, Guarantee.DIVERGENT
MENDED = ActiveStandbyDesign()
CHAINS = (
    ROLLBACK.design(
        "published-behind",
        replace(PUBLISHED, returns=NodeReturns.NEVER),
        (
            cases.TWO_NODES_THAT_RELAY.holds(None, DIVERGENT, quick=False, reduced=194_706),
            cases.PAIRS_BEHIND_A_NODE.fails(196_617, 17, GAP, reduced=7_586),
        ),
        "A node behind the failed one pairs tuples with their copies in windows by count.",
        claims=DIVERGENT,
    ),
    ROLLBACK.design(
        "rollback-behind",
        replace(MENDED, returns=NodeReturns.NEVER),
        (
            cases.TWO_NODES_THAT_RELAY.holds(None, DIVERGENT, quick=False, reduced=111_628),
            cases.TWO_NODES.fails(None, 23, GAP, reduced=118_570),
        ),
        "A node behind the failed one pairs tuples with their copies in windows by count.",
        claims=DIVERGENT,
    ),
)
