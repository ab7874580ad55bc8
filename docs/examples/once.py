"""The mindful sink, proved: it passes on no event twice, and none after a later one.

`asif prove docs/examples/once.py --mutants --drift` proves it for streams of any length and for
any number of crashes, and compares the formulas with what mindful.py does.

The fragment is EPR: one sort with an order, relations, and no functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from docs.examples.mindful import PROTOCOL
from model.actions import Action, Deliver
from model.evidence import Outcome
from model.system import System
from model.world import World
from proofs.prove.conformance import Abstraction, Path, Paths
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery
from proofs.prove.structure import Structure
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import Transition, TransitionSystem, inductive, reaches

__all__ = ["ABSTRACTIONS", "LEMMAS", "PROTOCOL"]

# --- the sink as a transition system ---------------------------------------------------------
EVENT = z3.DeclareSort("event")
BOOL = z3.BoolSort()
below = z3.Function("below", EVENT, EVENT, BOOL)
a, b, c = z3.Consts("a b c", EVENT)

ONCE = "no event is passed on twice"


def sink(given: Given) -> TransitionSystem:
    """It may be sent any event at any time, so nothing is assumed of the relay and the network."""

    def take(s: AtTime, t: AtTime, event: Any) -> Any:
        above = z3.ForAll([b], z3.Implies(s.passed(b), below(b, event)))
        new = given("an event is passed on only if its number is above all others so far", above)
        return z3.And(
            new,
            z3.ForAll([a], t.passed(a) == z3.Or(s.passed(a), a == event)),
            z3.ForAll([a], t.again(a) == z3.Or(s.again(a), z3.And(a == event, s.passed(a)))),
            z3.ForAll(
                [a, b], t.after(a, b) == z3.Or(s.after(a, b), z3.And(a == event, s.passed(b)))
            ),
        )

    return TransitionSystem(
        name="the sink",
        state=(
            Symbol("passed", EVENT, BOOL),
            Symbol("again", EVENT, BOOL),
            Symbol("after", EVENT, EVENT, BOOL),  # after(a, b): a was passed on after b
        ),
        axioms={
            "below: irreflexive": z3.ForAll([a], z3.Not(below(a, a))),
            "below: transitive": z3.ForAll(
                [a, b, c], z3.Implies(z3.And(below(a, b), below(b, c)), below(a, c))
            ),
        },
        init=lambda s: z3.And(
            z3.ForAll([a], z3.Not(z3.Or(s.passed(a), s.again(a)))),
            z3.ForAll([a, b], z3.Not(s.after(a, b))),
        ),
        transitions=(
            Transition("pass on", (("event", EVENT),), ("passed", "again", "after"), take),
        ),
        invariants={
            ONCE: lambda s: z3.ForAll([a], z3.Not(s.again(a))),
            "events are passed on in order": lambda s: z3.ForAll(
                [a, b], z3.Implies(s.after(a, b), below(b, a))
            ),
        },
    )


def prove(given: Given) -> Iterable[SolverQuery]:
    system = sink(given)
    yield from inductive(system)
    yield reaches(system, "two events are passed on", lambda s: z3.Exists([a, b], s.after(a, b)), 2)


# --- what the Python does --------------------------------------------------------------------
def paths(system: System) -> Paths:
    """The steps of the sink, seen from its output alone.  The time identifies an event: in the
    scopes of this protocol it grows by 1 from one event to the next, as the number does."""
    ((_, inputs),) = system.scope.inputs
    times = range(1, inputs.length + 1)
    rigid = Structure({"event": times}, {"below": lambda one, other: one < other})

    def seen(world: World) -> dict[str, Any]:
        (outputs,) = world.outputs
        passed = [body.time for _, body in outputs]
        return {
            "passed": {time: time in passed for time in times},
            "again": {time: passed.count(time) > 1 for time in times},
            "after": {
                (late, early): early in passed and late in passed[passed.index(early) + 1 :]
                for late in times
                for early in times
            },
        }

    def of(before: World, action: Action, after: World) -> Iterable[Path]:
        if isinstance(action, Deliver) and action.node == "sink":
            yield Path(rigid, (seen(before), seen(after)), initial=not before.outputs[0])

    return of


LEMMAS = (
    Lemma(
        name="once",
        statement="A sink that passes on an event only if its number is above all that it has "
        "passed on passes on none twice, and all in order, whatever it is sent.",
        section="docs/how-to/proofs.md",
        expect=Outcome.HOLDS,
        build=prove,
    ),
)
ABSTRACTIONS = (Abstraction("the sink", sink, paths),)
