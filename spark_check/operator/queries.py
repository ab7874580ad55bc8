"""Queries to try the operator with: random ones, and ones that SQL can answer too.

Rule of this file: a query and its stream follow from a seed and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeVar

from model.cep.engines import Engine, Function, Matches, Mealy, Partitioned
from model.cep.one_run import OneRun
from model.cep.operator import Operator
from model.cep.patterns import Pattern, PatternStep, Steps, Strategy, steps_of
from model.cep.windows import CountWindows, PatternWindows, Splitter, TimeWindows
from model.events import Body
from model.predicates import Either, Predicate, Type, Where
from spark_check.operator.sql import Simple

T = TypeVar("T")

TYPES = ("a", "b", "c")
STRATEGIES = {"strict": Strategy.STRICT, "next": Strategy.NEXT, "any": Strategy.ANY}
SHORTEST, LONGEST = 8, 40
"""Events of a random stream."""
LARGEST = 8
"""Size and slide of random windows, in events or time units."""


class RandomQuery(NamedTuple):
    """A query and its stream.  batches: the batch of each event, not decreasing.  simple: the same
    query for SQL, if SQL can express it."""

    operator: Operator
    stream: tuple[Body, ...]
    batches: tuple[int, ...]
    simple: Simple | None = None


@dataclass(frozen=True, slots=True)
class HowMany:
    """A function of a window, for model.cep.engines.Function: how many events of a type it
    holds."""

    type: str

    def __call__(self, window: tuple[Body, ...]) -> Matches:
        count = sum(body.type == self.type for body in window)
        return ((Body(window[-1].time, "events", (("count", count),)),),)


def draw_query(seed: int, batches: int) -> RandomQuery:
    """The random query of a seed, and its stream; queries of odd seeds are simple."""
    random = Random(seed)
    simple = _simple(random) if seed % 2 else None
    chosen = operator(simple) if simple else _operator(random)
    stream = _stream(random, attributes=simple is None)
    cuts = sorted(random.randrange(batches) for _ in stream)
    return RandomQuery(chosen, stream, tuple(cuts), simple)


# --- simple ones -----------------------------------------------------------------------------
def operator(simple: Simple) -> Operator:
    """The same query as an operator of the model."""
    return Operator(_engine(simple), _splitter(simple), parallel=simple.parallel)


def _engine(simple: Simple) -> Engine:
    if simple.finds == "how many":
        return Function(HowMany(simple.a))
    between = (f"!{simple.but_not}",) if simple.but_not else ()
    return _searched(steps_of(simple.a, *between, simple.b), STRATEGIES[simple.finds])


def _searched(steps: Steps, strategy: Strategy) -> Engine:
    """As SQL defines it, too: one run at a time, or every choice."""
    return Pattern(steps, strategy) if strategy is Strategy.ANY else OneRun(steps, strategy)


def _splitter(simple: Simple) -> Splitter:
    match simple.windows:
        case "count":
            return CountWindows(simple.size, simple.slide)
        case "opened":
            return PatternWindows(Type(simple.a), span=simple.size)
        case _:
            return TimeWindows(simple.size, simple.slide, grid=simple.windows == "grid")


def _simple(random: Random) -> Simple:
    finds = random.choice(("how many", *STRATEGIES))
    a, b = random.choice(TYPES), random.choice(TYPES)
    others = [type_ for type_ in TYPES if type_ not in (a, b)]
    negated = finds in ("next", "any") and random.random() < 0.5
    return Simple(
        random.choice(("count", "grid", "anchored", "opened")),
        random.randint(1, LARGEST),
        random.randint(1, LARGEST),
        finds,
        a,
        "" if finds == "how many" else b,
        random.choice(others) if negated else "",
        random.random() < 0.7,
    )


# --- any ones --------------------------------------------------------------------------------
def _operator(random: Random) -> Operator:
    engine = random.choice((_pattern, _pattern, _mealy))(random)
    if random.random() < 0.2:
        engine = Partitioned(engine, "x")
    return Operator(engine, _windows(random), parallel=random.random() < 0.7)


def _pattern(random: Random) -> Engine:
    """One to three positive steps, some plus, with negation between and behind them."""
    steps: list[PatternStep] = []
    for place in range(random.randint(1, 3)):
        if place and random.random() < 0.3:
            steps.append(PatternStep(_predicate(random), negated=True))
        steps.append(PatternStep(_predicate(random), plus=random.random() < 0.3))
    if random.random() < 0.2:
        steps.append(PatternStep(_predicate(random), negated=True))
    return _searched(tuple(steps), random.choice(list(Strategy)))


def _mealy(random: Random) -> Engine:
    states = random.randint(1, 3)
    rows = tuple(
        tuple((type_, random.randrange(states), random.choice((0, 0, 1, 2))) for type_ in TYPES[:3])
        for _ in range(states)
    )
    return Mealy(rows, tuple(random.randint(0, 1) for _ in range(states)))


def _predicate(random: Random) -> Predicate:
    one, other = (Type(type_) for type_ in random.sample(TYPES, 2))
    return random.choice((one, one, Either((one, other)), Where("x", ">=", random.randint(0, 3))))


def _windows(random: Random) -> Splitter:
    size, slide = random.randint(1, LARGEST), random.randint(1, LARGEST)
    match random.randrange(3):
        case 0:
            return CountWindows(size, slide)
        case 1:
            return TimeWindows(size, slide, grid=random.random() < 0.5)
        case _:
            until = random.sample(("size", "span", "closes_on"), random.randint(1, 3))
            return PatternWindows(
                _predicate(random),
                size if "size" in until else None,
                slide if "span" in until else None,
                _predicate(random) if "closes_on" in until else None,
            )


def _stream(random: Random, *, attributes: bool) -> tuple[Body, ...]:
    time = 0
    stream = []
    for _ in range(random.randint(SHORTEST, LONGEST)):
        time += random.choice((0, 0, 1, 1, 2, 5))
        data = (("x", random.randint(0, 3)),) if attributes and random.random() < 0.5 else ()
        stream.append(Body(time, random.choice(TYPES), data))
    return tuple(stream)
