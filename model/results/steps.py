"""A run that one steps through: after each step the nodes, the messages, the outputs.

Rule of this file: values alone, as small as JSON allows: a step has the things that it changed, and
whoever shows the run folds them.  proofs.explore.stepping makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from model.costs import MessageKind
from model.results.plain import key
from model.results.story import MomentKind


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChange:
    """The things of a node that a step changed.

    whole: the node has these fields and no others, as at the beginning, after a crash and where the
    state is of another type.  up: is the node up afterwards?  kind: the type of its state in words;
    "" of a node that is down.  says: the protocol's own words for the state.  up, kind and says are
    those of the node afterwards.  fields: new values by name; a dotted name is a field within a
    field.
    """

    up: bool
    kind: str = key(absent=True, default="")
    says: str = key(absent=True, default="")
    whole: bool = key(absent=True, default=False)
    fields: Mapping[str, str]
    gone: tuple[str, ...] = key(absent=True, default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedMessage:
    """A message of the run.  sent: the step that sent it.  ended: the step in which its receiver
    took it, or in which it was lost; None: it is still under way.  A message to a prompt site is
    sent and taken in one step."""

    from_: str = key("from")
    to: str
    label: str
    kind: MessageKind
    sent: int
    ended: int | None = key(absent=True, default=None)
    lost: bool = key(absent=True, default=False)


@dataclass(frozen=True, slots=True)
class StepOutput:
    """A result that a sink passes on in a step.  at: the sink.  surplus: no failure-free output of
    the events so far has it here: it comes too often, too early, or not at all."""

    at: str
    text: str
    surplus: bool = key(absent=True, default=False)


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """A result that the oracle expects of the events so far.  seen: it is there."""

    at: str
    text: str
    seen: bool = key(absent=True, default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """A step of a run: an action with the steps of prompt sites within it, and its changes.

    says: the action in words.  parts: the steps of prompt sites, in words.  down: the nodes that go
    down.  undone: the first effect that a crash prevented.  fails: the step raises or
    answers nothing that can be used, and the run ends.  nodes: those that changed.  expects: the
    expected outputs that are the nearest; None: as after the step before.  others: the number of
    other outputs that are allowed as well.
    """

    says: str
    node: str = key(absent=True, default="")
    kind: MomentKind | None = key(absent=True, default=None)
    parts: tuple[str, ...] = key(absent=True, default=())
    down: tuple[str, ...] = key(absent=True, default=())
    undone: str = key(absent=True, default="")
    fails: bool = key(absent=True, default=False)
    nodes: Mapping[str, NodeChange]
    emits: tuple[StepOutput, ...] = key(absent=True, default=())
    expects: tuple[ExpectedOutput, ...] | None = key(absent=True, default=None)
    others: int = key(absent=True, default=0)


class WrongOutput(NamedTuple):
    """A wrong result: its step, and its place among the emits of this step."""

    step: int
    emit: int


@dataclass(frozen=True, slots=True)
class SteppedCulprit:
    """The culprit of the run by steps (model.results.culprit).  step: the one to look at first.
    lost: in which a missing result was lost.  decided: after which no continuation is right."""

    says: str
    step: int
    lost: int | None = key(absent=True, default=None)
    decided: int | None = key(absent=True, default=None)
    wrong: tuple[WrongOutput, ...] = key(absent=True, default=())


@dataclass(frozen=True, slots=True)
class RunDifference:
    """The differences of a run from the failure-free one beside it.

    parts: the first step of the run that the other one does not have.  step: the first step of the
    run with a result that the other one does not have in this place; None: there is none.
    unfailed: the first step of the other run with a result that this run, at rest, never has.
    """

    parts: int
    step: int | None = key(absent=True, default=None)
    unfailed: int | None = key(absent=True, default=None)


@dataclass(frozen=True, slots=True)
class SteppedRun:
    """A run by steps: steps[0] is the beginning, steps[n] the nth action, as stories count them.

    lanes: the nodes, upstream first.  violates: the property that the run violates; "" if none.
    circle: the number of the last steps that repeat without end.  unfailed: the run with the same
    events and without faults; None: this run has no fault.  Its first steps are those of this run
    up to `differs.parts`, and are left out.  beside: for each step of this run, the step of the
    failure-free one that stands beside it.
    """

    lanes: tuple[str, ...]
    steps: tuple[RunStep, ...]
    messages: tuple[SteppedMessage, ...] = ()
    violates: str = key(absent=True, default="")
    culprit: SteppedCulprit | None = key(absent=True, default=None)
    circle: int = key(absent=True, default=0)
    unfailed: SteppedRun | None = key(absent=True, default=None)
    beside: tuple[int, ...] = key(absent=True, default=())
    differs: RunDifference | None = key(absent=True, default=None)
