"""Figure 3 of Hwang et al.: operators and their classes, and the parameters that decide them.

Rule of this file: data.  `paper` is the class in which Figure 3 draws the operator.
"""

from __future__ import annotations

from typing import NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.counted import Counted
from model.boxes.join import Join
from model.boxes.reorder import BSort, Ordered, Resample
from model.boxes.stateless import AnyOf, Filter, Map, Relay, Union
from model.boxes.triggered import Triggered
from model.core import Arrival, OperatorClass
from model.predicates import Type
from proofs.classify.streams import Alphabet

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
ARBITRARY = OperatorClass.ARBITRARY


class BoxCase(NamedTuple):
    """A box with its parameters, and the streams on which it is judged.

    paper: None if the paper does not speak of it.
    """

    name: str
    title: str
    box: Box
    alphabet: Alphabet
    paper: OperatorClass | None = None


def keyed(*keys: int) -> tuple[Arrival, ...]:
    return tuple(Arrival(1, "a", (("k", key),)) for key in keys)


AB = (Arrival(1, "a"), Arrival(1, "b"))
TIES = (Arrival(0, "a"), *AB)
ONE = Alphabet((AB,))
TWO = Alphabet(((Arrival(1, "a"),), (Arrival(1, "b"),)), ahead=1)
KEYS = Alphabet((keyed(0, 1),))

BOXES = (
    BoxCase("filter", "filter", Filter(Type("a")), ONE, REPEATABLE),
    BoxCase("map", "map", Map("c"), ONE, REPEATABLE),
    BoxCase("relay", "relay", Relay(), ONE),
    BoxCase("join", "join", Join(1), TWO, REPEATABLE),
    BoxCase("join-ordered", "join, in order of time", Ordered(Join(1)), TWO, REPEATABLE),
    BoxCase(
        "join-count-ordered",
        "join by count, in order of time",
        Ordered(Join(1, by="count")),
        TWO,
        REPEATABLE,
    ),
    BoxCase("join-timeout", "join with timeout", Join(1, timeout=True), TWO, ARBITRARY),
    BoxCase("bsort-1", "bsort, slack 1", BSort(1, "k"), KEYS, CONVERGENT_CAPABLE),
    BoxCase(
        "bsort-2", "bsort, slack 2", BSort(2, "k"), Alphabet((keyed(0, 1, 2),)), CONVERGENT_CAPABLE
    ),
    BoxCase("resample", "resample", Resample(1), TWO, CONVERGENT_CAPABLE),
    BoxCase(
        "aggregate-count-2-1",
        "aggregate by count, 2 every 1",
        Aggregate("list", 2, 1),
        ONE,
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-count-2-2",
        "aggregate by count, 2 every 2",
        Aggregate("list", 2, 2),
        ONE,
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-count-3-2",
        "aggregate by count, 3 every 2",
        Aggregate("list", 3, 2),
        ONE,
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-key-2-1",
        "aggregate by count and key, 2 every 1",
        Aggregate("list", 2, 1, group="k", of="k"),
        KEYS,
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-key-2-2",
        "aggregate by count and key, 2 every 2",
        Aggregate("list", 2, 2, group="k", of="k"),
        KEYS,
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-grid-2-2",
        "aggregate by time on a grid, 2 every 2",
        Aggregate("list", 2, 2, "time"),
        Alphabet((TIES,)),
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-grid-2-1",
        "aggregate by time on a grid, 2 every 1",
        Aggregate("list", 2, 1, "time"),
        Alphabet((TIES,)),
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-key-grid-2-2",
        "aggregate by time on a grid and key, 2 every 2",
        Aggregate("list", 2, 2, "time", group="k", of="k"),
        KEYS,
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-first-2-1",
        "aggregate by time from the first item, 2 every 1",
        Aggregate("list", 2, 1, "time", aligned=False),
        Alphabet((TIES,)),
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-first-2-2",
        "aggregate by time from the first item, 2 every 2",
        Aggregate("list", 2, 2, "time", aligned=False),
        Alphabet((TIES,)),
        CONVERGENT_CAPABLE,
    ),
    BoxCase(
        "aggregate-timeout",
        "aggregate with timeout",
        Aggregate("list", 2, 1, timeout=True),
        ONE,
        ARBITRARY,
    ),
    BoxCase("union", "union", Union(), TWO, ARBITRARY),
    BoxCase("union-ordered", "union, in order of time", Ordered(Union()), TWO),
    BoxCase("triggered-2", "triggered by 2 items", Triggered((2,)), ONE),
    BoxCase("triggered-1-2", "triggered by 1 and 2 items in turn", Triggered((1, 2)), ONE),
    BoxCase("counted-2", "2 items counted over all keys", Counted((2, 3), "k", of="k"), KEYS),
    BoxCase("any-of", "any of two types", AnyOf(("x", "y")), ONE),
)
