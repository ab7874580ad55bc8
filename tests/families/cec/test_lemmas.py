"""What the lemma about replays says of an operator is so on the model's, in random runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import le
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.events import Body, Event
from model.log import Log
from model.protocols.cec.design import MENDED, Bound, CecDesign, Closed
from model.protocols.cec.messages import Disk, Kind, NodeState, Segment
from model.protocols.cec.nodes import recover
from model.protocols.cec.operator import process
from model.protocols.cec.scan import reconstruct
from proofs.lemmas.cec import replay
from proofs.prove.conformance import Comparison, Coverage, Formulas, Mismatch, Path
from proofs.prove.lemma import all_given
from proofs.prove.structure import Structure
from tests.families.cec.logs import Written, events, site, write

EMPTY: tuple[int, tuple[int, ...]] = (0, ())
"""A window that has just opened: how many tuples it has, and their times."""


@st.composite
def counted(draw: st.DrawFn) -> tuple[Written, int]:
    """A run of an aggregate over windows by count without gaps, and where its log is cut.

    No tuple opens a window and closes it."""
    size = draw(st.integers(2, 3))
    box = Aggregate("list", size, draw(st.integers(1, size)), of="time", group="type")
    stream = draw(events(8))
    checks = draw(st.lists(st.integers(0, 2), min_size=len(stream), max_size=len(stream)))
    whole = write(box, stream, checks)
    return whole, draw(st.integers(0, len(whole.disk.log)))


def again(whole: Written, log: Log[Segment], design: CecDesign) -> Iterator[NodeState]:
    """The operator that is restored from the log, before the replay and after each tuple."""
    state = recover(site(whole.box, design), Disk(1, log)).state
    request = state.inlets.ends[0].request
    yield state
    for event in whole.events:
        if request.wants(event):
            state, _ = process(design, whole.box, state, event, frozenset())
        yield state


def path_of(whole: Written, log: Log[Segment], design: CecDesign) -> Path:
    """Both runs, as the lemma has them."""
    box, records = whole.box, [record for segment in log for record in segment.records]
    stream = {event.sn[0]: event for event in whole.events}
    every = [record for segment in whole.disk.log for record in segment.records]
    opener = {(r.key, r.opened): r.stamp for r in every if r.kind is Kind.OPEN}
    found = reconstruct(MENDED, box, log)
    assert found.start is not None
    loaded = {(window.key, window.opened): window for window in found.windows}
    known = {floor.key for floor in found.floors if floor.opened is None}
    newest = {record.key: record.stamp for record in records}
    resumes = dict(found.turns)
    keys = {event.body.type for event in whole.events}
    start = found.start

    def adds(state: tuple[int, tuple[int, ...]], at: int) -> tuple[int, tuple[int, ...]]:
        return state[0] + 1, (*state[1], stream[at].body.time)

    structure = Structure(
        {
            "input": [*stream],
            "window": [*opener],
            "key": keys,
            "time": {event.body.time for event in whole.events},
        },
        {
            "le#tuple": le,
            "le#time": le,
            "time": {at: event.body.time for at, event in stream.items()},
            "key": {at: event.body.type for at, event in stream.items()},
            "group": {window: window[0] for window in opener},
            "opener": opener,
            "begin": EMPTY,
            "fresh": 0,
            "adds#": adds,
            "turns#": lambda turn, _: turn - 1 if turn else box.advance - 1,
            "full#": lambda state, _: state[0] + 1 == box.size,
            "opens#": lambda turn, _at, _window: turn == 0,
            "end": found.newest,
            "start": start,
            "loaded": {window: window in loaded for window in opener},
            "stored": {w: held(loaded[w].pane) if w in loaded else EMPTY for w in opener},
            "known": {key: key in known for key in keys},
            "resumes": {key: resumes.get(key, 0) for key in keys},
            "foot": {w: loaded[w].foot if w in loaded else start for w in opener},
            "floor": {key: newest.get(key, start) for key in keys},
        },
    )
    runs = [whole.states, [*again(whole, log, design)]]
    originally, replayed = ([*tables(run, opener, keys, adds)] for run in runs)
    names = replay.ORIGINAL, replay.AGAIN
    states = tuple(
        {
            "done": {at: at <= count for at in stream},
            **dict(zip(names[0], one, strict=True)),
            **dict(zip(names[1], other, strict=True)),
        }
        for count, (one, other) in enumerate(zip(originally, replayed, strict=True))
    )
    return Path(structure, states, initial=True)


def held(pane: Any) -> tuple[int, tuple[int, ...]]:
    return pane.held, pane.value


def tables(
    run: Any, opener: Mapping[Any, int], keys: set[str], adds: Any
) -> Iterator[tuple[Mapping[Any, Any], ...]]:
    """The windows that are open, their states, and turns, after each number of tuples.

    The state of a window that has closed is not in the model: it has its last tuple, too.
    """
    states: dict[Any, Any] = dict.fromkeys(opener, EMPTY)
    open_: set[Any] = set()
    for count, state in enumerate(run):
        panes = {(w.key, w.opened): held(w.pane) for w in state.windows}
        full = {window: adds(states[window], count) for window in open_ - {*panes}}
        states = {**states, **full, **panes}
        open_ = {*panes}
        turns = dict(state.turns)
        yield {w: w in open_ for w in opener}, states, {key: turns.get(key, 0) for key in keys}


def mismatch(run: tuple[Written, int], design: CecDesign) -> Mismatch | None:
    whole, length = run
    log: Log[Segment] = Log().extend([*whole.disk.log][:length])
    if not log:
        return None
    return Comparison(FORMULAS).compare(path_of(whole, log, design), Coverage())


FORMULAS = Formulas(replay.system(all_given))


@settings(deadline=None)
@given(counted())
def test_a_replay_is_as_the_lemma_has_it(run: tuple[Written, int]) -> None:
    found = mismatch(run, MENDED)
    assert found is None, found.what


WRONG = {
    "ignore": replace(MENDED, ignore=Bound.WITHOUT),
    "closed": replace(MENDED, closed=Closed.FORGOTTEN),
    "replay": replace(MENDED, replay=Bound.WITH, ignore=Bound.WITHOUT),
}


@pytest.mark.parametrize("choice", WRONG)
def test_a_replay_by_another_reading_is_not(choice: str) -> None:
    stream = tuple(Event((at,), Body(at, key)) for at, key in enumerate("abbab", 1))
    box = Aggregate("list", 2, 2, of="time", group="type")
    whole = write(box, stream, [0] * len(stream))
    run = whole, 3
    assert mismatch(run, MENDED) is None
    assert mismatch(run, WRONG[choice]) is not None
