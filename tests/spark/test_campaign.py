"""An interrupted campaign of checks is resumed, and no stale result is reused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from model.errors import Invalid
from spark_check.campaign import KEPT, run_all
from spark_check.check import Case, Check, Setting, Tell

NAMES = ("one", "two", "three")


class Campaign:
    """Checks that note that they run; `stop` is interrupted when it does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ran: list[str] = []
        self.stop: str | None = None

    def check(self, name: str) -> Check:
        def run(setting: Setting) -> tuple[Case, ...]:
            self.ran.append(name)
            assert not any(setting.work.iterdir())
            (setting.work / "log").touch()
            if name == self.stop:
                raise KeyboardInterrupt
            return (Case(f"a case of {name}", {"rows": [1, 2]}, {"rows": [1, 2]}),)

        return Check(name, name.title(), run)

    def __call__(
        self, *names: str, profile: str = "quick", version: str = "1"
    ) -> list[dict[str, Any]]:
        self.ran.clear()
        checks = [self.check(name) for name in names or NAMES]
        return [*run_all(checks, self.folder, profile, version, _unseen)]


@contextmanager
def _unseen() -> Iterator[Tell]:
    yield lambda *_: None


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign(tmp_path)


def _stopped(campaign: Campaign, at: str = "three") -> None:
    campaign.stop = at
    with pytest.raises(KeyboardInterrupt):
        campaign()
    campaign.stop = None


@pytest.mark.parametrize("at", range(len(NAMES)))
def test_what_was_done_is_not_done_again(campaign: Campaign, at: int) -> None:
    _stopped(campaign, NAMES[at])
    found = campaign()
    assert campaign.ran == [*NAMES[at:]]
    assert [one["check"] for one in found] == [*NAMES]
    assert all(one["holds"] for one in found)
    assert not (campaign.folder / KEPT).exists()


def test_a_campaign_that_ended_begins_anew(campaign: Campaign) -> None:
    campaign()
    campaign()
    assert campaign.ran == [*NAMES]


@pytest.mark.parametrize("other", [{"profile": "full"}, {"version": "2"}])
def test_other_code_or_profiles_take_nothing_for_done(
    campaign: Campaign, other: dict[str, str]
) -> None:
    _stopped(campaign)
    campaign(**other)
    assert campaign.ran == [*NAMES]


def test_other_checks_take_nothing_for_done(campaign: Campaign) -> None:
    _stopped(campaign)
    campaign("two", "one")
    assert campaign.ran == ["two", "one"]


def test_a_file_cut_short_takes_nothing_for_done(campaign: Campaign) -> None:
    _stopped(campaign)
    kept = campaign.folder / KEPT
    kept.write_text(kept.read_text()[:-1])
    campaign()
    assert campaign.ran == [*NAMES]


def test_one_check_alone_is_done_and_leaves_the_campaign_as_it_is(campaign: Campaign) -> None:
    _stopped(campaign)
    campaign("two")
    assert campaign.ran == ["two"]
    campaign()
    assert campaign.ran == ["three"]


def test_a_folder_that_cannot_be_is_refused(campaign: Campaign) -> None:
    (campaign.folder / "one").write_text("a file")
    campaign.folder = campaign.folder / "one"
    with pytest.raises(Invalid, match="cannot be written"):
        campaign("one")
