"""Transition systems in Z3, and the queries that prove or refute claims about them.

Rule of this file: a system is a value: symbols, axioms, initial states, transitions, invariants.
Its queries are built here and nowhere else: one for each transition and invariant
(so that a failure names both), bounded runs, k-induction.  The idea of updating relations over
uninterpreted sorts, to stay in a decidable fragment (EPR: universal axioms, functions without
cycles between sorts), is Ivy's (Padon et al., PLDI 2016); nothing here insists on it, so a file
that leaves the fragment says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import z3

from model.results.answers import QueryKind
from model.results.grid import Grid
from proofs.prove.drawing import grid, short
from proofs.prove.grounding import Sizes, declarations, ground
from proofs.prove.query import SolverQuery, sometimes
from proofs.prove.symbols import AtTime, Axioms, Symbol


@dataclass(frozen=True, slots=True)
class Transition:
    """relation(before, after, *params); a symbol that is not in `changes` stays as it is."""

    name: str
    params: tuple[tuple[str, Any], ...]
    changes: tuple[str, ...]
    relation: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class TransitionSystem:
    """axioms: about the symbols that never change.  invariants: proved together."""

    name: str
    state: tuple[Symbol, ...]
    axioms: Axioms
    init: Callable[[AtTime], Any]
    transitions: tuple[Transition, ...]
    invariants: Mapping[str, Callable[[AtTime], Any]]

    @property
    def sorts(self) -> tuple[Any, ...]:
        """The uninterpreted sorts of the state, the parameters and the axioms."""
        sorts = [sort for symbol in self.state for sort in (*symbol.domain, symbol.range)]
        sorts += [sort for transition in self.transitions for _, sort in transition.params]
        for declaration in declarations([*self.axioms.values()]):
            sorts += [declaration.domain(i) for i in range(declaration.arity())]
            sorts.append(declaration.range())
        found = {s.name(): s for s in sorts if s.kind() == z3.Z3_UNINTERPRETED_SORT}
        return tuple(found.values())

    def moment(self, time: int) -> AtTime:
        return AtTime(self.state, time)

    def after(self, transition: Transition) -> AtTime:
        """What follows moment(0): only what the transition changes has another name."""
        return AtTime(self.state, _times(self, transition))


def _times(system: TransitionSystem, transition: Transition) -> dict[str, int]:
    return {symbol.name: int(symbol.name in transition.changes) for symbol in system.state}


# --- induction -------------------------------------------------------------------------------
def inductive(system: TransitionSystem) -> list[SolverQuery]:
    """The invariants hold at first, and every transition keeps every one of them."""
    return [*check_init(system), *check_steps(system)]


def check_init(system: TransitionSystem) -> list[SolverQuery]:
    start = system.moment(0)
    background = (*system.axioms.values(), system.init(start))
    return [
        SolverQuery(
            f"initially × {name}",
            QueryKind.INITIAL,
            (*background, z3.Not(invariant(start))),
            partial(_run_grid, system, 0, f"initially not: {name}"),
            system.sorts,
            invariant=name,
        )
        for name, invariant in system.invariants.items()
    ]


def check_steps(system: TransitionSystem) -> list[SolverQuery]:
    before = system.moment(0)
    assumed = (*system.axioms.values(), *(inv(before) for inv in system.invariants.values()))
    queries = []
    for transition in system.transitions:
        after = system.after(transition)
        params = _params(transition, 0)
        step = transition.relation(before, after, *params)
        queries += [
            SolverQuery(
                f"{transition.name} × {name}",
                QueryKind.STEP,
                (*assumed, step, z3.Not(invariant(after))),
                _induction_grid(system, transition, name),
                system.sorts,
                transition=transition.name,
                invariant=name,
            )
            for name, invariant in system.invariants.items()
        ]
    return queries


def k_inductive(system: TransitionSystem, invariant: str, k: int) -> list[SolverQuery]:
    """It holds in the first k states of every run, and k states in a row that satisfy it are
    followed by another one that does; the other invariants are not used."""
    holds = system.invariants[invariant]
    base = [bounded(system, invariant, depth) for depth in range(k)]
    steps = _steps(system, k)
    claims = (
        *system.axioms.values(),
        *(holds(system.moment(time)) for time in range(k)),
        *steps,
        z3.Not(holds(system.moment(k))),
    )
    caption = f"{k} good states in a row, then not: {invariant}"
    step = SolverQuery(
        f"{k} states × {invariant}",
        QueryKind.CLAIM,
        claims,
        partial(_run_grid, system, k, caption),
        system.sorts,
        invariant=invariant,
        steps=k,
    )
    return [*base, step]


# --- bounded runs ----------------------------------------------------------------------------
def bounded(
    system: TransitionSystem,
    invariant: str,
    depth: int,
    kind: QueryKind = QueryKind.CLAIM,
    sizes: Sizes | None = None,
    assuming: Sequence[Any] = (),
) -> SolverQuery:
    """A run of `depth` transitions at whose end the invariant does not hold.

    sizes: of the uninterpreted sorts; without them all sizes are meant, which a solver may not
    decide.  assuming: more about the world.
    """
    violated = z3.Not(system.invariants[invariant](system.moment(depth)))
    name = f"broken after {depth} steps: {invariant}{_in_a_world(sizes)}"
    claims = _run(system, depth, violated, sizes, assuming)
    show = partial(_run_grid, system, depth, name)
    sorts = system.sorts if sizes is None else ()
    return SolverQuery(name, kind, claims, show, sorts, invariant=invariant, steps=depth)


def reaches(
    system: TransitionSystem,
    what: str,
    goal: Callable[[AtTime], Any],
    depth: int,
    sizes: Sizes | None = None,
) -> SolverQuery:
    """Some run of `depth` transitions gets there, so the claim is not empty."""
    claims = _run(system, depth, goal(system.moment(depth)), sizes, ())
    what += _in_a_world(sizes)
    query = sometimes(what, claims, smallest=system.sorts if sizes is None else ())
    return replace(query, show=partial(_run_grid, system, depth, query.name), steps=depth)


def _run(
    system: TransitionSystem,
    depth: int,
    end: Any,
    sizes: Sizes | None,
    assuming: Sequence[Any],
) -> tuple[Any, ...]:
    """The claims that there is a run of this length with this end."""
    steps = _steps(system, depth)
    start = system.init(system.moment(0))
    claims = [*system.axioms.values(), *assuming, start, *steps, end]
    return tuple(claims if sizes is None else ground(claims, sizes))


def _in_a_world(sizes: Sizes | None) -> str:
    if sizes is None:
        return ""
    return f" ({', '.join(f'{sort}s: {size}' for sort, size in sizes.items())})"


def _steps(system: TransitionSystem, depth: int) -> list[Any]:
    """The relation between states 0..depth; each step takes one transition, which it labels."""
    claims: list[Any] = []
    for time in range(depth):
        before, after = system.moment(time), system.moment(time + 1)
        labels = [_label(transition, time) for transition in system.transitions]
        claims.append(z3.Or(*labels))
        claims += [z3.Not(z3.And(one, other)) for one, other in combinations(labels, 2)]
        for transition, label in zip(system.transitions, labels, strict=True):
            relation = transition.relation(before, after, *_params(transition, time))
            same = [
                symbol.same(time, time + 1)
                for symbol in system.state
                if symbol.name not in transition.changes
            ]
            claims.append(z3.Implies(label, z3.And(relation, *same)))
    return claims


def _label(transition: Transition, time: int) -> Any:
    return z3.Bool(f"{transition.name}?{time}")


def _params(transition: Transition, time: int) -> list[Any]:
    return [z3.Const(f"{transition.name}.{name}?{time}", sort) for name, sort in transition.params]


def step_is(system: TransitionSystem, time: int, name: str, params: Mapping[int, Any]) -> list[Any]:
    """Step `time` of a run is this transition, with these parameters, by position."""
    transition = next(t for t in system.transitions if t.name == name)
    known = _params(transition, time)
    return [_label(transition, time), *(known[i] == value for i, value in params.items())]


class StepTaken(NamedTuple):
    """A step of a run that a model describes: the transition and the values of its parameters."""

    name: str
    params: tuple[Any, ...]

    def __str__(self) -> str:
        return " ".join([self.name, *map(short, self.params)])


def transitions_taken(system: TransitionSystem, model: Any, depth: int) -> list[StepTaken]:
    """The steps between states 0..depth."""
    return [
        _read_step(model, transition, time)
        for time in range(depth)
        for transition in system.transitions
        if z3.is_true(model.eval(_label(transition, time), model_completion=True))
    ]


def _read_step(model: Any, transition: Transition, time: int) -> StepTaken:
    params = _params(transition, time)
    return StepTaken(transition.name, tuple(model.eval(p, model_completion=True) for p in params))


# --- drawing ---------------------------------------------------------------------------------
def _induction_grid(
    system: TransitionSystem, transition: Transition, invariant: str
) -> Callable[[Any], Grid]:
    """Two states side by side: all invariants hold in the left one, one not in the right one."""

    def draw(model: Any) -> Grid:
        step = _read_step(model, transition, 0)
        caption = f"all invariants hold, then {step}, and not: {invariant}"
        times: tuple[dict[str, int], ...] = ({}, _times(system, transition))
        return grid(system.state, model, (f"before {transition.name}", "after"), caption, times)

    return draw


def _run_grid(system: TransitionSystem, depth: int, caption: str, model: Any) -> Grid:
    """The states of a run."""
    times = [{symbol.name: time for symbol in system.state} for time in range(depth + 1)]
    columns = ["at first", *map(str, transitions_taken(system, model, depth))]
    return grid(system.state, model, columns, caption, times)
