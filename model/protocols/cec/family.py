"""Continuous eventual checkpointing: the parts that all designs share.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import CHECKPOINTED, CRASHED, RESTORED
from model.family import Family
from model.outages import OutageTerms, Since
from model.protocol import Behaviour
from model.protocols.cec import disk, messages, nodes
from model.protocols.cec.design import KNOBS
from model.protocols.cec.messages import G_OPEN_RECORDS, R_RECORDS

SEEN = (CRASHED, RESTORED, G_OPEN_RECORDS, R_RECORDS)
CHECKED = (*SEEN, CHECKPOINTED)
BEHAVIOUR = Behaviour(
    nodes.deploy,
    nodes.boot,
    nodes.step,
    nodes.recover,
    gauges=nodes.gauges,
    memory=nodes.memory,
    needed=nodes.needed,
    timers=nodes.TIMERS,
    background=frozenset({disk.WRITE}),
    show=messages.show,
    size=messages.size,
    states=messages.states,
    quantities=messages.QUANTITIES,
    knobs=KNOBS,
    outage=OutageTerms(restart=True, read=True, again=Since.NEEDED),
)
UNBOUNDED = replace(BEHAVIOUR, needed=None)
"""The same, of designs whose log lets go of more than a restart needs."""
CEC = Family(
    "cec",
    "Continuous eventual checkpointing",
    "Sebepou and Magoutis, CEC, 2011",
    BEHAVIOUR,
    must_occur=SEEN,
)
