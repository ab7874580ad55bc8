"""Amnesia: a node that crashes restarts empty; the baseline of what protection costs.

Jeong-Hyon Hwang et al.: "High-Availability Algorithms for Distributed Stream Processing", ICDE
2005, Section 4.

Rule of this file: no behaviour (model.protocols.amnesia.nodes); only the protocol and its evidence.
"""

from __future__ import annotations

from model.core import (
    CRASHED,
    SPANNED,
    Assumptions,
    Failures,
    Guarantee,
    Mutant,
    Protocol,
)
from model.properties import AS_IF, COMPLETE
from model.protocols.amnesia.nodes import (
    RESET,
    boot,
    deploy,
    gauges,
    memory,
    recover,
    show,
    size,
    step,
)
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

PROTOCOL = Protocol(
    name="amnesia",
    title="Amnesia",
    source="Hwang et al., ICDE 2005, Section 4",
    deploy=deploy,
    boot=boot,
    recover=recover,
    step=step,
    gauges=gauges,
    show=show,
    size=size,
    memory=memory,
    assumes=Assumptions(Failures.ANY),
    claims=dict.fromkeys((one.operators for one in SCOPES), Guarantee.GAP),
    properties=(AS_IF, COMPLETE),
    scopes=SCOPES,
    must_occur=(CRASHED, SPANNED, RESET),
    quantities=(RESET,),
    protects=False,
    finding="A crash loses what the node held and what comes until it is back: gap recovery.  "
    "Amnesia is the baseline of costs: a run without any protection.",
    mutants=MUTANTS,
)
