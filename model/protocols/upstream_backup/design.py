"""The choices of upstream backup, and the share of them that each node gets at its start.

Rule of this file: a choice is a field of UpstreamBackupDesign; no step of a node.

Lima et al., sections at the fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from model.core import (
    NodeName,
)
from model.protocol import Knob
from model.protocols.upstream_backup.savepoints import (
    Scheme,
)


@dataclass(frozen=True, slots=True)
class UpstreamBackupDesign:
    """Choices about the distribution of recovery data.

    ancestors: savepoints are replicated in all ancestors (II-C), else in predecessors alone.
    notice_every: send a skip notice after so many skipped events (Section IV, last paragraph);
    None: skip ranges travel with savepoints only.
    """

    scheme: Scheme = Scheme()
    ancestors: bool = True
    notice_every: int | None = None


KNOBS = (
    Knob(
        "ancestors",
        "",
        "Savepoints are replicated in all ancestors of an operator; false: in its predecessors "
        "alone, which loses events if neighbours crash together.",
        ((True, True), (False, False)),
    ),
    Knob(
        "notice_every",
        "events",
        "A skip notice is sent after so many skipped events; without it, skip ranges travel with "
        "savepoints only.",
    ),
)


class UpstreamBackupConfig(NamedTuple):
    """The configuration of a node.

    marking: for each successor, whether the successor needs watermarks.  reach: for each successor,
    its name and the names of all nodes below it.
    """

    design: UpstreamBackupDesign
    marking: tuple[bool, ...]
    reach: tuple[frozenset[NodeName], ...]
