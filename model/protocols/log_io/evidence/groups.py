"""Evidence about writes in groups (Section 3.5.3, Algorithms 5 and 8).

Rule of this file: designs that change how groups are made, sent or checked, with the verdicts
expected of them, and one-line faults.
"""

from __future__ import annotations

from typing import Any

from model.evidence import Mutant
from model.protocols.log_io.design import Grouped, Groups, LogIoDesign, Transfer, WriteSupport
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import REPEATING, SEEN, build
from model.protocols.log_io.evidence.readings import STATUS_OF_GROUP
from model.protocols.log_io.quantities import PENDING

ANEW, IN_PARTS = Grouped.PENDING, Transfer.IN_PARTS
AGAIN = (*SEEN, PENDING)


def groups(writes: WriteSupport = WriteSupport.CHECKABLE, **changed: Any) -> LogIoDesign:
    return LogIoDesign(writes=writes, groups=Groups(**changed))


VARIANTS = (
    build(
        "groups",
        groups(),
        (
            scopes.TWO_WRITES_AN_INPUT.holds(3_487),
            scopes.BATCHES.holds(9_659),
            scopes.TWO_SINKS.holds(15_684),
        ),
        "The writes of an Output Set are a group, executed as a whole, acknowledged once and set "
        "to done in one transaction.",
    ),
    build(
        "groups-in-parts",
        groups(transfer=IN_PARTS),
        (scopes.TWO_WRITES_AN_INPUT.holds(3_745),),
        "A part of a group may be executed, if the external system says which writes of the group "
        "have taken effect.",
    ),
    build(
        "groups-in-parts-checked-as-a-whole",
        groups(transfer=IN_PARTS),
        (scopes.TWO_WRITES_AN_INPUT.fails(4_028, 6, REPEATING),),
        "The operator crashes between two writes of a group.  The group has not taken effect, "
        "and its first write has: it is executed twice.",
        AGAIN,
        readings=(STATUS_OF_GROUP,),
    ),
    build(
        "groups-anew",
        groups(grouped=ANEW, transfer=IN_PARTS),
        (
            scopes.TWO_WRITES_AN_INPUT.holds(3_769),
            scopes.TWO_WRITES_AN_INPUT_OF_THREE.holds(994),
        ),
        "Algorithm 8 takes all undone writes, so a group may have grown.  It need not be the one "
        "of before if the status is that of each write.",
    ),
    build(
        "groups-anew-checked-as-a-whole",
        groups(grouped=ANEW),
        (scopes.TWO_WRITES_AN_INPUT.fails(3_531, 10, REPEATING),),
        "The group that was executed has grown by a write, and the status of the grown group is "
        "no success: all of it is executed again.",
        AGAIN,
        readings=(STATUS_OF_GROUP,),
    ),
    build(
        "idempotent-groups",
        groups(WriteSupport.IDEMPOTENT),
        (scopes.TWO_WRITES_AN_INPUT.holds(3_269),),
        "Idempotent groups are enough if a group is executed as a whole, and again as it was.",
        AGAIN,
    ),
    build(
        "idempotent-groups-in-parts",
        groups(WriteSupport.IDEMPOTENT, transfer=IN_PARTS),
        (scopes.TWO_WRITES_AN_INPUT.fails(3_749, 6, REPEATING),),
        "Each write of the group is idempotent, and the group is not: w1 w2 w1 w2.",
        AGAIN,
    ),
    build(
        "idempotent-groups-anew",
        groups(WriteSupport.IDEMPOTENT, grouped=ANEW),
        (scopes.TWO_WRITES_AN_INPUT.fails(3_311, 9, REPEATING),),
        "A group that has grown is another action, and does not repeat the one before.",
        AGAIN,
    ),
    build(
        "plain-groups",
        groups(WriteSupport.PLAIN),
        (scopes.TWO_WRITES_AN_INPUT.fails(3_573, 6, REPEATING),),
        "A group that is neither checkable nor idempotent is executed twice.",
        AGAIN,
    ),
)
GROUPS = "model.protocols.log_io.writing.groups"
SURROUNDINGS = "model.protocols.log_io.surroundings"
MUTANTS = (
    Mutant(
        "one write of a group is done",
        GROUPS,
        "executed = Send(LOG, ExecutedGroup(sink, tuple(write.number for write in done)))",
        "executed = Send(LOG, ExecutedGroup(sink, (number,)))",
        "groups: two writes an input",
    ),
    Mutant(
        "the next group waits for ever",
        GROUPS,
        "return state, (*confirmed, executed, *_next(site, state, sink))",
        "return state, (*confirmed, executed)",
        "groups: two writes an input",
    ),
    Mutant(
        "a group does not wait for the one before",
        GROUPS,
        "idle = {row.receiver for row in rows} - {write.sink for write in state.pending}",
        "idle = {row.receiver for row in rows}",
        "groups: two writes an input",
    ),
    Mutant(
        "the next group goes with the one before",
        GROUPS,
        "pending = [write for write in pending if write.group == pending[0].group]",
        "pass",
        "idempotent-groups: two writes an input",
    ),
    Mutant(
        "the writes that are missing are executed but the first",
        SURROUNDINGS,
        "answer = MissingGroup(missing) if missing else Success(writes[-1].number)",
        "answer = MissingGroup(missing[1:]) if missing[1:] else Success(writes[-1].number)",
        "groups: two writes an input",
    ),
    Mutant(
        "a part of a group is forgotten",
        SURROUNDINGS,
        "after = state._replace(newest=visible)",
        "after = state if isinstance(message, GroupedWrite) else state._replace(newest=visible)",
        "groups-in-parts: two writes an input",
    ),
)
