"""The text of `asif choose`: the closed form, the table of settings, and the best three in words.

Rule of this file: it computes no number; sim.choose has them all.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from model.results.choice import ChoiceProtocol, PinnedCounterexample, TriedSetting, WorkloadChoice
from reports.results.simulations import format_value

FACTOR = 2.0
"""A recovery that is further from the formula has a mark."""
NUMBERS = ("first", "second", "third")


def output(result: WorkloadChoice) -> Iterator[RenderableType]:
    """The output of `asif choose`."""
    yield from _asked(result)
    yield ""
    yield from closed_form(result)
    yield ""
    yield table(result)
    yield from _crossed_out(result)
    yield ""
    yield from best_in_words(result)


def terms(result: WorkloadChoice) -> Iterator[RenderableType]:
    """The output of `asif choose --terms`."""
    yield from _asked(result)
    yield ""
    yield from closed_form(result)
    yield ""
    yield from _crossed_out(result)


def _asked(result: WorkloadChoice) -> Iterator[str]:
    several = "failures that may overlap" if result.overlapping else "one failure at a time"
    targets = "; ".join(f"{name} = {value}" for name, value in result.targets.items())
    yield f"{result.workload}: {result.scenario}, {result.operators} operators, {several}"
    yield f"Wanted: {targets}"


def closed_form(result: WorkloadChoice) -> Iterator[str]:
    """The fixed terms of each recovery, and the longest interval by the formula."""
    wanted = result.targets.get("recovery_s")
    groups: dict[tuple[tuple[str, float], ...], list[ChoiceProtocol]] = {}
    for one in result.protocols:
        key = tuple((term.name, term.seconds) for term in one.fixed)
        groups.setdefault(key, []).append(one)
    for key, members in sorted(groups.items(), key=lambda item: sum(s for _, s in item[0])):
        total = sum(seconds for _, seconds in key)
        parts = ", ".join(f"{name} {seconds:g} s" for name, seconds in key)
        names = ", ".join(one.name for one in members)
        beyond = isinstance(wanted, float) and total >= wanted
        verdict = ": impossible, whatever the interval" if beyond else ""
        yield f"{total:g} s before any event is processed again ({parts}){verdict}"
        yield f"  {names}"
    for one in result.protocols:
        if one.longest_interval_s is not None:
            yield (
                f"By the formula, {one.name} meets {wanted:g} s with {one.timer} every "
                f"{one.longest_interval_s:.3g} s or less"
            )


def table(result: WorkloadChoice) -> Table:
    """A row for each protocol, and below it a row for each setting."""
    rows = Table(
        Column("protocol, interval", no_wrap=True),
        Column("recovery", justify="right", no_wrap=True),
        Column("longest", justify="right", no_wrap=True),
        Column("formula", justify="right", no_wrap=True),
        Column("overhead", justify="right", no_wrap=True),
        Column("latency,\n99 %", justify="right", no_wrap=True),
        Column("", overflow="fold"),
        box=SIMPLE,
        pad_edge=False,
        collapse_padding=True,
    )
    for one in result.protocols:
        state = _guarantee(one) if one.settings else "not simulated"
        rows.add_row(_name(one), *[""] * 5, "crossed out" if one.crossed_out else state)
        for setting in one.settings:
            rows.add_row(*_numbers(setting), _mark(one, setting))
    return rows


def _name(one: ChoiceProtocol) -> Text:
    return Text(one.name, style="strike" if one.crossed_out else "")


def _guarantee(one: ChoiceProtocol) -> str:
    found = one.verified.guarantee
    return "not verified" if found is None else found.word


def _numbers(one: TriedSetting) -> tuple[str, ...]:
    return (
        "  no interval" if one.interval_s is None else f"  {one.interval_s:g} s",
        format_value("recovery_s", one.recovery.mean),
        "not ended" if one.longest_s is None else format_value("recovery_s", one.longest_s),
        format_value("recovery_s", one.formula_s) if one.busy < 1 else "never",
        f"{one.overhead:.1%}",
        format_value("latency_s", one.latency_p99_s),
    )


def _mark(protocol: ChoiceProtocol, one: TriedSetting) -> str:
    may_do = not protocol.crossed_out and not one.misses
    parts = ["best"] if may_do and one == protocol.best else []
    parts += ["frontier"] if one.on_frontier else []
    parts += [f"misses {', '.join(_short(name) for name in one.misses)}"] if one.misses else []
    parts += ["not by the formula"] if not _by_formula(one) else []
    return ", ".join(parts)


def _by_formula(one: TriedSetting) -> bool:
    """Is the longest recovery within a factor of FACTOR of the formula?"""
    if one.longest_s is None or not one.formula_s:
        return True
    return 1 / FACTOR <= one.longest_s / one.formula_s <= FACTOR


def _short(target: str) -> str:
    return target.partition("_")[0]


def _crossed_out(result: WorkloadChoice) -> Iterator[str]:
    for one in result.protocols:
        if one.crossed_out:
            yield f"Crossed out: {one.name}: {one.crossed_out}"
            yield from (f"  {_counterexample(found)}" for found in one.counterexamples)
    for one in result.protocols:
        if one.failed:
            yield f"Not simulated: {one.name}: {one.failed}"
    for name, why in result.refused.items():
        yield f"Cannot run this scenario: {name}: {why}"


# --- the best three --------------------------------------------------------------------------
def best_in_words(result: WorkloadChoice) -> Iterator[str]:
    """A paragraph on each of the best three, with its counterexamples."""
    if not result.best:
        yield "No setting of a protocol that may do meets all targets."
        yield from _nearest(result)
        return
    for number, name in zip(NUMBERS, result.best, strict=False):
        yield " ".join(_sentences(number, result.named(name)))


def _nearest(result: WorkloadChoice) -> Iterator[str]:
    found = [one for one in result.protocols if one.best is not None and not one.crossed_out]
    ended = [one for one in found if one.best is not None and one.best.longest_s is not None]
    if ended:
        nearest = min(ended, key=lambda one: (one.best and one.best.longest_s) or 0.0)
        yield " ".join(_sentences("nearest", nearest))


def _sentences(number: str, one: ChoiceProtocol) -> Iterator[str]:
    best = one.best
    if best is None:
        return
    interval = "" if best.interval_s is None else f" with {one.timer} every {best.interval_s:g} s"
    yield f"The {number}: {one.name}{interval}."
    longest = format_value("recovery_s", best.longest_s)
    mean = format_value("recovery_s", best.recovery.mean)
    formula = format_value("recovery_s", best.formula_s)
    yield f"It recovers in {mean} in the mean, {longest} at the longest; by the formula {formula}."
    yield (
        f"Its protection costs {best.extra_busy:.1%} more processing; it sends and stores "
        f"{best.extra_bytes:.1%} of the bytes of the stream."
    )
    by = f", {one.verified.why}" if one.verified.why else ""
    yield f"Verified in {one.verified.scopes} scopes: {_guarantee(one)}{by}."
    if one.needs:
        yield f"It needs: {'; '.join(one.needs)}."
    for found in one.counterexamples:
        yield _counterexample(found)
    if not one.counterexamples:
        yield "No pin refutes it beyond its promise: failures of sources and sinks are in no pin."


def _counterexample(found: PinnedCounterexample) -> str:
    steps = "" if found.steps is None else f" after {found.steps} steps"
    left = "" if found.guarantee in (None, "precise") else f", {found.guarantee} is left"
    return (
        f"It fails {found.where}: {found.protocol}, scope {found.scope!r}{steps}{left}. "
        f"{found.finding} (asif witness {found.protocol})"
    )
