"""Real outputs of every kind, each found once by a cheap run.

Rule of this file: a function here has the parts that a command prints, and needs seconds at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import RenderableType

from asif.commands import list as listing
from asif.console import Exact
from docs.examples import passive_standby, relay
from model.registry import modules, subject
from model.results.listing import listed
from reports import commands, engine_page
from reports.results import choose, experiments, sweeps, traces, verdicts

Parts: TypeAlias = Iterable[RenderableType]
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def list_all() -> Parts:
    protocols = [*modules().values()]
    rows = [[listed(one) for one in (main, *main.variants)] for main in protocols]
    yield listing._families(protocols, rows)
    for some in rows:
        yield listing._variants(some)
    yield listing._quantities({one.name: one.behaviour.quantities for one in protocols})


def check() -> Parts:
    from proofs.explore.verdict import verdict

    refuted = verdict(passive_standby.PROTOCOL.named("passive_standby:delta"), walks=20, examples=1)
    holds = verdict(relay.PROTOCOL, walks=5, examples=1)
    yield from verdicts.verdict(refuted, below=["build/check/x.svg"])
    yield from verdicts.verdict(refuted, long=True)
    yield from verdicts.verdict(holds, long=True)
    yield from verdicts.verdicts([refuted, holds])


def witness() -> Parts:
    from proofs.explore import witness as witnesses

    for name in ("forgetful", "standby"):
        protocol = subject(str(DOCS / "examples" / f"{name}.py")).protocol
        chosen = witnesses.choose(protocol, None)
        found = [witnesses.witness(protocol, pinned, 20_000) for pinned in chosen]
        yield from verdicts.witnesses(protocol.name, found)


def classify() -> Parts:
    from proofs.classify.verdict import choose as find
    from proofs.classify.verdict import verdict

    found = [verdict(one, 2_000) for one in find(None)]
    yield from commands.classes(found, in_full=False)
    yield from commands.classes(found, in_full=True)


def prove() -> Parts:
    from proofs.prove.lemma_index import choose as find
    from proofs.prove.prover import prove as ask
    from proofs.prove.prover import summary

    for result in ask([*find("first-window"), *find(str(DOCS / "examples" / "once.py"))]):
        yield from commands.proofs(result, long=True)
        yield from commands.proofs(result, long=False)
        yield summary(result)


def explain() -> Parts:
    from sim.scenarios.explain import explain_knobs, explain_tables

    tables = explain_tables()
    yield from commands.explanation(tables, long=False)
    yield from commands.explanation(tables)
    for protocol in modules().values():
        yield from commands.explanation(explain_knobs(protocol))


def which() -> Parts:
    from sim.scenarios.scenario import draft
    from sim.scenarios.which import which as find

    yield from commands.fits(find(draft(DOCS / "scenarios" / "quickstart.toml")))


def simulate(folder: Path) -> Parts:
    from sim.scenarios.run import simulate as run
    from sim.scenarios.scenario import read
    from tests.commands.test_cli import SCENARIO

    path = folder / "mine.toml"
    path.write_text(SCENARIO)
    result = run(read(path))
    yield from commands.simulation(result)
    failures = [replace(one, node=f"{one.node}-" * 4 + "1") for one in result.failures]
    yield from commands.simulation(replace(result, failures=tuple(failures)))


def study(folder: Path) -> Parts:
    from tests.scenarios.test_study import FREE, studied

    wide = ("study.half_width=0.001", "study.replications=10")
    yield from commands.study(studied(folder, FREE, *wide))


def run(folder: Path) -> Parts:
    from asif.commands.run import AskedPattern, _own_events, run_and_compare
    from model.progress import silent
    from sim.inputs.streams import Search

    path = folder / "mine.csv"
    path.write_text("type,time\n" + "".join(f"{'ab'[n % 2]},{n // 2}\n" for n in range(60)))
    asked = AskedPattern("a, b", 6, 2, Search("next", "none"), None, False)
    real = _own_events(path, "type", "time", asked)
    for name in ("upstream-backup", "amnesia"):
        found = run_and_compare(
            *(subject(name).protocol, None, real.workload, None, real.usual, silent)
        )
        yield from commands.run(replace(found, clock=real.clock, added=tuple(real.added)))


def calibrate(folder: Path) -> Parts:
    from asif.commands.calibrate import _operator, costs_file
    from model.results.calibration import Calibration
    from sim.calibration.measure import measure_disk, measure_operator

    costs = (*measure_disk(folder), *measure_operator(*_operator(None)))
    yield Exact(costs_file(Calibration(0.5, costs)))


def sweep(folder: Path) -> Parts:
    from model.results.sweep import SweepResult
    from tests.sim.test_sweeps import _summary

    names: dict[str, list[Any]] = {
        "protocol": ["upstream-backup:pairs-of-inputs-no-skips", "cec"],
        "window": [1, 20],
    }
    yield sweeps.table(_summary(**names))
    result = SweepResult("mine", "v", str(folder), 1_200, 10, 3, 2, 12, 2, 1, 3.0)
    yield sweeps.summary_line(result)


def reproduce(folder: Path) -> Parts:
    from sim.experiments.campaign import reproduce as again
    from sim.experiments.lima.figure9 import FIG9

    result = again(FIG9, folder, seeds=1, events=2_000)
    yield from commands.reproduction(result)
    yield experiments.score([result])


def plan() -> Parts:
    from sim.plans.compare import compare
    from sim.plans.read import read

    for path in sorted((DOCS / "plans").glob("*.toml")):
        yield from commands.recovery_plan(compare(read(path)))


def engine() -> Parts:
    for name in ("spark", "flink"):
        for one in engine_page.kept(engine_page.RESULTS / name):
            yield from commands.engine_check(one)


def verify_trace() -> Parts:
    from spark_check.traces.verify import verify

    logs = DOCS / "examples" / "logs"
    for before, after in (
        ("payments.csv", "payments-after-crash.csv"),
        ("orders.jsonl", "orders-after-crash.jsonl"),
        ("counts.csv", "counts-appended.csv"),
    ):
        yield from traces.render(verify(logs / before, logs / after))


def choose_all(folder: Path) -> Parts:
    from tests.choose.test_choice import formula_choice

    result = formula_choice(folder)
    yield from choose.output(result)
    yield from choose.terms(result)


def duties() -> Parts:
    from asif.commands.duties import _lines
    from asif.duties.check import check_duties

    yield from _lines("relay", check_duties(str(DOCS / "examples" / "relay.py")))


def lineage() -> Parts:
    from model.results.lineage import ListedPort, LogVerification, PortsResult, VerifiedTable

    port = ListedPort(
        "ledger.booked-amounts", "output", "reports.daily-totals", 1, 12_000, 3, "all"
    )
    yield from commands.lineage_ports(PortsResult((port, replace(port, to=None, kind="write"))))
    gone = VerifiedTable("EVENT_DATA", None, ("gone",))
    tables = (VerifiedTable("EVENT_LOG", 12_000, ()), gone)
    yield from commands.log_verification(LogVerification(False, ("a row has no event",), tables))


KINDS: dict[str, Callable[..., Parts]] = {
    "calibrate": calibrate,
    "check": check,
    "check --duties": duties,
    "choose": choose_all,
    "classify": classify,
    "lineage": lineage,
    "list": list_all,
    "plan": plan,
    "prove": prove,
    "reproduce": reproduce,
    "run": run,
    "simulate": simulate,
    "simulate --explain": explain,
    "simulate --study": study,
    "simulate --which": which,
    "spark, flink": engine,
    "sweep": sweep,
    "verify-trace": verify_trace,
    "witness": witness,
}


@cache
def parts(kind: str, folder: Path) -> tuple[RenderableType, ...]:
    """The parts of an output.  folder: for files of a run."""
    make = KINDS[kind]
    return tuple(make(folder) if make.__code__.co_argcount else make())
