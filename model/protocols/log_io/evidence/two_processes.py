"""Evidence about an operator that is taken for dead and is not (6.4).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from dataclasses import replace

from model.boxes.stateless import Relay
from model.core import SUSPECTED
from model.evidence import Case, Mutant, PinnedScope
from model.graph import chain
from model.parts import over_words
from model.protocol import Assumptions, Failures, Protocol
from model.protocols.log_io.design import Fencing, LogIoDesign, Processes, WriteSupport
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import DIVERGENT, FAILED, REPEATING, build
from model.protocols.log_io.evidence.shapes import BATCH, one
from model.protocols.log_io.quantities import FENCED_OFF

_NEXT = over_words(chain(("op", Relay()), ("next", Relay())), 2, "a", crashes=2)
AN_EVENT = Case("an event and one fault", one(Relay(), 1, crashes=1), scopes.REPEATABLE)
A_RELAY = Case("a relay and one fault", one(Relay(), 2, crashes=1), scopes.REPEATABLE)
A_BATCH = Case("a batch", one(BATCH, 2), scopes.DETERMINISTIC)
A_NEXT_ONE = Case(
    "a relay before another one",
    replace(_NEXT, victims=frozenset({"op", "source-reader"})),
    scopes.REPEATABLE,
)
IDEMPOTENT = WriteSupport.IDEMPOTENT


def _build(
    name: str,
    fencing: Fencing,
    found: tuple[PinnedScope, ...],
    finding: str,
    writes: WriteSupport = WriteSupport.CHECKABLE,
) -> Protocol:
    refuses = fencing in (Fencing.LOG, Fencing.LOG_AND_SYSTEMS)
    return build(
        name,
        LogIoDesign(writes=writes, processes=Processes("op", fencing)),
        found,
        finding,
        (*FAILED, SUSPECTED, *((FENCED_OFF,) if refuses else ())),
        assumes=Assumptions(Failures.ANY, suspicions=True),
    )


VARIANTS = (
    _build(
        "two-processes",
        Fencing.LOG_AND_SYSTEMS,
        (
            scopes.A_RELAY.holds(69_947, reduced=33_367),
            A_RELAY.holds(2_281),
            A_BATCH.holds(17_357),
            A_NEXT_ONE.holds(53_457, reduced=28_469),
        ),
        "The log gives an epoch to each process that restores the operator, and refuses the "
        "transactions of older ones; so do external systems with writes.  The older process stops.",
    ),
    _build(
        "two-processes-and-idempotent-writes",
        Fencing.LOG_AND_SYSTEMS,
        (A_RELAY.holds(2_190), A_BATCH.holds(17_149)),
        "The same with idempotent writes.",
        IDEMPOTENT,
    ),
    _build(
        "two-processes-without-a-rule",
        Fencing.NOTHING,
        (A_RELAY.fails(723, 7, DIVERGENT), AN_EVENT.fails(120, 7, REPEATING)),
        "An operator is taken for dead, and is not: two processes of it take the same events, and "
        "a write is executed twice.",
    ),
    _build(
        "two-processes-published",
        Fencing.INPUTS,
        (A_RELAY.fails(1_331, 8, DIVERGENT), AN_EVENT.fails(159, 8, REPEATING)),
        "By Section 3.5.1 a generation fails if its Input Set has no event any more; the write of "
        "the one that has succeeded is executed by both processes.",
    ),
    _build(
        "two-processes-with-epochs-in-the-log",
        Fencing.LOG,
        (
            A_NEXT_ONE.holds(53_457, reduced=28_469),
            A_RELAY.fails(2_460, 10, DIVERGENT),
            AN_EVENT.fails(270, 10, REPEATING),
        ),
        "An epoch that every transaction checks is enough between operators, whose events have "
        "numbers.  It is too late for a write: the older process has logged it, the newer one asks "
        "for its status and has it executed, and then the older one sends it.",
    ),
    _build(
        "two-processes-with-epochs-in-the-log-and-idempotent-writes",
        Fencing.LOG,
        (A_BATCH.holds(16_934), A_RELAY.fails(2_160, 16, DIVERGENT)),
        "One write after the other, the older process repeats the first one after the second: w1 "
        "w2 w1.",
        IDEMPOTENT,
    ),
)
PROCESSES = "model.protocols.log_io.processes"
MUTANTS = (
    Mutant(
        "the log grants a transaction of an older process",
        PROCESSES,
        "elif epoch < tables.epoch:",
        "elif False:",
        "two-processes: a relay and one fault",
    ),
    Mutant(
        "a process that restores an operator has no epoch of its own",
        PROCESSES,
        "epoch = tables.epoch + 1",
        "epoch = tables.epoch",
        "two-processes: a relay and one fault",
    ),
    Mutant(
        "an external system executes a write of an older process",
        PROCESSES,
        "if epoch < state.epoch:",
        "if False:",
        "two-processes: a relay and one fault",
    ),
    Mutant(
        "an external system does not learn of a newer process",
        PROCESSES,
        "state = state._replace(epoch=epoch)",
        "state = state._replace(epoch=0)",
        "two-processes: a relay and one fault",
    ),
)
