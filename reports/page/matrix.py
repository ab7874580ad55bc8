"""The matrix of families: the guarantees of each in its variants, and their costs.

Rule of this file: a row for each family of the results; it counts, and computes no cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from model.core import Guarantee
from model.results.report import ReportResults
from model.results.simulation import Simulation
from model.results.verdict import Verdict
from reports.page.blocks import DataTable, Ink, TableRow, Word, Words, table
from reports.page.parts import costs, runs
from reports.results import simulations as simulation_results
from reports.results.families import family_of

COST = ("#Bytes on links", "#Recovery", "#Peak backup, events")
_KEPT = {Guarantee.PRECISE: Ink.HOLDS, Guarantee.GAP: Ink.REFUTED}


def matrix(results: ReportResults) -> DataTable:
    """Families × guarantee × cost.

    A cell below a guarantee is the number of variants whose weakest one it is; a dash stands for a
    cost that nothing in this report measured.
    """
    levels = [f"#{one.word}" for one in Guarantee]
    columns = ("Family", "Itself", *levels, "#As expected", *COST)
    rows = [
        _row(name, [*members], results)
        for name, members in groupby(results.verdicts, key=lambda one: family_of(one.protocol))
    ]
    return table("Families, guarantees and costs", columns, rows)


def weakest(verdict: Verdict) -> Guarantee | None:
    """The weakest guarantee that was found; None without a stream."""
    return max(verdict.found.values(), default=None)


def _row(name: str, members: Sequence[Verdict], results: ReportResults) -> TableRow:
    counts = Counter(map(weakest, members))
    itself = weakest(members[0])
    expected = sum(one.expected for one in members)
    fine = expected == len(members)
    words: list[Words] = [
        Word(name, to=name),
        "–" if itself is None else Word(itself.word, _KEPT.get(itself, Ink.PLAIN)),
        *(str(counts[one] or "") for one in Guarantee),
        Word(f"{expected} of {len(members)}", Ink.GOOD if fine else Ink.BAD),
        *_costs(name, results),
    ]
    return TableRow(words, off=not fine)


def _costs(name: str, results: ReportResults) -> Iterator[Words]:
    mine = [one for one in results.simulated if family_of(one.protocol) == name]
    # The family itself, before a variant of it.
    simulated = min(mine, key=lambda one: one.protocol != name, default=None)
    yield "–" if simulated is None else Word(_bytes(simulated), to=costs.address(simulated))
    if simulated is None:
        yield "–"
    else:
        yield simulation_results.values(simulated, "recovery_s")[0]
    run = next((one for one in results.runs if one.protocol == name), None)
    yield "–" if run is None else Word(f"{run.peak_backup:,}", to=runs.address(run))


def _bytes(one: Simulation) -> str:
    share = one.overhead.protection_link_bytes
    return "–" if share is None else f"{share:+,.1%}"
