"""A second opinion: another solver's answer to the same question.

Rule of this file: cvc5 sees only the SMT-LIB text that is exported, so it checks the export too.
Run as a program, it answers the text on its standard input: so an attempt that does not keep its
time limit can be stopped.
"""

from __future__ import annotations

import sys
from subprocess import TimeoutExpired

import cvc5

from model.machine.children import run
from model.results.answers import Answer
from proofs.prove.query import SolverQuery

LIMIT_S = 5.0


def second(query: SolverQuery, limit_s: float = LIMIT_S) -> Answer:
    """cvc5's answer; UNKNOWN if it has none within the limit, of each of two attempts.

    The search for finite models decides EPR, both ways; without it cvc5 instantiates
    quantifiers, which is faster where it is enough, and finds contradictions only.  The answer
    expected decides which attempt is made first, and cvc5 does not see it.
    """
    # Where the text states an answer, cvc5 reports another one as an error.
    text = "\n".join(line for line in query.smt2().split("\n") if ":status" not in line)
    attempts = (_instantiate, _find_models)
    for attempt in attempts if query.expect is Answer.UNSAT else reversed(attempts):
        answer = attempt(text, limit_s)
        if answer is not Answer.UNKNOWN:
            return answer
    return Answer.UNKNOWN


def _instantiate(text: str, limit_s: float) -> Answer:
    return ask_cvc5(text, finite=False, limit_s=limit_s)


def _find_models(text: str, limit_s: float) -> Answer:
    """In a process of its own: cvc5 looks at the clock too seldom here."""
    try:
        done = run([sys.executable, "-m", __name__], text=text, limit_s=limit_s)
    except TimeoutExpired:
        return Answer.UNKNOWN
    if done.returncode:
        raise RuntimeError(f"cvc5 ended with exit code {done.returncode}: {done.stderr}")
    return Answer(done.stdout.strip())


def ask_cvc5(text: str, *, finite: bool, limit_s: float) -> Answer:
    """The answer to the one question in some SMT-LIB text; ValueError if cvc5 rejects it."""
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(limit_s * 1000)))
    solver.setOption("finite-model-find", str(finite).lower())
    symbols = cvc5.SymbolManager(solver)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "query")
    answer = Answer.UNKNOWN
    while not (command := parser.nextCommand()).isNull():
        said = str(command.invoke(solver, symbols)).strip()
        if said in (Answer.SAT, Answer.UNSAT):
            answer = Answer(said)
        elif said not in ("", "success") and not said.startswith(Answer.UNKNOWN):
            raise ValueError(f"cvc5 says {said}")
    return answer


if __name__ == "__main__":
    print(ask_cvc5(sys.stdin.read(), finite=True, limit_s=LIMIT_S).value)
