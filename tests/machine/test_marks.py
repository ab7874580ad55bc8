"""The mark of a result: each kind of file keeps its meaning, and no file of a user's has one."""

from __future__ import annotations

import ast
import io
import json
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image

from model.machine.marks import KIB, has_mark, is_ours, marked
from model.results.plain import MADE_BY
from reports.diagrams import canvas

VALUES: st.SearchStrategy[Any] = (
    st.none() | st.integers() | st.text(max_size=5) | st.just({}) | st.just([{}])
)
NAMES = st.text(max_size=5).filter(lambda name: name != MADE_BY)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)


def ours(content: bytes) -> bool:
    return has_mark(content[:KIB], content[-KIB:])


@given(OBJECTS | st.lists(OBJECTS, max_size=3), st.sampled_from([None, 2]), st.booleans())
def test_json_has_one_more_key_and_nothing_else_changes(
    value: Any, indent: int | None, ascii_: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_) + "\n"
    try:
        content = marked(Path("a.json"), text)
    except UnicodeEncodeError:  # half a character of UTF-16
        return
    assert ours(content)
    assert marked(Path("a.json"), content) == content
    found = json.loads(content)
    first = found[0] if isinstance(found, list) and found else found
    if value or value == {}:
        assert next(iter(first)) == MADE_BY
        assert first.pop(MADE_BY) == "asif"
    assert found == value


@given(st.binary(min_size=1, max_size=300).filter(bytes.strip))
def test_other_files_have_no_mark(content: bytes) -> None:
    assert not ours(content) or content.split() in ([b"[]"], [b"[", b"]"])


@pytest.mark.parametrize(
    "words", [b"made by asif", b'{"made by": "asif"}', b"# It was made by asif"]
)
def test_words_about_asif_are_no_mark(words: bytes) -> None:
    assert not ours(words)


@given(st.text(max_size=200))
def test_a_comment_in_python_and_toml_changes_no_meaning(text: str) -> None:
    program = f'"""Doc."""\nTEXT = {text!r}\n'
    found = marked(Path("a.py"), program)
    assert ours(found)
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(program))
    table = f"text = {json.dumps(text, ensure_ascii=False)}\n".replace("\x7f", "")
    content = marked(Path("a.toml"), table)
    assert ours(content)
    assert tomllib.loads(content.decode()) == tomllib.loads(table)


def test_a_picture_stays_one() -> None:
    def draw(figure: Figure) -> None:
        figure.subplots().plot([1, 2, 3])

    drawn = canvas.plot(draw, 2, 1, name="a", about="a line").svg
    with_mark = marked(Path("a.svg"), drawn)
    assert ours(with_mark)
    assert ElementTree.fromstring(with_mark).tag == ElementTree.fromstring(drawn).tag
    plain = canvas.plot(draw, 2, 1, name="a", about="a line").content(".png")
    assert isinstance(plain, bytes)
    content = marked(Path("a.png"), plain)
    assert ours(content)
    assert not ours(plain)
    with Image.open(io.BytesIO(content)) as image, Image.open(io.BytesIO(plain)) as before:
        assert image.tobytes() == before.tobytes()
        assert image.info["Software"] == "asif"


@pytest.mark.parametrize("columns", [1, 3000])
def test_parquet_says_it_in_its_footer(columns: int, tmp_path: Path) -> None:
    table = pa.table({f"column-{number}": [number] for number in range(columns)})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    assert not is_ours(path)
    pq.write_table(table.replace_schema_metadata({MADE_BY: "asif"}), path)
    assert is_ours(path)


@pytest.mark.parametrize("content", ["", " \n", "[]\n"])
def test_a_file_with_nothing_in_it_may_go(content: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(content)
    assert is_ours(tmp_path / "a")


def test_a_list_of_numbers_has_no_place_for_a_mark() -> None:
    with pytest.raises(ValueError, match="no place for a mark"):
        marked(Path("a.json"), "[1, 2]")
