"""Evidence: the scopes in which a protocol is explored, and the results expected there.

Rule of this file: numbers and names of a family as data; nothing is explored here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from model.actions import Action
from model.core import Guarantee, NodeName, OperatorClass, Quantity, Scope
from model.errors import Invalid
from model.graph import NO_GRAPH


class Outcome(Enum):
    """The result of a check.  VACUOUS: nothing was refuted, but the check never tried something
    that it should have tried.  UNFINISHED: nothing was refuted so far, when a budget was spent.
    IMPURE: a function of the protocol gives two answers to one question, so nothing was tried."""

    HOLDS = "holds"
    REFUTED = "refuted"
    VACUOUS = "vacuous"
    UNFINISHED = "explored so far"
    IMPURE = "impure"


@dataclass(frozen=True, slots=True)
class PinnedScope:
    """A scope with the evidence that is expected of it; made by a `Case`.

    operators, guarantee: None if the scope has no stream.  states: reachable worlds (None: not
    pinned).  steps: length of the shortest counterexample.  quick: False leaves the scope to the
    full profile.  reduced: worlds of a reduced search (None: not pinned).

    Raises Invalid unless operators are given with a stream, and only with one.
    """

    name: str
    scope: Scope
    operators: OperatorClass | None
    expect: Outcome = Outcome.HOLDS
    states: int | None = None
    steps: int | None = None
    guarantee: Guarantee | None = Guarantee.PRECISE
    quick: bool = True
    reduced: int | None = None

    def __post_init__(self) -> None:
        streams = self.scope.graph != NO_GRAPH
        if streams and self.operators is None:
            raise Invalid(f"scope {self.name!r}: give the class of its operators (OperatorClass)")
        if not streams and self.operators is not None:
            raise Invalid(f"scope {self.name!r}: without a stream it has no class of operators")
        if not streams:
            object.__setattr__(self, "guarantee", None)

    @property
    def worlds(self) -> int:
        """The pinned number of worlds; of the whole search, if that is pinned.  0: none is."""
        return self.states or self.reduced or 0


@dataclass(frozen=True, slots=True)
class Case:
    """A scope by name, with the class of its operators: a constant that several variants use.

    operators: None of a scope without a stream, which has no guarantee either.
    quick: False leaves the scope to the full profile, whoever uses it.
    """

    name: str
    scope: Scope
    operators: OperatorClass | None = None
    quick: bool = True

    def with_two_crashes_of(self, *victims: NodeName) -> Case:
        """The case in which these nodes alone crash, twice: for the crash points of a recovery."""
        scope = replace(self.scope, crashes=2, victims=frozenset(victims))
        name = f"{self.name}, two crashes of {' and '.join(victims)}"
        return Case(name, scope, self.operators, quick=False)

    def holds(
        self,
        states: int | None = None,
        guarantee: Guarantee = Guarantee.PRECISE,
        *,
        quick: bool = True,
        reduced: int | None = None,
    ) -> PinnedScope:
        """The case in which the protocol keeps its properties.

        states: reachable worlds.  guarantee: the strongest one that is found.
        """
        return PinnedScope(
            self.name,
            self.scope,
            self.operators,
            Outcome.HOLDS,
            states,
            None,
            guarantee,
            self.quick and quick,
            reduced,
        )

    def fails(
        self,
        states: int | None = None,
        steps: int | None = None,
        guarantee: Guarantee = Guarantee.PRECISE,
        *,
        quick: bool = True,
        reduced: int | None = None,
    ) -> PinnedScope:
        """The case in which a property is refuted.

        states: reachable worlds.  steps: of a shortest counterexample.  guarantee: the one left.
        """
        return PinnedScope(
            self.name,
            self.scope,
            self.operators,
            Outcome.REFUTED,
            states,
            steps,
            guarantee,
            self.quick and quick,
            reduced,
        )


REST = None
"""In the actions of a run: all else that is left to do."""


@dataclass(frozen=True, slots=True)
class PinnedRun:
    """A run in a scope that is too large to explore, and the guarantee at its end.

    actions: REST, and the end, are for the nodes to act, the first of them first, until nothing is
    left to do.  A test plays each run.
    """

    name: str
    scope: Scope
    operators: OperatorClass
    actions: tuple[Action | None, ...]
    guarantee: Guarantee


@dataclass(frozen=True, slots=True)
class Mutant:
    """A protocol with one changed line.  `old` is the whole line, stripped, and stands once.

    scope: the name of a scope that shows the fault, or VARIANT: SCOPE; the hunt begins there.
    by_chance: no scope shows it, and the random attack does; the hunt begins with the attack.
    """

    name: str
    module: str
    old: str
    new: str
    scope: str = ""
    by_chance: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for one protocol.

    must_occur: quantities without which a verdict is vacuous.  lemmas: the pinned number of lemmas
    about it.  compare_with: the full name of the variant whose costs are shown beside this
    protocol's; empty: none.  runs: of scopes that are too large.
    """

    scopes: tuple[PinnedScope, ...]
    must_occur: tuple[Quantity, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    lemmas: int = 0
    compare_with: str = ""
    runs: tuple[PinnedRun, ...] = ()

    @property
    def expected(self) -> Outcome:
        """Refuted if any scope is expected to be."""
        refuted = any(pinned.expect is Outcome.REFUTED for pinned in self.scopes)
        return Outcome.REFUTED if refuted else Outcome.HOLDS
