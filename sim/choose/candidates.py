"""Candidates: the protocols that can run the scenario of a workload, with all that is known
before any run: the verified guarantee, the ends, and the fixed terms of a recovery.

Rule of this file: no simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from model.core import Deployment, Guarantee, OperatorClass, Scope
from model.errors import Invalid
from model.outages import FROM_CHECKPOINT, OutageTerms, Since
from model.protocol import Protocol
from model.registry import protocols
from model.results.choice import ChoiceProtocol, FixedTerm
from model.system import System
from sim.choose.verified import (
    AskedEvidence,
    class_of,
    counterexamples,
    knob_variants,
    verified,
)
from sim.choose.workload import CLASSES, WORDS, ChoiceWorkload, duties_of_ends
from sim.closed_form import RecoveryTerms, applied
from sim.scenarios.complaints import Complaint
from sim.scenarios.overrides import Override
from sim.scenarios.scenario import Draft, Scenario, check_draft
from sim.scenarios.tables import RandomStream, ScenarioFile
from sim.timed.costs import PS, Costs, StateCosts
from sim.timed.failures import FailureTable

PROTOCOL = ("protocol",)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A protocol with its scenario.  timer: its interval, "" if it has none.  crossed_out: why the
    protocol will not do; empty if it may.  writing_s: the least time from the beginning of a
    checkpoint until its states are stored or shipped."""

    known: ChoiceProtocol
    scenario: Scenario
    draft: Draft
    asked: AskedEvidence
    writing_s: float = 0.0

    @property
    def name(self) -> str:
        return self.known.name

    def terms(self, interval_s: float | None, busy: float) -> RecoveryTerms:
        """The terms of the longest recovery: the crash comes just before the next checkpoint is
        complete, so that the last complete one is as old as the interval and the writing.  The
        next one begins when the one before is written, or later."""
        by_name = {term.name: term.seconds for term in self.known.fixed}
        possible = RecoveryTerms(
            by_name.get(DETECTION, 0.0),
            by_name.get(RESTART, 0.0),
            by_name.get(READ, 0.0),
            max(interval_s or 0.0, self.writing_s) + self.writing_s,
            busy,
        )
        return applied(possible, outage_of(self.scenario.protocol))

    def longest_interval_s(self, recovery_s: float, busy: float) -> float | None:
        """The longest interval whose recoveries last no longer, by the formula; None: none is
        short enough, or the node has nothing to do again."""
        if not busy:
            return None
        outage_s = self.terms(None, busy).outage_s
        behind = (recovery_s - outage_s) * (1 - busy) / busy
        left = behind - outage_s - self.writing_s
        return left if left > self.writing_s else None

    def setting(self, interval_s: float | None) -> tuple[Override, ...]:
        """The overrides of the scenario for this interval: on the clock if the scenario or the
        family has its timer there, otherwise after the first change."""
        found = (Override(PROTOCOL, self.name),)
        if interval_s is None:
            return found
        timer = self.known.timer
        known = self.scenario.costs.timers.get(timer)
        clocked = timer in self.scenario.protocol.behaviour.clocked
        if known is not None:
            clocked = known.every_s is not None
        kind = "every_s" if clocked else "after_s"
        return (*found, Override(("costs", "timers", timer), {kind: interval_s}))


DETECTION, RESTART, READ = "detection", "restart", "reading the state back"


class Candidates(NamedTuple):
    """found: in the order of the workload.  refused: why others cannot run the scenario."""

    found: tuple[Candidate, ...]
    refused: Mapping[str, str]


def candidates(workload: ChoiceWorkload) -> Candidates:
    """The protocols of the workload and their knobs with pins.  Raises Invalid if the failures of
    the scenario are no rates, or no protocol can run it."""
    found, refused = [], {}
    errors: list[Invalid] = []
    for family, protocol in _asked(workload):
        draft = workload.base.override([Override(PROTOCOL, protocol.name)])
        try:
            scenario = check_draft(draft)
        except Invalid as error:
            refused[protocol.name] = error.why if isinstance(error, Complaint) else str(error)
            errors.append(error)
            continue
        _check_rates(scenario, draft)
        found.append(_candidate(workload, family, protocol, scenario, draft))
    if not found:
        raise errors[0]
    return Candidates(tuple(found), refused)


def _asked(workload: ChoiceWorkload) -> Iterator[tuple[Protocol, Protocol]]:
    """(the family's own protocol, the protocol)"""
    known = protocols()
    done: set[str] = set()
    for name in workload.names:
        family = known[name.partition(":")[0]]
        turned = knob_variants(family) if known[name] is family and workload.search.knobs else ()
        for one in (known[name], *turned):
            if one.name not in done:
                done.add(one.name)
                yield family, one


def _candidate(
    workload: ChoiceWorkload, family: Protocol, protocol: Protocol, scenario: Scenario, draft: Draft
) -> Candidate:
    system = System(protocol, Scope(scenario.workload.graph, (), 0))
    together = any(_overlaps(one, system.deployment) for one in scenario.failures)
    wanted = workload.target.operators
    operators = class_of(scenario.workload.graph) if wanted is None else CLASSES[wanted]
    asked = AskedEvidence(operators, together)
    found = verified(protocol, family, asked)
    file = draft.for_its_protocol().table(ScenarioFile)
    keys = _keys(file)
    fixed = _largest([_fixed(scenario, one, system, keys) for one in scenario.failures])
    known = ChoiceProtocol(
        name=protocol.name,
        verified=found,
        needs=duties_of_ends(protocol.behaviour.ends(protocol.design)),
        crossed_out=_crossed_out(workload, protocol, found.guarantee, found.why, operators),
        counterexamples=counterexamples(protocol, family),
        timer=protocol.behaviour.interval,
        fixed=fixed,
        longest_interval_s=None,
        settings=(),
        best=None,
    )
    writing = [_writing_s(scenario, one, system, keys) for one in scenario.failures]
    return Candidate(known, scenario, draft, asked, max(writing, default=0.0))


def _crossed_out(
    workload: ChoiceWorkload,
    protocol: Protocol,
    found: Guarantee | None,
    why: str,
    operators: OperatorClass,
) -> str:
    wanted = WORDS[workload.target.guarantee]
    if found is None:
        return f"not verified: {why}"
    if found > wanted:
        by = f" ({why})" if why else ""
        return f"verified as {found.word} for {operators.word} operators, not {wanted.word}{by}"
    return workload.ends.lacks(protocol.behaviour.ends(protocol.design))


def _overlaps(failure: FailureTable, deployment: Deployment) -> bool:
    """Does the failure take several faults, or one during a recovery?"""
    if failure.again_after_s is not None:
        return True
    nodes = set(failure.nodes)
    return len(nodes) > 1 and not any(nodes <= group.members for group in deployment.together)


def _check_rates(scenario: Scenario, draft: Draft) -> None:
    if not scenario.failures:
        raise draft.wrong((), "asif choose needs [[failures]] with mean_between_s; here is none")
    for number, failure in enumerate(scenario.failures):
        if failure.mean_between_s is None:
            raise draft.wrong(
                ("failures", number),
                f"failures[{number + 1}] has no mean_between_s; asif choose goes by rates",
            )


# --- the fixed terms -------------------------------------------------------------------------
def _fixed(
    scenario: Scenario, failure: FailureTable, system: System, keys: int
) -> tuple[FixedTerm, ...]:
    """The terms of a recovery that no interval changes, at their longest.

    A family states which of them it has (model.outages).
    """
    detector = scenario.detector
    leads = not system.deployment.leaders.isdisjoint(failure.nodes)
    detected, back = detector.outage(0, failure.kind or "process", leads=leads)
    key = detector.detecting_key(failure.kind or "process", leads=leads)
    detection = FixedTerm(DETECTION, key, detected / PS)
    outage = outage_of(scenario.protocol)
    read = FixedTerm(READ, "costs.state", _read_s(scenario.costs, failure, system, keys))
    reads = (read,) if outage.read and read.seconds else ()
    if not outage.restart:
        return (detection, *reads)
    own = failure.restart_s or failure.restart_quantiles_s
    restart = FixedTerm(
        RESTART,
        "failures.restart_s" if own else "detector.restart_s",
        max(own, default=(back - detected) / PS),
    )
    return (detection, restart, *reads)


def _read_s(costs: Costs, failure: FailureTable, system: System, keys: int) -> float:
    """The least time in which the states of the nodes are read: of their fixed parts and of all
    keys.  Open windows come on top: only a run knows them.  Each node reads its local ones from its
    own disk, beside the others."""
    prices = _prices(costs, failure, system)
    sizes = [(price.bytes + price.key_bytes * keys, price.local) for price in prices]
    own = next((costs.stores[name] for name in costs.stores), None)
    local = [size for size, is_local in sizes if is_local and own is not None]
    size = sum(size for size, _ in sizes) - sum(local)
    found = [costs.read_ps(one) / PS for one in local if one]
    if size and own is None:
        found.append(costs.read_ps(size) / PS)
    elif size and own is not None:
        found.append(own.read_s + size / (own.bandwidth_bytes_per_s or inf))
    return max(found, default=0.0)


def _writing_s(scenario: Scenario, failure: FailureTable, system: System, keys: int) -> float:
    """The least time in which a checkpoint has the states of the nodes, without their open windows
    and incremental parts: at the store, or at the standby of a family that reads nothing back."""
    costs, outage = scenario.costs, outage_of(scenario.protocol)
    prices = _prices(costs, failure, system)
    size = sum(one.bytes + one.key_bytes * keys for one in prices if not one.incremental)
    if not size or outage.again is not Since.CHECKPOINT:
        return 0.0
    if not outage.read:
        return size / (costs.link.bandwidth_bytes_per_s or inf)
    own = next((costs.stores[name] for name in costs.stores), None)
    if own is None:
        return costs.storage.latency_s + size / (costs.storage.bandwidth_bytes_per_s or inf)
    return own.transaction_s + size / (own.bandwidth_bytes_per_s or inf)


def _prices(costs: Costs, failure: FailureTable, system: System) -> list[StateCosts]:
    """The sizes of the states of the nodes that fail."""
    operators = [one for name in failure.nodes for one in system.operators_at(name)]
    return [costs.state[one] for one in operators if one in costs.state]


def _keys(file: ScenarioFile) -> int:
    """The number of keys of the random input; 0: not known."""
    streams = (file.stream, *(file.source or ()))
    return max((one.keys or 0 for one in streams if isinstance(one, RandomStream)), default=0)


def _largest(terms: list[tuple[FixedTerm, ...]]) -> tuple[FixedTerm, ...]:
    return max(terms, key=lambda some: sum(term.seconds for term in some))


def outage_of(protocol: Protocol) -> OutageTerms:
    """The terms of the protocol; of a user's own that states none, those of a restart."""
    return protocol.behaviour.outage or FROM_CHECKPOINT
