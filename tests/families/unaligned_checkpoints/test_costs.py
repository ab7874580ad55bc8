"""The price of unaligned checkpoints under back pressure, beside aligned ones.

Rule of this file: the numbers of the table in docs/explanation/findings/unaligned-checkpoints.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from model.protocols.unaligned_checkpoints.messages import FINISHED_CHECKPOINTS, OVERTAKEN
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read

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
    for (overtaking, rate), known in PRICES.items():
        assert known.line(overtaking, rate) in lines
