"""Files: writes without a sync, of which a crash loses any suffix, and torn writes."""

from __future__ import annotations

from typing import Any

import pytest

from model.actions import Restart
from model.choices import enabled, quiescent
from model.core import (
    Answer,
    Effect,
    File,
    Input,
    Observation,
    Property,
    Received,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    Sync,
    TimerFired,
    Torn,
    When,
)
from model.errors import Invalid
from model.protocol import Protocol
from model.system import System
from model.world import initial
from proofs.explore.explorer import explore
from tests.contract.words import (
    ALONE,
    DOWN,
    deployed,
    fails,
    holds,
    protocol,
    reachable,
    refuted,
    site,
    states_at_rest,
)
from tests.proofs.test_searches import both

F, G = File("f"), File("g")
EARLY = Save(1, "f", synced=False)
LATE = Save(2, "f", synced=False)


def writing(
    *effects: Effect, files: tuple[File, ...] = (F,), properties: tuple[Property, ...] = ()
) -> Protocol:
    """A writer with these effects on its only timer; a restart's state is what it reads."""

    def step(site: Site, _state: Any, input_: Input) -> Answer:
        return ("written", effects) if isinstance(input_, TimerFired) else ("reported", ())

    deployment = deployed(
        site("a", "go", files=files), site("b"), channels="a-b", crashable="a", watched=frozenset()
    )
    return protocol(
        deployment, step, *properties, boot=lambda _: "new", recover=lambda _, read: (read, ())
    )


def read_after(tried: Protocol, crashes: int = 1) -> set[Any]:
    """The values that a restart may read."""
    ends = states_at_rest(tried, Scope(crashes=crashes), "a")
    return {state for state in ends if isinstance(state, tuple)}


def test_a_crash_loses_any_suffix() -> None:
    """New, written: 2.  Down, with no write, one, or two on the way to the file: 3.  Back, with one
    of the values None, 1 and 2: 3."""
    holds(writing(EARLY, LATE), Scope(), 2 + 3 + 3)
    assert read_after(writing(EARLY, LATE)) == {(None,), (1,), (2,)}


def test_without_a_crash_nothing_is_lost() -> None:
    """New, written; the file holds both writes."""
    holds(writing(EARLY, LATE), ALONE, 2)
    worlds = reachable(System(writing(EARLY, LATE), ALONE))
    assert [world.nodes[0].durable for world in worlds] == [((None,),), ((None, 1, 2),)]


@pytest.mark.parametrize(
    ("effects", "worlds", "read"),
    [
        # A write with a sync saves the ones before it to the same file: down with nothing, with 1
        # on the way, with 2; back with None, 1 or 2.
        ((EARLY, Save(2, "f")), 2 + 3 + 3, {(None,), (1,), (2,)}),
        ((Save(1, "f"), LATE), 2 + 3 + 3, {(None,), (1,), (2,)}),
        # Down with nothing, with 1 on the way, with 1 safe.
        ((EARLY, Sync()), 2 + 3 + 2, {(None,), (1,)}),
        # As if it had never been written: a sync of nothing.  Down with nothing; with nothing.
        ((Sync(),), 2 + 1 + 1, {(None,)}),
        ((Save(1, "f"),), 2 + 2 + 2, {(None,), (1,)}),
    ],
)
def test_a_sync_makes_safe_what_came_before_it(
    effects: tuple[Effect, ...], worlds: int, read: set[Any]
) -> None:
    holds(writing(*effects), Scope(), worlds)
    assert read_after(writing(*effects)) == read


def test_a_second_crash_loses_nothing_more() -> None:
    """A value that a restart has read is safe.  No crash: 2 worlds; one: 3 down, 3 back; two: 3
    down, each with a safe value, 3 back."""
    tried = writing(EARLY, LATE)
    assert read_after(tried, crashes=2) == {(None,), (1,), (2,)}
    holds(tried, Scope(crashes=2), 2 + 6 + 6)


def test_each_file_loses_a_suffix_of_its_own() -> None:
    """Written in one order, and read in each combination."""
    files = writing(EARLY, Save("x", "g", synced=False), files=(F, G))
    assert read_after(files) == {(None, None), (1, None), (None, "x"), (1, "x")}
    # new, written; down with no write, one, both; back with 4 combinations
    holds(files, Scope(), 2 + 3 + 4)
    synced = writing(EARLY, Save("x", "g"), files=(F, G))
    assert read_after(synced) == {(None, None), (1, None), (None, "x"), (1, "x")}
    both_synced = writing(EARLY, Save("x", "g", synced=False), Sync(), files=(F, G))
    assert read_after(both_synced) == read_after(files)


def test_a_write_may_be_torn_in_a_file_that_tears() -> None:
    """As without it, and two restarts more: the first lost write is 1 or 2."""
    torn = writing(EARLY, LATE, files=(File("f", tears=True),))
    holds(torn, Scope(), 2 + 3 + 3 + 2)
    assert read_after(torn) == {(None,), (1,), (2,), (Torn(1),), (Torn(2),)}


def test_each_file_that_tears_may_be_torn_and_no_other() -> None:
    """Whether the other one is, or not."""
    f, g = File("f", tears=True), File("g", tears=True)
    effects = EARLY, Save("x", "g", synced=False)
    whole = {(one, other) for one in (None, 1, Torn(1)) for other in (None, "x")}
    assert read_after(writing(*effects, files=(f, G))) == whole
    assert read_after(writing(*effects, files=(F, G))) == {
        pair for pair in whole if Torn(1) not in pair
    }
    torn = {(one, Torn("x")) for one in (None, 1, Torn(1))}
    assert read_after(writing(*effects, files=(f, g))) == whole | torn


def test_the_restarts_of_a_node_name_what_survived() -> None:
    tried = writing(EARLY, LATE, files=(File("f", tears=True),))
    system = System(tried, Scope())
    (down,) = [w for w in reachable(system) if w.nodes[0][:2] == (DOWN, ((None, 1, 2),))]
    assert [a for a in enabled(system, down) if isinstance(a, Restart)] == [
        Restart("a", kept=(0,)),
        Restart("a", kept=(0,), torn=("f",)),
        Restart("a", kept=(1,)),
        Restart("a", kept=(1,), torn=("f",)),
        Restart("a", kept=(2,)),
    ]


# --- a report of a write that is lost ---------------------------------------------------------
def never_lost(_scope: Scope, seen: Observation) -> bool:
    """After a crash, the writer finds each write that it has reported."""
    states = dict(seen.states)
    return states["b"] != "reported" or states.get("a") != (None,)


KEPT = Property("a reported write is kept", When.ALWAYS, never_lost, nodes=True)


def test_a_writer_that_reports_before_the_sync_is_refuted() -> None:
    """Written, reported, crash, restart without the write."""
    refuted(writing(EARLY, Send("b", 1), properties=(KEPT,)), Scope(), 4)
    refuted(writing(EARLY, Send("b", 1), Sync(), properties=(KEPT,)), Scope(), 3)


def test_a_writer_that_reports_after_the_sync_holds() -> None:
    """New; written, and the report is on its way or taken.  Down with nothing, with the write on
    its way, or safe: with no report; and safe with a report on its way or taken: 3 + 2.  Back with
    None, with 1, and with 1 as the report is on its way or taken: 2 + 2."""
    holds(writing(EARLY, Sync(), Send("b", 1), properties=(KEPT,)), Scope(), 3 + 5 + 4)


# --- site.disk ---------------------------------------------------------------------------------
def counter(*, synced: bool) -> Protocol:
    """A node whose only memory is its file: each time it reads the number, and writes the next."""

    def count(site: Site, _state: Any, input_: Input) -> Answer:
        (number,) = site.disk
        if number == 2:
            return number, ()
        again = SetTimer("go")
        return number, (Save((number or 0) + 1, "f", synced=synced), again)

    def recover(site: Site, read: Any) -> Answer:
        assert site.disk == read
        return read[0], (SetTimer("go"),)

    deployment = deployed(site("a", "go", files=(F,)), crashable="a")
    return protocol(deployment, count, boot=lambda site: len(site.disk), recover=recover)


@pytest.mark.parametrize("synced", [True, False])
def test_a_step_reads_its_writes_with_those_that_are_not_synced(synced: bool) -> None:
    """Without a crash: 0 at boot, which has no disk yet; then it has read None, 1, 2."""
    states = [w.nodes[0].state for w in reachable(System(counter(synced=synced), ALONE))]
    assert states == [0, None, 1, 2]
    holds(counter(synced=synced), ALONE, 4)


def test_a_state_and_a_disk_together_decide() -> None:
    """One state and one timer, and each time another disk: 0, 1, 2 writes."""

    def count(site: Site, _state: Any, _input: Input) -> Answer:
        number = site.disk[0] or 0
        return 0, (Save(number + 1, "f"), SetTimer("go")) if number < 2 else ()

    holds(protocol(deployed(site("a", "go", files=(F,))), count), ALONE, 3 + 1)


def test_after_a_crash_a_step_reads_what_the_crash_left() -> None:
    system = System(counter(synced=False), Scope())
    worlds = reachable(system)
    assert both(counter(synced=False), Scope()).states == len(worlds)
    assert {w.nodes[0].state for w in worlds if quiescent(system, w)} == {2}


def test_a_site_without_files_has_one_durable_value_and_no_disk() -> None:
    tried = writing(Save("x"), files=())
    assert initial(System(tried, Scope())).nodes[0].durable is None
    assert states_at_rest(tried, Scope(), "a") == {"written", "x", None}


# --- wrong words -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("effect", "files", "why"),
    [
        (Save(1, "h"), (F, G), "has a Save among its effects: the file 'h'; the site has f, g"),
        (Save(1), (F, G), "has a Save among its effects: the file ''; the site has f, g"),
        (
            *(EARLY, ()),
            "has a Save among its effects: only a site with files (Site.files) names them or "
            "leaves out a sync",
        ),
        (
            *(Save(1, synced=False), ()),
            "has a Save among its effects: only a site with files (Site.files) names them or "
            "leaves out a sync",
        ),
        (
            *(Sync(), ()),
            "has a Sync among its effects: only a site with files (Site.files) syncs",
        ),
        (
            *(Save([], "f"), (F,)),
            "gives [] in Save: unhashable type: 'list'; give tuples and frozen values",
        ),
    ],
)
def test_a_wrong_effect_is_a_failing_step(
    effect: Effect, files: tuple[File, ...], why: str
) -> None:
    fails(writing(effect, files=files), ALONE, f"a, timer go: {why}")


@pytest.mark.parametrize("effect", [Save(1), Sync()])
def test_a_prompt_site_saves_nothing(effect: Effect) -> None:
    name = type(effect).__name__
    sends = Send("b", 1)
    tried = protocol(
        deployed(site("a", "go"), site("b"), channels="a-b", prompt=frozenset("b")),
        lambda site, *_: (0, (sends if site.name == "a" else effect,)),
    )
    why = f"has a {name} among its effects: a prompt site keeps its state without a save"
    fails(tried, ALONE, f"b, int from a: {why}")


@pytest.mark.parametrize(
    ("files", "line"),
    [
        (("f",), "words: deploy gives 'a' the files ('f',); give a tuple of File(name)"),
        ("f", "words: deploy gives 'a' the files 'f'; give a tuple of File(name)"),
        (F, "give a tuple of File(name)"),
        ((F, File("f", tears=True)), "words: deploy gives 'a' two files called 'f'"),
    ],
)
def test_files_that_are_none_are_one_line(files: Any, line: str) -> None:
    with pytest.raises(Invalid) as raised:
        System(writing(files=files), Scope())
    assert line in str(raised.value)


def test_a_prompt_site_has_no_files() -> None:
    sites = (site("a", "go"), site("b", files=(F,)))
    tried = protocol(
        deployed(*sites, channels="a-b", prompt=frozenset("b")), lambda *_: (Received, ())
    )
    with pytest.raises(Invalid, match="a prompt site 'b' with files; its state survives without"):
        explore(tried, ALONE)
