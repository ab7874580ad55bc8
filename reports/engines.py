"""The page "Bugs of real engines": `python -m reports.engines` writes its table.

Rule of this file: no number of its own; steps, guarantees and worlds are the pins of the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from model.core import Guarantee
from model.evidence import Outcome, PinnedScope
from model.graph import NO_GRAPH
from model.protocol import Protocol
from model.registry import import_file, subject

DOCS = Path(__file__).parent.parent / "docs"
FOLDER = DOCS / "how-to" / "engines"
PAGE = FOLDER / "README.md"
PICTURES = DOCS / "pictures" / "engines"
BEGIN, END = "<!-- generated -->", "<!-- end of generated -->"


class Bug(NamedTuple):
    """file: the name of a file in docs/how-to/engines.  report: its name there."""

    file: str
    report: str
    symptom: str


BUGS = (
    Bug("bytewax_181", "Bytewax #181", "events are skipped after a restart"),
    Bug("kafka_20685", "KAFKA-20685", "a value is counted twice"),
    Bug("kip_447", "KIP-447", "duplicates after a worker was taken for dead"),
    Bug("flink_10354", "FLINK-10354", "duplicates after a restart"),
    Bug("paimon_9666", "Paimon #9666", "a batch is committed twice"),
    Bug("arroyo_1099", "Arroyo #1099", "a checkpoint without its results"),
    Bug("debezium_2460", "Debezium dbz#2460", "nothing comes any more: every restart fails"),
    Bug("risingwave_25690", "RisingWave #25690", "nothing comes any more: every restart fails"),
    Bug("iceberg_18123", "Iceberg #18123", "all results are dropped in silence"),
    Bug("pulsar_5218", "Pulsar #5218", "a message is acknowledged and lost"),
    Bug("flink_40469", "FLINK-40469", "a partition is not read any more"),
    Bug("jet_2503", "Hazelcast Jet #2503", "no snapshot to restore from"),
    Bug("materialize_9249", "Materialize #9249", "duplicates after a restart"),
    Bug("beam_31313", "Beam #31313", "everything comes twice after a restart"),
    Bug("flip_319", "FLIP-319", "the results of a checkpoint are gone after a long outage"),
    Bug("kip_890", "KIP-890", "a message of an aborted transaction counts"),
    Bug("exactly_once", "Qaiser's TLA+ series", "duplicates without any fault"),
    Bug("two_phase", "TLA+ TwoPhase", "one commits, another aborts"),
)


class Refuted(NamedTuple):
    """The first flawed form of a file, and the scope that refutes it."""

    protocol: Protocol
    pinned: PinnedScope


def refuted(name: str) -> Refuted:
    protocol = subject(str(FOLDER / f"{name}.py")).protocol
    return next(
        Refuted(one, pinned)
        for one in protocol.variants
        for pinned in one.evidence.scopes
        if pinned.expect is Outcome.REFUTED
    )


def page(text: str) -> str:
    """The page with the table of reports between its marks.  Raises ValueError for no marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return "\n".join([before + BEGIN, "", *_table(), "", *_runs(), END + after])


def _table() -> Iterator[str]:
    yield "| report | symptom | file | flawed: steps, guarantee left | fixed |"
    yield "|---|---|---|---|---|"
    for file, report, symptom in BUGS:
        _, pinned = refuted(file)
        fixed = subject(str(FOLDER / f"{file}.py")).protocol
        worst = max(one.guarantee for one in fixed.evidence.scopes)
        link = re.search(r"https://[^\s,;)]+", import_file(FOLDER / f"{file}.py").__doc__ or "")
        assert link is not None  # every file names its report
        cells = (
            f"[{report}]({link[0].rstrip('.')})",
            symptom,
            f"[{file}.py]({file}.py)",
            f"[{pinned.steps}](#{file}), {_left(pinned, pinned.guarantee)}",
            f"holds, {_left(pinned, worst)}",
        )
        yield f"| {' | '.join(cells)} |"


def _left(pinned: PinnedScope, guarantee: Guarantee) -> str:
    """The guarantee; without a stream there is none to give."""
    return "no stream" if pinned.scope.graph == NO_GRAPH else guarantee.name.lower()


def _runs() -> Iterator[str]:
    for file, report, symptom in BUGS:
        protocol, pinned = refuted(file)
        words = (import_file(FOLDER / f"{file}.py").__doc__ or "").partition("\n")[0]
        yield f"### {file}"
        yield ""
        yield f"{report}: {symptom}.  {words}"
        yield f"`asif check docs/how-to/engines/{file}.py:{protocol.variant}` draws this run:"
        yield ""
        shown = f"A run of {pinned.steps} steps: {symptom}."
        yield f"![{shown}](../../pictures/engines/{file}.svg)"
        yield ""


def write() -> None:
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
