"""Faults of the reduction, a line each: the comparison of both searches finds them.

Rule of this file: a fault is a row (rule, module, line, wrong line, finder).
"""

from __future__ import annotations

from typing import NamedTuple

GRAPHS, RULES = "proofs.explore.reduction.graphs", "proofs.explore.reduction.rules"
VERDICTS, REDUCED = "proofs.explore.reduction.verdicts", "proofs.explore.search.reduced"
EXPLORER = "proofs.explore.explorer"


class ReductionFault(NamedTuple):
    """line, wrong: of one function of the module.

    how, seed: the protocols that find it: drawn; inside: drawn, with properties inside of every
    world; woven; heals: woven, with each observation once as the wrong one.
    """

    rule: str
    module: str
    line: str
    wrong: str
    how: str
    seed: int


FAULTS = [
    ReductionFault(
        "one pass",
        REDUCED,
        "if self.stable or meter.why:",
        "if True:",
        "drawn",
        271,
    ),
    ReductionFault(
        "a verdict is never renewed",
        REDUCED,
        "*verdicts.renew(),",
        "*(),",
        "drawn",
        271,
    ),
    ReductionFault(
        "all commutes",
        VERDICTS,
        "if not diamond.commutes:",
        "if False:",
        "drawn",
        271,
    ),
    ReductionFault(
        "the state",
        VERDICTS,
        "one.after == two.after",
        "True",
        "drawn",
        271,
    ),
    ReductionFault(
        "messages of the other",
        VERDICTS,
        "and one.sent == then.sent",
        "and True",
        "drawn",
        113,
    ),
    ReductionFault(
        "messages of its own",
        VERDICTS,
        "and two.sent == first.sent",
        "and True",
        "woven",
        667,
    ),
    ReductionFault(
        "the order of messages",
        VERDICTS,
        "and not _order_matters(graph.collapsed.messages, first, then)",
        "and True",
        "woven",
        606,
    ),
    ReductionFault(
        "timers and inputs",
        VERDICTS,
        "found = [other for other in graph.offered(before) if other != label]",
        "found = []",
        "drawn",
        271,
    ),
    ReductionFault(
        "messages of others",
        VERDICTS,
        "if kind >= 0 and live >> kind & 1 and other.field != field:",
        "if False:",
        "drawn",
        229,
    ),
    ReductionFault(
        "senders later on",
        GRAPHS,
        "todo += [(one, known | more) for one in backward.get(number, ())]",
        "todo += []",
        "drawn",
        13,
    ),
    ReductionFault(
        "kinds of messages",
        GRAPHS,
        "mask |= 1 << (KINDS + kind)",
        "mask |= 0 << kind",
        "drawn",
        271,
    ),
    ReductionFault(
        "a node that fails by itself",
        GRAPHS,
        "mask |= FAILS",
        "mask |= 0",
        "drawn",
        10233,
    ),
    ReductionFault(
        "rule 2: a restart alone",
        RULES,
        "if isinstance(action, Restart) or (not faulty and graph.ends_down(numbers, effect)):",
        "if not faulty and graph.ends_down(numbers, effect):",
        "drawn",
        615,
    ),
    ReductionFault(
        "rule 3: other clients",
        RULES,
        "silent |= (to == site and who != client) << at",
        "silent |= 0",
        "drawn",
        599,
    ),
    ReductionFault(
        "rule 3: answers of a prompt site",
        RULES,
        "heard |= (who == site and to != view.node) << at",
        "heard |= 0",
        "drawn",
        349,
    ),
    ReductionFault(
        "rule 4: receivers that are down",
        RULES,
        "return graph.incoming if (down or fails) and self._returns(node) else 0",
        "return 0",
        "drawn",
        615,
    ),
    ReductionFault(
        "rule 5: crashes",
        RULES,
        "met = view.node in system.victims or (takes >= 0 and self.of_victims >> takes & 1)",
        "met = takes >= 0 and self.of_victims >> takes & 1",
        "drawn",
        119,
    ),
    ReductionFault(
        "rule 5: senders that may crash",
        RULES,
        "met = view.node in system.victims or (takes >= 0 and self.of_victims >> takes & 1)",
        "met = view.node in system.victims",
        "drawn",
        598,
    ),
    ReductionFault(
        "channels of victims",
        RULES,
        "self.of_victims = sum(1 << at for at, (who, _) in enumerate(ends)"
        " if who in system.victims)",
        "self.of_victims = 0",
        "drawn",
        598,
    ),
    ReductionFault(
        "groups",
        RULES,
        "self.grouped = [any(v.node in group for group in system.groups) for v in self.views]",
        "self.grouped = [False for v in self.views]",
        "drawn",
        273,
    ),
    ReductionFault(
        "properties of nodes",
        REDUCED,
        "if judge.always_looks != Looks():",
        "if False:",
        "inside",
        2,
    ),
    ReductionFault(
        "violations that heal",
        EXPLORER,
        "if search.breaks or (suspects and not found.complete):",
        "if suspects and not found.complete:",
        "heals",
        310,
    ),
    ReductionFault(
        "endless growth",
        EXPLORER,
        "if search.breaks or (suspects and not found.complete):",
        "if search.breaks:",
        "drawn",
        585,
    ),
    ReductionFault(
        "circles",
        EXPLORER,
        "if has_circles(search.edges(suspects)):",
        "if False:",
        "drawn",
        150,
    ),
    ReductionFault(
        "the shortest violation before rest",
        EXPLORER,
        "if judge.always and (search.breaks or not found.complete):",
        "if False:",
        "heals",
        310,
    ),
    ReductionFault(
        "members of a group that are down",
        GRAPHS,
        "if CLOSED not in contents or not self.step(state, label):",
        "if True:",
        "drawn",
        31033,
    ),
    ReductionFault(
        "rule 4: receivers that may crash",
        RULES,
        "risky = system.victims & system.returning",
        "risky = frozenset()",
        "woven",
        2270,
    ),
    ReductionFault(
        "messages after a fault",
        GRAPHS,
        "self._edge(1, before, after, self._all_of(sent))",
        "self._edge(1, before, before, 0)",
        "woven",
        2530,
    ),
    ReductionFault(
        "states further on", VERDICTS, "if diamond.after not in seen:", "if False:", "woven", 2457
    ),
    ReductionFault(
        "rule 2: a step in which the node fails",
        RULES,
        "if isinstance(action, Restart) or (not faulty and graph.ends_down(numbers, effect)):",
        "if isinstance(action, Restart):",
        "drawn",
        100527,
    ),
]
