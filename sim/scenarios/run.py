"""A timed run of a scenario, from the file's contents to the numbers and the verdict.

Rule of this file: no computation; the file joins the scenario, the driver, the metrics and the
oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from model.core import Inputs, Scope
from model.errors import StepFailed
from model.graph import SINK
from model.knobs import settings
from model.oracle import oracle
from model.system import System, faulty_output, show_value
from sim.scenarios.baseline import baseline
from sim.scenarios.scenario import Scenario
from sim.timed import metrics
from sim.timed.costs import PS
from sim.timed.failures import TimedCrash
from sim.timed.load import load, recoveries_under_load
from sim.timed.record import LogEntry, TimedResult
from sim.timed.simulator import run_timed
from sim.timed.trace import steps

Watch = Callable[[int, int], None]
"""A function that is called now and then with (events done, all events)."""


class ScenarioRun(NamedTuple):
    result: TimedResult
    emissions: metrics.Emissions
    system: System


def simulate(
    scenario: Scenario, *, watch: Watch | None = None, traced: bool = False
) -> dict[str, Any]:
    """Run the scenario with failures, without, and without protection; ask the oracle, and return a
    JSON-able value.

    traced: with all steps, for sim.timed.trace.  The output must be the output of a run without
    failures in every byte and in order: if `same` is False, the protocol has failed.
    """
    size = scenario.workload.size
    runs = (True, bool(scenario.planned), scenario.protocol.promise.protects)
    stages = sum(runs)

    def stage(number: int) -> Callable[[int], None] | None:
        return watch and (lambda done: watch(number * size + done, stages * size))

    log: list[LogEntry] | None = [] if traced else None
    ran = run(scenario, scenario.planned, log=log, watch=stage(0))
    free_run = run(scenario, (), watch=stage(1)) if scenario.planned else ran
    found = _metrics(scenario, ran, free_run)
    free = _metrics(scenario, free_run)
    bare = free
    if scenario.protocol.promise.protects:
        bare = _metrics(scenario, run(baseline(scenario), (), watch=stage(stages - 1)))
    bare = {**bare, "keep_alive_bytes": 0}  # nobody waits for them
    failures = recoveries_under_load(ran.result.outages, ran.result.asked, free_run.result.asked)
    graph = scenario.workload.graph
    expected = tuple(oracle(graph, scenario.workload.events).values())
    edges = {name: len(graph.preds(name)) for name, spec in graph.nodes if spec is SINK}
    return {
        "scenario": scenario.name,
        "protocol": scenario.protocol.name,
        "knobs": settings(scenario.protocol),
        "input": scenario.workload.name,
        "pattern": scenario.workload.pattern,
        "seed": scenario.seed,
        "unit_s": scenario.unit_ps / PS,
        **metrics.verdict(expected, metrics.outputs(ran.emissions, edges)),
        "metrics": found,
        "without_failures": free,
        "unprotected": bare,
        "overhead": metrics.overhead(found, free, bare),
        "free_steps": metrics.free_steps(free, scenario.costs),
        "load": load(free_run.result.asked),
        "failures_asked": len(scenario.failures),
        "failures": failures,
        "series": metrics.series(ran.result, ran.emissions, scenario.unit_ps),
        **({} if log is None else {"steps": steps(log, partial(show_value, scenario.protocol))}),
    }


def run(
    scenario: Scenario,
    planned: Sequence[TimedCrash],
    *,
    log: list[LogEntry] | None = None,
    watch: Callable[[int], None] | None = None,
) -> ScenarioRun:
    workload = scenario.workload
    inputs = tuple((name, Inputs((), 0)) for name in workload.events)
    crashes = sum(len(plan.nodes) for plan in planned)
    system = System(scenario.protocol, Scope(workload.graph, inputs, crashes))
    emissions: dict[str, list[metrics.Emission]] = {name: [] for name in system.sink_at}

    def record(sink: str, at_ps: int, output: Any) -> None:
        if sink not in emissions:
            raise StepFailed(sink, "a step", faulty_output(system, sink, output))
        emissions[sink].append(metrics.Emission(at_ps, output))

    result = run_timed(
        system,
        scenario.feed(),
        scenario.costs,
        record,
        ends_ps=scenario.ends_ps,
        detector=scenario.detector,
        planned=planned,
        log=log,
        watch=watch,
    )
    for sink, passed in emissions.items():
        for _, output in passed:
            if why := faulty_output(system, sink, output):
                raise StepFailed(sink, "a step", why)
    return ScenarioRun(result, emissions, system)


def _metrics(
    scenario: Scenario, ran: ScenarioRun, free: ScenarioRun | None = None
) -> dict[str, Any]:
    return metrics.metrics(
        ran.result,
        ran.emissions,
        scenario.unit_ps,
        scenario.costs,
        scenario.detector,
        free and free.result,
    )
