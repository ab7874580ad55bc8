"""Hypothesis strategies for the inputs, scopes and operators that test a protocol.

Rule of this file: no strategy whose failures shrink to large values: small values come first, so
that a person can read the rest.  Other test suites import the strategies from here, as the
tests do (docs/tutorial/tour.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from model.actions import Action
from model.cep.engines import Engine, Mealy
from model.cep.one_run import OneRun
from model.cep.operator import Operator
from model.cep.patterns import AfterMatch, Pattern, PatternStep, Strategy
from model.cep.windows import CountWindows, PatternWindows, Splitter, TimeWindows
from model.choices import faults, offers, ready
from model.core import Arrival, Inputs, Scope
from model.events import Body
from model.graph import SINK, SOURCE, Graph
from model.predicates import Either, Type
from model.system import System
from model.world import World

TYPES = ("a", "b", "c")


def arrivals(types: Sequence[str] = TYPES, gaps: int = 2) -> st.SearchStrategy[Arrival]:
    """An arrival of one of the types, 0 to `gaps` time units after the arrival before."""
    return st.builds(Arrival, st.integers(0, gaps), st.sampled_from(types), st.just(()))


def streams(
    types: Sequence[str] = TYPES, gaps: int = 2, longest: int = 12
) -> st.SearchStrategy[tuple[Arrival, ...]]:
    return st.lists(arrivals(types, gaps), max_size=longest).map(tuple)


def words(types: Sequence[str] = TYPES, longest: int = 12) -> st.SearchStrategy[tuple[Body, ...]]:
    """Bodies at times that do not go backwards."""

    def assign(stream: tuple[Arrival, ...]) -> tuple[Body, ...]:
        now, bodies = 0, []
        for arrival in stream:
            now += arrival.gap
            bodies.append(Body(now, arrival.type))
        return tuple(bodies)

    return streams(types, longest=longest).map(assign)


@st.composite
def patterns(draw: st.DrawFn, types: Sequence[str] = TYPES) -> Pattern | OneRun:
    """Patterns of one to three positive steps, some plus, with negation between and behind them;
    followed by independent runs or by one at a time."""
    one = st.sampled_from(types).map(Type)
    predicates = st.one_of(one, st.tuples(one, one).map(Either))
    steps: list[PatternStep] = []
    for place in range(draw(st.integers(1, 3))):
        if place and draw(st.booleans()):
            steps.append(PatternStep(draw(predicates), negated=True))
        steps.append(PatternStep(draw(predicates), plus=draw(st.booleans())))
    if draw(st.booleans()):
        steps.append(PatternStep(draw(predicates), negated=True))
    strategy = draw(st.sampled_from(Strategy))
    if strategy is not Strategy.ANY and draw(st.booleans()):
        return OneRun(tuple(steps), strategy)
    after_match = draw(st.sampled_from(AfterMatch))
    return Pattern(tuple(steps), strategy, after_match, draw(st.booleans()))


@st.composite
def machines(draw: st.DrawFn, types: Sequence[str] = TYPES, states: int = 3) -> Mealy:
    """Any deterministic engine with few states, emitting up to two matches an event."""
    count = draw(st.integers(1, states))
    row = st.tuples(
        *(
            st.tuples(st.just(type_), st.integers(0, count - 1), st.integers(0, 2))
            for type_ in types
        )
    )
    rows = draw(st.tuples(*[row] * count))
    return Mealy(rows, draw(st.tuples(*[st.integers(0, 1)] * count)))


def engines(types: Sequence[str] = TYPES) -> st.SearchStrategy[Engine]:
    return st.one_of(patterns(types), machines(types))


def windows(types: Sequence[str] = TYPES, largest: int = 5) -> st.SearchStrategy[Splitter]:
    """Count-based, time-based (anchored or on a grid) and pattern-opened windows."""
    sizes = st.integers(1, largest)
    maybe = st.none() | sizes
    opened = st.builds(
        PatternWindows,
        st.sampled_from(types).map(Type),
        size=sizes,
        span=maybe,
        closes_on=st.none() | st.sampled_from(types).map(Type),
    )
    return st.one_of(
        st.builds(CountWindows, sizes, sizes),
        st.builds(TimeWindows, sizes, sizes, grid=st.booleans()),
        opened,
    )


def operators(types: Sequence[str] = TYPES, emits: str = "match") -> st.SearchStrategy[Operator]:
    """Operators with any engine on any windows, processed serially or in parallel."""
    return st.builds(
        Operator, engines(types), windows(types), st.just(emits), parallel=st.booleans()
    )


@st.composite
def graphs(draw: st.DrawFn, types: Sequence[str] = TYPES) -> Graph:
    """A chain, a merge of two sources, a fork to two sinks, or a diamond; up to three operators."""
    shape = draw(st.sampled_from(("one", "chain", "merge", "fork", "diamond")))
    first = draw(operators(types, "x"))
    if shape == "one":
        return _graph({"A": first}, "source-A A-sink")
    if shape == "merge":
        return _graph({"A": first}, "left-A right-A A-sink")
    if shape == "fork":
        return _graph({"A": first}, "source-A A-near A-far")
    if shape == "chain":
        return _graph({"A": first, "B": draw(operators(("x",)))}, "source-A A-B B-sink")
    second, last = draw(operators(types, "y")), draw(operators(("x", "y")))
    return _graph({"A": first, "B": second, "C": last}, "source-A source-B A-C B-C C-sink")


def _graph(inner: dict[str, Operator], text: str) -> Graph:
    edges = tuple((u, v) for u, v in (edge.split("-") for edge in text.split()))
    names = dict.fromkeys(name for edge in edges for name in edge)
    ends = {name: SINK if name in ("sink", "near", "far") else SOURCE for name in names}
    return Graph(tuple((name, inner.get(name, ends[name])) for name in names), edges)


@st.composite
def scopes(draw: st.DrawFn, crashes: int = 3, longest: int = 8) -> Scope:
    """Scopes whose sources may emit anything over two types, with up to `crashes` crashes."""
    types = TYPES[:2]
    graph = draw(graphs(types))
    alphabet = tuple(Arrival(gap, type_) for type_ in types for gap in (0, 1, 2))
    sources = [name for name, spec in graph.nodes if spec is SOURCE]
    inputs = tuple((name, Inputs(alphabet, longest)) for name in sources)
    return Scope(graph, inputs, draw(st.integers(0, crashes)))


def crash_schedules(
    nodes: Sequence[str], events: int, most: int = 3
) -> st.SearchStrategy[tuple[str, ...]]:
    """Lists of NODE@EVENT[+EFFECTS] for `asif run --crash`; each node crashes once at most."""
    one = st.tuples(st.sampled_from(nodes), st.integers(1, events))
    drawn = st.lists(one, max_size=most, unique_by=lambda crash: crash[0])
    return drawn.map(lambda crashes: tuple(f"{node}@{event}" for node, event in crashes))


def actions(system: System, world: World) -> st.SearchStrategy[Action]:
    """One of the enabled actions: progress, an arrival or a fault with the same chance each."""
    offered, failing = (
        [action for name in system.sites for action in kind(system, world, name)]
        for kind in (offers, faults)
    )
    kinds = [ready(system, world), offered, failing]
    return st.one_of(*(st.sampled_from(kind) for kind in kinds if kind))
