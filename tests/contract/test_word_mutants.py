"""Mutants of the code that gives the words of a protocol their meaning: each is found.

Rule of this file: a mutant is a row (word, module, line, wrong line, finder).  A finder is a test
of that word, or the comparison with the world on protocols that nobody wrote.  The wrong function
takes the place of the right one in this process, whoever has imported it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from importlib import import_module
from inspect import unwrap
from types import CodeType
from typing import Any, NamedTuple

import pytest

from model.actions import Disturbance
from model.comparison import BAG, SET
from model.core import Fail, Link, Send, When
from model.patches import Change, patched_source
from model.protocol import Failures
from model.system import System
from tests.contract import (
    test_bound_groups,
    test_fail,
    test_files,
    test_links,
    test_no_stream,
    test_node_invariants,
    test_patient_timers,
    test_sink_comparisons,
    test_source_crashes,
    test_talking_prompt_sites,
)
from tests.proofs.test_searches import both, made, reachable
from tests.sim.test_drawn import shape_of

SEEDS = 60
FEW = 1_500
"""Worlds of a drawn protocol."""


def drawn() -> None:
    """Both searches and the world agree on protocols that nobody wrote."""
    for seed in range(SEEDS):
        chance = random.Random(seed)
        shape = shape_of(chance)._replace(
            length=1,
            crashes=1,
            failures=Failures.ANY,
            early=1,
            disturbances=1,
            link=Link(*(chance.random() < 0.5 for _ in range(4))),
        )
        protocol, scope = made(shape)
        found = both(protocol.vary(properties=()), scope, limit=FEW)
        if found.complete:
            assert found.states == len(reachable(System(protocol, scope), FEW))


# --- one wrong line ----------------------------------------------------------------------------
def functions(code: CodeType, home: str = "") -> Iterator[tuple[str, CodeType]]:
    """The functions of a module and of its classes, by qualified name."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            name = home + one.co_name
            if one.co_flags & 2:  # it has local variables: a function and no body of a class
                yield name, one
            else:
                yield from functions(one, f"{name}.")


@contextmanager
def mutated(module: str, line: str, wrong: str) -> Iterator[None]:
    """A context in which the function with this line, which stands in the module once, has the
    wrong one."""
    sources = [patched_source(module, change) for change in ((), (Change(module, line, wrong),))]
    right, changed = (dict(functions(compile(source, module, "exec"))) for source in sources)
    (name,) = [name for name, code in right.items() if changed[name] != code]
    found: Any = import_module(module)
    target: Any = unwrap(reduce(getattr, name.split("."), found))
    kept = target.__code__
    target.__code__ = changed[name]
    try:
        yield
    finally:
        target.__code__ = kept


class Fault(NamedTuple):
    """line, wrong: of one function of the module.  finder: it passes without the fault."""

    word: str
    module: str
    line: str
    wrong: str
    finder: Callable[[], None]


def reads(form: str, how: str) -> Callable[[], None]:
    """The test of one form of the output of a sink, as the sink reads it."""
    at = [*test_sink_comparisons.HOWS].index(how)
    return partial(
        test_sink_comparisons.test_each_reading_of_each_output,
        test_sink_comparisons.FORMS[form],
        test_sink_comparisons.HOWS[how],
        test_sink_comparisons.ENDS[form][at],
        test_sink_comparisons.BEGUN[form][at],
    )


def disturbed(link: Link, worlds: int, ends: set[tuple[int, ...]]) -> Callable[[], None]:
    return partial(test_links.test_with_a_budget_of_one_it_happens_once, link, worlds, ends)


WORLD, CHOICES, SYSTEM = "model.world", "model.choices", "model.system"
OBSERVATIONS, WIRING = "model.observations", "model.wiring"
COMPARISON, RECOVERY, PROPERTIES = "model.comparison", "model.recovery", "model.properties"
COLLAPSE, VIEWS = "proofs.explore.collapse", "proofs.explore.views"
PLAIN, COMPILED = "proofs.explore.search.plain", "proofs.explore.search.compiled"
invariants, timers, files = test_node_invariants, test_patient_timers, test_files
groups, prompt, sources = test_bound_groups, test_talking_prompt_sites, test_source_crashes

FAULTS = [
    # --- node invariants ---
    Fault(
        "node invariants",
        OBSERVATIONS,
        "return looks_at(p for p in system.properties if rest or p.when is When.ALWAYS)",
        "return looks_at(p for p in system.properties if rest)",
        invariants.test_a_decision_after_the_first_vote_is_refuted,
    ),
    Fault(
        "node invariants",
        OBSERVATIONS,
        "states=tuple((name, state) for name, state, _ in known if state is not DOWN),",
        "states=tuple((name, state) for name, state, _ in known),",
        invariants.test_the_worlds_of_a_node_that_saves_and_never_comes_back,
    ),
    Fault(
        "node invariants",
        OBSERVATIONS,
        "durable=tuple((name, saved) for name, _, saved in known if saved is not None),",
        "durable=tuple((name, saved) for name, _, saved in known if saved is None),",
        invariants.test_a_node_that_is_down_has_no_state_and_its_durable_value,
    ),
    Fault(
        "message invariants",
        OBSERVATIONS,
        "seen = seen._replace(messages=tuple((ends, sent) for ends, sent in channels if sent))",
        "seen = seen._replace(messages=tuple((ends, sent[1:]) for ends, sent in channels if sent))",
        invariants.test_a_property_may_look_at_the_messages_alone,
    ),
    Fault(
        "node invariants",
        COLLAPSE,
        "inside = [*range(nodes, channels)] if looks.nodes else []",
        "inside: list[int] = []",
        invariants.test_a_decision_after_the_first_vote_is_refuted,
    ),
    Fault(
        "message invariants",
        COLLAPSE,
        "inside += range(channels, arrivals) if looks.messages else []",
        "inside += []",
        invariants.test_a_property_may_look_at_the_messages_alone,
    ),
    Fault(
        "node invariants",
        SYSTEM,
        "seen = seen._replace(states=_UNASKED, durable=_UNASKED)",
        "seen = seen._replace(states=(), durable=())",
        partial(
            invariants.test_a_property_that_does_not_say_where_it_looks_is_refused,
            *("states", When.ALWAYS),
        ),
    ),
    # --- Fail ---
    Fault(
        "Fail",
        WORLD,
        "down = struck(system, world, action) if cut or fails(effects) else ()",
        "down = struck(system, world, action) if cut else ()",
        test_fail.test_its_worlds_without_any_fault,
    ),
    Fault(
        "Fail",
        WORLD,
        "if cut:",
        "if cut or fails(effects):",
        test_fail.test_its_worlds_without_any_fault,
    ),
    Fault(
        "Fail",
        WORLD,
        "group = system.bound.get(action.node, ())",
        "group = ()",
        test_fail.test_its_host_goes_down_with_it,
    ),
    Fault(
        "Fail",
        WORLD,
        "return tuple(effect for effect in effects if not isinstance(effect, Note | Fail))",
        "return tuple(effect for effect in effects if not isinstance(effect, Note))",
        test_fail.test_a_crash_may_come_before_it_and_not_after_it,
    ),
    Fault(
        "Fail",
        SYSTEM,
        "case Fail() if not last:",
        "case Fail() if False:",
        partial(
            test_fail.test_a_fail_that_is_not_the_last_effect_is_a_failing_step,
            *(
                (Fail(), Send("b", 1)),
                "has a Fail among its effects: it is the last effect of a step",
            ),
        ),
    ),
    Fault(
        "Fail",
        COLLAPSE,
        "others = {*(group or system.bound.get(name, ()))} - {name}",
        "others = {*group} - {name}",
        drawn,
    ),
    Fault(
        "Fail",
        "proofs.explore.evidence",
        "if fails(effects):",
        "if not effects:",
        test_fail.test_it_happens_in_each_run_once_and_is_counted,
    ),
    # --- patient timers ---
    Fault(
        "patient timers",
        CHOICES,
        "return own or tuple(a for name in system.sites for a in patience(system, world, name))",
        "return own + tuple(a for name in system.sites for a in patience(system, world, name))",
        timers.test_the_time_out_is_longer_than_all_that_it_waits_for,
    ),
    Fault(
        "patient timers",
        CHOICES,
        "hasty = (timer for timer in node.timers if not is_patient(system, timer))",
        "hasty = node.timers",
        timers.test_the_time_out_is_longer_than_all_that_it_waits_for,
    ),
    Fault(
        "patient timers",
        CHOICES,
        "return bool(patient) and parse_timer(timer).kind in patient",
        "return bool(patient) and timer in patient",
        timers.test_a_broker_expires_what_nobody_commits,
    ),
    Fault(
        "patient timers",
        PLAIN,
        "idle = patient and not any(m.own for _, m in collapsed.moves_in(numbers))",
        "idle = patient",
        timers.test_the_time_out_is_longer_than_all_that_it_waits_for,
    ),
    Fault(
        "patient timers",
        CHOICES,
        "return (*disturbed, *crashes, *late)",
        "return (*disturbed, *crashes)",
        timers.test_a_crash_may_fall_within_the_step_of_a_patient_timer,
    ),
    Fault(
        "early",
        CHOICES,
        "early = patience(system, world, name) if world.early else ()",
        "early = patience(system, world, name)",
        timers.test_the_time_out_is_longer_than_all_that_it_waits_for,
    ),
    Fault(
        "early",
        WORLD,
        "world = world._replace(early=world.early - action.early)",
        "world = world._replace(early=world.early)",
        partial(timers.test_the_budget_is_exact, 1, 1),
    ),
    Fault(
        "early",
        CHOICES,
        "steps += tuple(t._replace(early=True) for t in patience(system, world, name))",
        "steps += ()",
        timers.test_an_early_one_may_be_cut_by_a_crash_and_uses_both_budgets,
    ),
    Fault(
        "CancelTimer",
        WORLD,
        "return node._replace(timers=tuple(one for one in node.timers if one != timer))",
        "return node",
        timers.test_the_time_out_is_longer_than_all_that_it_waits_for,
    ),
    Fault(
        "CancelTimer",
        WORLD,
        "return node._replace(timers=tuple(one for one in node.timers if one != timer))",
        "return node._replace(timers=())",
        timers.test_to_cancel_one_timer_leaves_the_others,
    ),
    Fault(
        "timers of prompt sites",
        SYSTEM,
        "if prompt and parse_timer(timer).kind not in patient:",
        "if prompt:",
        timers.test_a_broker_expires_what_nobody_commits,
    ),
    # --- links ---
    Fault(
        "Link",
        CHOICES,
        "kinds = link.lossy, link.doubling, link.unordered, link.resets",
        "kinds = link.doubling, link.lossy, link.unordered, link.resets",
        partial(
            test_links.test_a_link_has_its_own_faults_alone,
            *(Disturbance.LOSE, test_links.LOSSY),
        ),
    ),
    Fault(
        "disturbances",
        WORLD,
        "return world._replace(channels=channels, disturbances=world.disturbances - 1)",
        "return world._replace(channels=channels)",
        disturbed(test_links.LOSSY, 7, {(1,), (2,)}),
    ),
    Fault(
        "disturbances",
        CHOICES,
        "if world.disturbances:",
        "if system.scope.disturbances:",
        disturbed(test_links.LOSSY, 7, {(1,), (2,)}),
    ),
    Fault(
        "Link(doubling)",
        WORLD,
        "Disturbance.DOUBLE: [first, *others, first],",
        "Disturbance.DOUBLE: [first, first, *others],",
        disturbed(test_links.DOUBLING, 11, {(1, 2, 1), (1, 2, 2)}),
    ),
    Fault(
        "Link(unordered)",
        WORLD,
        "Disturbance.DELAY: [*others, first],",
        "Disturbance.DELAY: [first, *others],",
        disturbed(test_links.UNORDERED, 9, {(2, 1)}),
    ),
    Fault(
        "Link(unordered)",
        COLLAPSE,
        "elif now != before or field == disturbed:  # a delay shows only before other messages",
        "elif now != before:",
        disturbed(test_links.UNORDERED, 9, {(2, 1)}),
    ),
    Fault(
        "Link(unordered)",
        COMPILED,
        "if change is FieldChange.DELAYED:",
        "if change is FieldChange.DOUBLED:",
        disturbed(test_links.UNORDERED, 9, {(2, 1)}),
    ),
    Fault(
        "Link(resets)",
        WORLD,
        "if action.how is Disturbance.RESET and back is not None:",
        "if False:",
        test_links.test_a_reset_of_a_connection_empties_both_channels,
    ),
    Fault(
        "Link(resets)",
        COLLAPSE,
        "sent = [(self.starts[1] + ends, (CLEAR,))] if ends is not None else []",
        "sent = []",
        test_links.test_a_reset_of_a_connection_empties_both_channels,
    ),
    Fault(
        "Link(resets)",
        SYSTEM,
        "return any(one in links and links[one].resets for one in (ends, ends[::-1]))",
        "return any(one in links and links[one].resets for one in (ends,))",
        test_links.test_a_crash_of_the_receiver_resets_the_way_back_too,
    ),
    Fault(
        "Link(resets)",
        WORLD,
        "left = () if drops_sent or system.resets(ends) else left",
        "left = () if drops_sent else left",
        test_links.test_a_message_of_the_old_incarnation_is_lost_if_the_link_resets,
    ),
    # --- groups ---
    Fault(
        "Group(alone=False)",
        SYSTEM,
        '"alone": victims.difference(*(group.members for group in bound)),',
        '"alone": victims,',
        groups.test_one_fault_takes_down_all,
    ),
    Fault(
        "Group(alone=False)",
        SYSTEM,
        "bound = [group for group in deployment.together if not group.alone]",
        "bound = [group for group in deployment.together if group.alone]",
        groups.test_else_each_may_crash_alone,
    ),
    Fault(
        "Group(alone=False)",
        CHOICES,
        "if group or name in system.alone:",
        "if group or name in system.victims:",
        groups.test_a_victim_of_a_bound_group_does_not_crash_without_the_others,
    ),
    # --- files ---
    Fault(
        "Save(synced=False)",
        WORLD,
        "writes if one.name != save.name else (save.value,) if save.synced else (*writes, "
        "save.value)",
        "writes if one.name != save.name else (save.value,)",
        files.test_a_writer_that_reports_before_the_sync_is_refuted,
    ),
    Fault(
        "Save(name)",
        WORLD,
        "writes if one.name != save.name else (save.value,) if save.synced else (*writes, "
        "save.value)",
        "(save.value,) if save.synced else (*writes, save.value)",
        files.test_each_file_loses_a_suffix_of_its_own,
    ),
    Fault(
        "Sync",
        WORLD,
        "return tuple(writes[-1:] for writes in durable)",
        "return tuple(writes[:1] for writes in durable)",
        files.test_a_writer_that_reports_after_the_sync_holds,
    ),
    Fault(
        "Save(synced=False)",
        CHOICES,
        "for kept in product(*(range(len(own)) for own in writes)):",
        "for kept in product(*(range(len(own) - 1, len(own)) for own in writes)):",
        files.test_a_writer_that_reports_before_the_sync_is_refuted,
    ),
    Fault(
        "Save(synced=False)",
        WORLD,
        "node = node._replace(durable=tuple((value,) for value in survived))",
        "assert survived",
        files.test_a_second_crash_loses_nothing_more,
    ),
    Fault(
        "tears",
        CHOICES,
        "tears = [file.name for file, own, at in cut if file.tears and at + 1 < len(own)]",
        "tears = [file.name for file, own, at in cut if at + 1 < len(own)]",
        files.test_a_crash_loses_any_suffix,
    ),
    Fault(
        "Torn",
        WORLD,
        "Torn(writes[kept + 1]) if file.name in action.torn else writes[kept]",
        "Torn(writes[kept]) if file.name in action.torn else writes[kept]",
        files.test_a_write_may_be_torn_in_a_file_that_tears,
    ),
    Fault(
        "site.disk",
        WORLD,
        "disk = tuple(writes[-1] for writes in node.durable) if site.files else ()",
        "disk = tuple(writes[0] for writes in node.durable) if site.files else ()",
        partial(files.test_a_step_reads_its_writes_with_those_that_are_not_synced, False),
    ),
    Fault(
        "site.disk",
        VIEWS,
        "asked: Any = (input_, disk) if disk else input_",
        "asked: Any = input_",
        files.test_a_state_and_a_disk_together_decide,
    ),
    # --- prompt sites that talk ---
    Fault(
        "prompt sites that talk",
        WORLD,
        "for name in system.prompt",
        "for name in reversed(system.prompt)",
        prompt.test_the_parts_of_an_action_come_in_order,
    ),
    Fault(
        "prompt sites that talk",
        WIRING,
        "later = {receiver for sender, receiver in channels if sender not in found}",
        "later = {receiver for sender, receiver in channels if sender not in names}",
        partial(prompt.test_a_circle_is_one_line, "a-b b-a", "ab", "a, b"),
    ),
    Fault(
        "prompt sites that talk",
        COLLAPSE,
        "self.prompt = [system.node_at[name] for name in system.prompt]",
        "self.prompt = [system.node_at[name] for name in system.prompt][:1]",
        partial(
            prompt.test_all_happens_within_one_action_whatever_the_order_of_the_sites, prompt.NAMES
        ),
    ),
    Fault(
        "prompt sites that talk",
        "proofs.explore.random_walk",
        "except StepFailed as error:",
        "except ZeroDivisionError as error:",
        test_fail.test_a_prompt_site_does_not_fail,
    ),
    # --- sinks ---
    Fault(
        "BAG",
        COMPARISON,
        "return frozenset(Counter(bodies).items())",
        "return frozenset(bodies)",
        reads("twice", "bag"),
    ),
    Fault(
        "BAG",
        COMPARISON,
        "return Counter(observed) <= Counter(expected)",
        "return {*observed} <= {*expected}",
        reads("twice", "bag"),
    ),
    Fault(
        "SET",
        COMPARISON,
        "return {*observed} <= {*expected}",
        "return Counter(observed) <= Counter(expected)",
        reads("twice", "set"),
    ),
    Fault(
        "SET",
        PROPERTIES,
        "(beside(want, got, one) for one, (want, got) in zip(how, pairs, strict=True)),",
        "(beside(want, got) for one, (want, got) in zip(how, pairs, strict=True)),",
        reads("twice", "set"),
    ),
    Fault(
        "table(key)",
        COMPARISON,
        "return frozenset({self.key_of(body): body for body in bodies}.items())",
        "return frozenset({self.key_of(body): body for body in bodies[::-1]}.items())",
        reads("a wrong one more", "by event"),
    ),
    Fault(
        "table(key)",
        COMPARISON,
        "ends = range(len(expected) + 1)",
        "ends = range(len(expected))",
        reads("right", "by type"),
    ),
    Fault(
        "table(key)",
        RECOVERY,
        "return Guarantee.GAP if lost else Guarantee.DIVERGENT",
        "return Guarantee.DIVERGENT",
        reads("nothing", "by event"),
    ),
    Fault(
        "claims of a sink",
        RECOVERY,
        "return Guarantee.DIVERGENT if {*observed} - {*expected} else Guarantee.REPEATING",
        "return Guarantee.DIVERGENT",
        partial(
            test_sink_comparisons.test_a_claim_is_compared_with_the_same_reading,
            *("twice", BAG, test_sink_comparisons.REPEATING, test_sink_comparisons.REPEATING),
        ),
    ),
    # --- no stream ---
    Fault(
        "no stream",
        COLLAPSE,
        "return [*range(arrivals, end), *inside] or [end]",
        "return [*range(arrivals, end), *inside]",
        test_no_stream.test_a_property_at_rest_alone_is_enough,
    ),
    Fault(
        "no stream",
        "model.evidence",
        "if not streams and self.operators is not None:",
        "if not streams:",
        partial(test_no_stream.test_nothing_need_be_claimed, {}),
    ),
    Fault(
        "no stream",
        "model.family",
        "if one.operators is not None and one.operators not in claims:",
        "if one.operators not in claims:",
        partial(test_no_stream.test_nothing_need_be_claimed, {}),
    ),
    # --- crashes of sources and sinks ---
    Fault(
        "Rewind",
        WORLD,
        "return node._replace(behind=read - min(to, read))",
        "return node._replace(behind=max(0, read - to - 1))",
        partial(sources.test_a_place_in_the_log, 0, "abc"),
    ),
    Fault(
        "Rewind",
        WORLD,
        "return node._replace(behind=read - min(to, read))",
        "return node._replace(behind=read - to)",
        partial(sources.test_a_place_in_the_log, 9, ""),
    ),
    Fault(
        "Reread",
        WORLD,
        "return world.arrivals[system.source_at[action.node]][-behind]",
        "return world.arrivals[system.source_at[action.node]][0]",
        partial(sources.test_a_place_in_the_log, 1, "bc"),
    ),
    Fault(
        "Reread",
        CHOICES,
        "if len(world.arrivals[at]) >= inputs.length or node.behind or node.state is DOWN:",
        "if len(world.arrivals[at]) >= inputs.length or node.state is DOWN:",
        sources.test_new_events_wait_until_all_was_read_again,
    ),
    Fault(
        "crashes of sources",
        CHOICES,
        "if len(world.arrivals[at]) >= inputs.length or node.behind or node.state is DOWN:",
        "if len(world.arrivals[at]) >= inputs.length or node.behind:",
        sources.test_new_events_wait_until_all_was_read_again,
    ),
    Fault(
        "crashes of sources",
        WORLD,
        "Node(DOWN, node.durable) if name in down else node",
        "node._replace(state=DOWN) if name in down else node",
        sources.test_a_crash_forgets_how_far_the_source_had_read,
    ),
]
WORDS = {
    *("node invariants", "message invariants", "Fail", "patient timers", "early", "CancelTimer"),
    *("Group(alone=False)", "Save(synced=False)", "prompt sites that talk", "BAG", "SET"),
    *("table(key)", "no stream", "Rewind", "Reread", "crashes of sources", "disturbances"),
    *("Link(unordered)", "Link(resets)", "Torn", "Sync", "site.disk"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.word}: {fault.wrong}"[:60])
def test_a_mutant_is_found(fault: Fault) -> None:
    """Whatever the finder raises: a wrong world may be none."""
    failing = (Exception, pytest.fail.Exception)
    with mutated(fault.module, fault.line, fault.wrong), pytest.raises(failing):
        fault.finder()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.word}: {fault.wrong}"[:60])
def test_a_finder_finds_nothing_without_a_mutant(fault: Fault) -> None:
    """A finder with arguments; the others are tests, which pass by themselves."""
    if isinstance(fault.finder, partial):
        fault.finder()


@pytest.mark.slow
def test_the_world_is_that_of_the_searches_on_drawn_protocols() -> None:
    drawn()


def test_each_word_has_mutants() -> None:
    assert {fault.word for fault in FAULTS} >= WORDS
    assert len({(fault.module, fault.line, fault.wrong) for fault in FAULTS}) == len(FAULTS)
    assert SET is not BAG


def test_a_mutant_leaves_the_real_function_alone() -> None:
    (fault, *_) = FAULTS
    with mutated(fault.module, fault.line, fault.wrong):
        pass
    fault.finder()
