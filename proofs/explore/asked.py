"""Answers: the functions of a protocol are asked the same in every process that runs this file.

Rule of this file: no clock, no comparison, and no order of a set: pure functions give the same
table wherever it is made (proofs.explore.purity compares tables).

Random runs of the protocol's scopes, a fixed number, ask its functions.  Then all is asked once
more, the last question first: a function that counts hidden calls has another answer then.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from model.actions import Action, Inject, OwnStep
from model.boxes.box import Stream
from model.choices import faults, offers, quiescent, ready
from model.core import Arrival, Input, NodeName, Step, When
from model.errors import StepFailed, pass_ctrl_c
from model.evidence import PinnedScope
from model.graph import SINK, SOURCE, Graph
from model.observations import look_inside, looks_of
from model.oracle import outputs_of
from model.protocol import Protocol
from model.system import System, describe, is_satisfied, read_gauges
from model.world import DOWN, World, apply, initial, response
from proofs.explore.canonical import canonical

RUNS, STEPS = 24, 60
"""The random runs of a protocol, evenly over its scopes, and the actions of each at most."""
SCOPES = 8
"""The largest number of scopes that these run through."""
FAULTS = 1 / 6
"""The probability that an action is a fault where one may come."""
MOST_OUTPUTS = 64
"""A box that allows this number of outputs is not asked: the first ones of many may differ."""


class AskedQuestion(NamedTuple):
    """A call of a function of a protocol.

    function: its role.  node: whose call it is; "" for none.  on: its input, in a few words.
    given: its arguments, as a canonical text.
    """

    function: str
    node: NodeName
    on: str
    given: str


class AskedAnswer(NamedTuple):
    """The function that answered, and its answers as canonical texts, each once."""

    by: Callable[..., Any]
    texts: tuple[str, ...]


class AnswerRecord:
    """The questions that were asked, and their answers."""

    def __init__(self) -> None:
        self.found: dict[AskedQuestion, AskedAnswer] = {}
        self._again: list[tuple[AskedQuestion, Callable[[], Any]]] = []

    def ask(self, question: AskedQuestion, by: Callable[..., Any], call: Callable[[], Any]) -> None:
        """Note the answer to a question; one that was asked before is asked no more."""
        if question not in self.found:
            self.found[question] = AskedAnswer(by, (_text(call),))
            self._again.append((question, call))

    def ask_again(self) -> None:
        """Ask each question once more, the last one first."""
        for question, call in reversed(self._again):
            by, texts = self.found[question]
            self.found[question] = AskedAnswer(by, tuple(dict.fromkeys((*texts, _text(call)))))


def _text(call: Callable[[], Any]) -> str:
    """The answer; of an error its type alone, since its words may name an address."""
    try:
        return canonical(call())
    except BaseException as error:  # of a protocol, which may be anybody's
        pass_ctrl_c(error)
        return f"fails ({type(error).__name__})"


@dataclass(frozen=True)
class AskingSystem(System):
    """The same system, which notes the steps that it asks for.

    key: the text of the scope, on which sites and initial states depend.
    """

    answers: AnswerRecord = field(default_factory=AnswerRecord, compare=False)
    key: str = field(init=False, default="", compare=False)
    known: dict[Any, tuple[Any, Step]] = field(init=False, default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "key", canonical(self.scope))

    def given(self, *arguments: Any) -> str:
        """The text of arguments in this scope."""
        return f"{self.key}: {canonical(arguments)}"

    def answer(
        self, name: NodeName, value: Any, input_: Input | None, disk: tuple[Any, ...] = ()
    ) -> Step:
        asked = name, id(value), input_, disk
        found = self.known.get(asked)
        if found is None:
            behaviour = self.protocol.behaviour
            function: str = "step"
            by: Callable[..., Any] = behaviour.step
            if input_ is None:
                function, by = "recover", behaviour.recover or behaviour.boot
            question = AskedQuestion(
                function, name, describe(input_), self.given(value, input_, disk)
            )
            call = partial(super().answer, name, value, input_, disk)
            self.answers.ask(question, by, call)
            found = self.known[asked] = value, call()  # kept, so that no other one gets its id
        return found[1]


def ask(
    protocol: Protocol,
    scope: str | None = None,
    again: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Mapping[AskedQuestion, AskedAnswer]:
    """The answers of the protocol's functions.

    scope: in this scope alone.  again: the context in which all is asked once more; by then the
    libraries that the functions load are there.  Raises Invalid.
    """
    answers = AnswerRecord()
    scopes = _sample(protocol.evidence.scopes, scope)
    systems = [_deploy(protocol, pinned, answers) for pinned in scopes]
    for run in range(RUNS):
        _run(systems[run % len(systems)], random.Random(run), answers)
    with again():
        answers.ask_again()
    return answers.found


def _sample(pinned: Sequence[PinnedScope], name: str | None) -> Sequence[PinnedScope]:
    """The quick scopes, or some of them, as far apart as possible; all if none is quick."""
    if name is not None:
        return [one for one in pinned if one.name == name]
    quick = [one for one in pinned if one.quick] or pinned
    count = min(len(quick), SCOPES)
    return [quick[at * len(quick) // count] for at in range(count)]


def _deploy(protocol: Protocol, pinned: PinnedScope, answers: AnswerRecord) -> AskingSystem:
    system = AskingSystem(protocol, pinned.scope, answers)
    deploy = partial(protocol.deploy, pinned.scope)
    question = AskedQuestion("deploy", "", f"scope {pinned.name}", system.key)
    answers.ask(question, protocol.behaviour.deploy, deploy)
    boot = protocol.behaviour.boot
    for site in system.deployment.sites:
        question = AskedQuestion("boot", site.name, "start", system.key)
        answers.ask(question, boot, partial(boot, site))
    return system


def _run(system: AskingSystem, chance: random.Random, answers: AnswerRecord) -> None:
    """A run whose steps, and those that it might have taken instead, are asked for."""
    with suppress(StepFailed):
        world = initial(system)
        with suppress(StepFailed):
            for _ in range(STEPS):
                _look(system, world, answers)
                action = _choose(system, world, chance)
                if action is None:
                    break
                world = apply(system, world, action)
        _compute(system, world, answers)


def _choose(system: System, world: World, chance: random.Random) -> Action | None:
    own: list[OwnStep | Inject] = [*ready(system, world)]
    own += (one for name in system.sites for one in offers(system, world, name))
    for action in own:
        response(system, world, action)  # also of the steps that this run does not take
    failing = [one for name in system.sites for one in faults(system, world, name)]
    if failing and (not own or chance.random() < FAULTS):
        return chance.choice(failing)
    return chance.choice(own) if own else None


def _look(system: AskingSystem, world: World, answers: AnswerRecord) -> None:
    """Ask about a world: its properties, the gauges of its nodes, and `needed`."""
    resting = quiescent(system, world)
    seen = look_inside(system, world, looks_of(system, rest=resting))
    given = system.given(seen)
    for one in system.properties:
        if resting or one.when is When.ALWAYS:
            question = AskedQuestion("holds", "", f"property {one.name}", given)
            answers.ask(question, one.holds, partial(is_satisfied, system, one, seen))
    behaviour = system.protocol.behaviour
    for name, node in zip(system.sites, world.nodes, strict=True):
        if node.state is not DOWN:
            question = AskedQuestion("gauges", name, "state", system.given(node.state))
            gauges = partial(read_gauges, system, name, node.state)
            answers.ask(question, behaviour.gauges, gauges)
    if behaviour.needed is not None and resting and not system.scope.crashes:
        question = AskedQuestion("needed", "", "world at rest", given)
        answers.ask(question, behaviour.needed, partial(behaviour.needed, system.scope, seen))


def _compute(system: AskingSystem, world: World, answers: AnswerRecord) -> None:
    """Ask the boxes of the graph for the outputs that they allow for a world's arrivals."""
    graph = system.scope.graph
    arrivals = dict(zip((name for name, _ in system.scope.inputs), world.arrivals, strict=True))
    streams: dict[str, Stream] = {}
    for name in graph.order():
        spec = graph.specs[name]
        given = system.given([streams[pred] for pred in graph.preds(name)])
        found = partial(_allowed, graph, arrivals, {**streams}, name)
        if spec not in (SOURCE, SINK):
            question = AskedQuestion("allowed outputs", name, "its inputs", given)
            answers.ask(question, type(spec).runs, found)
        try:
            streams[name] = min(found(), key=canonical, default=Stream(()))
        except BaseException as error:  # of a box, which may be anybody's; the explorer reports it
            pass_ctrl_c(error)
            return


def _allowed(
    graph: Graph,
    arrivals: Mapping[str, Sequence[Arrival]],
    streams: Mapping[str, Stream],
    name: str,
) -> frozenset[Stream]:
    """The outputs that a box allows; none if there are too many to compare."""
    found = frozenset(islice(outputs_of(graph, arrivals, streams, name), MOST_OUTPUTS))
    return found if len(found) < MOST_OUTPUTS else frozenset()
