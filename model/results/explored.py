"""A world that somebody came to by hand: its run, the choices there, the state of its promises.

Rule of this file: values alone; proofs.explore.stepping.by_hand finds them, and the page of
`asif explore` shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.results.plain import key
from model.results.steps import SteppedRun
from model.results.verdict import ScopeCounterexample


class ChoiceKind(StrEnum):
    """The chooser: a NODE by itself, the OUTSIDE world, or a FAULT."""

    NODE = "node"
    OUTSIDE = "outside"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class CrashChoice:
    """A crash within a step.  choice: the place of this action among the possible ones.  after: the
    number of effects that happen before it.  with_: the other nodes of the group that goes down.
    point: the crash point as `asif check` names it."""

    choice: int
    after: int
    point: str
    with_: tuple[str, ...] = key("with", absent=True, default=())


@dataclass(frozen=True, slots=True)
class ActionChoice:
    """An action that may come next.

    choice: its place among the possible ones.  says: in words.  effects: of a step, in order and in
    words.  crashes: those that may strike within it.  refused: the reason, if a step has effects
    and no crash may strike within it.  fails: the words of a step that fails.
    """

    choice: int
    kind: ChoiceKind
    node: str
    says: str
    effects: tuple[str, ...] = key(absent=True, default=())
    crashes: tuple[CrashChoice, ...] = key(absent=True, default=())
    refused: str = key(absent=True, default="")
    fails: str = key(absent=True, default="")


@dataclass(frozen=True, slots=True)
class PropertyState:
    """A property in this world.  always: it is about every world, and else about those at rest.
    holds: None: the world is not at rest, or the property does not answer (`fails`)."""

    name: str
    always: bool
    holds: bool | None
    fails: str = key(absent=True, default="")


@dataclass(frozen=True, slots=True)
class FaultsLeft:
    """The number of faults of each kind that may still come, and a sentence if no crash may come
    now."""

    crashes: int
    early: int
    disturbances: int
    refused: str = key(absent=True, default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploredWorld:
    """The world after a run by hand.

    address: the choices of the run, by their places.  rests: no node does anything by itself.
    guarantee: the type of recovery of the outputs at rest, and in everyday words; "" before, and
    without a stream.  broken: the first property that the run violates; "" if none.  broken_in: the
    step in which it does; 0: the beginning.
    """

    protocol: str
    scope: str
    address: tuple[int, ...]
    run: SteppedRun
    choices: tuple[ActionChoice, ...]
    properties: tuple[PropertyState, ...]
    left: FaultsLeft
    rests: bool
    guarantee: str = ""
    everyday: str = ""
    broken: str = ""
    broken_in: int | None = None


@dataclass(frozen=True, slots=True)
class SavedAction:
    """An action of a saved run: as Python writes it, and in words."""

    action: str
    says: str


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run that `asif check --run` replays.

    subject: the protocol as `asif check` takes it.  violates: the property that the run violated
    when it was saved; "" if none.
    """

    subject: str
    scope: str
    actions: tuple[SavedAction, ...]
    violates: str = ""


@dataclass(frozen=True, slots=True)
class ReplayedRun:
    """The result of a replay.  steps: of the run, up to the first property that it violates.
    counterexample: None if it violates none."""

    protocol: str
    scope: str
    steps: int
    counterexample: ScopeCounterexample | None


@dataclass(frozen=True, slots=True)
class ShortestRun:
    """The answer to a search for a shortest counterexample.  says: the result in a sentence.
    address: None: there is none, or it has not been found."""

    says: str
    address: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ListedScope:
    """A scope that can be explored by hand.  expect: the outcome that the file expects."""

    name: str
    expect: str


@dataclass(frozen=True, slots=True)
class ListedScopes:
    """The protocol of an `asif explore`, its scopes, and the one to begin with."""

    protocol: str
    title: str
    scopes: tuple[ListedScope, ...]
    first: str
