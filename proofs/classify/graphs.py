"""The class of a graph: that of its most general operator.

Rule of this file: no definition of a class; it finds the streams that each operator gets, and asks.
Hwang et al., Section 3.2: "The type of a query network is determined by the type of its most
general operator."
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import Any

from model.boxes.box import Box
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import Arrival, OperatorClass, Scope
from model.errors import Invalid
from model.events import Body
from model.graph import NO_GRAPH, SINK, SOURCE
from proofs.classify.classes import classify
from proofs.classify.pairs import confluence, explore
from proofs.classify.streams import Alphabet
from proofs.garbage import seldom_collected

LIMIT = 5_000
"""Pairs of states of one operator after which nothing is decided: two or three seconds."""


@seldom_collected()
def class_of(scope: Scope) -> OperatorClass | None:
    """The class of the scope's graph for every stream over the alphabets of its sources.

    An item that an operator passes on keeps its type and its attributes, and comes with the gaps of
    the sources, or at once.  None: an operator is no box, raises, or is undecided; or there is no
    stream.
    """
    if scope.graph == NO_GRAPH:
        return None
    graph, inputs = scope.graph, dict(scope.inputs)
    gaps = sorted({0, *(one.gap for given in inputs.values() for one in given.alphabet)})
    edges: dict[str, tuple[Arrival, ...]] = {}
    found = OperatorClass.REPEATABLE
    try:
        for name in graph.order():
            spec = graph.specs[name]
            if spec is SOURCE:
                edges[name] = inputs[name].alphabet
            elif spec is not SINK:
                box, alphabet = _asked(spec, [edges[pred] for pred in graph.preds(name)])
                found = max(found, _class(box, alphabet))
                inner = any(graph.specs[succ] is not SINK for succ in graph.succs(name))
                kinds = _emitted(box, alphabet) if inner else ()
                edges[name] = tuple(Arrival(gap, *kind) for gap in gaps for kind in kinds)
    except Exception:  # undecided, no box, or one that such events make raise: it may be anybody's
        return None
    return found


def _asked(spec: Any, edges: list[tuple[Arrival, ...]]) -> tuple[Box, Alphabet]:
    """The operator as a box, and its inputs.  A CEP operator gets one stream, merged by time."""
    if isinstance(spec, Operator):
        merged = dict.fromkeys(chain.from_iterable(edges))
        if len(edges) > 1:
            merged |= dict.fromkeys(one._replace(gap=0) for one in merged)
        return CepBox(spec), Alphabet((tuple(merged),))
    if isinstance(spec, Box):
        return spec, Alphabet(tuple(edges))
    raise Invalid(f"class of a graph: {spec!r} is no box")


@lru_cache(maxsize=1 << 10)
def _class(box: Box, alphabet: Alphabet) -> OperatorClass:
    return classify(box, alphabet, LIMIT).operators


@lru_cache(maxsize=1 << 10)
def _emitted(box: Box, alphabet: Alphabet) -> tuple[tuple[str, Any], ...]:
    """The types and attributes of all that the box puts out.  A match of events has none."""
    graph = explore(*confluence(box, alphabet), box, LIMIT)
    outs = chain.from_iterable(taken.first for *_, taken in graph.edges(data="taken"))
    kinds = ((body.type, () if _nested(body) else body.data) for body in outs)
    return tuple(sorted(dict.fromkeys(kinds), key=repr))


def _nested(body: Body) -> bool:
    return any(isinstance(part, Body) for part in body.data)
