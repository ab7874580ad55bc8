"""Each kind of impurity is found, with the function, its line and both answers; no pure one is."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from asif.another_process import shift_clock
from asif.elsewhere import Unasked, ask_elsewhere
from model.results.purity import ImpureAnswer
from proofs.explore.canonical import canonical
from tests.children import children

HEAD = """
import datetime, itertools, os, random, time
from dataclasses import dataclass, replace
from datetime import date
from os import environ

from docs.examples import relay
from model.boxes.box import Box, Fed, Out
from model.core import RESENT, Note, Property, When
from model.costs import Gauges
from model.graph import chain
from model.parts import over_words

P = relay.PROTOCOL
COUNT, SEEN, MEMO, DEALT = itertools.count(), {}, {}, random.Random(7)

def remembered(value):
    MEMO.setdefault(value, len(value))
    return MEMO[value]

def seen_so_far():
    SEEN[len(SEEN)] = True
    return len(SEEN)

def after(number):
    def step(site, state, input_):
        state, effects = P.behaviour.step(site, state, input_)
        return state, (*effects, Note(RESENT, number()))
    return {"step": step}

def deploy(design, scope):
    found = P.behaviour.deploy(design, scope)
    return found._replace(sites=(*{*found.sites},))

def boot(site):
    state = P.behaviour.boot(site)
    return -next(COUNT) if site.name == "sink" else state

def recover(site, durable):
    return P.behaviour.boot(site), (Note(RESENT, id(object())),)

def gauges(site, state):
    return Gauges(buffered=next(COUNT))

def by_day(scope, seen):
    return date.today().year % 2 == 0

def needed(scope, seen):
    return {"source": 9 + next(COUNT)}

@dataclass(frozen=True)
class Drifting(Box):
    def begin(self, edges):
        return ()
    def feed(self, state, item):
        yield Fed((), (Out(item.body._replace(time=next(COUNT)), frozenset()),))

QUIET = over_words(relay.GRAPH, 1, crashes=0)
DRIFTING = over_words(chain(("relay", Drifting())), 1)
def scoped(scope):
    return {"scopes": (replace(P.evidence.scopes[0], scope=scope),)}
"""
STEPS = {
    "clock": "int(time.time()) // 3600",
    "nanoseconds": "time.monotonic_ns()",
    "clock-by-id": "int(time.clock_gettime(time.CLOCK_REALTIME)) // 3600",
    "nanoseconds-by-id": "time.clock_gettime_ns(time.CLOCK_MONOTONIC)",
    "processor": "int(os.times().elapsed) // 3600",
    "day-of-year": "time.localtime().tm_yday",
    "day": "date.today().toordinal()",
    "datetime": "datetime.datetime.now().month",
    "counter": "next(COUNT)",
    "random": "random.randrange(10**9)",
    "dealt": "DEALT.randrange(10**9)",
    "global": "seen_so_far()",
    "identity": "id(object())",
    "hash": "hash('relay') % 10**9",
    "set-order": "''.join({'source', 'relay', 'sink', 'store'}).index('relay')",
    "environment": "len(environ['HOME'])",
    "unset-variable": "len(os.environ.get('NOBODY_SETS_THIS', 'no'))",
    "folder": "len(os.getcwd())",
    "process": "os.getpid()",
}
"""A number that the step puts into its answer; another one if it is asked elsewhere, or again."""
PURE = {
    "nothing": "3",
    "memo": "remembered('relay')",
    "sorted": "''.join(sorted({'source', 'relay', 'sink'})).index('relay')",
    "numbers": "sum({3, 1, 2})",
    "own-chance": "random.Random(3).randrange(99)",
}
OTHERS = {
    "deploy": "dict(deploy=deploy)",
    "boot": "dict(boot=boot)",
    "recover": "dict(recover=recover)",
    "gauges": "dict(gauges=gauges)",
    "holds": "dict(properties=(Property('by day', When.ALWAYS, by_day),))",
    "needed": "dict(needed=needed, **scoped(QUIET))",
    "allowed outputs": "scoped(DRIFTING)",
}
"""The role of the function, and the change that makes it impure."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[ImpureAnswer, ...]]:
    """The impure functions of each variant of a file."""
    home = tmp_path_factory.mktemp("purity") / "impure.py"
    changes = {name: f"after(lambda: {number})" for name, number in (STEPS | PURE).items()}
    changes |= {name.replace(" ", "-"): change for name, change in OTHERS.items()}
    lines = [f"    P.vary(variant={name!r}, **{change})," for name, change in changes.items()]
    home.write_text(
        HEAD + "\n".join(["PROTOCOL = P.vary(variants=(", *lines, "))"]), encoding="utf-8"
    )
    with ask_elsewhere([f"{home}:{name}" for name in changes]) as asked:
        return dict(zip(changes, asked, strict=True))


@pytest.mark.parametrize("kind", STEPS)
def test_an_impure_step_is_found(kind: str, found: Mapping[str, tuple[ImpureAnswer, ...]]) -> None:
    (one,) = (one for one in found[kind] if one.function == "step")
    line = HEAD.splitlines().index("    def step(site, state, input_):") + 1
    assert one.place.endswith(f"impure.py:{line}")
    assert one.node in ("source", "relay", "sink")
    assert one.on
    left, right = one.answers
    assert left.startswith("times=")
    assert right.startswith("times=")
    assert left != right


@pytest.mark.parametrize("kind", PURE)
def test_a_pure_step_is_not(kind: str, found: Mapping[str, tuple[ImpureAnswer, ...]]) -> None:
    assert found[kind] == ()


@pytest.mark.parametrize("role", OTHERS)
def test_another_impure_function_is_found(
    role: str, found: Mapping[str, tuple[ImpureAnswer, ...]]
) -> None:
    functions = [one.function for one in found[role.replace(" ", "-")]]
    assert functions[0] == role, found[role.replace(" ", "-")]


def test_check_says_which_step_and_explores_nothing(asif: Callable[..., Any]) -> None:
    text = """
import time
def step(site, state, input_):
    state, effects = relay.PROTOCOL.behaviour.step(site, state, input_)
    return state, (*effects, Note(RESENT, time.time_ns()))
PROTOCOL = relay.PROTOCOL.vary(step=step)
"""
    for more in ((), ("--scope", "one event"), ("--pin", "--yes")):
        ended = asif(text, "check", "FILE", *more)
        assert ended.code == 1
        first, *_, last = ended.out.replace("result.json\n", "").splitlines()
        assert first.startswith("impure: step of "), ended.out
        assert ".py:7) answers times=" in first
        assert first.count("times=") == 2
        assert last == "relay: impure - NOT AS EXPECTED"
        assert ended.result["outcome"] == "impure"
        assert ended.result["impure"][0]["function"] == "step"
        assert ended.result["scopes"] == []


def test_what_can_be_loaded_now_and_then_is_impure(tmp_path: Path) -> None:
    text = (
        "import os\nassert os.environ['PYTHONHASHSEED'] != '2'\nfrom docs.examples.relay import *"
    )
    (tmp_path / "moody.py").write_text(text)
    with ask_elsewhere([str(tmp_path / "moody.py")]) as asked:
        (one,) = next(asked)
    assert (one.function, one.answers) == ("import and deploy", ("works", "raises Invalid"))


def test_a_process_that_dies_is_reported(tmp_path: Path) -> None:
    text = (
        "import ctypes, os\n"
        "if os.environ['PYTHONHASHSEED'] == '2':\n    ctypes.string_at(0)\n"  # a fault in C
    )
    (tmp_path / "dying.py").write_text(text + "from docs.examples.relay import *")
    with ask_elsewhere([str(tmp_path / "dying.py")]) as asked:
        (one,) = next(asked)
    assert one.answers == ("works", "its process ended")


UNASKED = {
    "their end": """
import os, sys
if "asif.another_process" in " ".join(sys.orig_argv):
    os._exit(1)
PROTOCOL = relay.PROTOCOL
""",
    "an error": """
def boot(site):
    value = ()
    for _ in range(2_000):
        value = value,
    return relay.PROTOCOL.behaviour.boot(site), value
def step(site, state, input_):
    after, effects = relay.PROTOCOL.behaviour.step(site, state[0], input_)
    return (after, state[1]), effects
def gauges(site, state):
    return relay.PROTOCOL.behaviour.gauges(site, state[0])
PROTOCOL = relay.PROTOCOL.vary(boot=boot, recover=None, step=step, gauges=gauges)
""",
}
"""Protocols that no process can ask, by the reason."""


@pytest.mark.parametrize("reason", UNASKED)
def test_a_protocol_that_no_process_can_ask_is_not_called_pure(reason: str, tmp_path: Path) -> None:
    file = tmp_path / "unasked.py"
    file.write_text("from docs.examples import relay\n" + UNASKED[reason])
    with (
        ask_elsewhere([str(file)]) as asked,
        pytest.raises(Unasked, match=r"unasked\.py: whether its functions are pure was not asked"),
    ):
        next(asked)


def test_check_does_not_hide_that_nothing_was_asked(asif: Callable[..., Any]) -> None:
    for more in ((), ("--scope", "one event")):
        ended = asif(UNASKED["their end"], "check", "FILE", *more)
        assert ended.code == 2
        assert "whether its functions are pure was not asked" in ended.out + ended.err
    ended = asif(UNASKED["their end"], "check", "FILE", "--pin", "--yes")
    assert ended.code == 2
    assert "relay: holds" not in ended.out


def test_a_state_that_contains_itself_is_asked(tmp_path: Path) -> None:
    text = """
import time
from docs.examples import relay
from model.core import RESENT, Note
class Config:
    def __init__(self):
        self.me = self
CONFIG, P = Config(), relay.PROTOCOL
def boot(site):
    return P.behaviour.boot(site), CONFIG
def recover(site, durable):
    state, effects = P.behaviour.recover(site, durable)
    return (state, CONFIG), effects
def step(site, state, input_):
    state, effects = P.behaviour.step(site, state[0], input_)
    return (state, CONFIG), (*effects, Note(RESENT, time.time_ns()))
def gauges(site, state):
    return P.behaviour.gauges(site, state[0])
PROTOCOL = P.vary(boot=boot, recover=recover, step=step, gauges=gauges)
"""
    (tmp_path / "circular.py").write_text(text)
    with ask_elsewhere([str(tmp_path / "circular.py")]) as asked:
        assert [one.function for one in next(asked)] == ["step"]


def test_no_process_is_left_and_none_prints(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loud.py").write_text("print('loud')\nfrom docs.examples.relay import *")
    before = children()
    with ask_elsewhere([str(tmp_path / "loud.py")]) as asked:
        assert next(asked) == ()
    assert children() <= before  # one of an earlier test may end meanwhile
    assert capfd.readouterr() == ("", "")


# --- canonical texts -------------------------------------------------------------------------
def test_equal_sets_and_mappings_have_one_text() -> None:
    names = ["source", "relay", "sink", "store"]
    texts = {
        canonical((frozenset(order), dict.fromkeys(order, 1)))
        for order in (names, names[::-1], names[2:] + names[:2])
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), ((1,), [1]), ("1", 1), ({1}, {2}), (os.getcwd, os.getpid), (Path("a"), Path("b"))],
    ids=str,
)
def test_different_values_have_different_texts(one: Any, other: Any) -> None:
    assert canonical(one) != canonical(other) or (one, other) == ((1,), [1])


def test_an_object_has_no_address() -> None:
    assert canonical(object()) == canonical(object()) == "object()"
    assert shift_clock.__name__ in canonical(shift_clock)


def test_a_value_in_itself_has_the_name_of_its_type() -> None:
    circle: list[Any] = [1]
    circle.append((circle, circle))
    assert canonical(circle) == "(1, (list, list))"
    twice = [1]
    assert canonical([twice, twice]) == "((1), (1))"
