"""The choice for a workload: the closed form first, then the simulated frontier, then the best.

Rule of this file: it joins the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.calls import Execute, one_by_one
from model.machine.journals import journal
from model.machine.locks import LOCK, held
from model.progress import Progress, silent
from model.results.choice import ChoiceProtocol, TriedSetting, WorkloadChoice
from model.results.table import Row
from sim.choose.candidates import Candidate, Candidates, candidates
from sim.choose.search import search
from sim.choose.trials import Trial
from sim.choose.workload import ChoiceWorkload, TargetTable

JOURNAL = "_trials.jsonl"
BEST = 3


def choose(
    workload: ChoiceWorkload,
    folder: Path,
    execute: Execute[Trial, Row] = one_by_one,
    *,
    fresh: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> WorkloadChoice:
    """Try the protocols of a workload.  folder: of the journal.  force: write over a file
    that asif did not write.  Raises Invalid."""
    known = candidates(workload)
    with (
        held(folder / LOCK, str(folder)),
        journal(folder / JOURNAL, "run", fresh=fresh, force=force) as kept,
    ):
        found = search(workload, known.found, kept, execute, progress)
    protocols = [
        _with_settings(candidate, settings, error, workload.target)
        for candidate, settings, error in zip(
            known.found, found.settings, found.errors, strict=True
        )
    ]
    marked = _mark_frontier(protocols)
    return replace(
        _choice(workload, known, marked), best=_best(marked), runs=found.runs, resumed=found.resumed
    )


def terms_alone(workload: ChoiceWorkload) -> WorkloadChoice:
    """The choice before any run: guarantees, needs and fixed terms.  Raises Invalid."""
    known = candidates(workload)
    return _choice(workload, known, [one.known for one in known.found])


def _choice(
    workload: ChoiceWorkload, known: Candidates, protocols: Sequence[ChoiceProtocol]
) -> WorkloadChoice:
    targets = workload.target.model_dump().items()
    return WorkloadChoice(
        workload=workload.name,
        scenario=workload.base.path.name,
        targets={name: value for name, value in targets if value is not None},
        operators=known.found[0].asked.operators.word,
        overlapping=any(one.asked.together for one in known.found),
        replications=workload.search.replications,
        protocols=tuple(protocols),
        refused=known.refused,
        best=(),
        runs=0,
        resumed=0,
    )


def _with_settings(
    candidate: Candidate, settings: Sequence[TriedSetting], error: str, target: TargetTable
) -> ChoiceProtocol:
    best = min(settings, key=_rank, default=None)
    longest = None
    if best is not None and candidate.known.timer and target.recovery_s is not None:
        longest = candidate.longest_interval_s(target.recovery_s, best.busy)
    return replace(
        candidate.known,
        settings=tuple(settings),
        best=best,
        longest_interval_s=longest,
        failed=error,
    )


def _rank(one: TriedSetting) -> tuple[bool, float, float]:
    """Settings that meet the targets first, the cheapest first; of the others, the fastest."""
    longest = one.longest_s if one.longest_s is not None else float("inf")
    if one.misses:
        return True, longest, one.overhead
    return False, one.overhead, longest


def _best(protocols: Sequence[ChoiceProtocol]) -> tuple[str, ...]:
    """The names of the best, one of each family, of those that may do and meet the targets."""
    found: dict[str, tuple[tuple[bool, float, float], str]] = {}
    for one in protocols:
        if one.crossed_out or one.best is None or one.best.misses:
            continue
        family = one.name.partition(":")[0]
        entry = (_rank(one.best), one.name)
        found[family] = min(found.get(family, entry), entry)
    return tuple(name for _, name in sorted(found.values())[:BEST])


def _mark_frontier(protocols: Sequence[ChoiceProtocol]) -> list[ChoiceProtocol]:
    """Mark the settings that no other one of a protocol that may do beats in both costs."""
    points = [
        (setting.overhead, setting.longest_s)
        for one in protocols
        if not one.crossed_out
        for setting in one.settings
        if setting.longest_s is not None
    ]

    def is_beaten(setting: TriedSetting) -> bool:
        at = (setting.overhead, setting.longest_s)
        return any(
            other != at and other[0] <= setting.overhead and other[1] <= (setting.longest_s or 0.0)
            for other in points
        )

    def mark(one: ChoiceProtocol, setting: TriedSetting) -> TriedSetting:
        may_do = not one.crossed_out and setting.longest_s is not None
        return replace(setting, on_frontier=may_do and not is_beaten(setting))

    return [
        replace(
            one,
            settings=tuple(mark(one, setting) for setting in one.settings),
            best=one.best and mark(one, one.best),
        )
        for one in protocols
    ]
