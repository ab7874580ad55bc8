"""Bugs of real engines: every form of every file has the verdict, worlds and steps of its pins."""

from __future__ import annotations

import pytest

from asif.engine_bugs import check
from asif.engine_pictures import picture
from model.evidence import Outcome
from model.protocol import Protocol
from model.registry import protocols, subject
from model.results.story import MomentKind
from proofs.explore.explorer import explore
from reports import engines

FILES = sorted(path.stem for path in engines.FOLDER.glob("*.py"))


def forms(name: str) -> tuple[Protocol, ...]:
    fixed = subject(str(engines.FOLDER / f"{name}.py")).protocol
    return fixed, *fixed.variants


@pytest.mark.parametrize("name", FILES)
def test_each_form_is_as_pinned(name: str) -> None:
    for one in forms(name):
        for pinned in (pinned for pinned in one.evidence.scopes if pinned.quick):
            found = explore(one, pinned.scope)
            steps = len(found.counterexample.trace.actions) if found.counterexample else None
            left = None if pinned.operators is None else found.guarantee
            seen = found.outcome, found.states, steps, left
            assert seen == (pinned.expect, pinned.states, pinned.steps, pinned.guarantee)


def test_every_file_has_one_symptom_and_every_variant_of_a_paper_is_refuted() -> None:
    assert sorted(file for symptom in engines.SYMPTOMS for file in symptom.files) == FILES
    known = protocols()
    for name in (name for symptom in engines.SYMPTOMS for name in symptom.variants):
        assert known[name].evidence.expected is Outcome.REFUTED


@pytest.mark.parametrize("symptom", engines.SYMPTOMS, ids=lambda symptom: symptom.seen)
def test_a_run_shows_its_symptom(symptom: engines.Symptom) -> None:
    for bug in (bug for bug in engines.BUGS if bug.file in symptom.files):
        flawed = check(bug).flawed
        assert flawed is not None
        assert flawed.shortest is not None
        kinds = {moment.kind for moment in flawed.shortest.story.moments}
        if symptom.seen.endswith("after a restart"):
            assert MomentKind.RESTART in kinds
        if symptom.seen.endswith("without a crash"):
            assert not kinds & {MomentKind.RESTART, MomentKind.CRASH}


@pytest.mark.parametrize("bug", engines.BUGS, ids=lambda bug: bug.file)
def test_a_file_is_short_and_names_the_address_of_its_report(bug: engines.Bug) -> None:
    lines = (engines.FOLDER / f"{bug.file}.py").read_text(encoding="utf-8").splitlines()
    assert 60 <= len(lines) <= (120 if bug.engine != engines.MODEL else 130)
    assert engines.address(bug.file) in " ".join(lines[:9])  # in its docstring
    assert "diffpages" not in engines.address(bug.file)  # a page itself, and no state of it


def test_the_readme_counts_engines_and_steps() -> None:
    """README shows the second bug of the page; the others are of so many other systems."""
    shown, others = (
        engines.BUGS[1],
        {one.engine for one in engines.BUGS if one.engine != engines.MODEL},
    )
    text = " ".join((engines.DOCS.parent / "README.md").read_text(encoding="utf-8").split())
    steps = engines.refuted(shown.file).pinned.steps
    assert steps == 11
    assert "run of eleven steps with two crashes" in text
    assert (len(engines.BUGS), len(others)) == (18, 12)
    assert (
        "[Seventeen more](docs/how-to/engines/README.md) come from reports about twelve systems"
        in text
    )


def test_the_page_has_every_file_and_its_present_pins() -> None:
    assert sorted(bug.file for bug in engines.BUGS) == FILES
    text = engines.PAGE.read_text(encoding="utf-8")
    assert text == engines.page(text)


@pytest.mark.parametrize("bug", engines.BUGS, ids=lambda bug: bug.file)
def test_each_picture_is_the_present_run(bug: engines.Bug) -> None:
    drawn = (engines.PICTURES / f"{bug.file}.svg").read_text(encoding="utf-8")
    assert drawn == picture(bug)
