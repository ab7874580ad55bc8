"""The cache of Java's classes is made once an installation, by one process."""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path

import pytest

from spark_check import training
from spark_check.runtime import java
from spark_check.runtime.jvm import OPTIONS
from spark_check.runtime.session import BRIEF, session


class Lesson:
    """Counts how often Java is taught; it writes the file, unless it is to fail."""

    def __init__(self) -> None:
        self.given = 0
        self.announced = 0
        self.fails = False

    def teach(self, known: Path, _work: Path) -> None:
        self.given += 1
        if not self.fails:
            known.touch()

    def progress(self, _stage: str, done: int, total: int, _what: str = "") -> None:
        assert total == 1
        self.announced += done == 0


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    path = java.aot_cache()
    assert path is not None
    assert tmp_path in path.parents
    return path


@pytest.fixture
def lesson(monkeypatch: pytest.MonkeyPatch) -> Lesson:
    made = Lesson()
    monkeypatch.setattr(training, "_train", made.teach)
    return made


def test_it_is_taught_once(known: Path, lesson: Lesson) -> None:
    for _ in range(3):
        training.train(lesson.progress)
        assert known.exists()
    assert lesson.given == lesson.announced == 1


def test_a_lesson_that_failed_is_given_again(known: Path, lesson: Lesson) -> None:
    lesson.fails = True
    training.train(lesson.progress)
    assert not known.exists()
    lesson.fails = False
    training.train(lesson.progress)
    assert known.exists()


def test_another_process_that_makes_the_cache_is_not_waited_for(
    known: Path, lesson: Lesson
) -> None:
    known.parent.mkdir(parents=True)
    with known.with_suffix(".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        training.train(lesson.progress)
    assert lesson.given == lesson.announced == 0
    training.train(lesson.progress)
    assert lesson.given == 1


def test_an_installation_that_cannot_be_written_to_is_left_alone(
    known: Path, lesson: Lesson
) -> None:
    known.parent.parent.write_text("no folder")
    training.train(lesson.progress)
    assert lesson.given == 0


def test_a_java_of_ones_own_is_used_as_it_is(
    known: Path, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/opt/java")
    assert java.aot_cache() is None
    training.train(lesson.progress)
    assert lesson.given == 0
    assert not known.exists()


@pytest.mark.spark
@pytest.mark.parametrize(
    "content", [b"no AOT cache", pytest.param(None, marks=pytest.mark.exhaustive)]
)
def test_a_session_starts_whatever_is_there(
    content: bytes | None, tmp_path: Path, known: Path
) -> None:
    """With nothing, and with a file of something else; and options of one's own are kept."""
    if content is not None:
        known.parent.mkdir(parents=True)
        known.write_bytes(content)
    conf = {**BRIEF, OPTIONS: '"-Dgreeting=a b"'}
    with session(tmp_path / "in a folder", conf=conf) as spark:
        assert spark._jvm is not None
        runtime = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
        options = list(runtime.getInputArguments())
    assert "-Dgreeting=a b" in options
    assert (f"-XX:AOTCache={known}" in options) is (content is not None)
