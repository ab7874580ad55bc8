"""Passive standby: the parts that all designs share.

Claims are the paper's: Table 2 for rollback recovery, Section 6 for precise recovery.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import (
    CHECKPOINTED,
    CRASHED,
    DISCARDED,
    REPLAYED,
    RESTORED,
    STALE,
    Guarantee,
    OperatorClass,
)
from model.family import Family
from model.outages import OutageTerms, Since
from model.properties import NOTHING_LOST
from model.protocol import Assumptions, Behaviour, EndNeeds, Failures, SinkNeed, SourceNeed
from model.protocols.passive_standby import messages, nodes
from model.standbys.messages import REJOINED, TOOK_OVER

SINGLE = Assumptions(Failures.SINGLE)
SEEN = (CRASHED, TOOK_OVER, CHECKPOINTED)
ALL = (*SEEN, RESTORED, REJOINED, REPLAYED, DISCARDED, STALE)
TABLE_2 = {
    OperatorClass.REPEATABLE: Guarantee.REPEATING,
    OperatorClass.CONVERGENT_CAPABLE: Guarantee.REPEATING,
    OperatorClass.DETERMINISTIC: Guarantee.REPEATING,
    OperatorClass.ARBITRARY: Guarantee.DIVERGENT,
}
BEHAVIOUR = Behaviour(
    nodes.deploy,
    nodes.boot,
    nodes.step,
    nodes.recover,
    gauges=nodes.gauges,
    memory=nodes.memory,
    timers=nodes.TIMERS,
    show=messages.show,
    size=messages.size,
    states=messages.states,
    quantities=messages.QUANTITIES,
    outage=OutageTerms(restart=False, read=False, again=Since.CHECKPOINT),
    interval="checkpoint",
    ends=lambda _design: EndNeeds(SourceNeed.KEEPS, SinkNeed.REMEMBERS),
)
LETS_GO = replace(BEHAVIOUR, needed=nodes.needed)
"""Of designs that are also explored without crashes: no node keeps more than a restart needs."""
PASSIVE_STANDBY = Family(
    "passive-standby",
    "Passive standby",
    "Hwang et al., ICDE 2005, Sections 5.1 and 6",
    BEHAVIOUR,
    assumes=SINGLE,
    must_occur=SEEN,
)
ROLLBACK = replace(PASSIVE_STANDBY, claims=TABLE_2, properties=(NOTHING_LOST,))
"""Rollback recovery: nothing is lost."""
