"""The scopes in which checkpoint roll-backward is explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have what is expected in each scope.

An aggregate lists the times of the tuples in a window, so a tuple that is lost or counted twice is
seen.  Keys are the types of events.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.stateless import Filter
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import Guarantee, OperatorClass, Outcome, PinnedScope, Scope
from model.graph import chain
from model.parts import over_words
from model.predicates import Type

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC


class Explored(NamedTuple):
    scope: Scope
    operators: OperatorClass
    quick: bool = True


def windows(size: int, advance: int | None = None, **more: Any) -> Aggregate:
    """The list of the times of the tuples in a window of each key."""
    more = {"group": "type", **more}
    return Aggregate("list", size, advance or size, of="time", **more)


def one(spec: Box | Operator, length: int, types: str = "ab", **more: Any) -> Scope:
    """One operator behind a source of `length` events."""
    return over_words(chain(("agg", spec)), length, types, **more)


def two(first: Box, second: Box, length: int, types: str = "a", **more: Any) -> Scope:
    """Two operators, one after the other."""
    return over_words(chain(("first", first), ("second", second)), length, types, **more)


EQUAL = (0, 1)
SINGLES, PAIRS, ALL = windows(1), windows(2), windows(2, group=None)
MATCHES = Operator(sequence("a", "b"), CountWindows(3, 1))
SCOPES = {
    "windows of one tuple": Explored(one(SINGLES, 2, "a", gaps=EQUAL), REPEATABLE),
    "windows of two tuples": Explored(one(PAIRS, 3), DETERMINISTIC),
    "two tuples": Explored(one(PAIRS, 2), DETERMINISTIC),
    "one key": Explored(one(PAIRS, 3, "a"), DETERMINISTIC),
    "four tuples": Explored(one(PAIRS, 4), DETERMINISTIC, quick=False),
    "equal times": Explored(one(PAIRS, 3, "a", gaps=EQUAL), DETERMINISTIC),
    "rising times": Explored(one(SINGLES, 3, "a"), REPEATABLE),
    "two crashes": Explored(one(PAIRS, 2, crashes=2), DETERMINISTIC),
    "three crashes": Explored(one(PAIRS, 2, "a", crashes=3), DETERMINISTIC),
    "windows by time": Explored(one(windows(2, by="time"), 3), CONVERGENT_CAPABLE),
    "windows from the first tuple": Explored(
        one(windows(2, by="time", aligned=False), 3), DETERMINISTIC
    ),
    "sliding windows": Explored(one(windows(3, 1), 4, "a"), REPEATABLE),
    "gaps between windows": Explored(one(windows(1, 2), 3, "a"), DETERMINISTIC),
    "a filter": Explored(one(Filter(Type("a")), 2), REPEATABLE),
    "a CEP operator": Explored(one(MATCHES, 3), REPEATABLE),
    "an aggregate of an aggregate": Explored(two(SINGLES, ALL, 2), DETERMINISTIC),
    "a filter upstream": Explored(two(Filter(Type("a")), PAIRS, 2, "ab"), DETERMINISTIC),
    "adjacent crashes": Explored(two(SINGLES, SINGLES, 1, crashes=2), REPEATABLE),
    "adjacent crashes and two tuples": Explored(
        two(SINGLES, ALL, 2, crashes=2), DETERMINISTIC, quick=False
    ),
    "no crash": Explored(one(PAIRS, 3, crashes=0), DETERMINISTIC),
    "no crash and two operators": Explored(two(SINGLES, ALL, 3, crashes=0), DETERMINISTIC),
}


def hold(**states: int) -> tuple[PinnedScope, ...]:
    """Scopes in which nothing goes wrong, each with its number of worlds; "_" stands for " "."""
    return tuple(_pin(name, Outcome.HOLDS, worlds) for name, worlds in states.items())


def fail(**found: tuple[int, int, Guarantee]) -> tuple[PinnedScope, ...]:
    """Refuted scopes: worlds, steps of a shortest counterexample, the guarantee that is left."""
    return tuple(_pin(name, Outcome.REFUTED, *values) for name, values in found.items())


def _pin(
    name: str,
    expect: Outcome,
    states: int,
    steps: int | None = None,
    guarantee: Guarantee = Guarantee.PRECISE,
) -> PinnedScope:
    name = name.replace("_", " ")
    scope, operators, quick = SCOPES[name]
    return PinnedScope(name, scope, operators, expect, states, steps, guarantee, quick)
