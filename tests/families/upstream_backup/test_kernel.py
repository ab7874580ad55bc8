"""Kernel, model and match oracle agree, also where the published numbers are wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cep.numbering import PAIRS, SCALAR, TRIGGERED, Numbering
from model.errors import Invalid
from sim.experiments.lima import match_oracle as batch
from sim.experiments.lima.cycle import (
    BLOCK,
    CycleOutcome,
    CycleSetting,
    EventArrays,
    Theta,
    check,
    run_cycle,
)
from sim.experiments.lima.kernel import run

ROOT = Path(__file__).parents[3]
TYPES = 5


def stream(types: list[int], gaps: list[int]) -> EventArrays:
    return EventArrays(np.array(types, np.uint8), np.cumsum(np.array(gaps, np.int64)))


def drawn(events: int, seed: int) -> EventArrays:
    draw = np.random.default_rng(seed)
    types = draw.integers(0, TYPES, events, np.uint8)
    return EventArrays(types, np.cumsum(draw.integers(0, 3, events)))


@st.composite
def cycles(draw: st.DrawFn) -> tuple[EventArrays, CycleSetting]:
    events = draw(st.integers(0, 70))  # else most lists are short
    types = draw(st.lists(st.integers(0, TYPES - 1), min_size=events, max_size=events))
    gaps = st.lists(st.integers(0, 3), min_size=events, max_size=events)
    skip = draw(st.booleans())
    setting = CycleSetting(
        pattern=tuple(draw(st.permutations(range(TYPES)))[: draw(st.integers(1, 4))]),
        size=draw(st.integers(1, 40)),
        slide=draw(st.integers(1, 45)),
        interval=draw(st.integers(1, 5)),
        fail_after=draw(st.none() | st.just(events) | st.integers(0, events)),
        skip=skip,
        notice_every=draw(st.none() | st.integers(1, 6)) if skip else None,
        numbering=draw(st.sampled_from([PAIRS, TRIGGERED])),
        theta=draw(st.sampled_from(Theta)),
    )
    return stream(types, draw(gaps)), setting


def matches(given_: EventArrays, setting: CycleSetting) -> list[tuple[int, int]]:
    """By the batch oracle: (window, place of the last event)."""
    windows, places = batch.matches(*given_, setting.pattern, setting.size, setting.slide)
    return list(zip(windows.tolist(), places.tolist(), strict=True))


def passed_on(outcome: CycleOutcome, setting: CycleSetting) -> list[tuple[int, int]]:
    """What the sink makes of the complex events that it did not discard."""
    window = 1 if setting.numbering is PAIRS else 3
    return [(theta.sn[window], theta.at) for theta in outcome.made if theta.passed_on]


@pytest.mark.slow
@settings(max_examples=600)
@given(cycles())
def test_kernel_and_model_do_the_same(drawn_: tuple[EventArrays, CycleSetting]) -> None:
    given_, setting = drawn_
    ran, expected = run(given_, setting).outcome(), run_cycle(given_, setting)
    for of_kernel, of_model in zip(ran, expected, strict=True):
        assert of_kernel == of_model


@pytest.mark.slow
@settings(max_examples=400)
@given(cycles())
def test_and_what_they_pass_on_is_what_the_batch_oracle_finds(
    drawn_: tuple[EventArrays, CycleSetting],
) -> None:
    given_, setting = drawn_
    if setting.numbering is PAIRS:
        setting = replace(setting, fail_after=None)
    outcome = run(given_, setting).outcome()
    assert passed_on(outcome, setting) == matches(given_, setting)


@pytest.mark.parametrize("numbering", [PAIRS, TRIGGERED], ids=lambda n: n.name)
@pytest.mark.parametrize("notice_every", [None, 20])
@pytest.mark.parametrize("slide", [10, 160])
@pytest.mark.parametrize("theta", Theta, ids=lambda t: t.name)
def test_a_longer_cycle(
    theta: Theta, slide: int, notice_every: int | None, numbering: Numbering
) -> None:
    given_ = drawn(1500, seed=slide)
    setting = CycleSetting((0, 1, 2), 200, slide, 8, 750, True, notice_every, numbering, theta)
    outcome, without = (run(given_, s).outcome() for s in (setting, skipless(setting)))
    assert outcome == run_cycle(given_, setting)
    assert without == run_cycle(given_, skipless(setting))
    # The run was one in which something happened.
    assert 0 < len(outcome.replayed) < len(without.replayed)
    assert outcome.peak < without.peak
    assert any(not theta.passed_on for theta in outcome.made[outcome.before :])
    assert any(sent.ranges for sent in outcome.sent)
    assert any(sent.notice for sent in outcome.sent) == (notice_every is not None)


def skipless(setting: CycleSetting) -> CycleSetting:
    return replace(setting, skip=False, notice_every=None)


@given(cycles())
def test_of_one_acknowledgement_the_first_is_the_last(
    drawn_: tuple[EventArrays, CycleSetting],
) -> None:
    given_, setting = drawn_
    first, last = (run(given_, replace(setting, interval=1, theta=t)).outcome() for t in Theta)
    assert first == last


@given(cycles())
def test_a_later_theta_is_saved_for_at_the_same_time_and_keeps_no_more(
    drawn_: tuple[EventArrays, CycleSetting],
) -> None:
    given_, setting = drawn_
    first, last = (run(given_, replace(setting, fail_after=None, theta=t)).outcome() for t in Theta)
    assert last.made == first.made
    for later, earlier in zip(last.sent, first.sent, strict=True):
        assert (later.after, later.notice) == (earlier.after, earlier.notice)
        assert later.savepoint.trim >= earlier.savepoint.trim
    assert last.peak <= first.peak
    assert last.backup <= first.backup


def test_theta_first_and_last_by_hand() -> None:
    """Each event is a window and a match; the last save, after event 4, is for event 3 or 4."""
    given_ = stream([0] * 4, [1] * 4)
    setting = CycleSetting((0,), 1, 1, interval=2, fail_after=4)
    replayed = {t: run(given_, replace(setting, theta=t)).outcome().replayed for t in Theta}
    assert replayed == {Theta.FIRST: (3, 4), Theta.LAST: (4,)}


# Two windows from times 0 and 5, of 6 time units each.  Window 1 matches alone (3:1) after the
# first complex event of window 2 (2:2) and closes before the one acknowledged last (4:2).  A replay
# begins with window 2, so it does not count 3:1, and numbers from then on are one too small.
LOSING = EventArrays(
    np.array([0, 1, 0, 2, 1, 0, 2, 1, 2, 0, 1, 2, 0, 1, 2], np.uint8),
    np.array([0] * 2 + [5] * 7 + [6] * 6),
)
PUBLISHED = CycleSetting((0, 1, 2), 6, 5, interval=1, fail_after=12, numbering=PAIRS)


def test_published_pairs_lose_a_match_in_both_in_the_same_way() -> None:
    outcome = run(LOSING, PUBLISHED).outcome()
    assert outcome == run_cycle(LOSING, PUBLISHED)
    original, again = outcome.made[: outcome.before], outcome.made[outcome.before :]
    assert [(theta.sn, theta.at) for theta in original] == [
        ((1, 1), 4),
        ((2, 2), 7),
        ((3, 1), 9),
        ((4, 2), 12),
    ]
    assert [(theta.sn, theta.at) for theta in again] == [((2, 2), 7), ((3, 2), 12), ((4, 2), 15)]
    assert matches(LOSING, PUBLISHED) == [*passed_on(outcome, PUBLISHED), (2, 15)]
    corrected = replace(PUBLISHED, numbering=TRIGGERED)
    assert passed_on(run(LOSING, corrected).outcome(), corrected) == matches(LOSING, corrected)


@given(
    extra=st.lists(st.tuples(st.integers(0, 15), st.integers(0, 3)), max_size=6),
    processed=st.integers(10, 15),
    notice_every=st.none() | st.integers(1, 2),
    numbering=st.sampled_from([PAIRS, TRIGGERED]),
)
def test_and_with_other_events_in_between(
    extra: list[tuple[int, int]], processed: int, notice_every: int | None, numbering: Numbering
) -> None:
    """A replay skips what only window 1 used: notices are sent while it lasts."""
    types, times = (array.tolist() for array in LOSING)
    for at, type_ in extra:
        types.insert(at, type_)
        times.insert(at, times[min(at, len(times) - 1)])
    given_ = EventArrays(np.array(types, np.uint8), np.array(times))
    setting = replace(
        PUBLISHED,
        fail_after=processed + len(extra),
        notice_every=notice_every,
        numbering=numbering,
    )
    assert run(given_, setting).outcome() == run_cycle(given_, setting)


def test_published_pairs_lose_matches_now_and_then_corrected_ones_never() -> None:
    losing = []
    for seed in range(200):
        given_ = drawn(600, seed)
        published = CycleSetting((0, 1, 2, 3), 100, 25, 1, 300, numbering=PAIRS)
        corrected = replace(published, numbering=TRIGGERED)
        expected = matches(given_, published)
        assert passed_on(run(given_, corrected).outcome(), corrected) == expected
        outcome = run(given_, published).outcome()
        if passed_on(outcome, published) != expected:
            losing.append(seed)
            assert outcome == run_cycle(given_, published)
    assert 0 < len(losing) < 20


def test_a_recovery_repeated_for_its_measurement_changes_nothing() -> None:
    given_, setting = drawn(400, seed=2), CycleSetting((0, 1, 2), 50, 7, 3, 200)
    assert run(given_, setting, rounds=3).outcome() == run_cycle(given_, setting)
    with pytest.raises(Invalid, match="0 rounds of recovery: give at least 1"):
        run(given_, setting, rounds=0)


def test_tables_grow() -> None:
    given_ = drawn(300, seed=0)
    setting = CycleSetting((0, 1), 200, 1, 1, 150)
    ran = run(given_, setting)
    assert len(ran.made) > len(given_.types)
    assert ran.outcome() == run_cycle(given_, setting)


def test_tables_grow_for_notices_alone() -> None:
    given_ = EventArrays(np.ones(300, np.uint8), np.arange(300))
    setting = CycleSetting((0,), 200, 150, 1, 250, notice_every=1)
    ran = run(given_, setting)
    assert min(len(ran.sent), len(ran.ranges)) > len(given_.types) * 0.9
    assert ran.outcome() == run_cycle(given_, setting)


def test_tables_grow_for_ranges_alone() -> None:
    types = [2, *([2, 0, 2, 2, 1, 2] * 200)]
    given_ = stream(types, [1] * len(types))
    setting = CycleSetting((0, 1), 2000, 2000, 2000, notice_every=2)
    ran = run(given_, setting)
    assert len(ran.ranges) > len(given_.types) * 0.6 > 1.5 * max(len(ran.sent), len(ran.made))
    assert ran.outcome() == run_cycle(given_, setting)


def test_tables_grow_for_triggers_alone() -> None:
    types = [0, 1] * 600
    given_ = stream(types, [1] * len(types))
    setting = CycleSetting((0, 1), 2000, 2000, 2000)
    ran = run(given_, setting)
    assert len(ran.triggers) == len(ran.made) == len(types) / 2
    assert max(len(ran.ranges), len(ran.sent)) == 0
    assert ran.outcome() == run_cycle(given_, setting)


INTERPRETED = """
import sys
sys.modules["numba"] = None
from sim.experiments.compiled import COMPILED
from sim.experiments.lima.kernel import run
from tests.families.upstream_backup.test_kernel import CycleSetting, drawn
assert not COMPILED
print(run(drawn(400, seed=1), CycleSetting((0, 1, 2), 50, 7, 3, 200)).outcome())
"""


def test_without_numba_it_is_the_same() -> None:
    shown = subprocess.run(
        [sys.executable, "-W", "error", "-c", INTERPRETED],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = run_cycle(drawn(400, seed=1), CycleSetting((0, 1, 2), 50, 7, 3, 200))
    assert shown.stdout.strip() == str(expected)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"pattern": ()}, "pattern (): give one or more"),
        ({"pattern": (1, 1)}, "all distinct"),
        ({"pattern": (256,)}, "type codes are 0 to 255"),
        ({"size": 0}, "window size 0"),
        ({"interval": 0}, "save interval 0"),
        ({"notice_every": 0}, "notice every 0"),
        ({"notice_every": 5, "skip": False}, "notices without skip ranges"),
        ({"numbering": SCALAR}, "numbering 'scalar'"),
        ({"fail_after": 4}, "failure after 4 events: there are 0 to 3"),
        ({"fail_after": -1}, "failure after -1 events"),
    ],
)
def test_settings_that_cannot_be_run(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(Invalid) as caught:
        run(stream([0, 1, 2], [1, 1, 1]), replace(CycleSetting((0,), 5, 2), **changes))  # type: ignore[arg-type]
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("given_", "complaint"),
    [
        (stream([0, 1, 2], [5, 1, -1]), "event 3 is earlier"),
        (EventArrays(np.zeros(2, np.uint8), np.zeros(3, np.int64)), "2 types and 3 times"),
        (EventArrays(np.zeros(2, np.int8), np.zeros(2, np.int64)), "give uint8 and int64"),
    ],
)
def test_streams_that_cannot_be_run(given_: EventArrays, complaint: str) -> None:
    with pytest.raises(Invalid) as caught:
        run(given_, CycleSetting((0,), 5, 2))
    assert complaint in str(caught.value)


@pytest.mark.parametrize("late", [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK])
def test_the_first_late_event_is_named_in_any_block(late: int) -> None:
    times = np.arange(2 * BLOCK + 1)
    times[late] -= 2
    with pytest.raises(Invalid, match=f"event {late + 1} is earlier"):
        check(EventArrays(np.zeros(len(times), np.uint8), times), CycleSetting((0,), 5, 2))
