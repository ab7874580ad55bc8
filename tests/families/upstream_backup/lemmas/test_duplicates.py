"""The runs that the proof about duplicates gives happen in the model, and its mutants drift."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
import z3

from model.actions import Action, Crash, Deliver, Inject, OwnStep
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.choices import progress
from model.core import Arrival, Inputs, Received, Scope
from model.events import Body, Event
from model.evidence import Mutant
from model.graph import chain
from model.play import Play
from model.protocol import Protocol
from model.protocols.upstream_backup.mutants import MUTANTS
from model.protocols.upstream_backup.scopes import UNEVEN
from model.protocols.upstream_backup.states import OperatorNode
from model.registry import protocols
from model.results.answers import Answer
from model.results.grid import Grid
from model.system import System
from model.world import World, apply, initial, real_effects
from proofs.explore.mutants import mutate, mutated_source
from proofs.lemmas.upstream_backup.duplicates import counterexamples, edge
from proofs.lemmas.upstream_backup.duplicates.abstraction import ABSTRACTIONS
from proofs.prove.conformance import Comparison, Coverage, Formulas, compare
from proofs.prove.lemma import all_given
from proofs.prove.query import ask
from proofs.prove.transition import transitions_taken

PROTOCOL = protocols()["upstream-backup"]
HOME = "model.protocols.upstream_backup.protocol"
(ABSTRACTION,) = ABSTRACTIONS


def mutant(name: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == name)


REFUTED = {lemma.name: lemma for lemma in counterexamples.LEMMAS}


class FoundEdgeRun(NamedTuple):
    """A run of the edge.  Events are known by their rank among the numbers, from 1.

    steps: transitions, each with the event concerned.  twice, lost: the events that have had their
    effect twice in the end, and those that have none although a later one was heard.
    """

    steps: tuple[tuple[str, int | None], ...]
    twice: tuple[int, ...]
    lost: tuple[int, ...]


def read(model: Any, depth: int) -> FoundEdgeRun:
    """The run that a model describes."""
    system = edge.system(all_given)
    events, end = model.get_universe(edge.EVENT) or (), system.moment(depth)

    def true(formula: Any) -> bool:
        return bool(z3.is_true(model.eval(formula, model_completion=True)))

    def rank(place: Any) -> int:
        """How many events have this number or a smaller one."""
        return sum(true(edge.le(edge.number(e), place)) for e in events)

    def event_of(params: tuple[Any, ...]) -> int | None:
        """The event that a transition concerns: of a message, or the last one up to a place."""
        if not params:
            return None
        (what,) = params
        return rank(edge.stamp(what) if what.sort() == edge.MESSAGE else what)

    def lost(e: Any) -> bool:
        """The successor has heard a later event and has not had this one, which it needs."""
        heard = edge.le(edge.number(e), end.heard)
        return true(z3.And(edge.due(end, e), heard, z3.Not(end.done(e))))

    ranked = sorted((rank(edge.number(e)), str(e), e) for e in events)
    return FoundEdgeRun(
        tuple((s.name, event_of(s.params)) for s in transitions_taken(system, model, depth)),
        tuple(number for number, _, e in ranked if true(end.doubled(e))),
        tuple(number for number, _, e in ranked if lost(e)),
    )


@cache
def found(name: str) -> FoundEdgeRun:
    """The counterexample of a refuted lemma."""
    *_, query = REFUTED[name].build(all_given)
    assert query.show is not None
    assert query.steps is not None
    draw, depth, runs = query.show, query.steps, list[FoundEdgeRun]()

    def show(model: Any) -> Grid:
        runs.append(read(model, depth))
        return draw(model)

    assert ask(replace(query, show=show)).answer is Answer.SAT
    return runs[-1]


def test_all_counterexamples_are_run() -> None:
    assert [*REFUTED] == [
        "duplicates-undiscarded",
        "duplicates-late-restore",
        "duplicates-late-replay",
    ]


# --- counterexamples -------------------------------------------------------------------------
EVENT = Arrival(1, "a")
EACH = Operator(sequence("a"), CountWindows(1, 1))
LINE = Scope(chain(("A", EACH)), (("source", Inputs((EVENT,), 3)),), crashes=1)


class DrivenLine:
    """Source, operator and sink, driven along a run of the edge between the last two."""

    def __init__(self, protocol: Protocol) -> None:
        self.system = System(protocol, LINE)
        self.world = initial(self.system)

    def take(self, transition: str, event: int | None) -> None:
        match transition:
            case "give":
                before = len(self.events())
                self.until(lambda: len(self.events()) > before)
                assert self.events()[-1].body.time == event, "one event a unit of time"
            case "take":
                before = len(self.events())
                while len(self.events()) == before:
                    self.act(Deliver("sink", "A"))
            case "producer crashes":
                self.act(Crash("A"))
            case "producer crashes, mute":
                self.act(Crash("A", drops_sent=True))
            case "producer is restored":
                self.until(lambda: getattr(self.node("A"), "operator", None) is not None)
            case _:
                raise AssertionError(transition)

    def until(self, reached: Callable[[], bool]) -> None:
        """The sink takes nothing, and what it has said stays unread."""
        while not reached():
            steps = [s for name in ("A", "source") for s in progress(self.system, self.world, name)]
            steps = [s for s in steps if not (isinstance(s, Deliver) and s.sender == "sink")]
            self.act(steps[0] if steps else Inject("source", EVENT))

    def act(self, action: Action) -> None:
        self.world = apply(self.system, self.world, action)

    def node(self, name: str) -> Any:
        return self.world.nodes[self.system.node_at[name]].state

    def events(self) -> list[Event]:
        """On their way to the sink."""
        channel = self.world.channels[self.system.channel_at["A", "sink"]]
        return [message for message in channel if isinstance(message, Event)]


@pytest.mark.slow
@pytest.mark.parametrize("takes_duplicates", [False, True])
def test_a_sink_that_discards_nothing_gives_an_event_out_twice(takes_duplicates: bool) -> None:
    run = found("duplicates-undiscarded")
    assert run.twice == (1,)
    culprit = mutant("a sink takes duplicates")
    line = DrivenLine(mutate(PROTOCOL, culprit, HOME) if takes_duplicates else PROTOCOL)
    for step in run.steps:
        line.take(*step)
    (outputs,) = line.world.outputs
    assert len(outputs) == 1 + takes_duplicates
    assert len(set(outputs)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["duplicates-late-restore", "duplicates-late-replay"])
@pytest.mark.parametrize("where", ["sink", "A"])
def test_an_event_that_is_left_out_is_lost_for_ever(name: str, where: str) -> None:
    """What the successor takes last in the run, and only then what it has not heard."""
    run = found(name)
    transition, last = run.steps[-1]
    assert transition == "take"
    assert last is not None
    lost = run.lost[0]
    assert lost < last
    site = System(PROTOCOL, LINE).sites[where]
    boot = PROTOCOL.behaviour.boot(site)

    def receive(state: Any, number: int) -> Any:
        event = Event((number,), Body(number, "a"))
        return PROTOCOL.behaviour.step(site, state, Received(site.preds[0], event))[0]

    assert receive(boot, lost) != boot
    without = receive(boot, last)
    assert without != boot
    assert receive(without, lost) == without


# --- the abstraction -------------------------------------------------------------------------
@pytest.fixture
def alter(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Replaces the function that a mutant changes, wherever the model refers to it.

    The classes stay the same, which those of `mutated` do not; an abstraction sees the difference.
    """

    def altered(name: str) -> None:
        culprit = mutant(name)
        module = importlib.import_module(culprit.module)
        assert module.__file__ is not None
        with open(module.__file__, encoding="utf-8") as file:
            real = {ast.dump(node) for node in ast.parse(file.read()).body}
        changed = [n for n in ast.parse(mutated_source(culprit)).body if ast.dump(n) not in real]
        (function,) = changed
        assert isinstance(function, ast.FunctionDef)
        original = getattr(module, function.name)
        namespace = dict(vars(module))
        exec(compile(ast.unparse(function), "<mutant>", "exec"), module.__dict__, namespace)
        for other in [m for n, m in sys.modules.items() if n.startswith(("model.", "proofs."))]:
            if vars(other).get(function.name) is original:
                monkeypatch.setattr(other, function.name, namespace[function.name])

    return altered


DRIFTING = {
    "a sink takes duplicates": "adjacent operators, two crashes",
    "an operator takes duplicates": "adjacent operators, time windows",
    "replay out of order": "one event, one match",
    "replay the newest event only": "one event, one match",
    "process what arrives before the answer": "two output edges, one event",
    "acknowledge before the successor has it": "one event, one match",
    "restore from nothing": "one event, one match",
    "trim one event too many": "one event, one match",
    "forget the number of the first window": "one event, one match",
    "acknowledge what one of two successors has": "two output edges",
}
"""Mutants, and a scope in which few worlds are enough."""


def scope(name: str) -> Scope:
    return next(pinned.scope for pinned in PROTOCOL.evidence.scopes if pinned.name == name)


@pytest.mark.parametrize("name", DRIFTING)
def test_what_breaks_an_edge_drifts(name: str, alter: Callable[[str], None]) -> None:
    alter(name)
    found = compare(ABSTRACTIONS, PROTOCOL, scope(DRIFTING[name]), limit=6_000)
    assert found[ABSTRACTION.name].drift


def answers_that_differ() -> list[tuple[World, Action, World]]:
    """The operator crashes between two acknowledgements, so that only `left` has its savepoint, and
    `right` answers first; its events are taken last."""
    edges: list[tuple[World, Action, World]] = []
    play = Play(PROTOCOL, UNEVEN, lambda *edge: edges.append(edge))
    saved = 0

    def answer_of_right_first(action: OwnStep) -> bool:
        node = play.state("A")
        answered = isinstance(node, OperatorNode) and node.awaited == {"left"}
        return not (isinstance(action, Deliver) and ("left" if answered else "right") in action[:2])

    def at_the_savepoint(action: OwnStep) -> int | None:
        nonlocal saved
        if action != Deliver("A", "sink") or len(real_effects(play.effects(action))) <= 1:
            return None
        saved += 1
        return 1 if saved == SAVED else None

    for source in ("left", "right") * 2:
        play.inject(source, Arrival(1, "a"))
        while play.settle(answer_of_right_first, at_the_savepoint):
            pass
    return edges


SAVED = 3
"""The first savepoint that trims an event of `right`."""


def test_a_later_savepoint_may_come_with_a_second_answer() -> None:
    system = System(PROTOCOL, UNEVEN)
    paths = ABSTRACTION.paths(system)
    comparison, account = Comparison(Formulas(ABSTRACTION.system(all_given))), Coverage()
    later = 0
    for taken in answers_that_differ():
        for path in paths(*taken):
            assert comparison.compare(path, account) is None
            later += any(
                s["listening"] and t["heard"] > s["heard"] and t["gone"] == s["gone"]
                for s, t in pairwise(path.states)
            )
    assert later
