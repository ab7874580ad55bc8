"""Use case 1 of the LOG.io paper as scenarios, beside a pencil: LOG.io and ABS side by side.

Links add some milliseconds, which the pencil leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from model.boxes.reorder import Ordered
from model.errors import Invalid
from sim.scenarios.overrides import overrides
from sim.scenarios.run import run, simulate
from sim.scenarios.scenario import read
from sim.timed.costs import PS
from tests.known import known

LOG, ABS = Path("docs/scenarios/log-io.toml"), Path("docs/scenarios/abs.toml")
NEAR = 0.02
OUTPUTS = 50
"""Of OP3, of 100 events."""


def passed_on(path: Path, *changed: str) -> Sequence[float]:
    """The times of the outputs, in seconds."""
    scenario = read(path, overrides(changed))
    ran = run(scenario, scenario.planned)
    return [one.at_ps / PS for one in ran.emissions["sink"]]


def test_log_io_without_failures() -> None:
    """The second event comes at 0.1 s: 0.03 s in the reader, 0.09 s in OP2, 0.54 s in OP3, which
    takes 0.55 s for each further output; OP4 logs an input and an output."""
    first = 0.1 + 0.03 + 0.09 + 0.54
    assert passed_on(LOG, "failures=[]")[-1] == pytest.approx(
        first + 0.55 * (OUTPUTS - 1) + 0.04, abs=NEAR
    )


def test_log_io_with_failures() -> None:
    """OP4 is down from 4.25 to 8.5 s: OP3 makes outputs until five are in the connection, and
    holds the thirteenth.  OP3 is down from 9.75 to 14 s, and makes the sixteenth from its second
    input."""
    first = 0.1 + 0.03 + 0.09 + 0.54
    taken = 1 + int((4.25 - first) / 0.55)
    held = taken + 5 + 1
    assert first + 0.55 * (held - 1) < 8.5  # OP3 had to wait
    made = held + int((9.75 - 8.5) / 0.55)
    end = 14 + 0.54 + 0.55 * (OUTPUTS - made - 1) + 0.04
    assert passed_on(LOG)[-1] == pytest.approx(end, abs=NEAR)


def test_a_larger_connection_hides_the_failure_of_the_writer() -> None:
    """OP3 goes on, and only its own failure costs time: the restart, and the work under way."""
    alone = passed_on(LOG, "failures=[]")[-1]
    roomy = passed_on(LOG, "costs.room=20")[-1]
    assert 4.25 <= roomy - alone < 4.25 + 0.55 + NEAR


def test_abs_without_failures() -> None:
    """OP3 makes its first output at 0.65 s; it makes three snapshots, since the source's timer goes
    before the events that wait there, and OP4 one after its last input, which lets the outputs
    go."""
    end = 0.1 + 0.05 + 0.5 * OUTPUTS + 3 * 0.1 + 0.1
    assert passed_on(ABS, "failures=[]")[-1] == pytest.approx(end, abs=NEAR)


def test_abs_with_failures() -> None:
    """No epoch is complete before the second failure: all begins anew at 14 s."""
    end = 14 + 2 * 0.05 + 0.5 * OUTPUTS + 0.1 + 0.1
    assert passed_on(ABS)[-1] == pytest.approx(end, abs=NEAR)
    found = simulate(read(ABS))
    restarts = {one.restarted_s for one in found.failures}
    assert {round(known(at), 6) for at in restarts} == {8.5, 14.0}  # each of three nodes, twice
    assert len(found.failures) == 6


def test_both_have_the_same_pipeline() -> None:
    log, abs_ = (read(path) for path in (LOG, ABS))
    assert log.workload.graph == abs_.workload.graph
    assert log.workload.events == abs_.workload.events
    assert log.failures == abs_.failures
    assert log.costs.work == abs_.costs.work
    assert (log.costs.room, log.costs.service) == (abs_.costs.room, abs_.costs.service)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("costs.stores.logg={transaction_s=1}", "no prompt site 'logg'; did you mean 'log'"),
        ("costs.room=0", "greater than or equal to 1"),
        ("costs.storage.blocking=false", "nodes wait for what they store"),
        ("operators.OP3.gathers=0", "greater than or equal to 1"),
        ('operators.OP3.group="size"', "no event has the attribute 'size'"),
        ('operators.OP3.inputs=["OP2", "sourse"]', "no input 'sourse'; did you mean 'source'"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(changed: str, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        read(LOG, overrides([changed]))


def test_a_gathering_operator_takes_several_inputs_in_the_order_of_time() -> None:
    graph = read(LOG, overrides(['operators.OP3.inputs=["OP2", "source"]'])).workload.graph
    assert graph.preds("OP3") == ("OP2", "source")
    one = read(LOG).workload.graph.specs["OP3"]
    assert graph.specs["OP3"] == Ordered(one)


def test_sets_of_groups_are_apart() -> None:
    """Of 100 events with two keys, each key has sets of two of its own; OP4 gathers by the key,
    too."""
    keyed = ["stream.keys=2", 'operators.OP3.group="key"', 'operators.OP4.group="key"']
    found = simulate(read(LOG, overrides([*keyed, "failures=[]"])))
    keys = [dict(one.data)["key"] for one in read(LOG, overrides(keyed)).workload.events["source"]]
    assert found.same
    assert found.expected_outputs == sum(keys.count(key) // 20 for key in (1, 2))
