"""A timed run of a scenario, from the file's contents to the numbers and the verdict.

Rule of this file: no computation; the file joins the scenario, the driver, the metrics and the
oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from model.core import Inputs, Scope
from model.errors import StepFailed
from model.graph import SINK
from model.knobs import settings
from model.oracle import oracle
from model.progress import Progress, part_of, silent
from model.results.simulation import Metrics, Simulation
from model.system import System, faulty_output
from model.words import show_value
from sim.outputs import count, differences, digest
from sim.scenarios.baseline import baseline
from sim.scenarios.judge import TimedJudgement, judge_end
from sim.scenarios.scenario import Scenario
from sim.timed import metrics
from sim.timed.ages import AgeRecord, UsualAges
from sim.timed.costs import PS
from sim.timed.failures import TimedCrash
from sim.timed.free_steps import free_steps
from sim.timed.load import load, recoveries_under_load
from sim.timed.record import LogEntry, TimedResult
from sim.timed.simulator import run_timed
from sim.timed.trace import steps


class ScenarioRun(NamedTuple):
    """A run of a scenario.  ages: those of its events, if it has no failures."""

    result: TimedResult
    emissions: metrics.Emissions
    system: System
    ages: UsualAges | None = None


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
    if scenario.planned:
        free_run = run(scenario, (), aged=True, progress=stage[0])
        usual = free_run.ages
        ran = run(scenario, scenario.planned, usual=usual, log=log, progress=stage[1])
    else:
        ran = free_run = run(scenario, (), log=log, progress=stage[0])
    free = bare = _metrics(scenario, free_run)
    if scenario.protocol.promise.protects:
        bare = _metrics(scenario, run(baseline(scenario), (), progress=stage[-1]))
    bare = replace(bare, keep_alive_bytes=0)  # nobody waits for them
    found = _found(scenario, ran, free_run, free, bare)
    if log is None:
        return found
    return replace(found, steps=steps(log, partial(show_value, scenario.protocol)))


def _found(
    scenario: Scenario, ran: ScenarioRun, free_run: ScenarioRun, free: Metrics, bare: Metrics
) -> Simulation:
    workload, graph = scenario.workload, scenario.workload.graph
    found = _metrics(scenario, ran, free_run)
    expected = tuple(oracle(graph, workload.events).values())
    edges = {name: len(graph.preds(name)) for name, spec in graph.nodes if spec is SINK}
    observed = metrics.outputs(ran.emissions, edges)
    missing, surplus = differences(expected, observed)
    judged, free_judged = _judge(scenario, ran), _judge(scenario, free_run)
    return Simulation(
        scenario=scenario.name,
        protocol=scenario.protocol.name,
        knobs=settings(scenario.protocol),
        input=workload.name,
        pattern=workload.pattern,
        seed=scenario.seed,
        unit_s=scenario.unit_ps / PS,
        same=expected == observed,
        recovery_type=metrics.recovery_type(expected, observed),
        expected_outputs=count(expected),
        missing_outputs=missing,
        surplus_outputs=surplus,
        sha256=digest(observed),
        expected_sha256=digest(expected),
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
        series=metrics.series(ran.result, ran.emissions, scenario.unit_ps),
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
    log: list[LogEntry] | None = None,
    progress: Progress = silent,
) -> ScenarioRun:
    """One run.  aged: keep the ages of the events at the nodes that are to crash, for a run with
    failures.  usual: those of the run without failures."""
    workload = scenario.workload
    inputs = tuple((name, Inputs((), 0)) for name in workload.events)
    crashes = sum(len(plan.nodes) for plan in planned)
    system = System(scenario.protocol, Scope(workload.graph, inputs, crashes))
    emissions: dict[str, list[metrics.Emission]] = {name: [] for name in system.sink_at}

    def record(sink: str, at_ps: int, output: Any) -> None:
        if sink not in emissions:
            raise StepFailed(sink, "a step", faulty_output(system, sink, output))
        emissions[sink].append(metrics.Emission(at_ps, output))

    watched = _to_crash(scenario, system) if aged else frozenset[str]()
    ages = AgeRecord(watched, scenario.ends_ps, scenario.unit_ps) if watched else None
    result = run_timed(
        system,
        scenario.feed(),
        scenario.costs,
        record,
        ends_ps=scenario.ends_ps,
        ages=ages,
        usual=usual,
        detector=scenario.detector,
        planned=planned,
        log=log,
        watch=lambda events: progress("simulating", events, workload.size),
    )
    for sink, passed in emissions.items():
        for _, output in passed:
            if why := faulty_output(system, sink, output):
                raise StepFailed(sink, "a step", why)
    return ScenarioRun(result, emissions, system, None if ages is None else ages.usual())


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
        ran.emissions,
        scenario.unit_ps,
        scenario.costs,
        scenario.detector,
        free and free.result,
    )
