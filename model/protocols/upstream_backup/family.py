"""Upstream backup with savepoints: the parts that all designs share.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from model.core import CHECKPOINTED, CRASHED, DISCARDED, REPLAYED, RESTORED, SPANNED
from model.family import Family
from model.outages import OutageTerms, Since
from model.protocol import Behaviour
from model.protocols.upstream_backup import design, display, nodes, states
from model.protocols.upstream_backup.need import needed

SEEN = (CRASHED, SPANNED, RESTORED, REPLAYED, DISCARDED, CHECKPOINTED)
BEHAVIOUR = Behaviour(
    nodes.deploy,
    nodes.boot,
    nodes.step,
    nodes.recover,
    gauges=states.gauges,
    memory=states.memory,
    states=states.operator_states,
    needed=partial(needed, True),
    show=display.show,
    size=display.size,
    quantities=(nodes.NOTICES, states.RETAINED),
    knobs=design.KNOBS,
    outage=OutageTerms(restart=True, read=False, again=Since.NEEDED),
)
WITHOUT_SKIPS = replace(BEHAVIOUR, needed=partial(needed, False))
"""The same, of designs that keep the events that no window uses."""
UPSTREAM_BACKUP = Family(
    "upstream-backup",
    "Upstream backup with savepoints",
    "Lima et al., Sections II and III",
    BEHAVIOUR,
    must_occur=SEEN,
)
