"""Figures 4 to 8 of Lima et al. with their exact numbers.

Fig. 6's text closes w1 when f, the event after its last, arrives; the savepoint of Fig. 8 (trim b
when an event matched at e is acknowledged) is what III-B2 computes only if a count window closes
with its last event.  The two disagree; here windows close with their last event, and Fig. 6's
outcome is the same either way.
"""

from __future__ import annotations

import doctest

import model.protocols.upstream_backup.gem
from model.cep.numbering import PAIRS, SCALAR, Numbering
from model.cep.one_run import one_run
from model.cep.patterns import Pattern, PatternStep
from model.cep.skips import covers
from model.cep.windows import CountWindows
from model.events import Body, Event
from model.predicates import ANYTHING
from model.protocols.upstream_backup.gem import Gem

EVERY = Pattern((PatternStep(ANYTHING),))
"""Matches every event by itself, as in Fig. 8."""


def letters(text: str) -> list[Event]:
    """One event a letter, numbered and timed from 1."""
    return [Event((i,), Body(i, letter)) for i, letter in enumerate(text, 1)]


def pushed(gem: Gem, events: list[Event]) -> list[Event]:
    for event in events:
        gem.push(event)
    popped = []
    while (theta := gem.pop()) is not None:
        popped.append(theta)
    return popped


def named(event: Event) -> str:
    return "".join(body.type for body in event.body.data)


def test_fig_4_savepoint_of_theta_trims_a_and_b() -> None:
    """a, b fill a window; c, d match in the next: acknowledging theta frees a and b."""
    gem = Gem.new(one_run("c", "d"), splitter=CountWindows(2, 2))
    (theta,) = pushed(gem, letters("abcd"))
    savepoint = gem.save(theta)
    assert savepoint.trim == (2,)
    backup = [event for event in letters("abcd") if event.sn > savepoint.trim]
    assert [event.body.type for event in backup] == ["c", "d"]


def test_fig_5_skip_ranges() -> None:
    gem = Gem.new(one_run("a", "b", "c"), splitter=CountWindows(20, 20))
    (theta,) = pushed(gem, letters("aaabab" + "ddbc"))
    assert [body.time for body in theta.body.data] == [1, 4, 10]
    assert gem.save(theta).skips == (((2,), (3,)), ((5,), (9,)))


def test_fig_6_two_windows_match_at_f() -> None:
    gem = Gem.new(one_run("e", "f"), splitter=CountWindows(5, 2), numbering=SCALAR)
    events = letters("abcdef")
    assert pushed(gem, events[:5]) == []
    first, second = pushed(gem, events[5:])
    assert (named(first), named(second)) == ("ef", "ef")
    assert (first.sn, second.sn) == ((1,), (2,))
    assert gem.save(first).trim == (2,)  # w1 = a..e is dropped; w2 begins with c


def test_fig_7_replay_starts_with_the_window_after_the_last_closed_one() -> None:
    gem = Gem.new(one_run("f"), splitter=CountWindows(4, 1))
    *_, theta = pushed(gem, letters("abcdef"))
    savepoint = gem.save(theta)
    assert savepoint.trim == (3,)  # the third window closed with f before theta's was fed
    earlier = Gem.new(EVERY, splitter=CountWindows(4, 1), numbering=SCALAR)
    fourth = pushed(earlier, letters("abcde"))[12]
    assert earlier.save(fourth).trim == (2,)  # SN(b): replay starts with c


def fig_8(numbering: Numbering) -> tuple[Gem, list[Event]]:
    gem = Gem.new(EVERY, splitter=CountWindows(4, 1), numbering=numbering)
    return gem, pushed(gem, letters("abcdefg"))


def test_fig_8a_scalar_numbers_come_back_wrong() -> None:
    gem, produced = fig_8(SCALAR)
    assert [event.sn[0] for event in produced] == list(range(1, len(produced) + 1))
    assert [e.sn[0] for e in produced if e.body.time == 3] == [4, 5, 6]
    assert [e.sn[0] for e in produced if e.body.time == 4] == [7, 8, 9, 10]
    theta = produced[12]
    assert (theta.sn, theta.body.time) == ((13,), 5)
    savepoint = gem.save(theta)
    assert savepoint.trim == (2,)  # SN(b)
    assert savepoint.seed.number == (6,)
    gem.restore(savepoint)
    replayed = pushed(gem, letters("abcdefg")[2:])
    assert [e.sn[0] for e in replayed if e.body.time == 3] == [6]
    assert [e.sn[0] for e in replayed if e.body.time == 4] == [7, 8]  # were 9 and 10


def test_fig_8b_pairs_come_back_right() -> None:
    gem, produced = fig_8(PAIRS)
    assert [e.sn for e in produced[:3]] == [(1, 1), (2, 1), (2, 2)]
    theta = next(e for e in produced if e.sn == (5, 4))
    savepoint = gem.save(theta)
    assert savepoint.trim == (2,)
    assert savepoint.seed.number == (3, 3)
    gem.restore(savepoint)
    replayed = pushed(gem, letters("abcdefg")[2:])
    assert [e.sn for e in replayed[:3]] == [(3, 3), (4, 3), (4, 4)]
    kept = [e for e in produced if e.sn[1] >= 3]
    assert [(e.sn, e.body) for e in replayed] == [(e.sn, e.body) for e in kept]


def test_skip_flag_off_collects_nothing() -> None:
    gem = Gem.new(one_run("a", "b"), splitter=CountWindows(9, 9), skip=False)
    (theta,) = pushed(gem, letters("accb"))
    assert gem.save(theta).skips == ()


def test_restored_operator_needs_no_skipped_event() -> None:
    """The whole exchange: save, lose the state, replay what the backup kept."""
    events = letters("axxbxaxb")
    gem = Gem.new(one_run("a", "b"), size=20, slide=20)
    before = pushed(gem, events)
    savepoint = gem.save(before[0])
    gem.restore(savepoint)
    backup = [e for e in events if e.sn > savepoint.trim and not covers(savepoint.skips, e.sn)]
    assert len(backup) < len(events)
    assert pushed(gem, backup)[1:] == before[1:]


def test_the_example_in_the_documentation() -> None:
    assert doctest.testmod(model.protocols.upstream_backup.gem).failed == 0
