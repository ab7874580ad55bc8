"""Designs of passive standby in chains of nodes: the guarantee at the end of the chain.

Rule of this file: rollback recovery, and one node behind another one; Table 2 is about the stream
that leaves the failed node, and here the application stands behind the next node.
Hwang et al., Section 3.1, "Propagation of Recovery Effects".
"""

from __future__ import annotations

from dataclasses import replace

from model import pair_scopes as cases
from model.core import Guarantee
from model.properties import at_least
from model.protocols.passive_standby.design import PUBLISHED, PassiveStandbyDesign
from model.protocols.passive_standby.family import ROLLBACK
from model.standbys.choices import NodeReturns

GAP, DIVERGENT = Guarantee.GAP, Guarantee.DIVERGENT
MENDED = PassiveStandbyDesign()
CHAINS = (
    ROLLBACK.design(
        "published-behind",
        replace(PUBLISHED, returns=NodeReturns.NEVER),
        (
            cases.TWO_NODES_THAT_RELAY.holds(163_316, DIVERGENT, reduced=10_189),
            cases.TWO_NODES_WINDOWS_BY_TIME.holds(
                2_690_957, DIVERGENT, quick=False, reduced=81_341
            ),
            cases.TWO_NODES.fails(319_061, 18, GAP, reduced=11_795),
        ),
        "A node behind the failed one pairs tuples with their copies in windows by count.",
        claims=DIVERGENT,
    ),
    ROLLBACK.design(
        "published-behind-again",
        PUBLISHED,
        (
            cases.TWO_NODES_THAT_RELAY_TWO_CRASHES.holds(
                None, DIVERGENT, quick=False, reduced=184_850
            ),
            cases.TWO_NODES_WINDOWS_BY_TIME_TWO_CRASHES.holds(
                None, DIVERGENT, quick=False, reduced=1_552_204
            ),
            cases.TWO_NODES_TWO_CRASHES.fails(None, 23, GAP, reduced=297_260),
        ),
        "The same after an earlier failure that is over.",
        claims=DIVERGENT,
    ),
    ROLLBACK.design(
        "rollback-behind",
        replace(MENDED, returns=NodeReturns.NEVER),
        (cases.TWO_NODES.fails(95_724, 15, GAP, reduced=8_994),),
        "A recovery type is that of the stream that the next node gets: windows by count there "
        "pair a tuple with its copy.",
        properties=(at_least(Guarantee.REPEATING),),
    ),
    ROLLBACK.design(
        "rollback-behind-again",
        MENDED,
        (
            cases.TWO_NODES_THAT_RELAY_TWO_CRASHES.holds(
                None, DIVERGENT, quick=False, reduced=109_409
            ),
            cases.TWO_NODES_WINDOWS_BY_TIME_TWO_CRASHES.holds(
                None, DIVERGENT, quick=False, reduced=630_301
            ),
            cases.TWO_NODES_TWO_CRASHES.fails(None, 23, GAP, reduced=136_780),
        ),
        "The same after an earlier failure that is over.",
        claims=DIVERGENT,
    ),
)
