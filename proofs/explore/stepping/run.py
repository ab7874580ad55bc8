"""A run by steps (model.results.steps): made of a trace, with the failure-free run beside it.

Rule of this file: no value of its own; the nodes, the outputs and the other run have their files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate

from model.choices import quiescent
from model.core import NodeName
from model.results.culprit import Culprit
from model.results.steps import (
    RunDifference,
    RunStep,
    StepOutput,
    SteppedCulprit,
    SteppedMessage,
    SteppedRun,
    WrongOutput,
)
from model.results.story import Story, StoryMoment
from model.world import World
from proofs.explore.culprit.words import deed
from proofs.explore.explorer import Counterexample, Trace
from proofs.explore.stepping.choices import describe_deed
from proofs.explore.stepping.expected import (
    ShownOutputs,
    differing_places,
    new_outputs,
    output_text,
    show_expected,
)
from proofs.explore.stepping.nodes import changed_nodes
from proofs.explore.stepping.unfailed import UnfailedRun, without_faults
from proofs.explore.story import Chronicle, chronicle


def stepped(
    trace: Trace,
    circle: int = 0,
    culprit: Culprit | None = None,
    violates: str = "",
    *,
    compared: bool = True,
) -> SteppedRun:
    """The run by steps.

    circle: as in Story.  culprit: of this run.  violates: the name of the property that it
    violates.  compared: the failure-free run stands beside it, if the run has a fault.  Raises
    Invalid if the protocol cannot show a state, a message or an output.
    """
    found = chronicle(trace, circle)
    steps = _Steps(trace, found)
    other = without_faults(trace) if compared and trace.worlds else None
    return SteppedRun(
        lanes=found.story.lanes,
        steps=steps.all(),
        messages=tuple(
            SteppedMessage(
                from_=one.from_,
                to=one.message.to,
                label=one.message.label,
                kind=one.message.kind,
                sent=found.story.steps[one.sent],
                ended=None if one.ended is None else found.story.steps[one.ended],
                lost=one.message.lost,
            )
            for one in found.messages
        ),
        violates=violates,
        culprit=None if culprit is None else _by_steps(culprit, found.story),
        circle=circle,
        unfailed=other and _without_begin(stepped(other.trace, compared=False), other.parts),
        beside=other.beside if other else (),
        differs=other and _difference(trace, other),
    )


def _without_begin(run: SteppedRun, parts: int) -> SteppedRun:
    """The failure-free run without the steps that the run beside it has, too."""
    return replace(run, steps=run.steps[parts:])


def stepped_failure(found: Counterexample, culprit: Culprit) -> SteppedRun:
    """The run of a counterexample by steps.  culprit: of this run.  Raises Invalid."""
    return stepped(found.trace, found.circle, culprit, found.property.name)


class _Steps:
    """The steps of a trace."""

    def __init__(self, trace: Trace, found: Chronicle) -> None:
        self.trace, self.story = trace, found.story
        self.expected: ShownOutputs | None = None

    def all(self) -> tuple[RunStep, ...]:
        """The beginning, then a step for each action; none if even a boot failed."""
        if not self.trace.worlds:
            return ()
        moments: dict[int, list[StoryMoment]] = {}
        for step, moment in zip(self.story.steps, self.story.moments, strict=True):
            moments.setdefault(step, []).append(moment)
        return (self._beginning(), *(self._step(at, moments[at]) for at in sorted(moments)))

    def _beginning(self) -> RunStep:
        system, world = self.trace.system, self.trace.worlds[0]
        shown = self._expect(world)
        return RunStep(
            says="the beginning",
            nodes=changed_nodes(system, None, world),
            expects=shown.expects,
            others=shown.others,
        )

    def _step(self, at: int, moments: list[StoryMoment]) -> RunStep:
        """The step with this number, from 1."""
        first, *parts = moments
        if at == len(self.trace.worlds):
            says = self._deed(at)
            return RunStep(says=says, node=first.node, kind=first.kind, fails=True, nodes={})
        system, before, after = self.trace.system, *self.trace.worlds[at - 1 : at + 1]
        known, shown = self.expected, self._expect(after)
        return RunStep(
            says=self._deed(at),
            node=first.node,
            kind=first.kind,
            parts=tuple(map(deed, parts)),
            down=tuple(name for one in moments for name in one.down),
            undone=first.undone,
            nodes=changed_nodes(system, before, after),
            emits=tuple(
                StepOutput(
                    sink,
                    output_text(system, sink, after, place),
                    surplus=place in shown.surplus.get(sink, ()),
                )
                for sink, place in new_outputs(system, before, after)
            ),
            expects=None if known and known.expects == shown.expects else shown.expects,
            others=shown.others,
        )

    def _deed(self, at: int) -> str:
        return describe_deed(
            self.trace.system, self.trace.worlds[at - 1], self.trace.actions[at - 1]
        )

    def _expect(self, world: World) -> ShownOutputs:
        self.expected = show_expected(self.trace.system, world)
        return self.expected


def _by_steps(culprit: Culprit, story: Story) -> SteppedCulprit:
    """The culprit by the numbers of steps."""
    steps = story.steps
    before = [0, *accumulate(len(moment.emits) for moment in story.moments)]
    wrong = []
    for moment, emit in culprit.wrong:
        step = steps[moment]
        wrong.append(WrongOutput(step, before[moment] - before[steps.index(step)] + emit))
    lost = None if culprit.lost is None else steps[culprit.lost.moment]
    decided = None if culprit.decided is None else steps[culprit.decided]
    known = [lost, *(one.step for one in wrong[:1]), decided]
    first = next((one for one in known if one is not None), steps[-1] if steps else 0)
    return SteppedCulprit(culprit.says, first, lost, decided, tuple(wrong))


def _difference(trace: Trace, other: UnfailedRun) -> RunDifference:
    """The first differences between the run and the failure-free one.

    Where the oracle allows several outputs, the other run has some of them: then an output differs
    only if it is surplus, and one that the run never has counts only if the run lacks one.
    """
    end, unfailed = trace.worlds[-1], other.trace.worlds[-1]
    mine, theirs = differing_places(trace.system, end, unfailed)
    shown = show_expected(trace.system, end)
    if shown.others:
        mine = {
            sink: [place for place in own if place in shown.surplus.get(sink, ())]
            for sink, own in mine.items()
        }
        theirs = {} if all(one.seen for one in shown.expects) else theirs
    rests = len(trace.worlds) > len(trace.actions) and quiescent(trace.system, end)
    return RunDifference(
        other.parts,
        _first_step(trace, mine),
        _first_step(other.trace, theirs) if rests else None,
    )


def _first_step(trace: Trace, places: Mapping[NodeName, list[int]]) -> int | None:
    """The first step with one of these outputs."""
    found = [
        step
        for step, world in enumerate(trace.worlds)
        for sink, own in places.items()
        if any(place < len(world.outputs[trace.system.sink_at[sink]]) for place in own)
    ]
    return min(found, default=None)
