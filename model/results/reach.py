"""The reach of a check: the bounds within which a "holds" was tried, and the shapes met there.

Rule of this file: no decision and no word for people; proofs.explore.reach finds the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.comparison import Shape
from model.core import NodeName, OperatorClass


class GraphFeature(StrEnum):
    """A feature of a graph by which operators are deployed in another way."""

    ONE = "one operator"
    CHAIN = "a chain"
    MERGE = "a merge"
    FORK = "a fork"
    DIAMOND = "a diamond"


class LineageComparison(StrEnum):
    """Are the inputs that results name compared?  UNNAMED: no result names any.  LEFT: a property
    of the protocol's own may look at them; those of every protocol compare the results alone."""

    UNNAMED = "no result names any"
    UNCOMPARED = "no property looks at them"
    LEFT = "left to the protocol's own properties"


class LeakComparison(StrEnum):
    """Is the content of the nodes at rest compared with the needs of a restart?"""

    NEVER = "never"
    WITHOUT_CRASHES = "in runs without crashes"


class LastOne(StrEnum):
    """The part of a scope that is taken away: a shape that then vanishes was new in it."""

    EVENT = "event"
    CRASH = "crash"


@dataclass(frozen=True, slots=True)
class ReachBounds:
    """The bounds of all scopes of a check together: the greatest, or all that any scope has.

    sources, sinks: most in one graph.  events: most of one source.  types, attributes: of the
    events; untried_types, untried_attributes: those that an operator asks for and no event has.
    gaps: between events; last_time: the latest time.  ties: two events of one source at one time;
    ties_between: of two sources.  victims: the nodes that crash; spared: those that do not, prompt
    sites left out; crashable: may any of these crash in the deployment?  crashes: most in one run;
    restarts: most of one node in one run.  suspicions, early, disturbances: the greatest budgets of
    these faults (suspicions share that of the crashes).  may_early, may_disturb: does the
    deployment have patient timers, and links that are not perfect?  compared_as: the ways in which
    sinks compare.
    """

    sources: int
    sinks: int
    events: int
    types: tuple[str, ...]
    attributes: tuple[str, ...]
    untried_types: tuple[str, ...]
    untried_attributes: tuple[str, ...]
    gaps: tuple[int, ...]
    last_time: int
    ties: bool
    ties_between: bool
    crashes: int
    restarts: int
    victims: tuple[NodeName, ...]
    spared: tuple[NodeName, ...]
    crashable: bool
    suspicions: int
    early: int
    may_early: bool
    disturbances: int
    may_disturb: bool
    classes: tuple[OperatorClass, ...]
    graphs: tuple[GraphFeature, ...]
    compared_as: tuple[Shape, ...]
    leaks: LeakComparison


@dataclass(frozen=True, slots=True)
class MetShapes:
    """The shapes that the scopes have met (proofs.explore.reach).

    states: of the nodes.  inputs: pairs (shape of a state, kind of an input there).  crashed: the
    shapes of states in which a crash between two steps came; uncrashed: those in which none came,
    though the node may crash.  saves: of the values that such nodes saved; unlost: those after
    which no crash came.  number, size: the greatest number and container in a state.
    """

    states: int
    inputs: int
    crashed: int
    uncrashed: tuple[str, ...]
    saves: int
    unlost: tuple[str, ...]
    number: int
    size: int


@dataclass(frozen=True, slots=True)
class AddedByLast:
    """The things that a scope meets and the same scope with one event of each source, or one crash,
    fewer does not.

    count: the events of a source, or the crashes, of the scope.  points: crash points that were
    hit.
    """

    last: LastOne
    scope: str
    count: int
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrowingField:
    """A container in the state of a node that grows without end, as far as was seen: a hint.

    field: its path; empty: the state itself.  saved: it is in the durable value alone.  most: its
    greatest size.  events: of a source in that scope.  always: no step at all makes it smaller;
    False: none does from some state on.
    """

    node: NodeName
    field: str
    saved: bool
    most: int
    events: int
    always: bool


@dataclass(frozen=True, slots=True)
class Reach:
    """The reach of a check.

    chance_events, chance_crashes: the bounds of random runs, which reach some worlds beyond; 0
    without such runs.  lineage: of the results.  reduced: the scopes of which fewer worlds were
    visited, so that shapes may be missing.  added: the shapes new in the last event, and in the
    last crash, of the largest scope.  One that was not measured has no row: the scope is too
    large, was reduced, was ended by a budget, or has one event or no crash; the smaller scope is
    refused or was not explored to its end; or Spark or a folder on disk has the worlds.
    """

    scopes: int
    largest: str
    bounds: ReachBounds
    chance_events: int
    chance_crashes: int
    lineage: LineageComparison
    met: MetShapes
    reduced: tuple[str, ...]
    added: tuple[AddedByLast, ...]
    growing: tuple[GrowingField, ...]
