"""The two searches of the explorer, on protocols that nobody wrote: tables of random steps."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain as chain_of
from itertools import pairwise, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import networkx as nx
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.choices import enabled, ready
from model.core import (
    CHECKPOINTED,
    Answer,
    CancelTimer,
    Deployment,
    Effect,
    Emit,
    Fail,
    File,
    Group,
    Guarantee,
    Input,
    Link,
    Note,
    Observation,
    OperatorClass,
    Property,
    Rewind,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    Sync,
    When,
)
from model.events import Body
from model.evidence import Outcome, PinnedScope
from model.family import Family
from model.graph import chain
from model.parts import deploy_graph, over_words
from model.protocol import Assumptions, Behaviour, Failures, Protocol
from model.registry import protocols
from model.system import System
from model.world import World, apply, initial
from proofs.explore import explorer
from proofs.explore.explorer import Counterexample, Exploration, explore
from proofs.explore.search import compiled
from proofs.explore.search import plain as plain_search
from proofs.explore.search.meter import Meter
from tests.sizes import FULL, smallest

WORLDS = 1_500
OPERATOR = Operator(sequence("a"), CountWindows(1, 1))


class Left(NamedTuple):
    number: int


class Right(NamedTuple):
    """As a tuple it equals Left."""

    number: int


ALIKE = (Left(0), Right(0), 1, True)


class Shape(NamedTuple):
    """What a random protocol is made from: the seed decides what each step does."""

    seed: int
    operators: int
    length: int
    crashes: int
    failures: Failures
    sends: float
    timers: float
    looks: bool
    messages: tuple[Any, ...]
    together: str = ""
    watched: float = 0.0
    returning: float = 1.0
    suspicions: bool = False
    prompt: str = ""
    alone: bool = True
    fails: float = 0.0
    patient: bool = False
    early: int = 0
    link: Link = Link()
    disturbances: int = 0
    files: tuple[File, ...] = ()
    rewinds: float = 0.0
    inside: tuple[bool, bool] = (False, False)


SHAPES = st.builds(
    Shape,
    seed=st.integers(0, 2**32),
    operators=st.integers(1, 2),
    length=st.integers(1, 2),
    crashes=st.integers(0, 2),
    failures=st.sampled_from([Failures.SINGLE, Failures.ANY]),
    sends=st.sampled_from([0.1, 0.3, 0.5]),
    timers=st.sampled_from([0.0, 0.2]),
    looks=st.booleans(),
    messages=st.sampled_from([ALIKE, (0, 1, 2)]),
    together=st.sampled_from(["", "", "A sink", "A B", "A B sink", "A B, B sink"]),
    watched=st.sampled_from([0.0, 0.5]),
    returning=st.sampled_from([1.0, 0.5, 0.0]),
    suspicions=st.booleans(),
    prompt=st.sampled_from(["", "", "A", "B", "sink", "B sink"]),
    alone=st.booleans(),
    fails=st.sampled_from([0.0, 0.0, 0.1]),
    patient=st.booleans(),
    early=st.integers(0, 1),
    link=st.builds(Link, *[st.booleans()] * 4),
    disturbances=st.integers(0, 1),
    files=st.sampled_from([(), (File("f"),), (File("f", tears=True), File("g", tears=True))]),
    rewinds=st.sampled_from([0.0, 0.2]),
    inside=st.tuples(st.booleans(), st.booleans()),
)


def names_before(one: str, other: str) -> bool:
    """Is the first of two sites further up?"""
    order = ("source", "A", "B", "sink")
    return order.index(one) < order.index(other)


def save(draw: random.Random, site: Site) -> Save:
    value = draw.randrange(2)
    if not site.files:
        return Save(value)
    return Save(value, draw.choice(site.files).name, draw.random() < 0.3)


def made(shape: Shape) -> tuple[Protocol, Scope]:
    """A protocol whose steps are drawn from the shape's seed, and a scope of it."""

    def deploy(_design: None, scope: Scope) -> Deployment:
        """Groups of deployed nodes alone; sinks that belong to one may crash."""
        deployment = deploy_graph(scope.graph, replies=True)
        names = {site.name for site in deployment.sites}
        groups = [frozenset(group.split()) & names for group in shape.together.split(",")]
        prompt = frozenset(names & {*shape.prompt.split()})
        groups = [group - prompt for group in groups]
        together = tuple(dict.fromkeys(group for group in groups if len(group) > 1))
        draw = random.Random(shape.seed)
        crashable = deployment.crashable.union(*together) - prompt
        if shape.rewinds:
            crashable |= {"source"}
        channels = tuple(
            ends for ends in deployment.channels if not prompt >= {*ends} or names_before(*ends)
        )
        kept = [site for site in deployment.sites if site.name not in prompt]
        return deployment._replace(
            sites=tuple(
                site._replace(files=shape.files) if site in kept else site
                for site in deployment.sites
            ),
            channels=channels,
            crashable=crashable,
            # A site has one group at most whose members never crash alone.
            together=tuple(
                Group(group, shape.alone or at > 0) for at, group in enumerate(together)
            ),
            patient=frozenset("t" if shape.patient else ""),
            links={ends: shape.link for ends in channels if ends[1] not in prompt},
            watched=frozenset(c for c in channels if draw.random() < shape.watched),
            returning=frozenset(n for n in sorted(crashable) if draw.random() < shape.returning),
            prompt=prompt,
        )

    def answer(site: Site, value: Any, input_: Input | None) -> Answer:
        disk = f" {site.disk!r}" if site.files else ""
        draw = random.Random(f"{shape.seed} {site.name} {value!r} {input_!r}{disk}")
        effects: list[Effect] = []
        prompt = {*shape.prompt.split()}
        for to in (*site.succs, *site.preds):
            silent = {site.name, to} <= prompt and not names_before(site.name, to)
            if draw.random() < shape.sends and not silent:
                effects.append(Send(to, draw.choice(shape.messages)))
        if site.role is Role.SINK and draw.random() < 0.5:
            effects.append(Emit((0, Body(0, draw.choice("ab")))))
        if site.role is Role.OPERATOR and site.name not in prompt and draw.random() < 0.3:
            effects += [save(draw, site), Note(CHECKPOINTED, draw.randrange(3))]
        if site.name not in prompt and draw.random() < shape.timers:
            effects.append(SetTimer(draw.choice("tu")))
        state = draw.randrange(3)
        if site.name in prompt and shape.patient and draw.random() < shape.timers:
            effects.append(SetTimer("t"))
        if shape.patient and draw.random() < shape.timers:
            effects.append(CancelTimer("t"))
        if site.role is Role.SOURCE and site.name not in prompt and draw.random() < shape.rewinds:
            effects.append(Rewind(draw.randrange(2)))
        if site.files and draw.random() < 0.2:
            effects.append(Sync())
        if site.role is Role.OPERATOR and site.name not in prompt and draw.random() < shape.fails:
            effects.append(Fail())
        return state, tuple(effects)

    def holds(_: Scope, seen: Observation) -> bool:
        return random.Random(f"{shape.seed} {seen!r}").random() < 0.98

    class_ = OperatorClass.REPEATABLE
    graph = chain(*((name, OPERATOR) for name in "AB"[: shape.operators]))
    scope = over_words(graph, shape.length, "a", crashes=shape.crashes)
    linked = shape.link != Link() and shape.prompt != "B sink"
    scope = replace(
        scope,
        early=shape.early if shape.patient else 0,
        disturbances=shape.disturbances if linked else 0,
    )
    nodes, messages = shape.inside
    protocol = Family(
        "drawn",
        "",
        "",
        Behaviour(
            deploy, lambda _: 0, answer, lambda site, durable: answer(site, durable, None), show=str
        ),
        assumes=Assumptions(shape.failures, shape.suspicions),
        properties=(
            Property("rarely broken", When.ALWAYS, holds, nodes, messages),
            Property("rarely broken at rest", When.QUIESCENT, holds, nodes=shape.looks),
        ),
    ).design(scopes=(PinnedScope("drawn", scope, class_),), claims={class_: Guarantee.GAP})
    return protocol, scope


@contextmanager
def only(search: str) -> Iterator[None]:
    """Explore with the plain or with the compiled search alone."""
    if search == "plain":
        with mock.patch.object(explorer, "_can_compile", return_value=False):
            yield
    else:
        few = mock.patch.object(explorer, "FEW", 0)
        small = mock.patch.multiple(compiled, CHUNK=50, WORTH_THREADS=8, BLOCK=4, ROWS=3)
        with few, small:
            yield


def known(found: Exploration) -> tuple[Exploration, object]:
    """All that is found, but for the time and for what cannot be compared."""
    return replace(found, seconds=0, counterexample=None), shown(found.counterexample)


def shown(found: Counterexample | None) -> object:
    return found and (found.property.name, found.circle, found.trace.actions, found.trace.worlds)


def both(protocol: Protocol, scope: Scope, **how: Any) -> Exploration:
    """The exploration, by both searches: they find the same."""
    with only("plain"):
        plain = explore(protocol, scope, shapes=True, **how)
    with only("compiled"):
        fast = explore(protocol, scope, shapes=True, **how)
    assert known(fast) == known(plain)
    return plain


@pytest.mark.slow
@given(SHAPES, st.sampled_from([None, *Guarantee]))
@settings(max_examples=150 if FULL else 60)
def test_both_searches_find_the_same(shape: Shape, until: Guarantee | None) -> None:
    protocol, scope = made(shape)
    both(protocol, scope, until=until, limit=WORLDS)


@given(SHAPES, st.sampled_from([*Guarantee]))
@settings(max_examples=100 if FULL else 40)
def test_a_search_ends_when_what_is_wanted_was_found(shape: Shape, until: Guarantee) -> None:
    """It finds the violation of the whole search, and the guarantee if there is so weak a one."""
    protocol, scope = made(shape)
    whole = explore(protocol, scope, limit=WORLDS)
    found = explore(protocol, scope, until=until, limit=WORLDS)
    assert found.states <= whole.states
    if whole.counterexample and not whole.counterexample.circle:
        assert found.counterexample
        assert found.counterexample.trace[1:] == whole.counterexample.trace[1:]
        assert found.guarantee >= min(until, whole.guarantee)
    else:
        assert known(found) == known(whole)


@pytest.mark.slow
@given(SHAPES)
@settings(max_examples=100)
def test_both_searches_visit_the_worlds_of_the_model(shape: Shape) -> None:
    protocol, scope = made(shape._replace(messages=(0, 1, 2)))  # worlds are compared by ==
    protocol = protocol.vary(properties=())
    found = both(protocol, scope, limit=WORLDS)
    if found.complete:
        assert found.states == len(reachable(System(protocol, scope)))


@pytest.mark.slow
@given(SHAPES)
@settings(max_examples=100)
def test_the_attack_finds_an_endless_run(shape: Shape) -> None:
    """Compared with every edge of every world, as model.world has them."""
    protocol, scope = made(shape._replace(messages=(0, 1, 2)))  # worlds are compared by ==
    protocol = protocol.vary(properties=())
    found = both(protocol, scope, limit=WORLDS)
    if not found.complete:
        return
    system = System(protocol, scope)
    worlds = reachable(system)
    steps = [
        (world, apply(system, world, action), (type(action), action))
        for world in worlds
        for action in ready(system, world)
    ]
    graph = nx.MultiDiGraph([(before, after, {"step": step}) for before, after, step in steps])
    endless = {
        world
        for component in nx.strongly_connected_components(graph)
        if is_fair(graph, component)
        for world in component
    }
    assert (found.counterexample is not None) == bool(endless)
    if found.counterexample is not None:
        trace, circle = found.counterexample.trace, found.counterexample.circle
        start = len(trace.actions) - circle
        assert trace.worlds[-1] == trace.worlds[start]
        assert start == min(worlds[world] for world in endless)
        round_ = list(pairwise(trace.worlds[start:]))
        assert leaves_nobody_waiting(graph, round_)


def is_fair(graph: nx.MultiDiGraph, component: set[World]) -> bool:
    edges = [(before, after) for before, after in graph.edges(component) if after in component]
    return bool(edges) and leaves_nobody_waiting(graph, edges)


def leaves_nobody_waiting(graph: nx.MultiDiGraph, edges: list[tuple[World, World]]) -> bool:
    """Is every step that is possible before each of these edges taken by one of them?"""
    possible = [
        {data["step"] for *_, data in graph.edges(before, data=True)} for before, _ in edges
    ]
    taken = {data["step"] for edge in edges for data in graph.get_edge_data(*edge).values()}
    return set.intersection(*possible) <= taken


def reachable(system: System, most: int = 1_000_000) -> dict[World, int]:
    """Every reachable world, and the fewest actions that lead to it; it fails at more than most."""
    depths = {initial(system): 0}
    frontier = [*depths]
    while frontier:
        after = [apply(system, w, a) for w in frontier for a in enabled(system, w)]
        depth = depths[frontier[0]] + 1
        frontier = [*dict.fromkeys(world for world in after if world not in depths)]
        depths.update(dict.fromkeys(frontier, depth))
        assert len(depths) <= most
    return depths


def test_a_step_may_find_many_states_at_once() -> None:
    """A world's fields are widened for the first event, which may be any of 300."""
    drawn, scope = made(Shape(3, 1, 1, 1, Failures.ANY, 0.3, 0.0, True, (0, 1, 2)))

    def step(site: Site, state: Any, input_: Input) -> Answer:
        _, effects = drawn.behaviour.step(site, state, input_)
        return getattr(input_, "type", state), effects

    (name, inputs), *_ = scope.inputs
    (arrival,) = inputs.alphabet
    alphabet = tuple(arrival._replace(type=f"a{number}") for number in range(300))
    wide = replace(scope, inputs=((name, inputs._replace(alphabet=alphabet)),))
    assert both(drawn.vary(step=step, properties=()), wide).states > 2_000


@given(SHAPES, st.integers(1, 30))
@settings(max_examples=100)
def test_a_budget_may_end_in_the_middle_of_a_level(shape: Shape, asked: int) -> None:
    """The meter says so when it is asked for the so-manieth time."""
    protocol, scope = made(shape)
    protocol = protocol.vary(properties=())
    looks = 0

    def spent(meter: Meter, worlds: int = 0) -> str:
        nonlocal looks
        looks += 1
        meter.why = "enough" if looks >= asked else ""
        return meter.why

    with (
        only("plain"),
        mock.patch.object(plain_search, "CHUNK", 2),
        mock.patch.object(Meter, "spent", spent),
    ):
        found = explore(protocol, scope)
    assert found.complete == (looks < asked)
    if not found.complete and found.counterexample is None:
        assert (found.outcome, found.spent) == (Outcome.UNFINISHED, "enough")


def test_memory_that_is_let_go_does_not_make_a_scope_hold() -> None:
    """Without a compiler, nobody sees the worlds that the plain search has not seen."""
    protocol, scope = made(Shape(0, 2, 2, 1, Failures.ANY, 0.3, 0.0, True, (0, 1, 2)))
    protocol = protocol.vary(properties=protocol.promise.properties[:1])
    sizes = chain_of([2], repeat(0))
    process = SimpleNamespace(memory_info=lambda: SimpleNamespace(rss=next(sizes)))
    with only("plain"), mock.patch.object(psutil, "Process", return_value=process):
        found = explore(protocol, scope, memory=1)
    assert (found.outcome, found.complete) == (Outcome.UNFINISHED, False)
    assert "memory" in found.spent


SCOPES = [
    (name, pinned)
    for name, protocol in protocols().items()
    for pinned in protocol.evidence.scopes
    if (pinned.states or 10**9) < 10_000
]
LEAST = smallest(SCOPES).values()
QUICK = [
    pytest.param(
        protocols()[name],
        pinned.scope,
        id=f"{name}-{pinned.name}",
        # `make test` has some of each family, and all shapes of protocols that Hypothesis draws.
        marks=[] if pinned.worlds < 500 or (name, pinned) in LEAST else pytest.mark.exhaustive,
    )
    for name, pinned in SCOPES
]


@pytest.mark.parametrize(("protocol", "scope"), QUICK)
def test_both_searches_find_the_same_in_the_pinned_scopes(protocol: Protocol, scope: Scope) -> None:
    both(protocol, scope)
    both(protocol, scope, until=Guarantee.PRECISE)
    both(protocol, scope, limit=1_000)


def run_python(code: str, **environment: str) -> None:
    """Run code in a fresh process, which must succeed."""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


EXPLORE = """\
import sys
from model.registry import protocols
from proofs.explore.explorer import explore
protocol = protocols()[{name!r}]
scope = next(pinned for pinned in protocol.evidence.scopes if pinned.name == {scope!r})
assert explore(protocol, scope.scope).states == scope.states
"""


def test_a_small_scope_does_not_wait_for_a_compiler() -> None:
    small = min(
        protocols()["micro-batch"].evidence.scopes, key=lambda pinned: pinned.states or 10**9
    )
    run_python(
        EXPLORE.format(name="micro-batch", scope=small.name)
        + "assert not any('numba' in module or 'llvm' in module for module in sys.modules)"
    )


@pytest.mark.slow
def test_a_rehearsal_compiles_the_loops() -> None:
    """The three that take seconds to compile."""
    loops = "from proofs.explore.search.loops import expand, follow, look_ahead\n"
    run_python(
        "from proofs.explore.rehearsal import rehearse\nrehearse()\n"
        f"{loops}assert expand.signatures and follow.signatures and look_ahead.signatures"
    )


# .ci/run runs the same loops without bounds, where only luck shows a write beyond an end.
@pytest.mark.exhaustive
def test_the_loops_stay_within_their_tables(tmp_path: Path) -> None:
    with_bounds = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    here = ["-q", "-k", "both_searches", __file__]
    run_python(f"import pytest; raise SystemExit(pytest.main({here!r}))", **with_bounds)
    for name, scope in (
        ("upstream-backup", "two output edges, two crashes"),
        ("micro-batch", "a running count, three crashes"),
    ):
        run_python(EXPLORE.format(name=name, scope=scope), **with_bounds)
