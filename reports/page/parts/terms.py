"""The terms of the report.

Rule of this file: words alone; the glossary of the documents has all of them.
"""

from __future__ import annotations

from model.core import Guarantee
from model.recovery import WORDS
from reports.page.blocks import FactList, PageRoom, coded

ROOM = "terms"
_HOLDS = (
    "A protocol holds if no reachable world of any scope violates a property.  It is refuted if "
    "one does; the shortest run to this world is shown.  “As expected”: all outcomes, state counts "
    "and lengths of counterexamples are those pinned in the file of the protocol.  A variant that "
    "should be refuted is as expected if it is refuted."
)
_WORLD = (
    "The whole system at one moment: states of nodes, messages on their way, arrivals and outputs "
    "so far.  A scope is a deployment with few input events and crashes, explored breadth first "
    "through every interleaving."
)
_POINT = (
    "A place where a crash may fall: between two steps of a node, or between two effects of a "
    "step, also during a recovery."
)
_GUARANTEE = (
    "The view of the application behind the sinks (Hwang et al.), strongest first: {}.  A table "
    "has the weakest guarantee found.  “Until refuted”: the search ended with the level by which "
    "the violation and the expected guarantee were found; the full profile goes on: it would find "
    "a weaker guarantee, and compares the number of worlds."
)
_PROFILE = (
    "The full profile does all.  The quick one leaves out whatever takes long: large scopes, the "
    "rest of a scope that is refuted, random attacks of variants, lemmas without one of their "
    "hypotheses, worlds compared with formulas, the checks on real engines that the report does "
    "not show (`asif spark --all` and `asif flink --all` run all), long scenarios, experiments "
    "that no paper has (`asif reproduce` runs them), most seeds of the others and most flights."
)
_EVIDENCE = (
    "How often each of these things happened, counted once for every distinct situation of a node."
)


def room() -> PageRoom:
    """The terms, each in a sentence or two."""
    levels = ", ".join(f"{one.name.lower()} ({WORDS[one]})" for one in Guarantee)
    rows = [
        ("Holds, refuted", _HOLDS),
        ("World", _WORLD),
        ("Crash point", _POINT),
        ("Guarantee", _GUARANTEE.format(levels)),
        ("Profile", coded(_PROFILE)),
        ("Evidence", _EVIDENCE),
    ]
    return PageRoom(ROOM, "Terms", [FactList(rows)])
