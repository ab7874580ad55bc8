"""Vacuity: the things that a scope, or all scopes of a protocol together, should have tried.

Rule of this file: no search, and a sentence for each thing.  A protocol that holds because nothing
could have refuted it does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from model.core import DISTURBED, OperatorClass
from model.errors import nearest
from model.protocol import Failures, Protocol
from model.system import System
from model.timers import parse_timer
from model.world import Node
from proofs.explore.collapse import Collapsed
from proofs.explore.trials import ScopeTrial


@dataclass(frozen=True, slots=True)
class NamedTrial:
    """The trial of a scope.  operators: None without a stream."""

    scope: str
    operators: OperatorClass | None
    trial: ScopeTrial


# --- one scope ---------------------------------------------------------------------------------
def never_tried(collapsed: Collapsed) -> Iterator[str]:
    """The faults that the scope grants and that could not come, a sentence each."""
    system = collapsed.system
    if system.scope.crashes and not collapsed.evidence.hit:
        yield f"crashes: {system.scope.crashes} granted, and none could strike: {_spared(system)}"
    if system.scope.disturbances and not collapsed.evidence.notes[DISTURBED.name]:
        yield f"disturbances: {system.scope.disturbances} granted, and no message came to a link"
    patient = system.deployment.patient.difference(system.protocol.behaviour.timers)
    timers = {timer for node in _seen_nodes(collapsed) for timer in node.timers} if patient else ()
    kinds = sorted({parse_timer(timer).kind for timer in timers})
    for kind in sorted(patient.difference(kinds)):  # a kind in Behaviour.timers is no slip
        yield f"patient timers: nobody set one of the kind {kind!r}{nearest(kind, kinds)}"


def _spared(system: System) -> str:
    """Why no crash strikes a node."""
    if not system.deployment.crashable:
        return "deploy lets no node crash; name some in `crashable`"
    if not system.victims:
        return "the scope has no victims; name some, or leave `victims` out"
    return "the victims crash only with a group that is not among them; name its members, too"


def _seen_nodes(collapsed: Collapsed) -> Iterator[Node]:
    """The nodes as some world had them; a reduced search also asks about others."""
    for view in collapsed.views:
        values = collapsed.values[view.fields[0]]
        yield from (values[number] for number in {focus[0] for focus in view.focuses})


# --- all scopes --------------------------------------------------------------------------------
def never_tried_in_all(protocol: Protocol, trials: Sequence[NamedTrial]) -> Iterator[str]:
    """The things that these scopes together never tried, though they hold, a sentence each.

    Crashes are asked for in the scopes of each class of operators, or of a class that contains it;
    results in the scopes of the class itself.
    """
    every = [one.trial for one in trials]
    classes = sorted({one.operators for one in trials if one.operators is not None})
    for operators in classes:
        which = f"{operators.word} operators"
        own = [one.trial for one in trials if one.operators is operators]
        wider = [one.trial for one in trials if one.operators and one.operators >= operators]
        yield from (f"{which}: {why}" for why in (*_crashes(protocol, wider), *_results(own)))
    if not classes:
        yield from _crashes(protocol, every)
    yield from _other_faults(protocol, every)
    yield from _properties(every)
    asked = [one.lets_go for one in every if one.lets_go is not None]
    if asked and not any(asked):
        yield (
            "`needed` allows each node to keep all events, or its gauges report no number of them: "
            "in no world at rest can a node keep too much; return fewer, or report `buffered`"
        )


def _crashes(protocol: Protocol, trials: Sequence[ScopeTrial]) -> Iterator[str]:
    if protocol.promise.assumes.failures is Failures.NONE or not trials:
        return
    if not any(one.crashes for one in trials):
        yield (
            "no crash came, since no scope grants any, and the protocol assumes that nodes crash: "
            "give a scope crashes, or let the protocol assume Failures.NONE"
        )
    elif any(one.crashed for one in trials) and not any(one.lost for one in trials):
        yield (
            "no crash came after the victim had anything to lose: each came before the victim had "
            "sent or saved anything, and nothing was on its way to it; let a node crash that "
            "events reach"
        )


def _other_faults(protocol: Protocol, trials: Sequence[ScopeTrial]) -> Iterator[str]:
    assumes = protocol.promise.assumes
    crashed = any(one.crashed for one in trials)
    if assumes.suspicions and crashed and not any(one.suspected for one in trials):
        yield (
            "no false suspicion came, and the protocol assumes them: let a victim be the sender of "
            "a watched channel"
        )
    disturbances = [one.disturbances for one in trials if one.disturbances is not None]
    if disturbances and not any(disturbances):
        yield (
            "no link fault came, since no scope grants any, and links may lose, double or delay "
            "messages: give a scope disturbances, or the links no faults"
        )


def _results(trials: Sequence[ScopeTrial]) -> Iterator[str]:
    """Missing trials of the outputs, in the scopes of a class of operators."""
    if not any(one.expected for one in trials):
        yield (
            "no events of any scope have a result, so the outputs were compared with nothing; "
            "give events that the operators match, or operators that match them"
        )
        return
    if not any(one.emitted for one in trials):
        yield "no sink emitted anything, though results are expected; let a sink emit them"
        return
    remedy = "let `runs` of the operators yield only outputs that a run without failures has"
    if not any(one.misses for one in trials):
        yield f"each result may be missing, so a lost one would not be found; {remedy}"
    counted = [one.copies for one in trials if one.copies is not None]
    if counted and not any(counted):
        yield f"each result may come twice, so a copy would not be found; {remedy}"


def _properties(trials: Iterable[ScopeTrial]) -> Iterator[str]:
    asked: dict[str, bool] = {}
    for one in trials:
        for name in one.asked:
            asked[name] = asked.get(name, False) or name in one.broken
    for name in (name for name, broken in asked.items() if not broken):
        yield (
            f"the property {name!r} holds of every observation, also if results are left out, "
            "doubled or changed, and if nodes have other states; let it state a requirement"
        )
