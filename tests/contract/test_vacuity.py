"""A protocol that holds because nothing could have refuted it: the smallest one of each kind.

Rule of this file: each protocol is mindful.py with one change, and would hold without the check.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import pytest

from docs.examples import forgetful, mindful
from model.core import Guarantee, Inputs, Observation, Property, Scope, When
from model.evidence import Outcome
from model.log import Log
from model.parts import over_words
from model.properties import AS_IF, COMPLETE, at_least
from model.protocol import Protocol
from model.system import System
from model.world import Node
from proofs.explore.any_answer import SEEDS, with_any_answer
from proofs.explore.collapse import Collapsed
from proofs.explore.corruption import corrupt, observations, with_value
from proofs.explore.explorer import explore
from proofs.explore.named_values import named_values
from proofs.explore.random_attack import enlarge
from proofs.explore.search.judge import Judge
from proofs.explore.trials import VALUES, Breaker, ScopeTrial
from proofs.explore.vacuity import NamedTrial, never_tried_in_all

Asif = Callable[..., Any]
CHECK = ("check", "FILE", "--walks", "20", "--examples", "1")
OWN = "PROTOCOL = mindful.PROTOCOL.vary(must_occur=(), "
NO_CRASH = "repeatable operators: no crash came, since no scope grants any"
NOTHING_LOST = "repeatable operators: no crash came after the victim had anything to lose"
NO_RESULTS = "repeatable operators: no events of any scope have a result"
MAY_MISS = "repeatable operators: each result may be missing"
MAY_COME_TWICE = "repeatable operators: each result may come twice"

LAX = """
import itertools
class Lax(Operator):
    def runs(self, inputs):
        for outs, mark in super().runs(inputs):
            for counts in itertools.product({counts}, repeat=len(outs)):
                put = ((out,) * count for out, count in zip(outs, counts))
                yield type(inputs[0])(tuple(itertools.chain(*put)), mark)
GRAPH = chain(("relay", Lax(sequence("a"), CountWindows(1, 1))))
SCOPE = Case("lax", over_words(GRAPH, 1), forgetful.CLASS).holds()
PROTOCOL = mindful.PROTOCOL.vary(must_occur=(), scopes=(SCOPE,))
"""
"""Operators whose results may come so often."""

IDLE = """
def deploy(_design, scope):
    found = mindful.PROTOCOL.deploy(scope)
    idle = Site("idle", Role.OPERATOR, None, (), ())
    return found._replace(sites=(*found.sites, idle), crashable=frozenset({"idle"}))
def boot(site):
    return 0 if site.name == "idle" else forgetful.boot(site)
def recover(site, durable):
    return 0, ()
SCOPE = Case("one", over_words(forgetful.RELAY, 1), forgetful.CLASS).holds()
PROTOCOL = mindful.PROTOCOL.vary(
    must_occur=(), deploy=deploy, boot=boot, recover=recover, scopes=(SCOPE,)
)
"""


def calm(*scopes: str) -> str:
    made = (f"Case({one!r}, {one}, forgetful.CLASS).holds()" for one in scopes)
    return OWN + f"scopes=({', '.join(made)},))"


def judged(condition: str, when: str = "QUIESCENT", **looks: bool) -> str:
    made = f"Property('mine', When.{when}, lambda scope, seen: {condition}, **{looks})"
    scope = "Case('one', over_words(forgetful.RELAY, 1), forgetful.CLASS).holds()"
    return OWN + f"properties=(AS_IF, COMPLETE, {made}), scopes=({scope},))"


VACUOUS = {
    "no scope grants a crash": (
        calm("replace(forgetful.SMALL, crashes=0)", "over_words(forgetful.RELAY, 1, crashes=0)"),
        [NO_CRASH],
    ),
    "the victim is a node that nothing reaches": (IDLE, [NOTHING_LOST]),
    "events never match": (calm("over_words(forgetful.RELAY, 1, 'z')"), [NO_RESULTS]),
    "an operator never matches": (
        calm("over_words(chain(('relay', Operator(sequence('z'), CountWindows(1, 1)))), 1)"),
        [NO_RESULTS],
    ),
    "no event comes": (calm("over_words(forgetful.RELAY, 0)"), [NOTHING_LOST, NO_RESULTS]),
    "each result may be missing": (LAX.format(counts=(0, 1)), [MAY_MISS]),
    "each result may come twice": (LAX.format(counts=(1, 2)), [MAY_COME_TWICE]),
    "everything is allowed": (LAX.format(counts=(0, 1, 2)), [MAY_MISS, MAY_COME_TWICE]),
    "a sink that emits nothing": (
        OWN + "claims={forgetful.CLASS: Guarantee.GAP}, properties=(AS_IF,),"
        " step=lambda site, state, input_: ((state, ()) if site.role is Role.SINK"
        " else mindful.step(site, state, input_)),"
        " scopes=(Case('one', over_words(forgetful.RELAY, 1), forgetful.CLASS)"
        ".holds(None, Guarantee.GAP),))",
        ["repeatable operators: no sink emitted anything"],
    ),
    "no false suspicion may come": (
        calm("over_words(forgetful.RELAY, 1)")
        + "\nPROTOCOL = PROTOCOL.vary(assumes=Assumptions(Failures.ANY, suspicions=True))",
        ["no false suspicion came"],
    ),
    "links with faults that no scope grants": (
        "def deploy(_design, scope):\n"
        "    found = mindful.PROTOCOL.deploy(scope)\n"
        "    return found._replace(links={found.channels[0]: Link(lossy=True)})\n"
        + calm("over_words(forgetful.RELAY, 1)")
        + "\nPROTOCOL = PROTOCOL.vary(deploy=deploy)",
        ["no link fault came, since no scope grants any"],
    ),
    "a property of the number of sinks": (
        judged("len(seen.outputs) == 1"),
        ["the property 'mine' holds of every observation"],
    ),
    "a property of the arrivals alone": (
        judged("all(one.gap >= 0 for one in seen.arrivals[0])", "ALWAYS"),
        ["the property 'mine' holds of every observation"],
    ),
    "a property that looks at states and asks nothing": (
        judged("len(seen.states) <= 3", "ALWAYS", nodes=True),
        ["the property 'mine' holds of every observation"],
    ),
    "a property that looks at messages and asks nothing": (
        judged("len(seen.messages) >= 0", "ALWAYS", messages=True),
        ["the property 'mine' holds of every observation"],
    ),
    "an operator that allows all, and properties of nodes alone": (
        LAX.format(counts=(0, 1, 2))
        + "PROTOCOL = PROTOCOL.vary(properties=(Property('up', When.QUIESCENT,"
        " lambda scope, seen: dict(seen.states)['relay'] is True, nodes=True),))",
        [MAY_MISS, MAY_COME_TWICE],
    ),
}


@pytest.mark.parametrize("kind", VACUOUS)
def test_a_protocol_that_nothing_can_refute_does_not_hold(kind: str, asif: Asif) -> None:
    text, why = VACUOUS[kind]
    ended = asif(text, *CHECK)
    assert (ended.code, ended.result["outcome"], ended.result["expected"]) == (1, "vacuous", False)
    found = ended.result["vacuous"]
    assert len(found) == len(why), found
    for line, begin in zip(found, why, strict=True):
        assert line.startswith(begin)
        assert f"  vacuous: {line}" in ended.out
    assert "in everyday words" not in ended.out
    assert all(row["outcome"] == "holds" for row in ended.result["scopes"]), "each one alone"


HOLDS = {
    "one scope has crashes": calm(
        "replace(forgetful.SMALL, crashes=0)", "over_words(forgetful.RELAY, 1)"
    ),
    "nobody promises anything about crashes": calm("over_words(forgetful.RELAY, 1, crashes=0)")
    + "\nPROTOCOL = PROTOCOL.vary(assumes=Assumptions(Failures.NONE))",
    "one scope has results": calm(
        "over_words(forgetful.RELAY, 1, 'z')", "over_words(forgetful.RELAY, 1)"
    ),
    "copies do not count in a set": LAX.format(counts=(1, 2))
    + "SCOPE = Case('set', replace(SCOPE.scope, sinks=(('sink', SET),)), forgetful.CLASS).holds()\n"
    "PROTOCOL = PROTOCOL.vary(scopes=(SCOPE,))",
    "a property of one node": judged("dict(seen.states)['relay'] is True", nodes=True),
    "a property of outputs and arrivals": judged(
        "len(seen.outputs[0]) == sum(one.type == 'a' for one in seen.arrivals[0])"
    ),
    "a property of messages": judged(
        "all(one.sn[0] == 1 for _, sent in seen.messages for one in sent"
        " if isinstance(one, forgetful.Event) and len(seen.arrivals[0]) < 2)",
        "ALWAYS",
        messages=True,
    ),
}


@pytest.mark.parametrize("kind", HOLDS)
def test_a_protocol_that_could_have_been_refuted_holds(kind: str, asif: Asif) -> None:
    ended = asif(HOLDS[kind], *CHECK)
    assert (ended.result["vacuous"], ended.result["outcome"]) == ([], "holds")
    assert ended.code == 0


# --- events that a node may keep ---------------------------------------------------------------
KEEPS = """
FREE = Case("nothing fails", over_words(relay.GRAPH, 2, crashes=0), OperatorClass.REPEATABLE)
ONE = Case("a crash", over_words(relay.GRAPH, 1), OperatorClass.REPEATABLE)
PROTOCOL = relay.PROTOCOL.vary(
    needed=lambda scope, seen: {needed}, must_occur=(), properties=(AS_IF, COMPLETE),
    scopes=(FREE.holds(), ONE.holds()), variants=(), mutants=(),
)
"""


@pytest.mark.parametrize(
    "needed", ["{'source': 9}", "{'source': sum(map(len, seen.arrivals))}", "{}", "{'sink': 0}"]
)
def test_needed_that_allows_everything_is_vacuous(needed: str, asif: Asif) -> None:
    """No node named, too many events, or a node (the sink) whose gauges report no number."""
    ended = asif(KEEPS.format(needed=needed), *CHECK)
    assert (ended.code, ended.result["outcome"]) == (1, "vacuous")
    (why,) = ended.result["vacuous"]
    assert why.startswith("`needed` allows each node to keep all events")


@pytest.mark.parametrize("needed", ["{'source': 0}", "{'source': 1}", "{'source': 0, 'sink': 9}"])
def test_needed_that_could_be_too_little_is_not(needed: str, asif: Asif) -> None:
    ended = asif(KEEPS.format(needed=needed), *CHECK)
    assert (ended.code, ended.result["vacuous"]) == (0, [])


# --- one scope, and unfinished checks ----------------------------------------------------------
def test_one_scope_alone_names_the_trials_of_others(asif: Asif) -> None:
    """A scope without crashes may be there for `needed`: alone it is as pinned, and says so."""
    ended = asif(HOLDS["one scope has crashes"], "check", "FILE", "--scope", "one")
    assert ended.code == 2, "its name is another one"
    text = HOLDS["one scope has crashes"].replace("Case('replace(", "Case('calm' or '")
    ended = asif(text, "check", "FILE", "--scope", "calm")
    assert (ended.code, ended.result["scope"]["outcome"]) == (0, "holds")
    assert ended.result["vacuous"] == []
    (why,) = ended.result["untried"]
    assert why.startswith(NO_CRASH)
    assert f"  not tried by this scope alone: {why}" in ended.out


def test_a_refuted_or_unfinished_protocol_is_not_vacuous(asif: Asif) -> None:
    text = calm("over_words(forgetful.RELAY, 2, crashes=0)")
    ended = asif(text, *CHECK, "--limit", "2")
    assert (ended.result["outcome"], ended.result["vacuous"]) == ("explored so far", [])
    broken = text + "\nPROTOCOL = PROTOCOL.vary(step=forgetful.step, recover=None)"
    nothing = "\nNEVER = Property('never', When.QUIESCENT, lambda scope, seen: not seen.outputs[0])"
    ended = asif(broken + nothing + "\nPROTOCOL = PROTOCOL.vary(properties=(NEVER,))", *CHECK)
    assert (ended.code, ended.result["outcome"]) == (1, "refuted")
    assert ended.result["vacuous"] == []


# --- the attack --------------------------------------------------------------------------------
def test_the_attack_adds_no_input_and_no_crash_where_the_scope_has_none() -> None:
    """Longer streams and one more crash are larger; from none to some is another promise."""
    one = mindful.PROTOCOL.evidence.scopes[0]
    scope = one.scope
    (name, inputs), *_ = scope.inputs
    silent = replace(scope, inputs=((name, Inputs(inputs.alphabet, 0)),))
    still = replace(scope, crashes=0)
    tried = mindful.PROTOCOL.vary(
        scopes=(one, replace(one, scope=silent), replace(one, scope=still))
    )
    larger, larger_silent, larger_still = enlarge(tried)
    assert [each.length for _, each in larger.inputs] == [inputs.length + 3]
    assert larger.crashes == scope.crashes + 1
    assert larger_silent == replace(silent, crashes=scope.crashes + 1)
    assert (larger_still.crashes, larger_still.inputs) == (0, larger.inputs)


# --- the parts ---------------------------------------------------------------------------------
def trial(protocol: Protocol, scope: Scope | None = None) -> ScopeTrial:
    found = explore(protocol, scope or protocol.evidence.scopes[0].scope)
    assert found.outcome is Outcome.HOLDS
    assert found.trial is not None
    return found.trial


def test_a_right_protocol_tries_everything() -> None:
    names = (AS_IF.name, COMPLETE.name)
    assert trial(mindful.PROTOCOL) == ScopeTrial(
        *(True, True, True, False, None, True, True, True, True, None), asked=names, broken=names
    )


@pytest.mark.parametrize(
    "part", ["crashes", "lost", "expected", "emitted", "misses", "copies", "broken"]
)
def test_each_part_of_a_trial_counts(part: str) -> None:
    """A trial without one of them is a sentence, unless another scope has it."""
    one = mindful.PROTOCOL.evidence.scopes[0]
    full = trial(mindful.PROTOCOL)
    less: Any = {part: () if part == "broken" else False}
    named = [NamedTrial(one.name, one.operators, each) for each in (full, replace(full, **less))]
    assert [*never_tried_in_all(mindful.PROTOCOL, named[1:])]
    assert not [*never_tried_in_all(mindful.PROTOCOL, named)]
    assert not [*never_tried_in_all(mindful.PROTOCOL, named[:1])]


def test_a_corruption_differs_in_one_place_and_keeps_the_arrivals() -> None:
    seen = Observation(((),), (((0, "x"), (0, "y")),), (("a", (1, True)),), (("a", "v"),))
    found = [*observations(seen, [], {"a": ["known"]}, {})]
    assert seen not in found
    assert all(one.arrivals == seen.arrivals for one in found)
    assert {one.states for one in found} >= {(("a", "known"),), (("a", (1, False)),), ()}
    assert {len(one.outputs[0]) for one in found} == {0, 1, 2, 3}
    assert [*corrupt(object())] == []


def test_two_nodes_may_have_states_of_other_worlds_at_once() -> None:
    """Two leaders differ from a world without one in two places."""
    seen = Observation((), (), (("a", "idle"), ("b", "idle")))
    known = {"a": ["leads"], "b": ["leads"]}
    states = [one.states for one in observations(seen, [], known, {})]
    assert (("a", "leads"), ("b", "leads")) in states


def test_all_messages_may_change_in_the_same_way() -> None:
    """A property may ask whether something is true of all of them."""
    seen = Observation((), (), (), (), ((("a", "b"), (0,)), (("a", "c"), (0,))))
    messages = [dict(one.messages) for one in observations(seen, [], {}, {})]
    assert {("a", "b"): (1,), ("a", "c"): (1,)} in messages


class NeverReached(NamedTuple):
    """A state that no run reaches."""

    why: str


class ReachedOrNot(Enum):
    FINE = 1
    LOST = 2


def _is_lost(state: Any) -> bool:
    return state is ReachedOrNot.LOST


def _never(bad: Any) -> Callable[[Any, Observation], bool]:
    return lambda _, seen: all(state is not bad for _, state in seen.states)


def _none_is(bad: Any, _: Any, seen: Observation, *, but: Any = None) -> bool:
    return all(state is not bad or state is but for _, state in seen.states)


def _none_by_default(_: Any, seen: Observation, bad: Any = ReachedOrNot.LOST) -> bool:
    return all(state is not bad for _, state in seen.states)


@dataclass(frozen=True)
class NoneIs:
    bad: Any

    def __call__(self, _: Any, seen: Observation) -> bool:
        return all(state is not self.bad for _, state in seen.states)


class OfAModule:
    """An attribute of a class; of a module it is the same."""

    lost = ReachedOrNot.LOST


FORBIDS: dict[str, Callable[[Any, Observation], bool]] = {
    "a text": lambda _, seen: all(state != "error" for _, state in seen.states),
    "a number in a list": lambda _, seen: not any(s in (707, 708) for _, s in seen.states),
    "a type": lambda _, seen: not any(isinstance(s, NeverReached) for _, s in seen.states),
    "a member, in a helper": lambda _, seen: not any(_is_lost(s) for _, s in seen.states),
    "a value of a closure": _never(ReachedOrNot.LOST),
    "an argument of a partial function": partial(_none_is, ReachedOrNot.LOST),
    "a named argument of one": partial(_none_is, ReachedOrNot.LOST, but="fine"),
    "a default": _none_by_default,
    "a field of a callable object": NoneIs(ReachedOrNot.LOST),
    "an attribute": lambda _, seen: all(s is not OfAModule.lost for _, s in seen.states),
}


@pytest.mark.parametrize("kind", FORBIDS)
def test_a_property_may_forbid_a_state_that_no_run_reaches(kind: str) -> None:
    """A right protocol has no such state, and the property is not vacuous for that."""
    own = Property("never", When.ALWAYS, FORBIDS[kind], nodes=True)
    scope = over_words(forgetful.RELAY, 1, "a", crashes=1)
    assert trial(mindful.PROTOCOL.vary(properties=(own,)), scope).broken == ("never",)


@pytest.mark.parametrize("kind", FORBIDS)
def test_a_value_that_a_property_names_breaks_it(kind: str) -> None:
    """Each state that it forbids is among the values, or in a record of one."""
    seen = Observation((), (), (("a", "fine"), ("b", "fine")))
    found = [one for value in named_values(FORBIDS[kind]) for one in with_value(seen, value)]
    assert not all(FORBIDS[kind](None, one) for one in found)


def test_the_values_that_a_property_names() -> None:
    def names(state: Any) -> bool:
        return (
            _is_lost(state)
            or state in ("x", 2)
            or isinstance(state, NeverReached)
            or len(state) > 7
        )

    found = named_values(names)
    assert {ReachedOrNot.FINE, ReachedOrNot.LOST, "x", 2, NeverReached(None), 7} <= {*found}  # type: ignore[arg-type]
    weakest = at_least(Guarantee.GAP).holds
    assert {weakest, Guarantee.GAP} <= {*named_values(weakest)}


def test_a_property_that_raises_looks_at_the_corrupted_part() -> None:
    def newest(_scope: Any, seen: Observation) -> bool:
        return not seen.arrivals[0] or seen.outputs[0][-1][0] == 0

    own = Property("newest", When.QUIESCENT, newest)
    scope = over_words(forgetful.RELAY, 1, "a", crashes=1)
    assert trial(mindful.PROTOCOL.vary(properties=(own,)), scope).broken == ("newest",)


# --- values that no corruption reaches ---------------------------------------------------------
BOUNDS: dict[str, Callable[[Any, Observation], bool]] = {
    "of the results": lambda _, seen: sum(map(len, seen.outputs)) < 9,
    "of a number": lambda _, seen: all(s != 7 or s < 1_000 for _, s in seen.states),
    "of the messages": lambda _, seen: all(len(sent) < 5_000 for _, sent in seen.messages),
    "of a combination": lambda _, seen: (
        sum(s in ("leads", 70) for _, s in seen.states) < len(seen.states)
    ),
}


@pytest.mark.parametrize("kind", BOUNDS)
def test_a_bound_that_no_corruption_exceeds_is_not_vacuous(kind: str) -> None:
    own = Property("bound", When.ALWAYS, BOUNDS[kind], nodes=True, messages=True)
    scope = over_words(forgetful.RELAY, 1, "a", crashes=1)
    assert trial(mindful.PROTOCOL.vary(properties=(own,)), scope).broken == ("bound",)


ASKS_NOTHING: dict[str, Callable[[Any, Observation], bool]] = {
    "a constant": lambda *_: True,
    "lengths that are never negative": lambda _, seen: all(len(o) >= 0 for o in seen.outputs),
    "the names of nodes": lambda _, seen: all(name for name, _ in seen.states),
}


@pytest.mark.parametrize("kind", ASKS_NOTHING)
def test_a_property_that_depends_on_no_answer_is_vacuous(kind: str) -> None:
    own = Property("nothing", When.ALWAYS, ASKS_NOTHING[kind], nodes=True, messages=True)
    scope = over_words(forgetful.RELAY, 1, "a", crashes=1)
    assert trial(mindful.PROTOCOL.vary(properties=(own,)), scope).broken == ()


def test_a_property_that_asks_on_and_on_is_not_vacuous() -> None:
    """Its answer stays unknown."""

    def last(_: Any, seen: Observation) -> bool:
        for _, state in seen.states:
            while getattr(state, "why", False):
                state = state.why
        return True

    own = Property("last", When.ALWAYS, last, nodes=True)
    scope = over_words(forgetful.RELAY, 1, "a", crashes=1)
    assert trial(mindful.PROTOCOL.vary(properties=(own,)), scope).broken == ("last",)


@dataclass(frozen=True)
class Checked:
    """A record whose constructor refuses most values."""

    sent: int = 0

    def __post_init__(self) -> None:
        if self.sent not in (0, 1):
            raise ValueError


class Holder(NamedTuple):
    inner: Checked | NeverReached


def test_a_constructor_may_refuse_a_corruption() -> None:
    assert [*corrupt(Checked(1))] == [Checked(0)]
    seen = Observation((), (), (("a", Checked(1)),))
    found = {one.states for one in with_value(seen, 0)}
    assert found == {(("a", 0),), (("a", Checked(0)),)}
    assert len([*with_any_answer(seen, (0, Checked))]) >= 2 * len(SEEDS)


def test_a_value_is_put_into_records_of_records() -> None:
    seen = Observation((), (), (("a", Holder(NeverReached("x"))),))
    found = [one.states[0][1] for one in with_value(seen, "y")]
    assert found == ["y", Holder("y"), Holder(NeverReached("y"))]  # type: ignore[arg-type]


def test_corruptions_of_containers() -> None:
    assert [*corrupt([True])] == [[], [True, True], [False]]
    assert [*corrupt({"a": True})] == [{"a": False}, {}]
    found = [*corrupt(Log(((1, 2),), 2))]
    assert [[*one] for one in found][:3] == [[1], [2], [1, 2, 2]]
    assert all(one.length == len([*one]) for one in found)


def test_the_hash_seed_decides_nothing() -> None:
    code = (
        "from proofs.explore.corruption import corrupt\n"
        "from proofs.explore.named_values import named_values\n"
        "value = frozenset(f'k{i}' for i in range(60))\n"
        "print([sorted(value - one) for one in corrupt(value)])\n"
        "print(named_values(lambda _, seen: seen in {'a', 'b', 'cc', 'dd'})[1:])\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1


def test_the_order_of_asking_decides_no_value() -> None:
    protocol = mindful.PROTOCOL
    system = System(protocol, protocol.evidence.scopes[0].scope)
    met: list[Any] = [*range(1_000)]
    found = []
    for states in (met, met[::-1], [*met[500:], *met[:500]]):
        collapsed = Collapsed(system)
        collapsed.values[0] = [Node(one) for one in states]
        found.append(Breaker(collapsed, Judge(system)).states)
    name = next(iter(system.node_at))
    assert found[0] == found[1] == found[2]
    assert VALUES // 2 <= len(found[0][name]) <= VALUES
