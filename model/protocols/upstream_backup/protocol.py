"""Upstream backup with savepoints, skip ranges and data-parallel windows, and its evidence.

Lima, Endler, Slo, Bhowmik, Rothermel: "Skipping Unused Events to Speed Up Rollback-Recovery in
Distributed Data-Parallel CEP", on the base method of Koldehofe et al. (DEBS 2013).

Rule of this file: what is claimed of which design, and the worlds that bear it out.  The nodes are
model.protocols.upstream_backup.nodes, the operator is model.cep.operator.  The variants as
published stand beside the corrected one, each with the verdict expected of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from model.cep.engines import Engine, Mealy
from model.cep.numbering import PAIRS, PAIRS_FROM_FIRST_WINDOW, PAIRS_OF_INPUTS, SCALAR
from model.cep.operator import Drawing, Operator, Scheme, Skipping
from model.cep.patterns import Strategy, sequence
from model.cep.predicates import Type
from model.cep.windows import CountWindows, PatternWindows, Splitter, TimeWindows
from model.core import (
    Arrival,
    Assumptions,
    Failures,
    Guarantee,
    Inputs,
    Mutant,
    OperatorClass,
    Outcome,
    PinnedScope,
    Protocol,
    Scope,
)
from model.graph import SINK, SOURCE, Graph, chain
from model.properties import AS_IF, COMPLETE
from model.protocols.upstream_backup.nodes import (
    Design,
    boot,
    deploy,
    gauges,
    recover,
    show,
    size,
    step,
)

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC


# --- engines and graphs that tell variants apart ----------------------------------------------
A, B, AB = sequence("a"), sequence("b"), sequence("a", "b")
SUPPRESSED = Mealy(((("a", 0, 1), ("b", 1, 0)), (("a", 0, 0), ("b", 0, 0))))
"""Matches every a but the one after a b: a later window may match first."""
ALTERNATING = Mealy(((("a", 0, 1), ("b", 1, 0)), (("a", 1, 0), ("b", 0, 1))))
"""Matches a in one state and b in the other, which b toggles."""
LEADING = Mealy(((("match", 1, 1),), (("match", 1, 0),)))
"""Matches the first event of a window only: it shows where windows begin."""


def _scope(
    graph: Graph, length: int, types: str = "ab", gaps: tuple[int, ...] = (1,), crashes: int = 1
) -> Scope:
    """Every source of the graph may emit any word of `length` over the types and gaps."""
    alphabet = tuple(Arrival(gap, type_) for type_ in types for gap in gaps)
    sources = (name for name, spec in graph.nodes if spec is SOURCE)
    return Scope(graph, tuple((name, Inputs(alphabet, length)) for name in sources), crashes)


def _one(engine: Engine, splitter: Splitter, parallel: bool = True) -> Graph:
    return chain(("A", Operator(engine, splitter, parallel=parallel)))


MERGE = Graph(
    (
        ("left", SOURCE),
        ("right", SOURCE),
        ("A", Operator(A, PatternWindows(Type("a"), size=1))),
        ("sink", SINK),
    ),
    (("left", "A"), ("right", "A"), ("A", "sink")),
)
FORK = Graph(
    (
        ("source", SOURCE),
        ("A", Operator(A, CountWindows(2, 1))),
        ("near", SINK),
        ("far", SINK),
    ),
    (("source", "A"), ("A", "near"), ("A", "far")),
)
DIAMOND = Graph(
    (
        ("source", SOURCE),
        ("A", Operator(A, CountWindows(1, 1), "x")),
        ("B", Operator(B, CountWindows(1, 1), "y")),
        ("C", Operator(sequence("x", "y"), CountWindows(2, 1))),
        ("sink", SINK),
    ),
    (("source", "A"), ("source", "B"), ("A", "C"), ("B", "C"), ("C", "sink")),
)
PIPELINE = chain(
    ("A", Operator(A, CountWindows(2, 2))),
    ("B", Operator(sequence("match"), CountWindows(2, 1))),
)
ALIGNED = chain(
    ("A", Operator(A, CountWindows(1, 1))),
    ("B", Operator(LEADING, CountWindows(2, 2))),
)
TIMED = chain(
    ("A", Operator(A, CountWindows(1, 1))),
    ("B", Operator(LEADING, TimeWindows(2, 2))),
)
UNEVEN = Scope(
    MERGE,
    (
        ("left", Inputs((Arrival(1, "a"), Arrival(1, "b")), 3)),
        ("right", Inputs((Arrival(1, "a"),), 2)),
    ),
)
"""Sequence numbers of the two sources overlap, and their order is not the order of the merge."""

EVERY = _scope(_one(A, CountWindows(3, 1)), 4, "a")
TOGGLED = _scope(_one(ALTERNATING, CountWindows(3, 1)), 4)
LATE = _scope(_one(SUPPRESSED, CountWindows(3, 1)), 3)
SERIAL = _scope(_one(AB, CountWindows(4, 3), parallel=False), 5)
SKIPPY = _scope(_one(A, CountWindows(3, 2)), 4)
ANY_MATCH = _scope(_one(sequence("a", "b", strategy=Strategy.ANY), CountWindows(3, 1)), 4)

SCOPES = (
    PinnedScope(
        "one event, one match", _scope(_one(A, CountWindows(1, 1)), 4), REPEATABLE, states=53_346
    ),
    PinnedScope(
        "time windows on a grid",
        _scope(_one(AB, TimeWindows(4, 2, grid=True)), 4, gaps=(1, 2)),
        CONVERGENT_CAPABLE,
        states=72_144,
    ),
    PinnedScope(
        "count windows", _scope(_one(AB, CountWindows(3, 1)), 5), DETERMINISTIC, states=65_694
    ),
    PinnedScope(
        "count windows, events skipped, two crashes",
        _scope(_one(AB, CountWindows(3, 2)), 4, crashes=2),
        DETERMINISTIC,
        states=59_175,
    ),
    PinnedScope(
        "every event matches, two crashes",
        _scope(_one(A, CountWindows(2, 1)), 3, "a", crashes=2),
        DETERMINISTIC,
        states=275_809,
    ),
    PinnedScope(
        "time windows",
        _scope(_one(AB, TimeWindows(3, 2)), 4, gaps=(1, 2)),
        DETERMINISTIC,
        states=54_227,
    ),
    PinnedScope(
        "pattern-opened windows",
        _scope(_one(AB, PatternWindows(Type("a"), size=3)), 5),
        DETERMINISTIC,
        states=37_776,
    ),
    PinnedScope(
        "match at the end of the window",
        _scope(_one(sequence("a", "!b"), CountWindows(3, 2)), 5),
        DETERMINISTIC,
        states=19_107,
    ),
    PinnedScope(
        "any match, several in one iteration",
        _scope(_one(sequence("a", "b", strategy=Strategy.ANY), CountWindows(3, 1)), 4),
        DETERMINISTIC,
        states=20_340,
    ),
    PinnedScope("an engine that is not monotone", TOGGLED, DETERMINISTIC, states=471_017),
    PinnedScope("serial processing", SERIAL, DETERMINISTIC, states=11_881),
    PinnedScope(
        "an event used by one of two windows",
        _scope(_one(ALTERNATING, CountWindows(5, 2)), 4),
        DETERMINISTIC,
        states=121_743,
    ),
    PinnedScope(
        "wide windows, used and skipped in turn",
        _scope(_one(AB, CountWindows(7, 7)), 6),
        DETERMINISTIC,
        states=94_333,
    ),
    PinnedScope(
        "adjacent operators, time windows",
        _scope(TIMED, 4, "a", crashes=2),
        DETERMINISTIC,
        states=258_510,
    ),
    PinnedScope("two input edges", UNEVEN, DETERMINISTIC, states=1_032_090, quick=False),
    PinnedScope("two output edges", _scope(FORK, 2, "a"), DETERMINISTIC, states=50_301),
    PinnedScope(
        "two output edges, two crashes",
        _scope(FORK, 2, "a", crashes=2),
        DETERMINISTIC,
        states=2_311_206,
    ),
    PinnedScope(
        "adjacent operators, two crashes",
        _scope(PIPELINE, 2, "a", crashes=2),
        DETERMINISTIC,
        states=71_957,
    ),
    PinnedScope(
        "two output edges, one event",
        _scope(FORK, 1, "a", crashes=2),
        DETERMINISTIC,
        states=14_310,
    ),
    PinnedScope("diamond", _scope(DIAMOND, 2), DETERMINISTIC, states=15_945),
    PinnedScope(
        "diamond, any two crash", _scope(DIAMOND, 1, crashes=2), DETERMINISTIC, states=44_989
    ),
    PinnedScope(
        "diamond, two events, two crashes",
        _scope(DIAMOND, 2, crashes=2),
        DETERMINISTIC,
        states=655_823,
    ),
    PinnedScope(
        "adjacent operators and their alignment",
        _scope(ALIGNED, 4, "a", crashes=2),
        DETERMINISTIC,
        states=330_325,
    ),
)


def _protocol(name: str, design: Design, scopes: tuple[PinnedScope, ...], finding: str) -> Protocol:
    return Protocol(
        name=f"upstream-backup:{name}" if name else "upstream-backup",
        title="Upstream backup with savepoints",
        source="Lima et al., Sections II and III",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        show=show,
        assumes=Assumptions(Failures.ANY),
        claims={
            REPEATABLE: Guarantee.PRECISE,
            CONVERGENT_CAPABLE: Guarantee.PRECISE,
            DETERMINISTIC: Guarantee.PRECISE,
        },
        properties=(AS_IF, COMPLETE),
        scopes=scopes,
        must_occur=(
            "crashes",
            "windows that spanned a crash",
            "operators restored",
            "events replayed",
            "duplicates discarded",
            "savepoints sent",
        ),
        finding=finding,
        size=size,
    )


def _refuted(
    name: str,
    scope: Scope,
    steps: int,
    states: int | None = None,
    guarantee: Guarantee = Guarantee.GAP,
) -> PinnedScope:
    return PinnedScope(name, scope, DETERMINISTIC, Outcome.REFUTED, states, steps, guarantee)


VARIANTS = (
    _protocol(
        "scalar",
        Design(Scheme(SCALAR)),
        (
            PinnedScope("serial processing", SERIAL, DETERMINISTIC, states=11_881),
            _refuted("Fig. 8a in small: every event matches", EVERY, steps=29, states=258_318),
        ),
        "As the paper says (III-B3): scalar numbers are right while windows are processed one "
        "after the other, and wrong in parallel.",
    ),
    _protocol(
        "pairs",
        Design(Scheme(PAIRS)),
        (
            PinnedScope(
                "Fig. 8b in small: every event matches", EVERY, DETERMINISTIC, states=256_584
            ),
            _refuted("two matches in one window and iteration", ANY_MATCH, steps=12, states=16_454),
            _refuted(
                "first match not in the first window kept",
                LATE,
                steps=15,
                states=31_657,
                guarantee=Guarantee.REPEATING,
            ),
            _refuted(
                "an engine that is not monotone",
                TOGGLED,
                steps=15,
                states=480_521,
            ),
        ),
        "The x:y pairs as published (III-B4) are right for Fig. 8 and not for every engine: two "
        "matches of one window and iteration get one number, even without a failure; the y of the "
        "first match need not be the first window kept; and x counts iterations in which only "
        "dropped windows produced, which a replay does not see.",
    ),
    _protocol(
        "pairs-first-window",
        Design(Scheme(PAIRS_FROM_FIRST_WINDOW)),
        (
            PinnedScope(
                "first match not in the first window kept", LATE, DETERMINISTIC, states=31_278
            ),
            _refuted(
                "iterations that only dropped windows produced in",
                TOGGLED,
                steps=26,
                states=471_336,
            ),
        ),
        "Sending the number of the first window kept mends y; x stays wrong.",
    ),
    _protocol(
        "pairs-of-inputs",
        Design(Scheme(PAIRS_OF_INPUTS)),
        (
            PinnedScope("an engine that is not monotone", TOGGLED, DETERMINISTIC, states=471_017),
            _refuted(
                "skipped events are not counted in the replay", SKIPPY, steps=17, states=92_022
            ),
        ),
        "Counting all input events in x is right until skipped events are left out of the replay.",
    ),
    _protocol(
        "pairs-of-inputs-no-skips",
        Design(Scheme(PAIRS_OF_INPUTS, Skipping.OFF)),
        (PinnedScope("no event is skipped", SKIPPY, DETERMINISTIC, states=92_241),),
        "Without skip ranges x may count all input events.",
    ),
    _protocol(
        "no-skips",
        Design(Scheme(skipping=Skipping.OFF)),
        (
            PinnedScope(
                "count windows",
                _scope(_one(AB, CountWindows(3, 2)), 5),
                DETERMINISTIC,
                states=23_787,
            ),
        ),
        "The base method, with the correct numbering: what skip ranges are compared with.",
    ),
    _protocol(
        "coalesced-skips",
        Design(Scheme(skipping=Skipping.COALESCED)),
        (
            PinnedScope("one input edge", SKIPPY, DETERMINISTIC, states=92_487),
            _refuted("two input edges", UNEVEN, steps=24),
        ),
        "One skip-ranges array for all input edges, as III-A reads for several edges, deletes "
        "events of another edge that a replay still needs.",
    ),
    _protocol(
        "counted-windows",
        Design(Scheme(drawing=Drawing.NOTHING)),
        (_refuted("skipped events do not count", SKIPPY, steps=17, states=45_962),),
        "Counting the replayed events gives other windows once skipped events are left out.",
    ),
    _protocol(
        "opener-windows",
        Design(Scheme(drawing=Drawing.OPENERS)),
        (_refuted("skipped events do not count", SKIPPY, steps=17, states=64_687),),
        "Saving which events opened windows (III-B5) says where windows begin but not where they "
        "end, nor how many events have passed since: with skip ranges they end elsewhere.",
    ),
    _protocol(
        "neighbours-only",
        Design(ancestors=False),
        (
            PinnedScope("one crash", _scope(PIPELINE, 2, "a"), DETERMINISTIC, states=2_976),
            _refuted(
                "adjacent operators, two crashes",
                _scope(ALIGNED, 4, "a", crashes=2),
                steps=34,
                states=329_600,
                guarantee=Guarantee.DIVERGENT,
            ),
        ),
        "As the paper says (II-C): savepoints kept in predecessors alone are lost when adjacent "
        "operators fail together.",
    ),
    _protocol(
        "notices",
        Design(notice_every=1),
        (
            PinnedScope(
                "count windows, two crashes",
                _scope(_one(AB, CountWindows(3, 3)), 4, crashes=2),
                DETERMINISTIC,
                states=53_840,
            ),
            PinnedScope(
                "count windows",
                _scope(_one(AB, CountWindows(3, 2)), 5),
                DETERMINISTIC,
                states=29_729,
            ),
        ),
        "The future work of Section IV: skip ranges sent ahead of savepoints are safe, provided "
        "that the window layout travels with them.",
    ),
)

OPERATOR, BACKUP, NODES = (
    "model.cep.operator",
    "model.protocols.upstream_backup.buffers",
    "model.protocols.upstream_backup.nodes",
)
MUTANTS = (
    Mutant(
        "trim one event too many",
        OPERATOR,
        "savepoint = Savepoint(seed, replay_start.before)",
        "savepoint = Savepoint(seed, (replay_start.opener[1],) * len(replay_start.before))",
    ),
    Mutant(
        "keep one window too few",
        OPERATOR,
        "closed = state.closed.trim(lambda window: window.number < retained)",
        "closed = state.closed.trim(lambda window: window.number <= retained)",
    ),
    Mutant(
        "take every window for closed when a match is produced",
        OPERATOR,
        "unclosed = open_[0][0].number if open_ else opened + 1",
        "unclosed = opened + 1",
        "an engine that is not monotone",
    ),
    Mutant(
        "seed from the wrong window",
        OPERATOR,
        "replay_start = windows[0]",
        "replay_start = windows[-1]",
    ),
    Mutant(
        "forget the number of the first window",
        OPERATOR,
        "opened=first - 1,",
        "opened=0,",
        "any match, several in one iteration",
    ),
    Mutant(
        "forget the events that open windows",
        OPERATOR,
        "kept = bool(finished) or opened > state.opened",
        "kept = bool(finished)",
        "match at the end of the window",
    ),
    Mutant(
        "forget the events that fill windows",
        OPERATOR,
        "kept = True",
        "kept = kept or False",
        "pattern-opened windows",
    ),
    Mutant(
        "ask only the newest window whether an event was used",
        OPERATOR,
        "used = used or touched",
        "used = touched",
        "an event used by one of two windows",
    ),
    Mutant(
        "in serial processing, take an event for used only if it completes a match",
        OPERATOR,
        "if touched:",
        "if found:",
    ),
    Mutant(
        "restore the windows but not their counts",
        OPERATOR,
        "return window if events is None else window._replace(events=events)",
        "return window",
        "match at the end of the window",
    ),
    Mutant(
        "skip range one too wide",
        "model.cep.skips",
        "return Skips(self.done, (self.run[0], sn) if self.run else (sn, sn))",
        "return Skips(self.done, (self.run[0] if self.run else sn, (*sn[:-1], sn[-1] + 1)))",
    ),
    Mutant(
        "a used event does not end the skip range",
        "model.cep.skips",
        "return Skips(self.done.append(self.run)) if self.run else self",
        "return Skips(self.done.append(self.run), self.run) if self.run else self",
        "match at the end of the window",
    ),
    Mutant(
        "replay out of order",
        BACKUP,
        "replay = tuple(Send(succ, event) for event in backup)",
        "replay = tuple(Send(succ, event) for event in reversed([*backup]))",
    ),
    Mutant(
        "replay the newest event only",
        BACKUP,
        "replay = tuple(Send(succ, event) for event in backup)",
        "replay = tuple(Send(succ, event) for event in [*backup][-1:])",
    ),
    Mutant(
        "keep the first savepoint for ever",
        BACKUP,
        "held[name] = held[name].join(savepoint) if name in held else savepoint",
        "held.setdefault(name, savepoint)",
        "any match, several in one iteration",
    ),
    Mutant(
        "lose the replicas of the nodes below",
        NODES,
        "below = node.replicas if site.config.design.ancestors else ()",
        "below: Replicas = ()",
        "adjacent operators, time windows",
    ),
    Mutant(
        "acknowledge what one of two successors has",
        NODES,
        "theta = min(outlet.acked for outlet in node.outlets)",
        "theta = max(outlet.acked for outlet in node.outlets)",
        "two output edges",
    ),
    Mutant(
        "acknowledge before the successor has it",
        NODES,
        "theta = min(outlet.acked for outlet in node.outlets)",
        "theta = node.operator.pending.last().sn if node.operator.pending else NOTHING",
        "any match, several in one iteration",
    ),
    Mutant(
        "a sink takes duplicates",
        NODES,
        "if message.sn <= heard:",
        "if message.sn < heard:",
    ),
    Mutant(
        "an operator takes duplicates",
        NODES,
        "elif message.sn <= inlet.heard:",
        "elif message.sn < inlet.heard:",
    ),
    Mutant(
        "restore from nothing",
        NODES,
        "mine = held.pop(site.name, node.mine)",
        "mine = (held.pop(site.name, None), node.mine)[1]",
    ),
    Mutant(
        "process what arrives before the answer",
        NODES,
        "if site.preds[edge] in node.awaited:",
        "if site.preds[edge] not in site.preds:",
    ),
    Mutant(
        "forget who greeted during recovery",
        NODES,
        "for name in greeted",
        "for name in node.greeted",
        "adjacent operators, two crashes",
    ),
    Mutant(
        "do not greet a restarted predecessor again",
        NODES,
        "if sender in node.awaited:  # our own hello may have been lost with its state",
        "if sender not in node.awaited:",
        "adjacent operators, two crashes",
    ),
    Mutant(
        "consume again what was consumed before the savepoint",
        NODES,
        "return Inlet(queue, max(inlet.heard, trim), inlet.mark)",
        "return Inlet(inlet.queue, inlet.heard, inlet.mark)",
        "adjacent operators, time windows",
    ),
    Mutant(
        "merge without waiting for the other edge",
        "model.cep.merge",
        "_, edge = min((inlet.low, edge) for edge, inlet in enumerate(inlets))",
        "edge = next((e for e, inlet in enumerate(inlets) if inlet.queue), 0)",
    ),
)

PROTOCOL = replace(
    _protocol(
        "",
        Design(),
        SCOPES,
        "Numbers derived from the triggering input event, skip ranges kept an input edge each, "
        "and the window layout in the savepoint make the method right for every engine, window "
        "and set of operator crashes explored.",
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
)
