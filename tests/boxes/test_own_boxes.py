"""`asif classify FILE.py`: boxes of users, right and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.core import OperatorClass
from model.errors import Invalid
from model.results.classes import BoxResult
from proofs.classify.verdict import choose, verdict

BOX = """
from model.boxes.box import Box, Fed, Out, answer
from model.core import Arrival
from proofs.classify.streams import Alphabet

class Own(Box):
    edges = None

    def begin(self, edges):
        return {begin}

    def feed(self, state, item):
        {feed}

BOX = Own()
ALPHABET = Alphabet({edges})
"""
HANDS_ON = "return answer(state, Out(item.body, item.of))"
AB = "((Arrival(1, 'a'), Arrival(1, 'b')),)"


def own(
    home: Path, name: str, begin: str = "()", feed: str = HANDS_ON, edges: str = AB
) -> BoxResult:
    file = home / f"own_{name}.py"
    file.write_text(BOX.format(begin=begin, feed=feed, edges=edges))
    (named,) = choose(str(file))
    return verdict(named, 1_000)


def test_a_state_may_hold_a_set_that_is_no_lineage(tmp_path: Path) -> None:
    out = "*[Out(item.body, item.of)][item.body.type in state :]"
    feed = f"return answer(state | {{item.body.type}}, {out})"
    assert own(tmp_path, "distinct", "frozenset()", feed).class_ is OperatorClass.CONVERGENT_CAPABLE


@pytest.mark.parametrize(
    ("name", "feed", "says"),
    [
        ("raises", "raise KeyError('k')", r"KeyError: 'k' \(line 13 of own_raises.py\)"),
        ("lists", "return answer([1])", "TypeError: unhashable type"),
        ("bare", "return Fed(())", "AttributeError"),
        ("silent", "return ()", "IndexError"),
    ],
)
def test_a_wrong_box_is_told_in_a_line(tmp_path: Path, name: str, feed: str, says: str) -> None:
    with pytest.raises(Invalid, match=rf"own_{name}: the box raises {says}.*tuple of Fed"):
        own(tmp_path, name, feed=feed)


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("none", "()"),
        ("empty", "((),)"),
        ("flat", "(Arrival(1, 'a'), Arrival(1, 'b'))"),
        ("texts", "(('a', 'b'),)"),
        ("back", "((Arrival(-1, 'a'),),)"),
    ],
)
def test_a_wrong_alphabet_is_told_in_a_line(tmp_path: Path, name: str, edges: str) -> None:
    with pytest.raises(Invalid, match=rf"own_{name}.py: ALPHABET has .*one Arrival or more"):
        own(tmp_path, name, edges=edges)
