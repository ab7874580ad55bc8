"""An interrupted campaign of checks is resumed, and no stale result is reused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, Event

import psutil
import pytest

from engine_check import check_process
from engine_check.campaign import KEPT, campaign
from engine_check.check import Check, CheckSetting, engine_case, run_check
from engine_check.check_process import Stopped
from model.errors import Invalid
from model.machine.children import wait_ended
from model.machine.folders import MARKER, emptied
from model.machine.journals import RESUME, Resumption
from model.machine.locks import LOCK, held
from model.progress import Progress, silent
from model.results.engine import EngineCase, EngineCheck
from tests.engine_check.toy.engine import ENGINE

NAMES = ("one", "two", "three")


class Campaign:
    """Checks that note that they run; `stop` is interrupted when it does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ran: list[str] = []
        self.stop: str | None = None
        self.how = RESUME

    def check(self, name: str) -> Check:
        def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
            self.ran.append(name)
            assert [path.name for path in setting.work.iterdir()] == [MARKER]
            (setting.work / "log").touch()
            if name == self.stop:
                raise KeyboardInterrupt
            return (engine_case(f"a case of {name}", {"rows": [1, 2]}, {"rows": [1, 2]}),)

        return Check(name, name.title(), run)

    def __call__(
        self, *names: str, profile: str = "quick", version: str = "1"
    ) -> list[EngineCheck]:
        self.ran.clear()
        checks = [self.check(name) for name in names or NAMES]
        what = ENGINE, checks, self.folder, profile, version, silent
        with campaign(*what, run=in_this_process, how=self.how) as results:
            return [*results]


def in_this_process(check: Check, setting: CheckSetting, stop: Event) -> EngineCheck:
    return run_check(ENGINE, check, setting)


@pytest.fixture
def tried(tmp_path: Path) -> Campaign:
    return Campaign(tmp_path)


def _stopped(tried: Campaign, at: str = "three") -> None:
    tried.stop = at
    with pytest.raises(KeyboardInterrupt):
        tried()
    tried.stop = None


@pytest.mark.parametrize("at", range(len(NAMES)))
def test_what_was_done_is_not_done_again(tried: Campaign, at: int) -> None:
    _stopped(tried, NAMES[at])
    found = tried()
    assert tried.ran == [*NAMES[at:]]
    assert [one.check for one in found] == [*NAMES]
    assert all(one.holds for one in found)
    assert not (tried.folder / KEPT).exists()


def test_a_campaign_that_ended_begins_anew(tried: Campaign) -> None:
    tried()
    tried()
    assert tried.ran == [*NAMES]


@pytest.mark.parametrize("other", [{"profile": "full"}, {"version": "2"}])
def test_other_code_or_profiles_take_nothing_for_done(
    tried: Campaign, other: dict[str, str]
) -> None:
    _stopped(tried)
    tried(**other)
    assert tried.ran == [*NAMES]


def test_other_checks_take_nothing_for_done(tried: Campaign) -> None:
    _stopped(tried)
    tried("two", "one")
    assert tried.ran == ["two", "one"]


def test_another_campaign_that_finishes_nothing_leaves_what_was_kept(tried: Campaign) -> None:
    _stopped(tried)
    tried.stop = "one"
    with pytest.raises(KeyboardInterrupt):
        tried(profile="full")
    tried.stop = None
    tried()
    assert tried.ran == ["three"]


def test_a_file_cut_short_takes_the_rest_for_done(tried: Campaign) -> None:
    _stopped(tried)
    kept = tried.folder / KEPT
    kept.write_text(kept.read_text()[:-3])
    tried()
    assert tried.ran == ["two", "three"]


def test_a_damaged_result_is_done_again(
    tried: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    _stopped(tried)
    kept = tried.folder / KEPT
    kept.write_text(kept.read_text().replace('"one"', '"eno"', 1))
    tried()
    assert tried.ran == ["one", "three"]
    assert capsys.readouterr().err.startswith(f"asif: {kept}: line 2 is damaged")


def test_nothing_is_taken_for_done_if_the_user_says_so(tried: Campaign) -> None:
    _stopped(tried)
    tried.how = Resumption(fresh=True)
    tried()
    assert tried.ran == [*NAMES]


@pytest.mark.parametrize("name", ["one", "process-0"])
def test_what_lies_where_a_check_needs_a_folder_stays(tried: Campaign, name: str) -> None:
    mine = tried.folder / name / "notes"
    mine.parent.mkdir()
    mine.write_text("a user's")
    with pytest.raises(Invalid, match="asif needs this name for a folder of its own"):
        tried()
    assert tried.ran == []
    assert [path for path in tried.folder.rglob("*") if path.is_file()] == [mine]


def test_two_campaigns_in_one_folder_are_refused(tried: Campaign) -> None:
    refused = pytest.raises(Invalid, match=r"another process .* works there; wait for its end")
    with held(tried.folder / LOCK, "x"), refused:
        tried()
    assert tried.ran == []
    assert [path.name for path in tried.folder.iterdir()] == [LOCK]


def test_one_check_alone_is_done_and_leaves_the_campaign_as_it_is(tried: Campaign) -> None:
    _stopped(tried)
    tried("two")
    assert tried.ran == ["two"]
    tried()
    assert tried.ran == ["three"]


def test_a_folder_that_cannot_be_is_refused(tried: Campaign) -> None:
    (tried.folder / "file").write_text("a file")
    tried.folder = tried.folder / "file" / "more"
    with pytest.raises(Invalid, match=r"cannot be (written|read)"):
        tried("one")


class Interrupted(Exception):
    """The user pressed Ctrl-C."""


# --- side by side ------------------------------------------------------------------------------
def named(name: str) -> Check:
    return Check(name, name.title(), lambda _: ())


def test_checks_run_side_by_side_and_report_in_their_order(tmp_path: Path) -> None:
    """The first ends last: it waits for the second, which waits for both to have begun."""
    both, second_ended = Barrier(2, timeout=60), Event()
    ended: list[str] = []

    def run(check: Check, setting: CheckSetting, stop: Event) -> EngineCheck:
        both.wait()
        if check.name == "first":
            assert second_ended.wait(60)
        ended.append(check.name)
        second_ended.set()
        return in_this_process(check, setting, stop)

    pair = [named("first"), named("second")]
    with campaign(ENGINE, pair, tmp_path, "quick", "1", silent, at_once=2, run=run) as results:
        assert [one.check for one in results] == ["first", "second"]
    assert ended == ["second", "first"]


def test_leaving_stops_what_runs_and_begins_nothing_else(tmp_path: Path) -> None:
    begun, began = list[str](), Event()

    def run(check: Check, setting: CheckSetting, stop: Event) -> EngineCheck:
        begun.append(check.name)
        began.set()
        assert stop.wait(60)
        raise Stopped

    both = [named("first"), named("second")]
    with campaign(ENGINE, both, tmp_path, "quick", "1", silent, run=run):
        assert began.wait(60)
    assert begun == ["first"]
    assert not (tmp_path / KEPT).exists()


def test_what_ended_before_an_interruption_is_kept_also_if_nobody_asked(tmp_path: Path) -> None:
    """The second check has ended when the first, whose result comes first, is interrupted."""
    stopped, second_kept = Event(), tmp_path / KEPT
    ran: list[str] = []

    def run(check: Check, setting: CheckSetting, stop: Event) -> EngineCheck:
        ran.append(check.name)
        if check.name == "first" and not stopped.is_set():
            stop.wait()
            raise Stopped
        return in_this_process(check, setting, stop)

    def watch(stage: str, done: int, total: int, what: str = "") -> None:
        if what == "done":
            second_ended.set()

    second_ended = Event()
    both = [named("first"), named("second")]
    with (
        suppress(Interrupted),
        campaign(ENGINE, both, tmp_path, "quick", "1", watch, at_once=2, run=run),
    ):
        assert second_ended.wait(60)
        raise Interrupted
    assert second_kept.exists()
    stopped.set()
    with campaign(ENGINE, both, tmp_path, "quick", "1", silent, run=run) as results:
        assert [one.check for one in results] == ["first", "second"]
    assert sorted(ran) == ["first", "first", "second"]
    assert not second_kept.exists()


def test_a_check_that_fails_is_a_result_and_the_others_go_on(tmp_path: Path) -> None:
    """The next campaign runs it again, and not the other."""
    ran: list[str] = []

    def run(check: Check, setting: CheckSetting, stop: Event) -> EngineCheck:
        ran.append(check.name)
        if len(ran) == 1:
            raise RuntimeError("Traceback (most recent call last):\nTimeoutError: waited 300 s")
        return in_this_process(check, setting, stop)

    both = [named("first"), named("second")]
    with campaign(ENGINE, both, tmp_path, "quick", "1", silent, run=run) as results:
        first, second = results
    assert first.error == f"TimeoutError: waited 300 s (logs: {tmp_path / 'first'})"
    assert (first.check, first.holds, first.cases) == ("first", False, ())
    assert (second.check, second.error) == ("second", None)
    with campaign(ENGINE, both, tmp_path, "quick", "1", silent, run=run) as results:
        assert [(one.check, one.error) for one in results] == [("first", None), ("second", None)]
    assert ran == ["first", "second", "first"]
    assert not (tmp_path / KEPT).exists()


# --- processes of their own --------------------------------------------------------------------
@pytest.fixture
def process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., EngineCheck]]:
    """Runs one of the checks of tests.engine_check.check_jobs in a process."""
    monkeypatch.setattr(check_process, "JOB", "tests.engine_check.check_jobs:run")
    with check_process.check_processes(ENGINE, tmp_path / "processes") as run:

        def called(
            name: str, report: Progress = silent, stop: Event | None = None, work: str = ""
        ) -> EngineCheck:
            return run(named(name), CheckSetting(tmp_path / work, "quick", report), stop or Event())

        yield called


def test_a_result_and_its_progress_come_from_another_process(
    process: Callable[..., EngineCheck], tmp_path: Path
) -> None:
    """The check waits until its progress has been received."""
    received: list[tuple[str, int, int]] = []

    def report(what: str, done: int, total: int, _: str = "") -> None:
        received.append((what, done, total))
        (tmp_path / "received").touch()

    found = process("fine", report)
    assert set(received) == {("a case", 1, 2)}
    assert found.holds
    assert found.cases[0].seen["process"] != os.getpid()


def test_errors_come_from_another_process(process: Callable[..., EngineCheck]) -> None:
    with pytest.raises(Invalid, match=r"^no such thing$"):
        process("refused")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        process("broken")
    with pytest.raises(RuntimeError, match="without a result"):
        process("gone")


def number(found: EngineCheck) -> int:
    """Of the process that ran the check."""
    process: int = found.cases[0].seen["process"]
    return process


def test_a_process_runs_one_check_after_the_other(process: Callable[..., EngineCheck]) -> None:
    """Until one fails in it."""
    first, second = (number(process("brief")) for _ in range(2))
    assert first == second
    with pytest.raises(RuntimeError):
        process("broken")
    assert number(process("brief")) != first


def test_checks_that_run_at_once_have_processes_of_their_own(
    process: Callable[..., EngineCheck], tmp_path: Path
) -> None:
    """Each goes on when both have begun."""
    begun = dict[str, bool]()

    def noting(work: str) -> Progress:
        def report(*_: object) -> None:
            begun[work] = True
            if len(begun) == 2:
                for one in begun:
                    (tmp_path / one / "received").touch()

        return report

    works = ("one", "two")
    for work in works:
        (tmp_path / work).mkdir()
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(process, "fine", noting(work), work=work) for work in works]
        assert len({number(one.result()) for one in found}) == 2


def test_nothing_of_another_campaign_is_taken_for_a_result(
    process: Callable[..., EngineCheck], tmp_path: Path
) -> None:
    emptied(tmp_path / "processes" / "process-0")
    (tmp_path / "processes" / "process-0" / "result-0.json").write_text("{}")
    assert process("brief").holds


def test_a_check_that_is_stopped_leaves_no_process(
    process: Callable[..., EngineCheck],
) -> None:
    stop, below = Event(), list[psutil.Process]()

    def report(what: str, done: int, total: int) -> None:
        if not below:
            below.append(psutil.Process(done))
            stop.set()

    with pytest.raises(Stopped):
        process("endless", report, stop)
    wait_ended(below)
