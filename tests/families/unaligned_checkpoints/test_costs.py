"""The price of unaligned checkpoints under back pressure, beside aligned ones.

Rule of this file: the numbers of the table in docs/explanation/findings/unaligned-checkpoints.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from model.protocols.unaligned_checkpoints.messages import FINISHED_CHECKPOINTS, OVERTAKEN
from model.results.simulation import Simulation
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from tests.known import known

DOCS = Path(__file__).parents[3] / "docs"
SCENARIO = DOCS / "scenarios" / "unaligned.toml"
PAGE = DOCS / "explanation" / "findings" / "unaligned-checkpoints.md"


class Price(NamedTuple):
    """checkpoints: complete ones.  records: in all of them.  snapshots: their bytes.  latency: of
    the median result, in milliseconds."""

    checkpoints: int
    records: int
    snapshots: int
    latency: int

    def line(self, overtaking: str, rate: int) -> str:
        """The line of the table."""
        each = f"{self.snapshots / self.checkpoints / 1000:.1f} kB"
        latency = f"{self.latency / 1000:.2f} s"
        return (
            f"| {overtaking} | {rate} | {self.checkpoints} | {self.records} | {each} | {latency} |"
        )


PRICES = {
    ("unaligned", 25): Price(16, 15, 4_484, 527),
    ("aligned", 25): Price(16, 0, 3_584, 524),
    ("unaligned", 100): Price(9, 811, 82_516, 2_527),
    ("aligned", 100): Price(3, 0, 672, 3_064),
}


def price(overtaking: str, rate: int) -> Price:
    changes = (f"knobs.overtaking={overtaking}", f"stream.rate_per_s={rate}.0")
    found = simulate(read(SCENARIO, overrides(changes)))
    assert found.same
    metrics = found.metrics
    assert metrics.latency_p50_s is not None
    return Price(
        metrics.notes[FINISHED_CHECKPOINTS.name],
        metrics.notes.get(OVERTAKEN.name, 0),
        metrics.traffic["snapshots"].bytes,
        round(metrics.latency_p50_s * 1000),
    )


@pytest.mark.parametrize(("overtaking", "rate"), PRICES)
def test_buffers_are_the_price_of_early_barriers(overtaking: str, rate: int) -> None:
    assert price(overtaking, rate) == PRICES[overtaking, rate]


def test_the_page_has_these_numbers() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for (overtaking, rate), wanted in PRICES.items():
        assert wanted.line(overtaking, rate) in lines


# --- snapshots beside the work ---------------------------------------------------------------
BESIDE = (
    "knobs.snapshots=asynchronous",
    "costs.stores.coordinator={transaction_s=0.1,bandwidth_bytes_per_s=1e6}",
)


def uploads(overtaking: str) -> Simulation:
    changes = (f"knobs.overtaking={overtaking}", "stream.rate_per_s=100.0", *BESIDE)
    found = simulate(read(SCENARIO, overrides(changes)))
    assert found.same
    return found


def test_an_overtaking_barrier_uploads_the_buffers_and_does_not_wait() -> None:
    """Two operators upload one after the other, 0.1 s each and 1 MB a second; the records on their
    way have 100 bytes each.  No record waits for an upload; the results of a checkpoint do."""
    found = uploads("unaligned")
    assert found.checkpoints is not None
    count, moved = found.checkpoints.complete, found.metrics.traffic["snapshots"].bytes
    assert moved >= 100 * found.metrics.notes[OVERTAKEN.name] > 0
    wanted = 2 * 0.1 + moved / count / 1e6
    assert found.checkpoints.mean_s == pytest.approx(wanted, abs=0.003)  # and three links
    without_store = PRICES["unaligned", 100].latency / 1000
    assert found.metrics.latency_p50_s == pytest.approx(without_store + wanted, abs=0.02)


def test_an_aligned_barrier_waits_behind_the_buffers() -> None:
    """The first one comes at 1 s behind 100 records, of which the operator has processed half: the
    other 50 take 1 s.  The ones after it wait longer."""
    aligned, unaligned = uploads("aligned").checkpoints, uploads("unaligned").checkpoints
    assert aligned is not None
    assert unaligned is not None
    assert known(aligned.mean_s) > 1.2
    assert known(aligned.longest_s) > 10 * known(unaligned.longest_s)
