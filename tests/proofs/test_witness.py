"""Witnesses are searched, and nothing is called pinned that nobody has pinned."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asif.cli import main
from docs.examples import forgetful, mindful, relay, write_ahead
from model.core import Answer, Guarantee, Input, Role, SetTimer, Site, TimerFired
from model.errors import Invalid
from model.evidence import Outcome, PinnedScope
from model.protocol import Protocol
from model.results.verdict import Expectation, WitnessResult
from proofs.explore.explorer import Exploration, explore
from proofs.explore.unexpected import unexpected
from proofs.explore.verdict import verdict
from proofs.explore.witness import choose, witness
from reports.results import verdicts as output
from reports.results.words import differences

FORGETFUL = forgetful.PROTOCOL.vary(scopes=(forgetful.TWO_CRASHES.holds(),))
"""The relay that repeats results, in a file that expects it to hold, and pins nothing."""


def alone(protocol: Protocol, **how: Any) -> WitnessResult:
    (pinned,) = choose(protocol, None)
    return witness(protocol, pinned, **how)


def printed(*results: WitnessResult) -> list[str]:
    return [line for line in output.witnesses("p", results) if isinstance(line, str)]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A relay that repeats results, in a file without a pin."""
    monkeypatch.chdir(tmp_path)
    text = Path(forgetful.__file__).read_text()
    path = tmp_path / "repeats.py"
    path.write_text(text.replace(".fails(747, 8, Guarantee.REPEATING)", ".holds()"))
    yield path
    sys.modules.pop("repeats", None)


def asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["asif", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


# --- witnesses -----------------------------------------------------------------------------------
def test_a_witness_is_found_where_the_file_expects_none() -> None:
    found = alone(FORGETFUL)
    assert (found.guarantee, found.not_) == (Guarantee.REPEATING, Guarantee.PRECISE)
    assert (found.expect_guarantee, found.complete, found.steps) == (Guarantee.PRECISE, True, 8)
    assert not found.expected
    assert printed(found) == [
        "forgetful, two crashes: repeating (expected: precise); not precise, in 8 steps:"
    ]


def test_a_pin_is_not_believed_either() -> None:
    wrong = mindful.PROTOCOL.vary(
        scopes=(forgetful.TWO_CRASHES.holds(660, Guarantee.GAP),),
    )
    found = alone(wrong)
    assert (found.guarantee, found.steps, found.story) == (Guarantee.PRECISE, None, None)
    assert printed(found) == ["mindful, two crashes: precise, in 660 worlds (expected: gap)"]


def test_the_weakest_guarantee_is_shown_and_not_the_first_one() -> None:
    """In a log that is written too late some runs repeat a result, and others lose one, too."""
    from proofs.explore.standard_operators import STANDARD, standard_scope

    scope = standard_scope(write_ahead.PROTOCOL, STANDARD[-1])
    pinned = replace(write_ahead.TWO, scope=scope).holds()
    found = alone(write_ahead.PROTOCOL.vary(scopes=(pinned,)))
    assert (found.guarantee, found.not_) == (Guarantee.GAP, Guarantee.DIVERGENT)
    whole = explore(write_ahead.PROTOCOL, scope)
    assert (found.states, found.guarantee) == (whole.states, whole.guarantee)


@pytest.mark.parametrize("limit", [1, 50, 900])
def test_a_limit_proves_nothing(limit: int) -> None:
    results = [witness(relay.PROTOCOL, one, limit) for one in choose(relay.PROTOCOL, None)]
    (line,) = [line for line in printed(*results) if "two events" in line]
    found, ended = line.split("; ")
    assert found == f"relay, two events: precise so far, in {results[1].states:,} worlds"
    assert ended == f"the search ended: {limit} worlds"
    assert not results[1].expected


def test_every_scope_is_precise_if_every_world_was_seen() -> None:
    results = [witness(relay.PROTOCOL, one) for one in choose(relay.PROTOCOL, None)]
    assert printed(*results) == ["p: every scope is precise (2 scopes, 6,409 worlds)"]
    assert all(one.expected for one in results)


def test_a_step_that_fails_ends_a_search() -> None:
    def step(*_: Any) -> Any:
        raise ValueError("oh")

    found = alone(mindful.PROTOCOL.vary(step=step))
    assert not found.complete
    assert not found.expected
    assert (
        "precise so far, in 1 worlds; the search ended: every step answers (" in printed(found)[0]
    )


@given(st.integers(1, 700))
def test_a_witness_is_as_weak_as_what_the_explorer_finds(limit: int) -> None:
    (pinned,) = FORGETFUL.evidence.scopes
    found = witness(FORGETFUL, pinned, limit)
    seen = explore(FORGETFUL, pinned.scope, limit=limit)
    assert (found.guarantee, found.states) == (seen.guarantee, seen.states)
    assert found.complete == seen.complete
    assert (found.story is None) == (seen.guarantee is Guarantee.PRECISE)


def test_a_scope_is_chosen_by_name() -> None:
    assert choose(relay.PROTOCOL, "one event") == relay.PROTOCOL.evidence.scopes[:1]
    with pytest.raises(Invalid, match="relay has no scope 'one evnt'; did you mean 'one event'"):
        choose(relay.PROTOCOL, "one evnt")


def test_the_exit_code_is_1_unless_all_is_as_expected(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(monkeypatch, "witness", str(file)) == 1
    assert "pinned" not in capsys.readouterr().out
    assert asked(monkeypatch, "witness", forgetful.__file__) == 0
    assert asked(monkeypatch, "witness", mindful.__file__, "--limit", "9") == 1


# --- rows of a check -----------------------------------------------------------------------------
@pytest.mark.parametrize("words", [(), ("--limit", "700"), ("--limit", "2")])
def test_nothing_is_pinned_in_a_file_without_pins(
    words: tuple[str, ...],
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    quick = ("--walks", "0", "--examples", "1", "--json", "found.json")
    assert asked(monkeypatch, "check", str(file), *quick, *words) == 1
    assert "pinned" not in capsys.readouterr().out
    (row,) = json.loads(Path("found.json").read_text())["scopes"]
    assert row["differs"] == ([] if "2" in words else ["outcome"])


def difference(pinned: PinnedScope, **found: Any) -> list[str]:
    protocol = mindful.PROTOCOL.vary(scopes=(pinned,), must_occur=())
    (row,) = verdict(protocol, walks=0, examples=1).scopes
    assert row.as_pinned == (not row.differs)
    return differences(replace(row, **found))


TWO = forgetful.TWO_CRASHES


@pytest.mark.parametrize(
    ("pinned", "words"),
    [
        (TWO.holds(), []),
        (TWO.holds(660), []),
        (TWO.holds(661), ["pinned: 661 states"]),
        (TWO.holds(None, Guarantee.GAP), ["expected: gap"]),
        (TWO.holds(1, Guarantee.GAP), ["pinned: 1 states", "expected: gap"]),
        (TWO.fails(), ["expected: refuted"]),
        (TWO.fails(9, 9, Guarantee.GAP), ["expected: refuted"]),
    ],
)
def test_a_row_says_what_differs(pinned: PinnedScope, words: list[str]) -> None:
    assert difference(pinned) == words


def test_a_row_says_that_its_run_is_longer_or_shorter() -> None:
    pinned = TWO.fails(747, 7, Guarantee.REPEATING)
    (row,) = verdict(FORGETFUL.vary(scopes=(pinned,)), walks=0, examples=1).scopes
    assert row.differs == (Expectation.STEPS,)
    assert differences(row) == ["pinned: 7 steps"]


@given(
    st.sampled_from(Guarantee),
    st.sampled_from(Guarantee),
    st.sampled_from([None, 8, 9]),
    st.booleans(),
)
def test_a_search_that_was_ended_says_what_more_worlds_do_not_change(
    expected: Guarantee, found: Guarantee, states: int | None, ended: bool
) -> None:
    seen = Exploration(
        *(8, 9, 2, 1, 0.1),
        complete=not ended,
        guarantee=found,
        spent="8 worlds" if ended else "",
    )
    said = {*unexpected(TWO.holds(states, expected), seen, None, states)}
    assert (Expectation.STATES in said) == (states == 9 and not ended)
    assert (Expectation.GUARANTEE in said) == (found > expected or (found < expected and not ended))
    assert not said & {Expectation.OUTCOME, Expectation.STEPS}
    assert (seen.outcome is Outcome.UNFINISHED) == ended


def test_a_witness_names_what_it_did_not_see() -> None:
    """No crash came; a run never came to rest: a precise world at rest says nothing of these."""
    two = mindful.PROTOCOL.evidence.scopes[0]
    unhurt = replace(two, scope=replace(two.scope, crashes=0), states=None)
    found = alone(mindful.PROTOCOL.vary(scopes=(unhurt,)))
    (line,) = printed(found)
    assert (
        line == f"mindful, two crashes: precise, in {found.states} worlds, in which no crash came"
    )
    assert printed(found, found)[0].endswith(" worlds, in which no crash came)")

    def restless(site: Site, state: Any, input_: Input) -> Answer:
        if isinstance(input_, TimerFired):
            return state, (SetTimer("again"),)
        state, effects = mindful.step(site, state, input_)
        return state, (*effects, SetTimer("again")) if site.role is Role.OPERATOR else effects

    found = alone(mindful.PROTOCOL.vary(step=restless))
    assert not found.expected
    assert found.crashed
    assert found.ended
    assert f"; violated: {found.ended}" in printed(found)[0]
    assert found.ended.startswith("every run comes to rest (")
