"""Sinks as a log, a bag, a set or a table: each reading of the same outputs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from model.cep.engines import Function
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.comparison import BAG, SEQUENCE, SET, Compare, Shape, table
from model.core import (
    Answer,
    Arrival,
    Emit,
    Guarantee,
    Input,
    Observation,
    OperatorClass,
    Property,
    Received,
    Role,
    Scope,
    Send,
    Site,
    When,
)
from model.errors import Invalid
from model.events import Body
from model.evidence import Case
from model.family import Family
from model.graph import chain
from model.parts import deploy_graph, over_words
from model.properties import AS_IF, COMPLETE
from model.protocol import Assumptions, Behaviour, Failures, Protocol
from model.system import System
from proofs.explore.explorer import explore
from proofs.explore.random_walk import walks
from proofs.explore.verdict import verdict
from tests.contract.words import refuted
from tests.proofs.test_searches import both

CLASS = OperatorClass.DETERMINISTIC
PAIRS = Operator(Function(lambda window: tuple((body,) for body in window)), CountWindows(2, 2))
"""Of two events, a result for each; of one, none."""
GRAPH = chain(("A", PAIRS))
BY_TYPE, BY_EVENT = table(lambda row: row.type), table(lambda row: row.data)
P, REPEATING, DIVERGENT, GAP = (
    *(Guarantee.PRECISE, Guarantee.REPEATING),
    *(Guarantee.DIVERGENT, Guarantee.GAP),
)


def step(outputs: Any, site: Site, state: Any, input_: Input) -> Answer:
    """An operator that passes on its two results as `outputs` changes them."""
    match site.role, input_:
        case Role.SOURCE, Arrival(_, type_, _):
            return state + 1, (Send("A", Body(state + 1, type_)),)
        case Role.OPERATOR, Received(_, body) if state == 0:
            return body, ()
        case Role.OPERATOR, Received(_, body):
            results = (Body(body.time, "match", (one,)) for one in (state, body))
            return 0, tuple(Send("sink", one) for one in outputs(*results))
        case Role.SINK, Received(_, body):
            return state, (Emit((0, body)),)
    raise AssertionError(input_)


def into(how: Compare) -> Scope:
    """Two events at most; each result has the type "match", the later time and its event."""
    return replace(over_words(GRAPH, 2, "a", crashes=0), sinks=(("sink", how),))


def passing(outputs: Any, *properties: Property, **more: Any) -> Protocol:
    behaviour = Behaviour(
        lambda _, scope: deploy_graph(scope.graph), lambda _: 0, partial(step, outputs)
    )
    family = Family("sinks", "", "", behaviour, assumes=Assumptions(Failures.NONE))
    return family.design(properties=properties, **more)


def wrong(body: Body) -> Body:
    return body._replace(time=9)


FORMS: dict[str, Any] = {
    "right": lambda *both: both,
    "twice": lambda *both: both * 2,
    "swapped": lambda *both: both[::-1],
    "the last alone": lambda *both: both[1:],
    "the first alone": lambda *both: both[:1],
    "nothing": lambda *_: (),
    "a wrong one": lambda one, two: (one, wrong(two)),
    "a wrong one more": lambda one, two: (wrong(one), one, two),
}
HOWS = {"log": SEQUENCE, "bag": BAG, "set": SET, "by type": BY_TYPE, "by event": BY_EVENT}
ENDS: dict[str, tuple[Guarantee, ...]] = {
    # of all results as a log, bag, set, table by type, table by event
    "right": (P, P, P, P, P),
    "twice": (REPEATING, REPEATING, P, P, P),
    "swapped": (DIVERGENT, P, P, DIVERGENT, P),
    "the last alone": (GAP, GAP, GAP, P, GAP),
    "the first alone": (GAP, GAP, GAP, DIVERGENT, GAP),
    "nothing": (GAP, GAP, GAP, GAP, GAP),
    "a wrong one": (GAP, GAP, GAP, DIVERGENT, DIVERGENT),
    "a wrong one more": (Guarantee.CONVERGENT, DIVERGENT, DIVERGENT, P, P),
}
BEGUN: dict[str, tuple[bool, ...]] = {
    # does each output so far begin an expected one?  A table may go back to an older content.
    "right": (True, True, True, True, True),
    "twice": (False, False, True, True, True),
    "swapped": (False, True, True, True, False),
    "the last alone": (False, True, True, True, False),
    "the first alone": (True, True, True, True, True),
    "nothing": (True, True, True, True, True),
    "a wrong one": (False, False, False, False, False),
    "a wrong one more": (False, False, False, False, False),
}
CASES = [
    pytest.param(FORMS[form], how, end, begun, id=f"{form}, {shape}")
    for form in FORMS
    for (shape, how), end, begun in zip(HOWS.items(), ENDS[form], BEGUN[form], strict=True)
]


@pytest.mark.parametrize(("outputs", "how", "end", "begun"), CASES)
def test_each_reading_of_each_output(
    outputs: Any, how: Compare, end: Guarantee, begun: bool
) -> None:
    """The operator has taken 0, 1 or 2 of as many events or more: 3 + 2 + 1 worlds; after the
    second one its results come one by one: one world more for each."""
    results = len(outputs(Body(1, ""), Body(2, "")))
    tried = passing(outputs, AS_IF, COMPLETE)
    found = both(tried, into(how))
    assert found.states == 3 + 2 + 1 + results
    assert found.guarantee is end
    broken = found.counterexample and found.counterexample.property
    assert broken == (AS_IF if not begun else COMPLETE if end > P else None)
    assert (walks(tried, into(how), 200, seed=1).property is None) == (broken is None)


@pytest.mark.parametrize(
    ("form", "how", "steps", "name"),
    [
        # Two events come, the operator takes both, the sink takes as many as show it.
        ("twice", SEQUENCE, 2 + 2 + 3, AS_IF.name),
        ("twice", BAG, 2 + 2 + 3, AS_IF.name),
        ("swapped", BY_EVENT, 2 + 2 + 1, AS_IF.name),
        ("the first alone", BY_TYPE, 2 + 2 + 1, COMPLETE.name),
        ("nothing", SET, 2 + 2, COMPLETE.name),
    ],
)
def test_every_checker_finds_it(form: str, how: Compare, steps: int, name: str) -> None:
    refuted(passing(FORMS[form], AS_IF, COMPLETE), into(how), steps, name)


def _nothing_made_up(_scope: Scope, seen: Observation) -> bool:
    """Repetitions and losses are as they should be."""
    return all(body.type == "match" for put in seen.outputs for _, body, *_ in put)


@pytest.mark.parametrize(("form", "how", "end"), [("twice", BAG, REPEATING), ("twice", SET, P)])
@pytest.mark.parametrize("claimed", [P, REPEATING])
def test_a_claim_is_compared_with_the_same_reading(
    form: str, how: Compare, end: Guarantee, claimed: Guarantee
) -> None:
    """Without a property, a repetition refutes a claim of precise recovery alone."""
    case = Case("two", into(how), CLASS).holds(guarantee=end)
    anything = Property("nothing is made up", When.ALWAYS, _nothing_made_up)
    tried = passing(FORMS[form], anything, scopes=(case,), claims=claimed)
    found = verdict(tried, walks=20, examples=2)
    assert found.found == {CLASS: end}
    assert (found.weaker, found.stronger) == (
        (CLASS,) if end > claimed else (),
        (CLASS,) if end < claimed else (),
    )
    assert found.expected == (end is claimed)


# --- wrong words -------------------------------------------------------------------------------
ODD: dict[str, tuple[Any, str]] = {
    "an unknown sink": ((("sank", BAG),), "scope: sinks: the graph has no sink 'sank'; did you"),
    "no sink": ((("A", BAG),), "scope: sinks: the graph has no sink 'A'; there are 'sink'"),
    "a word": ((("sink", "bag"),), "'sink' compares as 'bag'; give SEQUENCE, BAG, SET or table("),
    "table without a key": ((("sink", table),), "give SEQUENCE, BAG, SET or table(key)"),
    "a shape": ((("sink", Shape.BAG),), "give SEQUENCE, BAG, SET or table(key)"),
    "twice": ((("sink", BAG), ("sink", SET)), "scope: sinks: 'sink' stands there twice; give it"),
    "one pair": (("sink", BAG), "give pairs (sink, comparison)"),
    "a mapping": ({"sink": BAG}, "give pairs (sink, comparison)"),
}


@pytest.mark.parametrize(("sinks", "line"), ODD.values(), ids=ODD)
def test_a_wrong_word_is_one_line(sinks: Any, line: str) -> None:
    with pytest.raises(Invalid) as raised:
        System(passing(FORMS["right"]), replace(into(BAG), sinks=sinks))
    assert line in str(raised.value)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (lambda row: row.kye, "the key of a table raises AttributeError: 'Body' object has no att"),
        (lambda row: [row.time], "the key of a table raises TypeError: unhashable type: 'list'"),
        (lambda: 1, "the key of a table raises TypeError: "),
    ],
)
@pytest.mark.parametrize("properties", [(AS_IF,), (COMPLETE,), ()])
def test_a_key_that_fails_is_one_line(key: Any, properties: Any, line: str) -> None:
    with pytest.raises(Invalid) as raised:
        explore(passing(FORMS["right"], *properties), into(table(key)))
    assert line in str(raised.value)
    assert "for Body(time=" in str(raised.value)


@pytest.mark.parametrize(
    ("shape", "key", "line"),
    [
        (Shape.TABLE, None, "a table by None: give a function from a body to its key"),
        (Shape.TABLE, "time", "a table by 'time': give a function from a body to its key"),
        (Shape.BAG, len, "a bag by <built-in function len>: give a key to a table alone"),
    ],
)
def test_a_comparison_that_is_none_is_one_line(shape: Shape, key: Any, line: str) -> None:
    with pytest.raises(Invalid) as raised:
        Compare(shape, key)
    assert str(raised.value) == line
