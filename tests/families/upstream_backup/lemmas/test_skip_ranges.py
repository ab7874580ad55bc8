"""Skip ranges on the Python: the smallest runs that lose events, and those that cannot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from model.cep.merge import InputQueue, ready
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.savepoint import Savepoint
from model.cep.skips import Ranges, Skips, covers
from model.cep.windows import PatternWindows
from model.core import Arrival, Inputs, Role, Scope, Site
from model.events import NOTHING, SN, Body, Event
from model.graph import SOURCE
from model.log import Log
from model.predicates import Type
from model.protocols.upstream_backup import buffers as backup
from model.protocols.upstream_backup.buffers import Ack, Outlet, release
from model.protocols.upstream_backup.design import UpstreamBackupConfig, UpstreamBackupDesign
from model.protocols.upstream_backup.protocol import PROTOCOL
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
    Scheme,
    Skipping,
    notice,
    origin,
    push,
    restore,
    save,
)
from model.protocols.upstream_backup.scopes import MERGE, SKIPPY
from model.registry import protocols
from proofs.lemmas.upstream_backup.skip_ranges import counterexamples, ranges
from proofs.lemmas.upstream_backup.skip_ranges.abstraction import ABSTRACTIONS
from proofs.lemmas.upstream_backup.skip_ranges.counterexamples import (
    ONE_TRIM,
    OVERLAPPING,
    PUBLISHED,
)
from proofs.prove.conformance import FormulaMisfit, compare
from proofs.prove.grounding import element
from proofs.prove.lemma import all_given, without
from proofs.prove.transition import transitions_taken

OPERATOR = Operator(sequence("a"), PatternWindows(Type("a"), size=1))
"""Every a opens a window, which it fills and matches; every b is skipped."""
COALESCED, PER_EDGE = Scheme(skipping=Skipping.COALESCED), Scheme()

Taken = tuple[int, Event]


# --- one for all edges ------------------------------------------------------------------------
class FoundRun(NamedTuple):
    """A run with two edges.

    events: (edge, number) of each.  steps: what is done, with the event or edge concerned.
    lost: the events that are deleted and needed.
    """

    events: tuple[tuple[int, int], ...]
    steps: tuple[tuple[str, int | None], ...]
    lost: tuple[int, ...]


def found(design: counterexamples.SharedRanges) -> FoundRun:
    """What Z3 finds: not the same each time, but always a counterexample."""
    *_, query = counterexamples.refute(design, all_given)
    solver = z3.Solver()
    solver.add(*query.claims)
    assert solver.check() == z3.sat
    return read(design, solver.model())


def read(design: counterexamples.SharedRanges, model: Any) -> FoundRun:
    system = design.system
    elements = [element(ranges.EVENT, i) for i in range(design.events)]
    edges = [element(ranges.EDGE, i) for i in range(2)]

    def true(term: Any) -> bool:
        return bool(z3.is_true(model.eval(term, model_completion=True)))

    def place(event: Any) -> tuple[int, int]:
        at = next(i for i, one in enumerate(edges) if true(ranges.edge(event) == one))
        before = (o for o in elements if true(ranges.before(ranges.sn(o), ranges.sn(event))))
        below = {str(model.eval(ranges.sn(o), model_completion=True)) for o in before}
        return at, len(below) + 1

    def concerned(params: tuple[Any, ...]) -> int | None:
        if not params:
            return None
        (param,) = params
        known = elements if param.sort() == ranges.EVENT else edges
        return next(i for i, one in enumerate(known) if true(param == one))

    end = system.moment(design.steps)
    taken = transitions_taken(system, model, design.steps)
    return FoundRun(
        tuple(map(place, elements)),
        tuple((step.name, concerned(step.params)) for step in taken),
        tuple(i for i, x in enumerate(elements) if true(z3.And(end.deleted(x), end.needed(x)))),
    )


class SkippedRun(NamedTuple):
    """merged: all events in the order of the merge.  seen: how many come before the savepoint."""

    merged: tuple[Taken, ...]
    seen: int
    receiver: int


def play(run: FoundRun) -> SkippedRun:
    """The run with events that the operator skips and keeps, as it does there.

    What has been processed by the end comes first, in that order.
    """
    processed = [at for name, at in run.steps if name in ("skip", "keep") and at is not None]
    skipped = {at for name, at in run.steps if name == "skip"}
    order = [*processed, *(i for i in range(len(run.events)) if i not in processed)]
    merged = []
    for time, i in enumerate(order):
        edge, number = run.events[i]
        merged.append((edge, Event((number,), Body(time, "b" if i in skipped else "a"))))
    receivers = [at for name, at in run.steps if name == "receive"]
    assert receivers[-1] is not None
    return SkippedRun(tuple(merged), len(processed), receivers[-1])


def process(
    scheme: Scheme, state: NumberedOperator, events: Iterable[Taken]
) -> tuple[NumberedOperator, list[Event]]:
    outputs: list[Event] = []
    for edge, event in events:
        state, produced = push(OPERATOR, scheme, state, edge, event)
        outputs += produced
    return state, outputs


def log_of(queue: Sequence[Event]) -> Log[Event]:
    log: Log[Event] = Log()
    return log.extend(queue)


def held(queue: Sequence[Event], trim: SN, skips: Ranges) -> list[Event]:
    """What upstream holds of them once it has received an acknowledgement."""
    site = Site(
        "up", Role.SOURCE, SOURCE, (), ("A",), UpstreamBackupConfig(UpstreamBackupDesign(), (), ())
    )
    (outlet,) = release(site, (Outlet(log_of(queue)),), "A", Ack(trim, skips, ()))
    return [*outlet.backup]


def merge(queues: Sequence[Sequence[Event]]) -> list[Taken]:
    """As the operator takes them if all have arrived."""
    inlets = [InputQueue(log_of(queue), mark=10**9) for queue in queues]
    taken = []
    while (at := ready(tuple(inlets))) is not None:
        taken.append((at, inlets[at].queue.first()))
        inlets[at] = inlets[at]._replace(queue=inlets[at].queue.rest())
    return taken


def queues_of(merged: Iterable[Taken]) -> list[list[Event]]:
    """What is held upstream of each edge, if that is the order in which the operator takes it."""
    merged = [*merged]
    queues = [[event for at, event in merged if at == edge] for edge in range(2)]
    assert merge(queues) == merged
    assert all(queue == sorted(queue) for queue in queues)
    return queues


@pytest.mark.parametrize("design", [PUBLISHED, OVERLAPPING], ids=lambda design: design.shares)
def test_one_array_deletes_what_a_replay_needs(design: counterexamples.SharedRanges) -> None:
    run = found(design)
    merged, seen, receiver = play(run)
    numbers = [event.sn for _, event in merged]
    assert (len({*numbers}) == len(numbers)) is design.distinct
    queues = queues_of(merged)

    def replayed(scheme: Scheme) -> tuple[list[Event], set[Taken]]:
        """What the operator produces when it is restored, and what upstream has deleted then."""
        start = origin(scheme, 2)
        state, _ = process(scheme, restore(scheme, start), merged[:seen])
        _, savepoint, skips = notice(scheme, OPERATOR.splitter, state, start)
        left = [*queues]
        left[receiver] = held(queues[receiver], NOTHING, skips[receiver])
        again = merge(left)
        _, outputs = process(scheme, restore(scheme, savepoint), again)
        return outputs, {*merged} - {*again}

    _, failure_free = process(COALESCED, restore(COALESCED, origin(COALESCED, 2)), merged)
    outputs, gone = replayed(COALESCED)
    lost = {(run.events[i][0], (run.events[i][1],)) for i in run.lost}
    assert lost
    assert lost <= {(edge, event.sn) for edge, event in gone}
    assert len(outputs) < len(failure_free)
    outputs, gone = replayed(PER_EDGE)
    assert outputs == failure_free
    assert all(event.body.type == "b" for _, event in gone)


def test_one_trim_deletes_what_a_replay_needs() -> None:
    run = found(ONE_TRIM)
    merged, seen, receiver = play(run)
    assert seen == 1
    # The model keeps the window of the event acknowledged, so one more comes before the save.
    (edge, before), *later = merged
    number = max(event.sn[0] for _, event in merged) + 1
    acked = Event((number,), Body(before.body.time, "a"))
    events = [(edge, before), (edge, acked), *later]
    assert edge != receiver
    queues = queues_of(events)

    start = restore(PER_EDGE, origin(PER_EDGE, 2))
    state, outputs = process(PER_EDGE, start, events[:2])
    saved = save(PER_EDGE, OPERATOR.splitter, state, outputs[-1].sn)
    assert saved is not None
    _, savepoint, _ = saved
    assert savepoint.trim[edge] == before.sn, "it comes just before the replay start"
    _, failure_free = process(PER_EDGE, start, events)
    expected = [event for event in failure_free if event.sn[-2] >= savepoint.seed.window]

    def replayed(trims: Sequence[SN]) -> list[Event]:
        left = [held(queue, trim, ()) for queue, trim in zip(queues, trims, strict=True)]
        return process(PER_EDGE, restore(PER_EDGE, savepoint), merge(left))[1]

    assert replayed(savepoint.trim) == expected
    lost = [event.sn for at, event in events if at == receiver]
    assert lost == [(run.events[i][1],) for i in run.lost]
    wrong = replayed((before.sn, before.sn))
    assert len(wrong) == len(expected) - 1


def test_a_run_of_skipped_events_covers_the_numbers_between_them() -> None:
    """Numbers 1 and 3 of one edge are skipped, 2 of another edge is needed."""
    array = Skips().skip((1,)).skip((3,)).after(NOTHING)
    assert array == (((1,), (3,)),)
    assert covers(array, (2,))


# --- one array, one order --------------------------------------------------------------------
class Replay(NamedTuple):
    expected: list[Event]
    outputs: list[Event]
    gone: int


def crashed(scheme: Scheme, events: Sequence[Taken], theta: int) -> Replay | None:
    """All events are processed, one complex event acknowledged; then the operator crashes."""
    state, outputs = process(scheme, restore(scheme, origin(scheme, 2)), events)
    if not outputs:
        return None
    saved = save(scheme, OPERATOR.splitter, state, outputs[theta % len(outputs)].sn)
    assert saved is not None
    _, savepoint, skips = saved
    kept = [
        (edge, event)
        for edge, event in events
        if event in held([event], savepoint.trim[edge], skips[edge])
    ]
    _, again = process(scheme, restore(scheme, savepoint), kept)
    expected = [event for event in outputs if event.sn[-2] >= savepoint.seed.window]
    return Replay(expected, again, len(events) - len(kept) - trimmed(events, savepoint))


def trimmed(events: Sequence[Taken], savepoint: Savepoint) -> int:
    return sum(event.sn <= savepoint.trim[edge] for edge, event in events)


WORDS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from("abb")), max_size=12)


def in_order(word: list[tuple[int, str]]) -> list[Taken]:
    """The i-th event has the number i, whichever its edge."""
    return [(edge, Event((i,), Body(i, type_))) for i, (edge, type_) in enumerate(word, 1)]


@given(WORDS, st.integers(0, 11), st.sampled_from([COALESCED, PER_EDGE]))
def test_one_array_is_right_if_the_merge_follows_the_numbers(
    word: list[tuple[int, str]], theta: int, scheme: Scheme
) -> None:
    replay = crashed(scheme, in_order(word), theta)
    assert replay is None or replay.outputs == replay.expected


def test_events_are_deleted_with_both_and_only_one_array_needs_the_order() -> None:
    """The property above can fail, and is not about nothing."""
    word = [(0, "a"), (0, "b"), (1, "b"), (1, "a"), (0, "b"), (1, "a")]
    events = in_order(word)
    for scheme in (COALESCED, PER_EDGE):
        replay = crashed(scheme, events, 0)
        assert replay is not None
        assert replay.outputs == replay.expected
        assert replay.gone == 3
    # The same events, each edge with numbers of its own.
    own = [
        (edge, event._replace(sn=(sum(at == edge for at, _ in word[: i + 1]),)))
        for i, (edge, event) in enumerate(events)
    ]
    wrong, right = crashed(COALESCED, own, 0), crashed(PER_EDGE, own, 0)
    assert wrong is not None
    assert right is not None
    assert wrong.outputs != wrong.expected
    assert right.outputs == right.expected


# --- drift -----------------------------------------------------------------------------------
NARROW = Scope(
    MERGE,
    (
        ("left", Inputs((Arrival(1, "a"), Arrival(1, "b")), 2)),
        ("right", Inputs((Arrival(1, "a"),), 1)),
    ),
    crashes=0,
)
ONE_ARRAY = protocols()["upstream-backup:coalesced-skips"]


def test_one_array_drifts_from_the_system_with_an_array_an_edge() -> None:
    (account,) = compare(ABSTRACTIONS, ONE_ARRAY, NARROW).values()
    assert account.drift is not None
    assert account.drift.kind is FormulaMisfit.AXIOM
    assert account.drift.formula == ranges.ARRAYS
    given_up = without(ranges.ARRAYS)
    (account,) = compare(ABSTRACTIONS, ONE_ARRAY, NARROW, given_up).values()
    assert account.drift is not None
    assert account.drift.kind is FormulaMisfit.INVARIANT
    assert account.drift.formula == "the run covers no event that is needed"


@pytest.mark.slow
def test_one_array_is_right_for_one_edge_and_arrays_an_edge_for_two() -> None:
    (account,) = compare(ABSTRACTIONS, ONE_ARRAY, SKIPPY, limit=10_000).values()
    assert account.drift is None
    assert account.transitions["receive"]
    (account,) = compare(ABSTRACTIONS, PROTOCOL, NARROW).values()
    assert account.drift is None
    assert account.transitions["skip"]


def test_deleting_one_event_too_many_drifts(monkeypatch: pytest.MonkeyPatch) -> None:
    def wider(skips: Ranges, sn: SN) -> bool:
        return any(lo <= sn <= (*hi[:-1], hi[-1] + 1) for lo, hi in skips)

    (scope,) = (
        pinned.scope
        for pinned in PROTOCOL.evidence.scopes
        if pinned.name == "match at the end of the window"
    )
    monkeypatch.setattr(backup, "covers", wider)
    (account,) = compare(ABSTRACTIONS, PROTOCOL, scope, limit=10_000).values()
    assert account.drift is not None
    assert account.drift.kind is FormulaMisfit.INVARIANT
    assert account.drift.formula == ranges.DELETED
