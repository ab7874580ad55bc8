"""A duty: a rule that every protocol keeps, so that every driver can run and show it.

Rule of this file: no duty; worlds.py, words.py and runs.py have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from asif.duties.sample import Sample
from model.errors import Invalid, StepFailed

MOST = 3
"""The largest number of faults that a line names."""


class Duty(NamedTuple):
    """A rule, the reason for it, and the check.

    faults: one short sentence for each place at which a protocol breaks the rule.  of_files: False
    for a duty of the families in model/protocols alone; a file of a user may have no `memory`, and
    be made for the operators of its own scopes.
    """

    name: str
    rule: str
    reason: str
    faults: Callable[[Sample], Iterator[str]]
    of_files: bool = True


def faults_of(duty: Duty, sample: Sample) -> tuple[str, ...]:
    """The first faults of a protocol, each once; a protocol that fails at work has one."""
    try:
        return tuple(islice(dict.fromkeys(duty.faults(sample)), MOST))
    except (Invalid, StepFailed) as error:
        return (str(error),)
