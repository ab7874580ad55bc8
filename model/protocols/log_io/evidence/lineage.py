"""Evidence about lineage (3.1, 3.2, 3.5, 3.6).

Rule of this file: designs that change one thing, with the verdicts expected of them; no fault.
"""

from __future__ import annotations

from model.core import Guarantee, Quantity
from model.evidence import Mutant, PinnedScope
from model.patches import Change, Reading
from model.properties import AS_IF, COMPLETE
from model.protocol import Protocol
from model.protocols.log_io.design import (
    LineageCapture,
    LineageNames,
    LineageScope,
    LogIoDesign,
    OfState,
    OutputPort,
    Reads,
    Retention,
)
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import CHECKED, SEEN, build
from model.protocols.log_io.evidence.truth import (
    EXACT,
    Check,
    is_bodiless,
    is_idle,
    is_missing,
    lineage,
)
from model.protocols.log_io.measures import DONE
from model.protocols.log_io.quantities import READ_AGAIN, RESUMED

PRECISE = Guarantee.PRECISE
ALL: tuple[Check, ...] = (*EXACT, is_idle, is_bodiless)
TRUE = "at rest, lineage names exactly the inputs that were used, and no row is idle"
WHOLE = "at rest, lineage names all inputs that were used"
OF_LEFT = LineageScope(OutputPort("left"), OutputPort("op"))
EXAMPLE_5 = LineageScope(OutputPort("one"), OutputPort("three"))
OF_LINE = LineageScope(OutputPort("source"), OutputPort("second"))


def _variant(
    name: str,
    capture: LineageCapture,
    scopes: tuple[PinnedScope, ...],
    finding: str,
    must_occur: tuple[Quantity, ...] = SEEN,
    checks: tuple[Check, ...] = ALL,
    reads: Reads = Reads.REPLAYABLE,
    readings: tuple[Reading, ...] = (),
) -> Protocol:
    design = LogIoDesign(lineage=capture, reads=reads)
    words = WHOLE if checks == (is_missing,) else TRUE
    properties = (AS_IF, COMPLETE, DONE, lineage(design, words, *checks))
    return build(name, design, scopes, finding, must_occur, properties, readings)


RETAINED_CAPTURE = LineageCapture((OF_LINE,), retention=Retention(1))
ROWS = "model.protocols.log_io.lineage.rows"
RETENTION = "model.protocols.log_io.lineage.retention"
ASSIGNMENTS_GO = Reading(
    'Section 3.6: rows of EVENT_LOG "can be removed as soon as they are done", with their '
    "assignments",
    (
        Change(
            ROWS,
            "if capture.names is LineageNames.INSET:  # the join of 7.3 needs them",
            "if False:",
        ),
        Change(ROWS, "tables = tables._replace(assigned=_merged(tables.assigned, more, 4))", ""),
    ),
)
BODIES_OF_SENDERS = Reading(
    'Section 3.6: bodies stay of events whose "sender operator has its data lineage capture '
    'enabled for the ports on which the events are sent"',
    (
        Change(
            ROWS,
            "kept = ports.outs | ports.ins  # a path begins with an event on a port in IN",
            "kept = ports.outs",
        ),
    ),
)
ROW_OF_EACH = Reading(
    "Algorithm 3, step 4.5.b: a row for each output on a port in OUT",
    (
        Change(
            ROWS,
            """
            if not events and not more:  # 3.1: "if and only if"
                rows = ()
            """,
            "",
        ),
    ),
)
_PENDING = Change(
    RETENTION,
    """
    roots |= {row[:3] for row in tables.events if not row.done}  # they may still be used
    states = (row[:3] for row in tables.used if row.sender == row.receiver)
    roots |= within(states, 1)
    """,
    "",
)
BY_OUTPUT = Reading(
    'Section 3.6: lineage "is kept for the output events produced at port [end] within a sliding '
    'window", and for nothing else',
    (_PENDING,),
)
BY_ROW = Reading(
    "Section 3.6: each row by its own age: the newest ones of each port are kept",
    (
        _PENDING,
        Change(
            RETENTION,
            "return _only(tables, _behind(tables, roots))",
            "return _only(tables, within(keys, retention.outputs))",
        ),
    ),
)

CAPTURE = (
    _variant(
        "lineage",
        LineageCapture(),
        (
            scopes.A_RELAY.holds(3_487),
            scopes.BATCHES.holds(9_659),
            scopes.BATCHES_IN_TURN.holds(13_583),
            scopes.TWO_FUNCTIONS.holds(21_470),
            scopes.WINDOWS_AND_A_RELAY.holds(6_700),
            scopes.TWO_TYPES.holds(6_686),
            scopes.A_RELAY_AND_BATCHES.holds(34_975),
            scopes.TWO_SINKS.holds(13_757),
            scopes.A_SIDE_EFFECT_READ_AND_TWO_SINKS.holds(4_480),
            scopes.CRASHES_OF_THE_OPERATOR_ALONE.holds(8_075, quick=False),
            scopes.BATCHES_BY_TYPE.holds(60_154, quick=False),
            scopes.TWO_PORTS_THAT_RACE.holds(113_413, quick=False, reduced=64_061),
        ),
        "Rows of EVENT_LINEAGE name the inputs that were used, none is missing, and each event has "
        "its body, with crashes; so does the read action that was executed last (Algorithm 4).",
        CHECKED,
    ),
    _variant(
        "lineage-of-reads",
        LineageCapture(),
        (scopes.A_READ_AND_THREE_CRASHES.holds(17_207),),
        "Algorithm 1 has no row of lineage for an output of a source.  With one, each output has "
        "the read action that it comes from, though the source has restarted.",
        (*CHECKED, RESUMED, READ_AGAIN),
        reads=Reads.STORED,
    ),
    _variant(
        "lineage-collected",
        LineageCapture(),
        (scopes.A_RELAY.fails(3_487, 4, PRECISE),),
        "Section 3.6 removes done events from EVENT_LOG, and with them the assignments that the "
        "join of 7.3 needs: EVENT_LINEAGE names an Input Set that nothing is in.  The assignments "
        "of inputs on ports in IN have to stay.",
        readings=(ASSIGNMENTS_GO,),
    ),
    _variant(
        "lineage-by-events",
        LineageCapture(names=LineageNames.EVENTS),
        (
            scopes.A_RELAY.holds(3_487),
            scopes.BATCHES.holds(9_659),
            scopes.A_SIDE_EFFECT_READ_AND_TWO_SINKS.holds(4_480),
            scopes.TWO_FUNCTIONS_BY_TYPE.holds(12_846, quick=False),
        ),
        "Rows that name events instead of the Input Set need no row of EVENT_LOG; there is one for "
        "each pair of an output and an input.",
        CHECKED,
    ),
    _variant(
        "lineage-bodies-of-senders",
        LineageCapture(),
        (scopes.A_RELAY.fails(3_487, 4, PRECISE),),
        "Section 3.6 keeps bodies of events whose sender has capture enabled on their port.  A "
        "path begins at a port whose sender has not: the events that a full backward query ends "
        "at have no body.  Those on ports in IN have to stay, too.",
        readings=(BODIES_OF_SENDERS,),
    ),
    _variant(
        "lineage-scope",
        LineageCapture((OF_LEFT, EXAMPLE_5)),
        (
            scopes.TWO_PORTS.holds(8_733),
            scopes.TWO_PORTS_AND_BATCHES.holds(1_613),
            scopes.TWO_PATHS.holds(7_413),
        ),
        "With capture enabled for one of two ports, exactly its inputs are named; so are those of "
        "Example 5, with its two paths, one of them through two operators.",
    ),
    _variant(
        "lineage-of-each-output",
        LineageCapture((OF_LEFT,)),
        (
            scopes.TWO_PORTS.fails(8_733, 4, PRECISE),
            scopes.TWO_PORTS_AND_BATCHES.fails(1_613, 7, PRECISE),
        ),
        "Algorithm 3, step 4.5.b, makes a row for each output on a port in OUT, also if no input "
        "came in on a port in IN; Section 3.1 and Example 5 record nothing then.",
        readings=(ROW_OF_EACH,),
    ),
)
OF_STATE = (
    _variant(
        "lineage-of-state",
        LineageCapture(),
        (
            scopes.AN_AGGREGATE.fails(63_790, 7, PRECISE),
            scopes.A_CEP_OPERATOR.fails(58_020, 7, PRECISE),
        ),
        "What an operator took into its global state earlier is in an output too, and no row says "
        "so: lineage is that of the Input Set alone (Section 3.1).",
    ),
    _variant(
        "lineage-of-state-by-sets",
        LineageCapture(of_state=OfState.SETS),
        (
            scopes.AN_AGGREGATE_THAT_CRASHES_ONCE.holds(4_818),
            scopes.A_CEP_OPERATOR_THAT_CRASHES_ONCE.holds(4_479),
        ),
        "The state of Algorithm 3, step 2, is in the Input Set; if a row also says which Input Set "
        "and which state it was made of, no input is missing.",
        checks=(is_missing,),
    ),
    _variant(
        "lineage-of-state-exactly",
        LineageCapture(of_state=OfState.SETS),
        (
            scopes.AN_AGGREGATE_THAT_CRASHES_ONCE.fails(4_818, 10, PRECISE),
            scopes.A_CEP_OPERATOR_THAT_CRASHES_ONCE.fails(4_479, 11, PRECISE),
        ),
        "Lineage through states names all inputs that came before, also those of another window or "
        "that have left the state.  Only the function knows which ones it used.",
    ),
)
OF_FUNCTIONS = (
    _variant(
        "lineage-of-an-output-set",
        LineageCapture(),
        (scopes.BATCHES_APART.fails(2_437, 8, PRECISE),),
        "An Output Set of two events, each of one of two inputs: both have the Input Set for their "
        "lineage.  Section 7.3 guarantees that no relationship is there without a contribution.",
    ),
    _variant(
        "lineage-by-function",
        LineageCapture(names=LineageNames.FUNCTION),
        (
            scopes.BATCHES_APART.holds(2_437),
            scopes.AN_AGGREGATE_THAT_CRASHES_ONCE.holds(4_818),
            scopes.A_CEP_OPERATOR_THAT_CRASHES_ONCE.holds(4_479),
            scopes.A_SIDE_EFFECT_READ_AND_TWO_SINKS.holds(4_480),
        ),
        "If rows name the events that the function says it used, lineage is exact for Output Sets "
        "of several events and for global states, too.",
        CHECKED,
    ),
)
RETAINED = (
    _variant(
        "lineage-retained-by-row",
        RETAINED_CAPTURE,
        (
            scopes.A_RELAY_AND_A_BATCH.fails(6_141, 9, PRECISE),
            scopes.BATCHES_AND_A_RELAY.fails(3_253, 8, PRECISE),
        ),
        "Each row by its own age: the inputs of an output are older than it, and a path is cut in "
        "the middle.",
        readings=(BY_ROW,),
    ),
    _variant(
        "lineage-retained-by-output",
        RETAINED_CAPTURE,
        (
            scopes.TWO_RELAYS.fails(9_600, 5, PRECISE),
            scopes.BATCHES_AND_A_RELAY.fails(3_253, 8, PRECISE),
        ),
        "If only what is behind the outputs within the window is kept, rows of events that are "
        "still on their way to the end of the path are lost.",
        readings=(BY_OUTPUT,),
    ),
    _variant(
        "lineage-retained",
        RETAINED_CAPTURE,
        (
            scopes.TWO_RELAYS.holds(9_600),
            scopes.A_RELAY_AND_A_BATCH.holds(6_141),
            scopes.BATCHES_AND_A_RELAY.holds(3_253),
        ),
        "What is behind an undone event is kept, too: the lineage of the outputs within the window "
        "is whole.",
    ),
)
VARIANTS = (*CAPTURE, *OF_STATE, *OF_FUNCTIONS, *RETAINED)
MUTANTS: tuple[Mutant, ...] = ()
