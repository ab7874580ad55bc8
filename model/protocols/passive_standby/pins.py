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
        "sliding windows": (205_708, None, PRECISE),
        "every other tuple": (301_685, None, PRECISE),
        "windows that close together": (456_170, None, PRECISE),
        "two paths": (17_981, None, PRECISE),
        "no crash": (401, None, PRECISE),
        "no crash, a filter": (607, None, PRECISE),
        "no crash, sliding windows": (1_028, None, PRECISE),
        "a relay, two crashes": (104_966, None, PRECISE),
        "a filter, two crashes": (158_547, None, PRECISE),
        "pairs, two crashes": (117_210, None, PRECISE),
        "two operators in a node, two crashes": (189_668, None, PRECISE),
        "two nodes, two crashes": (3_792_242, None, PRECISE),
    },
    "arbitrary": {
        "a relay": (48_701, None, PRECISE),
        "pairs": (48_554, None, PRECISE),
        "a union": (570_713, None, PRECISE),
        "pairs of a union": (1_759_434, None, PRECISE),
        "no crash": (286, None, PRECISE),
        "a relay, two crashes": (70_603, None, PRECISE),
    },
    "rollback": {
        "a relay": (2_244, None, REPEATING),
        "a filter": (3_219, None, REPEATING),
        "sliding windows": (4_439, None, REPEATING),
        "pairs": (1_454, None, REPEATING),
        "every other tuple": (5_465, None, REPEATING),
        "two operators in a node": (1_644, None, REPEATING),
        "pairs of a union": (53_778, None, DIVERGENT),
    },
    "rollback-behind": {
        "two nodes": (95_724, 15, GAP),
    },
    "rollback-again": {
        "a relay, two crashes": (78_875, None, REPEATING),
        "sliding windows, two crashes": (208_533, None, REPEATING),
        "pairs, two crashes": (65_261, None, REPEATING),
        "pairs of a union, two crashes": (3_298_994, None, DIVERGENT),
    },
    "rollback-any": {
        "a relay, two crashes": (None, 6, GAP),
        "sliding windows, two crashes": (None, 7, GAP),
        "pairs, two crashes": (None, 7, GAP),
        "a union, two crashes": (None, 6, GAP),
    },
    "rollback-suspicion": {
        "a relay": (107_144, None, REPEATING),
        "sliding windows": (257_735, None, REPEATING),
        "pairs": (65_439, None, REPEATING),
        "pairs of a union": (4_792_958, None, DIVERGENT),
    },
    "published": {
        "a relay": (3_503, None, REPEATING),
        "a filter": (4_658, None, REPEATING),
        "sliding windows": (6_541, None, REPEATING),
        "pairs": (1_705, None, REPEATING),
        "every other tuple": (7_812, None, REPEATING),
        "pairs of a union": (86_259, None, DIVERGENT),
    },
    "published-sweep": {
        "two operators in a node": (230_678, 26, DIVERGENT),
    },
    "published-again": {
        "a relay, two crashes": (92_493, None, REPEATING),
        "sliding windows, two crashes": (231_806, None, REPEATING),
        "pairs, two crashes": (57_618, None, REPEATING),
        "pairs of a union, two crashes": (4_935_176, None, DIVERGENT),
    },
    "published-any": {
        "a relay, two crashes": (None, 6, GAP),
        "sliding windows, two crashes": (None, 7, GAP),
        "pairs, two crashes": (None, 7, GAP),
        "a union, two crashes": (None, 6, GAP),
    },
    "published-suspicion": {
        "a relay": (93_960, None, REPEATING),
        "sliding windows": (214_842, None, REPEATING),
        "pairs": (44_681, None, REPEATING),
        "pairs of a union": (4_693_941, None, DIVERGENT),
    },
    "published-precise": {
        "a relay": (166_726, 10, REPEATING),
        "pairs": (74_594, 12, REPEATING),
    },
    "line-free": {
        "two operators in a node": (428_865, 18, DIVERGENT),
    },
    "late-taken": {
        "a relay": (174_516, 10, REPEATING),
    },
    "releases-processed": {
        "pairs": (None, 15, GAP),
    },
    "renewal-delta": {
        "pairs, two crashes": (128_371, 21, GAP),
    },
    "renewal-later": {
        "pairs, two crashes": (62_805, 19, GAP),
    },
    "suspicion": {
        "a relay": (121_604, None, PRECISE),
        "pairs": (104_924, None, PRECISE),
    },
    "deposes-nobody": {
        "a relay, two crashes": (113_302, 14, GAP),
    },
    "any": {
        "a relay, two crashes": (None, 6, GAP),
        "pairs, two crashes": (None, 7, GAP),
    },
    "forwards-sent": {
        "a union": (467_159, 16, GAP),
    },
    "forwards-all": {
        "a union": (None, 14, GAP),
    },
    "alone-silent": {
        "a union": (12_496, 10, GAP),
        "a relay": (1_472, 8, GAP),
    },
}
