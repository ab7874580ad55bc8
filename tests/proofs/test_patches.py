"""Patches: the lines that they replace, and patched forms in this process and in another one."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from model import patches
from model.errors import Invalid
from model.evidence import Outcome
from model.patches import SHARED, Change, Patched, diff, load_patched, patched_source, readings_of
from model.protocol import Protocol
from model.registry import protocols
from model.system import System
from proofs.explore.explorer import explore

MODULE = "model.protocols.log_io.places"
READ = [one for one in protocols().values() if readings_of(one.behaviour)]
SMALLER = protocols()["log-io:smaller-numbers"]


@pytest.mark.parametrize("protocol", READ, ids=lambda protocol: protocol.name)
def test_every_reading_has_a_quotation_and_a_form(protocol: Protocol) -> None:
    assert all(reading.quote for reading in readings_of(protocol.behaviour))
    pinned = min(protocol.evidence.scopes, key=lambda one: one.worlds or 10**9)
    real, patched = protocols()[protocol.name.partition(":")[0]], System(protocol, pinned.scope)
    assert patched.sites.keys()
    assert isinstance(protocol.behaviour.step, Patched)
    assert protocol.behaviour.step.function is not real.behaviour.step


def test_a_reading_is_refuted_and_the_mended_text_is_not() -> None:
    (pinned,) = SMALLER.evidence.scopes
    assert explore(SMALLER, pinned.scope, until=pinned.guarantee).outcome is Outcome.REFUTED
    mended = protocols()["log-io"]
    assert explore(mended, pinned.scope, limit=6_000).outcome is Outcome.HOLDS


def test_several_lines_are_replaced_at_their_indentation() -> None:
    source = "def f(x):\n    if x:\n        return 1\n    return 2\n"
    change = Change(
        MODULE,
        'LOG, SERVICE = "log", "service"\nCONTROLLER, ENGINE = "controller", "engine"',
        source,
    )
    patched = load_patched(MODULE, (change,))
    assert (patched.f(True), patched.f(False)) == (1, 2)
    inner = Change(MODULE, "    if x:\n        return 1", "  return 3")
    patched = load_patched(MODULE, (change, inner))
    assert patched.f(True) == 3
    assert not hasattr(patched, "LOG")


def test_lines_that_do_not_stand_there_as_they_are_are_refused() -> None:
    far = "def connection(sender: NodeName, receiver: NodeName) -> NodeName:"
    apart = Change(MODULE, f'LOG, SERVICE = "log", "service"\n{far}', "")
    inside = Change(MODULE, 'SERVICE = "log", "service"', "")
    for change in (apart, inside):
        with pytest.raises(Invalid, match=r"0 lines of model\.protocols\.log_io\.places read"):
            patched_source(MODULE, (change,))


def test_a_patched_function_is_the_same_in_another_process() -> None:
    assert pickle.loads(pickle.dumps(SMALLER.behaviour.step)) == SMALLER.behaviour.step
    (pinned,) = SMALLER.evidence.scopes
    sites = System(SMALLER, pinned.scope).deployment.sites
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert [*pool.map(SMALLER.behaviour.boot, sites)] == [*map(SMALLER.behaviour.boot, sites)]


def test_a_diff_has_the_old_line_and_the_new_one() -> None:
    (reading,) = readings_of(SMALLER.behaviour)
    (change,) = reading.changes
    lines = diff(reading.changes).splitlines()
    assert f"-    {change.old}" in lines
    assert f"+    {change.new}" in lines


# --- shared modules ----------------------------------------------------------------------------
LOADED_ANEW = {
    *("calls", "family", "knobs", "levels", "oracle", "pair_scopes", "parts", "play", "predicates"),
    *("properties", "queues", "recovery", "state_parts", "uploads"),
}
"""The modules beside the shared ones: a copy of a patched module may have its own of these."""


def test_every_module_of_the_model_is_shared_or_loaded_anew() -> None:
    files = {path.stem for path in Path(patches.__file__).parent.glob("*.py")} - {"__init__"}
    shared = {name.removeprefix("model.") for name in SHARED}
    assert not shared & LOADED_ANEW
    assert shared | LOADED_ANEW == files


@pytest.mark.parametrize("name", sorted(SHARED))
def test_a_shared_module_builds_on_shared_ones(name: str) -> None:
    """But for the values of boxes: else its types would be those of two copies."""
    files = {f"model.{name}" for name in LOADED_ANEW}
    assert not patches._imported(name) & files


def test_no_patch_changes_a_shared_module() -> None:
    change = Change("model.world", "DOWN = Down.DOWN", "DOWN = None")
    with pytest.raises(Invalid, match=r"model\.world is shared by all protocols: no patch"):
        load_patched("model.protocols.amnesia.nodes", (change,))
