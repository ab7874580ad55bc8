"""Replay operators of LOG.io: what the log keeps for them, and Examples 9 and 10 of the paper."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from model.actions import Deliver, Restart
from model.choices import offers
from model.events import Body
from model.play import Play
from model.protocols.log_io.design import Replaying
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.messages import Put
from model.protocols.log_io.places import LOG
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.replaying.log import change, collect
from model.protocols.log_io.replaying.messages import Mark, Reset
from model.protocols.log_io.tables import LogDatabase, LoggedEvent, SetState
from proofs.explore.explorer import explore

A = Body(1, "a")
CHAIN = Replaying(frozenset({"first", "second"}))
NEXT = {"reader": "first", "first": "second", "second": "third"}
REPLAY = PROTOCOL.named("log-io:replay")


# --- what the log keeps ------------------------------------------------------------------------
@st.composite
def tables(draw: st.DrawFn) -> LogDatabase:
    """Rows between reader, first, second and third: Input Set N of a node makes its output N."""
    events, states = [], []
    for sender, receiver in NEXT.items():
        for number in draw(st.sets(st.integers(1, 4), max_size=4)):
            done = draw(st.booleans())
            inset = draw(st.integers(1, 4)) if done else 0
            replay = done and draw(st.booleans())
            events.append(LoggedEvent(sender, receiver, number, inset, A, done, replay))
            if sender in CHAIN.operators:
                states.append(SetState(sender, number, (), ((sender, receiver, number),)))
    rows = tuple(sorted(events, key=lambda row: row.key))
    return LogDatabase(rows, states=tuple(sorted(states)))


@given(tables())
def test_a_done_input_is_kept_just_while_somebody_may_need_it(before: LogDatabase) -> None:
    """Needed: it is awaited, or an output that was made of it is undone, or is kept itself."""
    after = collect(CHAIN, before)
    kept = {row.key for row in after.events}
    by_key = {row.key: row for row in before.events}

    def is_needed(row: LoggedEvent) -> bool:
        if not row.done or row.replay or row.receiver not in CHAIN.operators:
            return True
        made = (row.receiver, NEXT[row.receiver], row.inset)
        return made in by_key and is_needed(by_key[made])

    assert kept == {row.key for row in before.events if is_needed(row)}
    assert collect(CHAIN, after) == after
    assert {one.outputs[0] for one in after.states} <= kept


@given(tables(), st.sets(st.integers(1, 5)))
def test_marks_come_and_go_and_change_nothing_else(before: LogDatabase, numbers: set[int]) -> None:
    keys = tuple(("first", "second", number) for number in sorted(numbers))
    bare = change(before, Reset(tuple(row.key for row in before.events)))
    marked = change(bare, Mark(keys))
    assert {row.key for row in marked.events if row.replay} == {
        row.key for row in bare.events
    }.intersection(keys)
    assert change(marked, Reset(keys)) == bare


# --- Examples 9 and 10 -------------------------------------------------------------------------
def with_an_output_of_first() -> Play:
    """The first of two relays has logged its first output without data, and sent it."""
    play = Play(REPLAY, scopes.TWO_RELAYS.scope)
    play.do(*offers(play.system, play.world, "source"))
    play.do(Deliver("source-reader", "source"), Deliver("first", "source-reader>first"))
    (row,) = rows_of(play, "first")
    assert row.body is None
    return play


def rows_of(play: Play, sender: str) -> list[LoggedEvent]:
    """The rows of this sender in the log."""
    tables = play.state(LOG)
    assert isinstance(tables, LogDatabase)
    return [row for row in tables.events if row.sender == sender]


def recover(play: Play, name: str) -> None:
    """Restart a node that is down, with the log's answer."""
    play.do(Restart(name), Deliver(name, LOG))


def test_example_10_the_replay_operator_fails() -> None:
    """Its output, which nobody has acknowledged, is generated again from its Input Set."""
    play = with_an_output_of_first()
    (before,) = play.channel("first>second", "second")
    play.crash("first")
    recover(play, "first")
    assert isinstance(before, Put)
    again = play.channel("first>second", "second")
    assert again == (before, before._replace(replay=True))
    for _ in again:  # "If in between, OP3 already processed it, the replay event is filtered"
        play.do(Deliver("second", "first>second"))
    assert [row.number for row in rows_of(play, "second")] == [1]


def test_example_10_the_operator_behind_it_fails() -> None:
    """It has acknowledged the event and not used it, marks it, and gets it again."""
    play = with_an_output_of_first()
    play.do(Deliver("second", "first>second", crash_after=1))
    (row,) = rows_of(play, "first")
    assert (bool(row.inset), row.done) == (True, False)
    recover(play, "second")
    (row,) = rows_of(play, "first")
    assert row.replay
    play.do(Deliver("first", "engine"), Deliver("first", LOG))
    held = [put for put in play.channel("first>second", "second") if isinstance(put, Put)]
    assert [(put.number, put.replay) for put in held][-1] == (1, True)
    for _ in held:
        play.do(Deliver("second", "first>second"))
    assert not rows_of(play, "first")
    assert [row.number for row in rows_of(play, "second")] == [1]


def test_every_step_is_a_crash_point_that_was_hit() -> None:
    """A step: an effect at a node, after which it crashes."""
    points, hit = set(), set()
    for name, case, crashes in (
        ("replay", scopes.TWO_RELAYS, 2),
        ("replay-chains", scopes.THREE_RELAYS_AND_AN_EVENT, 3),
        ("replay-chains", scopes.TWO_RELAYS_THAT_MEET, 2),
    ):
        explored = replace(case.scope, crashes=crashes)
        found = explore(PROTOCOL.named(f"log-io:{name}"), explored)
        points |= {(point.node, point.after[-1:]) for point in found.points}
        hit |= {(point.node, point.after[-1:]) for point in found.hit}
    assert hit == points
