"""A second opinion: another solver's answer to the same question.

Rule of this file: cvc5 sees only the SMT-LIB text that is exported, so it checks the export too.
"""

from __future__ import annotations

import cvc5

from proofs.query import Answer, Query

LIMIT_S = 5.0


def second(query: Query, limit_s: float = LIMIT_S) -> Answer:
    """cvc5's answer; UNKNOWN if it has none within the limit, of each of two attempts.

    Finding finite models is what decides EPR, both ways; without it cvc5 instantiates
    quantifiers, which is faster where it is enough.
    """
    for finite in (query.expect is Answer.SAT, query.expect is Answer.UNSAT):
        answer = _asked(query, finite, limit_s)
        if answer is not Answer.UNKNOWN:
            return answer
    return Answer.UNKNOWN


def _asked(query: Query, finite: bool, limit_s: float) -> Answer:
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(limit_s * 1000)))
    solver.setOption("finite-model-find", str(finite).lower())
    symbols = cvc5.SymbolManager(solver)
    parser = cvc5.InputParser(solver, symbols)
    # Without the answer expected: cvc5 takes another one for an error.
    asked = "\n".join(line for line in query.smt2().split("\n") if ":status" not in line)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, asked, query.name)
    answer = Answer.UNKNOWN
    while not (command := parser.nextCommand()).isNull():
        said = str(command.invoke(solver, symbols)).strip()
        if said in (Answer.SAT, Answer.UNSAT):
            answer = Answer(said)
        elif said not in ("", "success") and not said.startswith(Answer.UNKNOWN):
            raise ValueError(f"{query.name}: cvc5 says {said}")
    return answer
