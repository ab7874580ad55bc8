"""Upstream backup by acknowledgements: the parts that all designs share.

Claims are the paper's: Table 2 for rollback recovery, Section 6 for precise recovery.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import CRASHED, DISCARDED, REPLAYED, RESTORED, STALE, Guarantee, OperatorClass
from model.family import Family
from model.outages import OutageTerms, Since
from model.properties import NOTHING_LOST
from model.protocol import Assumptions, Behaviour, EndNeeds, Failures, SinkNeed, SourceNeed
from model.protocols.upstream_backup_acks import messages, nodes
from model.standbys.messages import REJOINED, TOOK_OVER

SINGLE = Assumptions(Failures.SINGLE)
SEEN = (CRASHED, TOOK_OVER, REPLAYED)
ALL = (*SEEN, RESTORED, REJOINED, DISCARDED, STALE)
TABLE_2 = {
    OperatorClass.REPEATABLE: Guarantee.REPEATING,
    OperatorClass.CONVERGENT_CAPABLE: Guarantee.CONVERGENT,
    OperatorClass.DETERMINISTIC: Guarantee.DIVERGENT,
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
    outage=OutageTerms(restart=False, read=False, again=Since.NEEDED),
    interval="acknowledge",
    ends=lambda _design: EndNeeds(SourceNeed.KEEPS, SinkNeed.REMEMBERS),
)
LETS_GO = replace(BEHAVIOUR, needed=nodes.needed)
"""Of designs that are also explored without crashes: no node keeps more than a restart needs."""
UPSTREAM_BACKUP_ACKS = Family(
    "upstream-backup-acks",
    "Upstream backup by acknowledgements",
    "Hwang et al., ICDE 2005, Sections 5.2 and 6",
    BEHAVIOUR,
    assumes=SINGLE,
    must_occur=SEEN,
)
ROLLBACK = replace(UPSTREAM_BACKUP_ACKS, claims=TABLE_2, properties=(NOTHING_LOST,))
"""Rollback recovery: nothing is lost."""
