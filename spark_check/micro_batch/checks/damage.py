"""Damaged checkpoints: does Spark refuse them, are they harmless, or is the output silently wrong?

Rule of this file: how a checkpoint is damaged, and the names of the outcomes.  The expected outcome
of each damage is evidence, in spark_check/micro_batch/checks/damage.toml.

With some damages Spark's output is wrong and Spark reports nothing.  So micro_batch/checkpoint.py
looks at every checkpoint first, and the check is that it complains wherever the output is wrong.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import SparkSession

from engine_check.check import Check, CheckSetting, engine_case
from model.machine.folders import delete_inside
from model.recovery import classify
from model.results.engine import EngineCase, EngineOutage, Facts
from spark_check.micro_batch.checkpoint import complaints
from spark_check.micro_batch.crashes import (
    CrashedJob,
    JobCrash,
    JobLoad,
    crash_job,
    prepare,
    restart,
)
from spark_check.micro_batch.external_store import ExternalStore, StoreSink
from spark_check.micro_batch.job import JobSettings, run_to_end
from spark_check.micro_batch.stream import JobPoint
from spark_check.micro_batch.verdict import bodies, expected_bodies
from spark_check.runtime.crash_kinds import CrashKind
from spark_check.runtime.session import BRIEF, session

EVIDENCE = Path(__file__).with_suffix(".toml")
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
LOAD = JobLoad()

WHAT: Mapping[str, tuple[str, ...]] = {
    "last offset": ("offsets/2",),
    "last commit": ("commits/*",),
    "last two commits": ("commits/2", "commits/1"),
    "last offset and commit": ("offsets/2", "commits/2"),
    "all offsets": ("offsets",),
    "all commits": ("commits",),
    "metadata": ("metadata",),
    "last state": ("state/0/0/3.*",),
    "last table": ("state/0/0/SSTs/*",),
    "all state": ("state",),
    "checkpoint": ("",),
}
"""Files and folders of the checkpoint, the last in alphabetical order of each pattern."""


class ExpectedOutcome(NamedTuple):
    """The expected outcome of a damage; damage.toml explains the fields."""

    outcome: str
    found: bool
    names: bool | None = None
    sinks: tuple[str, ...] = ()
    keeps: bool = False
    quick: bool = False


class CheckpointDamage(NamedTuple):
    """A case: the checkpoint (base), the damaged files, the kind of damage."""

    base: str
    what: str
    how: str
    expected: ExpectedOutcome

    @property
    def name(self) -> str:
        wrong = "SPARK IS SILENTLY WRONG: " if self.expected.outcome == "wrong" else ""
        return f"{wrong}{self.base}, {self.what} {self.how}"


def evidence(path: Path = EVIDENCE) -> Iterator[CheckpointDamage]:
    """The damages and their expected outcomes, from damage.toml."""
    for base, whats in tomllib.loads(path.read_text()).items():
        for what, hows in whats.items():
            for how, values in hows.items():
                yield CheckpointDamage(base, what, how, ExpectedOutcome(**values))


# --- damages -------------------------------------------------------------------------------------
def _flip_bit(content: bytes) -> bytes:
    """Flip a bit: of the last digit in a text, elsewhere of the byte in the middle."""
    digits = [at for at, byte in enumerate(content) if chr(byte).isdigit()]
    at = digits[-1] if content.isascii() else len(content) // 2
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


CONTENTS: Mapping[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "emptied": lambda _: b"",
    "garbage": lambda content: bytes((37 * at + 11) % 251 for at in range(len(content))),
    "appended": lambda content: content + b"more",
    "a bit flipped": _flip_bit,
}


def targets(checkpoint: Path, what: str) -> tuple[Path, ...]:
    """The files and folders of the checkpoint that a damage concerns."""
    patterns = WHAT[what.partition(", of")[0]]
    return tuple(max(checkpoint.glob(one)) if one else checkpoint for one in patterns)


def apply_damage(checkpoint: Path, what: str, how: str) -> None:
    """Damage the files, as a key of damage.toml names it."""
    for path in targets(checkpoint, what):
        side = path.with_name(f".{path.name}.crc")
        if how in CONTENTS:
            path.write_bytes(CONTENTS[how](path.read_bytes()))
        elif how == "replaced by the one before":
            number, dot, suffix = path.name.partition(".")
            shutil.copyfile(path.with_name(f"{int(number) - 1}{dot}{suffix}"), path)
        else:
            delete_inside(path)
            if how == "deleted":
                delete_inside(side)


# --- the check -----------------------------------------------------------------------------------
def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """Damage a copy of a checkpoint for each case, and restart the query on it."""
    full = setting.profile != "quick"
    damages = [damage for damage in evidence() if full or damage.expected.quick]
    bases = {}
    if "crashed" in {damage.base for damage in damages}:
        plan = JobCrash(CrashKind.TREE, JobPoint.WRITTEN, len(LOAD.sizes) - 1)
        bases["crashed"], _ = crash_job(setting.work / "crashed", CrashedJob("crashed", plan, LOAD))
    cases = []
    with session(setting.work / "session", conf=BRIEF, jvm=setting.shared) as spark:
        for number, damage in enumerate(damages):
            setting.report(damage.name, number, len(damages))
            if damage.base not in bases:
                bases[damage.base] = run_query(spark, setting.work, damage.base)
            world = copy_store(bases[damage.base], setting.work / f"damage-{number}")
            cases.append(run_case(spark, damage, world))
    return tuple(cases)


def run_query(spark: SparkSession, work: Path, base: str) -> ExternalStore:
    """Run a query to its end, for its checkpoint."""
    store = prepare(work / base, LOAD)
    if base == "rocksdb":
        spark.conf.set(PROVIDER, ROCKSDB)  # from here on it is in the checkpoint
    run_to_end(spark, JobSettings(store.work, LOAD.ends[1:]))
    spark.conf.unset(PROVIDER)
    return store


def copy_store(store: ExternalStore, to: Path) -> ExternalStore:
    """Copy a store with its checkpoint into a new folder."""
    to.mkdir()
    for path in store.files():
        copy = shutil.copytree if path.is_dir() else shutil.copyfile
        copy(path, to / path.name)
    return ExternalStore(str(to))


def run_case(spark: SparkSession, damage: CheckpointDamage, world: ExternalStore) -> EngineCase:
    """Damage the store's checkpoint, restart the query, and compare."""
    checkpoint = world.checkpoint
    damaged = (path for path in targets(checkpoint, damage.what) if path != checkpoint)
    files = [str(path.relative_to(checkpoint)) for path in damaged]
    apply_damage(checkpoint, damage.what, damage.how)
    found = complaints(checkpoint)
    error = restart(spark, JobSettings(world.work, trims=not damage.expected.keeps), LOAD)
    sinks = [judge_sink(world, sink, finished=not error) for sink in StoreSink]
    return engine_case(
        name=damage.name,
        predicted=as_expected(damage.expected),
        seen=as_seen(error, sinks, files, found),
        details={"complaints": list(found), "error": essence(error).replace(world.work, "")},
        crashed=(EngineOutage(damage.what, damage.how),),
    )


RIGHT, COPIES = "right so far", "copies so far"
IMPLIED = {
    "same": ["precise", "precise"],
    "replayed": ["precise", "repeating"],
    "refused": [RIGHT, RIGHT],
}


def as_expected(expected: ExpectedOutcome) -> Facts:
    """The expected outcome, with the keys of `as_seen`."""
    return {
        "outcome": expected.outcome,
        "sinks": list(expected.sinks) or IMPLIED[expected.outcome],
        "the error names the file": expected.names,
        "our check complains": expected.found,
        "wrong, and nobody complained": False,
    }


def as_seen(error: str, sinks: list[str], files: list[str], found: tuple[str, ...]) -> Facts:
    """The outcome: error of the restart, verdicts on both sinks, complaints of our check."""
    came = outcome(bool(error), sinks)
    return {
        "outcome": came,
        "sinks": sinks,
        "the error names the file": names_file(error, files) if error else None,
        "our check complains": bool(found),
        "wrong, and nobody complained": came == "wrong" and not (error or found),
    }


def judge_sink(world: ExternalStore, sink: StoreSink, *, finished: bool) -> str:
    """A recovery type; of an output that a refusal has cut short, whether it is right so far."""
    want, got = expected_bodies(world.events()), bodies(world.output(sink))
    if finished:
        return classify(want, got).name.lower()
    if got == want[: len(got)]:
        return RIGHT
    return COPIES if set(got) <= set(want) else "wrong so far"


def outcome(refused: bool, sinks: list[str]) -> str:
    """The name of an outcome, from the verdicts on the idempotent and the appending sink."""
    idempotent, append = sinks
    if refused:
        return "refused" if idempotent == RIGHT and append in (RIGHT, COPIES) else "wrong"
    return next((name for name, implied in IMPLIED.items() if implied == sinks), "wrong")


def names_file(error: str, files: list[str]) -> bool:
    """Does the message, or that of a cause, name one of the files?  Java's stack does not count."""
    lines = [line for line in error.splitlines() if not line.lstrip().startswith("at ")]
    return any(re.search(rf"\b{re.escape(file)}\b", line) for file in files for line in lines)


def essence(error: str) -> str:
    """The first cause of an error, in one line."""
    causes = re.findall(r"(?:Caused by|terminated with exception|^): +(.+)", error, re.MULTILINE)
    return " < ".join(cause[:300] for cause in causes[-2:]) or error[:300]


CHECK = Check(
    "damage",
    "Damaged checkpoints",
    run,
    notes=(
        "Expected outcomes are evidence, in damage.toml beside the check.",
        "Spark is silently wrong where the case says so.  complaints() in "
        "spark_check/micro_batch/checkpoint.py, asked before a restart, finds every such case "
        "here.",
        "It cannot find a well-formed change where Spark writes no side files (.crc), as on object "
        "stores.",
    ),
)
