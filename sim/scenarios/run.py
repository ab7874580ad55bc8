"""A timed run of a scenario, from the file's contents to the numbers and the verdict.

Rule of this file: no computation; the file joins the scenario, the driver, the metrics and the
oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from model.core import Guarantee, Inputs, Scope
from model.knobs import settings
from model.oracle import oracle
from model.progress import Progress, part_of, silent
from model.results.simulation import Metrics, Simulation
from model.system import System
from model.words import show_value
from sim.compared import OutputComparison
from sim.outputs import count, differences, digest
from sim.scenarios.baseline import baseline
from sim.scenarios.judge import TimedJudgement, asks_for_outputs, judge_end
from sim.scenarios.scenario import Scenario
from sim.timed import metrics
from sim.timed.ages import AgeRecord, UsualAges
from sim.timed.costs import PS
from sim.timed.emissions import Emissions, OutputReceiver, OutputRecord
from sim.timed.failures import TimedCrash
from sim.timed.free_steps import free_steps
from sim.timed.load import load, recoveries_under_load
from sim.timed.record import LogEntry, TimedResult
from sim.timed.simulator import run_timed
from sim.timed.trace import steps


class ScenarioRun(NamedTuple):
    """A run of a scenario.  ages: those of its events, if it has no failures."""

    result: TimedResult
    outputs: OutputRecord
    system: System
    ages: UsualAges | None = None

    @property
    def emissions(self) -> Emissions:
        """The outputs by sink, if they are kept."""
        return self.outputs.emissions


def simulate(
    scenario: Scenario, *, progress: Progress = silent, traced: bool = False
) -> Simulation:
    """Run the scenario with failures, without, and without protection, and ask the oracle.

    traced: with all steps, for sim.timed.trace.  The output must be the output of a run without
    failures in every byte and in order: if `same` is False, the protocol has failed.
    """
    runs = 1 + bool(scenario.planned) + scenario.protocol.promise.protects
    stage = [part_of(progress, number, runs) for number in range(runs)]
    log: list[LogEntry] | None = [] if traced else None
    comparison = OutputComparison(scenario.workload.graph, scenario.workload.events)
    if scenario.planned:
        free_run = run(scenario, (), aged=True, kept=False, progress=stage[0])
        ran = run(
            scenario,
            scenario.planned,
            usual=free_run.ages,
            kept=False,
            receiver=comparison,
            log=log,
            progress=stage[1],
        )
    else:
        ran = run(scenario, (), kept=False, receiver=comparison, log=log, progress=stage[0])
        free_run = ran
    free = bare = _metrics(scenario, free_run)
    if scenario.protocol.promise.protects:
        bare_run = run(baseline(scenario), (), kept=False, progress=stage[-1])
        bare = _metrics(scenario, bare_run)
    bare = replace(bare, keep_alive_bytes=0)  # nobody waits for them
    found = _found(scenario, _verdict(scenario, comparison), ran, free_run, free, bare)
    if log is None:
        return found
    return replace(found, steps=steps(log, partial(show_value, scenario.protocol)))


class OutputVerdict(NamedTuple):
    """The outputs, compared with the oracle's; the fields are those of Simulation."""

    same: bool
    recovery_type: str
    expected_outputs: int
    missing_outputs: int
    surplus_outputs: int
    sha256: str
    expected_sha256: str


def _verdict(scenario: Scenario, comparison: OutputComparison) -> OutputVerdict:
    """The verdict on the outputs of a run that is over."""
    if comparison.end():
        named = comparison.running.hexdigest()
        precise = Guarantee.PRECISE.name.lower()
        return OutputVerdict(True, precise, comparison.count, 0, 0, named, named)
    workload = scenario.workload
    expected = tuple(oracle(workload.graph, workload.events).values())
    observed = comparison.observed(expected)
    missing, surplus = differences(expected, observed)
    return OutputVerdict(
        same=expected == observed,
        recovery_type=metrics.recovery_type(expected, observed),
        expected_outputs=count(expected),
        missing_outputs=missing,
        surplus_outputs=surplus,
        sha256=digest(observed),
        expected_sha256=digest(expected),
    )


def _found(
    scenario: Scenario,
    verdict: OutputVerdict,
    ran: ScenarioRun,
    free_run: ScenarioRun,
    free: Metrics,
    bare: Metrics,
) -> Simulation:
    workload = scenario.workload
    found = _metrics(scenario, ran, free_run)
    judged, free_judged = _judge(scenario, ran), _judge(scenario, free_run)
    return Simulation(
        scenario=scenario.name,
        protocol=scenario.protocol.name,
        knobs=settings(scenario.protocol),
        input=workload.name,
        pattern=workload.pattern,
        seed=scenario.seed,
        unit_s=scenario.unit_ps / PS,
        **verdict._asdict(),
        metrics=found,
        without_failures=free,
        unprotected=bare,
        overhead=metrics.overhead(found, free, bare),
        free_steps=free_steps(found, free, scenario.costs, scenario.detector, ran.system),
        load=load(free_run.result.asked),
        failures_asked=len(scenario.failures),
        failures=recoveries_under_load(
            ran.result.outages, ran.result.asked, free_run.result.asked, free_run.ages
        ),
        series=metrics.series(ran.result, ran.outputs),
        violations=free_judged.violations or judged.violations,
        judged_at_end=judged.at_end,
        checkpoints=ran.result.checkpoints,
    )


def run(
    scenario: Scenario,
    planned: Sequence[TimedCrash],
    *,
    aged: bool = False,
    usual: UsualAges | None = None,
    kept: bool = True,
    receiver: OutputReceiver | None = None,
    log: list[LogEntry] | None = None,
    progress: Progress = silent,
) -> ScenarioRun:
    """One run.  aged: keep the ages of the events at the nodes that are to crash, for a run with
    failures.  usual: those of the run without failures.  kept: keep the outputs, also if no
    property asks for them.  receiver: receives the outputs by sink and edge."""
    workload = scenario.workload
    inputs = tuple((name, Inputs((), 0)) for name in workload.events)
    crashes = sum(len(plan.nodes) for plan in planned)
    system = System(scenario.protocol, Scope(workload.graph, inputs, crashes))
    kept = kept or asks_for_outputs(system)
    outputs = OutputRecord(system, scenario.unit_ps, kept=kept, receiver=receiver)
    watched = _to_crash(scenario, system) if aged else frozenset[str]()
    ages = AgeRecord(watched, scenario.ends_ps, scenario.unit_ps) if watched else None
    result = run_timed(
        system,
        scenario.feed(),
        scenario.costs,
        outputs.add,
        ends_ps=scenario.ends_ps,
        ages=ages,
        usual=usual,
        detector=scenario.detector,
        planned=planned,
        log=log,
        watch=lambda events: progress("simulating", events, workload.size),
    )
    outputs.end()
    return ScenarioRun(result, outputs, system, None if ages is None else ages.usual())


def _to_crash(scenario: Scenario, system: System) -> frozenset[str]:
    """The nodes that the scenario's failures take down."""
    if scenario.detector.whole_pipeline:
        return system.deployment.crashable
    named = {name for failure in scenario.failures for name in failure.nodes}
    return frozenset(named & system.sites.keys())


def _judge(scenario: Scenario, ran: ScenarioRun) -> TimedJudgement:
    passed_on = {sink: [one.output for one in passed] for sink, passed in ran.emissions.items()}
    return judge_end(ran.system, ran.result, scenario.workload.events, passed_on)


def _metrics(scenario: Scenario, ran: ScenarioRun, free: ScenarioRun | None = None) -> Metrics:
    return metrics.metrics(
        ran.result,
        ran.outputs,
        scenario.costs,
        scenario.detector,
        free and free.result,
    )
