"""What is predicted of Spark: by hand, and as a check that notices what differs."""

from __future__ import annotations

import pytest

from sim.predictions import amnesia, passive_standby
from sim.predictions.counts import Ran, appended, idempotent, lost, rows, text
from sim.predictions.passive_standby import Shipped
from spark_check.amnesia.checks import restarts
from spark_check.check import Case
from spark_check.passive_standby.checks import takeovers

TYPES = "aababbb"


def test_counts_begin_where_the_state_begins() -> None:
    assert text(rows(TYPES, Ran(1, 2, 5))) == "3b1 4a3 5b2"
    assert text(rows(TYPES, Ran(0, 2, 5, since=2))) == "3b1 4a1 5b2"


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
def test_amnesia_is_a_gap_of_the_predicted_size(one: restarts.Restart) -> None:
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
    case = Case("", takeovers.predict(first), takeovers.predict(second))
    assert not case.agrees
    assert case._replace(seen=case.predicted).agrees
