"""The terms of the length of an outage, as a family has them.

Rule of this file: facts about a design alone; no time and no formula (sim.closed_form).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Since(Enum):
    """The time from which on a recovery processes events again."""

    NOTHING = "nothing is processed again"
    NEEDED = "the oldest event that is still needed"
    CHECKPOINT = "the last complete checkpoint"


class OutageTerms(NamedTuple):
    """The terms that apply when a node of a family crashes, besides the time of the detection.

    restart: the job waits until the node runs again; False: another node does the job from the
    detection on.  read: the state is read back, from a store or from another node.  again: the
    events since then are processed again.  backlog: the events of the outage are processed later;
    False: they are lost, or another node processes them meanwhile.
    """

    restart: bool
    read: bool
    again: Since
    backlog: bool = True


FROM_CHECKPOINT = OutageTerms(restart=True, read=True, again=Since.CHECKPOINT)
"""Of a node that restarts from its last complete checkpoint."""
