"""The words of Hwang et al., Section 7, on Figures 6 and 7 and Tables 4 and 7, as checks.

Rule of this file: each check is of a summary's cells alone, and is 1 if the words hold, else 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from model.results.table import Row
from sim.experiments.hwang.setting import INTERVALS_MS, REDIRECT_MS

Cells = Mapping[str, Row]
PASSIVE, ACTIVE, UPSTREAM = (
    "passive standby",
    "active standby (rollback)",
    "upstream backup (rollback)",
)
PRECISE = {
    PASSIVE: "passive standby (precise)",
    ACTIVE: "active standby (precise)",
    UPSTREAM: "upstream backup (precise)",
}
MILLISECONDS = tuple(f"{ms:.0f} ms" for ms in INTERVALS_MS)
OPERATORS = tuple(f"{n} operators" for n in range(1, 6))
SHARP = 5.0
"""Behind a knee the curve falls this many times as fast as before it."""


def trends(key: str, cells: Cells) -> dict[str, float]:
    """The checks of an experiment, by the names that published.toml has."""
    found = {"fig6": _figure6, "fig7": _figure7, "table7": _table7}.get(key, lambda _: {})(cells)
    return {f"{key}.{name}": float(holds) for name, holds in found.items()}


def _line(cells: Cells, curve: str, names: Sequence[str], measure: str) -> list[float]:
    return [cells[f"{curve}, {name}"][measure] for name in names]


def _rises(values: Sequence[float]) -> bool:
    return all(one < other for one, other in pairwise(values))


def _figure6(cells: Cells) -> dict[str, bool]:
    recovery = {
        curve: _line(cells, curve, MILLISECONDS, "recovery_ms")
        for curve in (*PRECISE, *PRECISE.values())
    }
    overhead = {
        curve: _line(cells, curve, MILLISECONDS, "overhead")
        for curve in (*PRECISE, *PRECISE.values())
    }
    lost = [one - other for one, other in pairwise(overhead[PASSIVE])]
    at = MILLISECONDS.index("100 ms")
    before = sum(lost[:at]) / (INTERVALS_MS[at] - INTERVALS_MS[0])
    behind = sum(lost[at:]) / (INTERVALS_MS[-1] - INTERVALS_MS[at])
    spread = {curve: line[-1] - line[0] for curve, line in recovery.items()}
    return {
        "recovery order": all(
            active < passive < upstream
            for active, passive, upstream in zip(
                recovery[ACTIVE], recovery[PASSIVE], recovery[UPSTREAM], strict=True
            )
        ),
        "upstream most sensitive": spread[UPSTREAM] > max(spread[PASSIVE], spread[ACTIVE]),
        "passive overhead falls": _rises(overhead[PASSIVE][::-1]),
        "knee at 100 ms": behind > SHARP * before > 0,
        **{
            f"precise {curve.removesuffix(' (rollback)')} costs no bandwidth": all(
                abs(one - other) < 0.001
                for one, other in zip(overhead[curve], overhead[PRECISE[curve]], strict=True)
            )
            for curve in (PASSIVE, ACTIVE)
        },
        "precise passive and upstream take no longer": all(
            abs(one - other) < 0.01 * one
            for curve in (PASSIVE, UPSTREAM)
            for one, other in zip(recovery[curve], recovery[PRECISE[curve]], strict=True)
        ),
        "precise active takes r longer": all(
            abs(other - one - REDIRECT_MS) < 0.1 * REDIRECT_MS
            for one, other in zip(recovery[ACTIVE], recovery[PRECISE[ACTIVE]], strict=True)
        ),
        "precise upstream doubles the work": all(
            abs(other / one - 2) < 0.1
            for one, other in zip(
                _line(cells, UPSTREAM, MILLISECONDS, "processing"),
                _line(cells, PRECISE[UPSTREAM], MILLISECONDS, "processing"),
                strict=True,
            )
        ),
    }


def _figure7(cells: Cells) -> dict[str, bool]:
    passive, upstream = (
        _line(cells, curve, OPERATORS, "recovery_ms") for curve in (PASSIVE, UPSTREAM)
    )
    precise = _line(cells, PRECISE[UPSTREAM], OPERATORS, "overhead")
    others = [_line(cells, curve, OPERATORS, "overhead") for curve in (PASSIVE, PRECISE[ACTIVE])]
    return {
        "passive overhead rises": _rises(_line(cells, PASSIVE, OPERATORS, "overhead")),
        "passive recovery rises slightly": _rises(passive)
        and passive[-1] - passive[0] < 0.1 * (upstream[-1] - upstream[0]),
        "upstream recovery rises": _rises(upstream),
        "precise upstream is cheaper": all(
            one < 0.25 * min(beside) for one, *beside in zip(precise, *others, strict=True)
        ),
    }


def _table7(cells: Cells) -> dict[str, bool]:
    upstream = [
        cell["recovery_ms"] for name, cell in cells.items() if name.startswith("upstream backup")
    ]
    return {"upstream roughly linear": linear(upstream)}


def linear(values: Sequence[float]) -> bool:
    """Are the steps between values at equal distances alike?  Within 25 % of each other."""
    steps = [other - one for one, other in pairwise(values)]
    return max(steps) <= 1.25 * min(steps)
