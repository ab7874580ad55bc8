"""The buffer of a search on disk: the compiled search, with a part of one level in its arrays.

Rule of this file: no file of worlds.  The first rows of the buffer are worlds that it expands; the
others are the worlds to which these lead, each once, in the order in which they were found.

What a folder keeps of the tables are numbers alone.  The answers of the model are asked again, in
the same order, when a search goes on: values need not be written, and evidence comes back by itself
(crash points, notes, the weakest guarantee, properties violated).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model.core import Property
from model.errors import Invalid
from model.world import World
from proofs.explore.search import compiled, loops
from proofs.explore.search.compiled import CompiledSearch
from proofs.explore.search.layouts import WorldLayout, ordered_layout
from proofs.explore.search.memory import zeros
from proofs.explore.search.rest import Suspects
from proofs.explore.search.runs import Places, Words

CONTENTS = ("head", "tail", "last", "prefix")
PAIRS = ("pair_keys", "pair_values")


def _with_room(contents: NDArray[np.int32], room: int) -> NDArray[np.int32]:
    """The contents of all fields, with room for `room` contents of each field."""
    wide = np.zeros((len(contents), room), np.int32)
    wide[:, : contents.shape[1]] = contents
    return wide


class LevelBuffer(CompiledSearch):
    """A part of a level.  first: how many of its rows are worlds to expand."""

    first = 0

    def _layout(self) -> WorldLayout:
        return ordered_layout(self.bits)

    @property
    def layout(self) -> WorldLayout:
        t = self.tables
        return WorldLayout(t.per, t.word, t.shift, t.mask)

    @property
    def found(self) -> int:
        """The number of new worlds in the buffer."""
        return max(0, self.states - self.first)

    def initial(self) -> Words:
        """The first world, before anything is expanded."""
        return self.tables.words[: self.tables.per].reshape(1, -1).copy()

    def clear(self) -> None:
        """Forget all worlds, and give their memory back."""
        self.slots = zeros(compiled.MOST_BYTES // 4, np.uint32)
        self.tables = self.tables._replace(
            words=zeros(compiled.MOST_BYTES // 8, np.uint64),
            parents=zeros(compiled.MOST_BYTES // 8, np.uint32),
            slots=self.slots[: len(self.tables.slots)],
        )
        self.first = self.at[loops.COUNT] = 0

    def expand(self, worlds: Words, place: int) -> int:
        """Add the worlds to which these lead; returns how the loops ended.

        worlds: no more than at the first call after `clear`.  place: of the first of them in their
        level, by which they are the parents.
        """
        t, at = self.tables, self.at
        if not self.first:
            self.first = at[loops.COUNT] = len(worlds)
        before = self.states
        t.words[: worlds.size] = worlds.reshape(-1)
        at[loops.WORLD] = at[loops.CHUNK] = 0
        at[loops.END], at[loops.VIEW] = len(worlds), -1
        try:
            self._look_ahead(0, len(worlds))
            return self._expand()
        finally:
            self.tables.parents[before : self.states] += np.uint32(place)

    def take(self) -> tuple[Words, Places]:
        """The new worlds, and the places of their parents in the level."""
        t = self.tables
        words = t.words[self.first * t.per : self.states * t.per]
        return words.reshape(-1, t.per), t.parents[self.first : self.states]

    def unpack(self, row: Words) -> World:
        """The world of a row."""
        t = self.tables
        return self._world(((row[0, t.word] >> t.shift) & t.mask).astype(np.int64))

    def judge_again(self, row: Words) -> Property:
        """The property that the world of a row violates, as was found before."""
        self.clear()
        self.tables.words[: row.size] = row.reshape(-1)
        self.violation = self._violation(0)
        return self.violation[0]

    # --- tables ------------------------------------------------------------------------------
    def sizes(self) -> tuple[int, ...]:
        """The sizes of all tables; equal again when the model was asked the same."""
        collapsed = self.collapsed
        return (*map(len, collapsed.values), len(collapsed.messages), self.moves, self.op_count)

    def save_tables(self, path: Path) -> None:
        t, used = self.tables, int(self.tables.counts.max())
        with path.open("wb") as file:
            np.savez(
                file,
                bits=np.array(self.bits),
                counters=self.at,
                counts=t.counts,
                focuses=self.focuses.keys[: self.focuses.count],
                granted=t.granted[: self.focuses.count],
                seen=self.seen.keys[: self.seen.count],
                rest=self.rest.keys[: self.rest.count],
                **{name: getattr(t, name)[:, :used] for name in CONTENTS},
                **{name: getattr(t, name) for name in PAIRS},
            )

    def load_tables(self, path: Path, sizes: tuple[int, ...]) -> None:
        """Number everything as `save_tables` found it.  Raises Invalid if the model answers
        otherwise than then."""
        t = self.tables
        with np.load(path) as saved:
            self.bits = saved["bits"].tolist()
            self.at[:] = saved["counters"]
            room = max(t.head.shape[1], 2 * saved["head"].shape[1])
            self.tables = t._replace(
                **self._layout()._asdict(),
                head=_with_room(saved["head"], room),
                tail=_with_room(saved["tail"], room),
                last=_with_room(saved["last"], room),
                prefix=_with_room(saved["prefix"], room),
                pair_keys=saved["pair_keys"],
                pair_values=saved["pair_values"],
                counts=saved["counts"],
            )
            names = "focuses", "granted", "seen", "rest"
            focuses, granted, seen, rest = (saved[name] for name in names)
        self.clear()
        for key in focuses:
            self.key[: len(key)] = key
            self._answer_focus()
        self.tables.granted[: len(granted)] = granted
        for keys, fields, answer in (
            (seen, self.tables.seen_fields, self._answer_observation),
            (rest, self.tables.rest_fields, self._answer_rest),
        ):
            for key in keys:
                self.key[: len(key)] = key
                self.numbers[:] = 0
                self.numbers[fields] = key
                answer()
        if self.sizes() != sizes:
            raise Invalid(f"--spill {path.parent}: the model answers otherwise than before")

    # --- rest --------------------------------------------------------------------------------
    def chosen(self, suspects: Suspects) -> NDArray[np.bool_]:
        """For each move that was seen, whether it is a suspect."""
        return self._chosen(suspects)

    def look_for(self, targets: Words) -> None:
        """Hold these worlds, so that `edges_into` finds them."""
        self.clear()
        t, count = self.tables, len(targets)
        t.words[: targets.size] = targets.reshape(-1)
        size = max(len(t.slots), 1 << (2 * count).bit_length())
        self.first = self.at[loops.COUNT] = count
        self.tables = t._replace(slots=self.slots[:size])
        self._fill_slots(size)

    def edges_into(self, worlds: Words, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The edges of the chosen moves from these worlds to those that the buffer holds: rows
        (place of the world, place of the next world)."""
        t, first = self.tables, self.first
        t.words[first * t.per : (first + len(worlds)) * t.per] = worlds.reshape(-1)
        edges = self._follow(chosen, first, first + len(worlds))
        edges[:, 0] -= first
        return edges[edges[:, 1] >= 0]
