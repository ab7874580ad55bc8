"""Designs of CEC that ask which closed windows a node keeps at rest.

Rule of this file: the design is the mended one; its output is explored elsewhere.
Sebepou and Magoutis, CEC, 2011, Section III: the background path checkpoints slow windows.  The
paper has no word on a key between two windows, whose footprint says when the next one opens.
"""

from __future__ import annotations

from model.boxes.aggregate import Aggregate
from model.core import Observation, Property, Scope, When
from model.properties import AS_IF, COMPLETE
from model.protocols.cec import scopes
from model.protocols.cec.design import MENDED
from model.protocols.cec.family import CEC
from model.protocols.cec.keyed import rests
from model.protocols.cec.messages import LoggedBox, NodeState


def _lets_go(scope: Scope, seen: Observation) -> bool:
    """Does each key with a closed window still have to remember when its next one opens?"""
    specs = scope.graph.specs
    for name, state in seen.states:
        box = specs[name].inner if isinstance(specs.get(name), LoggedBox) else None
        if isinstance(state, NodeState) and isinstance(box, Aggregate):
            turns = dict(state.turns)
            closed = [one.key for one in state.windows if one.pane is None]
            if not all(rests(box, turns.get(key)) for key in closed):
                return False
    return True


NO_CLOSED_WINDOW = Property(
    "at rest, no key keeps a closed window that nobody needs", When.QUIESCENT, _lets_go, nodes=True
)
CLOSED = (
    CEC.design(
        "closed-windows-checked",
        MENDED,
        (
            scopes.NO_CRASH_GAPS_BETWEEN_WINDOWS.holds(1_577),
            scopes.GAPS_BETWEEN_WINDOWS.holds(13_998),
        ),
        "With the background path, the closed window of a key goes once the next one may open.",
        properties=(AS_IF, COMPLETE, NO_CLOSED_WINDOW),
    ),
    CEC.design(
        "closed-windows-kept",
        MENDED,
        (scopes.GAPS_BETWEEN_WINDOWS_QUEUES_LET_GO.fails(12_850, 7),),
        "Without the background path, a key keeps its closed window, and upstream the tuples "
        "since.",
        properties=(AS_IF, COMPLETE, NO_CLOSED_WINDOW),
    ),
)
