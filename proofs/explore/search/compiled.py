"""The compiled search: the same worlds in the same order as the plain search, in arrays.

Rule of this file: the tables of proofs.explore.search.loops, their growth, and the questions that
the loops ask.  Each answer comes from proofs.explore.collapse or from the judge, once.  The file is
long because the growth of a table stands beside the question whose answer fills it.

A world is as many words as its fields need; a field has as many bits as its numbers need so far,
and is given more when they run out.  Memory: 8 bytes a word, 4 for the parent, 6 to 12 for the
hash table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from typing import Any, TypeAlias, TypeVar

import numpy as np
import psutil
from numpy.typing import NDArray

from model.core import Guarantee, Observation, Property
from model.errors import StepFailed
from model.observations import Looks, look_inside
from model.world import World
from proofs.explore.collapse import Collapsed
from proofs.explore.search import loops
from proofs.explore.search.cores import usable_cores
from proofs.explore.search.judge import FailedIn, Judge
from proofs.explore.search.layouts import WorldLayout, dense_layout
from proofs.explore.search.loops import ADD, APPEND, HEAD, POP, SET, SIGN, WHOLE, Choice, Tables
from proofs.explore.search.memory import zeros
from proofs.explore.search.meter import Meter
from proofs.explore.search.rest import Suspects
from proofs.explore.views import (
    CLEAR,
    CLOSE,
    CLOSED,
    FAULTS,
    CachedEffect,
    FieldChange,
    NodeView,
    StepCache,
)

_Scalar = TypeVar("_Scalar", bound=np.generic)
_Op: TypeAlias = tuple[int, int, int]

CHUNK = 1 << 12
"""So many worlds are expanded between two looks at the meter."""
WORTH_THREADS = 1 << 10
BLOCK = 1 << 8
CORES = usable_cores()
ROWS = 32
"""So many words of new worlds are kept for each world of a chunk, on average."""
FIRST_BITS = 4
MORE_BITS = 2
FIRST_ROOM = 1 << 12
MOST_BYTES = psutil.virtual_memory().total + psutil.swap_memory().total


def widen(array: NDArray[_Scalar], rows: int) -> NDArray[_Scalar]:
    """The array with room for at least `rows` rows; at least twice as many as before, if any."""
    if rows <= len(array):
        return array
    wider = np.zeros((max(rows, 2 * len(array)), *array.shape[1:]), array.dtype)
    wider[: len(array)] = array
    return wider


class Keys:
    """A hash table of keys, numbered in the order in which they come."""

    def __init__(self, width: int) -> None:
        self.count = 0
        self.slots = np.full(1 << 10, -1, np.int32)
        self.keys = np.zeros((1 << 9, width), np.int32)

    def add(self, key: NDArray[np.int32]) -> int:
        number = self.count
        self.keys = widen(self.keys, number + 1)
        self.keys[number] = key[: self.keys.shape[1]]
        self.count += 1
        if 2 * self.count > len(self.slots):
            self.slots = np.full(2 * len(self.slots), -1, np.int32)
            number = 0
        loops.fill(self.slots, self.keys, number, self.count)
        return self.count - 1


class CompiledSearch:
    """A search under way over the tables of `collapsed`, up to worlds `deepest` actions away."""

    def __init__(self, collapsed: Collapsed, judge: Judge, deepest: int | None = None) -> None:
        self.deepest = deepest
        self.collapsed, self.judge, system = collapsed, judge, collapsed.system
        nodes, channels, arrivals, outputs, budget = collapsed.starts
        width = collapsed.width
        self.budget = budget
        self.whole = [*range(nodes, channels), *range(arrivals, outputs)]
        self.bits = [FIRST_BITS] * width
        for field, name in enumerate(collapsed.budgets, budget):
            self.bits[field] = max(1, int(getattr(system.scope, name)).bit_length())
        self.at = np.zeros(loops.COUNTERS, np.int64)
        self.numbers = np.zeros(width, np.int64)
        self.settled = np.zeros(width, np.int64)
        self.key = np.zeros(width + 1, np.int32)
        self.question = np.zeros(loops.QUESTION, np.int32)
        views = len(collapsed.views)
        self.choosing = np.zeros(views, np.int64), np.zeros((views, 2), np.int64)
        self.depth = 0
        self.violation: tuple[Property, int] | None = None
        rows = [[(field, self._part(field)) for field in view.fields] for view in collapsed.views]
        self.focuses = Keys(1 + max(map(len, rows)))
        self.moves = self.op_count = 0
        self.op_ranges: dict[int, tuple[int, int]] = {}  # `collapsed` keeps the effects
        self.parts: dict[tuple[int, int], int] = {}
        seen = np.array(collapsed.looked_at(judge.always_looks))
        resting = np.array(collapsed.looked_at(judge.rest_looks))
        self.seen, self.rest = Keys(len(seen)), Keys(len(resting))
        self.found_seen: list[Property | None] = []
        self.found_rest: list[Property | None] = []
        self.slots = zeros(MOST_BYTES // 4, np.uint32)
        self.tables = self._empty_tables(rows, seen, resting)
        fresh, start, transitions, seen_ = (np.zeros(CHUNK, np.int64) for _ in range(4))
        words = np.empty(ROWS * CHUNK, np.uint64)
        self.ahead = loops.Ahead(fresh, start, transitions, seen_, words)
        self.threads = ThreadPoolExecutor(CORES)
        self._add_first_world()

    def _empty_tables(
        self,
        rows: list[list[tuple[int, int]]],
        seen: NDArray[np.int64],
        resting: NDArray[np.int64],
    ) -> Tables:
        """The tables with room for the first worlds.

        rows: the fields of each view, and the part of each at which a focus looks.  seen, resting:
        the fields of an observation, of any world and of one at rest.
        """
        system, width = self.collapsed.system, self.collapsed.width
        layout = self._layout()
        heads = np.zeros((width, FIRST_ROOM), np.int32)
        heads[:, loops.CLOSED] = loops.CLOSED
        return Tables(
            per=layout.per,
            words=zeros(MOST_BYTES // 8, np.uint64),
            parents=zeros(MOST_BYTES // 8, np.uint32),
            slots=self.slots[: 2 * FIRST_ROOM],
            word=layout.word,
            shift=layout.shift,
            mask=layout.mask,
            head=heads,
            tail=np.zeros_like(heads),
            last=np.zeros_like(heads),
            prefix=np.zeros_like(heads),
            messages=np.zeros(FIRST_ROOM, np.int64),
            counts=np.full(width, 2, np.int64),
            pair_keys=np.zeros(FIRST_ROOM, np.uint64),
            pair_values=np.full(FIRST_ROOM, -1, np.int32),
            view_start=np.array([0, *accumulate(map(len, rows))], np.int64),
            looks=np.array([row for view in rows for row in view], np.int64),
            focus_slots=self.focuses.slots,
            focus_keys=self.focuses.keys,
            move_start=np.zeros(FIRST_ROOM, np.int64),
            own_end=np.zeros(FIRST_ROOM, np.int64),
            always_end=np.zeros(FIRST_ROOM, np.int64),
            fault_end=np.zeros(FIRST_ROOM, np.int64),
            patient_end=np.zeros(FIRST_ROOM, np.int64),
            granted=np.zeros((FIRST_ROOM, 3), np.bool_),
            op_ranges=np.zeros((FIRST_ROOM, 2), np.int64),
            ops=np.zeros((FIRST_ROOM, 3), np.int32),
            seen_fields=seen,
            seen_slots=self.seen.slots,
            seen_keys=self.seen.keys,
            seen_broken=np.zeros(FIRST_ROOM, np.bool_),
            rest_fields=resting,
            rest_slots=self.rest.slots,
            rest_keys=self.rest.keys,
            rest_broken=np.zeros(FIRST_ROOM, np.bool_),
            budget=self.budget,
            full=system.scope.crashes,
            rationed=self.collapsed.rationed,
            by_world=self.collapsed.by_world,
            patient=bool(system.deployment.patient),
            prompt=np.array(self.collapsed.prompt, np.int64),
            choice=self._choice(),
        )

    def _choice(self) -> Choice:
        """The tables of a search that takes every move."""
        words, none = np.zeros(1, np.uint64), np.uint64(0)
        return Choice(
            nodes=0,
            channels=0,
            open=0,
            arrivals=np.zeros(1, np.int64),
            incoming=words,
            outgoing=words,
            heeds=words,
            only=words,
            grouped=np.zeros(1, np.bool_),
            of_victims=none,
            at_risk=none,
            sends=np.zeros((2, 1, 1, 2), np.uint64),
            kinds=np.zeros((1, 1), np.int8),
            lost=np.zeros((1, 1), np.uint64),
            labels=np.zeros(1, np.int32),
            takes=np.zeros(1, np.int64),
            silent=words,
            heard=words,
            calm=np.zeros(1, np.bool_),
            all_silent=words,
            all_heard=np.zeros((1, 2), np.uint64),
            verdict_slots=np.full(2, -1, np.int32),
            verdict_keys=np.zeros((1, loops.QUESTION), np.int32),
            verdicts=np.zeros(1, np.bool_),
        )

    def _add_first_world(self) -> None:
        t, collapsed = self.tables, self.collapsed
        first = [
            number if field in self.whole else 0
            for field, number in enumerate(collapsed.numbers(collapsed.initial))
        ]
        for field, name in enumerate(collapsed.budgets, self.budget):
            first[field] = getattr(collapsed.system.scope, name)
        for field, number in enumerate(first):
            t.words[t.word[field]] |= np.uint64(number << int(t.shift[field]))
        self.at[loops.COUNT] = 1
        loops.fill_worlds(t.slots, t.words, t.per, 1)

    @property
    def states(self) -> int:
        return int(self.at[loops.COUNT])

    @property
    def transitions(self) -> int:
        return int(self.at[loops.TRANSITIONS])

    @property
    def quiescent(self) -> int:
        return int(self.at[loops.QUIESCENT])

    # --- levels ------------------------------------------------------------------------------
    def levels(self, until: Guarantee | None, meter: Meter) -> bool:
        """As PlainSearch.levels."""
        try:
            return self._levels(until, meter)
        finally:
            self.grant()

    def _levels(self, until: Guarantee | None, meter: Meter) -> bool:
        at = self.at
        at[loops.STOP], at[loops.VIOLATION] = until is Guarantee.PRECISE, -1
        start, end = 0, 1
        while start < end:
            at[loops.VIEW] = -1
            for first in range(start, end, CHUNK):
                at[loops.WORLD] = at[loops.CHUNK] = first
                at[loops.END] = min(end, first + CHUNK)
                self._look_ahead(first, int(at[loops.END]))
                ended = self._expand()
                if ended == loops.STOPPED or meter.spent():
                    return False
            start, end = end, self.states
            if self.violation and self.judge.is_enough(until):
                return False
            if end > start and meter.spent(end):
                return False
            if self.depth == self.deepest:
                return False
            self.depth += end > start
        return True

    def grant(self) -> None:
        """Add the evidence of the moves that the worlds grant."""
        granted = self.tables.granted
        if not self.collapsed.by_world:
            granted[:, 0] = True
        for focus, key in enumerate(self.focuses.keys[: self.focuses.count]):
            view, numbers = self.collapsed.views[key[0]], self._focus_numbers(key)
            for kind in np.flatnonzero(granted[focus]).tolist():
                self.collapsed.grant(view, numbers, FAULTS + kind)

    def _look_ahead(self, first: int, end: int) -> None:
        """Have threads find what a chunk leads to; few worlds are not worth it."""
        self.ahead.fresh.fill(-1)
        if end - first < WORTH_THREADS:
            return
        t, rows = self.tables, len(self.ahead.words) // self.tables.per
        cuts = [first + (end - first) * i // CORES for i in range(CORES + 1)]
        parts = [
            (cuts[i], cuts[i + 1], (rows * i // CORES, rows * (i + 1) // CORES), self._scratch())
            for i in range(CORES)
        ]
        looks = [
            self.threads.submit(loops.look_ahead, t, self.at, self.ahead, *part)
            for part in parts[1:]
        ]
        loops.look_ahead(t, self.at, self.ahead, *parts[0])
        for look in looks:
            look.result()

    def _scratch(self) -> loops.Scratch:
        t, rows = self.tables, max(BLOCK, int(self.at[loops.WIDEST]))
        return loops.Scratch(
            numbers=np.zeros_like(self.numbers),
            settled=np.zeros_like(self.numbers),
            key=np.zeros_like(self.key),
            question=np.zeros_like(self.question),
            focuses=np.zeros(len(t.view_start) - 1, np.int64),
            taken=np.zeros((len(t.view_start) - 1, 2), np.int64),
            words=np.zeros(rows * t.per, np.uint64),
            slots=np.zeros(rows, np.uint64),
            ends=np.zeros(rows, np.int64),
        )

    def _answers(self) -> dict[int, Callable[[], None]]:
        """How to answer what the loops ask.  It is made anew for each use: a search that held its
        own methods would keep its memory until somebody looks for such circles."""
        return {
            loops.NO_FOCUS: self._answer_focus,
            loops.NO_OBSERVATION: self._answer_observation,
            loops.NO_REST: self._answer_rest,
            loops.NO_ROOM: self._make_room,
        }

    def _expand(self) -> int:
        """Go on to the end of the level, and answer what the loops ask on their way."""
        answers = self._answers()
        while True:
            after = np.zeros(self.tables.per, np.uint64)
            fields = self.numbers, self.settled, self.key, self.question, *self.choosing
            ended = int(loops.expand(self.tables, self.at, self.ahead, *fields, after))
            if self.violation is None and self.at[loops.VIOLATION] >= 0:
                self.violation = self._violation(int(self.at[loops.VIOLATION]))
            if ended not in answers:
                return ended
            try:
                answers[ended]()
            except StepFailed as error:
                raise FailedIn(int(self.at[loops.WORLD]), error) from error

    # --- answers -----------------------------------------------------------------------------
    def _part(self, field: int) -> int:
        if field >= self.budget:
            return SIGN
        return WHOLE if field in self.whole else HEAD

    def _answer_focus(self) -> None:
        view = self.collapsed.views[self.key[0]]
        numbers = self._focus_numbers(self.key)
        found = self.collapsed.focus(view, numbers)
        t = self.tables
        focus = self.focuses.add(self.key)
        most = len(found.cached) * len(self.collapsed.views)
        self.at[loops.WIDEST] = max(self.at[loops.WIDEST], most)
        first, end = self.moves, self.moves + len(found.cached)
        own, _, always, faults, patient, _ = found.ends
        own_end, always_end = widen(t.own_end, focus + 1), widen(t.always_end, focus + 1)
        fault_end, patient_end = widen(t.fault_end, focus + 1), widen(t.patient_end, focus + 1)
        own_end[focus], always_end[focus] = first + own, first + always
        fault_end[focus], patient_end[focus] = first + faults, first + patient
        granted, move_start = widen(t.granted, focus + 1), widen(t.move_start, focus + 2)
        move_start[focus + 1] = end
        op_ranges = widen(t.op_ranges, end)
        if end > first:
            op_ranges[first:end] = [self._op_range(view, numbers, e) for e in found.cached]
        self.moves = end
        self.tables = self.tables._replace(
            focus_slots=self.focuses.slots,
            focus_keys=self.focuses.keys,
            own_end=own_end,
            always_end=always_end,
            fault_end=fault_end,
            patient_end=patient_end,
            granted=granted,
            move_start=move_start,
            op_ranges=op_ranges,
        )
        self._learn(view, numbers, found)
        for field in self.whole:
            while len(self.collapsed.values[field]) > 1 << self.bits[field]:  # one focus, many new
                self._give_bits(field)

    def _learn(self, view: NodeView, numbers: tuple[int, ...], found: StepCache) -> None:
        """A focus was met; its moves are the last ones."""

    def _focus_numbers(self, key: NDArray[np.int32]) -> tuple[int, ...]:
        """The focus of a key of the loops, as `collapsed` numbers it."""
        view, *parts = key.tolist()
        fields = self.collapsed.views[view].fields
        return tuple(map(self._focus_number, fields, parts))

    def _focus_number(self, field: int, part: int) -> int:
        known = self.parts.get((field, part))
        if known is None:
            known = self.parts[field, part] = self._number_part(field, part)
        return known

    def _number_part(self, field: int, part: int) -> int:
        """The number of a field's part of a focus in the tables of `collapsed`."""
        kind = self._part(field)
        if kind == WHOLE:
            return part
        if kind == SIGN:
            return self.collapsed.number(field, part)
        if part == loops.CLOSED:
            return self.collapsed.number(field, CLOSED)
        return self.collapsed.number(
            field, () if part == loops.EMPTY else self.collapsed.messages[part - 2]
        )

    def _op_range(
        self, view: NodeView, numbers: tuple[int, ...], effect: CachedEffect
    ) -> tuple[int, int]:
        """Where the operations of an effect are: in one place for all focuses that share it."""
        known = self.op_ranges.get(id(effect))
        if known is None:
            rows = list(self._operations(view, numbers, effect))
            begin, end = self.op_count, self.op_count + len(rows)
            ops = widen(self.tables.ops, end)
            if rows:
                ops[begin:end] = rows
            self.tables = self.tables._replace(ops=ops)
            self.op_count = end
            known = self.op_ranges[id(effect)] = begin, end
        return known

    def _operations(
        self, view: NodeView, numbers: tuple[int, ...], effect: CachedEffect
    ) -> Iterator[_Op]:
        for field, more in effect.changed:
            yield field, ADD, more
        for field, change in effect.after:
            before = self.collapsed.values[field][numbers[view.fields.index(field)]]
            if change is FieldChange.TAKEN:
                yield field, POP, 0
            elif change is FieldChange.SPENT:
                yield field, ADD, -1
            elif change is FieldChange.CLOSED:
                yield field, SET, loops.CLOSED
            elif change is FieldChange.OPENED:
                yield field, SET, loops.EMPTY
            elif change is FieldChange.RESET:
                yield field, loops.CLEAR, 0
            else:  # the first message is appended, doubled or delayed
                if change is FieldChange.DELAYED:
                    yield field, POP, 0
                yield field, APPEND, self.collapsed.message_number(before[:1])
        for field, sent in effect.sent:
            for message in self.collapsed.messages[sent]:
                if message is CLEAR:
                    yield field, loops.CLEAR, 0
                elif message is CLOSE:
                    yield field, SET, loops.CLOSED
                else:
                    yield field, APPEND, self.collapsed.message_number((message,))

    def _seen(self, looks: Looks) -> Observation:
        """The observation of the world that the loops stand at."""
        if looks == Looks():  # much cheaper than the whole world
            _, _, arrivals, outputs, end = self.collapsed.starts
            numbers = self.numbers.tolist()
            values = [self._value(field, numbers[field]) for field in range(arrivals, end)]
            cut = outputs - arrivals
            return Observation(tuple(values[:cut]), tuple(values[cut:]))
        return look_inside(self.collapsed.system, self._world(self.numbers), looks)

    def _answer_observation(self) -> None:
        self.found_seen.append(self.judge.broken(self._seen(self.judge.always_looks)))
        number = self.seen.add(self.key)
        broken = widen(self.tables.seen_broken, number + 1)
        broken[number] = self.found_seen[-1] is not None
        self.tables = self.tables._replace(
            seen_slots=self.seen.slots, seen_keys=self.seen.keys, seen_broken=broken
        )

    def _answer_rest(self) -> None:
        self.found_rest.append(self.judge.broken_at_rest(self._seen(self.judge.rest_looks)))
        number = self.rest.add(self.key)
        broken = widen(self.tables.rest_broken, number + 1)
        broken[number] = self.found_rest[-1] is not None
        self.tables = self.tables._replace(
            rest_slots=self.rest.slots, rest_keys=self.rest.keys, rest_broken=broken
        )

    def _violation(self, world: int) -> tuple[Property, int]:
        """The property that a world violates; its observation has been judged."""
        numbers = self._numbers(world)
        for keys, fields, found in (
            (self.seen, self.tables.seen_fields, self.found_seen),
            (self.rest, self.tables.rest_fields, self.found_rest),
        ):
            key = np.ascontiguousarray(numbers[fields], np.int32)
            number = keys.slots[loops.find_slot(keys.slots, keys.keys, key)]
            broken = found[number] if number >= 0 else None
            if broken is not None:
                return broken, world
        raise AssertionError(f"world {world} violates no property")

    # --- room --------------------------------------------------------------------------------
    def _layout(self) -> WorldLayout:
        """The layout of worlds with the bits that the fields have."""
        return dense_layout(self.bits)

    def _make_room(self) -> None:
        """Make room for what the loops could not store."""
        t, field = self.tables, int(self.at[loops.FIELD])
        if field < 0:
            self._fill_slots(2 * len(t.slots))
        elif t.counts[field] >= len(t.messages):  # no content has more messages than that
            self.tables = t._replace(messages=np.zeros(2 * len(t.messages), np.int64))
        elif 2 * self.at[loops.PAIRS] >= len(t.pair_keys):
            used = t.pair_values >= 0
            keys, values = t.pair_keys[used], t.pair_values[used]
            room = 4 * len(t.pair_keys)
            pair_keys, pair_values = np.zeros(room, np.uint64), np.full(room, -1, np.int32)
            loops.fill_pairs(pair_keys, pair_values, keys, values)
            self.tables = t._replace(pair_keys=pair_keys, pair_values=pair_values)
        elif t.counts[field] >= t.head.shape[1]:
            more = np.zeros(t.head.shape, np.int32)
            self.tables = t._replace(
                head=np.hstack([t.head, more]),
                tail=np.hstack([t.tail, more]),
                last=np.hstack([t.last, more]),
                prefix=np.hstack([t.prefix, more]),
            )
        else:
            self._give_bits(field)

    def _give_bits(self, field: int) -> None:
        """Give a field more bits, and move all worlds to the new layout."""
        self.bits[field] += MORE_BITS
        t, layout = self.tables, self._layout()
        old = (t.per, t.word, t.shift, t.mask)
        loops.repack(t.words, self.states, old, tuple(layout), self.numbers)
        self.tables = t._replace(**layout._asdict())
        self._fill_slots(len(t.slots))
        self.ahead.fresh.fill(-1)  # its worlds have the old layout

    def _fill_slots(self, size: int) -> None:
        """Enter all worlds into the hash table anew, which has so many slots then."""
        self.tables.slots.fill(0)
        self.tables = self.tables._replace(slots=self.slots[:size])
        loops.fill_worlds(self.tables.slots, self.tables.words, self.tables.per, self.states)

    # --- rest --------------------------------------------------------------------------------
    def edges(self, suspects: Suspects) -> NDArray[np.int64]:
        """As PlainSearch.edges."""
        return self._follow(self._chosen(suspects), 0, int(self.at[loops.WORLD]))

    def _chosen(self, suspects: Suspects) -> NDArray[np.bool_]:
        """For each move that was seen, whether it is a suspect."""
        chosen = np.zeros(self.moves, np.bool_)
        for focus, key in enumerate(self.focuses.keys[: self.focuses.count]):
            view = self.collapsed.views[key[0]]
            numbers = self._focus_numbers(key)
            for move in suspects.get((view.whose, numbers), ()):
                chosen[self.tables.move_start[focus] + move] = True
        return chosen

    def _follow(self, chosen: NDArray[np.bool_], first: int, end: int) -> NDArray[np.int64]:
        """The edges of the chosen moves of the worlds from `first` to `end`."""
        at, t = self.at, self.tables
        at[loops.WORLD] = first
        after, rows = (
            np.zeros(t.per, np.uint64),
            np.zeros((max(CHUNK, int(at[loops.WIDEST])), 2), np.int64),
        )
        found = [np.zeros((0, 2), np.int64)]
        while at[loops.WORLD] < end:
            fields = self.numbers, self.settled, self.key
            count = loops.follow(t, at, chosen, end, *fields, after, rows)
            found.append(rows[:count].copy())
        return np.concatenate(found)

    # --- worlds ------------------------------------------------------------------------------
    def path(self, world: int) -> list[World]:
        """The worlds from the initial one to this one."""
        found = [world]
        while found[-1]:
            found.append(int(self.tables.parents[found[-1]]))
        return [self.world(index) for index in reversed(found)]

    def world(self, world: int) -> World:
        return self._world(self._numbers(world))

    def _numbers(self, world: int) -> NDArray[np.int64]:
        t = self.tables
        words = t.words[world * t.per : (world + 1) * t.per]
        return ((words[t.word] >> t.shift) & t.mask).astype(np.int64)

    def _world(self, numbers: NDArray[np.int64]) -> World:
        return self.collapsed.fold(
            [self._value(field, number) for field, number in enumerate(numbers.tolist())]
        )

    def _value(self, field: int, number: int) -> Any:
        """What a field holds."""
        if field >= self.budget:
            return number
        if field in self.whole:
            return self.collapsed.values[field][number]
        if number == loops.CLOSED:
            return CLOSED
        messages: list[Any] = []
        while number != loops.EMPTY:
            messages += self.collapsed.messages[self.tables.last[field, number]]
            number = int(self.tables.prefix[field, number])
        return tuple(reversed(messages))
