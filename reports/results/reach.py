"""The reach of a check, in words: the bounds of a "holds", and the options that raise them.

Rule of this file: no decision and no printing; it renders model.results.reach.  A line has one
subject, fits on 100 columns with the usual names, and ends with the options that raise its bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from model.comparison import Shape
from model.results.reach import (
    AddedByLast,
    GraphFeature,
    GrowingField,
    LastOne,
    LeakComparison,
    LineageComparison,
    MetShapes,
    Reach,
    ReachBounds,
)
from reports.results.words import word

WIDE = 97
"""A line about one shape is cut after this number of characters, in the short form."""
MOST = 13
"""The paragraph has at most this number of lines, in the short form: the usual ones, a hint of each
of three kinds, and the number of the others."""

LINEAGE = {
    LineageComparison.UNNAMED: "not their inputs (Emit(of=))",
    LineageComparison.UNCOMPARED: "not their inputs (a Property of your own)",
    LineageComparison.LEFT: "their inputs by your own properties alone",
}
SHAPES = {
    Shape.SEQUENCE: "in order",
    Shape.BAG: "in any order",
    Shape.SET: "as a set",
    Shape.TABLE: "the last one of a key",
}
LEAKS = {
    LeakComparison.NEVER: "not what nodes keep (needed=)",
    LeakComparison.WITHOUT_CRASHES: "what nodes keep in runs without crashes",
}


def paragraph(reach: Reach, *, long: bool = False) -> Iterator[str]:
    """The bounds, the shapes met within them, the shapes new in the last event or crash, and hints.

    long: all hints, and every shape that was added; otherwise MOST lines, the last of which counts
    the others.
    """
    lines, kinds = [line for line in _usual(reach) if line], _hints(reach)
    added = [*_all_added(reach)]
    if long:
        lines += [*chain(*kinds), *added]
    else:
        hints = [_short(one) for some in zip_longest(*kinds) for one in some if one is not None]
        room = MOST - 1 - len(lines)
        shown = hints if len(hints) <= room else hints[: room - 1]
        more = len(hints) - len(shown)
        lines += shown
        lines += [f"{_some(more + len(added), 'more line')} with --long"] if more else []
    scopes = _some(reach.scopes, "scope")
    yield f"tried: all of {scopes}{_chance(reach)}; in brackets what raises a bound:"
    yield from (f"  {line}" for line in lines)


def _usual(reach: Reach) -> Iterator[str]:
    """The lines that every protocol has; "" for one that says nothing of this protocol."""
    bounds = reach.bounds
    yield from (_events(bounds), _times(bounds), _crashes(bounds), _faults(bounds), _graphs(bounds))
    yield f"compared: {_results(bounds)}; {LINEAGE[reach.lineage]}; {LEAKS[bounds.leaks]}"
    yield from (_met(reach.met, reach.reduced), _last(reach))


def _hints(reach: Reach) -> tuple[list[str], ...]:
    """The containers that grow, the shapes without a crash, and the saves without one."""
    return (
        [*map(_growing, reach.growing)],
        [f"no crash came while {one}" for one in reach.met.uncrashed],
        [f"no crash came after a save of {one}" for one in reach.met.unlost],
    )


def _all_added(reach: Reach) -> Iterator[str]:
    for one in reach.added:
        found = *one.states, *one.inputs, *one.points
        yield from (f"only with the last {one.last}: {words}" for words in found)


def _chance(reach: Reach) -> str:
    if not reach.chance_events:
        return ""
    crashes = _some(reach.chance_crashes, "crash", "es")
    return f", by chance up to {_some(reach.chance_events, 'event')} and {crashes}"


def _events(bounds: ReachBounds) -> str:
    if not bounds.events:
        why = "no source has any" if bounds.sources else "there is no source"
        return f"events: none, since {why}"
    types = ", ".join(bounds.types) or "none"
    data = f"attributes {', '.join(bounds.attributes)}" if bounds.attributes else "no attributes"
    never = [f"type {one}" for one in bounds.untried_types]
    never += [f"attribute {one}" for one in bounds.untried_attributes]
    asked = f"; NONE of {', '.join(never)}, for which an operator asks" if never else ""
    more = f"(length={bounds.events + 1}, types=)"
    return f"events: up to {bounds.events} of a source, types {types}, {data}{asked} {more}"


def _times(bounds: ReachBounds) -> str:
    if not bounds.gaps:
        return ""
    equal = "no two at one time"
    if bounds.ties:
        equal = "also two at one time"
    elif bounds.ties_between:
        equal = "two at one time only of two sources"
    gaps, zero = ", ".join(map(str, bounds.gaps)), "" if bounds.ties else "(0, ...)"
    return f"times: up to {bounds.last_time}, gaps of {gaps}, {equal} (gaps={zero})"


def _crashes(bounds: ReachBounds) -> str:
    spared = f"; never {', '.join(bounds.spared)}" if bounds.spared else ""
    options = [f"crashes={bounds.crashes + 1}"]
    if bounds.spared:
        options.append("victims=" if bounds.crashable else "crashable=")
    if not bounds.crashes:
        return f"crashes: none ({', '.join(options)})"
    again = "also of one node" if bounds.restarts else "no node returns"
    if 0 < bounds.restarts < bounds.crashes:
        again = f"up to {bounds.restarts} of a node that returns"
    victims = ", ".join(bounds.victims)
    most = f"up to {bounds.crashes} in a run, {again}"
    return f"crashes: {most}: {victims}{spared} ({', '.join(options)})"


def _faults(bounds: ReachBounds) -> str:
    """The faults that are no crashes: those that came, and those that did not."""
    faults = (
        (bounds.suspicions, "false suspicion", "suspicions="),
        (bounds.early, "early timer", "early=1" if bounds.may_early else "patient="),
        (bounds.disturbances, "link fault", "disturbances=1" if bounds.may_disturb else "links="),
    )
    words = [f"up to {_some(number, what)}" for number, what, _ in faults if number]
    words += [f"no {what} ({option})" for number, what, option in faults if not number]
    return f"other faults: {', '.join(words)}"


def _graphs(bounds: ReachBounds) -> str:
    if not bounds.graphs:
        return ""
    tried = f"{', '.join(bounds.graphs)} ({', '.join(map(word, bounds.classes))})"
    never = ", ".join(one.removeprefix("a ") for one in GraphFeature if one not in bounds.graphs)
    no = f"; no {never}" if never else ""
    ends = f"{_some(bounds.sources, 'source')}, {_some(bounds.sinks, 'sink')}"
    return f"graphs: {tried}, {ends}{no} (graph=)"


def _results(bounds: ReachBounds) -> str:
    how = " or ".join(SHAPES[one] for one in bounds.compared_as)
    return f"results {how}".rstrip()


def _met(met: MetShapes, reduced: Sequence[str]) -> str:
    of = " in the worlds visited" if reduced else ""
    crashable = met.crashed + len(met.uncrashed)
    lost = met.saves - len(met.unlost)
    saves = f", after {lost} of {met.saves} saves" if met.saves else ""
    crashed = f", a crash in {met.crashed} of {crashable}{saves}" if crashable else ""
    return (
        f"states: {met.states} shapes, {met.inputs} with an input{of}{crashed}; "
        f"numbers to {met.number}, sizes to {met.size}"
    )


def _last(reach: Reach) -> str:
    """The things new in the last event and in the last crash of the largest scope."""
    if not reach.added:
        why = ", of which fewer worlds were visited" if reach.largest in reach.reduced else ""
        return f"last event, last crash: not measured in {reach.largest}{why}"
    added = [words for one in reach.added for words in [_added(one)] if words]
    if not added:
        return f"the last {' and the last '.join(one.last for one in reach.added)} added nothing"
    return f"new in {'; in '.join(added)}"


def _added(one: AddedByLast) -> str:
    """The things new in the last one, in words; none for nothing."""
    counts = (len(one.states), "shape"), (len(one.inputs), "input"), (len(one.points), "point")
    added = ", ".join(_some(number, what) for number, what in counts if number)
    option = "crashes" if one.last is LastOne.CRASH else "length"
    return added and f"{one.last} {one.count}: {added} ({option}={one.count + 1})"


def _growing(one: GrowingField) -> str:
    what = f"{one.node}: {one.field or 'the state'}{' (saved)' if one.saved else ''}"
    how = "no step shrinks it" if one.always else "from some state on no step shrinks it"
    grew = f"grows to {one.most} with {_some(one.events, 'event')} of a source"
    return f"hint: {what} {grew}; {how}"


def _short(text: str) -> str:
    return text if len(text) <= WIDE else f"{text[: WIDE - 3]}..."


def _some(number: int, what: str, more: str = "s") -> str:
    return f"{number} {what}{'' if number == 1 else more}"
