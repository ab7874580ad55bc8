"""The reduced search: the answers of the whole one, and its faults are found."""

from __future__ import annotations

import gc
import random
import weakref

import pytest
from hypothesis import given, settings

from model.core import Answer, Input, Link, Observation, Property, Scope, Site, When
from model.evidence import Outcome
from model.observations import observe
from model.protocol import Protocol
from model.registry import modules, protocols
from proofs.explore.explorer import explore
from proofs.explore.reduction.graphs import Irreducible
from tests.contract.test_word_mutants import mutated
from tests.proofs.meshes import except_when, mesh_of, woven
from tests.proofs.reduction_faults import FAULTS, ReductionFault
from tests.proofs.reductions import at_once, differences, reduced_search, whole_search
from tests.proofs.test_searches import SHAPES, Shape, made, run_python
from tests.sim.test_drawn import shape_of
from tests.sizes import FULL, smallest

WORLDS = 1_500
WRONG_ONCE = [
    33,
    38,
    67,
    95,
    434,
    10004,
    10233,
    10326,
    10418,
    31033,
    100527,
    45800,
    46333,
    49020,
    52513,
]
"""Drawn protocols for which a reduced search once gave another answer."""
HEALING = [35, 129, 255, 310]
"""Woven protocols with observations before rest that a reduced search does not see, or later."""
ENDLESS = [38, 150, 204, 282, 369, 407, 527, 585]
"""Drawn protocols with endless runs; 38, 407 and 585 have worlds without end, too."""

QUICK, LARGE = 300, 10_000
"""`make test` has scopes of fewer worlds, and the smallest of each family; `make test-all` those of
fewer than the second."""


def drawn(seed: int, *, inside: bool = False) -> tuple[Protocol, Scope]:
    """A protocol of random steps; an even seed has properties that it may violate.

    inside: they look at nodes or messages in every world, if the seed says so.
    """
    chance = random.Random(seed)
    shape = shape_of(chance)._replace(
        crashes=chance.choice([0, 1, 1, 2]),
        length=chance.choice([1, 1, 2]),
        suspicions=chance.random() < 0.3,
        early=chance.choice([0, 1]),
        disturbances=chance.choice([0, 0, 1]),
        link=Link(*(chance.random() < 0.3 for _ in range(4))),
    )
    protocol, scope = made(shape if inside else shape._replace(inside=(False, False)))
    return (protocol.vary(properties=()) if seed % 2 else protocol), scope


SCOPES = [
    (protocol.name, pinned)
    for family in modules().values()
    for protocol in (family, *family.variants)
    for pinned in protocol.evidence.scopes
    if 0 < (pinned.states or 0) < LARGE
]
LEAST = smallest(SCOPES).values()


@pytest.mark.parametrize(
    ("protocol", "scope"),
    [
        pytest.param(
            protocols()[name],
            pinned.scope,
            id=f"{name}-{pinned.name}",
            marks=[]
            if (pinned.quick and pinned.worlds < QUICK) or (name, pinned) in LEAST
            else pytest.mark.exhaustive,
        )
        for name, pinned in SCOPES
    ],
)
def test_each_scope_has_the_same_answers(protocol: Protocol, scope: Scope) -> None:
    assert not differences(protocol, scope)


@pytest.mark.slow
@given(SHAPES)
@settings(max_examples=1_000 if FULL else 20)
def test_drawn_protocols_have_the_same_answers(shape: Shape) -> None:
    protocol, scope = made(shape)
    assert not differences(protocol, scope, WORLDS)
    assert not differences(protocol.vary(properties=()), scope, WORLDS)


@pytest.mark.parametrize("seed", [*range(40), 40222])
def test_woven_protocols_have_the_same_answers(seed: int) -> None:
    assert not differences(*woven(mesh_of(seed)), WORLDS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(0, 3_000, 100))
def test_many_drawn_protocols_have_the_same_answers(first: int) -> None:
    for seed in range(first, first + 100):
        assert not differences(*drawn(seed), WORLDS), seed
        assert not differences(*woven(mesh_of(seed)), WORLDS), seed


@pytest.mark.parametrize("seed", WRONG_ONCE)
def test_protocols_that_showed_a_fault_of_the_reduction(seed: int) -> None:
    assert not differences(*drawn(seed), WORLDS)


# --- properties of every world -----------------------------------------------------------------
def seen_in(protocol: Protocol, scope: Scope) -> list[Observation]:
    """All that is observed in some world."""
    search = whole_search(protocol, scope)
    return sorted({observe(search.world(world)) for world in range(search.states)}, key=repr)


@pytest.mark.parametrize("seed", HEALING)
def test_a_violation_before_rest_is_found_in_as_few_steps(seed: int) -> None:
    """Whichever observation is wrong, and whether later ones are right again."""
    protocol, scope = woven(mesh_of(seed))
    for seen in seen_in(protocol, scope):
        assert not differences(protocol.vary(properties=(except_when(seen),)), scope)


def test_a_violation_that_heals_may_be_in_no_world_that_is_visited() -> None:
    """Then the search says that it has to be looked for."""
    hidden = 0
    for seed in HEALING:
        protocol, scope = woven(mesh_of(seed))
        for seen in seen_in(protocol, scope):
            broken = protocol.vary(properties=(except_when(seen),))
            search = reduced_search(broken, scope)
            assert search.violation or search.breaks
            hidden += search.violation is None
    assert hidden


@pytest.mark.parametrize("looks", ["nodes", "messages"])
def test_a_property_inside_of_every_world_is_searched_whole(looks: str) -> None:
    protocol, scope = woven(mesh_of(HEALING[0]))
    inside = Property("whatever is inside", When.ALWAYS, lambda *_: True, **{looks: True})
    at_rest = Property("whatever rests", When.QUIESCENT, lambda *_: True, **{looks: True})
    looking = protocol.vary(properties=(inside,))
    with at_once():
        assert explore(protocol.vary(properties=(at_rest,)), scope).reduced
        assert not explore(looking, scope).reduced
    with pytest.raises(Irreducible):
        reduced_search(looking, scope)


# --- ends --------------------------------------------------------------------------------------
def test_endless_runs_are_those_of_the_whole_search() -> None:
    for seed in ENDLESS:
        protocol, scope = drawn(seed)
        with at_once():
            whole = explore(protocol, scope, reduce=False, limit=WORLDS)
            found = explore(protocol, scope, limit=WORLDS)
        assert whole.counterexample
        assert found.counterexample
        assert whole.counterexample.circle == found.counterexample.circle > 0
        assert whole.counterexample.trace.worlds == found.counterexample.trace.worlds


def test_failing_steps_are_those_of_the_whole_search() -> None:
    failed = 0
    for seed in range(30):
        protocol, scope = woven(mesh_of(seed))

        def step(
            site: Site, state: object, input_: Input, seed: int = seed, right: Protocol = protocol
        ) -> Answer:
            if random.Random(f"{seed} {site.name} {state} {input_}").random() < 0.05:
                raise ValueError("no answer")
            return right.behaviour.step(site, state, input_)

        failing = protocol.vary(step=step)
        assert not differences(failing, scope, WORLDS)
        with at_once():
            shown = explore(failing, scope, limit=WORLDS).counterexample
        failed += shown is not None and "no answer" in shown.property.name
    assert failed > 5


LONG = "upstream-backup", "serial processing"


def long() -> tuple[Protocol, Scope]:
    name, scope = LONG
    protocol = protocols()[name]
    return protocol, next(one.scope for one in protocol.evidence.scopes if one.name == scope)


def test_a_budget_ends_a_reduced_search() -> None:
    protocol, scope = long()
    with at_once():
        found = explore(protocol, scope, limit=100)
        assert (found.outcome, found.spent) == (Outcome.UNFINISHED, "100 worlds")
        assert found.reduced
        assert 100 < found.states < 10_000
        found = explore(protocol, scope, seconds=0)
    assert (found.outcome, found.spent) == (Outcome.UNFINISHED, "0 s")


def test_few_worlds_are_searched_whole() -> None:
    protocol, scope = woven(mesh_of(HEALING[0]))
    assert not explore(protocol, scope).reduced


EXPLORE = """\
import sys
from model.registry import protocols
from proofs.explore import explorer
{first}
explorer.FEW, explorer.PAYS = 500, 0
protocol = protocols()[{name!r}]
scope = next(one.scope for one in protocol.evidence.scopes if one.name == {scope!r})
found = explorer.explore(protocol, scope)
assert found.reduced
sys.exit((found.states, found.transitions, found.depth, found.quiescent) != {expected})
"""


@pytest.mark.slow
def test_a_reduced_search_visits_the_same_worlds_in_each_process() -> None:
    """Whether the compiled search was loaded before or not, and however values are hashed."""
    protocol, scope = long()
    with at_once():
        found = explore(protocol, scope)
    expected = found.states, found.transitions, found.depth, found.quiescent
    for seed, first in ("0", ""), ("1", "import proofs.explore.search.compiled"), ("7", ""):
        code = EXPLORE.format(first=first, name=LONG[0], scope=LONG[1], expected=expected)
        run_python(code, PYTHONHASHSEED=seed)


# --- faults ------------------------------------------------------------------------------------
def finds(fault: ReductionFault) -> list[str]:
    """The differences that the finder of a fault shows."""
    how, seed = fault.how, fault.seed
    if how == "heals":
        protocol, scope = woven(mesh_of(seed))
        return [
            found
            for seen in seen_in(protocol, scope)
            for found in differences(protocol.vary(properties=(except_when(seen),)), scope)
        ]
    if how == "woven":
        return differences(*woven(mesh_of(seed)), WORLDS)
    return differences(*drawn(seed, inside=how == "inside"), WORLDS)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.rule)
def test_a_fault_of_the_reduction_is_found(fault: ReductionFault) -> None:
    assert not finds(fault)
    with mutated(fault.module, fault.line, fault.wrong):
        assert finds(fault)


def test_a_search_frees_its_memory_when_nobody_needs_it() -> None:
    """Each reserves room for all worlds that fit; the collector of circles is often off."""
    protocol, scope = woven(mesh_of(HEALING[0]))
    gc.disable()
    try:
        ended = [weakref.ref(search(protocol, scope)) for search in (whole_search, reduced_search)]
        assert [search() for search in ended] == [None, None]
    finally:
        gc.enable()
