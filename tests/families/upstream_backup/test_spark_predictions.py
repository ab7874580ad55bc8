"""Predictions for upstream backup in micro-batches: the guarantee holds, and the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.actions import Action, Deliver, Inject, Restart
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.choices import faults, progress
from model.core import Arrival, Guarantee, Scope
from model.graph import chain
from model.oracle import oracle
from model.play import Play
from model.protocols.upstream_backup.scopes import ANY_MATCH, EVERY, LATE, SKIPPY
from model.recovery import classify
from model.registry import protocols
from proofs.explore.strategies import operators, streams
from sim.predictions.upstream_backup import BackupPoint, Incarnation, PredictedCounts, predict

CORRECT = protocols()["upstream-backup"]
GRAPH = chain(("A", Operator(one_run("a", "b"), CountWindows(6, 2))))


def _word(types: str) -> tuple[Arrival, ...]:
    return tuple(Arrival(1, type_) for type_ in types)


@st.composite
def incarnations(draw: st.DrawFn, events: int) -> list[Incarnation]:
    """Up to three incarnations; each begins its batches anywhere, as a replay does, and the last
    comes to the end."""
    drawn: list[Incarnation] = []
    for _ in range(draw(st.integers(0, 2))):
        sizes = draw(st.lists(st.integers(1, 5), max_size=5))
        ends = [end for end in accumulate(sizes) if end <= events]
        drawn.append(Incarnation(tuple(ends), draw(st.sampled_from(BackupPoint))))
    sizes = draw(st.lists(st.integers(1, 5), max_size=5))
    drawn.append(Incarnation((*(end for end in accumulate(sizes) if end < events), events)))
    return drawn


@given(data=st.data())
def test_whatever_the_batches_and_crashes_the_output_is_as_if_nothing_had_failed(
    data: st.DataObject,
) -> None:
    operator = data.draw(operators())
    graph = chain(("A", operator))
    word = data.draw(streams(longest=14))
    planned = data.draw(incarnations(len(word)))
    ran = predict(CORRECT, graph, word, planned)
    ((expected,),) = oracle(graph, {"source": word}).values()
    assert ran.outputs == expected
    assert len(ran.replayed) == len(planned) - 1  # one a restart
    assert len(ran.handed) == len(planned)
    assert ran.left <= ran.peak <= len(word)
    assert all(replayed <= ran.peak for replayed in ran.replayed)


def test_only_what_the_world_offers_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done: Counter[str] = Counter()

    def checked(played: Play, *actions: Action) -> None:
        for action in actions:
            if not isinstance(action, Inject):
                by = progress if isinstance(action, Deliver | Restart) else faults
                assert action in by(played.system, played.world, action.node)
            done[type(action).__name__] += 1
            do(played, action)

    do = Play.do
    monkeypatch.setattr(Play, "do", checked)
    word = _word("aabb" * 5)
    for point in BackupPoint:
        predict(
            CORRECT,
            GRAPH,
            word,
            [Incarnation((4, 8), point), Incarnation((8, 12), point), Incarnation((16, 20))],
        )
    assert done["Inject"] == len(word) * len(BackupPoint)
    assert done["Crash"] == done["Restart"] == 2 * len(BackupPoint)
    assert done["Deliver"] > 0


@given(
    word=st.text("ab", min_size=8, max_size=20),
    sizes=st.lists(st.integers(1, 5), min_size=4, max_size=4),
)
def test_a_batch_alone_is_acknowledged_never(word: str, sizes: list[int]) -> None:
    """Acknowledgements lag by one batch, and after the last there is none."""
    whole = predict(CORRECT, GRAPH, _word(word), [Incarnation((len(word),))])
    assert (whole.peak, whole.left, whole.trimmed) == (len(word), len(word), 0)
    ends = [end for end in accumulate(sizes) if end < len(word)]
    parts = predict(CORRECT, GRAPH, _word(word), [Incarnation((*ends, len(word)))])
    assert parts.left <= whole.left


def test_when_in_a_batch_a_crash_comes_makes_a_difference() -> None:
    word, ends = _word("aabbabab" * 2), (4, 8, 12, 16)
    seen = {}
    for point in BackupPoint:
        ran = predict(CORRECT, GRAPH, word, [Incarnation(ends[:3], point), Incarnation(ends[2:])])
        seen[point] = (ran.replayed, ran.handed[0], ran.discarded)
    replayed = {point: counts[0] for point, counts in seen.items()}
    assert (
        replayed[BackupPoint.PLANNED] > replayed[BackupPoint.ACKED]
    )  # the acknowledgement is lost
    assert seen[BackupPoint.ACKED][1] < seen[BackupPoint.PROCESSED][1]  # the events are not given
    # What the sink has comes again.
    assert seen[BackupPoint.PROCESSED][2] < seen[BackupPoint.TAKEN][2]
    assert seen[BackupPoint.TAKEN] == seen[BackupPoint.SAVED]  # savepoints on their way are lost


def test_skip_ranges_make_replays_shorter() -> None:
    graph = chain(("A", Operator(one_run("a", "b"), CountWindows(12, 5))))
    word = _word("acdbcdacdb" * 4)
    crashed = [Incarnation((10, 20, 30), BackupPoint.ACKED), Incarnation((30, 40))]
    skipping = predict(CORRECT, graph, word, crashed)
    plain = predict(protocols()["upstream-backup:no-skips"], graph, word, crashed)
    assert skipping.outputs == plain.outputs
    assert skipping.replayed < plain.replayed


def test_a_crash_before_the_first_batch_is_one() -> None:
    ran = predict(
        CORRECT, GRAPH, _word("aabb"), [Incarnation((), BackupPoint.PLANNED), Incarnation((4,))]
    )
    assert ran.replayed == (0,)
    assert ran.handed == (0, 4)


@pytest.mark.parametrize(
    ("variant", "scope", "word", "crashed", "guarantee"),
    [
        ("pairs", ANY_MATCH, "aab", [Incarnation((3,))], Guarantee.GAP),
        (
            "pairs",
            LATE,
            "baa",
            [Incarnation((1, 2, 3), BackupPoint.ACKED), Incarnation((1, 2, 3))],
            Guarantee.REPEATING,
        ),
        (
            "scalar",
            EVERY,
            "aaaa",
            [Incarnation((1, 2, 3, 4), BackupPoint.ACKED), Incarnation((2, 3, 4))],
            Guarantee.GAP,
        ),
        (
            "opener-windows",
            SKIPPY,
            "aba",
            [Incarnation((2, 3), BackupPoint.PROCESSED), Incarnation((3,))],
            Guarantee.GAP,
        ),
        (
            "counted-windows",
            SKIPPY,
            "aba",
            [Incarnation((2, 3), BackupPoint.PROCESSED), Incarnation((3,))],
            Guarantee.GAP,
        ),
        (
            "pairs-of-inputs",
            SKIPPY,
            "abaaa",
            [Incarnation((2, 4), BackupPoint.SAVED), Incarnation((3, 5))],
            Guarantee.GAP,
        ),
    ],
)
def test_what_is_refuted_goes_wrong_in_batches_too(
    variant: str, scope: Scope, word: str, crashed: Sequence[Incarnation], guarantee: Guarantee
) -> None:
    graph, arrivals = scope.graph, _word(word)
    ((expected,),) = oracle(graph, {"source": arrivals}).values()

    def outputs(name: str) -> PredictedCounts:
        return predict(protocols()[name], graph, arrivals, crashed)

    assert classify(expected, outputs(f"upstream-backup:{variant}").outputs) is guarantee
    assert outputs("upstream-backup").outputs == expected
