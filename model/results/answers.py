"""Kinds of queries, and of answers.

Rule of this file: two lists of words.  JSON has them as they stand here.
"""

from __future__ import annotations

from enum import StrEnum


class Answer(StrEnum):
    UNSAT = "unsat"
    SAT = "sat"
    UNKNOWN = "unknown"


class QueryKind(StrEnum):
    """What a query is for, which also says the answer expected of it.

    INITIAL: an invariant holds in all initial states.  STEP: a transition keeps an invariant.
    CLAIM: any other formula that has no model.  COUNTEREXAMPLE: a model refutes the lemma.
    SOMETIMES: a model shows that the hypotheses do not contradict each other.
    """

    INITIAL = "initial"
    STEP = "step"
    CLAIM = "claim"
    COUNTEREXAMPLE = "counterexample"
    SOMETIMES = "sometimes"

    @property
    def expect(self) -> Answer:
        """The answer that is as it should be."""
        return (
            Answer.SAT if self in (QueryKind.COUNTEREXAMPLE, QueryKind.SOMETIMES) else Answer.UNSAT
        )
