"""The culprit of every run that is refuted: each claim of it is found again by other means."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.actions import Action, Crash, Deliver, Disturb, Disturbance, Inject
from model.boxes.box import bodies
from model.boxes.stateless import Relay
from model.choices import enabled, quiescent
from model.core import (
    Answer,
    Arrival,
    Deployment,
    Emit,
    Guarantee,
    Input,
    Link,
    Property,
    Received,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    When,
)
from model.events import Body
from model.evidence import Outcome, PinnedScope
from model.family import Family
from model.graph import chain
from model.observations import first_violation, observe
from model.oracle import by_edge
from model.parts import deploy_graph, over_words
from model.properties import COMPLETE, allowed_outputs
from model.protocol import Assumptions, Behaviour, Failures, Protocol
from model.registry import Subject, protocols, subject
from model.results.attack import AttackResult
from model.results.culprit import Culprit, CulpritKind
from model.results.plain import plain, read
from model.results.story import Story
from model.system import System
from model.world import World, apply, initial
from proofs.explore.culprit.decided import find_decided
from proofs.explore.culprit.find import find_culprit
from proofs.explore.culprit.inside import failed_step
from proofs.explore.explorer import Counterexample, Trace, explore
from proofs.explore.moment_words import show_output
from proofs.explore.random_attack import pytest_file
from proofs.explore.shrinker import replay
from proofs.explore.story import story
from proofs.explore.tasks import Done, Task, TaskKind, perform_on
from proofs.explore.verdict import verdicts
from tests.sizes import smallest

AMNESIA = protocols()["amnesia"]
SMALL, TINY = 3_000, 300
"""Scopes with as many worlds are explored here; and their continuations are followed one by one."""
ENGINES = Path("docs/how-to/engines")


def refuted_scopes(most: int) -> Iterator[tuple[str, PinnedScope]]:
    """The quick scopes that are refuted, up to this number of worlds, by protocol."""
    for name, protocol in protocols().items():
        for pinned in protocol.evidence.scopes:
            if pinned.expect is Outcome.REFUTED and pinned.quick and 0 < pinned.worlds <= most:
                yield name, pinned


def sample() -> list[tuple[str, PinnedScope]]:
    """The smallest refuted scope of each family, and of each variant with few worlds."""
    found = sorted(refuted_scopes(SMALL), key=lambda one: one[1].worlds)
    chosen = (*smallest(found).values(), *found[:25])
    return [*{name: (name, pinned) for name, pinned in chosen}.values()]


def shown(protocol: Protocol, pinned: PinnedScope) -> tuple[Counterexample, Story, Culprit]:
    found = explore(protocol, pinned.scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    shown_run = story(found.trace, found.circle)
    return found, shown_run, find_culprit(found, shown_run)


def ids(cases: list[tuple[str, PinnedScope]]) -> list[str]:
    return [f"{name}, {pinned.name}" for name, pinned in cases]


@pytest.mark.parametrize(("name", "pinned"), sample(), ids=ids(sample()))
def test_each_claim_about_a_run_is_true(name: str, pinned: PinnedScope) -> None:
    check_claims(*shown(protocols()[name], pinned))


@pytest.mark.exhaustive  # the sample above is of every family
@pytest.mark.parametrize(("name", "pinned"), [*refuted_scopes(10**9)])
def test_each_claim_about_every_run_is_true(name: str, pinned: PinnedScope) -> None:
    check_claims(*shown(protocols()[name], pinned))


def check_claims(found: Counterexample, shown_run: Story, culprit: Culprit) -> None:
    assert culprit.says.endswith(".")
    assert "Body(" not in culprit.says.replace(culprit.result, "")
    assert read(Culprit, plain(culprit)) == culprit
    pointed = [shown_run.moments[moment].emits[emit] for moment, emit in culprit.wrong]
    match culprit.kind:
        case CulpritKind.MISSING | CulpritKind.STUCK if culprit.result:
            check_missing(found, culprit)
            assert culprit.result in culprit.says
        case CulpritKind.TWICE | CulpritKind.MADE_UP | CulpritKind.COUNTED_TWICE:
            assert pointed
            assert {*pointed} == {culprit.result}
            check_surplus(found, culprit)
        case CulpritKind.OUT_OF_ORDER:
            assert pointed == [culprit.result]
        case CulpritKind.STUCK:
            assert found.circle
        case kind:
            assert kind in (CulpritKind.STATE, CulpritKind.FAILED_STEP)
    if culprit.lost is not None:
        check_lost(shown_run, culprit)
    if culprit.decided is not None:
        assert 0 <= culprit.decided < len(shown_run.moments)


def label_counts(found: Counterexample) -> Iterator[tuple[Counter[str], list[Counter[str]]]]:
    """For each edge of a sink: how often each result was observed, and each allowed output has
    it."""
    system, world = found.trace.system, found.trace.worlds[-1]
    graph = system.scope.graph
    sinks = [name for name in system.sink_at if name in dict(graph.nodes)]
    ends = [(name, edge) for name in sinks for edge in range(len(graph.preds(name)))]

    def labels(name: str, edge: int, some: Iterable[Body]) -> Counter[str]:
        site = system.sites[name]
        return Counter(show_output(system.protocol, site, (edge, one)) for one in some)

    for at, (name, edge) in enumerate(ends):
        observed = by_edge(world.outputs[system.sink_at[name]], edge + 1)[edge]
        allowed = allowed_outputs(system.scope, observe(world).arrivals)
        expected = [labels(name, edge, bodies(outs[at])) for outs in allowed]
        yield labels(name, edge, observed), expected


def check_missing(found: Counterexample, culprit: Culprit) -> None:
    """Some allowed output has the result more often than the run."""
    result = culprit.result
    assert any(
        one[result] > observed[result]
        for observed, allowed in label_counts(found)
        for one in allowed
    )
    if found.property.when is When.QUIESCENT:
        assert quiescent(found.trace.system, found.trace.worlds[-1])


def check_surplus(found: Counterexample, culprit: Culprit) -> None:
    """Some allowed output has the result less often than the run; a made-up one, not at all."""
    result, expected = culprit.result, culprit.kind is CulpritKind.TWICE
    assert any(
        observed[result] > one[result] and bool(one[result]) == expected
        for observed, allowed in label_counts(found)
        for one in allowed
    )


def check_lost(shown_run: Story, culprit: Culprit) -> None:
    """The moment is one in which something goes."""
    assert culprit.lost is not None
    moment = shown_run.moments[culprit.lost.moment]
    fault = moment.down or moment.kind.value == "disturb" or any(one.lost for one in moment.sends)
    assert fault or culprit.lost.moment == culprit.decided
    assert culprit.lost.node in shown_run.lanes


# --- the moment that decides ---------------------------------------------------------------------
def begins(some: tuple[Arrival, ...], whole: tuple[Arrival, ...]) -> bool:
    return some == whole[: len(some)]


def is_right(trace: Trace, start: World) -> bool:
    """Does some continuation with the events of the run come to rest with all properties kept?

    With model.choices and model.world alone.
    """
    system, arrivals = trace.system, trace.worlds[-1].arrivals
    seen, waiting = {start}, [start]
    while waiting:
        world = waiting.pop()
        if first_violation(system, world) is not None:
            continue
        kept = [
            (action, after)
            for action in enabled(system, world)
            for after in [apply(system, world, action)]
            if all(map(begins, after.arrivals, arrivals))
        ]
        if quiescent(system, world) and not any(
            isinstance(action, Inject) and action.crash_after is None for action, _ in kept
        ):
            return True
        waiting += [one for _, one in kept if one not in seen]
        seen |= {one for _, one in kept}
    return False


@pytest.mark.parametrize(
    ("name", "pinned"), [*refuted_scopes(TINY)], ids=ids([*refuted_scopes(TINY)])
)
def test_the_moment_that_decides_is_the_first_one(name: str, pinned: PinnedScope) -> None:
    trace = shown(protocols()[name], pinned)[0].trace
    right = [is_right(trace, world) for world in trace.worlds]
    assert find_decided(trace, 10**6) == (right.index(False) if False in right else None)
    assert right == sorted(right, reverse=True), "nobody gets right again"


def test_a_run_has_the_same_culprit_however_many_are_checked() -> None:
    """With the moment that decides it."""
    names = ["amnesia", "two-phase-sink:commit-first"]
    many = [one.shortest for one in verdicts(names, walks=0, examples=0)]
    alone = [one.shortest for name in names for one in verdicts([name], walks=0, examples=0)]
    culprits = [one and one.culprit for one in many]
    assert culprits == [one and one.culprit for one in alone]
    assert all(one and one.decided is not None for one in culprits)


def test_a_budget_that_is_too_small_decides_nothing() -> None:
    name, pinned = next(refuted_scopes(SMALL))
    trace = shown(protocols()[name], pinned)[0].trace
    assert find_decided(trace, 0) is None
    assert find_decided(trace, 10**6) is not None


# --- sentences ---------------------------------------------------------------------------------
SENTENCES = {
    "amnesia, a pattern": (
        "match@2(a@1 b@2) never comes: it is made of a@1 (step 1) and b@2 (step 2); the last copy "
        "of a@1 was on its way to A, which crashed in step 3.  After that, no continuation is "
        "right."
    ),
    "cec:catch-up-live, catching up": (
        "a (2,) @2 never comes: it is made of a@2 (step 2); source and agg still hold a@2, and no "
        "message or timer is left that moves it.  After step 11 "
    ),
    "log-io:writes-before-outputs, a reader of writes": (
        "unseen@1 comes at sink in step 7: no run without failures has it."
    ),
    "cec:published, windows of one key by time": (
        "a 0 1 @2 comes in step 12: as if a@1 (step 1) or a@1 (step 2) had not come.  After step 4 "
    ),
    "log-io:ports-in-turn, two ports and two functions": (
        "one@1(value=('b',)) comes in step 5, before one@1(value=('a',)) (step 9), which belongs "
        "first.  After step 7 "
    ),
    "log-io:scale-up-published, a key": "b@2 comes in step 15 before b@1, which belongs first.",
    "log-io:replay-of-whole-sets, two receivers": (
        "a@1 comes twice at near, in steps 5 and 11, and is expected once.  After step 8 "
    ),
    "progressive:number-a-sender, no crash, two shares": "after step 12 (",
    "arroyo_1099:reported, one event": (
        "a@1 (step 1) never comes: writer crashed in step 4, and nothing makes up for that; source "
        "and broker still hold a@1, and no message or timer is left that moves it.  After that, no "
        "continuation is right."
    ),
    "arroyo_1099:stops, one event": (
        "steps 5 to 7 repeat without end, and writer, controller and broker never come to rest: "
    ),
    "kafka_20685:reported, a pair, two crashes": (
        "match@1(a@1) comes in step 11: as if a@1 (step 3) had come twice.  After step 6 "
    ),
    "kip_890:reported, one event": (
        "a@1 comes twice, in step 11, and is expected once.  After step 4 "
    ),
    "pulsar_5218:reported, one message, one lost": (
        "a@1 (step 1) never comes: the link from broker to ledger lost a message in step 3, and "
        "nothing makes up for that.  After that, no continuation is right."
    ),
    "two-phase-sink:commit-first, one event": (
        "a@1 comes twice, in steps 4 and 11, and is expected once.  After step 4 "
    ),
}
KINDS = {
    "cec:catch-up-live, catching up": CulpritKind.STUCK,
    "cec:published, windows of one key by time": CulpritKind.MADE_UP,
    "kafka_20685:reported, a pair, two crashes": CulpritKind.COUNTED_TWICE,
    "log-io:scale-up-published, a key": CulpritKind.OUT_OF_ORDER,
    "progressive:number-a-sender, no crash, two shares": CulpritKind.STATE,
    "arroyo_1099:stops, one event": CulpritKind.STUCK,
}


@pytest.mark.parametrize(("case", "says"), SENTENCES.items(), ids=[*SENTENCES])
def test_the_sentence(case: str, says: str) -> None:
    """How it begins, of each kind; words for messages are the story's.  Of engines the reported
    bug."""
    called, _, scope = case.partition(", ")
    file, colon, variant = called.partition(":")
    path = ENGINES / f"{file}.py"
    protocol = subject(f"{path}{colon}{variant}" if path.exists() else called).protocol
    pinned = next(one for one in protocol.evidence.scopes if one.name == scope)
    found, shown_run, culprit = shown(protocol, pinned)
    check_claims(found, shown_run, culprit)
    assert culprit.says.startswith(says)
    assert culprit.kind is KINDS.get(case, culprit.kind)


def test_a_node_that_buffers_too_much_is_named() -> None:
    protocol = protocols()["progressive:number-a-sender"]
    culprit = shown(protocol, next(one for one in protocol.evidence.scopes if one.steps == 12))[2]
    assert culprit.says.endswith(
        "at rest: source buffers 2, and a restart needs 0.  No run with these events is right."
    )


# --- the places where copies go ------------------------------------------------------------------
def relaying(*, keeps: bool = False, returns: bool = True) -> System:
    """A source that forgets at once, a relay (which may save its event), and a sink."""

    def deploy(_: None, scope: Scope) -> Deployment:
        ends = ("source", "relay")
        return deploy_graph(scope.graph)._replace(
            returning=None if returns else frozenset(), links={ends: Link(lossy=True)}
        )

    def step(site: Site, state: Any, input_: Input) -> Answer:
        match site.role, input_:
            case Role.SOURCE, Arrival(gap, type_, _):
                return 0, (Send("relay", Body(gap, type_)),)
            case Role.OPERATOR, Received(_, body) if keeps:
                return body, (Save(body), SetTimer("idle"))
            case Role.OPERATOR, Received(_, body):
                return 0, (SetTimer("idle"), Send("sink", body))
            case Role.SINK, Received(_, body):
                return 0, (Emit((0, body)),)
        return 0, ()

    behaviour = Behaviour(deploy, lambda _: 0, step)
    family = Family("relaying", "", "", behaviour, assumes=Assumptions(Failures.ANY))
    scope = over_words(chain(("relay", Relay())), 1, "a", crashes=1, disturbances=1)
    return System(family.design(properties=(COMPLETE,)), scope)


COMES, TAKEN = Inject("source", Arrival(1, "a")), Deliver("relay", "source")
LOSSES: dict[str, tuple[System, tuple[Action, ...], str, int | None]] = {
    "cut": (
        relaying(),
        (COMES, TAKEN._replace(crash_after=1)),
        "relay held the last copy of a@1 and crashed in step 2, before it sent it",
        1,
    ),
    "receiver": (
        relaying(),
        (COMES, Crash("relay")),
        "the last copy of a@1 was on its way to relay, which crashed in step 2",
        1,
    ),
    "sender": (
        relaying(),
        (COMES, TAKEN, Crash("relay", drops_sent=True)),
        "the last copy of a@1 was on its way from relay, and a crash of relay lost it in step 3",
        2,
    ),
    "down": (
        relaying(),
        (Crash("relay"), COMES),
        "source sent the last copy of a@1 in step 2 to relay, which was down",
        1,
    ),
    "link": (
        relaying(),
        (COMES, Disturb("relay", "source", Disturbance.LOSE)),
        "the link from source to relay lost the last copy of a@1 in step 2",
        1,
    ),
    "holder": (
        relaying(keeps=True),
        (COMES, TAKEN),
        "relay still holds a@1, and no message or timer is left that moves it",
        None,
    ),
    "never back": (
        relaying(keeps=True, returns=False),
        (COMES, TAKEN._replace(crash_after=1)),
        "relay saved a@1, and never restarts",
        None,
    ),
}


@pytest.mark.parametrize(("system", "actions", "why", "lost"), LOSSES.values(), ids=[*LOSSES])
def test_the_last_copy_is_followed(
    system: System, actions: tuple[Action, ...], why: str, lost: int | None
) -> None:
    """Whether or not the deciding moment is known."""
    found = replay(system, actions, 40)
    assert found is not None
    assert found.trace.actions[: len(actions)] == actions
    shown_run = story(found.trace)
    for budget in (0, 10_000):
        culprit = find_culprit(found, shown_run, budget)
        assert culprit.says.startswith(f"a@1 (step {actions.index(COMES) + 1}) never comes: {why}")
        assert (culprit.lost and culprit.lost.moment) == lost
        assert culprit.kind is (CulpritKind.STUCK if lost is None else CulpritKind.MISSING)


# --- other runs --------------------------------------------------------------------------------
def test_a_step_that_fails_is_named() -> None:
    """With its input and the reason; at boot there is no step."""

    def step(site: Site, state: Any, input_: Input) -> Any:
        if site.role is Role.OPERATOR:
            return "no answer"
        return behaviour.step(site, state, input_)

    def boot(site: Site) -> Any:
        raise ValueError("no")

    protocol = subject("docs/examples/forgetful.py").protocol
    behaviour, scope = protocol.behaviour, protocol.evidence.scopes[0].scope
    found = explore(protocol.vary(step=step), scope).counterexample
    assert found is not None
    culprit = find_culprit(found, story(found.trace))
    assert culprit.kind is CulpritKind.FAILED_STEP
    assert culprit.says.startswith("relay fails in step 2 (Event from source): returns 'no answer'")
    at_once = explore(protocol.vary(boot=boot), scope).counterexample
    assert at_once is not None
    says = find_culprit(at_once, story(at_once.trace)).says
    assert says.startswith("source fails at its start: ValueError: no")


def test_a_step_that_fails_only_once_is_still_a_failed_step() -> None:
    protocol = subject("docs/examples/forgetful.py").protocol
    right = System(protocol, protocol.evidence.scopes[0].scope)
    world = initial(right)
    action = next(iter(enabled(right, world)))
    culprit = failed_step(Trace(right, (action,), (world,)))
    assert culprit.kind is CulpritKind.FAILED_STEP
    assert culprit.says == "a node fails in step 1, and not if it is asked again."
    assert failed_step(Trace(right, (), ())).says.startswith("a node fails at its start, and not")


@pytest.mark.parametrize("walks_", [200, pytest.param(0, marks=pytest.mark.slow)])
def test_the_run_of_an_attack_has_a_culprit_and_a_test_that_names_it(walks_: int) -> None:
    protocol = subject("docs/examples/forgetful.py").protocol
    task = Task("docs/examples/forgetful.py", TaskKind.ATTACK, "", 0, walks_, 100)
    done = perform_on(Subject(protocol, home=""), task)
    assert isinstance(done, Done)
    row = done.row
    assert isinstance(row, AttackResult)
    assert row.failure is not None
    assert row.failure.culprit is not None
    assert row.failure.culprit.kind is CulpritKind.TWICE
    docstring = ast.get_docstring(ast.parse(row.failure.pytest)) or ""
    assert " ".join(row.failure.culprit.says.split()) in " ".join(docstring.split())


@given(st.text(), st.text(), st.text())
def test_no_name_ends_the_docstring_of_the_test(says: str, law: str, called: str) -> None:
    trace = Trace(System(AMNESIA, AMNESIA.evidence.scopes[0].scope), (), ())
    found = Counterexample(Property(law, When.ALWAYS, lambda *_: True), trace)
    docstring, *rest = ast.parse(pytest_file(called, found, says)).body
    assert isinstance(docstring, ast.Expr)
    assert [type(one) for one in rest] == [ast.ImportFrom] * 9 + [ast.Assign, ast.FunctionDef]
