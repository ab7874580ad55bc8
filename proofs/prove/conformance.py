"""Conformance: the formulas of a proof allow each step of the Python, seen abstractly.

Rule of this file: it runs the explorer and compares; it knows no protocol.  Every edge that the
explorer takes is abstracted to paths; every first state must be initial if its world is, every
state must satisfy all invariants, and every two states in a row one of the transitions, of the
very formulas that are proved.  (A state may also stay as it is.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import z3

from model.actions import Action
from model.core import Scope
from model.protocol import Protocol
from model.results.grid import CellMark, Grid, lane
from model.system import System
from model.world import World
from proofs.explore.edges import edges
from proofs.prove.lemma import Given, all_given
from proofs.prove.structure import Compiled, Structure, Table, compile_
from proofs.prove.transition import TransitionSystem


class Path(NamedTuple):
    """rigid: the symbols that never change.  states: the symbols of the state by name, state by
    state.

    initial: must the first state satisfy `init`?
    """

    rigid: Structure
    states: tuple[Table, ...]
    initial: bool = False


Paths: TypeAlias = Callable[[World, Action, World], Iterable[Path]]
"""The abstract paths that an edge takes: several if it does several transitions at once (one
path) or moves several instances of the system (a path each); none if it does not concern it."""


@dataclass(frozen=True, slots=True)
class Abstraction:
    """How the worlds of a protocol look to a transition system."""

    name: str
    system: Callable[[Given], TransitionSystem]
    paths: Callable[[System], Paths]


class FormulaMisfit(StrEnum):
    """The kinds of formulas that may not hold."""

    AXIOM = "the axiom does not hold"
    INITIAL = "the first state is not initial"
    INVARIANT = "the invariant does not hold"
    STEP = "no transition allows this step"


class Mismatch(NamedTuple):
    """A path that does not fit.  states: of which the formula does not hold.  formula: its name, if
    it is an axiom or an invariant."""

    kind: FormulaMisfit
    states: tuple[Table, ...]
    formula: str | None = None

    @property
    def what(self) -> str:
        """In words."""
        return self.kind.value if self.formula is None else f"{self.kind}: {self.formula}"

    def grid(self) -> Grid:
        """The states side by side; symbols that are false or 0 in all of them, and functions, are
        left out."""
        rows = []
        for name in self.states[0]:
            tables = [_table(name, state[name]) for state in self.states]
            for label in dict.fromkeys(label for table in tables for label in table):
                values = [table.get(label, "") for table in tables]
                changed = len(set(map(str, values))) > 1
                if any(values):
                    mark = CellMark.NEW if changed else CellMark.PLAIN
                    marks = [CellMark.PLAIN, *[mark] * (len(values) - 1)]
                    rows.append(lane(label, map(_shown, values), marks))
        columns = ("before", "after") if len(self.states) == 2 else ("state",)
        return Grid(self.what, columns, tuple(rows))


def _table(name: str, value: Any) -> Table:
    """The values of a symbol, by the value that stands for each."""
    if callable(value):
        return {}
    if isinstance(value, Mapping):
        return {f"{name}({_shown(args)})": answer for args, answer in value.items()}
    return {name: value}


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass
class Coverage:
    """What was compared.

    transitions: how often each was taken.  alone: those that were once, when no other allowed the
    step; without one of them, the formulas would drift.
    """

    edges: int = 0
    states: int = 0
    transitions: Counter[str] = field(default_factory=Counter)
    alone: set[str] = field(default_factory=set)
    drift: Mismatch | None = None


class Formulas:
    """Those of one system, compiled."""

    def __init__(self, system: TransitionSystem) -> None:
        before = system.moment(0)
        self.axioms = {name: compile_(axiom) for name, axiom in system.axioms.items()}
        self.init = compile_(system.init(before))
        self.invariants = {name: compile_(inv(before)) for name, inv in system.invariants.items()}
        # All at once nearly always hold; only if not, they are asked one by one.
        self.invariant = compile_(z3.And(*(inv(before) for inv in system.invariants.values())))
        self.state = tuple(symbol.name for symbol in system.state)
        self._steps: list[tuple[str, frozenset[str], Compiled]] = []
        for transition in system.transitions:
            changes = frozenset(transition.changes)
            params = [z3.Const(f"param {name}", sort) for name, sort in transition.params]
            relation = transition.relation(before, system.after(transition), *params)
            if params:
                relation = z3.Exists(params, relation)
            self._steps.append((transition.name, changes, compile_(relation)))

    def broken(self, structure: Structure) -> str:
        """The first invariant that does not hold, where one does not."""
        return next(name for name, one in self.invariants.items() if not one.holds(structure))

    def allowing(self, rigid: Structure, before: Table, after: Table) -> list[str]:
        """The transitions that allow the step from one state to another."""
        changed = {name for name in self.state if before[name] != after[name]}
        structure = _at(rigid, before, after)
        return [
            name
            for name, changes, relation in self._steps
            if changed <= changes and relation.holds(structure)
        ]


class Comparison:
    """Paths compared with formulas; it remembers those that fit."""

    def __init__(self, formulas: Formulas) -> None:
        self._formulas = formulas
        self._rigid: dict[int, Structure] = {}  # kept, so that an id stays theirs
        self._fit: set[Any] = set()

    def compare(self, path: Path, account: Coverage) -> Mismatch | None:
        """The first mismatch, or None.  A path that was compared before is skipped: many edges
        look alike to an abstraction."""
        if id(path.rigid) not in self._rigid:
            self._rigid[id(path.rigid)] = path.rigid
            for name, axiom in self._formulas.axioms.items():
                if not axiom.holds(path.rigid):
                    return Mismatch(FormulaMisfit.AXIOM, path.states[:1], name)
        like = [(id(path.rigid), _freeze(state)) for state in path.states]
        whole = (path.initial, *like)
        if whole in self._fit:
            return None
        if path.initial and not self._formulas.init.holds(_at(path.rigid, path.states[0])):
            return Mismatch(FormulaMisfit.INITIAL, path.states[:1])
        for state, like_it in zip(path.states, like, strict=True):
            account.states += 1
            if like_it not in self._fit:
                structure = _at(path.rigid, state)
                if not self._formulas.invariant.holds(structure):
                    return Mismatch(
                        FormulaMisfit.INVARIANT, (state,), self._formulas.broken(structure)
                    )
                self._fit.add(like_it)
        for before, after in pairwise(path.states):
            if before == after:
                continue
            taken = self._formulas.allowing(path.rigid, before, after)
            if not taken:
                return Mismatch(FormulaMisfit.STEP, (before, after))
            account.transitions[taken[0]] += 1
            if len(taken) == 1:
                account.alone.add(taken[0])
        self._fit.add(whole)
        return None


def _freeze(state: Table) -> tuple[Any, ...]:
    """Hashable: the values in their order; functions stand for themselves."""
    return tuple([tuple(v.items()) if isinstance(v, dict | Mapping) else v for v in state.values()])


def _at(rigid: Structure, *states: Table) -> Structure:
    """States, each at its time, and the symbols that never change."""
    symbols = dict(rigid.symbols)
    for time, state in enumerate(states):
        symbols.update({f"{name}@{time}": value for name, value in state.items()})
    return Structure(rigid.sorts, symbols)


@cache
def _formulas(system: Callable[[Given], TransitionSystem], given: Given) -> Formulas:
    return Formulas(system(given))


def compare(
    abstractions: Sequence[Abstraction],
    protocol: Protocol,
    scope: Scope,
    given: Given = all_given,
    limit: int | None = None,
) -> dict[str, Coverage]:
    """What was compared, by name of the abstraction.

    The scope is explored once, and every edge is compared with every abstraction, with each until
    its first drift.  limit: the worlds after which it stops.
    """
    world_system = System(protocol, scope)
    running = [
        (one.name, Comparison(_formulas(one.system, given)), one.paths(world_system))
        for one in abstractions
    ]
    accounts = {abstraction.name: Coverage() for abstraction in abstractions}
    for before, action, after in edges(protocol, scope, limit=limit):
        for name, comparison, paths in running:
            account = accounts[name]
            if account.drift is not None:
                continue
            account.edges += 1
            for path in paths(before, action, after):
                account.drift = account.drift or comparison.compare(path, account)
    return accounts
