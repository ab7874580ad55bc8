"""A lease: one of two workers may write at a time.

The granter grants the lease to who asks, and to the next one when it comes back or its holder dies.
The variant `impatient` takes the lease back when a timer runs out, and the holder does not know.
"""

from __future__ import annotations

from typing import Any

from asif.protocol import (
    CRASHED,
    Answer,
    Behaviour,
    Case,
    Deployment,
    Family,
    Lost,
    Mutant,
    Observation,
    Property,
    Received,
    Role,
    Scope,
    Send,
    SetTimer,
    Site,
    TimerFired,
    When,
)

WORKERS = ("A", "B")


def deploy(impatient: bool, _scope: Scope) -> Deployment:
    granter = Site("granter", Role.OPERATOR, None, WORKERS, WORKERS, impatient)
    workers = [
        Site(name, Role.OPERATOR, None, ("granter",), ("granter",), timers=("ask",))
        for name in WORKERS
    ]
    asks = tuple((name, "granter") for name in WORKERS)
    grants = tuple(("granter", name) for name in WORKERS)
    return Deployment(
        (granter, *workers),
        (*asks, *grants),
        frozenset(WORKERS),
        watched=frozenset(asks),
        returning=frozenset(),
    )


def boot(site: Site) -> Any:
    return () if site.name == "granter" else "idle"


def grant(site: Site, queue: tuple[str, ...]) -> Answer:
    """The next worker in the queue holds the lease."""
    if not queue:
        return queue, ()
    timer = (SetTimer("expire"),) if site.config else ()
    return queue, (Send(queue[0], "grant"), *timer)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match input_:
        case TimerFired("ask"):
            return "asking", (Send("granter", "ask"),)
        case TimerFired("work"):
            return "done", (Send("granter", "back"),)
        case Received(_, "grant"):
            return "holding", (SetTimer("work"),)
        case Received(worker, "ask"):
            return grant(site, (worker,)) if not state else ((*state, worker), ())
        case TimerFired("expire"):
            return grant(site, state[1:])
        case Received(worker, "back" | Lost()) if state[:1] == (worker,):
            return grant(site, state[1:])
        case Received(worker, Lost()):
            return tuple(one for one in state if one != worker), ()
    return state, ()


def alone(_scope: Scope, seen: Observation) -> bool:
    return len([name for name, state in seen.states if state == "holding"]) < 2


def over(_scope: Scope, seen: Observation) -> bool:
    return ("granter", ()) in seen.states


ALONE = Property("at most one worker holds the lease", When.ALWAYS, alone, nodes=True)
OVER = Property("at rest, the lease is free", When.QUIESCENT, over, nodes=True)
CASE = Case("two workers", Scope())
LEASE = Family(
    "lease",
    "A lease",
    "lease.py",
    Behaviour(
        *(deploy, boot, step),
        timers={"ask": "Until a worker asks.", "work": "The work.", "expire": "The lease."},
    ),
    properties=(ALONE, OVER),
    must_occur=(CRASHED,),
)
MUTANTS = (
    Mutant(
        "the lease is granted to everybody",
        __name__,
        "return grant(site, (worker,)) if not state else ((*state, worker), ())",
        'return (*state, worker), (Send(worker, "grant"),)',
    ),
)
IMPATIENT = LEASE.design("impatient", True, (CASE.fails(None, None),), claims={})
PROTOCOL = LEASE.design("", False, (CASE.holds(),), mutants=MUTANTS, variants=(IMPATIENT,))
