"""Evidence about an operator with one function whose Input Sets overlap (Examples 4 and 7; 3.5.1).

Rule of this file: readings and one-line faults that concern such an operator alone.
"""

from __future__ import annotations

from model.evidence import Mutant
from model.protocols.log_io.design import LogIoDesign, OneTransaction
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import FAILED, GAP, build
from model.protocols.log_io.evidence.readings import ROWS_ALONE, SETS_ALONE, TRIGGERS_AGAIN

VARIANTS = (
    build(
        "sets-alone",
        LogIoDesign(),
        (
            scopes.WINDOWS_OF_ONE_EVENT.fails(47, 6, GAP),
            scopes.WINDOWS_OF_HOURS.fails(31_345, 6, GAP, quick=False),
        ),
        "An input completes two windows, and the first one has a transaction of its own.  After a "
        "crash the input has been seen, so it triggers nothing, and nobody asks for the second "
        "window again.  One transaction for all Input Sets that an input completes.",
        FAILED,
        readings=(SETS_ALONE,),
    ),
    build(
        "rows-alone",
        LogIoDesign(),
        (scopes.WINDOWS_OF_ONE_EVENT.fails(39, 5, GAP),),
        "An input has a row for each of its windows.  Replayed row by row, the first row triggers, "
        "and for the next ones the input has been seen.",
        FAILED,
        readings=(ROWS_ALONE,),
    ),
    build(
        "sets-alone-and-triggers",
        LogIoDesign(),
        (
            scopes.WINDOWS_OF_ONE_EVENT.holds(43),
            scopes.WINDOWS_OF_HOURS.holds(28_846),
            scopes.WINDOWS_OF_THREE_EVENTS.holds(16_750, quick=False),
        ),
        "As published: a transaction for each window, and each replayed row triggers again.  For "
        "windows of hours that is right, since the condition depends on no global state.",
        FAILED,
        readings=(SETS_ALONE, ROWS_ALONE, TRIGGERS_AGAIN),
    ),
    build(
        "one-transaction-of-an-input",
        LogIoDesign(together=OneTransaction.OF_INPUT),
        (
            scopes.TWO_FUNCTIONS.holds(20_771),
            scopes.COUNTED_BY_TWO_FUNCTIONS.holds(3_013),
            scopes.COUNTED_BY_THE_SECOND_FUNCTION.holds(5_945),
            scopes.TWO_PORTS_COUNTED_BY_TWO_FUNCTIONS.holds(1_524),
            scopes.TWO_PORTS_AND_TWO_FUNCTIONS.holds(657),
            scopes.WINDOWS_AND_A_RELAY.holds(6_958),
        ),
        "One transaction for all Input Sets that an input completes, of all functions: the context "
        "need not say which of them have seen the input.  The library does so.",
        FAILED,
    ),
)
LOG = "model.protocols.log_io.log"
OPERATOR = "model.protocols.log_io.operators.operator"
REPLAYING = "model.protocols.log_io.replaying.operators"
LOGIC = "model.protocols.log_io.operators.logic"
GENERATION = "model.protocols.log_io.operators.generation"
MUTANTS = (
    Mutant(
        "the context of the first functions is stored",
        GENERATION,
        "context = context_of(site, state)._replace(newest=BY_ALL)",
        "context = parts[-1].context._replace(newest=BY_ALL)",
        "one-transaction-of-an-input: counted by the second function",
    ),
    Mutant(
        "a restart has a transaction for each function",
        OPERATOR,
        "while state.held and _is_of(state.held[0], row):",
        "while False:",
        "one-transaction-of-an-input: two functions",
    ),
    Mutant(
        "one of the Input Sets that an input completes is done",
        LOG,
        "for part in message.parts:",
        "for part in message.parts[:1]:",
        "windows and a relay",
    ),
    Mutant(
        "the context of the first Input Set is stored last",
        LOG,
        "for part in message.parts:",
        "for part in message.parts[::-1]:",
        "windows and a relay",
    ),
    Mutant(
        "an event is in the first of its windows alone",
        OPERATOR,
        "return tuple(site.spec.logic.insets(key))",
        "return tuple(site.spec.logic.insets(key[:1]))",
        "windows and a relay",
    ),
    Mutant(
        "a replayed event goes into windows that are done",
        OPERATOR,
        "mine = tuple(one for one, inset in numbered if inset in insets)",
        "mine = key",
        "windows and a relay",
    ),
    Mutant(
        "the rows of a replayed event are taken again",
        OPERATOR,
        "return state._replace(held=state.held[len(others) :]), mine",
        "return state, mine",
        "windows and a relay",
    ),
    Mutant(
        "the rows of other events are of the replayed one",
        OPERATOR,
        "return isinstance(held, LoggedEvent) and held.key == row.key",
        "return isinstance(held, LoggedEvent)",
        "windows of three events",
    ),
    Mutant(
        "a window that is generated again has the records of one event",
        REPLAYING,
        "state = logic.gather(state, item, (key,))",
        "state = logic.gather(logic.begin(1), item, (key,))",
        "replay: windows and a relay",
    ),
    Mutant(
        "the number of a window is that of the one before",
        LOGIC,
        "return Moment(inset - 1)",
        "return Moment(inset - 2)",
        "replay: windows of one event and a relay",
    ),
)
