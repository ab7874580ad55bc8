"""Duties in words: names, evidence by name, and lines that people read.

Rule of this file: each check reads only the sample.
"""

from __future__ import annotations

from collections.abc import Iterator

from asif.duties.duty import Duty
from asif.duties.sample import Sample
from model.core import Emit, Save, Send
from model.errors import Invalid
from model.registry import is_file, protocols
from model.system import carried
from model.words import show_value
from model.world import DOWN
from proofs.explore.mutants import mutated_source


def named(sample: Sample) -> Iterator[str]:
    """The words for people are there."""
    words = sample.protocol.words
    for name in ("title", "source"):
        if not getattr(words, name).strip():
            yield f"Words.{name} is empty"
    streams = any(one.operators is not None for one in sample.protocol.evidence.scopes)
    if streams and not sample.protocol.promise.claims:
        yield "Promise.claims is empty"


def evidence(sample: Sample) -> Iterator[str]:
    """Evidence names scopes and variants that exist, each once."""
    protocol = sample.protocol
    scopes = [pinned.name for pinned in protocol.evidence.scopes]
    yield from (f"two scopes are called {name!r}" for name in scopes if scopes.count(name) > 1)
    of_variants = {
        f"{variant.variant}: {pinned.name}"
        for variant in protocol.variants
        for pinned in variant.evidence.scopes
    }
    other = protocol.evidence.compare_with
    if not is_file(sample.called) and other not in {"", *protocols()}:
        yield f"compare_with has {other!r}, and no protocol is called so"
    names = [mutant.name for mutant in protocol.evidence.mutants]
    yield from (f"two mutants are called {name!r}" for name in names if names.count(name) > 1)
    for mutant in protocol.evidence.mutants:
        if mutant.scope not in {"", *scopes, *of_variants}:
            yield f"mutant {mutant.name!r}: no scope is called {mutant.scope!r}"
        try:
            mutated_source(mutant)
        except Invalid as error:
            yield str(error)


def shown(sample: Sample) -> Iterator[str]:
    """Messages, results and states are shown in one line."""
    values = [carried(effect) for effect in sample.effects if isinstance(effect, Send | Save)]
    values += [effect.output for effect in sample.effects if isinstance(effect, Emit)]
    for _, _, _, after in sample.edges():
        values += [node.state for node in after.nodes if node.state is not DOWN]
    for value in values:
        line = show_value(sample.protocol, value)
        if "\n" in line:
            yield f"show({type(value).__name__}) is {line!r}; return one line"


IN_WORDS = (
    Duty(
        "words",
        "Title, source and claims are given.",
        "Reports name a protocol, its source and its promise before any number.",
        named,
    ),
    Duty(
        "evidence",
        "Scopes, variants and lines that evidence names exist, each once.",
        "A hunt begins in the scope that a mutant names, and changes one line of its module.",
        evidence,
    ),
    Duty(
        "lines",
        "`show` returns one line for messages, results, states and durable values.",
        "Diagrams write it beside an arrow.",
        shown,
    ),
)
