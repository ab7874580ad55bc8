"""Runs that a wrong form spoils: predicted rows, and the facts that the check compares.

Rule of this file: no engine; every number is derived from the ends of epochs beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_check.check import CheckSetting, run_check
from flink_check.abs import refuted_runs
from flink_check.abs.checks import refuted as check
from flink_check.abs.checks.refuted import AVAILABLE, CHECK, PLAIN, WrongForm, compare
from flink_check.engine import ENGINE
from flink_check.job import FILES
from flink_check.runtime.cluster import cluster
from model.core import Guarantee
from sim.predictions.abs import refuted
from sim.predictions.abs.refuted import (
    EpochEnds,
    RefutedRows,
    dropped,
    orphaned,
    recovery,
    reordered,
    unreplayable,
    woken,
)
from sim.predictions.count_rows import CountRow
from tests.families.abs.test_abs import BY_NAME as OTHERS
from tests.families.abs.test_fencing import BY_NAME as FENCED

FORMS = {form.name: form for form in (*PLAIN, *AVAILABLE)}
ENDS, KEYS = EpochEnds(4, 7, 9), 3
TYPES = {
    # (of the files, of the appended rows)
    "restored without the sink's state": (Guarantee.GAP, Guarantee.PRECISE),
    "a source that cannot be read again": (Guarantee.GAP, Guarantee.DIVERGENT),
    "another order of two inputs": (Guarantee.PRECISE, Guarantee.DIVERGENT),
    "tasks that write beside their successors": (Guarantee.PRECISE, Guarantee.REPEATING),
    "tasks that write on until they are fenced": (Guarantee.PRECISE, Guarantee.REPEATING),
    "a suspended TaskManager that wakes": (Guarantee.PRECISE, Guarantee.REPEATING),
}


@cache
def predicted(form: WrongForm) -> RefutedRows:
    return form.predicted()


def exact(begin: int, end: int, lost: range = range(0)) -> list[CountRow]:
    """The rows of these events of one source, of which some were lost before they were counted."""

    def nth(number: int) -> int:
        before = [one for one in range(number) if one not in lost]
        return 1 + sum(one % KEYS == number % KEYS for one in before)

    return [CountRow(0, n, n % KEYS, nth(n)) for n in range(begin, end)]


# --- predictions ---------------------------------------------------------------------------
def test_a_sink_that_drops_what_is_pre_committed_lacks_the_last_complete_epoch() -> None:
    found = dropped(ENDS, KEYS)
    assert found.files == (*exact(0, 4), *exact(7, 9))
    assert found.appended == (*exact(0, 9),)


def test_a_source_that_sends_nothing_again_loses_the_events_since_the_epoch() -> None:
    """The appended rows of these events are there, and later ones have too small counts."""
    found = unreplayable(ENDS, KEYS)
    assert found.files == (*exact(0, 4), *exact(7, 9, lost=range(4, 7)))
    assert found.appended == (*exact(0, 7), *exact(7, 9, lost=range(4, 7)))


def test_two_inputs_in_another_order_give_an_event_two_counts() -> None:
    """Of each source 1 event in the epoch; then 2 of the first one, and after the crash 2 of the
    second one before these."""
    found = reordered(EpochEnds(1, 3, 3))
    begin = [(0, 0, 1), (1, 0, 2)]
    after = [(1, 1, 3), (1, 2, 4), (0, 1, 5), (0, 2, 6)]
    assert [(one.source, one.number, one.nth) for one in found.files] == [*begin, *after]
    before = [(0, 1, 3), (0, 2, 4)]
    assert [(one.source, one.number, one.nth) for one in found.appended] == [
        *begin,
        *before,
        *after,
    ]


def test_orphans_repeat_all_that_they_write_after_the_epoch() -> None:
    found = orphaned(ENDS, 8, KEYS)
    assert found.files == (*exact(0, 9),)
    assert found.appended == (*exact(0, 8), *exact(4, 9))


def test_a_woken_writer_with_nothing_on_its_way_repeats_no_more_than_a_crash() -> None:
    found = woken(ENDS, KEYS)
    assert found.files == (*exact(0, 9),)
    assert found.appended == (*exact(0, 7), *exact(4, 9))


ends = st.lists(st.integers(1, 6), min_size=3, max_size=3).map(
    lambda parts: EpochEnds(parts[0], sum(parts[:2]), sum(parts))
)


@settings(deadline=None, max_examples=20)
@given(ends, st.integers(1, 4))
def test_files_are_exact_and_no_appended_row_is_lost_whatever_the_ends(
    ends: EpochEnds, keys: int
) -> None:
    for found in (orphaned(ends, ends.failure, keys), woken(ends, keys)):
        assert recovery(found.files, ends.last, keys) is Guarantee.PRECISE
        assert recovery(found.appended, ends.last, keys) is Guarantee.REPEATING
        times = Counter(one.number for one in found.appended)
        again = {number for number, n in times.items() if n == 2}
        assert again == {*range(ends.epoch, ends.failure)}
        assert {*times} == {*range(ends.last)}


# --- comparisons ---------------------------------------------------------------------
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_each_form_is_as_weak_as_its_variants(form: WrongForm) -> None:
    found = predicted(form)
    kinds = tuple(recovery(rows, form.ends.last, form.keys, form.sources) for rows in found)
    assert kinds == TYPES[form.name]
    known = {**OTHERS, **FENCED}
    pinned = [scope.guarantee for name in form.variants for scope in known[name].evidence.scopes]
    assert max(kinds) <= max(one for one in pinned if one is not None)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_rows_as_predicted_agree(form: WrongForm) -> None:
    case = compare(form, predicted(form), predicted(form))
    assert case.agrees
    assert case.details["variants"] == " and ".join(form.variants)


FAULTS: dict[str, Callable[[RefutedRows], RefutedRows]] = {
    "a row is missing": lambda rows: rows._replace(files=rows.files[:-1]),
    "a row comes once more": lambda rows: rows._replace(files=(*rows.files, rows.files[-1])),
    "a row is appended once more": lambda rows: rows._replace(
        appended=(*rows.appended, rows.appended[-1])
    ),
    "a count is another one": lambda rows: rows._replace(
        files=(*rows.files[:-1], rows.files[-1]._replace(nth=99))
    ),
    "nothing went wrong": lambda rows: rows._replace(appended=rows.appended[:0]),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_other_rows_do_not_agree(
    form: WrongForm, fault: Callable[[RefutedRows], RefutedRows]
) -> None:
    assert not compare(form, predicted(form), fault(predicted(form))).agrees


def test_a_run_in_which_nothing_goes_wrong_does_not_agree() -> None:
    """Rows of a right form, for the form that drops."""
    form = FORMS["restored without the sink's state"]
    right = predicted(form)._replace(files=predicted(form).appended)
    case = compare(form, predicted(form), right)
    assert not case.agrees
    assert case.seen["files"] == "precise; 250 rows, 100 of them as predicted"


def test_the_words_of_a_case_name_the_events() -> None:
    form = FORMS["another order of two inputs"]
    assert compare(form, predicted(form), predicted(form)).predicted == {
        "files": "precise; 10 rows, 10 of them as predicted",
        "appended": "divergent; 13 rows, 13 of them as predicted; again 2-4; with two counts 2-4",
    }
    assert check._spans([(0, 1), (0, 2), (1, 3)]) == "1-2, 1: 3"


def test_the_check_has_six_cases() -> None:
    assert (CHECK.family, CHECK.name, len(FORMS)) == ("abs", "refuted", 6)
    assert refuted.source_name(0) == "source0"


# --- with Flink -----------------------------------------------------------------------------------
@pytest.mark.flink
@pytest.mark.exhaustive  # `.ci/run` runs the same check
def test_flink_does_as_predicted(tmp_path: Path) -> None:
    result = run_check(ENGINE, CHECK, CheckSetting(tmp_path, "quick", lambda *_: None))
    assert [case.name for case in result.cases if not case.agrees] == []
    assert len(result.cases) == len(FORMS)


@pytest.mark.flink
def test_a_sink_that_finds_its_state_is_not_as_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right form on Flink, and the wrong one in the model: all rows are there."""
    monkeypatch.setattr(refuted_runs, "OTHER_FILES", FILES)
    form = FORMS["restored without the sink's state"]
    with cluster(tmp_path / "cluster") as flink:
        seen = form.run(flink, tmp_path / "run")
    case = compare(form, predicted(form), seen)
    assert not case.agrees
    assert case.seen["files"] == "precise; 250 rows, 100 of them as predicted"
