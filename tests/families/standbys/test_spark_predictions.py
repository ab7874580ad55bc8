"""What is predicted of Spark: by hand, and as a check that notices what differs."""

from __future__ import annotations

from itertools import accumulate, cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_check.check import engine_case
from sim.predictions import active_standby, amnesia, passive_standby, upstream_backup_acks
from sim.predictions.counts import SinkBatch, appended, idempotent, lost, newer, rows, text
from sim.predictions.passive_standby import Shipped
from spark_check.active_standby.checks import failovers
from spark_check.amnesia.checks import restarts
from spark_check.passive_standby.checks import takeovers
from spark_check.upstream_backup_acks.checks import replays

TYPES = "aababbb"


def test_counts_begin_where_the_state_begins() -> None:
    assert text(rows(TYPES, SinkBatch(1, 2, 5))) == "3b1 4a3 5b2"
    assert text(rows(TYPES, SinkBatch(0, 2, 5, since=2))) == "3b1 4a1 5b2"


def test_a_restart_without_a_checkpoint_loses_what_came_while_it_was_down() -> None:
    ran = amnesia.batches((0, 2, 4), written=1, begins=5, total=7)
    assert lost(TYPES, ran) == 3
    assert text(appended(TYPES, ran)) == "1a1 2a2 6b1 7b2"
    assert text(idempotent(TYPES, ran)) == "1a1 2a2"


def test_a_takeover_makes_one_batch_of_what_was_not_shipped() -> None:
    ran = passive_standby.after(passive_standby.before((0, 2, 4), 2), Shipped(1, 2), 7)
    assert text(appended(TYPES, ran)) == "1a1 2a2 3b1 4a3 3b1 4a3 5b2 6b3 7b4"
    assert text(idempotent(TYPES, ran)) == "1a1 2a2 3b1 4a3"
    assert passive_standby.is_refused(Shipped(1, 2), 4)
    assert not passive_standby.is_refused(Shipped(1, 2), 2)


@pytest.mark.parametrize("one", restarts.FULL)
def test_amnesia_is_a_gap_of_the_predicted_size(one: restarts.AmnesiaRestart) -> None:
    found = restarts.predict(one)
    assert found["events in no batch"] == restarts.LATE + (0 if one.written else one.sizes[-1])
    assert found["append sink, guarantee"] == "gap"


@pytest.mark.parametrize("one", takeovers.FULL)
def test_a_takeover_repeats_or_is_refused(one: takeovers.Takeover) -> None:
    found = takeovers.predict(one)
    assert found["refused"] != one.keeps
    assert found["append sink, guarantee"] == ("repeating" if one.keeps else "gap")


def test_a_wrong_prediction_is_noticed() -> None:
    first, second = takeovers.FULL[2:]
    assert takeovers.predict(first) != takeovers.predict(second)
    case = engine_case("", takeovers.predict(first), takeovers.predict(second))
    assert not case.agrees
    assert engine_case("", case.predicted, case.predicted).agrees


def test_what_downstream_has_acknowledged_leaves_the_queue() -> None:
    ran = active_standby.batches((0, 3, 5, 7))
    assert active_standby.waiting(ran, 4) == [SinkBatch(1, 4, 5), SinkBatch(2, 5, 7)]
    assert active_standby.waiting(ran, 0) == ran
    assert active_standby.waiting(ran, 7) == []


def test_a_query_that_begins_at_the_cause_makes_the_rows_of_its_windows_again() -> None:
    assert [upstream_backup_acks.cause(end, 3) for end in range(7)] == [0, 0, 0, 3, 3, 3, 6]
    first = SinkBatch(0, 0, 5)
    assert text(rows(TYPES, first, 3)) == "1a1 2a2 3b1 4a1 5b1"
    (again,) = upstream_backup_acks.after([], 3, 7)
    assert text(rows(TYPES, again, 3)) == "4a1 5b1 6b2 7b1"
    (late,) = upstream_backup_acks.after([], 4, 7)
    assert text(rows(TYPES, late, 3)) == "5b1 6b2 7b1"
    assert upstream_backup_acks.after([first], 3, 5, 7)[1:] == [
        SinkBatch(0, 3, 5, 3),
        SinkBatch(1, 5, 7, 3),
    ]
    assert upstream_backup_acks.is_refused(3, 5, 1)
    assert not upstream_backup_acks.is_refused(3, 5, 3)


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=6),
    st.lists(st.integers(1, 4), min_size=1, max_size=6),
    st.data(),
)
def test_discarding_by_events_is_precise_whatever_the_batches(
    sizes: list[int], others: list[int], data: st.DataObject
) -> None:
    """Two queries with batches of their own; downstream acknowledges at most what it has."""
    total = max(sum(sizes), sum(others))
    first, second = (
        active_standby.batches([*accumulate(mine, initial=0), total + 1])
        for mine in (sizes, others)
    )
    types = "".join(islice(cycle(TYPES), total + 1))
    sent = data.draw(st.integers(0, len(first)))
    received = first[sent - 1].end if sent else 0
    acknowledged = data.draw(st.integers(0, received))
    released = active_standby.waiting(second, acknowledged)
    want = rows(types, SinkBatch(0, 0, total + 1))
    assert newer(appended(types, [*first[:sent], *released])) == want


@pytest.mark.parametrize("one", failovers.FULL)
def test_a_failover_repeats_what_is_not_acknowledged(one: failovers.Failover) -> None:
    found = failovers.predict(one)
    repeats = one.acknowledged < failovers.LOAD.ends[1 + one.written]
    assert found["append sink, guarantee"] == ("repeating" if repeats else "precise")
    assert found["sink by event, guarantee"] == "precise"
    by_id = "gap" if one.ends == failovers.OWN and one.written else "precise"
    assert found["idempotent sink, guarantee"] == by_id


@pytest.mark.parametrize("one", replays.FULL)
def test_a_replay_needs_the_windows_that_were_open(one: replays.AcknowledgedReplay) -> None:
    found = replays.predict(one)
    assert found["refused"] == (one.whole and not one.acknowledges)
    whole = one.whole and one.acknowledges
    assert found["append sink, guarantee"] == ("repeating" if whole else "gap")
    assert found["sink by event, guarantee"] == ("precise" if whole else "gap")
    assert found["idempotent sink, guarantee"] == "gap"
