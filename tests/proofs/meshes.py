"""Protocols that nobody wrote, on nodes that send to each other in any direction.

Rule of this file: tables of random steps; a seed is a protocol, and nothing is compared here.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import (
    CHECKPOINTED,
    Answer,
    Deployment,
    Effect,
    Emit,
    Group,
    Guarantee,
    Input,
    Note,
    Observation,
    OperatorClass,
    Property,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    When,
)
from model.events import Body
from model.evidence import PinnedScope
from model.family import Family
from model.graph import SINK, SOURCE, Graph
from model.parts import deploy_graph, over_words
from model.protocol import Assumptions, Behaviour, Failures, Protocol

OPERATOR = Operator(sequence("a"), CountWindows(1, 1))
GRAPH = Graph(
    (("source", SOURCE), ("A", OPERATOR), ("left", SINK), ("right", SINK)),
    (("source", "A"), ("A", "left"), ("A", "right")),
)
REST = Property("something", When.QUIESCENT, lambda *_: True)


class Mesh(NamedTuple):
    """The choices of a protocol: the seed decides the steps of each node, and which channels there
    are."""

    seed: int
    crashes: int
    failures: Failures
    length: int
    sends: float
    timers: float
    victims: tuple[str, ...]
    prompt: tuple[str, ...]
    group: bool
    watched: float
    returning: float
    suspicions: bool


def mesh_of(seed: int) -> Mesh:
    chance = random.Random(seed)
    pick = chance.choice
    return Mesh(
        seed=seed,
        crashes=pick([0, 1, 1, 2]),
        failures=pick([Failures.SINGLE, Failures.ANY]),
        length=pick([1, 1, 2]),
        sends=pick([0.2, 0.3, 0.4]),
        timers=pick([0.0, 0.2]),
        victims=pick([("A",), ("A", "left"), ("left", "right"), ("A", "left", "right")]),
        prompt=pick([(), (), (), ("right",)]),
        group=pick([False, False, True]),
        watched=pick([0.0, 0.0, 0.5]),
        returning=pick([1.0, 1.0, 0.5]),
        suspicions=pick([False, False, True]),
    )


def woven(mesh: Mesh, *properties: Property) -> tuple[Protocol, Scope]:
    """The protocol of a mesh, and its scope."""
    names = [name for name, _ in GRAPH.nodes]
    weave = random.Random(mesh.seed)
    pairs = [(one, other) for one in names for other in names if one != other]
    channels = tuple(ends for ends in pairs if ends in GRAPH.edges or weave.random() < 0.4)
    victims = frozenset(mesh.victims).difference(mesh.prompt)
    watched = frozenset(ends for ends in channels if weave.random() < mesh.watched)
    returning = frozenset(name for name in names if weave.random() < mesh.returning)

    def deploy(_design: None, scope: Scope) -> Deployment:
        group = (Group(victims),) if mesh.group and len(victims) > 1 else ()
        return deploy_graph(scope.graph)._replace(
            channels=channels,
            crashable=victims,
            together=group,
            watched=watched,
            returning=returning & victims,
            prompt=frozenset(mesh.prompt),
        )

    def answer(site: Site, state: Any, input_: Input | None) -> Answer:
        """State 3 answers nothing more, so that most runs come to rest."""
        draw = random.Random(f"{mesh.seed} {site.name} {state!r} {input_!r}")
        effects: list[Effect] = []
        for sender, to in channels:
            if sender == site.name and state != 3 and draw.random() < mesh.sends:
                effects.append(Send(to, draw.randrange(2)))
        if site.role is Role.SINK and draw.random() < 0.4:
            effects.append(Emit((0, Body(0, draw.choice("ab")))))
        if site.name in victims and draw.random() < 0.3:
            effects += [Save(draw.randrange(2)), Note(CHECKPOINTED, 1)]
        if site.name not in mesh.prompt and state != 3 and draw.random() < mesh.timers:
            effects.append(SetTimer(draw.choice("tu")))
        step = draw.randrange(3)
        return min(3, (state or 0) + step) if input_ is not None else step, tuple(effects)

    class_ = OperatorClass.REPEATABLE
    scope = over_words(GRAPH, mesh.length, "a", crashes=mesh.crashes)
    protocol = Family(
        "woven",
        "",
        "",
        Behaviour(
            deploy, lambda _: 0, answer, lambda site, durable: answer(site, durable, None), show=str
        ),
        assumes=Assumptions(mesh.failures, mesh.suspicions),
        properties=properties or (REST,),
    ).design(scopes=(PinnedScope("woven", scope, class_),), claims={class_: Guarantee.GAP})
    return protocol, scope


def except_when(seen: Observation) -> Property:
    """The property of every world that only worlds with this observation violate."""
    return Property("anything else", When.ALWAYS, lambda _, now: now != seen)
