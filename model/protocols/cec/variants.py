"""Continuous eventual checkpointing as published, and with one choice less mended.

Rule of this file: no design without the verdict that is expected of it.  Each variant but the
published one differs from the mended protocol in one choice, so each mend is needed.
Sebepou and Magoutis, CEC, 2011.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from model.core import (
    CHECKPOINTED,
    CRASHED,
    RESTORED,
    Assumptions,
    Failures,
    Guarantee,
    Outcome,
    PinnedScope,
    Protocol,
    Quantity,
)
from model.properties import AS_IF, COMPLETE
from model.protocols.cec.design import (
    KNOBS,
    MENDED,
    PUBLISHED,
    Background,
    Bound,
    CatchUp,
    Checked,
    Closed,
    Content,
    Count,
    Damage,
    Design,
    Empty,
    Forward,
    Identity,
    InputTrim,
    Interleaving,
    Load,
    LogTrim,
    Phase,
    Position,
    Write,
)
from model.protocols.cec.messages import G_OPEN_RECORDS, QUANTITIES, R_RECORDS, show, size
from model.protocols.cec.nodes import TIMERS, boot, deploy, gauges, memory, needed, recover, step
from model.protocols.cec.scopes import SCOPES
from model.queues import Stamp

SEEN = (CRASHED, RESTORED, G_OPEN_RECORDS, R_RECORDS)


class Pin(NamedTuple):
    """What is expected in a scope: so many worlds; and, if the protocol is refuted, the steps of a
    shortest counterexample and the guarantee that is left."""

    scope: str
    states: int
    steps: int | None = None
    guarantee: Guarantee = Guarantee.PRECISE
    quick: bool = True

    def pinned(self) -> PinnedScope:
        scope, operators, quick = SCOPES[self.scope]
        expect = Outcome.HOLDS if self.steps is None else Outcome.REFUTED
        return PinnedScope(
            name=self.scope,
            scope=scope,
            operators=operators,
            expect=expect,
            states=self.states,
            steps=self.steps,
            guarantee=self.guarantee,
            quick=quick and self.quick,
        )


def build(
    name: str,
    design: Design,
    pins: tuple[Pin, ...],
    finding: str,
    must_occur: tuple[Quantity, ...] = SEEN,
) -> Protocol:
    scopes = tuple(pin.pinned() for pin in pins)
    return Protocol(
        name=f"cec:{name}" if name else "cec",
        title="Continuous eventual checkpointing",
        source="Sebepou and Magoutis, CEC, 2011",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        memory=memory,
        show=show,
        assumes=Assumptions(Failures.ANY),
        claims=dict.fromkeys(sorted({scope.operators for scope in scopes}), Guarantee.PRECISE),
        properties=(AS_IF, COMPLETE),
        needed=needed if design.log_trim is LogTrim.EXTENT else None,
        scopes=scopes,
        must_occur=must_occur,
        finding=finding,
        size=size,
        quantities=QUANTITIES,
        knobs=KNOBS,
        timers=TIMERS,
    )


def _drop(name: str, finding: str, *pins: Pin, **choice: Any) -> Protocol:
    """The mended protocol with one choice as published, or as the words may also be read."""
    seen = SEEN if name not in _BACKGROUND else (*SEEN, CHECKPOINTED)
    return build(name, replace(MENDED, **choice), pins, finding, seen)


_BACKGROUND = ("entering-stamp", "background-always", "bare-checkpoint", "replay-with")
GAP, DIVERGENT, REPEATING = Guarantee.GAP, Guarantee.DIVERGENT, Guarantee.REPEATING

VARIANTS = (
    build(
        "published",
        PUBLISHED,
        (
            Pin("windows of one tuple", 9_286, 8, GAP),
            Pin("windows of two tuples", 12_366, 13, GAP),
            Pin("equal times of one key", 3_252, 9, GAP),
            Pin("background", 6_040, 13, GAP),
            Pin("outstanding writes of one key", 2_256, 15, GAP),
            Pin("windows of one key by time", 2_445, 12, GAP),
            Pin("sliding windows", 7_636, 14, GAP),
            Pin("a filter upstream", 6_233, 13, GAP),
            Pin("an aggregate of an aggregate", 3_667, 12, GAP),
            Pin("a join", 5_036, 11, GAP),
            Pin("a union", 8_169, 11, GAP),
        ),
        "Every choice in the reading nearest to the paper's words: results are lost in every kind "
        "of window.",
    ),
    _drop(
        "count-on-checkpoints",
        "If results change no N, N is too high after a window has closed, never too low: the scan "
        "reads on to the beginning of the log, and still finds every window.",
        Pin("windows of two tuples", 10_380),
        Pin("five tuples", 36_726, quick=False),
        Pin("sliding windows", 6_572),
        Pin("no crash", 695),
        count=Count.CHECKPOINTS,
    ),
    _drop(
        "results-as-footprints",
        "If a result counts as one of N footprints, the scan stops too early: a b b b, crash, a: "
        "the newest record is of the second window of b with N = 2, the result of the first one "
        "is the second footprint, and the window of a is lost.",
        Pin("five tuples", 35_994, 18, GAP),
        Pin("sliding windows", 6_682, 17, GAP),
        count=Count.FOOTPRINTS,
    ),
    _drop(
        "stamped-by-time",
        "No bound on times is right if times may be equal: t > T loses the second tuple of time T, "
        "t >= T takes the first one twice.",
        Pin("equal times of one key", 2_728, 9, GAP),
        Pin("windows of one key by time", 1_800, 12, GAP),
        Pin("a join", 3_087, 12, GAP),
        Pin("a join by time", 2_869, 15, GAP),
        Pin("a join by time, distinct times", 6_452),
        stamp=Stamp.TIME,
    ),
    _drop(
        "replay-with",
        "A replay that includes T brings a tuple of another key whose record is older than the "
        "G_check that is stamped T: the scan ended before it, and nothing says to ignore it.",
        Pin("gaps between windows", 20_870, 19, DIVERGENT),
        Pin("a filter upstream", 5_143),
        replay=Bound.WITH,
    ),
    _drop(
        "ignore-without",
        "The tuple that opened a window is in the state of its G_open, so a window that ignores "
        "only t < t_i takes it twice: a b, crash: b's window closes with b, b.",
        Pin("windows of two tuples", 10_514, 13, GAP),
        Pin("outstanding writes", 7_568, 15, GAP, quick=False),
        Pin("windows by time", 14_528, 15, DIVERGENT),
        ignore=Bound.WITHOUT,
    ),
    _drop(
        "entering-stamp",
        "A G_check stamped with the tuple that enters next lacks this tuple, and the replay does "
        "not bring it.",
        Pin("background", 4_700, 17, GAP),
        Pin("background, windows of three", 1_408, 15, GAP),
        Pin("a join, background", 5_587, 17, GAP),
        checked=Checked.ENTERING,
    ),
    _drop(
        "closed-forgotten",
        "A window that opened or closed after T opens again in the replay: its key is out of step "
        "for ever, or its result comes twice.",
        Pin("windows of two tuples", 10_538, 17, DIVERGENT),
        Pin("equal times", 18_970, 17, REPEATING),
        closed=Closed.FORGOTTEN,
    ),
    _drop(
        "empty-start",
        "Without an open window, a replay from the beginning makes all results again.",
        Pin("windows of one tuple", 5_122, 14, REPEATING),
        Pin("windows of two tuples", 11_442, 20, REPEATING),
        empty=Empty.START,
    ),
    _drop(
        "empty-live",
        "Without an open window, no replay loses tuples that were processed and not stored.",
        Pin("windows of one tuple", 4_544, 10, GAP),
        Pin("windows of two tuples", 10_940, 14, GAP),
        empty=Empty.LIVE,
    ),
    _drop(
        "record-writes",
        "A crash between two records of one tuple leaves a state that the operator never had: a "
        "window with all its tuples and no result, a window that closed and its successor that "
        "never opened, a join with some of a tuple's partners.",
        Pin("windows of one tuple", 6_320, 8, GAP),
        Pin("a join", 3_378, 18, GAP),
        Pin("sliding windows of one key by time", 3_967, 14, GAP),
        write=Write.RECORD,
    ),
    _drop(
        "background-always",
        "A G_check in the middle of a replay is stamped with a tuple that is older than the log's "
        "newest record: what closed since is outside the new extent.",
        Pin("background, two crashes", 39_168, 16, DIVERGENT),
        background=Background.ALWAYS,
    ),
    _drop(
        "load-writes",
        "If loading writes the windows to the log again, a crash in the middle leaves a newest "
        "record with a smaller N.",
        Pin("two crashes", 41_896, 18, REPEATING),
        load=Load.WRITES,
    ),
    _drop(
        "identity-by-key",
        "If windows of a key overlap, footprints of one key are footprints of several windows.",
        Pin("sliding windows", 5_274, 14, GAP),
        Pin("sliding windows of one key by time", 1_827, 11, GAP),
        identity=Identity.KEY,
    ),
    _drop(
        "phase-unrecorded",
        "If windows leave gaps, a key between windows has no open window, and nothing says when "
        "its next one opens.",
        Pin("gaps between windows", 2_844, 12, GAP),
        phase=Phase.UNRECORDED,
    ),
    _drop(
        "bare-checkpoint",
        "A G_check with the result so far and no more cannot go on: neither the number of tuples "
        "nor the start of the window follows from it.",
        Pin("background, windows of three", 1_809, 15, GAP),
        Pin("windows of one key from its first tuple", 885, 15, GAP),
        content=Content.RESULT,
    ),
    _drop(
        "skip-torn",
        "With several outstanding writes a record may be missing before a whole one; N then "
        "counts a footprint that is not there.",
        Pin("outstanding writes of one key", 1_116, 15, GAP),
        Pin("outstanding writes, queues let go", 6_520, 10, GAP),
        damage=Damage.SKIP,
    ),
    _drop(
        "forward-completed",
        "With several outstanding writes, what completes first is sent first: results come out of "
        "order, and after a crash a result was seen whose predecessors are lost.",
        Pin("outstanding writes of one key", 1_948, 16, REPEATING),
        Pin("outstanding writes", 12_854, 16, REPEATING, quick=False),
        Pin("outstanding writes, queues let go", 9_668, 6, GAP),
        forward=Forward.COMPLETED,
    ),
    _drop(
        "catch-up-live",
        "If a write that completes is sent on while a reader still reads what came before, the "
        "stream is out of order, and who drops what is out of order loses it.",
        Pin("catching up", 1_017, 15, GAP),
        Pin("catching up, queues let go", 9_409, 18, GAP),
        catch_up=CatchUp.LIVE,
    ),
    _drop(
        "one-position",
        "One stamp says nothing of two inputs: a replay after it loses what one input still had "
        "before it, and takes again what the other already had.",
        Pin("a join", 3_011, 11, GAP),
        Pin("a join by time", 2_623, 14, GAP),
        Pin("a union", 4_624, 12, GAP),
        position=Position.SCALAR,
    ),
    _drop(
        "interleaved-anew",
        "A replay may bring a new tuple before one that the log's results are made of: pairs come "
        "twice or never.  If tuples enter by their times, no replay brings them in another order.",
        Pin("a join", 3_107, 18, REPEATING),
        Pin("a join by count", 8_072, 20, DIVERGENT),
        Pin("a join by time", 2_874),
        interleaving=Interleaving.ANEW,
    ),
    _drop(
        "trim-acknowledged",
        "The checkpoint is in the output queue: if acknowledged results take the records before "
        "them along, open windows lose their footprints.",
        Pin("queues of one key let go", 3_338, 17, DIVERGENT),
        Pin("queues let go", 38_872, 17, DIVERGENT, quick=False),
        log_trim=LogTrim.ACKNOWLEDGED,
    ),
    _drop(
        "acknowledge-processed",
        "What upstream may let go of must be stored, not only processed.",
        Pin("outstanding writes, queues let go", 6_032, 10, GAP),
        input_trim=InputTrim.PROCESSED,
    ),
    _drop(
        "resume-by-time",
        "Several results may have one time: downstream must ask by number.",
        Pin("results alone", 3_010, 11, GAP),
        Pin("a union", 4_178, 13, GAP),
        resume=Stamp.TIME,
    ),
)
