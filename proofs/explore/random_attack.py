"""The random attack: fast walks, then a Hypothesis state machine over the same worlds.

Rule of this file: no decision; a walk or the machine chooses an action, and model.world decides the
effect of the action.  Walks are many, Hypothesis looks at odd corners; either's failure is shrunk.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, NoReturn
from unittest import mock

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from model.actions import Action
from model.choices import faults, may_fail, offers, ready
from model.core import Property, Scope
from model.errors import StepFailed
from model.evidence import Outcome
from model.observations import first_violation
from model.protocol import Protocol
from model.system import System
from model.world import World, apply, initial
from proofs.explore import random_walk
from proofs.explore.explorer import Counterexample, Trace, answer_property
from proofs.explore.shrinker import shrink
from proofs.garbage import seldom_collected

STEPS = 60
"""Chosen actions of a run; after these the system comes to rest."""
REST = 2_000
"""The most actions after that; a run whose timers are always set again never comes to rest."""


@dataclass(frozen=True, slots=True)
class Attack:
    """The result of an attack.  walks, examples: runs made, by walking and by Hypothesis.  actions:
    actions in all runs together.  failure: a run that failed, shrunk."""

    walks: int
    examples: int
    actions: int
    seconds: float
    failure: Counterexample | None

    @property
    def by(self) -> str | None:
        """The finder of the failure; Hypothesis begins only if no walk fails."""
        if self.failure is None:
            return None
        return "hypothesis" if self.examples else "walk"


class Violation(AssertionError):
    """A run violates a property."""


@dataclass
class Tally:
    """The sums over the runs of one attack, and the failure of the last run that failed."""

    examples: int = 0
    actions: int = 0
    failure: Counterexample | None = None


def machine(
    protocol: Protocol, scopes: Scope | st.SearchStrategy[Scope], tally: Tally | None = None
) -> type[RuleBasedStateMachine]:
    """A machine that runs `protocol` in a scope (or in one drawn) and checks its properties.

    At the end of each run the system comes to rest, where completeness is checked.  The class is
    long and stands in here, because Hypothesis takes the seed of the runs from its source.
    """
    drawn = st.just(scopes) if isinstance(scopes, Scope) else scopes
    counted = tally or Tally()

    class Machine(RuleBasedStateMachine):
        system: System
        worlds: list[World]
        actions: list[Action]

        @initialize(scope=drawn)
        def deploy(self, scope: Scope) -> None:
            self.system = System(protocol, scope)
            self.worlds, self.actions = [], []
            counted.examples += 1
            with self._failures():
                self.worlds.append(initial(self.system))

        @rule(data=st.data())
        def progress(self, data: st.DataObject) -> None:
            self._draw(ready(self.system, self.worlds[-1]), data)

        @rule(data=st.data())
        def arrive(self, data: st.DataObject) -> None:
            self._one_of(offers, data)

        @precondition(lambda self: may_fail(self.system, self.worlds[-1]))
        @rule(data=st.data())
        def crash(self, data: st.DataObject) -> None:
            self._one_of(faults, data)

        def _one_of(self, kind: Any, data: st.DataObject) -> None:
            world = self.worlds[-1]
            sites = self.system.deployment.sites
            self._draw([a for site in sites for a in kind(self.system, world, site.name)], data)

        def _draw(self, choices: Sequence[Action], data: st.DataObject) -> None:
            if choices:
                self._act(data.draw(st.sampled_from(choices)))

        def _act(self, action: Action) -> None:
            counted.actions += 1
            self.actions.append(action)
            with self._failures():
                after = apply(self.system, self.worlds[-1], action)
            self.worlds.append(after)
            broken = first_violation(self.system, after)
            if broken is not None:
                self._fail(broken)

        @contextmanager
        def _failures(self) -> Iterator[None]:
            """Take a step that fails for a violation by the run up to this step."""
            try:
                yield
            except StepFailed as error:
                self._fail(answer_property(error))

        def _fail(self, broken: Property) -> NoReturn:
            trace = Trace(self.system, tuple(self.actions), tuple(self.worlds))
            counted.failure = Counterexample(broken, trace)
            raise Violation(broken.name)

        def teardown(self) -> None:
            if not hasattr(self, "system") or (
                counted.failure and counted.failure.trace.actions == tuple(self.actions)
            ):
                return
            for _ in range(REST):
                world = self.worlds[-1]
                steps = ready(self.system, world)
                if not steps:
                    return
                self._act(steps[0])

    return Machine


def enlarge(protocol: Protocol) -> tuple[Scope, ...]:
    """The protocol's scopes with longer streams and with one more crash: these scopes are too big
    to explore whole.

    Nothing is added that a scope leaves out, as the explorer has it: a source without events sends
    none, and a scope without crashes has none.  A variant that is expected to be refuted keeps its
    own refuted scopes.
    """
    if any(pinned.expect is Outcome.REFUTED for pinned in protocol.evidence.scopes):
        return tuple(p.scope for p in protocol.evidence.scopes if p.expect is Outcome.REFUTED)
    return tuple(_enlarge(pinned.scope) for pinned in protocol.evidence.scopes)


def _enlarge(scope: Scope) -> Scope:
    inputs = tuple(
        (name, one._replace(length=one.length + 3) if one.length else one)
        for name, one in scope.inputs
    )
    return replace(scope, inputs=inputs, crashes=scope.crashes + 1 if scope.crashes else 0)


def targets(protocol: Protocol) -> tuple[Scope, ...]:
    """The scopes of an attack: the pinned ones and the enlarged ones; of a variant that is expected
    to be refuted, its refuted ones."""
    enlarged = enlarge(protocol)
    pinned = tuple(pinned.scope for pinned in protocol.evidence.scopes)
    return enlarged if {*enlarged} <= {*pinned} else pinned + enlarged


@seldom_collected()
def attack(
    protocol: Protocol, *, walks: int, examples: int, scopes: Sequence[Scope] | None = None
) -> Attack:
    """Walk `walks` times, evenly through the scopes, until a walk fails; if none does, run the
    machine `examples` times.  The same protocol always gets the same runs.

    scopes: those of the attack; None: `targets` for walks, `enlarge` for the machine.
    """
    started = time.perf_counter()
    walked, steps, failure = _walk(protocol, scopes or targets(protocol), walks)
    tally = Tally(0, steps, failure)
    if failure is None and examples:
        drawn = machine(protocol, st.sampled_from(scopes or enlarge(protocol)), tally)
        run_machine(drawn, examples)
    seconds = time.perf_counter() - started
    return Attack(walked, tally.examples, tally.actions, seconds, tally.failure)


def _walk(
    protocol: Protocol, scopes: Sequence[Scope], walks: int
) -> tuple[int, int, Counterexample | None]:
    """The walks made, the actions in them, and the failure of the last one, shrunk."""
    walked = steps = 0
    for seed, scope in enumerate(scopes):
        share = walks // len(scopes) + (seed < walks % len(scopes))
        found = random_walk.walks(protocol, scope, share, seed)
        walked += found.count
        steps += found.steps
        if found.property is not None and found.trace is not None:
            return walked, steps, shrink(Counterexample(found.property, found.trace))
    return walked, steps, None


def _no_constant(*_: object, **__: object) -> None:
    return None


def run_machine(made: Any, examples: int, *, shrinks: bool = True) -> None:
    """Run the machine `examples` times, or until it fails; its tally has the failure.

    The same machine gets the same runs in every process.
    """
    # Hypothesis would take some choices from the source of the modules that happen to be loaded.
    constants = mock.patch.object(
        HypothesisProvider, "_maybe_draw_constant", _no_constant, create=True
    )
    with suppress(Violation), constants:
        run_state_machine_as_test(
            made,
            settings=settings(
                max_examples=examples,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                derandomize=True,
                report_multiple_bugs=False,
                print_blob=False,
                phases=(Phase.generate, Phase.shrink) if shrinks else (Phase.generate,),
                suppress_health_check=list(HealthCheck),
            ),
        )


def pytest_file(subject: str, failure: Counterexample, says: str) -> str:
    """The text of a pytest module that replays the failing run; the test passes once the protocol
    is mended.

    subject: the protocol as `asif check` takes it, a name or a file.  says: the fault of the
    run (model.results.culprit).
    """
    scope = failure.trace.system.scope
    home = failure.trace.system.protocol
    place = f"targets(protocol)[{targets(home).index(scope)}]"
    found = "The random attack found this run and shrunk it.  The test fails until the protocol is"
    broken = _in_docstring(f"It violates: {failure.property.name}.")
    about = f"{_in_docstring(says)}\n{broken}\n\n{found}\nmended."
    return _pytest_text(
        f"A run that fails, of {subject}", about, subject, place, failure.trace.actions
    )


def pytest_of_run(subject: str, scope: str, actions: Sequence[Action], broken: str) -> str:
    """The text of a pytest module that replays a run that was made by hand; the test fails if the
    run violates a property.

    subject: as of `pytest_file`.  scope: the name of a pinned scope.  broken: the property that the
    run violates; "" if none.
    """
    name = "A run that fails" if broken else "A run that is as it should be"
    about = f"It was made by hand in the scope {scope!r}."
    about += f"  It violates: {broken}." if broken else ""
    known = "one.scope for one in protocol.evidence.scopes"
    place = f"next({known} if one.name == {scope!r})"
    return _pytest_text(f"{name}, of {subject}", _in_docstring(about), subject, place, actions)


def _pytest_text(
    title: str, about: str, subject: str, place: str, actions: Sequence[Action]
) -> str:
    """The text of the module.  place: the scope, as Python finds it in the `protocol`."""
    lines = "".join(f"    {action!r},\n" for action in actions)
    targets_ = "from proofs.explore.random_attack import targets\n"
    return f'''"""{_in_docstring(title)}

{about}
"""

from model.core import Arrival
from model.system import System
from model.observations import first_violation
from model.actions import Crash, Deliver, Disturb, Disturbance, Inject, Reread, Restart, Suspect
from model.actions import Timeout
from model.world import apply, initial
from proofs.explore.search.rest import last_circle
{targets_ if place.startswith("targets") else ""}from model.registry import subject

ACTIONS = (
{lines})


def test_the_run_is_as_if_nothing_had_failed():
    protocol = subject({subject!r}).protocol
    system = System(protocol, {place})
    worlds = [initial(system)]
    assert first_violation(system, worlds[-1]) is None
    for action in ACTIONS:
        worlds.append(apply(system, worlds[-1], action))
        assert first_violation(system, worlds[-1]) is None
        assert not last_circle(system, worlds)  # the run comes to rest
'''


def _in_docstring(text: str) -> str:
    """The text as lines of a docstring that end neither the docstring nor the file's syntax."""
    shown = "".join(one if one.isprintable() else " " for one in text)
    safe = shown.replace("\\", "\\\\").replace('"', "'")
    return textwrap.fill(safe, 96, break_long_words=False, break_on_hyphens=False)
