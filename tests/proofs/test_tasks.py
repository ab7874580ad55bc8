"""The tasks of a check: the same results wherever they are performed, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from asif.cli import main
from asif.commands import check
from asif.commands.check import in_processes
from docs.examples import relay
from model import registry
from model.core import Guarantee, OperatorClass
from model.errors import Invalid
from model.evidence import Outcome
from model.machine.children import wait_ended
from model.registry import Subject, protocols
from model.results.plain import plain, read
from model.results.verdict import Verdict
from proofs.explore import verdict as checking
from proofs.explore.random_attack import attack
from proofs.explore.search.meter import Budget
from proofs.explore.tasks import NotDone, Task, TaskKind, TaskResult, list_tasks, perform_on
from proofs.explore.verdict import good, perform_all, verdicts
from reports.results import verdicts as output
from tests.children import children

ROOT = Path(__file__).parents[2]
RELAY = str(ROOT / "docs" / "examples" / "relay.py")
SMALL = (RELAY, f"{RELAY}:lazy", "micro-batch:commit-first", "upstream-backup:no-skips")


def untimed(value: Any) -> Any:
    """The value without what a clock has measured."""
    if isinstance(value, dict):
        timed = ("seconds", "states_per_second")
        return {key: untimed(part) for key, part in value.items() if key not in timed}
    return [untimed(part) for part in value] if isinstance(value, list) else value


def named(task: Task) -> TaskResult:
    return NotDone(task.name, lost=True)


def process(_: Task) -> TaskResult:
    return NotDone(str(os.getpid()), lost=True)


# --- tasks -----------------------------------------------------------------------------------
@pytest.mark.exhaustive  # `.ci/run` compares Spark's processes with this one (tests/cluster)
def test_processes_have_the_results_of_this_one_in_the_same_order() -> None:
    alone, together = (
        verdicts(SMALL, examples=20, execute=in_processes(workers)) for workers in (1, 2)
    )
    assert [one.protocol for one in alone] == [
        "relay",
        "relay:lazy",
        "micro-batch:commit-first",
        "upstream-backup:no-skips",
    ]
    assert untimed(plain(together)) == untimed(plain(alone))
    assert read(list[Verdict], json.loads(json.dumps(plain(together)))) == together
    assert [row.name for row in together[2].scopes] == [
        pinned.name for pinned in protocols()["micro-batch:commit-first"].evidence.scopes
    ]


def test_mutants_are_hunted_in_processes_as_in_this_one() -> None:
    (alone,), (together,) = (
        verdicts([RELAY], examples=5, mutants=True, execute=in_processes(workers))
        for workers in (1, 2)
    )
    assert untimed(plain(together)) == untimed(plain(alone))
    assert [row.name for row in together.mutants or ()] == [one.name for one in relay.MUTANTS]
    assert good(together)


def test_the_longest_task_begins_first_and_results_keep_their_order() -> None:
    tasks = [Task("any", TaskKind.SCOPE, f"{worlds}", worlds) for worlds in (5, 9, 1, 9, 7)]
    begun: list[Task] = []

    def backwards(call: Callable[[Task], TaskResult], items: Sequence[Task]) -> Iterator[Any]:
        begun.extend(items)
        yield [(at, call(item), "") for at, item in reversed([*enumerate(items)])]

    found = perform_all(named, tasks, backwards)  # type: ignore[arg-type]
    assert found == [*map(named, tasks)]
    assert [task.worlds for task in begun] == [9, 9, 7, 5, 1]


def test_tasks_of_one_protocol_follow_each_other() -> None:
    worlds = [("a", 5), ("b", 9), ("a:x", 8), ("b", 1), ("c", 6)]
    tasks = [Task(called, TaskKind.SCOPE, "any", number) for called, number in worlds]
    begun: list[Task] = []

    def execute(call: Callable[[Task], TaskResult], items: Sequence[Task]) -> Iterator[Any]:
        begun.extend(items)
        yield [(at, call(item), "") for at, item in enumerate(items)]

    perform_all(named, tasks, execute)  # type: ignore[arg-type]
    assert [(task.subject, task.worlds) for task in begun] == [
        ("b", 9),
        ("b", 1),
        ("a:x", 8),
        ("a", 5),
        ("c", 6),
    ]


def test_progress_counts_tasks_and_names_one_under_way() -> None:
    said: list[tuple[Any, ...]] = []
    tasks = [Task("any", TaskKind.SCOPE, name, worlds) for name, worlds in (("a", 1), ("b", 2))]
    perform_all(named, tasks, in_processes(1), lambda *progress: said.append(progress))
    assert said == [
        ("checking", 0, 2, "any, b"),
        ("checking", 1, 2, "any, a"),
        ("checking", 2, 2, "done"),
    ]


def test_small_checks_stay_in_this_process() -> None:
    here = NotDone(str(os.getpid()), lost=True)
    small = list_tasks(RELAY, relay.PROTOCOL, "quick", walks=None, examples=None, mutants=True)
    assert {*perform_all(process, small, in_processes())} == {here}
    large = [task._replace(worlds=check.PAYS_WORLDS) for task in small]
    assert here not in perform_all(process, large, in_processes(2))
    wanted: list[int | None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "call_all", lambda *given, **_: wanted.append(given[-1]))
        in_processes()(process, small)
        in_processes()(process, large)
    assert wanted == [1, None], "one a core"


@pytest.mark.slow
def test_what_is_refuted_once_is_refuted_as_pinned() -> None:
    """With fewer worlds; what holds is explored whole, and attacked if it is no variant."""
    names = ["micro-batch:commit-first", "micro-batch:eager-acks", RELAY, f"{RELAY}:lazy"]
    how: dict[str, Any] = {"walks": 20, "examples": 2, "execute": in_processes(1)}
    for whole, once in zip(verdicts(names, **how), verdicts(names, once=True, **how), strict=True):
        assert whole.expected
        assert once.expected
        assert (whole.outcome, whole.found) == (once.outcome, once.found)
        attacked = whole.outcome is Outcome.HOLDS and ":" not in whole.protocol
        assert (once.attack.actions > 0) is attacked
        for more, less in zip(whole.scopes, once.scopes, strict=True):
            assert more.counterexample == less.counterexample
            assert more.states >= less.states
            assert less.complete or less.counterexample
    assert any(not row.complete for row in verdicts(names[:1], once=True, **how)[0].scopes)


@pytest.mark.parametrize("pin", [{"steps": 99}, {"guarantee": Guarantee.DIVERGENT}])
def test_what_is_refuted_otherwise_than_pinned_is_not_as_expected(pin: dict[str, Any]) -> None:
    protocol = protocols()["micro-batch:commit-first"]
    wrong = protocol.vary(scopes=tuple(replace(one, **pin) for one in protocol.evidence.scopes))
    tasks_ = list_tasks(wrong.name, wrong, "quick", walks=0, examples=0, mutants=False, once=True)
    results = [perform_on(Subject(wrong, home=""), task) for task in tasks_]
    assert not checking.assemble(wrong, "quick", tasks_, results).expected


@pytest.mark.parametrize("kind", [one for one in TaskKind if one is not TaskKind.FEWER])
def test_a_lost_task_was_never_tried(kind: TaskKind) -> None:
    """It is named in a line, the rest is there, and nothing holds."""
    lost: list[str] = []

    def execute(call: Callable[[Task], TaskResult], tasks: Sequence[Task]) -> Iterator[Any]:
        for at, task in enumerate(tasks):
            if task.kind is kind and not lost:
                lost.append(task.name)
                yield [(at, None, "its process was ended by SIGKILL")]
            else:
                yield [(at, call(task), "")]

    every = {"mutants": True, "operators": (OperatorClass.REPEATABLE,)}
    (found,) = verdicts([RELAY], examples=5, execute=execute, **every)  # type: ignore[arg-type]
    assert found.outcome is Outcome.VACUOUS
    assert not good(found)
    line = f"  vacuous: {lost[0]}: its process was ended by SIGKILL"
    assert [text for text in output.verdict(found) if "SIGKILL" in str(text)] == [line]
    assert len(found.scopes) == 2 - (kind is TaskKind.SCOPE)
    assert len(found.mutants or ()) == 4 - (kind is TaskKind.MUTANT)
    assert (found.attack.examples == 0) == (kind is TaskKind.ATTACK)


@pytest.mark.parametrize("loses", [False, True])
def test_a_spent_budget_does_not_excuse_a_lost_task(loses: bool) -> None:
    def execute(call: Callable[[Task], TaskResult], tasks: Sequence[Task]) -> Iterator[Any]:
        for at, task in enumerate(tasks):
            lost = loses and task.kind is TaskKind.ATTACK
            yield [(at, None, "its process died") if lost else (at, call(task), "")]

    (found,) = verdicts([RELAY], examples=5, budget=Budget(worlds=3), execute=execute)  # type: ignore[arg-type]
    assert found.outcome is Outcome.UNFINISHED
    assert good(found, unfinished=True) == (not loses)


@pytest.fixture(scope="module")
def spent() -> Verdict:
    """A verdict on scopes that were not explored whole."""
    (found,) = verdicts([RELAY], examples=5, budget=Budget(worlds=3), execute=in_processes(1))
    assert all(row.spent for row in found.scopes)
    return found


@pytest.mark.parametrize("as_pinned", [False, True])
def test_a_spent_budget_does_not_excuse_another_scope(as_pinned: bool, spent: Verdict) -> None:
    ended = spent.scopes[0]
    row = replace(ended, outcome=Outcome.HOLDS, as_pinned=as_pinned, spent=None, complete=True)
    assert good(replace(spent, scopes=(row, ended)), unfinished=True) == as_pinned


@pytest.mark.parametrize("expect", [Outcome.HOLDS, Outcome.REFUTED])
def test_a_spent_budget_excuses_the_number_of_worlds_of_what_is_refuted_as_it_should_be(
    expect: Outcome, spent: Verdict
) -> None:
    row = replace(spent.scopes[0], expect=expect, outcome=Outcome.REFUTED)
    found = replace(spent, outcome=Outcome.REFUTED, scopes=(row,))
    assert good(found, unfinished=True) == (expect is Outcome.REFUTED)
    assert not good(found)


@pytest.mark.parametrize("workers", [1, 2])
def test_bad_input_is_the_same_error_from_every_process(workers: int, tmp_path: Path) -> None:
    file = tmp_path / f"vague_{workers}.py"
    file.write_text(
        "from dataclasses import replace\n"
        "from docs.examples import mindful\n"
        "from model.core import Property, When\n"
        "VAGUE = Property('vague', When.ALWAYS, lambda *_: 3)\n"
        "PROTOCOL = mindful.PROTOCOL.vary(properties=(VAGUE,))\n"
    )
    before = children()
    with pytest.raises(Invalid, match="return True or False"):
        verdicts([str(file)], examples=5, execute=in_processes(workers))
    assert children() == before


def test_the_attack_has_the_same_runs_whatever_modules_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = protocols()["micro-batch:commit-first"]
    found = attack(protocol, walks=0, examples=40)
    constants = ", ".join(map(str, range(60)))
    (tmp_path / "constants_of_another_module.py").write_text(f"CONSTANTS = ({constants})\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("constants_of_another_module")
    again = attack(protocol, walks=0, examples=40)
    assert (found.examples, found.actions) == (again.examples, again.actions)


# --- the command -----------------------------------------------------------------------------
ALL = [
    sys.executable,
    "-c",
    "from asif.cli import main; main()",
    "check",
    "--all",
    "--workers",
    "2",
]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_the_command_and_all_its_processes(number: int, tmp_path: Path) -> None:
    """Ctrl-C goes to the whole group, as a terminal sends it, and no process prints a traceback."""
    with subprocess.Popen(
        ALL, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as command:
        me = psutil.Process(command.pid)
        while len(family := me.children(recursive=True)) < 5:  # the command, two, and their guards
            assert command.poll() is None
        if number == signal.SIGINT:
            os.killpg(command.pid, number)
        else:
            os.kill(command.pid, number)
        _, said = command.communicate(timeout=60)
    wait_ended(family, timeout_s=60)
    codes = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
    assert command.returncode == codes[signal.Signals(number)]
    # On a busy machine some progress was printed before.
    words = [line for line in said.splitlines() if not line.startswith("checking: ")]
    assert len(words) == (0 if number == signal.SIGKILL else 1), said


WRONG = """
from docs.examples import relay
SCOPES = (relay.TWO.holds(1),)
PROTOCOL = relay.PROTOCOL.vary(family="wrong", scopes=SCOPES, variants=(), mutants=())
"""


@pytest.mark.slow
def test_all_prints_a_row_each_and_in_full_what_is_not_as_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong_number.py").write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    options = ["--mutants", "--examples", "5", "--workers", "1", "--json", "out.json"]
    monkeypatch.setattr(sys, "argv", ["asif", "check", "--all", *options])

    def check_all(*names: str) -> tuple[object, str]:
        monkeypatch.setattr(registry, "protocols", lambda: dict.fromkeys(names))
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().out

    expected = (RELAY, "micro-batch:commit-first")
    code, printed = check_all(*expected)
    assert code == 0
    assert "2 of 2 protocols and variants are as expected" in printed
    assert "refuted in 7 steps" in printed
    assert "micro-batch:commit-first: refuted" not in printed

    code, printed = check_all(*expected, str(tmp_path / "wrong_number.py"))
    assert code == 1
    assert "2 of 3 protocols and variants are as expected" in printed
    assert "wrong: holds - NOT AS EXPECTED" in printed
    assert "relay: holds" not in printed
    results = json.loads((tmp_path / "out.json").read_text())
    assert [one["protocol"] for one in results] == ["relay", "micro-batch:commit-first", "wrong"]
    assert [one["mutants"] and len(one["mutants"]) for one in results] == [4, None, None]
