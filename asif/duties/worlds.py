"""Duties in worlds: the work and the states of nodes, step by step, in random runs of the smallest
scope.

Rule of this file: each check reads only the sample.
"""

from __future__ import annotations

from collections.abc import Iterator

from asif.duties.duty import Duty
from asif.duties.sample import Sample
from model.actions import Crash, Disturb, Suspect
from model.core import COMMON, Note, Save, Send
from model.costs import MessageKind
from model.evidence import Outcome
from model.system import carried, read_gauges, read_memory, size_of
from model.world import DOWN, response


def as_pinned(sample: Sample) -> Iterator[str]:
    """The smallest scope has runs with crashes, and the result that is pinned; all that must occur
    occurs there, if the quick profile has no other scope."""
    pinned, found = sample.smallest, sample.explored
    where = f"scope {pinned.name!r}"
    if found.states < 2:
        yield f"{where}: nothing happens"
    if pinned.scope.crashes and not found.hit:
        yield f"{where}: no crash strikes; make a node crashable in deploy"
    if pinned.expect is Outcome.HOLDS and found.counterexample is not None:
        violated = found.counterexample.property.name
        yield f"{where}: {violated!r} is violated, and the scope is expected to hold"
    promised = pinned.guarantee if pinned.expect is Outcome.HOLDS else None
    if promised is not None and found.guarantee > promised:
        yield f"{where}: {found.guarantee.name}, and {promised.name} is pinned"
    if found.complete and found.outcome is not pinned.expect:
        yield f"{where}: {found.outcome.value}, and {pinned.expect.value!r} is pinned"
    if found.complete and pinned.states not in (None, found.states):
        yield f"{where}: {found.states:,} worlds, and {pinned.states:,} are pinned"
    evidence = sample.protocol.evidence
    if found.complete and [one for one in evidence.scopes if one.quick] == [pinned]:
        for quantity in evidence.must_occur:
            if not found.notes[quantity.name]:
                name = quantity.name
                yield f"{where}: no {name!r}; must_occur has it, so make another scope quick"


def pure(sample: Sample) -> Iterator[str]:
    """A step that is asked twice gives the same answer."""
    for system, before, action, _ in sample.edges():
        if isinstance(action, Crash | Suspect | Disturb):
            continue
        if response(system, before, action) != response(system, before, action):
            yield f"two answers to {action}"


def sizes(sample: Sample) -> Iterator[str]:
    """Each message and each durable value has a size."""
    kinds = [*MessageKind]
    values = [carried(effect) for effect in sample.effects if isinstance(effect, Send | Save)]
    if not values:
        yield "nothing is ever sent or saved"
    for value in values:
        size, of = size_of(sample.protocol, value), type(value).__name__
        if size.kind not in kinds:
            yield f"size({of}) has the kind {size.kind!r}; give a MessageKind"
        elif min(size.events, size.items) < 0:
            yield f"size({of}) has {min(size.events, size.items)}; amounts are at least 0"


def notes(sample: Sample) -> Iterator[str]:
    """Notes count quantities that are common or the family's own."""
    own = sample.protocol.behaviour.quantities
    known = (*COMMON, *own)
    names = [quantity.name for quantity in known]
    yield from (f"two quantities are called {n!r}" for n in names if names.count(n) > 1)
    for quantity in sample.protocol.evidence.must_occur:
        if quantity not in known:
            yield f"must_occur has {quantity.name!r}, which is not in Behaviour.quantities"
    for effect in sample.effects:
        if isinstance(effect, Note):
            if effect.what not in known:
                yield f"the note {effect.what.name!r} is not in Behaviour.quantities"
            if effect.times < 0:
                yield f"the note {effect.what.name!r} counts {effect.times}"


def gauges(sample: Sample) -> Iterator[str]:
    """Gauges measure known quantities; progress never decreases while a node lives."""
    own = sample.protocol.behaviour.quantities
    for system, before, _, after in sample.edges():
        for node, was, now in zip(system.sites, before.nodes, after.nodes, strict=True):
            if DOWN in (was.state, now.state):
                continue
            earlier = read_gauges(system, node, was.state)
            later = read_gauges(system, node, now.state)
            for quantity, _ in later.own:
                if quantity not in own:
                    yield f"the gauge {quantity.name!r} is not in Behaviour.quantities"
            if earlier.progress is not None:
                if later.progress is None:
                    yield f"{node}: the progress {earlier.progress} becomes None"
                elif later.progress < earlier.progress:
                    yield f"{node}: progress falls from {earlier.progress} to {later.progress}"
            if min(later.buffered or 0, later.windows or 0) < 0:
                yield f"{node}: a gauge is below 0"


def timers(sample: Sample) -> Iterator[str]:
    """Each kind of timer is explained."""
    known = sample.protocol.behaviour.timers
    yield from (f"the timer {kind!r} has no words" for kind, words in known.items() if not words)
    for _, _, _, after in sample.edges():
        for node in after.nodes:
            for timer in node.timers:
                kind = timer.partition(":")[0]
                if kind not in known:
                    yield f"the timer {kind!r} is not in Behaviour.timers"


def memory(sample: Sample) -> Iterator[str]:
    """A protocol that protects keeps something; one that protects nothing keeps nothing."""
    most = 0
    for system, _, _, after in sample.edges():
        for node, now in zip(system.sites, after.nodes, strict=True):
            if now.state is not DOWN:
                buffers, savepoints, state = read_memory(system, node, now.state)
                if min(*buffers, *savepoints, *state) < 0:
                    yield f"{node}: an amount of memory is below 0"
                most = max(most, sum((*buffers, *savepoints)))
    protects = sample.protocol.promise.protects
    if protects and not most:
        yield "no node ever keeps anything; return buffers or savepoints in Behaviour.memory"
    if not protects and most:
        yield f"protects=False, and nodes keep up to {most} events and items"


IN_WORLDS = (
    Duty(
        "as pinned",
        "The smallest scope has runs with crashes, and gives the pinned result; if it is the only "
        "quick one, all that `must_occur` names occurs there.",
        "A pin is evidence that a later change of the code is compared with.",
        as_pinned,
    ),
    Duty(
        "pure steps",
        "The same step gives the same answer twice.",
        "All drivers run the same code: a step reads no clock, no file, no random number.",
        pure,
    ),
    Duty(
        "sizes",
        "`size` returns a Size for each message and each durable value.",
        "The simulator charges links and disks by size; diagrams take the colour of the kind.",
        sizes,
    ),
    Duty(
        "notes",
        "Notes count common quantities or those in `quantities`; `must_occur` names these alone.",
        "Reports and price lists name quantities with unit and meaning.",
        notes,
    ),
    Duty(
        "gauges",
        "Gauges measure quantities in `quantities`; progress never decreases while a node lives.",
        "Recovery has ended when a node's progress is no less than before the crash.",
        gauges,
    ),
    Duty(
        "timers",
        "`timers` explains each kind of timer (its name up to a colon).",
        "Drivers with a clock take the time of each kind from the user.",
        timers,
    ),
    Duty(
        "memory",
        "`memory` shows the events and savepoints that a protocol keeps, if it protects anything.",
        "The simulator reports the price of protection in memory.",
        memory,
        of_files=False,
    ),
)
