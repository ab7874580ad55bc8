"""Figure 2 of Hwang et al.: an output for each type of recovery.

Rule of this file: data, and the verdict of `model.recovery` on it.
"""

from __future__ import annotations

from model.boxes.box import Of, Out, bodies
from model.core import Guarantee
from model.events import Body
from model.recovery import beside, classify
from model.results.classes import RecoveryTypeResult

EXPECTED = "t1 t2 t3 t4 t5 t6"
OUTPUTS = {
    Guarantee.PRECISE: ("t1 t2 t3", "t4 t5 t6"),
    Guarantee.GAP: ("t1 t2 t3", "t5 t6"),
    Guarantee.REPEATING: ("t1 t2 t3", "t2 t3 t4 t5 t6"),
    Guarantee.CONVERGENT: ("t1 t2 t3", "t2' t3' t4 t5 t6"),
    Guarantee.DIVERGENT: ("t1 t2 t3", "t2' t3' t4' t5' t6'"),
}
"""Before and after the failure.  The paper goes on with dots; here t5 and t6 follow."""


def tuples(text: str) -> list[Out]:
    """Tuple tn is made of input n alone, and so is tn'."""
    return [
        Out(Body(int(name[1]), name), frozenset([Of(0, int(name[1]))])) for name in text.split()
    ]


def rows() -> tuple[RecoveryTypeResult, ...]:
    """Each output with the type that the paper gives it, the type found, and the one by values
    alone."""
    expected = tuples(EXPECTED)
    found = []
    for paper, (before, after) in OUTPUTS.items():
        observed = tuples(before) + tuples(after)
        types = beside(expected, observed), classify(bodies(expected), bodies(observed))
        found.append(RecoveryTypeResult(paper, before, after, *types))
    return tuple(found)
