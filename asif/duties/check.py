"""The check of all duties of a protocol and its variants.

Rule of this file: no duty and no printing; a result is a value, which `asif check --json` writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from asif.duties.duties import DUTIES
from asif.duties.duty import Duty, faults_of
from asif.duties.sample import Sample
from model.registry import is_file, subject


@dataclass(frozen=True, slots=True)
class DutyResult:
    """A duty, and the faults of the protocol and its variants.

    asked: False if the protocol is in a file, and the duty is one of families alone.
    """

    duty: str
    rule: str
    reason: str
    asked: bool
    faults: tuple[str, ...]


def check_duties(name: str) -> tuple[DutyResult, ...]:
    """Check every duty of the protocol called `name` and its variants."""
    protocol = subject(name).protocol
    called = name if is_file(name) else ""
    samples = [Sample(one, called or one.name) for one in (protocol, *protocol.variants)]
    return tuple(_result(duty, samples) for duty in DUTIES)


def _result(duty: Duty, samples: list[Sample]) -> DutyResult:
    asked = duty.of_files or not is_file(samples[0].called)
    faults = tuple(
        f"{fault} ({sample.protocol.name})"
        for sample in samples
        if asked
        for fault in faults_of(duty, sample)
    )
    return DutyResult(duty.name, duty.rule, duty.reason, asked, faults)
