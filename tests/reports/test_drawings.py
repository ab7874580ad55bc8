"""Drawings of runs: exact small ones, the marks of a culprit, and nothing outside the frame."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.costs import MessageKind
from model.errors import Invalid
from model.results.culprit import Culprit, CulpritKind, LostCopy, WrongResult
from model.results.plain import plain, read
from model.results.story import (
    MomentKind,
    SentFrom,
    Story,
    StoryMessage,
    StoryMoment,
    StoryRead,
    StoryWrite,
    WriteKind,
)
from proofs.explore.story import story
from reports import palette
from reports.diagrams import lineage, spacetime, terminal
from reports.diagrams.timeline import DECIDED
from tests.conformance.test_words import traces

EVENT, CONTROL = MessageKind.EVENT, MessageKind.CONTROL
COMMIT = StoryMessage("broker", "Commit 2", False, CONTROL)
RUN = Story(
    ("source", "job", "broker"),
    (
        StoryMoment(
            "source",
            MomentKind.INJECT,
            "a (gap 1)",
            sends=(StoryMessage("job", "a1", False, EVENT),),
        ),
        StoryMoment(
            "job",
            MomentKind.DELIVER,
            "a1",
            from_=SentFrom("source", 0),
            cut=1,
            undone="saving Offset 1",
            sends=(COMMIT,),
        ),
        StoryMoment(
            "broker",
            MomentKind.DELIVER,
            "Commit 2",
            part=True,
            from_=SentFrom("job", 1),
            emits=("a@1",),
            changes="epoch 2",
        ),
        StoryMoment("job", MomentKind.RESTART, reads=(StoryRead(""),), sends=(COMMIT,)),
        StoryMoment(
            "broker",
            MomentKind.DELIVER,
            "Commit 2",
            part=True,
            from_=SentFrom("job", 3),
            emits=("a@1",),
        ),
        StoryMoment(
            "job",
            MomentKind.TIMEOUT,
            "flush",
            writes=(
                StoryWrite(WriteKind.WRITE, "Offset 1", "log"),
                StoryWrite(WriteKind.SYNC),
                StoryWrite(WriteKind.SAVE, "Offset 1"),
                StoryWrite(WriteKind.REWIND, "0"),
            ),
        ),
    ),
)
TWICE = Culprit(
    CulpritKind.TWICE,
    "The result a@1 comes twice, in steps 2 and 3.",
    result="a@1",
    wrong=(WrongResult(4, 0),),
    decided=1,
)
LOST = Culprit(
    CulpritKind.MISSING,
    "The result a@1 never comes: job lost it in step 2.",
    result="a@1",
    lost=LostCopy(1, "job"),
)


def test_a_run_with_writes_and_a_prompt_site_is_drawn() -> None:
    assert terminal.text(RUN, width=90) == RIGHT


RIGHT = """\
              source          job                                           broker
                 │             │                                               │
  1  a (gap 1) ─▶●             │                                               │
  2              ├── a1 ‹1› ──▶●                                               │
                 │             ✕ crash before saving Offset 1                  │
                 │             ├──────────────── Commit 2 ‹2› ────────────────▶● epoch 2
                 │             ┊                                               │ ⇒ a@1
  3              │             ○ restart, reads nothing                        │
                 │             ├──────────────── Commit 2 ‹3› ────────────────▶● ⇒ a@1
  4              │             ● timer flush · write Offset 1 in log · sync ·  │
                 │             │ save Offset 1 · rewind to place 0             │

● step   ○ restart   ✕ crash, or lost   ◦ still on its way   ┊ down   ‹n› sent in step n
"""


def test_a_wrong_result_and_the_moment_that_decides_are_marked() -> None:
    rows = terminal.text(RUN, width=90, caption="no result twice", culprit=TWICE).splitlines()
    assert [row for row in rows if "✗" in row][1].endswith("⇒ ✗ a@1 (twice)")
    assert next(row for row in rows if "⇒" in row).endswith("⇒ a@1")
    rule = next(at for at, row in enumerate(rows) if DECIDED in row)
    assert rows[rule].startswith("╌╌╌╌╌ ✗ ")
    assert rows[rule + 1].startswith("  3 ")  # the broker's part belongs to step 2
    assert rows[-3:] == [
        "✗ wrong",
        "Violated: The result a@1 comes twice, in steps 2 and 3.",
        "Property: no result twice",
    ]


def test_a_result_is_lost_where_it_was_lost() -> None:
    rows = terminal.text(RUN, width=90, culprit=LOST).splitlines()
    lost = next(at for at, row in enumerate(rows) if "✗ a@1 is lost here" in row)
    assert "✕ crash before saving Offset 1" in rows[lost - 1]
    assert rows[lost].index("✗") == rows[0].index("job") + 3
    nameless = replace(LOST, result="", lost=LostCopy(0, "broker"))
    assert "✗ lost here" in terminal.text(RUN, culprit=nameless)


def test_marks_and_their_meaning_are_there_only_with_a_culprit() -> None:
    for drawn in (terminal.text(RUN, caption="c"), spacetime.svg(RUN, caption="c")):
        assert "✗" not in drawn
        assert "lost for ever" not in drawn
    for culprit in (TWICE, LOST):
        assert "✗ wrong" in " ".join(terminal.text(RUN, culprit=culprit).split())
        assert "wrong, or lost for ever" in spacetime.svg(RUN, culprit=culprit)


def test_no_lifeline_crosses_the_words_at_the_step_that_decides() -> None:
    """A ground lies between the lane, which is drawn before, and the words."""
    drawn = spacetime.svg(RUN, culprit=TWICE)
    found = re.search(rf'<rect ([^>]*)/>\n<text[^>]* x="([\d.]+)"[^>]*>{DECIDED}<', drawn)
    assert found is not None
    ground = dict(re.findall(r'([\w-]+)="([^"]*)"', found[1]))
    assert ground["fill"] == palette.BG
    assert float(ground["x"]) < float(found[2])
    assert float(ground["width"]) > 6 * len(DECIDED)


def test_too_many_lanes_for_the_width_are_a_list() -> None:
    wide = replace(RUN, lanes=(*RUN.lanes, "store", "standby", "sink"))
    assert terminal.text(wide, width=66, culprit=TWICE) == LIST
    lost = terminal.text(wide, width=66, culprit=LOST)
    assert "      ✗ a@1 is lost here, at job\n" in lost
    assert terminal.text(wide, width=72).startswith(" " * 10)


LIST = """\
  1 ● source: takes a (gap 1)
  2 ● job: takes a1 ‹1› of source
      ✕ crash before saving Offset 1
    ● broker: takes Commit 2 ‹2› of job; epoch 2
      ⇒ a@1
╌╌╌ ✗ no continuation is right from here ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
  3 ○ job: restart, reads nothing
    ● broker: takes Commit 2 ‹3› of job
      ⇒ ✗ a@1 (twice)
  4 ● job: timer flush; write Offset 1 in log; sync; save Offset
        1; rewind to place 0

● step   ○ restart   ✕ crash, or lost   ◦ still on its way
┊ down   ‹n› sent in step n   ✗ wrong
"""


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (CulpritKind.TWICE, "twice"),
        (CulpritKind.MADE_UP, "made up"),
        (CulpritKind.COUNTED_TWICE, "counted twice"),
        (CulpritKind.OUT_OF_ORDER, "out of order"),
        (CulpritKind.MISSING, "too early"),
        (CulpritKind.STATE, "wrong"),
    ],
)
def test_each_kind_of_fault_has_its_words(kind: CulpritKind, words: str) -> None:
    culprit = replace(TWICE, kind=kind)
    assert f"⇒ ✗ a@1 ({words})" in terminal.text(RUN, width=110, culprit=culprit)
    assert f">⇒ ✗ a@1 ({words})<" in spacetime.svg(RUN, culprit=culprit)


@pytest.mark.parametrize(
    ("culprit", "complaint"),
    [
        (replace(TWICE, wrong=(WrongResult(9, 0),)), "the story has no moment 9"),
        (replace(TWICE, wrong=(WrongResult(4, 1),)), "moment 4 has no result 1"),
        (replace(TWICE, decided=-1), "the story has no moment -1"),
        (replace(LOST, lost=LostCopy(9, "job")), "the story has no moment 9"),
        (replace(LOST, lost=LostCopy(1, "nobody")), "'nobody' has no lane"),
    ],
)
def test_a_culprit_of_another_story_is_refused(culprit: Culprit, complaint: str) -> None:
    for draw in (terminal.text, spacetime.svg):
        with pytest.raises(Invalid, match=complaint):
            draw(RUN, culprit=culprit)


def test_a_story_and_its_culprit_are_json() -> None:
    for value in (RUN, TWICE, LOST):
        assert read(type(value), json.loads(json.dumps(plain(value)))) == value
    assert plain(RUN.moments[0]).keys().isdisjoint({"part", "undone", "writes", "reads", "changes"})
    assert plain(RUN.moments[5])["writes"] == [
        {"kind": "write", "label": "Offset 1", "file": "log"},
        {"kind": "sync"},
        {"kind": "save", "label": "Offset 1"},
        {"kind": "rewind", "label": "0"},
    ]


def test_a_long_value_is_cut_in_the_drawing() -> None:
    long = StoryMoment("job", MomentKind.TIMEOUT, writes=(StoryWrite(WriteKind.SAVE, "x" * 90),))
    again = StoryMoment("job", MomentKind.RESTART, reads=(StoryRead("y" * 90, "log"),))
    whole = Story(("job",), (long, again))
    for drawn in (terminal.text(whole, width=200), spacetime.svg(whole)):
        assert "x" * 29 + "…" in drawn
        assert "x" * 30 not in drawn
        assert "y" * 30 not in drawn


# --- any run, any culprit -------------------------------------------------------------------------
def any_culprit(seed: int, whole: Story) -> Culprit:
    """A culprit that marks some of the results and some of the places of a story."""
    chance = random.Random(seed)
    results = [(at, n) for at, one in enumerate(whole.moments) for n, _ in enumerate(one.emits)]
    wrong = [WrongResult(*one) for one in results if chance.random() < 0.5]
    at = chance.randrange(len(whole.moments))
    lost = LostCopy(at, chance.choice(whole.lanes)) if chance.random() < 0.7 else None
    decided = chance.randrange(len(whole.moments)) if chance.random() < 0.7 else None
    kind = chance.choice([*CulpritKind])
    return Culprit(kind, "A long sentence. " * 9, "match@1(a@1)", (), tuple(wrong), lost, decided)


CULPRITS = st.integers(0, 2**32)
SEEDS = st.integers(0, 59)


def elements(drawn: str) -> Iterator[ElementTree.Element]:
    return ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")


@given(SEEDS, CULPRITS, st.integers(40, 160))
@settings(max_examples=100)
def test_every_mark_is_drawn_within_the_width(at: int, seed: int, width: int) -> None:
    whole = story(traces()[at])
    culprit = any_culprit(seed, whole)
    narrow = terminal.text(whole, width=width, caption="p", culprit=culprit).splitlines()
    assert max(map(len, narrow)) <= max(width, 40)
    wide = terminal.text(whole, width=400, culprit=culprit)
    assert wide.count("⇒ ✗") == len(culprit.wrong)
    assert wide.count("⇒") == sum(len(moment.emits) for moment in whole.moments)
    assert wide.count(f"✗ {culprit.result} is lost here") == (culprit.lost is not None)
    rules = [row for row in wide.splitlines() if DECIDED in row]
    assert len(rules) == sum(DECIDED in row for row in narrow) == (culprit.decided is not None)


@given(SEEDS, CULPRITS)
@settings(max_examples=100)
def test_every_mark_of_the_picture_is_red_and_inside(at: int, seed: int) -> None:
    whole = story(traces()[at])
    culprit = any_culprit(seed, whole)
    drawn = spacetime.svg(whole, caption="p", culprit=culprit)
    root = ElementTree.fromstring(drawn)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    marks = 0
    for element in elements(drawn):
        said = element.text or ""
        if "✗ " in said:
            assert "bad" in element.attrib["class"], said
            marks += 1
        length = 6.65 * len(said)
        if "transform" in element.attrib or said == "✗":
            continue
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        left = {"start": x, "middle": x - length / 2, "end": x - length}
        assert 0 <= left[element.attrib["text-anchor"]] <= width - length
        assert 0 <= y <= height
    expected = len(culprit.wrong) + (culprit.lost is not None) + (culprit.decided is not None)
    assert marks == expected
    decided = re.findall(r'class="decided"', drawn)
    assert len(decided) == (culprit.decided is not None)


@given(SEEDS)
@settings(max_examples=40)
def test_texts_of_a_lane_do_not_meet(at: int) -> None:
    """Two texts that begin at one place stand at least a line apart, or else next to each other."""
    places: dict[tuple[str, str], list[float]] = {}
    for element in elements(spacetime.svg(story(traces()[at]))):
        place = element.attrib["x"], element.attrib["text-anchor"]
        places.setdefault(place, []).append(float(element.attrib["y"]))
    for ys in places.values():
        gaps = [after - before for before, after in zip(sorted(ys), sorted(ys)[1:], strict=False)]
        assert min(gaps, default=99) >= 11


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ('{"item": "rice", "amount": 1042, "price": 103}', "whole"),
        ("9" * 60, "…"),
        ("a" * 60, "a" * 29 + "…"),
        ("a" * 25 + "1234567890", "a" * 25 + "…"),
    ],
)
def test_a_box_of_a_lineage_cuts_no_number(body: str, shown: str) -> None:
    event = {"name": "ledger.book#3", "body": body.encode(), "is_source": False}
    name, *lines = lineage._box(event, is_asked=False).label.split("\n")
    assert name == "ledger.book#3"
    assert " ".join(lines) == (body if shown == "whole" else shown)


def test_a_long_body_ends_behind_a_whole_value() -> None:
    event = {"name": "a.b#1", "body": b'{"some": 123456}, ' * 30, "is_source": True}
    _, *lines = lineage._box(event, is_asked=False).label.split("\n")
    assert len(lines) == lineage.BODY
    assert lines[-1].endswith("123456}, …")
