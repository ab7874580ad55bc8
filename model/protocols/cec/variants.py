"""Continuous eventual checkpointing as published, and with one choice less mended.

Rule of this file: no design without the verdict that is expected of it.  Each variant but the
published one differs from the mended protocol in one choice, so each mend is needed.
Sebepou and Magoutis, CEC, 2011.
"""

from __future__ import annotations

from model.core import Guarantee
from model.protocols.cec import scopes
from model.protocols.cec.closed import CLOSED
from model.protocols.cec.design import (
    PUBLISHED,
    Background,
    Bound,
    CatchUp,
    CecDesign,
    Checked,
    Closed,
    Content,
    CutRecords,
    Damage,
    Empty,
    Forward,
    Identity,
    IndexRepair,
    InputTrim,
    Interleaving,
    Load,
    LogTrim,
    Position,
    Unstored,
    WindowCount,
    WindowPhase,
    WriteUnit,
)
from model.protocols.cec.family import CEC, CHECKED, UNBOUNDED
from model.queues import Stamp

GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT

VARIANTS = (
    CEC.design(
        "published",
        PUBLISHED,
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(9_286, 8, GAP),
            scopes.WINDOWS_OF_TWO_TUPLES.fails(12_366, 13, GAP),
            scopes.EQUAL_TIMES_OF_ONE_KEY.fails(3_252, 9, GAP),
            scopes.BACKGROUND.fails(6_040, 13, GAP),
            scopes.OUTSTANDING_WRITES_OF_ONE_KEY.fails(1_871, 15, GAP),
            scopes.WINDOWS_OF_ONE_KEY_BY_TIME.fails(2_445, 12, GAP),
            scopes.SLIDING_WINDOWS.fails(7_636, 14, GAP),
            scopes.A_FILTER_UPSTREAM.fails(6_233, 13, GAP),
            scopes.AN_AGGREGATE_OF_AN_AGGREGATE.fails(3_667, 12, GAP),
            scopes.A_JOIN.fails(5_036, 11, GAP),
            scopes.A_UNION.fails(8_169, 11, GAP),
        ),
        "Every choice in the reading nearest to the paper's words: results are lost in every kind "
        "of window.",
        behaviour=UNBOUNDED,
    ),
    CEC.design(
        "count-on-checkpoints",
        CecDesign(count=WindowCount.CHECKPOINTS),
        (
            scopes.WINDOWS_OF_TWO_TUPLES.holds(10_380),
            scopes.FIVE_TUPLES.holds(36_726, quick=False),
            scopes.SLIDING_WINDOWS.holds(6_572),
            scopes.NO_CRASH.holds(695),
        ),
        "If results change no N, N is too high after a window has closed, never too low: the scan "
        "reads on to the beginning of the log, and still finds every window.",
    ),
    CEC.design(
        "results-as-footprints",
        CecDesign(count=WindowCount.FOOTPRINTS),
        (
            scopes.FIVE_TUPLES.fails(35_994, 18, GAP),
            scopes.SLIDING_WINDOWS.fails(6_682, 17, GAP),
        ),
        "If a result counts as one of N footprints, the scan stops too early: a b b b, crash, a: "
        "the newest record is of the second window of b with N = 2, the result of the first one "
        "is the second footprint, and the window of a is lost.",
    ),
    CEC.design(
        "stamped-by-time",
        CecDesign(stamp=Stamp.TIME),
        (
            scopes.EQUAL_TIMES_OF_ONE_KEY.fails(2_728, 9, GAP),
            scopes.WINDOWS_OF_ONE_KEY_BY_TIME.fails(1_800, 12, GAP),
            scopes.A_JOIN.fails(3_087, 12, GAP),
            scopes.A_JOIN_BY_TIME.fails(2_869, 15, GAP),
            scopes.A_JOIN_BY_TIME_DISTINCT_TIMES.holds(6_452),
        ),
        "No bound on times is right if times may be equal: t > T loses the second tuple of time T, "
        "t >= T takes the first one twice.",
    ),
    CEC.design(
        "replay-with",
        CecDesign(replay=Bound.WITH),
        (
            scopes.GAPS_BETWEEN_WINDOWS.fails(20_870, 19, DIVERGENT),
            scopes.A_FILTER_UPSTREAM.holds(5_143),
        ),
        "A replay that includes T brings a tuple of another key whose record is older than the "
        "G_check that is stamped T: the scan ended before it, and nothing says to ignore it.",
        must_occur=CHECKED,
    ),
    CEC.design(
        "ignore-without",
        CecDesign(ignore=Bound.WITHOUT),
        (
            scopes.WINDOWS_OF_TWO_TUPLES.fails(10_514, 13, GAP),
            scopes.OUTSTANDING_WRITES.fails(4_712, 15, GAP, quick=False),
            scopes.WINDOWS_BY_TIME.fails(14_528, 15, DIVERGENT),
        ),
        "The tuple that opened a window is in the state of its G_open, so a window that ignores "
        "only t < t_i takes it twice: a b, crash: b's window closes with b, b.",
    ),
    CEC.design(
        "entering-stamp",
        CecDesign(checked=Checked.ENTERING),
        (
            scopes.BACKGROUND.fails(4_700, 17, GAP),
            scopes.BACKGROUND_WINDOWS_OF_THREE.fails(1_408, 15, GAP),
            scopes.A_JOIN_BACKGROUND.fails(5_587, 17, GAP),
        ),
        "A G_check stamped with the tuple that enters next lacks this tuple, and the replay does "
        "not bring it.",
        must_occur=CHECKED,
    ),
    CEC.design(
        "closed-forgotten",
        CecDesign(closed=Closed.FORGOTTEN),
        (
            scopes.WINDOWS_OF_TWO_TUPLES.fails(10_538, 17, DIVERGENT),
            scopes.EQUAL_TIMES.fails(18_970, 17, REPEATING),
        ),
        "A window that opened or closed after T opens again in the replay: its key is out of step "
        "for ever, or its result comes twice.",
    ),
    CEC.design(
        "empty-start",
        CecDesign(empty=Empty.START),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(5_122, 14, REPEATING),
            scopes.WINDOWS_OF_TWO_TUPLES.fails(11_442, 20, REPEATING),
        ),
        "Without an open window, a replay from the beginning makes all results again.",
    ),
    CEC.design(
        "empty-live",
        CecDesign(empty=Empty.LIVE),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(4_544, 10, GAP),
            scopes.WINDOWS_OF_TWO_TUPLES.fails(10_940, 14, GAP),
        ),
        "Without an open window, no replay loses tuples that were processed and not stored.",
    ),
    CEC.design(
        "empty-never",
        CecDesign(empty=Empty.NEVER),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(5_044, 8, GAP),
            scopes.WINDOWS_OF_TWO_TUPLES.fails(12_584, 9, GAP),
        ),
        "If an empty log, too, means that nothing is replayed, a tuple that came before the first "
        "write is lost.",
    ),
    CEC.design(
        "record-writes",
        CecDesign(write=WriteUnit.RECORD),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(6_320, 8, GAP),
            scopes.A_JOIN.fails(3_378, 18, GAP),
            scopes.SLIDING_WINDOWS_OF_ONE_KEY_BY_TIME.fails(3_967, 14, GAP),
            scopes.WINDOWS_THAT_ANY_KEY_CLOSES.fails(7_414, 14, GAP),
        ),
        "A crash between two records of one tuple leaves a state that the operator never had: a "
        "window with all its tuples and no result, a window that closed and its successor that "
        "never opened, a join with some of a tuple's partners.",
    ),
    CEC.design(
        "background-always",
        CecDesign(background=Background.ALWAYS),
        (scopes.BACKGROUND_TWO_CRASHES.fails(39_168, 16, DIVERGENT),),
        "A G_check in the middle of a replay is stamped with a tuple that is older than the log's "
        "newest record: what closed since is outside the new extent.",
        must_occur=CHECKED,
    ),
    CEC.design(
        "background-footprint",
        CecDesign(background=Background.FOOTPRINT),
        (
            scopes.BACKGROUND_TWO_CRASHES.holds(36_720),
            scopes.BACKGROUND_THREE_TUPLES_TWO_CRASHES.fails(317_136, 19, REPEATING),
        ),
        "A G_check of a replay that keeps the stamp of its footprint is right for its own window; "
        "it is the newest record, and a scan that finds N footprints from there on does not read "
        "the results behind them.",
        must_occur=CHECKED,
    ),
    CEC.design(
        "load-writes",
        CecDesign(load=Load.WRITES),
        (scopes.TWO_CRASHES.fails(41_896, 18, REPEATING),),
        "If loading writes the windows to the log again, a crash in the middle leaves a newest "
        "record with a smaller N.",
    ),
    CEC.design(
        "identity-by-key",
        CecDesign(identity=Identity.KEY),
        (
            scopes.SLIDING_WINDOWS.fails(5_274, 14, GAP),
            scopes.SLIDING_WINDOWS_OF_ONE_KEY_BY_TIME.fails(1_827, 11, GAP),
        ),
        "If windows of a key overlap, footprints of one key are footprints of several windows.",
    ),
    CEC.design(
        "phase-unrecorded",
        CecDesign(phase=WindowPhase.UNRECORDED),
        (scopes.GAPS_BETWEEN_WINDOWS.fails(2_844, 12, GAP),),
        "If windows leave gaps, a key between windows has no open window, and nothing says when "
        "its next one opens.",
    ),
    CEC.design(
        "bare-checkpoint",
        CecDesign(content=Content.RESULT),
        (
            scopes.BACKGROUND_WINDOWS_OF_THREE.fails(1_809, 15, GAP),
            scopes.WINDOWS_OF_ONE_KEY_FROM_ITS_FIRST_TUPLE.fails(885, 15, GAP),
        ),
        "A G_check with the result so far and no more cannot go on: neither the number of tuples "
        "nor the start of the window follows from it.",
        must_occur=CHECKED,
    ),
    CEC.design(
        "skip-torn",
        CecDesign(damage=Damage.SKIP),
        (
            scopes.OUTSTANDING_WRITES_OF_ONE_KEY.fails(841, 15, GAP),
            scopes.OUTSTANDING_WRITES_QUEUES_LET_GO.fails(5_792, 10, GAP),
        ),
        "With several outstanding writes a record may be missing before a whole one; N then "
        "counts a footprint that is not there.",
    ),
    CEC.design(
        "cut-overwritten",
        CecDesign(discard=CutRecords.OVERWRITTEN),
        (
            scopes.OUTSTANDING_WRITES_OF_ONE_KEY.holds(1_395),
            scopes.OUTSTANDING_WRITES_BACKGROUND_TWO_CRASHES.fails(34_287, 20, GAP),
        ),
        "A restart that leaves the segments behind a hole where they are fills the hole with "
        "another record, and a second restart takes the old ones behind it for the log's end.",
        must_occur=CHECKED,
    ),
    CEC.design(
        "index-cut",
        CecDesign(index=IndexRepair.CUT),
        (
            scopes.AN_INDEX.holds(934),
            scopes.AN_INDEX_OUTSTANDING_WRITES.holds(1_150),
            scopes.AN_INDEX_QUEUES_LET_GO.holds(3_086),
            scopes.AN_INDEX_TWO_CRASHES.holds(26_504),
            scopes.AN_INDEX_NO_CRASH.holds(695),
        ),
        "A log may be cut where its index ends: the results behind were sent to nobody, and are "
        "made again.",
    ),
    CEC.design(
        "index-stored",
        CecDesign(index=IndexRepair.STORED),
        (
            scopes.AN_INDEX.fails(1_022, 8, GAP),
            scopes.AN_INDEX_OUTSTANDING_WRITES.fails(1_554, 9, GAP),
        ),
        "A result that was stored before a crash, and whose place the index does not have, is "
        "never sent: the restart must reconcile index and log, as the paper says.",
    ),
    CEC.design(
        "forward-completed",
        CecDesign(forward=Forward.COMPLETED),
        (
            scopes.OUTSTANDING_WRITES_OF_ONE_KEY.fails(1_328, 16, REPEATING),
            scopes.OUTSTANDING_WRITES.fails(8_562, 16, REPEATING, quick=False),
            scopes.OUTSTANDING_WRITES_QUEUES_LET_GO.fails(8_616, 6, GAP),
        ),
        "With several outstanding writes, what completes first is sent first: results come out of "
        "order, and after a crash a result was seen whose predecessors are lost.",
    ),
    CEC.design(
        "catch-up-live",
        CecDesign(catch_up=CatchUp.LIVE),
        (
            scopes.CATCHING_UP.fails(1_017, 15, GAP),
            scopes.CATCHING_UP_QUEUES_LET_GO.fails(9_409, 18, GAP),
        ),
        "If a write that completes is sent on while a reader still reads what came before, the "
        "stream is out of order, and who drops what is out of order loses it.",
    ),
    CEC.design(
        "one-position",
        CecDesign(position=Position.SCALAR),
        (
            scopes.A_JOIN.fails(3_011, 11, GAP),
            scopes.A_JOIN_BY_TIME.fails(2_623, 14, GAP),
            scopes.A_UNION.fails(4_624, 12, GAP),
        ),
        "One stamp says nothing of two inputs: a replay after it loses what one input still had "
        "before it, and takes again what the other already had.",
    ),
    CEC.design(
        "interleaved-anew",
        CecDesign(interleaving=Interleaving.ANEW),
        (
            scopes.A_JOIN.fails(3_107, 18, REPEATING),
            scopes.A_JOIN_BY_COUNT.fails(8_072, 20, DIVERGENT),
            scopes.A_JOIN_BY_TIME.holds(2_874),
        ),
        "A replay may bring a new tuple before one that the log's results are made of: pairs come "
        "twice or never.  If tuples enter by their times, no replay brings them in another order.",
    ),
    CEC.design(
        "unstored-sent",
        CecDesign(unstored=Unstored.SENT),
        (
            scopes.A_STREAM_IN_MEMORY.fails(4_881, 11, GAP),
            scopes.A_STREAM_IN_MEMORY_TWO_CRASHES.fails(21_620, 11, GAP),
        ),
        "A stream that is not persisted, and let go of when it is sent, is lost with the consumer "
        "that has not stored it.",
    ),
    CEC.design(
        "trim-acknowledged",
        CecDesign(log_trim=LogTrim.ACKNOWLEDGED),
        (
            scopes.QUEUES_OF_ONE_KEY_LET_GO.fails(3_338, 17, DIVERGENT),
            scopes.QUEUES_LET_GO.fails(38_872, 17, DIVERGENT, quick=False),
        ),
        "The checkpoint is in the output queue: if acknowledged results take the records before "
        "them along, open windows lose their footprints.",
        behaviour=UNBOUNDED,
    ),
    CEC.design(
        "acknowledge-processed",
        CecDesign(input_trim=InputTrim.PROCESSED),
        (scopes.OUTSTANDING_WRITES_QUEUES_LET_GO.fails(5_460, 10, GAP),),
        "What upstream may let go of must be stored, not only processed.",
    ),
    CEC.design(
        "resume-by-time",
        CecDesign(resume=Stamp.TIME),
        (
            scopes.RESULTS_ALONE.fails(3_010, 11, GAP),
            scopes.A_UNION.fails(4_178, 13, GAP),
        ),
        "Several results may have one time: downstream must ask by number.",
    ),
    *CLOSED,
)
