"""Bugs of real engines: every form of every file has the verdict, worlds and steps of its pins."""

from __future__ import annotations

import pytest

from asif.engine_pictures import picture
from model.protocol import Protocol
from model.registry import subject
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
            seen = found.outcome, found.states, steps, found.guarantee
            assert seen == (pinned.expect, pinned.states, pinned.steps, pinned.guarantee)


def test_the_page_has_every_file_and_its_present_pins() -> None:
    assert sorted(bug.file for bug in engines.BUGS) == FILES
    text = engines.PAGE.read_text(encoding="utf-8")
    assert text == engines.page(text)


@pytest.mark.parametrize("name", FILES)
def test_each_picture_is_the_present_run(name: str) -> None:
    drawn = (engines.PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == picture(name)
