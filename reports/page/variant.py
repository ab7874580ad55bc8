"""A protocol or a variant, as the panel shows it: counterexamples first, then the evidence.

Rule of this file: blocks of a verdict alone; other rooms show lemmas, costs and runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.results.attack import AttackFailure, MutantResult
from model.results.verdict import ScopeCounterexample, ScopeResult, Verdict
from reports.diagrams import spacetime
from reports.page.blocks import (
    Block,
    CodeText,
    DrawnPicture,
    FoldedPart,
    Ink,
    ItemList,
    PageSection,
    Sentence,
    TableRow,
    Word,
    Words,
    coded,
    said,
    table,
)
from reports.page.formats import counted, judged, number, time
from reports.results import words as result_words

Run = ScopeCounterexample | AttackFailure
SCOPE_COLUMNS = (
    "Scope",
    "Operators",
    "#Crashes",
    "Outcome",
    "Guarantee",
    "#Worlds found",
    "#Pinned",
    "#Transitions",
    "#Depth",
    "#At rest",
    "#Crash points",
    "#Time",
    "#Worlds/s",
)
RANDOM = "found at random, shrunk"
FINDERS = {"hypothesis": "Hypothesis", "walk": "a walk"}


def address(protocol: str) -> str:
    """Where a link finds a protocol or a variant; the name of the family alone is its room."""
    return protocol if ":" in protocol else f"{protocol}/itself"


def panel_of(verdict: Verdict) -> list[Block]:
    """The blocks of a verdict."""
    found: list[Block] = [Sentence(judged(verdict.expected))]
    if verdict.finding:
        found.append(Sentence(coded(verdict.finding)))
    found += _vacuous(verdict)
    found += _counterexamples(verdict)
    found += _guarantee(verdict)
    rows = [*map(_scope, verdict.scopes)]
    scopes = table(f"Scopes of {verdict.protocol}", SCOPE_COLUMNS, rows)
    found.append(PageSection("Scopes explored", [scopes]))
    found += [*_coverage(verdict), *_evidence(verdict), *_mutants(verdict)]
    return found


def _vacuous(verdict: Verdict) -> Iterator[Block]:
    for why in verdict.vacuous:
        yield Sentence(f"Vacuous: {why}", Ink.BAD)


# --- runs ----------------------------------------------------------------------------------------
def _counterexamples(verdict: Verdict) -> Iterator[Block]:
    failure = verdict.attack.failure
    if not verdict.refuted and failure is None:
        return
    ordered = sorted(verdict.refuted, key=lambda one: _run_of(one).steps)
    shown: list[Block] = [
        FoldedPart(
            [one.name, " ", Word(result_words.steps(_run_of(one).steps), Ink.DIM)],
            run(_run_of(one), one.name),
            open=not at,
            name=one.name,
        )
        for at, one in enumerate(ordered)
    ]
    if failure is not None:
        replay = FoldedPart("A pytest file that replays this run", [CodeText(failure.pytest)])
        inside = [*run(failure, RANDOM), replay]
        summary: Words = ["Found at random ", Word(result_words.steps(failure.steps), Ink.DIM)]
        shown.append(FoldedPart(summary, inside, open=not ordered, name=RANDOM))
    yield PageSection("Counterexamples", shown)


def _run_of(scope: ScopeResult) -> ScopeCounterexample:
    assert scope.counterexample is not None
    return scope.counterexample


def run(found: Run, name: str) -> list[Block]:
    """A run that violates a property, to step through; without steps, to look at."""
    pinned = found.pinned if isinstance(found, ScopeCounterexample) else None
    after = f"after {number(found.steps)} step{'' if found.steps == 1 else 's'} this run violates "
    words: list[str | Word] = [Word(name, Ink.STRONG), f": {after}“{found.property}”"]
    if pinned is not None:
        good = pinned == found.steps
        tone = Ink.GOOD if good else Ink.BAD
        words += ["; ", Word(f"{'✓' if good else '✗'} {pinned} steps pinned", tone)]
    words.append(".")
    blocks: list[Block] = []
    if found.culprit is not None and found.run is None:
        blocks.append(Sentence(found.culprit.says, Ink.REFUTED))
    svg = ""
    if found.run is None:  # a page draws the picture of steps itself
        svg = spacetime.svg(found.story, caption=found.property, culprit=found.culprit)
    plain = spacetime.text(found.story, caption=found.property, culprit=found.culprit)
    picture = f"Space-time diagram: {name}"
    blocks.append(DrawnPicture(picture, svg, words, plain, name, found.run))
    return blocks


# --- the guarantee and the scopes ----------------------------------------------------------------
def _guarantee(verdict: Verdict) -> Iterator[Block]:
    rows = []
    for one in verdict.classes:
        off = one.claimed is not None and one.claimed is not one.found
        tone = Ink.BAD if off and not verdict.expected else Ink.STRONG
        found = Word(result_words.word(one.found), tone)
        rows.append(
            TableRow([result_words.word(one.operators), result_words.word(one.claimed), found])
        )
    blocks: list[Block] = []
    if rows:
        blocks.append(table("Guarantee", ("Operator class", "Claimed", "Found"), rows))
    if verdict.untried_classes:
        names = ", ".join(map(result_words.word, verdict.untried_classes))
        blocks.append(Sentence(Word(f"Not tried: {names} operators.", Ink.DIM)))
    if blocks:
        yield PageSection("Guarantee", blocks)


def _scope(one: ScopeResult) -> TableRow:
    differs = [Word(f" ✗ {way}", Ink.BAD) for way in result_words.differences(one)]
    return TableRow(
        [
            one.name,
            _operators(one),
            number(one.crashes),
            [one.outcome.value, *differs],
            result_words.word(one.guarantee),
            _worlds(one),
            _pinned(one),
            number(one.transitions),
            number(one.depth),
            number(one.quiescent),
            f"{one.hit:,} of {one.points:,}",
            time(one.seconds),
            number(one.states_per_second),
        ],
        off=not one.as_pinned,
    )


def _operators(one: ScopeResult) -> Words:
    if not one.operators:
        return "no stream"
    word = result_words.word(one.operators)
    if not one.derived:
        return f"{word} (not derived)"
    if one.derived is one.operators:
        return word
    return [word, " ", Word(f"(✗ derived: {result_words.word(one.derived)})", Ink.BAD)]


def _worlds(one: ScopeResult) -> Words:
    if one.until_refuted:
        return f"{one.states:,} (until refuted)"
    if one.complete:
        return number(one.states)
    return [f"{one.states:,} ", Word("(✗ incomplete)", Ink.BAD)]


def _pinned(one: ScopeResult) -> Words:
    if one.pinned is None:
        return Word("not pinned", Ink.DIM)
    if one.until_refuted:
        return number(one.pinned)
    good = one.pinned == one.states
    return [f"{one.pinned:,} ", Word("✓", Ink.GOOD) if good else Word("✗", Ink.BAD)]


# --- the evidence --------------------------------------------------------------------------------
def _coverage(verdict: Verdict) -> Iterator[Block]:
    every = ", all of them" if verdict.hit == verdict.points else ""
    fell = f"Crashes fell on {verdict.hit:,} of the {verdict.points:,} crash points"
    blocks: list[Block] = [Sentence(f"{fell} that exist in these scopes{every}.")]
    if verdict.missed:
        missed = [said(Word(one.point, Ink.CODE), f": {one.why}") for one in verdict.missed]
        blocks.append(FoldedPart(f"{len(missed)} missed", [ItemList(missed)]))
    yield PageSection("Coverage", blocks)


def _evidence(verdict: Verdict) -> Iterator[Block]:
    items: list[Words] = [
        [Word(number(count), Ink.STRONG), f" {note}"] for note, count in verdict.evidence.items()
    ]
    items += [
        [Word("✗ 0", Ink.BAD), f" {note}: this should have happened"] for note in verdict.missing
    ]
    blocks: list[Block] = [ItemList(items, small=True)] if items else []
    attack = verdict.attack
    if attack.actions:
        runs = f"{attack.walks:,} walks and {attack.examples:,} runs of Hypothesis"
        found = "a violation" if attack.failure else "no violation"
        took = f"{attack.actions:,} actions in {runs} ({time(attack.seconds)})"
        blocks.append(Sentence(f"The random attack took {took} and found {found}."))
    if blocks:
        yield PageSection("Evidence: how often each thing happened", blocks)


def _mutants(verdict: Verdict) -> Iterator[Block]:
    if verdict.mutants is None:
        return
    title = f"Mutants: {verdict.killed} of {len(verdict.mutants)} killed"
    words = "Each mutant is this protocol with one changed line; a good check finds every mutant."
    yield PageSection(title, [Sentence(words), *map(_mutant, verdict.mutants)])


def _mutant(one: MutantResult) -> FoldedPart:
    worlds = f", {counted(one.states, 'world')}" if one.states else ""
    if one.by:
        by = FINDERS.get(one.by, f"the {one.by}")
        scope = f" in “{one.scope}”" if one.scope else ""
        steps = f", in a run of {one.steps} steps" if one.steps is not None else ""
        fate = Word(f"found by {by}{scope} after {time(one.seconds)}{worlds}{steps}", Ink.DIM)
    else:
        fate = Word(f"✗ survived {time(one.seconds)}{worlds}", Ink.BAD)
    change = f"# {one.module}\n- {one.old}\n+ {one.new}"
    return FoldedPart([Word(one.name, Ink.STRONG), " ", fate], [CodeText(change, diff=True)])


def guarantees(verdict: Verdict) -> Sequence[Words]:
    """The guarantee found for each class of operators, in words."""
    return [
        [
            f"{result_words.word(one.operators)}: ",
            Word(result_words.word(one.found), Ink.STRONG),
        ]
        for one in verdict.classes
    ]
