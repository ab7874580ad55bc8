"""Random instances for tests."""

from __future__ import annotations

from hypothesis import strategies as st

from model.plans.instance import Instance, PlanOperator, PlanQuery


@st.composite
def operators(draw: st.DrawFn, name: str) -> PlanOperator:
    costs = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    return PlanOperator(name, costs, frozenset(draw(st.sets(st.sampled_from(range(len(costs)))))))


@st.composite
def instances(draw: st.DrawFn, most: int = 5, priority: int = 4, sharing: bool = True) -> Instance:
    """Small ones; some operators and queries may not have failed."""
    names = [f"O{number}" for number in range(draw(st.integers(1, most)))]
    found = tuple(draw(operators(name)) for name in names)
    queries = draw(st.integers(1, most if sharing else len(names)))
    subsets = st.sets(st.sampled_from(names), min_size=1, max_size=3)
    return Instance(
        found,
        tuple(
            PlanQuery(
                f"Q{number}",
                frozenset(draw(subsets) if sharing else {names[number]}),
                draw(st.integers(1, priority)),
            )
            for number in range(queries)
        ),
    )


@st.composite
def tasks(draw: st.DrawFn, most: int = 5, priority: int = 4) -> tuple[Instance, int]:
    """An instance and resources, from none to more than enough."""
    instance = draw(instances(most, priority))
    return instance, draw(st.integers(0, instance.total + 1))
