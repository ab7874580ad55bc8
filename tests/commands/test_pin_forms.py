"""`--pin` edits a call in whatever form it stands, and nothing beside it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asif.pins.arguments import Pins
from asif.pins.made import run_text
from asif.pins.pin import Pinning, pin
from asif.pins.text import PythonText
from model.core import Guarantee, OperatorClass
from model.evidence import Outcome
from model.results.attack import AttackResult
from model.results.verdict import ScopeCounterexample, ScopeResult, Verdict

PATH = Path("formed.py")
HEAD = """\
# Größe: 3 ) scopes
import asif.protocol as asif
from asif.protocol import *
REPEATING = Guarantee.REPEATING
WORLDS = over_words(chain(("relay", Relay())), 1)
CASE = Case({name}, WORLDS, OperatorClass.REPEATABLE)
OTHER = Case("other", WORLDS, OperatorClass.REPEATABLE)
FAMILY = Family("own", "", "", Behaviour(None, None, None))
def same(value):
\treturn value
"""
TAIL = """
VARIANT = FAMILY.design("late", scopes=(OTHER.fails(5, 6, REPEATING),))  # é ) (
PROTOCOL = FAMILY.design(scopes=(SCOPE, OTHER.holds(7)), variants=(VARIANT,))
"""


def row(name: str, found: Pins, expect: Outcome | None = None, **changes: Any) -> ScopeResult:
    """A scope in which these pins are found."""
    values: dict[str, Any] = dict.fromkeys(one.name for one in dataclasses.fields(ScopeResult))
    counterexample = None
    if found.steps is not None:
        counterexample = ScopeCounterexample("p", found.steps, 0, None, None)  # type: ignore[arg-type]
    values |= {
        "name": name,
        "operators": OperatorClass.REPEATABLE,
        "derived": OperatorClass.REPEATABLE,
        "expect": expect or found.outcome,
        "outcome": found.outcome,
        "as_pinned": False,
        "states": found.states,
        "guarantee": found.guarantee,
        "complete": True,
        "counterexample": counterexample,
    }
    return ScopeResult(**{**values, **changes})


def verdict(protocol: str, *rows: ScopeResult) -> Verdict:
    values: dict[str, Any] = dict.fromkeys(one.name for one in dataclasses.fields(Verdict))
    values |= {"protocol": protocol, "scopes": rows, "attack": AttackResult()}
    return Verdict(**values)


def pinned(text: str, *rows: ScopeResult, protocol: str = "own") -> Pinning:
    return pin(PATH, PythonText(text, "utf-8"), verdict(protocol, *rows))


# --- forms -----------------------------------------------------------------------------------
NAMES = ["'one'", '"(a, b"', "'ein Maß ]'", '"""two\nlines, ["""', "'\\'#'"]
SPACES = ["", " ", "\n    ", "  # a comment, (with brackets\n\t", "\\\n  ", "\n\n"]
HOLDS, FAILS = ("states", "guarantee"), ("states", "steps", "guarantee")
VALUES = {
    "states": ["None", "1_000", "(12)", "same(3)", "( # (\n 4 )", "0x1F", "2 + 2"],
    "steps": ["None", "9", "same((8))", "len('),(')"],
    "guarantee": ["REPEATING", "asif.Guarantee.GAP", "(Guarantee.PRECISE)", "same(REPEATING)"],
}
spaces = st.sampled_from(SPACES)


@st.composite
def calls(draw: st.DrawFn) -> str:
    """A call of holds or fails of CASE in some form."""
    fails = draw(st.booleans())
    names: Sequence[str] = FAILS if fails else HOLDS
    placed = draw(st.integers(0, len(names)))
    others = [name for name in names[placed:] if draw(st.booleans())]
    arguments = [draw(st.sampled_from(VALUES[name])) for name in names[:placed]]
    keywords = [f"{name}{draw(spaces)}={draw(st.sampled_from(VALUES[name]))}" for name in others]
    if draw(st.booleans()):
        keywords.append("quick=same(False)")
    arguments += draw(st.permutations(keywords))
    inside = ",".join(draw(spaces) + one + draw(spaces) for one in arguments)
    inside += "," if draw(st.booleans()) and arguments else ""
    callee = draw(st.sampled_from(["CASE.{}", "(CASE.{})", "CASE\\\n.{}", "same((CASE)).{}"]))
    method = callee.format("fails" if fails else "holds")
    return f"{method}{draw(st.sampled_from(['', ' ']))}({inside}{draw(spaces)})"


CONTEXTS = [
    "SCOPE = (CALL)",
    "SCOPE = (  # é\n    CALL\n)",
    "def make():\n\treturn (CALL)\nSCOPE = make()",
    "@same\ndef make(one=(CALL)):\n\treturn one\nSCOPE = make()",
    "class Home:\n\tscope = [('ß)', CALL)][0][1]\nSCOPE = Home.scope",
    "SCOPE = (lambda: CALL)()",
    "SCOPE = {'ü': (CALL)}['ü']; REST = 1",
]
steps = st.integers(1, 20_000)
guarantees = st.sampled_from(Guarantee)


@given(
    calls(),
    st.sampled_from(NAMES),
    st.sampled_from(CONTEXTS),
    st.sampled_from(["\n", "\r\n", "\r"]),
    *(st.integers(1, 3_000_000), steps, guarantees),
)
def test_any_form_is_pinned_and_nothing_beside_it(
    call: str, name: str, context: str, end: str, states: int, steps: int, guarantee: Guarantee
) -> None:
    head, _, tail = (HEAD.format(name=name) + context + TAIL).replace("\n", end).partition("CALL")
    text = head + call.replace("\n", end) + tail
    old = run_text(PATH, PythonText(text, "utf-8"))
    (one, _) = old.protocol.evidence.scopes
    fails = one.expect is Outcome.REFUTED
    found = Pins(one.expect, states, steps if fails else None, guarantee)
    result = pinned(text, row(one.name, found))
    assert not result.refused
    new = run_text(PATH, result.after)
    (now, other) = new.protocol.evidence.scopes
    assert Pins.of(now) == found
    assert now == dataclasses.replace(
        one, states=found.states, steps=found.steps, guarantee=guarantee
    )
    assert [other] == list(old.protocol.evidence.scopes[1:])
    assert new.protocols[1].evidence == old.protocols[1].evidence
    assert result.after.text.startswith(head)
    assert result.after.text.endswith(tail)
    assert re.findall(r"#[^\r\n]*", text) == re.findall(r"#[^\r\n]*", result.after.text)
    assert re.findall(r"[\r\n]+", text) == re.findall(r"[\r\n]+", result.after.text)
    assert result.diff("own.py").count("\n+") <= 6
    again = pinned(result.after.text, row(one.name, found))
    assert (again.after, again.pinned) == (result.after, ())


@pytest.mark.parametrize(
    ("encoding", "first"),
    [("utf-8-sig", ""), ("latin-1", "# -*- coding: latin-1 -*-\r\n"), ("utf-8", "\f")],
)
def test_the_encoding_stays(encoding: str, first: str) -> None:
    text = first + "é = 'é\u00a0\u0085'; SCOPE = CASE.holds(1)".join(
        [HEAD.format(name="'one'").replace("\n", "\r\n"), TAIL]
    )
    content = text.encode(encoding)
    found = Pins(Outcome.HOLDS, 1_234, None, Guarantee.GAP)
    result = pin(PATH, PythonText.decode(content), verdict("own", row("one", found)))
    changed = content.replace(b"CASE.holds(1)", b"CASE.holds(1_234, Guarantee.GAP)")
    assert result.after.encode() == changed


# --- refusals --------------------------------------------------------------------------------
def module(scopes: str, before: str = "") -> str:
    words = HEAD.format(name="'one'").replace("REPEATING = Guarantee.REPEATING\n", "")
    return f"{words}{before}\nPROTOCOL = FAMILY.design(scopes=({scopes},), variants=())\n"


HELD = Pins(Outcome.HOLDS, 5, None, Guarantee.PRECISE)
REFUTED = Pins(Outcome.REFUTED, 1_005, 7, Guarantee.GAP)
REFUSED = {
    "a loop": (
        module("*(c.holds() for c in (CASE, OTHER))"),
        row("one", HELD),
        "one: the call in line 11 makes 2 scopes; write a call for each",
    ),
    "a helper": (
        module("make(CASE), make(OTHER)", "def make(case):\n    return case.holds()\n"),
        row("one", HELD),
        "one: the call in line 11 makes 2 scopes; write a call for each",
    ),
    "a scope of two protocols": (
        module("one")
        .replace("variants=()", "variants=(FAMILY.design('late', scopes=(one,)),)")
        .replace("\nPROTOCOL", "\none = CASE.holds()\nPROTOCOL"),
        row("one", HELD),
        "one: own:late has it, too; write a call for each protocol",
    ),
    "arguments by *": (
        module("CASE.holds(*numbers)", "numbers = (4,)\n"),
        row("one", HELD),
        "one: the call in line 12 has arguments by *; write each one",
    ),
    "arguments by **": (
        module("CASE.holds(**{'states': 4})"),
        row("one", HELD),
        "one: the call in line 11 has arguments by *; write each one",
    ),
    "no call": (
        module("PinnedScope('one', WORLDS, OperatorClass.REPEATABLE)"),
        row("one", HELD),
        "one: no call of holds or fails in this file makes it; pin it where it is made",
    ),
    "a changed scope": (
        module("replace(CASE.holds(), quick=False)", "from dataclasses import replace\n"),
        row("one", HELD),
        "one: no call of holds or fails in this file makes it; pin it where it is made",
    ),
    "no name for the guarantee": (
        "import asif.protocol as a\nfrom asif.protocol import Family, Behaviour\n"
        "WORLDS = a.over_words(a.chain(('r', a.Relay())), 1)\n"
        "CASE = a.Case('one', WORLDS, a.OperatorClass.REPEATABLE)\n"
        "FAMILY = Family('own', '', '', Behaviour(None, None, None))\n"
        "del a\nPROTOCOL = FAMILY.design(scopes=(CASE.holds(),))\n",
        row("one", HELD._replace(guarantee=Guarantee.GAP)),
        "one: the guarantee is gap; import Guarantee, so that it can be named",
    ),
    "another verdict": (
        module("CASE.holds(4)"),
        row("one", REFUTED, Outcome.HOLDS),
        "one: expected: holds; found: refuted; if that is right, write "
        ".fails(1_005, 7, Guarantee.GAP) in line 11",
    ),
    "the better verdict": (
        module("CASE.fails()"),
        row("one", HELD, Outcome.REFUTED),
        "one: expected: refuted; found: holds; if that is right, write .holds(5) in line 11",
    ),
    "another verdict after a step that fails": (
        module("CASE.holds()"),
        row("one", REFUTED, Outcome.HOLDS, complete=False),
        "one: expected: holds; found: refuted; if that is right, write .fails() in line 11",
    ),
    "another verdict where nothing streams": (
        module("Case('still', Scope(crashes=0)).holds()"),
        row("still", REFUTED._replace(guarantee=None), Outcome.HOLDS),
        "still: expected: holds; found: refuted; if that is right, write "
        ".fails(1_005, 7) in line 11",
    ),
    "nothing tried": (
        module("CASE.holds()"),
        row("one", HELD._replace(outcome=Outcome.VACUOUS), Outcome.HOLDS),
        "one: expected: holds; found: vacuous",
    ),
    "a budget": (
        module("CASE.holds(9)"),
        row("one", HELD._replace(outcome=Outcome.UNFINISHED), complete=False, spent="3 worlds"),
        "one: not all worlds were seen: 3 worlds",
    ),
    "a step that fails": (
        module("CASE.fails(9, 9)"),
        row("one", REFUTED, complete=False),
        "one: not all worlds were seen: a step fails",
    ),
    "another class of operators": (
        module("CASE.holds(5)"),
        row("one", HELD, derived=OperatorClass.DETERMINISTIC),
        "one: correct the class of operators in its case",
    ),
    "numbers that something changes": (
        module("one", "one = CASE.holds()\nobject.__setattr__(one, 'states', 3)\n"),
        row("one", HELD),
        "the change does not reach own: one",
    ),
    "scopes that come and go": (
        module(
            "one, *more", "one = CASE.holds()\nmore = () if one.states is None else [OTHER.holds()]"
        ),
        row("one", HELD),
        "the change adds or removes scopes",
    ),
    "a file that then cannot run": (
        module("one", "one = CASE.holds()\nassert one.states is None, 'of old'\n"),
        row("one", HELD),
        "the changed file cannot be imported: formed.py:11: importing it raises AssertionError: "
        "of old",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_pinned_is_one_line_and_stays(what: str) -> None:
    text, found, why = REFUSED[what]
    result = pinned(text, found)
    assert result.refused == (why,)
    assert (result.pinned, result.after.text) == ((), text)


def test_a_scope_that_can_be_pinned_is_pinned_beside_one_that_cannot() -> None:
    text = module("CASE.holds(), OTHER.fails()")
    result = pinned(text, row("one", HELD), row("other", HELD, Outcome.REFUTED))
    assert result.after.text == text.replace("CASE.holds()", "CASE.holds(5)")
    assert len(result.refused) == 1


def test_an_unpinned_scope_that_was_not_explored_whole_is_as_it_says() -> None:
    text = module("CASE.fails(None, 7, Guarantee.GAP)")
    result = pinned(text, row("one", REFUTED, complete=False, as_pinned=True))
    assert (result.pinned, result.refused) == ((), ())


def test_a_helper_of_one_scope_is_pinned_where_it_stands() -> None:
    text = module("make(CASE)", "def make(case):\n    return case.holds(  # here\n    )\n")
    result = pinned(text, row("one", HELD))
    assert result.after.text == text.replace("case.holds(  #", "case.holds(5  #")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "Guarantee.GAP"),
        ("GAP = Guarantee.GAP\n", "GAP"),
        ("WEAK = Guarantee.GAP\n", "Guarantee.GAP"),
        ("G = Guarantee\ndel Guarantee\n", "G.GAP"),
        ("del Guarantee\n", "asif.Guarantee.GAP"),
    ],
)
def test_a_guarantee_is_named_as_the_file_names_it(name: str, words: str) -> None:
    text = module("CASE.holds()", name)
    result = pinned(text, row("one", HELD._replace(guarantee=Guarantee.GAP)))
    assert f"CASE.holds(5, {words})," in result.after.text


def test_the_modules_are_as_before() -> None:
    import sys

    before = dict(sys.modules), [*sys.path]
    pinned(module("CASE.holds()"), row("one", HELD))
    assert (dict(sys.modules), sys.path) == before
