"""Two-phase commit as in the TLA+ specification TwoPhase: three managers of a transaction agree.

Gray and Lamport, Consensus on Transaction Commit,
https://github.com/tlaplus/Examples/blob/master/specifications/transaction_commit/TwoPhase.tla
The manifest beside it has TLC's numbers for three managers: 288 distinct states, depth 11.
A manager prepares or aborts by itself; the coordinator commits when all have prepared, and aborts
when it likes.  In the variant `early` it commits after the first one.  At rest nobody notices that:
a manager that is ordered to commit commits, even if it had aborted.  On the way there the managers
disagree, so the property looks at the states of all nodes in every world.
`asif check docs/how-to/engines/two_phase.py` holds; its variant `early` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Received, Role, Send, Site, TimerFired

MANAGERS = ("one", "two", "three")


class Manager(NamedTuple):
    """A resource manager.  voted: it has prepared, so that its message is in TwoPhase's `msgs`."""

    state: str = "working"
    voted: bool = False


class Coordinator(NamedTuple):
    state: str = "init"
    prepared: frozenset[str] = frozenset()


class Prepared(NamedTuple):
    """The sender is prepared to commit."""


class Decision(NamedTuple):
    state: str


def deploy(votes: int, _scope: asif.Scope) -> asif.Deployment:
    tm = Site("tm", Role.OPERATOR, None, MANAGERS, MANAGERS, votes, timers=("abort",))
    managers = tuple(
        Site(name, Role.OPERATOR, None, ("tm",), ("tm",), timers=("prepare", "abort"))
        for name in MANAGERS
    )
    channels = tuple(pair for name in MANAGERS for pair in (("tm", name), (name, "tm")))
    return asif.Deployment((tm, *managers), channels, frozenset())


def boot(site: Site) -> Any:
    return Coordinator() if site.name == "tm" else Manager()


def step(site: Site, state: Any, input_: Any) -> Answer:
    match state, input_:
        case Manager("working"), TimerFired("prepare"):
            return Manager("prepared", voted=True), (Send("tm", Prepared()),)
        case Manager("working"), TimerFired("abort"):
            return state._replace(state="aborted"), ()
        case Manager(), Received(_, Decision(decided)):
            return state._replace(state=decided), ()
        case Coordinator("init", prepared), Received(manager, Prepared()):
            prepared |= {manager}
            enough = len(prepared) >= site.config
            return Coordinator("init", prepared), (asif.SetTimer("commit"),) if enough else ()
        case Coordinator("init", prepared), TimerFired(timer):
            decided = "committed" if timer == "commit" else "aborted"
            sends = tuple(Send(name, Decision(decided)) for name in MANAGERS)
            return Coordinator(decided, prepared), sends
        case _:  # too late
            return state, ()


def agree(_scope: asif.Scope, seen: asif.Observation) -> bool:
    states = {state.state for _, state in seen.states if isinstance(state, Manager)}
    return not {"committed", "aborted"} <= states


SCOPE = asif.Scope(crashes=0)
THREE = asif.Case("three managers", SCOPE)
AGREE = asif.Property(
    "no manager commits while another aborts", asif.When.ALWAYS, agree, nodes=True
)
TWO_PHASE = asif.Family(
    "two_phase",
    "Two-phase commit",
    "Gray and Lamport, Consensus on Transaction Commit",
    asif.Behaviour(
        *(deploy, boot, step),
        show=lambda value: value.state if isinstance(value, Decision | Manager) else "",
        timers={
            "prepare": "Until a manager prepares.",
            "abort": "Until somebody aborts by itself.",
            "commit": "From enough votes to the decision.",
        },
    ),
    properties=(AGREE,),
    assumes=asif.Assumptions(asif.Failures.NONE),
)
EARLY = TWO_PHASE.design("early", 1, (THREE.fails(17_654, 5),))
PROTOCOL = TWO_PHASE.design(design=3, scopes=(THREE.holds(7_394),), variants=(EARLY,))
