"""What a node of continuous eventual checkpointing holds, counted.

Rule of this file: no step of a node.
Sebepou and Magoutis, CEC, 2011, Section II.B.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from model.boxes.panes import Pane, Panes
from model.costs import Amount
from model.parts import contents
from model.protocols.cec.messages import NodeState


def pane_contents(pane: Any) -> Amount:
    """What a window holds; of another operator than an aggregate the pane is the whole state."""
    if pane is None:
        return Amount(0, 1)
    return contents(Panes((pane,)) if isinstance(pane, Pane) else pane)


def extent(state: NodeState) -> int:
    """How many records a scan of the log would go through now."""
    oldest = min((window.at for window in state.windows), default=state.segments)
    recent = takewhile(lambda segment: segment.place >= oldest, reversed(state.disk.log))
    return sum(len(segment.records) for segment in recent)


def to_replay(state: NodeState) -> int:
    """How many tuples a restart would ask upstream for now, if stamps are places."""
    return max(0, state.stamp - min((window.foot for window in state.windows), default=state.stamp))
