"""The reach of a check names the bound that hides a fault."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from model.evidence import Outcome
from model.results.verdict import Verdict
from proofs.explore.verdict import verdict
from reports.results.reach import paragraph
from tests.proofs.reach.faults import HELLO, RELAY, ReachFault

ROOT = Path(__file__).parents[3]
SOURCES = {
    "hello": (ROOT / "asif/templates/protocol.py.j2")
    .read_text(encoding="utf-8")
    .replace("{{ name }}", "hello"),
    "relay": (ROOT / "docs/examples/relay.py").read_text(encoding="utf-8"),
}
FAULTS = [
    pytest.param(name, fault, id=f"{name}-{fault.name}")
    for name, faults in (("hello", HELLO), ("relay", RELAY))
    for fault in faults
]


def checked(name: str, fault: ReachFault) -> Verdict:
    """The verdict on a protocol with a fault written into it."""
    text, mutants, rest = SOURCES[name].partition("MUTANTS = (")  # these quote lines of the text
    for old, new in fault.changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    module = ModuleType(f"{name}_with_a_fault")
    sys.modules[module.__name__] = module
    exec(compile(text + mutants + rest, f"{name}.py", "exec"), module.__dict__)
    return verdict(module.PROTOCOL, walks=20, examples=1, reach=True)


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_fault_is_refuted_or_its_bound_is_named(name: str, fault: ReachFault) -> None:
    found = checked(name, fault)
    hidden = bool(fault.bound or fault.silent)
    assert (found.outcome is Outcome.REFUTED) is not hidden
    if hidden:
        assert found.reach is not None
        assert any(fault.bound in line for line in paragraph(found.reach))
