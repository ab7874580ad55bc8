"""A bug of a real engine, and what was found about its model.

Rule of this file: no decision; its properties only pick.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.evidence import Outcome
from model.results.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class BugResult:
    """A report about an engine, and the verdicts on the forms of its model.

    file: the model, among those in docs/how-to/engines.  about: the fault in a sentence.  stream:
    does the model have one?  forms: the verdicts, the one on the fixed form first.
    """

    file: str
    report: str
    engine: str
    symptom: str
    about: str
    stream: bool
    forms: tuple[Verdict, ...]

    @property
    def fixed(self) -> Verdict:
        return self.forms[0]

    @property
    def flawed(self) -> Verdict | None:
        """The first form that is refuted."""
        return next((one for one in self.forms if one.outcome is Outcome.REFUTED), None)

    @property
    def expected(self) -> bool:
        """Is every form as pinned?"""
        return all(one.expected for one in self.forms)
