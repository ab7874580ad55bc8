"""A second opinion: another solver's answer to the same question.

Rule of this file: cvc5 sees only the SMT-LIB text that is exported, so it checks the export too.
"""

from __future__ import annotations

import cvc5

from proofs.query import Answer, Query

LIMIT_S = 10.0


def second(query: Query, limit_s: float = LIMIT_S) -> Answer:
    """cvc5's answer; UNKNOWN if it has none within the limit."""
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(limit_s * 1000)))
    if query.expect is Answer.SAT:
        # A model of quantified formulas is found by trying finite ones.
        solver.setOption("finite-model-find", "true")
    symbols = cvc5.SymbolManager(solver)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query.smt2(), query.name)
    answer = Answer.UNKNOWN
    while not (command := parser.nextCommand()).isNull():
        said = str(command.invoke(solver, symbols)).strip()
        if said in (Answer.SAT, Answer.UNSAT):
            answer = Answer(said)
        elif said not in ("", "success", Answer.UNKNOWN):
            raise ValueError(f"{query.name}: cvc5 says {said}")
    return answer
