"""The search on disk: it finds all that the search in memory finds, also after an interruption."""

from __future__ import annotations

import errno
import json
import re
import signal
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.core import Guarantee, Scope
from model.errors import Invalid
from model.evidence import Outcome
from model.protocol import Failures, Protocol
from model.registry import protocols
from proofs.explore.explorer import Exploration, explore
from proofs.explore.search import runs
from proofs.explore.search import spill_folder as folders
from proofs.explore.search.layouts import dense_layout, ordered_layout
from proofs.explore.search.memory import zeros
from proofs.explore.search.runs import WorldFile, append, merge, write_run
from proofs.explore.search.spill_folder import Searched, SpillFolder
from proofs.explore.search.spilled import SpilledSearch
from tests.proofs.test_searches import SHAPES, Shape, known, made

SEARCH = Searched("a protocol", "a scope", "1")
FEW = 20
"""The worlds of a run, so that most levels have several."""


def few(most: int = FEW) -> Any:
    return mock.patch.object(SpilledSearch, "_most", return_value=most)


def on_disk(
    protocol: Protocol, scope: Scope, path: Path, most: int = FEW, **how: Any
) -> Exploration:
    with few(most):
        return explore(protocol, scope, spill=SpillFolder(path, SEARCH), **how)


SCOPES = [
    ("amnesia", "nothing fails, two sources"),
    ("micro-batch", ""),
    ("upstream-backup", ""),
    ("log-io", "a reader of writes"),
    ("kafka-transactions:by-generation-alone", "one event"),
    ("cec:entering-stamp", ""),
    ("active-standby", ""),
    ("abs", ""),
]


def smallest(name: str, scope: str) -> tuple[Protocol, Scope]:
    """The named scope, or the smallest one of at least 100 worlds."""
    protocol = protocols()[name.partition(":")[0]].named(name)
    scopes = [one for one in protocol.evidence.scopes if (one.states or 0) >= 100]
    chosen = [one for one in protocol.evidence.scopes if one.name == scope] or [
        min(scopes, key=lambda one: one.states or 0)
    ]
    return protocol, chosen[0].scope


@pytest.mark.parametrize(("name", "scope"), SCOPES)
@pytest.mark.parametrize("most", [100, 10**6])
def test_it_finds_the_same_in_pinned_scopes(
    name: str, scope: str, most: int, tmp_path: Path
) -> None:
    protocol, chosen = smallest(name, scope)
    found = explore(protocol, chosen, shapes=True)
    for _ in range(2):  # then from its files
        assert known(on_disk(protocol, chosen, tmp_path, most, shapes=True)) == known(found)


SHAPE = Shape(0, 2, 2, 2, Failures.SINGLE, 0.3, 0.2, True, (0, 1, 2))


@given(SHAPES, st.sampled_from([None, *Guarantee]))
@example(SHAPE._replace(prompt="B sink", patient=True), None)
@example(SHAPE._replace(fails=0.1), None)
@example(SHAPE._replace(seed=3, timers=0.2, sends=0.5), Guarantee.PRECISE)
@settings(max_examples=25)
def test_it_finds_the_same_in_drawn_scopes(
    tmp_path_factory: pytest.TempPathFactory, shape: Shape, until: Guarantee | None
) -> None:
    """Failing steps, prompt sites, patient timers, crashes, endless runs: all that is drawn."""
    protocol, scope = made(shape)
    how: Any = {"until": until, "limit": 400, "shapes": True}
    found, path = explore(protocol, scope, **how), tmp_path_factory.mktemp("spill")
    assert known(on_disk(protocol, scope, path, **how)) == known(found)
    assert known(on_disk(protocol, scope, path, **how)) == known(found)


@pytest.mark.parametrize("limit", [0, 10, 100, 500])
def test_it_goes_on_after_a_budget(limit: int, tmp_path: Path) -> None:
    protocol, scope = smallest("micro-batch", "")
    so_far = on_disk(protocol, scope, tmp_path, limit=limit)
    assert known(so_far) == known(explore(protocol, scope, limit=limit))
    assert known(on_disk(protocol, scope, tmp_path)) == known(explore(protocol, scope))


def test_a_budget_within_a_level_leaves_complete_levels(tmp_path: Path) -> None:
    protocol, scope = smallest("micro-batch", "")
    found = on_disk(protocol, scope, tmp_path, seconds=0)
    assert (found.outcome, found.spent, found.complete) == (Outcome.UNFINISHED, "0 s", False)
    assert known(on_disk(protocol, scope, tmp_path)) == known(explore(protocol, scope))


KILLED = """\
import os, signal, sys
from pathlib import Path
from unittest import mock
from proofs.explore.search.spilled import SpilledSearch
from tests.proofs import test_spilled as tests

write, left = SpilledSearch._write_run, int(sys.argv[2])
def killed(self):
    global left
    left -= 1
    write(self)
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
with mock.patch.object(SpilledSearch, "_write_run", killed):
    tests.on_disk(*tests.smallest("upstream-backup", ""), Path(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("runs_", [1, 14])
def test_it_goes_on_after_a_kill_within_a_level(runs_: int, tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(runs_)], capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert [*tmp_path.glob("run-*")]
    protocol, scope = smallest("upstream-backup", "")
    assert known(on_disk(protocol, scope, tmp_path)) == known(explore(protocol, scope))
    assert not [*tmp_path.glob("run-*")]


@pytest.mark.parametrize("call", [1, 2, 10, 60])
def test_a_full_disk_is_one_line_and_loses_nothing(call: int, tmp_path: Path) -> None:
    """Whichever call finds it full."""
    protocol, scope = smallest("micro-batch", "")
    left = call

    def full(path: Path, values: np.ndarray[Any, Any]) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(path, values)

    with (
        mock.patch.object(runs, "append", full),
        mock.patch(f"{SpilledSearch.__module__}.append", full),
        pytest.raises(Invalid, match=r"No space left on device.*complete stay") as error,
    ):
        on_disk(protocol, scope, tmp_path)
    assert "\n" not in str(error.value)
    assert known(on_disk(protocol, scope, tmp_path)) == known(explore(protocol, scope))


# --- the folder ------------------------------------------------------------------------------
def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(Invalid, match=r"cannot be written: .*file is no folder"):
        on_disk(*smallest("amnesia", ""), tmp_path / "file" / "x")


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(Invalid, match="asif needs this name for a folder of its own"):
        on_disk(*smallest("amnesia", ""), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("text", ["", "[]", '{"note": "mine"}', '{"search": ["a", "b", "c"]}'])
def test_a_marker_of_somebody_else_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / folders.MANIFEST).write_text(text)
    with pytest.raises(Invalid, match="asif needs this name for a folder of its own"):
        on_disk(*smallest("amnesia", ""), tmp_path)
    assert (tmp_path / folders.MANIFEST).read_text() == text


DEEP = b'{"note": ' + b"[" * 1000 + b"]" * 1000 + b"}"


@given(data=st.data())
def test_a_damaged_manifest_is_noticed_or_says_the_same(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("manifest")
    folder = SpillFolder(path, SEARCH)
    folder.open()
    saved = folders.SavedSearch(violation=7, sizes=(1, 2, 30))
    folder.save(saved)
    whole = (path / folders.MANIFEST).read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    damaged = data.draw(st.sampled_from([whole[:at], changed, DEEP, b"", b"\xff\n\0"]))
    (path / folders.MANIFEST).write_bytes(damaged)
    try:
        assert SpillFolder(path, SEARCH).open() == saved
    except Invalid as error:
        assert re.fullmatch(  # noqa: PT017
            r"--spill .*: its search\.json is damaged; name another folder, or give --fresh",
            str(error),
        )
    assert SpillFolder(path, SEARCH, fresh=True).open() == folders.SavedSearch()


def test_damaged_tables_are_noticed(tmp_path: Path) -> None:
    protocol, scope = smallest("amnesia", "")
    on_disk(protocol, scope, tmp_path)
    (tables,) = tmp_path.glob("tables-*.npz")
    content = bytearray(tables.read_bytes())
    content[len(content) // 2] ^= 1
    tables.write_bytes(content)
    with pytest.raises(Invalid, match=rf"{tables.name} is not as the search left it; .* --fresh"):
        on_disk(protocol, scope, tmp_path)


@pytest.mark.parametrize("part", Searched._fields)
def test_another_search_is_refused(part: str, tmp_path: Path) -> None:
    protocol, scope = smallest("amnesia", "")
    on_disk(protocol, scope, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(Invalid, match=rf"a search of the {part} '.*', and this one is of 'other'"):
        explore(protocol, scope, spill=SpillFolder(tmp_path, SEARCH._replace(**{part: "other"})))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_that_was_cut_is_refused(tmp_path: Path) -> None:
    protocol, scope = smallest("amnesia", "")
    on_disk(protocol, scope, tmp_path)
    (tmp_path / "level-00003.worlds").write_bytes(b"")
    with pytest.raises(Invalid, match=r"level-00003\.worlds is not as the search left it"):
        on_disk(protocol, scope, tmp_path)


def test_a_model_that_answers_otherwise_is_refused(tmp_path: Path) -> None:
    """The version does not see every change: a file that the protocol's file imports, say."""
    protocol, scope = smallest("amnesia", "")
    on_disk(protocol, scope, tmp_path)
    manifest = tmp_path / folders.MANIFEST
    content = json.loads(manifest.read_text().splitlines()[0])
    content["saved"][-2][0] += 1
    text = json.dumps(content)
    manifest.write_text(f"{text}\n{zlib.crc32(text.encode()):08x}\n")
    with pytest.raises(Invalid, match="the model answers otherwise than before"):
        on_disk(protocol, scope, tmp_path)


def test_it_removes_no_file_that_it_did_not_write(tmp_path: Path) -> None:
    protocol, scope = smallest("micro-batch", "")
    on_disk(protocol, scope, tmp_path, limit=20)
    mine = [tmp_path / name for name in ("notes.txt", "run-of-mine", "level-x.worlds")]
    for path in mine:
        path.write_text("mine")
    on_disk(protocol, scope, tmp_path)
    assert [path.read_text() for path in mine] == ["mine"] * 3


def test_the_version_depends_on_the_file_of_the_protocol(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("a = 1")
    other.write_text("a = 2")
    versions = {folders.about("p", "s", file).version for file in (None, one, other)}
    assert len(versions) == 3


# --- runs ------------------------------------------------------------------------------------
BITS = st.lists(st.integers(1, 9), min_size=1, max_size=12)
WIDER = st.lists(st.integers(0, 8), min_size=12, max_size=12)


@given(BITS, WIDER, st.randoms(use_true_random=False))
def test_a_sorted_file_stays_sorted_with_more_bits(
    tmp_path_factory: pytest.TempPathFactory, bits: list[int], more: list[int], draw: Any
) -> None:
    numbers = sorted([draw.randrange(1 << wide) for wide in bits] for _ in range(20))
    old = ordered_layout(bits)
    words = np.zeros((20, old.per), np.uint64)
    for row, values in enumerate(numbers):
        for field, value in enumerate(values):
            words[row, old.word[field]] |= np.uint64(value) << old.shift[field]
    assert words.tolist() == sorted(words.tolist())
    path = tmp_path_factory.mktemp("runs") / "file"
    append(path, words)
    file = WorldFile(path, tuple(bits), 20)
    new = ordered_layout([wide + extra for wide, extra in zip(bits, more, strict=False)])
    wider = file.read(0, 20, new)
    assert wider.tolist() == sorted(wider.tolist())
    unpacked = (wider[:, new.word] >> new.shift) & new.mask
    assert unpacked.tolist() == numbers
    bound = tuple(wider[7].tolist())
    assert file.below(bound, new) == sum(tuple(row) < bound for row in wider.tolist())


def test_both_layouts_hold_all_fields_apart() -> None:
    bits = [30, 40, 4, 20, 64, 1]
    for layout in (dense_layout(bits), ordered_layout(bits)):
        used = [0] * layout.per
        for at, shift, mask in zip(layout.word, layout.shift, layout.mask, strict=True):
            here = int(mask) << int(shift)
            assert here < 1 << 64
            assert not used[at] & here
            used[at] |= here
    assert dense_layout(bits).per < ordered_layout(bits).per


NUMBERS = st.integers(0, 40)
FOUND = st.lists(st.lists(NUMBERS, unique=True, min_size=1, max_size=30), min_size=1, max_size=6)
KNOWN = st.lists(st.lists(NUMBERS, unique=True, max_size=30), max_size=6)


@given(FOUND, KNOWN, st.integers(1, 50), st.integers(1, 10))
def test_a_merge_keeps_new_worlds_of_the_first_run_that_has_them(
    tmp_path_factory: pytest.TempPathFactory,
    found: list[list[int]],
    known_: list[list[int]],
    most: int,
    block: int,
) -> None:
    folder, bits = tmp_path_factory.mktemp("runs"), (32, 32, 9)
    layout = ordered_layout(bits)

    def words(values: list[int]) -> runs.Words:
        return np.array([[value // 7, value % 7 << 55] for value in values], np.uint64).reshape(
            -1, 2
        )

    files = []
    for at, values in enumerate(known_):
        path = folder / f"known-{at}"
        append(path, words(sorted(values)))
        files.append(WorldFile(path, bits, len(values)))
    with mock.patch.object(runs, "BLOCK", block):
        written = [
            write_run(folder / f"run-{at}.worlds", bits, words(values), np.zeros(0, np.uint32))
            for at, values in enumerate(found)
        ]
        parts = [*merge(written, files, layout, most)]
    merged = [
        (int(high) * 7 + (int(low) >> 55), int(run), int(order))
        for part in parts
        for (high, low), run, order in zip(*part, strict=True)
    ]
    seen = {value for values in known_ for value in values}
    first: dict[int, tuple[int, int]] = {}
    for run, values in enumerate(found):
        for order, value in enumerate(values):
            if value not in seen:
                first.setdefault(value, (run, order))
    assert merged == [(value, *first[value]) for value in sorted(first)]


# --- memory ----------------------------------------------------------------------------------
def test_a_run_has_the_worlds_for_which_there_is_memory(tmp_path: Path) -> None:
    protocol, scope = smallest("micro-batch", "")
    sizes = []
    most = SpilledSearch._most

    def noted(self: SpilledSearch) -> int:
        sizes.append(most(self))
        return sizes[-1]

    with mock.patch.object(SpilledSearch, "_most", noted):
        found = explore(protocol, scope, memory=8 << 30, spill=SpillFolder(tmp_path, SEARCH))
    assert found.outcome is Outcome.HOLDS
    assert all(1 << 20 < size < 1 << 28 for size in sizes)


def test_the_memory_of_a_run_is_given_back(tmp_path: Path) -> None:
    """A buffer starts anew with other pages, which take memory when they are written to."""
    maps = []

    def noted(count: int, dtype: Any) -> Any:
        maps.append(count)
        return zeros(count, dtype)

    protocol, scope = smallest("micro-batch", "")
    with mock.patch("proofs.explore.search.level_buffer.zeros", noted):
        on_disk(protocol, scope, tmp_path)
    assert len(maps) > 100


def test_it_says_how_far_it_is(tmp_path: Path) -> None:
    protocol, scope = smallest("micro-batch", "")
    said: list[tuple[str, int, int, str]] = []
    with few(), mock.patch(f"{SpilledSearch.__module__}.REPORT_S", 0):
        found = explore(
            protocol,
            scope,
            spill=SpillFolder(tmp_path, SEARCH),
            progress=lambda *state: said.append(state),
        )
    assert all(done < total for _, done, total, _ in said[:-1])
    assert said[-1][1:3] == (found.states, found.states)
    assert any("level 3, " in what and "MiB on disk" in what for *_, what in said[:-1])


def test_without_numba_it_is_refused(tmp_path: Path) -> None:
    protocol, scope = smallest("amnesia", "")
    with (
        mock.patch("proofs.explore.explorer._can_compile", return_value=False),
        pytest.raises(Invalid, match="numba is not installed"),
    ):
        on_disk(protocol, scope, tmp_path)


def test_an_endless_run_is_found_in_parts(tmp_path: Path) -> None:
    """Its edges are found although few worlds fit in memory at once."""
    shape = SHAPE._replace(sends=0.5, timers=0.2)
    found_one = False
    for seed in range(40):
        protocol, scope = made(shape._replace(seed=seed, crashes=0, length=1))
        protocol = protocol.vary(properties=())
        found = explore(protocol, scope, limit=300)
        disk = on_disk(protocol, scope, tmp_path / str(seed), limit=300)
        assert replace(disk, seconds=0, counterexample=None) == replace(
            found, seconds=0, counterexample=None
        )
        assert (disk.counterexample is None) == (found.counterexample is None)
        if found.counterexample and disk.counterexample:
            found_one |= found.counterexample.circle > 0
            assert disk.counterexample.circle == found.counterexample.circle
    assert found_one
