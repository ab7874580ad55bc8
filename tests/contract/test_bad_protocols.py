"""What the writer of a protocol got wrong is one line with the right name, and exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Asif = Callable[..., Any]
SCOPE = """
def scoped(scope):
    return mindful.PROTOCOL.vary(scopes=(PinnedScope("two crashes", scope, forgetful.CLASS),)
    )
def deploying(**changes):
    def deploy(_design, scope):
        return mindful.PROTOCOL.deploy(scope)._replace(**changes)
    return mindful.PROTOCOL.vary(deploy=deploy)
"""
BAD = {
    "a victim that does not exist": (
        "PROTOCOL = scoped(replace(forgetful.SMALL, victims=frozenset({'relais'})))",
        "victims: no node 'relais' that may crash; did you mean 'relay'?",
    ),
    "a victim that may not crash": (
        "PROTOCOL = scoped(replace(forgetful.SMALL, victims=frozenset({'source'})))",
        "victims: no node 'source' that may crash",
    ),
    "an unknown name in inputs": (
        "((_, inputs),) = forgetful.SMALL.inputs\n"
        "PROTOCOL = scoped(replace(forgetful.SMALL, inputs=(('sauce', inputs),)))",
        "inputs: there is no source 'sauce'; did you mean 'source'?",
    ),
    "inputs of a node that is no source": (
        "((_, inputs),) = forgetful.SMALL.inputs\n"
        "PROTOCOL = scoped(replace(forgetful.SMALL, inputs=(('relay', inputs),)))",
        "inputs: there is no source 'relay'",
    ),
    "a channel to an unknown site": (
        "PROTOCOL = deploying(channels=(('source', 'relais'),))",
        "deploy gives a channel source -> relais and no site 'relais'; did you mean 'relay'?",
    ),
    "an unknown site that may crash": (
        "PROTOCOL = deploying(crashable=frozenset({'relais'}))",
        "deploy lets 'relais' crash, which is no site; did you mean 'relay'?",
    ),
    "two sites of one name": (
        "def deploy(_design, scope):\n"
        "    deployment = mindful.PROTOCOL.deploy(scope)\n"
        "    sites = deployment.sites\n"
        "    return deployment._replace(sites=(*sites, sites[0]))\n"
        "PROTOCOL = mindful.PROTOCOL.vary(deploy=deploy)",
        "mindful: deploy gives two sites called 'source'",
    ),
    "deploy raises": (
        "def deploy(_design, scope):\n    return scope.nodes\n"
        "PROTOCOL = mindful.PROTOCOL.vary(deploy=deploy)",
        "mindful: deploy raises AttributeError: 'Scope' object has no attribute 'nodes' (line ",
    ),
    "gauges raises": (
        "PROTOCOL = mindful.PROTOCOL.vary(gauges=lambda site, state: state.kept)",
        "mindful: gauges raises AttributeError: ",
    ),
    "gauges returns no gauges": (
        "PROTOCOL = mindful.PROTOCOL.vary(gauges=lambda site, state: {})",
        "mindful: gauges returns {}; return Gauges(...)",
    ),
    "a property raises": (
        "ODD = Property('odd', When.ALWAYS, lambda scope, seen: seen.sinks)\n"
        "PROTOCOL = mindful.PROTOCOL.vary(properties=(ODD,))",
        "mindful: property 'odd' raises AttributeError: ",
    ),
    "a property at rest raises": (
        "ODD = Property('odd', When.QUIESCENT, lambda _, seen: bool(seen.states[0]), nodes=True)\n"
        "BAD = Property('bad', When.QUIESCENT, lambda scope, seen: 1 / 0)\n"
        "PROTOCOL = mindful.PROTOCOL.vary(properties=(ODD, BAD))",
        "mindful: property 'bad' raises ZeroDivisionError: division by zero (line ",
    ),
    "show raises": (
        "PROTOCOL = forgetful.PROTOCOL.vary(show=lambda value: value.name)",
        "forgetful: show raises AttributeError: ",
    ),
    "show returns no text": (
        "PROTOCOL = forgetful.PROTOCOL.vary(show=lambda value: None)",
        "forgetful: show returns None; return a str",
    ),
    "size raises": (
        "PROTOCOL = forgetful.PROTOCOL.vary(size=lambda message: message.size)",
        "forgetful: size raises AttributeError: ",
    ),
    "size returns no size": (
        "PROTOCOL = forgetful.PROTOCOL.vary(size=lambda message: 3)",
        "forgetful: size returns 3; return Size(...)",
    ),
    "crashes, and none is assumed": (
        "PROTOCOL = mindful.PROTOCOL.vary(assumes=Assumptions(Failures.NONE))",
        "scope with crashes (2): mindful assumes that nothing fails (Failures.NONE)",
    ),
    "a graph without operators to evaluate": (
        "GRAPH = chain(('relay', 'no operator'))\n"
        "ODD = Property('odd', When.QUIESCENT, lambda scope, seen: True)\n"
        "PROTOCOL = scoped(replace(forgetful.SMALL, graph=GRAPH)).vary(properties=(ODD,),"
        " recover=lambda site, durable: (True, ()), step=lambda site, state, input_: (state, ()))",
        "mindful: what its operators should emit: AttributeError: ",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_it_is_one_line(what: str, asif: Asif) -> None:
    text, why = BAD[what]
    assert why in asif(SCOPE + text, "check", "FILE", "--examples", "1").line


RUN = ("run", "--protocol", "FILE", "--events", "e.csv", "--pattern", "a", "--window-size", "2")
RUN_BAD = {
    "deploy raises": (
        "def deploy(_design, scope):\n    return scope.nodes\n"
        "PROTOCOL = amnesia.PROTOCOL.vary(deploy=deploy)",
        "amnesia: deploy raises AttributeError: 'Scope' object has no attribute 'nodes' (line ",
    ),
    "gauges raises": (
        "PROTOCOL = amnesia.PROTOCOL.vary(gauges=lambda site, state: 1 / 0)",
        "amnesia: gauges raises ZeroDivisionError: division by zero (line ",
    ),
    "crashes, and none is assumed": (
        "PROTOCOL = amnesia.PROTOCOL.vary(assumes=Assumptions(Failures.NONE))",
        "amnesia assumes that nothing fails (Failures.NONE)",
    ),
    "a timer that is always set again": (
        "def deploy(_design, scope):\n"
        "    deployment = amnesia.deploy(None, scope)\n"
        "    beating = tuple(s._replace(timers=('beat',)) for s in deployment.sites)\n"
        "    return deployment._replace(sites=beating)\n"
        "def step(site, state, input_):\n"
        "    if isinstance(input_, TimerFired):\n"
        "        return state, (SetTimer('beat'),)\n"
        "    return amnesia.step(site, state, input_)\n"
        "PROTOCOL = amnesia.PROTOCOL.vary(deploy=deploy, step=step)",
        "the run never ends: source sets the timer 'beat' again whenever it runs out",
    ),
}


@pytest.mark.parametrize("what", RUN_BAD)
def test_it_is_one_line_in_a_run(what: str, asif: Asif, tmp_path: Any) -> None:
    (tmp_path / "e.csv").write_text("time,type\n1,a\n2,b\n3,a\n4,a\n")
    text, why = RUN_BAD[what]
    assert why in asif(text, *RUN, "--window-slide", "1", "--crash", "match@2").line


SHAPES = {
    "a case among the scopes": (
        "scopes=(forgetful.TWO_CRASHES,)",
        "PROTOCOL.evidence.scopes[0] is Case(name='two crashes', ",
        "give PinnedScope; its holds() or fails() makes one",
    ),
    "one scope and no comma": (
        "scopes=(forgetful.TWO_CRASHES.holds())",
        "PROTOCOL.evidence.scopes is PinnedScope(",
        "give a tuple of PinnedScope",
    ),
    "states that are no number": (
        "scopes=(forgetful.TWO_CRASHES.holds('660'),)",
        "PROTOCOL.evidence.scopes[0].states is '660'; ",
        "give int or None",
    ),
    "a guarantee that is a number": (
        "scopes=(forgetful.TWO_CRASHES.holds(660, 1),)",
        "PROTOCOL.evidence.scopes[0].guarantee is 1; ",
        "give Guarantee or None",
    ),
    "one quantity and no comma": (
        "must_occur=(CRASHED)",
        "PROTOCOL.evidence.must_occur is Quantity(name='crashes', ",
        "give a tuple of Quantity",
    ),
    "one property and no comma": (
        "properties=(AS_IF)",
        "PROTOCOL.promise.properties is Property(name=",
        "give a tuple of Property",
    ),
    "one variant and no comma": (
        "variants=(amnesia.PROTOCOL)",
        "PROTOCOL.variants is Protocol(family='amnesia', ",
        "give a tuple of Protocol",
    ),
    "no claims": (
        "claims=Guarantee.GAP",
        "PROTOCOL.promise.claims is <Guarantee.GAP: 5>; ",
        "give a dict from OperatorClass to Guarantee",
    ),
    "victims that are a text": (
        "scopes=(Case('one', replace(forgetful.SMALL, victims='relay'), "
        "OperatorClass.REPEATABLE).holds(),)",
        "PROTOCOL.evidence.scopes[0].scope.victims is 'relay'; ",
        "give a frozenset of str or None",
    ),
}


@pytest.mark.parametrize("what", SHAPES)
def test_a_part_of_another_type_is_one_line(what: str, asif: Asif) -> None:
    change, part, remedy = SHAPES[what]
    line = asif(f"PROTOCOL = mindful.PROTOCOL.vary({change})\n", "check", "FILE").line
    assert part in line
    assert line.endswith(f"; {remedy}\n")


def test_a_file_without_its_ending_is_one_line(asif: Asif, tmp_path: Any) -> None:
    (tmp_path / "there.py").write_text("")
    line = asif("", "check", "there").line
    assert line == "asif: unknown protocol 'there'; the protocol of a file is called there.py\n"
