"""What a family's tests take is added up, and a family above its budget is named."""

from __future__ import annotations

from tests.family_seconds import BUDGET_S, OLDER, add_up, lines

DURATIONS = [
    ("tests/families/hot_standby/test_spark_predictions.py::test_it", BUDGET_S),
    ("tests/proofs/test_explorer.py::test_a_scope[hot-standby:eager-small]", 0.5),
    ("tests/proofs/test_explorer.py::test_a_scope[micro-batch-small]", 2 * BUDGET_S),
    ("tests/model/test_windows.py::test_no_family", 9.0),
    ("tests/model/test_windows.py::test_an_idler_is_no_idle_family", 0.25),
    ("tests/model/test_idlers.py::test_none", 9.0),
]


def test_a_test_counts_for_the_family_that_it_names() -> None:
    found = add_up(DURATIONS, ["hot-standby", "micro-batch", "idle"])
    assert found == {"hot-standby": BUDGET_S + 0.5, "micro-batch": 2 * BUDGET_S, "idle": 0.25}


def test_a_family_above_its_budget_is_a_warning_and_an_older_one_is_not() -> None:
    assert "micro-batch" in OLDER
    told = lines(add_up(DURATIONS, ["hot-standby", "micro-batch"]))
    assert [(line.split(":")[0], over) for line, over in told] == [
        ("micro-batch", False),
        ("hot-standby", True),
    ]
    assert "WARNING" in told[1][0]
    assert not any(over for _, over in lines({"hot-standby": BUDGET_S}))
