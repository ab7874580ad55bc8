"""The compiled meaning of formulas is Z3's meaning, and so is the grounded one."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from proofs.prove.grounding import element, ground
from proofs.prove.structure import Structure, holds

THING = z3.DeclareSort("thing")
BOOL, INT = z3.BoolSort(), z3.IntSort()
likes = z3.Function("likes", THING, THING, BOOL)
size = z3.Function("size", THING, INT)
best = z3.Function("best", THING, THING)
chosen = z3.Const("chosen", THING)
rainy = z3.Bool("rainy")
SIZE = 3
ELEMENTS = range(SIZE)
VARIABLES = [z3.Const(f"x{depth}", THING) for depth in range(3)]


def things(depth: int) -> st.SearchStrategy[Any]:
    simple = st.sampled_from([chosen, *VARIABLES[:depth]])
    return simple | simple.map(best)


def formulas(depth: int = 0) -> st.SearchStrategy[Any]:
    """Closed formulas; `depth` variables are bound outside."""
    thing, number = things(depth), things(depth).map(size) | st.integers(-1, 2).map(z3.IntVal)
    numbers = st.tuples(number, number)
    atoms = st.one_of(
        st.just(rainy),
        st.tuples(thing, thing).map(lambda pair: likes(*pair)),
        st.tuples(thing, thing).map(lambda pair: pair[0] == pair[1]),
        numbers.map(lambda pair: pair[0] <= pair[1]),
        numbers.map(lambda pair: pair[0] + 1 > pair[1]),
        numbers.map(lambda pair: pair[0] - pair[1] == z3.IntVal(1)),
        st.lists(thing, min_size=2, max_size=3).map(lambda terms: z3.Distinct(*terms)),
    )

    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        two = st.tuples(inner, inner)
        return st.one_of(
            inner.map(z3.Not),
            two.map(lambda pair: z3.And(*pair)),
            two.map(lambda pair: z3.Or(*pair)),
            two.map(lambda pair: z3.Implies(*pair)),
            two.map(lambda pair: pair[0] == pair[1]),
            two.map(lambda pair: z3.Xor(*pair)),
            st.tuples(inner, inner, inner).map(lambda three: z3.If(*three)),
        )

    plain = st.recursive(atoms, deeper, max_leaves=4)
    if depth == len(VARIABLES):
        return plain
    variable = VARIABLES[depth]
    below = st.deferred(lambda: formulas(depth + 1))
    quantified = below.flatmap(
        lambda body: st.sampled_from([z3.ForAll([variable], body), z3.Exists([variable], body)])
    )
    return plain | quantified


WORLDS = st.fixed_dictionaries(
    {
        "likes": st.fixed_dictionaries(
            {pair: st.booleans() for pair in product(ELEMENTS, repeat=2)}
        ),
        "size": st.fixed_dictionaries({i: st.integers(-1, 2) for i in ELEMENTS}),
        "best": st.fixed_dictionaries({i: st.sampled_from(ELEMENTS) for i in ELEMENTS}),
        "chosen": st.sampled_from(ELEMENTS),
        "rainy": st.booleans(),
    }
)


def described(world: dict[str, Any]) -> list[Any]:
    """The world as formulas, and that there are no other things."""
    names = [element(THING, i) for i in ELEMENTS]
    anything = z3.Const("anything", THING)
    claims = [z3.Distinct(*names), chosen == names[world["chosen"]]]
    claims.append(z3.ForAll([anything], z3.Or(*(anything == name for name in names))))
    claims.append(rainy == z3.BoolVal(world["rainy"]))
    claims += [likes(names[i], names[j]) == z3.BoolVal(v) for (i, j), v in world["likes"].items()]
    claims += [size(names[i]) == value for i, value in world["size"].items()]
    claims += [best(names[i]) == names[value] for i, value in world["best"].items()]
    return claims


@pytest.mark.slow
@given(formulas(), WORLDS)
def test_a_formula_holds_where_z3_says_so(formula: Any, world: dict[str, Any]) -> None:
    solver = z3.Solver()
    solver.add(*described(world), formula)
    said = solver.check() == z3.sat
    assert holds(formula, Structure({"thing": ELEMENTS}, world)) is said

    grounded = z3.Solver()
    grounded.add(*ground([*described(world), formula], {THING: SIZE}))
    assert (grounded.check() == z3.sat) is said


def test_functions_may_be_python_functions() -> None:
    x = VARIABLES[0]
    formula = z3.ForAll([x], z3.Exists([VARIABLES[1]], likes(x, VARIABLES[1])))
    structure = Structure({"thing": ELEMENTS}, {"likes": lambda i, j: i == j})
    assert holds(formula, structure)


def test_all_of_nothing_holds_and_none_of_it() -> None:
    assert holds(z3.And(), Structure({}, {}))
    assert not holds(z3.Or(), Structure({}, {}))


def test_what_a_structure_does_not_say_is_named() -> None:
    with pytest.raises(KeyError, match="says nothing of rainy"):
        holds(rainy, Structure({}, {"sunny": True}))
    with pytest.raises(KeyError, match="no carrier for the sort thing"):
        holds(
            z3.ForAll([VARIABLES[0]], likes(VARIABLES[0], chosen)),
            Structure({}, {"likes": {}, "chosen": 0}),
        )


def test_a_formula_without_a_meaning_here_is_refused() -> None:
    with pytest.raises(TypeError, match="no meaning for bv"):
        holds(z3.BitVec("b", 4) + 1 == 0, Structure({}, {"b": 15}))


def test_every_sort_of_a_finite_world_needs_a_size() -> None:
    formula = z3.ForAll([VARIABLES[0]], likes(VARIABLES[0], chosen))
    with pytest.raises(ValueError, match="sort thing has no size"):
        ground([formula], {})
