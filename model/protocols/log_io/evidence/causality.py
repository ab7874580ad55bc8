"""Evidence about operators that read what an operator before them wrote (Section 3.5.1).

Rule of this file: designs that change when outputs are sent, with the verdicts expected of them,
and one-line faults.
"""

from __future__ import annotations

from model.core import CRASHED, RESTORED
from model.evidence import Mutant
from model.protocols.log_io.design import Groups, LogIoDesign, WriteSupport
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import GAP, build
from model.protocols.log_io.evidence.readings import OUTPUTS_FIRST, WRITES_FIRST

FAILED = (CRASHED, RESTORED)

VARIANTS = (
    build(
        "outputs-before-writes",
        LogIoDesign(),
        (scopes.A_READER_OF_WRITES.fails(3_022, 5, GAP),),
        "Algorithm 3 sends outputs first (step 5).  If the operator crashes before it writes (step "
        "6), its successor reads an external system that does not show the write.",
        FAILED,
        readings=(OUTPUTS_FIRST,),
    ),
    build(
        "writes-before-outputs",
        LogIoDesign(),
        (
            scopes.A_READER_OF_WRITES.fails(2_537, 7, GAP),
            scopes.A_READER_OF_WRITES_NO_CRASH.fails(70, 11, GAP),
        ),
        "Steps 5 and 6 reordered, as Section 3.5.1 says, in recovery as well.  A write may have to "
        "wait for the one before, or for its status, and the output does not.",
        FAILED,
        readings=(WRITES_FIRST,),
    ),
    build(
        "writes-in-groups-before-outputs",
        LogIoDesign(groups=Groups()),
        (scopes.A_READER_OF_WRITES_NO_CRASH.fails(70, 11, GAP),),
        "A group has to wait for the one before, too.",
        (),
        readings=(WRITES_FIRST,),
    ),
    build(
        "outputs-after-idempotent-writes",
        LogIoDesign(writes=WriteSupport.IDEMPOTENT),
        (
            scopes.A_READER_OF_WRITES.holds(1_419),
            scopes.A_READER_OF_TWO_WRITES.holds(1_324),
        ),
        "An output that waits for the success of the writes before it comes late enough, and after "
        "a restart as well.",
        FAILED,
    ),
)
WRITES = "model.protocols.log_io.writing.writes"
MUTANTS = (
    Mutant(
        "outputs wait for no write",
        WRITES,
        "after = frozenset(write[:2] for write in state.pending if write.sink in back)",
        "after = frozenset[tuple[NodeName, int]]()",
        "a reader of two writes",
    ),
    Mutant(
        "outputs wait for the first write",
        WRITES,
        "after = frozenset(write[:2] for write in state.pending if write.sink in back)",
        "after = frozenset(write[:2] for write in state.pending[:1])",
        "a reader of two writes",
    ),
    Mutant(
        "an output waits for ever",
        WRITES,
        "state, sent = _release(site, state._replace(pending=left))",
        "state, sent = state._replace(pending=left), ()",
        "a reader of two writes",
    ),
    Mutant(
        "the external system never shows a write",
        "model.protocols.log_io.surroundings",
        "shown = newest is not None and number <= newest.number",
        "shown = newest is not None and number < newest.number",
        "a reader of writes",
    ),
)
