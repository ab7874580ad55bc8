"""What was found in the scopes of each variant: worlds, steps of a shortest counterexample, the
guarantee.

Rule of this file: numbers that an exploration has found, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.core import Guarantee
from model.pair_scopes import Pins

PRECISE, REPEATING, CONVERGENT, DIVERGENT, GAP = Guarantee

PINS: Mapping[str, Pins] = {
    "": {
        "sliding windows": (175_449, None, PRECISE),
        "windows that close together": (272_015, None, PRECISE),
        "two paths": (5_923, None, PRECISE),
        "a relay, two crashes": (49_424, None, PRECISE),
        "a filter, two crashes": (67_786, None, PRECISE),
        "two nodes that relay, two crashes": (958_513, None, PRECISE),
        "two relays": (1_121_734, None, PRECISE),
    },
    "rollback": {
        "a relay": (12_520, None, REPEATING),
        "a filter": (16_268, None, REPEATING),
        "sliding windows, four tuples": (1_829_141, None, CONVERGENT),
        "windows from the first tuple": (2_606_252, None, DIVERGENT),
        "pairs of a union": (7_530_588, None, DIVERGENT),
    },
    "rollback-again": {
        "a relay, two crashes": (61_444, None, REPEATING),
        "sliding windows, four tuples, two crashes": (9_862_783, None, CONVERGENT),
        "windows from the first tuple, two crashes": (12_796_820, None, DIVERGENT),
    },
    "rollback-any": {
        "a relay, two crashes": (None, 5, GAP),
        "sliding windows, two crashes": (None, 6, GAP),
        "pairs, two crashes": (None, 6, GAP),
        "a union, two crashes": (None, 5, GAP),
    },
    "rollback-suspicion": {
        "a relay": (99_345, None, REPEATING),
        "sliding windows, four tuples": (19_128_813, None, CONVERGENT),
    },
    "published": {
        "a relay": (20_694, None, REPEATING),
        "a filter": (25_110, None, REPEATING),
        "sliding windows, four tuples": (5_276_056, None, CONVERGENT),
        "windows from the first tuple": (6_759_333, None, DIVERGENT),
        "pairs of a union": (14_328_759, None, DIVERGENT),
    },
    "published-aligned": {
        "pairs": (11_317, None, REPEATING),
        "every other tuple": (114_885, None, REPEATING),
    },
    "published-again": {
        "a relay, two crashes": (57_418, None, REPEATING),
        "sliding windows, four tuples, two crashes": (14_718_216, None, CONVERGENT),
        "windows from the first tuple, two crashes": (18_099_865, None, DIVERGENT),
    },
    "published-any": {
        "a relay, two crashes": (None, 5, GAP),
        "sliding windows, two crashes": (None, 6, GAP),
        "pairs, two crashes": (None, 6, GAP),
        "a union, two crashes": (None, 5, GAP),
    },
    "published-suspicion": {
        "a relay": (100_765, None, REPEATING),
        "sliding windows, four tuples": (29_164_995, None, CONVERGENT),
    },
    "published-repeatable": {
        "a relay": (43_443, None, PRECISE),
        "two paths": (4_279, 8, DIVERGENT),
    },
    "published-convergent": {
        "sliding windows": (174_764, None, PRECISE),
        "windows that close together": (175_363, 11, DIVERGENT),
    },
    "high-lower": {
        "a relay": (53_872, 9, REPEATING),
        "sliding windows": (215_879, 12, REPEATING),
    },
    "high": {
        "two paths": (5_438, 8, DIVERGENT),
        "windows that close together": (241_739, 11, DIVERGENT),
    },
    "low": {
        "two paths": (5_438, 8, DIVERGENT),
    },
    "newest-made-of": {
        "windows by key": (None, 14, GAP),
    },
    "made-of": {
        "a window beside a map": (None, 20, DIVERGENT),
        "windows by key": (7_052_780, 25, GAP),
    },
    "maps-received": {
        "a relay": (14_212, None, PRECISE),
        "two nodes, two crashes": (330_931, 29, GAP),
    },
    "labels-place": {
        "a relay": (14_212, None, PRECISE),
        "two nodes that relay, two crashes": (175_869, None, PRECISE),
    },
    "names-place": {
        "two relays": (270_292, 25, GAP),
    },
    "idle-state": {
        "a relay": (61_564, None, PRECISE),
        "sliding windows": (190_297, None, PRECISE),
        "no crash": (197, None, PRECISE),
        "no crash, a filter": (318, None, PRECISE),
    },
    "idle-state-permanent": {
        "a relay": (14_212, None, PRECISE),
        "two nodes that relay, two crashes": (175_869, None, PRECISE),
        "two nodes, overlapping windows, two crashes": (23_819_056, None, PRECISE),
        "two relays": (270_292, None, PRECISE),
    },
    "idle-state-gaps": {
        "every other tuple": (423_367, 15, GAP),
    },
    "late-taken": {
        "a relay": (69_143, None, PRECISE),
    },
    "any": {
        "a relay, two crashes": (None, 5, GAP),
    },
    "suspicion": {
        "a relay": (82_994, None, PRECISE),
        "sliding windows": (336_960, None, PRECISE),
    },
    "deposes-nobody": {
        "a relay, two crashes": (121_558, 9, GAP),
    },
    "permanent": {
        "a relay": (9_940, None, PRECISE),
        "a window beside a map": (987_026, None, PRECISE),
        "sliding windows, four tuples": (1_272_765, None, PRECISE),
        "windows by key": (6_623_294, None, PRECISE),
        "two nodes that relay, two crashes": (175_869, None, PRECISE),
    },
    "arbitrary": {
        "a relay": (21_429, None, PRECISE),
        "pairs": (17_835, None, PRECISE),
        "every other tuple": (141_321, None, PRECISE),
        "a union": (1_122_408, None, PRECISE),
    },
    "determinants-none": {
        "a union": (584_493, 14, REPEATING),
    },
    "determinants-sent": {
        "a union": (341_807, 15, REPEATING),
    },
}
