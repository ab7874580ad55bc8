"""A restart of the whole pipeline in simulated time, compared with a computation by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.results.simulation import Simulation
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from tests.known import known

QUICKSTART = Path("docs/scenarios/quickstart.toml")
RATE, EPOCH_S = 500.0, 1.0


def simulated(protocol: str, at_s: float, node: str) -> Simulation:
    set_ = (
        f'protocol="{protocol}"',
        f"costs.timers.epoch.after_s={EPOCH_S}",
        f'failures=[{{nodes = ["{node}"], at_s = {at_s}}}]',
    )
    return simulate(read(QUICKSTART, overrides(set_)))


@pytest.mark.parametrize(
    ("protocol", "at_s", "node"),
    [("abs", 3.2, "match"), ("abs", 3.8, "pair"), ("abs:coordinator", 3.8, "match")],
)
def test_a_restart_replays_what_came_since_the_last_epoch(
    protocol: str, at_s: float, node: str
) -> None:
    """Epochs end once a second, the last one before the crash at about 3 s.  Until all nodes go on,
    the source goes on; so it sends again what came since the epoch, whichever node has crashed."""
    ran = simulated(protocol, at_s, node)
    assert ran.same
    found, free = ran.metrics, ran.without_failures
    assert free.notes["complete epochs"] == 8
    assert free.latency_max_s == pytest.approx(EPOCH_S, rel=0.02)
    assert found.notes["operators restored"] == 2
    out_s = known(found.detection_s) + known(found.restart_s)
    assert found.events_replayed == pytest.approx(RATE * (at_s - 3.0 + out_s), rel=0.1)
    assert known(free.latency_max_s) <= known(found.latency_max_s) < 2 * EPOCH_S + out_s
