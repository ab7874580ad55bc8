"""Any text as a name: the text that is generated from it imports, parses, and keeps its form.

Rule of this file: the text is data in Python, XML, HTML and Markdown, and on a terminal.
"""

from __future__ import annotations

import ast
import io
import re
from contextlib import redirect_stdout
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asif.console import print_all
from model.core import Property, When
from model.errors import Invalid
from model.protocol import Protocol
from model.registry import _check, protocols
from proofs.explore.random_attack import attack, pytest_file
from proofs.explore.story import story
from reports.diagrams import spacetime
from reports.diagrams.canvas import plot
from reports.findings import escaped
from reports.safe_text import in_table, visible
from tests.fuzz.values import TEXTS
from tests.sizes import FULL

ANY = st.one_of(st.sampled_from(TEXTS), st.text(st.characters(), max_size=20))  # surrogates, too
ODD = (
    *('"""', "\\N{x}", "\\", "\ud800", "\x1b[31m", "\n", "$\\frac{", "</svg>", "|", "\x00"),
    "\u2028",
)


def _refuted(name: str) -> Protocol:
    odd = Property(name, When.ALWAYS, lambda _scope, seen: not any(map(len, seen.outputs)))
    return protocols()["amnesia"].vary(properties=(odd,), family=name or "x")


@pytest.mark.parametrize("name", ODD)
def test_a_generated_test_is_a_module_with_its_run(name: str) -> None:
    protocol = _refuted(name)
    failure = attack(protocol, walks=50, examples=0).failure
    assert failure is not None
    text = pytest_file(f"{name}.py", failure, name)
    module = ast.parse(text.encode(errors="strict"))
    assert ast.get_docstring(module)
    compile(module, "generated", "exec")
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    subjects = [one.args[0] for one in calls if getattr(one.func, "id", "") == "subject"]
    assert [ast.literal_eval(one) for one in subjects] == [f"{name}.py"]
    drawn = spacetime.svg(story(failure.trace), caption=name)
    assert ElementTree.fromstring(drawn.encode()).tag.endswith("svg")


@settings(max_examples=400 if FULL else 10)
@given(st.lists(ANY, min_size=1, max_size=3))
@example(list(ODD))
def test_a_picture_is_xml_with_any_names(names: list[str]) -> None:
    def draw(figure: object) -> None:
        axes = figure.add_subplot()  # type: ignore[attr-defined]
        axes.set_title(names[0])
        axes.set_yticks(range(len(names)), names)

    picture = plot(draw, 2, 2, name="n", about=names[0])
    root = ElementTree.fromstring(picture.svg.encode())
    assert {one.tag.rpartition("}")[2] for one in root.iter()} <= TAGS
    for suffix, begin in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
        assert bytes(picture.content(suffix)).startswith(begin)  # type: ignore[arg-type]


TAGS = {"svg", "defs", "style", "g", "path", "use", "text", "tspan", "clipPath", "rect"}


@given(ANY, ANY)
def test_a_row_of_markdown_keeps_its_cells(one: str, other: str) -> None:
    row = f"| {in_table(one)} | {in_table(other)} |"
    assert len(row.splitlines()) == 1
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    assert "<" not in re.sub(r"\\.", "", row)
    bars = escaped(one.replace("\\", ""))
    assert len(re.findall(r"(?<!\\)\|", bars)) == 0


@given(ANY)
def test_a_terminal_gets_no_orders(text: str) -> None:
    from rich.table import Table

    table = Table("a")
    table.add_row(text)
    with redirect_stdout(io.StringIO()) as out:
        print_all([text, table])
    printed = out.getvalue()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", printed)
    assert visible(text).encode(errors="strict") is not None


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(Invalid, match="PROTOCOL has a property without a name"):
        _check(_refuted(""))
