"""A protocol with a standard operator: the result, or the reason why it was not deployed.

Rule of this file: no operator and no scope (proofs.explore.standard_operators has both); whoever
calls brings the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from model.errors import Invalid
from model.evidence import Case, PinnedScope
from model.protocol import Protocol
from model.results.verdict import ScopeResult, StandardResult
from model.system import System
from proofs.classify.graphs import class_of
from proofs.explore.explorer import Counterexample, Exploration
from proofs.explore.standard_operators import STANDARD, standard_scope


def run_standard(
    protocol: Protocol,
    name: str,
    explore: Callable[[Protocol, PinnedScope], Exploration],
    result: Callable[[Protocol, PinnedScope, Exploration], ScopeResult],
) -> StandardResult:
    """The result of the standard operator of this name.

    The class is that of the whole graph, which may have other operators of the protocol as well.
    Raises Invalid as a search in the protocol's own scopes does, such as for a property that fails.
    """
    operator = next(one for one in STANDARD if one.name == name)
    try:
        scope = standard_scope(protocol, operator)
        operators = class_of(scope)
        if operators is None:
            raise Invalid("the class of its graph is not decided")
        System(protocol, scope)
    except Invalid as error:
        return StandardResult(name, operator.operators, why=str(error))
    pinned = Case(name, scope, operators).holds()
    found = explore(protocol, pinned)
    quiet = None if found.counterexample is None else _without_faults(protocol, pinned, explore)
    if quiet is not None:
        found = replace(found, counterexample=quiet)
    row = result(protocol, pinned, found)
    return StandardResult(
        name,
        operators,
        replace(row, as_pinned=True, differs=()),  # nobody has expected anything
        unhurt=quiet is not None,
        vacuous=found.vacuous,
    )


def _without_faults(
    protocol: Protocol,
    pinned: PinnedScope,
    explore: Callable[[Protocol, PinnedScope], Exploration],
) -> Counterexample | None:
    """A run without any fault in which the outputs are wrong, too, or a step fails."""
    scope = replace(pinned.scope, crashes=0, early=0, disturbances=0)
    return explore(protocol.vary(needed=None), replace(pinned, scope=scope)).counterexample
