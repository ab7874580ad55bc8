"""One-line faults of the fences and of restarts elsewhere, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

EXTERNAL, MOVES = (f"model.protocols.abs.{name}" for name in ("external", "moves"))
FENCING_MUTANTS = (
    Mutant(
        "the external system takes the changes of every run",
        EXTERNAL,
        "if run >= runs.get(sender, 0):",
        "if run >= 0:",
        "elsewhere: a relay",
    ),
    Mutant(
        "the external system remembers the first run of a writer",
        EXTERNAL,
        "after = tuple(sorted({**runs, sender: run}.items()))",
        "after = tuple(sorted({sender: run, **runs}.items()))",
        "elsewhere: a relay",
    ),
    Mutant(
        "the external system refuses a run that it knows",
        EXTERNAL,
        "if run >= runs.get(sender, 0):",
        "if run > runs.get(sender, 0):",
        "elsewhere: a relay",
    ),
    Mutant(
        "the messages of every run go to the first places",
        MOVES,
        "return effect._replace(to=place_in(run, effect.to))",
        "return effect._replace(to=place_in(0, effect.to))",
        "elsewhere: a relay",
    ),
    Mutant(
        "the loss of a task of this run restarts nothing",
        MOVES,
        "if place != place_in(state.run, task_at(place)):",
        "if place == place_in(state.run, task_at(place)):",
        "elsewhere: a relay",
    ),
    Mutant(
        "the number of the run is not in the change",
        MOVES,
        "return effect._replace(message=FromRun(run, effect.message))",
        "return effect._replace(message=FromRun(0, effect.message))",
        "orphans: coordinator of a relay",
    ),
)
