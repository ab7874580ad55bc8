"""Every protocol keeps every duty, and every duty finds the protocol that does not keep it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from asif.cli import main
from asif.duties import page
from asif.duties.duties import DUTIES
from asif.duties.duty import Duty, faults_of
from asif.duties.sample import Sample
from docs.examples import relay
from model.core import COMMON, CRASHED, RESENT, Emit, Guarantee, Note, Quantity, Save
from model.costs import NO_MEMORY, Gauges, MessageKind, Size, default_size
from model.evidence import Mutant, Outcome
from model.protocol import Protocol
from model.registry import protocols
from tests.conformance.subjects import EVERY, SAMPLES

EXAMPLES = ("amnesia", "forgetful", "mindful", "passive_standby", "relay", "standby")


@EVERY
@pytest.mark.parametrize("duty", DUTIES, ids=lambda duty: duty.name)
def test_a_protocol_keeps_a_duty(name: str, duty: Duty) -> None:
    assert faults_of(duty, SAMPLES[name]) == ()


# --- each duty finds its fault ---------------------------------------------------------------
class Broken(NamedTuple):
    """A protocol that does not keep a duty, and a part of the line that says so."""

    duty: str
    protocol: Protocol
    line: str


def changed(name: str, **changes: Any) -> Protocol:
    return protocols()[name].vary(**changes)


def with_effects(name: str, change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Protocol:
    """The protocol whose steps have these effects in place of their own."""
    step = protocols()[name].behaviour.step

    def other(*of: Any) -> Any:
        state, effects = step(*of)
        return state, change(effects)

    return changed(name, step=other)


def pinned(name: str, **changes: Any) -> Protocol:
    """The protocol whose smallest scope is pinned otherwise."""
    return changed(name, scopes=(replace(SAMPLES[name].smallest, **changes),))


def sized_but_the_kept(value: Any) -> Size:
    """A size is wrong for one durable value, and right for every message."""
    return Size(MessageKind.CHECKPOINT, -1) if value == "kept" else default_size(value)


def no_crashes(name: str) -> Protocol:
    protocol = protocols()[name]

    def deploy(design: Any, scope: Any) -> Any:
        return protocol.behaviour.deploy(design, scope)._replace(crashable=frozenset())

    return protocol.vary(deploy=deploy)


def unprotected_but_precise() -> Protocol:
    holding = replace(SAMPLES["amnesia"].smallest, expect=Outcome.HOLDS, steps=None)
    return changed("amnesia", scopes=(holding,), claims={holding.operators: Guarantee.PRECISE})


NAME = "upstream-backup"
MORE = Quantity("more", "pieces", "a quantity that the family does not have")
NEW_NUMBERS, FALLING = count(1), count(0, -1)
BROKEN = (
    Broken("words", changed(NAME, title=" "), "Words.title is empty"),
    Broken("words", changed(NAME, claims={}), "Promise.claims is empty"),
    Broken(
        "evidence",
        changed(NAME, mutants=(Mutant("m", "model.log", "no such line", "", "no scope"),)),
        "mutant 'm': no scope is called 'no scope'",
    ),
    Broken("evidence", changed(NAME, compare_with="nobody"), "compare_with has 'nobody'"),
    Broken("lines", changed(NAME, show=lambda _value: "a\nb"), "return one line"),
    Broken("lines", changed(NAME, show=lambda _value: 3), "return a str"),
    Broken("as pinned", no_crashes(NAME), "no crash strikes"),
    Broken("as pinned", pinned("amnesia", states=7), "and 7 are pinned"),
    Broken("as pinned", unprotected_but_precise(), "the scope is expected to hold"),
    Broken(
        "as pinned",
        changed("log-io:triggers-again", must_occur=(CRASHED, RESENT)),
        "no 'outputs sent again'; must_occur has it",
    ),
    Broken(
        "pure steps",
        with_effects(NAME, lambda of: (*of, Note(CRASHED, next(NEW_NUMBERS)))),
        "two answers to",
    ),
    Broken("sizes", changed(NAME, size=lambda _value: None), "return Size"),
    Broken("sizes", changed(NAME, size=lambda _: Size(MessageKind.EVENT, -1)), "at least 0"),
    Broken(
        "sizes",
        with_effects(NAME, lambda of: (*of, Save("kept"))).vary(size=sized_but_the_kept),
        "amounts are at least 0",
    ),
    Broken("notes", with_effects(NAME, lambda of: (*of, Note(MORE))), "the note 'more' is not in"),
    Broken("notes", changed(NAME, must_occur=(MORE,)), "must_occur has 'more'"),
    Broken("notes", changed(NAME, quantities=(COMMON[0],)), "two quantities are called"),
    Broken(
        "gauges", changed(NAME, gauges=lambda *_: Gauges(progress=next(FALLING))), "progress falls"
    ),
    Broken("gauges", changed(NAME, gauges=lambda *_: Gauges(own=((MORE, 1),))), "the gauge 'more'"),
    Broken("timers", changed("passive-standby", timers={}), "is not in Behaviour.timers"),
    Broken("memory", changed(NAME, memory=lambda *_: NO_MEMORY), "no node ever keeps anything"),
    Broken("memory", changed(NAME, protects=False), "protects=False, and nodes keep up to"),
    Broken(
        "streams",
        with_effects(NAME, lambda of: tuple(e for e in of if not isinstance(e, Emit))),
        "a run without crashes has no output",
    ),
    Broken("streams", unprotected_but_precise(), "another output than without"),
    Broken("clock", unprotected_but_precise(), "recovery is gap, and more is claimed"),
)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: f"{broken.duty}: {broken.line}")
def test_a_duty_that_is_not_kept_is_found(broken: Broken) -> None:
    (duty,) = (one for one in DUTIES if one.name == broken.duty)
    found = faults_of(duty, Sample(broken.protocol, broken.protocol.name))
    assert any(broken.line in fault for fault in found), found


def test_each_duty_can_fail() -> None:
    assert {broken.duty for broken in BROKEN} == {duty.name for duty in DUTIES}


# --- the command and the page ----------------------------------------------------------------
@pytest.fixture
def asif(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """The exit code of asif with these arguments."""

    def call(*arguments: str) -> object:
        monkeypatch.setattr(sys, "argv", ["asif", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code

    return call


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_keeps_the_duties_of_files(
    example: str, asif: Callable[..., object], capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(__file__).parents[2] / "docs" / "examples" / f"{example}.py"
    assert asif("check", str(file), "--duties") == 0
    kept = sum(duty.of_files for duty in DUTIES)
    assert f"duties of {example}: {kept} kept\n" in capsys.readouterr().out


def test_what_is_not_kept_is_a_line_with_its_variant(
    asif: Callable[..., object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "PROTOCOL = relay.PROTOCOL.vary(variants=(relay.LAZY.vary(timers={}),))\n"
    (tmp_path / "undutiful.py").write_text(f"from docs.examples import relay\n{text}")
    result = tmp_path / "result.json"
    assert asif("check", str(tmp_path / "undutiful.py"), "--duties", "--json", str(result)) == 1
    fault = "the timer 'acknowledge' is not in Behaviour.timers (relay:lazy)"
    lines = capsys.readouterr().out.splitlines()
    assert f"timers: {fault}" in lines
    assert "sizes: kept" in lines
    assert "duties of relay: 8 kept, 1 not" in lines
    (timers,) = (row for row in json.loads(result.read_text()) if row["duty"] == "timers")
    assert (timers["asked"], timers["faults"]) == (True, [fault])
    assert relay.LAZY.behaviour.timers


@pytest.mark.parametrize(
    "arguments", [("--all",), ("relay", "--mutants"), ("relay", "--all"), ()], ids=str
)
def test_duties_are_those_of_one_protocol(
    arguments: tuple[str, ...], asif: Callable[..., object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert asif("check", *arguments, "--duties") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_page_of_duties_is_fresh() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.page(text) == text, "stale: run `make docs`"
