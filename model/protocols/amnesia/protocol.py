"""Amnesia: a node that crashes restarts empty; the baseline of what protection costs.

Jeong-Hyon Hwang et al.: "High-Availability Algorithms for Distributed Stream Processing", ICDE
2005, Section 4.

Rule of this file: no behaviour (model.protocols.amnesia.nodes); only the protocol and its evidence.
"""

from __future__ import annotations

from model.core import CRASHED, SPANNED, Guarantee
from model.evidence import Mutant
from model.family import Family
from model.outages import OutageTerms, Since
from model.protocol import Behaviour
from model.protocols.amnesia import nodes
from model.protocols.amnesia.nodes import STATES_RESET
from model.protocols.amnesia.scopes import SCOPES

NODES = "model.protocols.amnesia.nodes"
MUTANTS = (
    Mutant(
        "no watermarks",
        NODES,
        "effects += (Send(succ, Mark(marked)) for succ in site.config)",
        "effects += ()",
        "nothing fails, a merge",
    ),
    Mutant(
        "a watermark too far",
        NODES,
        "effects += (Send(succ, Mark(marked)) for succ in site.config)",
        "effects += (Send(succ, Mark(marked + 2)) for succ in site.config)",
        "nothing fails, a merge",
    ),
    Mutant(
        "take events as they arrive",
        NODES,
        "while (edge_ready := ready(inlets)) is not None:",
        "while (edge_ready := edge if inlets[edge].queue else None) is not None:",
        "nothing fails, two sources",
    ),
)

BEHAVIOUR = Behaviour(
    nodes.deploy,
    nodes.boot,
    nodes.step,
    nodes.recover,
    gauges=nodes.gauges,
    memory=nodes.memory,
    show=nodes.show,
    size=nodes.size,
    states=nodes.states,
    quantities=(STATES_RESET,),
    outage=OutageTerms(restart=True, read=False, again=Since.NOTHING, backlog=False),
)
AMNESIA = Family(
    "amnesia",
    "Amnesia",
    "Hwang et al., ICDE 2005, Section 4",
    BEHAVIOUR,
    claims=Guarantee.GAP,
    protects=False,
)
PROTOCOL = AMNESIA.design(
    "",
    None,
    SCOPES,
    "A crash loses what the node held and what comes until it is back: gap recovery.  "
    "Amnesia is the baseline of costs: a run without any protection.",
    must_occur=(CRASHED, SPANNED, STATES_RESET),
    mutants=MUTANTS,
)
