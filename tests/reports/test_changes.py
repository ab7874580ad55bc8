"""Kept reports: the same results change nothing; outcomes that differ, come or go are shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from asif.kept_reports import FOLDER, MOST, earlier, keep
from model.errors import Invalid
from model.evidence import Outcome
from model.results.report import ReportOrigin
from reports.page.changes import OutcomeChange, changes, kept
from tests.reports.test_page import _results, _verdict
from tests.reports.written import written

COMMIT = "c0ffee0123456789abcdef0123456789abcdef01"


def _origin(day: int, commit: str | None = None) -> ReportOrigin:
    return ReportOrigin(f"2026-11-{day:02}T12:00:00Z", commit, "a machine", {})


def test_times_and_dates_change_no_outcome() -> None:
    first = _results(origin=_origin(1))
    later = replace(first, seconds=9.0, origin=_origin(2), version="9")
    assert changes(kept(first), kept(later)) == []


def test_outcomes_that_differ_come_or_go_are_shown(tmp_path: Path) -> None:
    one, other = _results().verdicts
    before = _results(verdicts=(one, other), origin=_origin(1, "abc"))
    worse = replace(one, outcome=Outcome.REFUTED, expected=False)
    now = _results(verdicts=(worse, _verdict("upstream-backup:new")), origin=_origin(2))
    found = changes(kept(before), kept(now))
    words = "precise, 1 of 2 mutants killed"
    assert found == [
        OutcomeChange(
            "upstream-backup/itself", f"holds, {words}", f"refuted, {words}, NOT as expected"
        ),
        OutcomeChange("upstream-backup:new", "", f"holds, {words}"),
        OutcomeChange("upstream-backup:pairs", "refuted in 3 steps, gap", ""),
    ]
    for text in written(now, tmp_path, before=kept(before)).both:
        assert "Changed since the report of 2026-11-01 12:00:00 UTC: 3" in text
        assert "quick report of 2026-11-01 12:00:00 UTC, commit abc: 3 outcomes changed" in text


def test_the_newest_report_of_the_profile_is_compared_and_since_names_another(
    tmp_path: Path,
) -> None:
    assert earlier(tmp_path, "quick", None) is None
    for day, profile in ((1, "quick"), (3, "quick"), (4, "full")):
        keep(tmp_path, kept(_results(profile=profile, origin=_origin(day, f"c0ffee{day}"))))
    (tmp_path / FOLDER / "2026-12-01-quick.json").write_text("no JSON")
    for since, day in ((None, 3), ("2026-11-01", 1), ("c0ffee4", 4)):
        found = earlier(tmp_path, "quick", since)
        assert found is not None
        assert found.origin == _origin(day, f"c0ffee{day}")
    for since in ("2027", "c0ffee5", "c0ffe4"):
        with pytest.raises(Invalid, match=f"--since {since}: no kept report begins so"):
            earlier(tmp_path, "quick", since)


@pytest.mark.parametrize("since", ["c0ffee", COMMIT[:12], COMMIT[:20], COMMIT, "2026-11-01 12:00"])
def test_since_takes_a_commit_in_full_and_a_date_as_the_page_has_it(
    tmp_path: Path, since: str
) -> None:
    keep(tmp_path, kept(_results(profile="full", origin=_origin(1, f"{COMMIT[:12]}-dirty"))))
    keep(tmp_path, kept(_results(origin=_origin(2, "0123456789ab"))))
    keep(tmp_path, kept(_results(origin=_origin(3))))
    found = earlier(tmp_path, "quick", since)
    assert found is not None
    assert found.origin == _origin(1, f"{COMMIT[:12]}-dirty")


def test_old_reports_are_deleted_and_none_of_the_user_s(tmp_path: Path) -> None:
    known = kept(_results())
    for number in range(MOST + 3):
        moment = f"2026-11-01T12:{number:02}:00Z"
        keep(tmp_path, replace(known, origin=ReportOrigin(moment, None, "", {})))
    names = sorted(path.name for path in (tmp_path / FOLDER).glob("*.json"))
    assert len(names) == MOST
    assert names[0] == "2026-11-01T120300Z-quick.json"
    (tmp_path / "mine" / FOLDER).mkdir(parents=True)
    (tmp_path / "mine" / FOLDER / "a.txt").write_text("mine")
    with pytest.raises(Invalid, match="asif needs this name"):
        keep(tmp_path / "mine", kept(_results(origin=_origin(1))))
