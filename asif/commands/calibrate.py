"""`asif calibrate`: measure the costs of link, disk, step and savepoint on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from asif.console import Exact, JsonOption, publish
from asif.early import result_file
from model.machine import temporary

if TYPE_CHECKING:
    from model.results.calibration import Calibration, MeasuredCost


def calibrate(
    operator: Annotated[
        str | None,
        typer.Argument(metavar="[BOX|FILE.py]", help="An operator, as in classify."),
    ] = None,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="Measure the disk of this folder.")
    ] = Path(),
    spark: Annotated[
        bool,
        typer.Option("--spark", help="Measure micro-batches on real Spark, too."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help="Write the costs into this file.", callback=result_file
        ),
    ] = None,
    json_: JsonOption = None,
) -> None:
    """Measure costs on this machine, and write them as the costs of a scenario."""
    from asif.progress import show_progress
    from model.results.calibration import Calibration
    from sim.calibration.measure import measure_disk, measure_link, measure_operator

    name, box, edges = _operator(operator)
    parts = [
        ("link", measure_link),
        ("disk", lambda: measure_disk(folder)),
        (name, lambda: measure_operator(name, box, edges)),
        *([("Spark", _spark)] if spark else []),
    ]
    found: dict[str, MeasuredCost] = {}
    with show_progress() as progress:
        for at, (what, measure) in enumerate(parts):
            progress("measuring", at, len(parts), what)
            found |= {one.key: one for one in measure()}
        progress("measuring", len(parts), len(parts))
    result = Calibration(os.getloadavg()[0], tuple(found.values()))
    text = costs_file(result)
    words = [Exact(text.removesuffix("\n"))] if out is None else []
    publish(words, result, json_, {} if out is None else {out: text})


def costs_file(result: Calibration) -> str:
    """The measured costs as TOML, with their circumstances as comments."""
    from sim.calibration.costs_file import costs_toml

    about = (
        f"Measured by asif calibrate, on {os.cpu_count()} cores with a load of {result.load:.1f}.",
        "The link is TCP within the machine: a network has a longer delay and less bandwidth.",
        "What is not here was not measured, and has its default.",
    )
    return costs_toml(result.costs, about)


def _operator(name: str | None) -> tuple[str, Any, Any]:
    """The name of an operator, its box, and the events of each of its inputs."""
    from model.cep.box import CepBox
    from model.cep.one_run import one_run
    from model.cep.operator import Operator
    from model.cep.windows import CountWindows
    from model.core import Arrival
    from proofs.classify import verdict as classifying

    if name is None:
        pattern = CepBox(Operator(one_run("a", "b", "c"), CountWindows(40, 20)))
        return 'the pattern "a, b, c" in windows of 40', pattern, ([Arrival(1, t) for t in "abc"],)
    (named,) = classifying.choose(name)
    return named.name, named.box, named.alphabet.edges


def _spark() -> list[MeasuredCost]:
    """The costs that the families measure on Spark."""
    from engine_check.families import family_modules
    from spark_check.engine import ENGINE

    with temporary.folder() as work:
        return [
            cost
            for number, module in enumerate(family_modules(ENGINE, "costs"))
            for cost in module.measure(work / str(number))
        ]
