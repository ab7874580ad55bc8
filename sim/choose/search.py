"""The search: some lengths of each interval first, then the longest one that meets the targets.

Rule of this file: no simulation of its own; all settings of a step are one batch, on Spark or
otherwise, and each row is kept at once, so that an interrupted search goes on from there.

Longer intervals cost less and recover later, so that the best one is where the targets are just
met: a root, which scipy's vectorised `find_root` searches for all protocols side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from math import exp, floor, log10
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize.elementwise import find_root

from model.calls import Execute, one_by_one
from model.machine.journals import Journal
from model.progress import Progress, silent
from model.results.choice import TriedSetting
from model.results.table import Row
from sim.choose.candidates import Candidate
from sim.choose.trials import BEYOND, Trial, excesses, simulate_trial, trial, tried
from sim.choose.workload import ChoiceWorkload

PLACES = 2
"""The digits of an interval that is tried."""
NEAR = 0.02
"""Two lengths within this share are one."""

Length = tuple[int, float | None]
"""The number of a candidate, and an interval."""


class SearchedSettings(NamedTuple):
    """settings: by candidate, in the order of their intervals.  errors: why one has none."""

    settings: tuple[tuple[TriedSetting, ...], ...]
    errors: tuple[str, ...]
    runs: int
    resumed: int


class SettingSearch:
    """The rows so far.  Use `search`."""

    def __init__(
        self,
        workload: ChoiceWorkload,
        candidates: Sequence[Candidate],
        kept: Journal,
        execute: Execute[Trial, Row],
        progress: Progress,
    ) -> None:
        self.workload, self.candidates, self.kept = workload, candidates, kept
        self.execute, self.progress = execute, progress
        self.rows: dict[Length, Row] = {}
        self.runs = self.resumed = 0
        self._files: dict[Path, str] = {}

    def ensure(self, lengths: Iterable[Length], stage: str) -> None:
        """Simulate those of these lengths that are not known."""
        wanted = {one: None for one in lengths if one not in self.rows}
        trials = {one: self._trial(*one) for one in wanted}
        names = {one: asked.id(self.workload.base, self._files) for one, asked in trials.items()}
        left = [one for one in trials if names[one] not in self.kept.entries]
        self.resumed += len(trials) - len(left)
        self.runs += len(trials)
        done = len(trials) - len(left)
        self.progress(stage, done, len(trials))
        call = partial(simulate_trial, self.workload.base)
        with closing(self.execute(call, [trials[one] for one in left])) as finished:
            for ended in finished:
                for number, row, why in ended:
                    one = left[number]
                    if row is None:  # not kept: the next time it is tried again
                        self.rows[one] = {"error": f"its process died: {why}", "failed": True}
                    else:
                        self.kept.add([{**row, "run": names[one]}])
                done += len(ended)
                self.progress(stage, done, len(trials))
        self.rows |= {
            one: self.kept.entries[name] for one, name in names.items() if one not in self.rows
        }

    def excess(self, one: Length) -> float:
        """By how much the setting misses the target that it misses most; below 0: it meets all."""
        row = self.rows[one]
        if row["failed"]:
            return BEYOND
        number, interval_s = one
        target = self.workload.target
        found = tried(self.candidates[number], interval_s, row, target)
        return max(excesses(found, target).values(), default=-BEYOND)

    def _trial(self, number: int, interval_s: float | None) -> Trial:
        return trial(self.candidates[number], interval_s, self.workload.search.replications)


def search(
    workload: ChoiceWorkload,
    candidates: Sequence[Candidate],
    kept: Journal,
    execute: Execute[Trial, Row] = one_by_one,
    progress: Progress = silent,
) -> SearchedSettings:
    """Try the settings of all candidates."""
    state = SettingSearch(workload, candidates, kept, execute, progress)
    first = first_lengths(workload)
    numbers = range(len(candidates))
    lengths = {at: first if candidates[at].known.timer else (None,) for at in numbers}
    state.ensure([(at, one) for at in numbers for one in lengths[at]], "first settings")
    may_do = [at for at in numbers if not candidates[at].known.crossed_out]
    by_formula = _lengths_by_formula(state, [at for at in may_do if candidates[at].known.timer])
    state.ensure(by_formula.items(), "by the formula")
    timed = (at for at in may_do if candidates[at].known.timer)
    _refine(state, {at: (*first, *([by_formula[at]] if at in by_formula else ())) for at in timed})
    settings: list[tuple[TriedSetting, ...]] = []
    errors = []
    for at, candidate in enumerate(candidates):
        mine = sorted(one for one in state.rows if one[0] == at)
        good = [one for one in mine if not state.rows[one]["failed"]]
        settings.append(
            tuple(tried(candidate, one[1], state.rows[one], workload.target) for one in good)
        )
        errors.append("" if good else state.rows[mine[0]]["error"])
    return SearchedSettings(tuple(settings), tuple(errors), state.runs, state.resumed)


def first_lengths(workload: ChoiceWorkload) -> tuple[float, ...]:
    """The lengths that are tried first, at equal ratios."""
    asked = workload.search
    ends = asked.interval_s
    return tuple(
        round_length(one) for one in np.geomspace(ends.from_, ends.to, asked.lengths).tolist()
    )


def _lengths_by_formula(state: SettingSearch, numbers: Iterable[int]) -> dict[int, float]:
    """By candidate, the longest interval that meets the target by the formula, with few digits, if
    it is within the search."""
    wanted, ends = state.workload.target.recovery_s, state.workload.search.interval_s
    found = {}
    for at in numbers:
        busy = [row["busy"] for one, row in state.rows.items() if one[0] == at and "busy" in row]
        if wanted is None or not busy:
            continue
        longest = state.candidates[at].longest_interval_s(wanted, max(busy))
        if longest is not None and ends.from_ < longest < ends.to:
            step = 10.0 ** (floor(log10(longest)) + 1 - PLACES)
            found[at] = round_length(floor(longest / step) * step)
    return found


def _refine(state: SettingSearch, lengths: Mapping[int, Sequence[float]]) -> None:
    """Try more lengths between the longest one that meets the targets and the next one."""
    brackets = {}
    for at, some in lengths.items():
        meets = [one for one in some if state.excess((at, one)) <= 0]
        above = [one for one in some if meets and one > max(meets)]
        if above:
            brackets[at] = (max(meets), min(above))
    rounds = state.workload.search.refinements
    if not brackets or not rounds:
        return
    lows, highs = (np.log([pair[end] for pair in brackets.values()]) for end in (0, 1))
    find_root(
        _batched(state),
        (lows, highs),
        args=(np.array([*brackets]),),
        maxiter=rounds,
        tolerances={"xatol": NEAR, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0},
    )


def _batched(state: SettingSearch) -> Callable[[Any, Any], Any]:
    """The excess over the logarithm of an interval, of many settings at once."""

    def excess(logs: Any, numbers: Any) -> Any:
        asked = [
            (int(at), round_length(exp(one)))
            for one, at in zip(logs.ravel().tolist(), numbers.ravel().tolist(), strict=True)
        ]
        state.ensure(asked, "between them")
        return np.array([state.excess(one) for one in asked]).reshape(logs.shape)

    return excess


def round_length(interval_s: float) -> float:
    """The interval with few digits, as people write it."""
    return float(f"{interval_s:.{PLACES}g}")
