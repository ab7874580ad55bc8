"""Duties in whole runs: a stream of 24 events untimed, and of 40 with a clock.

Rule of this file: each check reads only the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from asif.duties.duty import Duty
from asif.duties.sample import RESTART_AFTER, Sample
from model.machine import temporary
from model.oracle import oracle
from model.protocol import Failures
from sim.outputs import Outputs
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.sweeps.results import as_claimed
from sim.untimed.run import run

SCENARIO = """\
protocol = "{name}"
seed = 7
[stream]
events = 40
rate_per_s = 200.0
types = {{ a = 1.0, b = 1.0 }}
[[operators]]
name = "match"
pattern = "a, b"
window = 20
slide = 10
[costs.service]
event_s = 500e-6
[detector]
keep_alive_s = 0.01
misses = 2
restart_s = 0.02
"""
FAILURE = """\
[[failures]]
nodes = ["match"]
at_event = 15
"""


def scenario(sample: Sample, more: str = "") -> str:
    """The text of a scenario; with a crash, if the protocol assumes that there may be one."""
    fails = sample.protocol.promise.assumes.failures is not Failures.NONE
    return SCENARIO.format(name=sample.called) + more + FAILURE * fails


def wanted(sample: Sample) -> Outputs:
    return tuple(oracle(sample.workload.graph, sample.workload.events).values())


def untimed(sample: Sample) -> Iterator[str]:
    """A run of a stream ends with the output of a run without failures, if that is promised."""
    found = run(sample.protocol, sample.workload)
    if not found.count:
        yield "a run without crashes has no output"
    if sample.holds and found.outputs != wanted(sample):
        yield "a run without crashes has another output than the operators"
    for plans in sample.schedules:
        crashed = run(sample.protocol, sample.workload, plans, restart_after=RESTART_AFTER)
        nodes = ", ".join(plan.node for plan in plans)
        if len(crashed.outages) != len(plans):
            yield f"crashes of {nodes}: {len(crashed.outages)} of {len(plans)} happened"
        if sample.is_precise and crashed.outputs != wanted(sample):
            yield f"crashes of {nodes}: another output than without, and precise is claimed"


def timed(sample: Sample) -> Iterator[str]:
    """A run with a clock costs something, and is at least as good as claimed."""
    with temporary.folder() as folder:
        path = folder / "small.toml"
        path.write_text(scenario(sample), encoding="utf-8")
        found = simulate(replace(read(path), protocol=sample.protocol))
    if found.metrics.busy_s <= 0 or found.metrics.link_bytes <= 0:
        yield "no node is ever busy, or no byte is sent"
    if not as_claimed(sample.protocol, found.recovery_type):
        yield f"recovery is {found.recovery_type}, and more is claimed"
    if sample.is_precise and not found.same:
        yield "a crash of the operator changes the output, and precise is claimed"


IN_RUNS = (
    Duty(
        "streams",
        "`deploy` takes a source, an operator and a sink of any names; runs keep the promise.",
        "`asif run` and `asif simulate` bring graphs of their own: use site.preds and site.succs.",
        untimed,
        of_files=False,
    ),
    Duty(
        "clock",
        "A run with a clock is priced, and is at least as good as claimed.",
        "`asif simulate` and `asif sweep` compare the costs of protocols that keep their promise.",
        timed,
        of_files=False,
    ),
)
