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
from docs.examples import passive_standby, relay
from model.registry import modules, subject
from model.results.listing import listed
from reports import commands, engine_page
from reports.results import choose, traces, verdicts

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
    yield from commands.simulation(run(read(path)))


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
    for before, after, columns in (
        ("payments.csv", "payments-after-crash.csv", {}),
        ("orders.jsonl", "orders-after-crash.jsonl", {}),
        ("counts.csv", "counts-appended.csv", {}),
    ):
        asked: dict[str, Any] = {name: [] for name in ("key", "order", "id", "ignore", "lineage")}
        yield from traces.render(verify(logs / before, logs / after, **{**asked, **columns}))


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
    "check": check,
    "check --duties": duties,
    "choose": choose_all,
    "classify": classify,
    "lineage": lineage,
    "list": list_all,
    "plan": plan,
    "prove": prove,
    "simulate": simulate,
    "simulate --explain": explain,
    "simulate --which": which,
    "spark, flink": engine,
    "verify-trace": verify_trace,
    "witness": witness,
}


@cache
def parts(kind: str, folder: Path) -> tuple[RenderableType, ...]:
    """The parts of an output.  folder: for files of a run."""
    make = KINDS[kind]
    return tuple(make(folder) if make.__code__.co_argcount else make())
