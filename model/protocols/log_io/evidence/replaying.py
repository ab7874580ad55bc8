"""Evidence about replay operators and optimistic logging (Algorithms 10 and 11).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import CRASHED, RESTORED, Guarantee
from model.evidence import Mutant
from model.properties import AS_IF, COMPLETE
from model.protocols.log_io.design import Garbage, LineageCapture, LogIoDesign, Logs, Replaying
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import build
from model.protocols.log_io.evidence.replay_readings import (
    ACCEPTS_ANY,
    ASSIGNS_AGAIN,
    AT_FAILURE,
    BY_STATE,
    DISCARDS_OTHERS,
    GONE_UNNOTICED,
    KEEPS_NOTHING,
    KEEPS_WHILE_LOGGED,
    LATEST_STATE,
    OLD_MARKS,
    RESET_BY_SENDER,
    ROWS_LATER,
    RUNNING_DISCARDS,
    WHOLE_SETS,
)
from model.protocols.log_io.evidence.truth import EXACT, is_bodiless, lineage
from model.protocols.log_io.measures import COLLECTED, DONE
from model.protocols.log_io.quantities import LACKED, REGENERATED

GAP = Guarantee.GAP
FIRST = Replaying(frozenset({"first"}))
TWO = Replaying(frozenset({"first", "second"}))
HELD = (AS_IF, COMPLETE, DONE, COLLECTED)
TRUE = "at rest, lineage names exactly the inputs that were used"
TRACED = LogIoDesign(replaying=FIRST, lineage=LineageCapture())
TRACED_TWO = LogIoDesign(replaying=TWO, lineage=LineageCapture())
SEEN = (CRASHED, RESTORED, LACKED, REGENERATED)
PUBLISHED = (
    AT_FAILURE,
    BY_STATE,
    WHOLE_SETS,
    RESET_BY_SENDER,
    LATEST_STATE,
    DISCARDS_OTHERS,
    RUNNING_DISCARDS,
    ACCEPTS_ANY,
    ASSIGNS_AGAIN,
    KEEPS_WHILE_LOGGED,
    OLD_MARKS,
    GONE_UNNOTICED,
)
"""Word by word."""

VARIANTS = (
    build(
        "replay",
        LogIoDesign(replaying=FIRST),
        (
            scopes.TWO_RELAYS.holds(12_329),
            scopes.ONE_BATCH_AND_A_RELAY.holds(3_655),
            scopes.A_RELAY_AND_A_BATCH.holds(8_400),
            scopes.BATCHES_IN_TURN_AND_A_RELAY.holds(38_227),
            scopes.BATCHES_BY_TYPE_TWICE.holds(9_118),
            scopes.TWO_FUNCTIONS_AND_A_RELAY.holds(21_876),
            scopes.TWO_RECEIVERS.holds(7_306),
            scopes.A_RELAY_THAT_WRITES.holds(33_481),
            scopes.WINDOWS_AND_A_RELAY.holds(7_584),
            scopes.WINDOWS_OF_ONE_EVENT_AND_A_RELAY.holds(5_056),
        ),
        "The first operator logs no data of its outputs, and generates them again when somebody "
        "lacks them (Algorithms 10 and 11).",
        SEEN,
        HELD,
    ),
    build(
        "replay-chains",
        LogIoDesign(replaying=TWO),
        (
            scopes.THREE_RELAYS_AND_AN_EVENT.holds(3_551),
            scopes.THREE_RELAYS_AND_A_CRASH.holds(1_906),
            scopes.THREE_OPERATORS_AND_A_BATCH.holds(13_112),
            scopes.TWO_RELAYS_THAT_MEET.holds(15_046),
            scopes.THREE_RELAYS.holds(75_432, quick=False),
        ),
        "Two operators that log no data, one after the other or side by side: the second one needs "
        "the first to generate its outputs again.",
        SEEN,
        HELD,
    ),
    build(
        "replay-lineage",
        TRACED,
        (
            scopes.TWO_RELAYS.holds(12_329),
            scopes.ONE_BATCH_AND_A_RELAY.holds(3_655),
            scopes.BATCHES_BY_TYPE_TWICE.holds(9_118),
        ),
        "Outputs that are generated again have the lineage row of the first time.",
        SEEN,
        (*HELD, lineage(TRACED, TRUE, *EXACT)),
    ),
    build(
        "replay-chains-lineage",
        TRACED_TWO,
        (scopes.THREE_RELAYS_AND_AN_EVENT.holds(3_551),),
        "Lineage has the inputs that are deleted when their data has come, and when a restart "
        "clears marks.",
        SEEN,
        (*HELD, lineage(TRACED_TWO, TRUE, *EXACT, is_bodiless)),
    ),
    build(
        "replay-published",
        LogIoDesign(replaying=FIRST),
        (scopes.TWO_RELAYS.fails(21_161, 6, GAP),),
        "Word by word.  A replay operator that restarts sends its unassigned outputs as replayed "
        "events, and the next operator, which is running, discards these.",
        (CRASHED, RESTORED, REGENERATED),
        readings=PUBLISHED,
    ),
    build(
        "replay-asked-at-failure",
        LogIoDesign(replaying=FIRST),
        (scopes.TWO_RELAYS.fails(20_282, 8, GAP),),
        "The engine has the replay operator look for marked outputs when the next operator fails, "
        "and that one marks them after it has restarted: nothing is found, and it waits for ever.",
        SEEN,
        readings=(AT_FAILURE,),
    ),
    build(
        "replay-by-state",
        LogIoDesign(replaying=FIRST),
        (scopes.TWO_RELAYS.fails(12_348, 9, GAP),),
        "A replay operator that fails while another one waits for it restarts in state restarted, "
        "and forgets the marked outputs (Algorithm 10, step 2).",
        SEEN,
        readings=(BY_STATE,),
    ),
    build(
        "replay-of-whole-sets",
        LogIoDesign(replaying=FIRST, garbage=Garbage.NEVER),
        (scopes.TWO_RECEIVERS.fails(9_640, 11, Guarantee.REPEATING),),
        "The outputs of an Input Set go to two operators.  One needs its event again, and both "
        "events are undone then: the other operator takes its own twice after a restart "
        "(Algorithm 10, step 4.2; Example 10).",
        SEEN,
        readings=(WHOLE_SETS,),
    ),
    build(
        "replay-reset-by-sender",
        LogIoDesign(replaying=FIRST),
        (scopes.TWO_RELAYS.fails(12_474, 10, GAP),),
        "The sender sets the status of a marked output to undone before it sends the output, and "
        "fails in between: nobody knows that it is still wanted.",
        SEEN,
        readings=(RESET_BY_SENDER,),
    ),
    build(
        "replay-in-latest-state",
        LogIoDesign(replaying=FIRST),
        (scopes.BATCHES_IN_TURN_AND_A_RELAY.fails(35_712, 5, GAP),),
        "An Input Set is replayed over the latest global state (Algorithm 11, step 2), and that "
        "is not the one from which its outputs were generated.",
        (CRASHED, RESTORED, LACKED),
        readings=(LATEST_STATE,),
    ),
    build(
        "replay-discards",
        LogIoDesign(replaying=TWO),
        (scopes.TWO_RELAYS_THAT_MEET.fails(13_068, 12, GAP),),
        "An operator that waits for two replay operators discards what the first one sends after "
        "its replayed events (Algorithm 11, step 4.a), and nobody sends it again.",
        SEEN,
        readings=(DISCARDS_OTHERS,),
    ),
    build(
        "replay-not-filtered",
        LogIoDesign(replaying=FIRST),
        (scopes.TWO_RELAYS.fails(12_578, 6, GAP),),
        'An operator in state "running" discards replayed events (5.2); Example 10 filters '
        "obsolete ones instead.",
        (CRASHED, RESTORED, REGENERATED),
        readings=(RUNNING_DISCARDS,),
    ),
    build(
        "replay-accepts-any",
        LogIoDesign(replaying=FIRST),
        (scopes.TWO_RELAYS.fails(12_426, 12, GAP),),
        "An operator that waits for some replayed event accepts each one without filtering, also "
        "one that it has taken.",
        SEEN,
        readings=(ACCEPTS_ANY,),
    ),
    build(
        "replay-assigns-again",
        LogIoDesign(replaying=FIRST),
        (scopes.A_RELAY_AND_TWO_FUNCTIONS_AND_A_CRASH.fails(927, 10, GAP),),
        "A replayed event goes through the State Update phase (Algorithm 11, step 4.a) and into "
        "all Input Sets of its operator, also into one that was done.",
        SEEN,
        readings=(ASSIGNS_AGAIN,),
    ),
    build(
        "replay-without-inputs",
        LogIoDesign(replaying=FIRST),
        (scopes.TWO_RELAYS.fails(10_190, 5, GAP),),
        'Section 3.6 has "an exception" to the deletion of done events for replay operators, and '
        "Section 5 does not say which: their inputs are needed.",
        (CRASHED, RESTORED, LACKED),
        readings=(KEEPS_NOTHING,),
    ),
    build(
        "replay-keeps-while-logged",
        LogIoDesign(replaying=TWO),
        (scopes.THREE_RELAYS_AND_A_CRASH.fails(2_045, 15, GAP),),
        "An input is kept while an output made of it is logged.  That output is taken while the "
        "operator waits for the input's data, and the data never comes.",
        SEEN,
        readings=(KEEPS_WHILE_LOGGED,),
    ),
    build(
        "replay-gone-unnoticed",
        LogIoDesign(replaying=TWO),
        (scopes.THREE_RELAYS_AND_A_CRASH.fails(1_866, 15, GAP),),
        "The output is taken between the answer of the log and the transaction that marks the "
        "input: the row is gone, and the operator waits for it.",
        SEEN,
        readings=(GONE_UNNOTICED,),
    ),
    build(
        "replay-old-marks",
        LogIoDesign(replaying=TWO),
        (scopes.THREE_RELAYS_AND_AN_EVENT.fails(3_648, 11, Guarantee.PRECISE),),
        "A mark of a life before stays for ever, and its event with it.",
        SEEN,
        readings=(OLD_MARKS,),
    ),
    build(
        "replay-arbitrary",
        LogIoDesign(replaying=FIRST),
        (scopes.A_RACE_AND_TWO_RECEIVERS.fails(1_417, 10, GAP),),
        "A replay operator has to be deterministic (5.1): with two inputs that race, two receivers "
        "see two orders.",
        SEEN,
    ),
    build(
        "optimistic",
        LogIoDesign(replaying=replace(FIRST, logs=Logs.DATA)),
        (
            scopes.TWO_RELAYS.holds(12_613),
            scopes.TWO_RECEIVERS.holds(7_768),
            scopes.BATCHES_IN_TURN_AND_A_RELAY.holds(38_110, quick=False),
        ),
        "Optimistic logging: outputs are sent before their data is logged, and generated again if "
        "a crash comes in between (5.2).",
        SEEN,
        HELD,
    ),
    build(
        "optimistic-rows",
        LogIoDesign(replaying=FIRST),
        (scopes.A_RELAY_AND_A_BATCH.fails(7_044, 7, GAP),),
        "If the whole transaction comes after the outputs, a receiver acknowledges an event that "
        "is not logged; the row that is logged later is unassigned, and if the receiver crashes, "
        "nobody sends the event again.",
        (CRASHED, RESTORED),
        readings=(ROWS_LATER,),
    ),
)
OPERATORS = "model.protocols.log_io.replaying.operators"
DATABASE = "model.protocols.log_io.replaying.log"
ENGINE = "model.protocols.log_io.replaying.engine"
ROWS = "model.protocols.log_io.lineage.rows"
STATES = "model.protocols.log_io.states"
GENERATION = "model.protocols.log_io.operators.generation"
MUTANTS = (
    Mutant(
        "an event stays marked",
        OPERATORS,
        "return state, (Send(LOG, Reset((key,))), *effects)",
        "return state, effects",
        "replay: a relay and a batch",
    ),
    Mutant(
        "the data of an input is not for its Input Set",
        OPERATORS,
        "return row._replace(body=event.body) if row.key == key else row",
        "return row",
        "replay: two relays",
    ),
    Mutant(
        "Input Sets are replayed from the last one on",
        OPERATORS,
        "effects += _generate_again(site, again.pop(0))",
        "effects += _generate_again(site, again.pop())",
        "replay-chains: three relays",
    ),
    Mutant(
        "the first input of an Input Set triggers its replay",
        OPERATORS,
        "*others, last = items",
        "last, *others = items",
        "replay: one batch and a relay",
    ),
    Mutant(
        "an operator marks what it lacks and asks nobody",
        OPERATORS,
        "return (*note(LACKED, len(keys)), Send(LOG, Mark(keys)), Send(ENGINE, asked))",
        "return (*note(LACKED, len(keys)), Send(LOG, Mark(keys)))",
        "replay: two relays",
    ),
    Mutant(
        "what nobody wants any more is waited for",
        OPERATORS,
        "return _replay_ready(site, state._replace(again=tuple(again)))",
        "return _replay_ready(site, state)",
        "replay-chains: three relays and a crash",
    ),
    Mutant(
        "one of several replay operators is asked",
        ENGINE,
        "return None, tuple(Send(name, Regenerate()) for name in operators)",
        "return None, tuple(Send(name, Regenerate()) for name in operators[:1])",
        "replay-chains: two relays that meet",
    ),
    Mutant(
        "a restart clears everybody's marks",
        DATABASE,
        "keys = (row.key for row in tables.events if row.receiver == node and row.replay)",
        "keys = (row.key for row in tables.events if row.replay)",
        "replay: two relays",
    ),
    Mutant(
        "the inputs of replay operators stay for ever",
        DATABASE,
        "left = tuple(",
        "left = tables.events or tuple(",
        "replay-chains: three relays and a crash",
    ),
    Mutant(
        "lineage lacks an input that is deleted when its data has come",
        ROWS,
        "case Executed() | ExecutedGroup() | Reset() | Restore():  # they may delete rows, too",
        "case Executed() | ExecutedGroup() | Restore():",
        "replay-chains-lineage: three relays and an event",
    ),
    Mutant(
        "lineage lacks an input that a restart deletes",
        ROWS,
        "case Executed() | ExecutedGroup() | Reset() | Restore():  # they may delete rows, too",
        "case Executed() | ExecutedGroup() | Reset():",
        "replay-chains-lineage: three relays and an event",
    ),
    Mutant(
        "the state of an Input Set is that after it",
        GENERATION,
        "made = _made(site, before, commit)",
        "made = _made(site, state, commit)",
        "replay: batches in turn and a relay",
    ),
    Mutant(
        "a replay operator does not log the data of writes",
        "model.protocols.log_io.replaying.generation",
        "bare = tuple(row if row.receiver in sinks else row._replace(body=None) for row in rows)",
        "bare = tuple(row._replace(body=None) for row in rows)",
        "replay: a relay that writes",
    ),
    Mutant(
        "inputs overtake a replay",
        STATES,
        "return waits or self.lacks or bool(self.again)",
        "return waits or self.lacks",
        "replay-chains: three relays and a crash",
    ),
    Mutant(
        "an operator does not wait for the data of its inputs",
        STATES,
        "return waits or self.lacks or bool(self.again)",
        "return waits or bool(self.again)",
        "replay: two relays",
    ),
)
