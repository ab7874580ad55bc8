"""Findings about a paper: a claim, the verdict on it, the witnesses of the verdict, the correction.

Rule of this file: values without behaviour.  The findings of a family stand in its folder
(`model/protocols/F/findings`); prose about them stands in docs/explanation/findings/F.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias


class Judgement(Enum):
    """The verdict on a claim; the value is the word that a reader sees."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    CONDITIONAL = "right in part"
    NEEDED = "needed"
    NOT_NEEDED = "not needed"
    SILENT = "nothing is said"
    CONTRADICTORY = "passages disagree"
    OPEN = "open"


# --- the witnesses of a verdict ----------------------------------------------------------------
class ByScope(NamedTuple):
    """A pinned scope of a variant (model.core.PinnedScope), refuted or not; "": every scope of the
    variant, and all of them hold.  run: the shortest run in a few words or events."""

    variant: str
    scope: str = ""
    run: str = ""


class ByMutant(NamedTuple):
    """A mutant of the family; steps: of a run that shows the fault (0: not given)."""

    mutant: str
    steps: int = 0


class ByLemma(NamedTuple):
    """A lemma of the family's theory; size: of its smallest counterexample, as the lemma has it."""

    lemma: str
    size: str = ""


class ByTest(NamedTuple):
    """A test, as pytest names it (a file, or FILE::FUNCTION); shows: the smallest case in it."""

    test: str
    shows: str = ""


class ByExperiment(NamedTuple):
    """An experiment of `asif reproduce`; shows: the numbers found."""

    experiment: str
    shows: str = ""


class ByReading(NamedTuple):
    """Passages of the paper, compared with each other; nothing was run."""

    passages: str


Witness: TypeAlias = ByScope | ByMutant | ByLemma | ByTest | ByExperiment | ByReading


# --- findings ----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Finding:
    """A claim of a paper, or a point on which the paper is silent, and the verdict on it.

    claim: a sentence.  quotes: the parts of the claim that are the paper's own words.  section: of
    the paper; "": of no section.  remark: the condition of the verdict, or the reason in brief.
    mend: the correction; mended: variants that hold with it.
    """

    claim: str
    verdict: Judgement
    section: str = ""
    quotes: tuple[str, ...] = ()
    remark: str = ""
    witnesses: tuple[Witness, ...] = ()
    mend: str = ""
    mended: tuple[str, ...] = ()


class FindingTable(NamedTuple):
    """The findings of one subject, in the order of the paper or of the argument."""

    subject: str
    findings: tuple[Finding, ...]
