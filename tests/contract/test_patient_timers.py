"""Patient timers run out when nothing else is possible, or early as a fault with a budget."""

from __future__ import annotations

from typing import Any

import pytest

from model.actions import Timeout
from model.choices import enabled, quiescent
from model.core import (
    EARLY,
    Answer,
    CancelTimer,
    Effect,
    Input,
    Received,
    Scope,
    Send,
    SetTimer,
    Site,
    TimerFired,
)
from model.errors import Invalid
from model.play import Play
from model.protocol import Protocol
from model.system import System
from model.world import initial
from proofs.explore.explorer import explore
from tests.contract.words import (
    ALONE,
    ANYTHING,
    always,
    deployed,
    fails,
    holds,
    protocol,
    reachable,
    refuted,
    site,
    states_at_rest,
)
from tests.proofs.test_searches import both

EXPIRE = frozenset({"expire"})
NEVER = always("nobody has given up", lambda seen: "given up" not in dict(seen.states).values())


def early(number: int, crashes: int = 0) -> Scope:
    return Scope(crashes=crashes, early=number)


def step(site: Site, state: Any, input_: Input) -> Answer:
    """The client asks, and gives up if no answer comes; the server answers."""
    match site.name, input_:
        case "client", TimerFired("ask"):
            return state, (Send("server", "question"),)
        case "client", TimerFired():
            return "given up", ()
        case "client", Received():
            effects = (CancelTimer("expire"),) if site.config else ()
            return state if state == "given up" else "answered", effects
    return state, (Send("client", "answer"),)


def asking(*, cancels: bool = True, patient: frozenset[str] = EXPIRE) -> Protocol:
    """cancels: does an answer cancel the time-out?"""
    client = site("client", "ask", "expire", config=cancels)
    ways = "client-server server-client"
    deployment = deployed(client, site("server"), channels=ways, crashable="client")
    return protocol(deployment._replace(patient=patient, returning=frozenset()), step, NEVER)


def test_the_time_out_is_longer_than_all_that_it_waits_for() -> None:
    """Nothing asked, the question and the answer on their way, answered."""
    holds(asking(), ALONE, 4)


def test_a_time_out_that_nobody_cancels_runs_out_at_rest() -> None:
    """The question, its delivery, the answer, and then the timer."""
    found = refuted(asking(cancels=False), ALONE, 4)
    assert found.actions[-1] == Timeout("client", "expire")


def test_a_hasty_timer_runs_out_at_once() -> None:
    """As every timer whose kind is not patient."""
    refuted(asking(patient=frozenset()), ALONE, 1)


def test_an_early_one_is_a_fault_of_the_scope() -> None:
    """In each of the 3 worlds before the answer; then 3 worlds more go on without the timer, and
    the answer comes too late.  With a budget that nobody uses the 4 worlds are others."""
    found = refuted(asking(), early(1), 1)
    assert found.actions == (Timeout("client", "expire", early=True),)
    tried = asking().vary(properties=asking().promise.properties[:0])
    assert both(tried, early(1)).states == 4 + 3 + 1
    assert both(tried, early(1)).notes[EARLY.name] >= 1


@pytest.mark.parametrize(("budget", "most"), [(0, 0), (1, 1), (2, 2), (3, 2)])
def test_the_budget_is_exact(budget: int, most: int) -> None:
    """Two patient timers, and a hasty one that always sets itself again."""

    def beat(_site: Site, state: int, input_: Input) -> Answer:
        return (
            (1 - state % 2 + state // 2 * 2, (SetTimer("beat"),))
            if input_ == TimerFired("beat")
            else (state + 2, ())
        )

    timers = ("beat", "expire:1", "expire:2")
    tried = protocol(deployed(site("a", *timers), patient=EXPIRE), beat)
    worlds = reachable(System(tried, early(budget)))
    assert {world.nodes[0].state // 2 for world in worlds} == {*range(most + 1)}
    assert {world.early for world in worlds} == {budget - used for used in range(most + 1)}
    # 2 states of the beat; of the patient timers any subset has run out, of this size at most
    assert len(worlds) == 2 * sum((1, 2, 1)[: most + 1])
    found = both(tried.vary(properties=()), early(budget), limit=1_000)
    assert (found.states, found.quiescent) == (len(worlds), 0)


def test_an_early_one_may_be_cut_by_a_crash_and_uses_both_budgets() -> None:
    """The client sends twice as it gives up."""

    def twice(_site: Site, state: Any, input_: Input) -> Answer:
        gives_up = isinstance(input_, TimerFired)
        return state, (Send("server", 1), Send("server", 2)) if gives_up else ()

    deployment = deployed(
        site("client", "expire"), site("server", "work"), channels="client-server"
    )
    tried = protocol(
        deployment._replace(patient=EXPIRE, crashable=frozenset({"client"})),
        lambda site, *rest: twice(site, *rest) if site.name == "client" else (0, ()),
    )
    system = System(tried, early(1, crashes=1))
    world = initial(system)
    cut = Timeout("client", "expire", crash_after=1, early=True)
    offered = [a for a in enabled(system, world) if isinstance(a, Timeout) and a.node == "client"]
    assert offered == [cut._replace(crash_after=None), cut]
    play = Play(tried, early(1, crashes=1))
    play.do(cut)
    assert (play.world.crashes, play.world.early) == (0, 0)
    assert play.channel("client", "server") == (1,)
    assert both(tried, early(1, crashes=1)).states == len(reachable(system))


def test_a_crash_may_fall_within_the_step_of_a_patient_timer() -> None:
    """Only where nothing else is possible: not while `work` is set.  The timer runs out whole, or
    is cut between its two messages."""

    def twice(site: Site, state: Any, input_: Input) -> Answer:
        fires = isinstance(input_, TimerFired) and site.name == "a"
        return state, (Send("b", 1), Send("b", 2)) if fires else ()

    sites = deployed(site("a", "expire"), site("b", "work"), channels="a-b", crashable="a")
    tried = protocol(sites._replace(patient=EXPIRE, returning=frozenset()), twice)
    system = System(tried, Scope())
    for world in reachable(system):
        steps = [a for a in enabled(system, world) if isinstance(a, Timeout) and a.node == "a"]
        idle = not world.nodes[1].timers and not any(world.channels) and world.nodes[0].timers
        whole = [Timeout("a", "expire")] if idle else []
        cut = [Timeout("a", "expire", crash_after=1)] if idle and world.crashes else []
        assert steps == whole + cut
    assert both(tried, Scope()).states == len(reachable(system))


def test_a_world_with_a_patient_timer_is_not_at_rest() -> None:
    system = System(asking(cancels=False), ALONE)
    waiting = [w for w in reachable(system) if w.nodes[0][:1] == ("answered",)]
    assert [quiescent(system, world) for world in waiting] == [False]


# --- timers of prompt sites --------------------------------------------------------------------
def broker(effects: tuple[Effect, ...], patient: frozenset[str] = EXPIRE) -> Protocol:
    """A broker that expires a transaction which its client does not end in time."""

    def serve(site: Site, state: Any, input_: Input) -> Answer:
        match site.name, input_:
            case "client", TimerFired(message):
                return message, (Send("broker", message), *_then(message))
            case "broker", Received(_, "begin"):
                return "open", effects
            case "broker", Received(_, "commit"):
                committed = "committed" if state == "open" else state
                return committed, (CancelTimer("expire:client"),)
            case "broker", TimerFired():
                return "aborted", ()
        return state, ()

    def _then(message: str) -> tuple[Effect, ...]:
        return (SetTimer("commit"),) if message == "begin" else ()

    deployment = deployed(site("client", "begin"), site("broker"), channels="client-broker")
    kept = always("nothing is aborted", lambda seen: dict(seen.states)["broker"] != "aborted")
    return protocol(deployment._replace(prompt=frozenset({"broker"}), patient=patient), serve, kept)


def test_a_broker_expires_what_nobody_commits() -> None:
    """Nothing, begun, committed; an early time-out comes between begin and commit."""
    sets = (SetTimer("expire:client"),)
    holds(broker(sets), ALONE, 3)
    found = refuted(broker(sets), early(1), 2)
    assert found.actions[-1] == Timeout("broker", "expire:client", early=True)
    assert states_at_rest(broker(sets), early(1), "broker") == {"committed", "aborted"}


@pytest.mark.parametrize("effect", [SetTimer("other"), CancelTimer("other")])
def test_a_broker_has_patient_timers_alone(effect: Effect) -> None:
    name = type(effect).__name__
    why = f"has a {name} among its effects: a prompt site sets patient timers only"
    fails(broker((effect,)), ALONE, f"broker, str from client: {why}")


def test_to_cancel_a_timer_that_is_not_set_changes_nothing() -> None:
    """The worlds of a timer that runs out."""
    holds(protocol(deployed(site("a", "go")), lambda *_: (0, (CancelTimer("no"),))), ALONE, 2)


def test_to_cancel_one_timer_leaves_the_others() -> None:
    """Whichever runs out first, the other one runs out next: both set, one, the other, none."""
    cancels = (CancelTimer("no"),)
    holds(protocol(deployed(site("a", "go", "on")), lambda *_: (0, cancels)), ALONE, 4)


# --- wrong words -------------------------------------------------------------------------------
ODD: Any = None
BAD: dict[str, tuple[Any, Scope, str]] = {
    "a budget below 0": (asking(), early(-1), "scope: early -1; give 0 or more"),
    "no number": (asking(), early(ODD), "scope: early None; give a whole number, 0 or more"),
    "no patient timer": (
        *(asking(patient=frozenset()), early(1)),
        "scope: early 1, and words has no patient timers",
    ),
    "a text": (
        *(asking(patient="expire"), ALONE),  # type: ignore[arg-type]
        "words: deploy gives patient timers 'expire'; give a frozenset of kinds",
    ),
    "a timer with its key": (
        *(asking(patient=frozenset({"expire:1"})), ALONE),
        "words: deploy gives patient timers 'expire:1'; give the kind alone, 'expire'",
    ),
    "a kind that the behaviour does not have": (
        *(asking(patient=frozenset({"expiry"})).vary(timers={"ask": "-", "expire": "-"}), ALONE),
        "deploy gives patient timers 'expiry', of which its behaviour has none; did you mean "
        "'expire'?",
    ),
    "a prompt site with a hasty timer": (
        *(broker((), patient=frozenset()), ALONE),
        "",
    ),
}


@pytest.mark.parametrize(("tried", "scope", "line"), BAD.values(), ids=BAD)
def test_a_wrong_word_is_one_line(tried: Protocol, scope: Scope, line: str) -> None:
    if not line:
        deployment = tried.deploy(scope)
        sites = tuple(one._replace(timers=("beat",)) for one in deployment.sites)
        tried = tried.vary(deploy=lambda *_: deployment._replace(sites=sites))
        line = "a prompt site 'broker' with a timer 'beat'; its timers must be patient"
    with pytest.raises(Invalid) as raised:
        System(tried, scope)
    assert line in str(raised.value)


def test_a_kind_that_nobody_sets_is_reported() -> None:
    """Its timer would run out at once, in silence."""
    slip = asking(patient=frozenset({"expiry"})).vary(properties=(ANYTHING,))
    assert both(slip, ALONE).vacuous == (
        "patient timers: nobody set one of the kind 'expiry'; did you mean 'expire'?",
    )
    assert explore(slip.vary(timers={"expiry": "-"}), ALONE).vacuous == ()
