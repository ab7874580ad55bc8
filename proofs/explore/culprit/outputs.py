"""The culprit among the outputs: a result that is missing, surplus or out of order.

Rule of this file: one fault is named, the gravest one; the run is as the story shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from model.boxes.box import Out, bodies
from model.choices import quiescent, ready
from model.comparison import Compare, Shape
from model.core import Guarantee, Property, When
from model.errors import StepFailed
from model.events import Body
from model.observations import observe
from model.oracle import by_edge
from model.properties import AS_IF, COMPLETE, comparisons, guarantee, shapes
from model.recovery import WORDS, beside, inputs_of
from model.results.culprit import Culprit, CulpritKind
from model.world import apply
from proofs.explore.culprit.differences import (
    EdgeDifference,
    OutputDifference,
    nearest_allowed,
    weakest,
)
from proofs.explore.culprit.missing import explain_missing
from proofs.explore.culprit.run import EdgeOutput, ShownRun, StoryEvent
from proofs.explore.culprit.surplus import origin_of
from proofs.explore.culprit.words import in_steps, some_of, times

REST = 500
"""The number of steps that a run may go on, to see whether a result still comes."""


def among_outputs(run: ShownRun, broken: Property, decided: int | None) -> Culprit | None:
    """The culprit, if the property looks at outputs alone and these differ from the allowed ones.

    decided: the place of the action that decides the run; None: not known.
    """
    precise = broken.holds in (AS_IF.holds, COMPLETE.holds)
    system, world = run.system, run.trace.worlds[-1]
    how = shapes(system.scope)
    if not how or broken.nodes or broken.messages:
        return None
    ended = broken.when is When.QUIESCENT
    allowed = comparisons(system.scope, observe(world))
    difference = nearest_allowed(allowed, how, ended=ended, by_guarantee=not precise)
    rests = quiescent(system, world)
    return _Outputs(run, ended, rests, how, difference, decided).culprit(precise=precise)


@dataclass(frozen=True, slots=True)
class _Edge:
    """An input edge of a sink.  number: its place among all edges.  outputs: those observed, each
    by its place in the run."""

    number: int
    found: EdgeDifference
    how: Compare
    want: tuple[Out, ...]
    got: tuple[Out, ...]
    outputs: tuple[EdgeOutput, ...]

    def alike(self, body: Body) -> list[int]:
        """The places of the surplus results with this body."""
        return [at for at in self.found.surplus if self.got[at].body == body]

    def first_early(self, place: int) -> int:
        """The place of the first observed result that belongs after a missing one."""
        ahead = [out.body for out in self.want[:place]]
        for at, out in enumerate(self.got):
            if out.body not in ahead:
                return at
            ahead.remove(out.body)
        return len(self.got) - 1


@dataclass(frozen=True, slots=True)
class _Outputs:
    """The outputs of a run beside the nearest allowed ones.

    ended: does the property look at runs at rest?  rests: is this one at rest?
    """

    run: ShownRun
    ended: bool
    rests: bool
    how: tuple[Compare, ...]
    difference: OutputDifference
    decided: int | None

    def culprit(self, *, precise: bool) -> Culprit | None:
        """The gravest fault; None: there is none.  precise: are duplicates faults?"""
        order = [self._unexpected, self._absent, self._again, self._swapped]
        if not precise:
            lost = weakest(self.difference.pairs, self.how) is Guarantee.GAP
            first = [self._unseen] if self.ended else []
            order = [*first, *([self._absent] if lost else []), *order]
        return next((one for find in order for one in find()), None)

    def _edges(self) -> Iterator[_Edge]:
        parts = zip(self.difference.edges, self.how, self.difference.pairs, strict=True)
        outputs = self.run.edges()
        for number, (found, how, (want, got)) in enumerate(parts):
            yield _Edge(number, found, how, tuple(want), tuple(got), outputs[number])

    # --- missing ---------------------------------------------------------------------------------
    def _unseen(self) -> Iterator[Culprit]:
        """Expected results with an event that went into no observed one."""
        for edge in self._edges():
            seen = inputs_of(edge.got)
            if all(out.of for out in (*edge.want, *edge.got)):
                places = (at for at, out in enumerate(edge.want) if not out.of <= seen)
                yield from (self._missing(edge, place) for place in places)

    def _absent(self) -> Iterator[Culprit]:
        """Expected results that have not come."""
        for edge in self._edges():
            for place in edge.found.missing:
                if edge.how.shape is Shape.TABLE and edge.want[place].body in bodies(edge.got):
                    continue  # the row came, and another one replaced it
                late = not self.ended and self._still_comes(edge, edge.want[place].body)
                yield (self._late if late else self._missing)(edge, place)

    def _missing(self, edge: _Edge, place: int) -> Culprit:
        out, run = edge.want[place], self.run
        label, events = run.label_expected(edge.number, out.body), self._events(out)
        why = explain_missing(run, out, events, self.decided, rests=self.rests)
        same = [event.label for event in events] == [label]
        named = (str(events[0]) if same else label) + run.at_sink(edge.number)
        others = len(edge.found.missing) - 1
        named += f" and {others} more" if others > 0 else ""
        says = f"{named} never come{'s' * (others < 1)}"
        if not self.rests:
            says = f"the run can come to rest without {named}"
        wrong = () if self.ended else (edge.outputs[edge.first_early(place)],)
        if wrong:
            step = run.step(wrong[0])
            says += f", which belongs before {run.label(wrong[0])} (step {step})"
        made = f"it is made of {some_of(events)}" if events and not same else ""
        reasons = "; ".join(one for one in (made, why.says) if one)
        return Culprit(
            CulpritKind.STUCK if why.stuck and why.lost is None else CulpritKind.MISSING,
            says + (f": {reasons}" if reasons else ""),
            label,
            _labels(events),
            tuple(map(run.emit, wrong)),
            why.lost,
            everyday=WORDS[Guarantee.GAP],
        )

    def _late(self, edge: _Edge, place: int) -> Culprit:
        """A result came before another one, which comes later."""
        run, out = self.run, edge.want[place]
        early = edge.outputs[edge.first_early(place)]
        label, late = run.label(early), run.label_expected(edge.number, out.body)
        where, step = run.at_sink(edge.number), run.step(early)
        says = f"{label} comes{where} in step {step} before {late}, which belongs first"
        events, wrong = _labels(self._events(out)), (run.emit(early),)
        return Culprit(CulpritKind.OUT_OF_ORDER, says, label, events, wrong)

    def _still_comes(self, edge: _Edge, body: Body) -> bool:
        """Does a missing result come if the run goes on to rest?"""
        had = sum(out.body == body for out in edge.got)
        system, world = self.run.system, self.run.trace.worlds[-1]
        try:
            for _ in range(REST):
                steps = ready(system, world)
                if not steps:
                    break
                world = apply(system, world, steps[0])
        except StepFailed:
            return False
        sink, at = self.run.edge_of(edge.number)
        return by_edge(world.outputs[sink], at + 1)[at].count(body) > had

    # --- surplus ---------------------------------------------------------------------------------
    def _unexpected(self) -> Iterator[Culprit]:
        """Results that the nearest allowed output does not have."""
        for edge in self._edges():
            expected = {*bodies(edge.want)}
            for place in edge.found.surplus:
                if edge.got[place].body not in expected:
                    yield self._made_up(edge, place)

    def _made_up(self, edge: _Edge, place: int) -> Culprit:
        run, out = self.run, edge.got[place]
        label, step = run.label(edge.outputs[place]), run.step(edge.outputs[place])
        scope, seen = run.system.scope, observe(run.trace.worlds[-1])
        origin = origin_of(scope, seen, edge.want, edge.got, place, ended=self.ended)
        events = self._events(out)
        says = f"{label} comes{run.at_sink(edge.number)} in step {step}"
        if edge.found.missing:
            instead = run.label_expected(edge.number, edge.want[edge.found.missing[0]].body)
            says += f" in place of {instead}"
        if origin.kind is CulpritKind.COUNTED_TWICE:
            twice = [run.events[of] for of in origin.twice]
            events = events or tuple(twice)
            says += f": {_twice_words(twice, guessed=origin.guessed)}"
        elif origin.dropped:
            dropped = [run.events[of] for of in origin.dropped]
            says += f": as if {some_of(dropped, 'or')} had not come"
        else:
            says += ": no run without failures has it"
            says += f"; it is made of {some_of(events)}" if events else ""
        wrong = tuple(run.emit(edge.outputs[at]) for at in edge.alike(out.body))
        return Culprit(origin.kind, says, label, _labels(events), wrong, everyday=self._everyday())

    def _again(self) -> Iterator[Culprit]:
        """Expected results that come too often; of a table, old rows in place of newer ones."""
        for edge in self._edges():
            table = edge.how.shape is Shape.TABLE
            for place in edge.found.surplus:
                yield (self._old_row if table else self._twice)(edge, place)

    def _twice(self, edge: _Edge, place: int) -> Culprit:
        run, out = self.run, edge.got[place]
        same = [edge.outputs[at] for at, one in enumerate(edge.got) if one.body == out.body]
        wrong = tuple(run.emit(edge.outputs[at]) for at in edge.alike(out.body))
        label, right = run.label(edge.outputs[place]), times(len(same) - len(wrong))
        steps = in_steps([*dict.fromkeys(map(run.step, same))])
        where = run.at_sink(edge.number)
        says = f"{label} comes {times(len(same))}{where}, {steps}, and is expected {right}"
        wanted = next(one for one in edge.want if one.body == out.body)
        events = _labels(self._events(out) or self._events(wanted))
        everyday = self._everyday()
        return Culprit(CulpritKind.TWICE, says, label, events, wrong, everyday=everyday)

    def _old_row(self, edge: _Edge, place: int) -> Culprit:
        run, old = self.run, edge.outputs[place]
        key = edge.how.key_of(edge.got[place].body)
        newer = [one.body for one in edge.want if edge.how.key_of(one.body) == key][-1]
        label, late = run.label(old), run.label_expected(edge.number, newer)
        came = newer in bodies(edge.got)
        table = f"the table{run.at_sink(edge.number)}"
        says = f"{label} of step {run.step(old)} stays in {table}, and {late} belongs there"
        kind = CulpritKind.OUT_OF_ORDER if came else CulpritKind.MISSING
        events, wrong = _labels(self._events(edge.got[place])), (run.emit(old),)
        return Culprit(kind, says, label, events, wrong, everyday=self._everyday())

    def _swapped(self) -> Iterator[Culprit]:
        """Expected results in another order."""
        run = self.run
        for edge in self._edges():
            if edge.found.swap is not None:
                early, late = (edge.outputs[at] for at in edge.found.swap)
                label = run.label(early)
                says = (
                    f"{label} comes{run.at_sink(edge.number)} in step {run.step(early)}, "
                    f"before {run.label(late)} "
                    f"(step {run.step(late)}), which belongs first"
                )
                events = _labels(self._events(edge.got[edge.found.swap.early]))
                kind, wrong = CulpritKind.OUT_OF_ORDER, (run.emit(early),)
                yield Culprit(kind, says, label, events, wrong, everyday=self._everyday())

    # --- words -----------------------------------------------------------------------------------
    def _events(self, out: Out) -> tuple[StoryEvent, ...]:
        """The events that a result is made of, by its lineage, or else by its own content."""
        events = self.run.events
        named = tuple(events[of] for of in sorted(out.of) if of in events)
        inside = [*_inside(out.body)]
        return named or tuple(event for event in events.values() if event.body in inside)

    def _everyday(self) -> str:
        """The guarantee of the run in everyday words: at rest, or else of the results so far.

        "" if values alone would call it a gap: then a wrong result stands for a missing one.
        """
        edges = [*self._edges()]
        if self.rests:
            found = guarantee(self.run.system.scope, observe(self.run.trace.worlds[-1]))
            known = all(out.of for edge in edges for out in (*edge.want, *edge.got))
            if found is not Guarantee.GAP or (known and self.ended):
                return WORDS[found]
        so_far = max(
            min(beside(edge.want[:end], edge.got, edge.how) for end in range(len(edge.want) + 1))
            for edge in edges
        )
        return "" if self.ended or so_far is Guarantee.GAP else WORDS[so_far]


def _inside(body: object) -> Iterator[Body]:
    """The body, and those of which it is made; a wrong result may be no body."""
    if isinstance(body, Body):
        yield body
        for part in body.data:
            yield from _inside(part)


def _labels(events: Iterable[StoryEvent]) -> tuple[str, ...]:
    return tuple(event.label for event in events)


def _twice_words(events: list[StoryEvent], *, guessed: bool) -> str:
    if guessed:
        return f"as if {some_of(events, 'or')} had come twice"
    return f"{some_of(events)} count{'s' * (len(events) == 1)} twice"
