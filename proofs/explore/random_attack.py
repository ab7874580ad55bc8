"""The random attack: a Hypothesis state machine over the same worlds as everything else.

Rule of this file: the machine chooses, model.world decides.  Hypothesis shrinks what fails.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from model.core import Failures, Outcome, Property, Protocol, Scope
from model.errors import StepFailed
from model.world import (
    Action,
    System,
    World,
    apply,
    faults,
    initial,
    may_fail,
    offers,
    progress,
    violated,
)
from proofs.explore.explorer import Trace, answers

STEPS = 60
"""Actions of a run, before it is left to come to rest."""
REST = 2_000
"""Actions in which a run comes to rest; one whose timers are always set again never does."""


@dataclass(frozen=True, slots=True)
class Failure:
    """property: the one that the run violates in its last world."""

    property: Property
    trace: Trace


@dataclass(frozen=True, slots=True)
class Attack:
    """examples: runs made; actions: taken in all of them."""

    examples: int
    actions: int
    seconds: float
    failure: Failure | None


class Violated(AssertionError):
    """A property does not hold."""


@dataclass
class Tally:
    """What the runs of one attack come to; the failure of the last run that failed."""

    examples: int = 0
    actions: int = 0
    failure: Failure | None = None


def machine(
    protocol: Protocol, scopes: Scope | st.SearchStrategy[Scope], tally: Tally | None = None
) -> type[RuleBasedStateMachine]:
    """A machine that runs `protocol` in a scope (or one drawn) and checks its properties.

    Each run ends by letting the system come to rest, where completeness is checked.
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
            self._one_of(progress, data)

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
            choices = [a for site in sites for a in kind(self.system, world, site.name)]
            if choices:
                self._act(data.draw(st.sampled_from(choices)))

        def _act(self, action: Action) -> None:
            counted.actions += 1
            self.actions.append(action)
            with self._failures():
                after = apply(self.system, self.worlds[-1], action)
            self.worlds.append(after)
            broken = violated(self.system, after)
            if broken is not None:
                self._fail(broken)

        @contextmanager
        def _failures(self) -> Iterator[None]:
            """A step that fails is a violation by the run up to it."""
            try:
                yield
            except StepFailed as error:
                self._fail(answers(error))

        def _fail(self, broken: Property) -> NoReturn:
            trace = Trace(self.system, tuple(self.actions), tuple(self.worlds))
            counted.failure = Failure(broken, trace)
            raise Violated(broken.name)

        def teardown(self) -> None:
            if not hasattr(self, "system") or (
                counted.failure and counted.failure.trace.actions == tuple(self.actions)
            ):
                return
            for _ in range(REST):
                world = self.worlds[-1]
                ready = [
                    action
                    for site in self.system.deployment.sites
                    for action in progress(self.system, world, site.name)
                ]
                if not ready:
                    return
                self._act(ready[0])

    return Machine


def enlarged(protocol: Protocol) -> tuple[Scope, ...]:
    """The protocol's scopes with longer streams and one more crash, where it assumes any: too big
    to explore whole.

    Variants that hold only where their scopes say so are attacked in their own scopes.
    """
    if any(pinned.expect is Outcome.REFUTED for pinned in protocol.scopes):
        return tuple(p.scope for p in protocol.scopes if p.expect is Outcome.REFUTED)
    return tuple(
        replace(
            pinned.scope,
            inputs=tuple(
                (name, inputs._replace(length=inputs.length + 3))
                for name, inputs in pinned.scope.inputs
            ),
            crashes=pinned.scope.crashes + (protocol.assumes.failures is not Failures.NONE),
        )
        for pinned in protocol.scopes
    )


def attack(protocol: Protocol, *, examples: int, scopes: Sequence[Scope] | None = None) -> Attack:
    """Run the machine `examples` times; the same protocol always gets the same runs."""
    started = time.perf_counter()
    tally = Tally()
    chosen = st.sampled_from(list(scopes or enlarged(protocol)))
    made: type[Any] = machine(protocol, chosen, tally)
    with suppress(Violated):
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
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            ),
        )
    return Attack(tally.examples, tally.actions, time.perf_counter() - started, tally.failure)


def pytest_file(subject: str, failure: Failure) -> str:
    """A pytest module that replays the failing run; it passes once the protocol is mended.

    subject: the protocol as `asif check` takes it, a name or a file.
    """
    scope = failure.trace.system.scope
    home = failure.trace.system.protocol
    places = [i for i, s in enumerate(enlarged(home)) if s == scope]
    actions = "".join(f"    {action!r},\n" for action in failure.trace.actions)
    return f'''"""A run of {subject} that violates: {failure.property.name}.

Found by the random attack and shrunk.  It fails until the protocol is mended.
"""

from model.core import Arrival
from model.world import Crash, Deliver, Inject, Restart, System, Timeout, apply, initial, violated
from proofs.explore.random_attack import enlarged
from model.load import subject

ACTIONS = (
{actions})


def test_the_run_is_as_if_nothing_had_failed():
    protocol = subject({subject!r}).protocol
    system = System(protocol, enlarged(protocol)[{places[0]}])
    world = initial(system)
    for action in ACTIONS:
        world = apply(system, world, action)
    assert violated(system, world) is None
'''
