"""The page "Model your engine" quotes files that are explored.

Rule of this file: the verdicts of the engines' files are in test_bugs.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from model.registry import subject
from proofs.explore.verdict import verdict
from reports import engines

PAGE = engines.FOLDER.parent / "model-your-engine.md"
SLOW = PAGE.parent / "slow_system.py"
ASKED = ("broker", "database", "zombie", "time-out", "lost message", "host", "fence")


class Section(NamedTuple):
    """files: those that it links.  parts: the quoted lines, each part without its indent."""

    title: str
    files: tuple[Path, ...]
    parts: tuple[tuple[str, ...], ...]


def sections() -> list[Section]:
    found = []
    for text in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        prose, *code = re.findall(r"```python\n(.*?)```|(.+?)(?=```|\Z)", text, re.DOTALL)
        files = tuple(PAGE.parent / name for name in re.findall(r"\]\((\S+?\.py)\)", text))
        blocks = [block for block, _ in (prose, *code) if block]
        parts = (part for block in blocks for part in block.split("...\n"))
        found.append(Section(text.partition("\n")[0], files, tuple(map(stripped, parts))))
    return found


def stripped(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def quotes(part: tuple[str, ...], file: Path) -> bool:
    lines = stripped(file.read_text(encoding="utf-8"))
    return any(lines[at : at + len(part)] == part for at in range(len(lines)))


@pytest.mark.parametrize("section", sections(), ids=lambda section: section.title)
def test_each_section_quotes_a_file_that_is_explored(section: Section) -> None:
    assert section.parts
    for part in section.parts:
        assert any(quotes(part, file) for file in section.files), part
    explored = {engines.FOLDER / f"{bug.file}.py" for bug in engines.BUGS} | {SLOW}
    assert {*section.files} <= explored


def test_the_page_answers_the_usual_questions() -> None:
    titles = " ".join(section.title.lower() for section in sections())
    assert all(word in titles for word in ASKED)


def test_a_line_that_no_file_has_is_noticed() -> None:
    assert not quotes(("case Role.SINK, _, _:",), SLOW)


def test_the_slow_system_repeats_if_its_question_overtakes() -> None:
    fixed = subject(str(SLOW)).protocol
    for one in (fixed, *fixed.variants):
        assert verdict(one, walks=20, examples=5).expected, one.name
    (eager,) = fixed.variants
    assert eager.evidence.scopes[0].steps == 13
