"""The documentation is true: fresh pages, links that resolve, commands and examples that run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import asif
from reports import docs

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def test_the_generated_page_is_fresh() -> None:
    assert docs.PAGE.read_text(encoding="utf-8") == docs.page()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not link.startswith("https:"):
            assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_quoted_commands_and_options_exist(page: Path) -> None:
    commands = typer.main.get_command(asif.app).commands  # type: ignore[attr-defined]
    text = page.read_text(encoding="utf-8")
    for command, rest in re.findall(r"(?:`|\$ |bin/)asif ([a-z]+)([^`\n]*)", text):
        assert command in commands, command
        known = {option for p in commands[command].params for option in p.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= known, rest


def test_the_example_protocol_is_refuted_as_it_says(tmp_path: Path) -> None:
    example = ROOT / "docs" / "examples" / "amnesia.py"
    command = [sys.executable, "-c", "import asif; asif.main()", "check", str(example)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 1, ran.stderr
    assert "amnesia: refuted\n" in ran.stdout
    assert "deterministic operators: gap (claimed: gap)" in ran.stdout
