"""The bugs of real engines, for their page and the report: `python -m reports.engines` writes the
page's tables.

Rule of this file: no number of its own; steps, guarantees and worlds are the pins of the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from model.core import Guarantee
from model.evidence import Outcome, PinnedScope
from model.protocol import Protocol
from model.registry import import_file, subject

DOCS = Path(__file__).parent.parent / "docs"
FOLDER = DOCS / "how-to" / "engines"
PAGE = FOLDER / "README.md"
PICTURES = DOCS / "pictures" / "engines"
_MARKED = re.compile(r"<!-- (\w+) -->\n.*?<!-- end of \1 -->", re.DOTALL)


class Bug(NamedTuple):
    """file: the name of a file in docs/how-to/engines.  report: its name at the engine."""

    file: str
    report: str
    engine: str
    symptom: str


MODEL = "public model"
"""The engine of a bug that is one of a public specification."""
BUGS = (
    Bug("bytewax_181", "Bytewax #181", "Bytewax", "events are skipped after a restart"),
    Bug("kafka_20685", "KAFKA-20685", "Kafka", "a value is counted twice"),
    Bug("kip_447", "KIP-447", "Kafka", "duplicates after a worker was taken for dead"),
    Bug("flink_10354", "FLINK-10354", "Flink", "duplicates after a restart"),
    Bug("paimon_9666", "Paimon #9666", "Paimon", "a batch is committed twice"),
    Bug("arroyo_1099", "Arroyo #1099", "Arroyo", "a checkpoint without its results"),
    Bug(
        *("debezium_2460", "Debezium dbz#2460", "Debezium"),
        "nothing comes any more: every restart fails",
    ),
    Bug(
        *("risingwave_25690", "RisingWave #25690", "RisingWave"),
        "nothing comes any more: every restart fails",
    ),
    Bug("iceberg_18123", "Iceberg #18123", "Iceberg", "all results are dropped in silence"),
    Bug("pulsar_5218", "Pulsar #5218", "Pulsar", "a message is acknowledged and lost"),
    Bug("flink_40469", "FLINK-40469", "Flink", "a partition is not read any more"),
    Bug("jet_2503", "Hazelcast Jet #2503", "Hazelcast Jet", "no snapshot to restore from"),
    Bug("materialize_9249", "Materialize #9249", "Materialize", "duplicates after a restart"),
    Bug("beam_31313", "Beam #31313", "Beam", "everything comes twice after a restart"),
    Bug("flip_319", "FLIP-319", "Flink", "the results of a checkpoint are gone"),
    Bug("kip_890", "KIP-890", "Kafka", "a message of an aborted transaction counts"),
    Bug("exactly_once", "Qaiser's TLA+ series", MODEL, "duplicates without any fault"),
    Bug("two_phase", "TLA+ TwoPhase", MODEL, "one commits, another aborts"),
)


class Symptom(NamedTuple):
    """files: the bugs that show it.  variants: protocols of papers that show it, too."""

    seen: str
    files: tuple[str, ...]
    variants: tuple[str, ...] = ()


SYMPTOMS = (
    Symptom(
        "duplicates after a restart",
        ("flink_10354", "paimon_9666", "materialize_9249", "beam_31313"),
        ("micro-batch:foreach-batch", "abs:settle-by-committing"),
    ),
    Symptom(
        "duplicates without a crash",
        ("kip_447", "kip_890", "exactly_once"),
        ("log-io:scale-down-of-what-was-chosen",),
    ),
    Symptom(
        "a value counted twice",
        ("kafka_20685",),
        ("micro-batch:state-in-place", "log-io:no-array"),
    ),
    Symptom(
        "results are missing after a restart",
        ("bytewax_181", "arroyo_1099"),
        ("micro-batch:commit-first", "abs:complete-at-writers"),
    ),
    Symptom(
        "results are missing without a crash",
        ("flip_319", "pulsar_5218"),
        ("log-io:scale-down-published",),
    ),
    Symptom(
        "nothing comes any more",
        ("debezium_2460", "risingwave_25690", "iceberg_18123", "flink_40469", "jet_2503"),
        ("progressive:punctuated-by-data", "log-io:scale-up-not-stored"),
    ),
    Symptom("participants disagree", ("two_phase",)),
)


# --- the files -----------------------------------------------------------------------------------
def protocol(name: str) -> Protocol:
    """The fixed form in a file, which has the flawed ones as variants."""
    return subject(str(FOLDER / f"{name}.py")).protocol


def about(name: str) -> str:
    """The fault in a sentence: the first line of a file."""
    return _words(name).partition("\n")[0]


def address(name: str) -> str:
    """The address of the report that a file is about: the first one in its docstring."""
    found = re.search(r"https://[^\s,;)]+", _words(name))
    assert found is not None  # every file names its report
    return found[0].rstrip(".")


def _words(name: str) -> str:
    return import_file(FOLDER / f"{name}.py").__doc__ or ""


class Refuted(NamedTuple):
    """The first flawed form of a file, and the scope that refutes it."""

    protocol: Protocol
    pinned: PinnedScope


def refuted(name: str) -> Refuted:
    return next(
        Refuted(one, pinned)
        for one in protocol(name).variants
        for pinned in one.evidence.scopes
        if pinned.expect is Outcome.REFUTED
    )


# --- the page ------------------------------------------------------------------------------------
def page(text: str) -> str:
    """The page with its tables and runs between their marks.  Raises ValueError for other marks."""
    parts = {"symptoms": _symptoms, "reports": _reports, "runs": _runs}
    if _MARKED.findall(text) != [*parts]:
        raise ValueError(f"{PAGE} has marks for {_MARKED.findall(text)}, not {[*parts]}")

    def fresh(mark: re.Match[str]) -> str:
        lines = "\n".join(parts[mark[1]]())
        return f"<!-- {mark[1]} -->\n\n{lines}\n\n<!-- end of {mark[1]} -->"

    return _MARKED.sub(fresh, text)


def _symptoms() -> Iterator[str]:
    yield "| you see | look at | or at the built-in variant |"
    yield "|---|---|---|"
    for seen, files, variants in SYMPTOMS:
        models = ", ".join(f"[{file}](#{file})" for file in files)
        yield f"| {seen} | {models} | {', '.join(f'`{name}`' for name in variants)} |"


def _reports() -> Iterator[str]:
    yield "| report | engine | symptom | file | flawed: steps, guarantee left | fixed |"
    yield "|---|---|---|---|---|---|"
    for file, report, engine, symptom in BUGS:
        _, pinned = refuted(file)
        scopes = protocol(file).evidence.scopes
        kept = [one.guarantee for one in scopes if one.guarantee is not None]
        cells = (
            f"[{report}]({address(file)})",
            engine,
            symptom,
            f"[{file}.py]({file}.py)",
            f"[{pinned.steps}](#{file}), {_left(pinned.guarantee)}",
            f"holds, {_left(max(kept, default=None))}",
        )
        yield f"| {' | '.join(cells)} |"


def _left(guarantee: Guarantee | None) -> str:
    """The guarantee; without a stream there is none to give."""
    return "no stream" if guarantee is None else guarantee.word


def _runs() -> Iterator[str]:
    for at, (file, report, _, symptom) in enumerate(BUGS):
        flawed, pinned = refuted(file)
        yield from ("",) if at else ()
        yield f"### {file}"
        yield ""
        yield f"{report}: {symptom}."
        yield about(file)
        yield f"`asif check docs/how-to/engines/{file}.py:{flawed.variant}` draws this run:"
        yield ""
        shown = f"A run of {pinned.steps} steps: {symptom}."
        yield f"![{shown}](../../pictures/engines/{file}.svg)"


def write() -> None:
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
