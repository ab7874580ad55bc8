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
        "a relay": (45_512, None, PRECISE),
        "pairs": (47_347, None, PRECISE),
        "a union": (570_713, None, PRECISE),
        "pairs of a union": (1_759_434, None, PRECISE),
        "no crash": (286, None, PRECISE),
        "a relay, two crashes": (67_414, None, PRECISE),
        "pairs, two crashes": (99_252, None, PRECISE),
    },
    "rollback": {
        "a relay": (2_244, None, REPEATING),
        "a filter": (3_219, None, REPEATING),
        "sliding windows": (4_439, None, REPEATING),
        "pairs": (1_454, None, REPEATING),
        "every other tuple": (5_465, None, REPEATING),
        "two operators in a node": (1_644, None, REPEATING),
        "pairs of a union": (53_778, None, DIVERGENT),
        "no crash": (401, None, PRECISE),
    },
    "rollback-again": {
        "a relay, two crashes": (78_875, None, REPEATING),
        "sliding windows, two crashes": (208_533, None, REPEATING),
        "pairs, two crashes": (65_261, None, REPEATING),
        "two operators in a node, two crashes": (98_467, None, REPEATING),
        "pairs of a union, two crashes": (3_298_994, None, DIVERGENT),
        "no crash": (401, None, PRECISE),
    },
    "rollback-any": {
        "a relay, two crashes": (653_754, 6, GAP),
        "sliding windows, two crashes": (635_356, 7, GAP),
        "pairs, two crashes": (658_074, 7, GAP),
        "two operators in a node, two crashes": (718_866, 7, GAP),
        "no crash": (401, None, PRECISE),
    },
    "rollback-suspicion": {
        "a relay": (107_144, None, REPEATING),
        "sliding windows": (257_735, None, REPEATING),
        "pairs": (65_439, None, REPEATING),
        "two operators in a node": (95_782, None, REPEATING),
        "no crash": (401, None, PRECISE),
    },
    "published": {
        "a relay": (3_503, None, REPEATING),
        "a filter": (4_658, None, REPEATING),
        "sliding windows": (6_541, None, REPEATING),
        "pairs": (1_705, None, REPEATING),
        "every other tuple": (7_812, None, REPEATING),
        "two operators in a node": (3_635, None, DIVERGENT),
        "pairs of a union": (86_259, None, DIVERGENT),
    },
    "published-again": {
        "a relay, two crashes": (92_912, None, REPEATING),
        "sliding windows, two crashes": (238_656, None, REPEATING),
        "pairs, two crashes": (59_223, None, REPEATING),
        "two operators in a node, two crashes": (333_794, None, DIVERGENT),
        "pairs of a union, two crashes": (5_145_814, None, DIVERGENT),
    },
    "published-any": {
        "a relay, two crashes": (817_931, 6, GAP),
        "sliding windows, two crashes": (768_673, 7, GAP),
        "pairs, two crashes": (723_696, 7, GAP),
        "two operators in a node, two crashes": (691_166, 7, GAP),
    },
    "published-suspicion": {
        "a relay": (94_359, None, REPEATING),
        "sliding windows": (220_373, None, REPEATING),
        "pairs": (45_692, None, REPEATING),
        "two operators in a node": (270_298, None, DIVERGENT),
    },
    "published-precise": {
        "a relay": (167_991, 10, REPEATING),
        "pairs": (77_488, 12, REPEATING),
    },
    "line-free": {
        "two operators in a node": (428_865, 18, DIVERGENT),
    },
    "late-taken": {
        "a relay": (152_446, 10, REPEATING),
    },
    "known-taken": {
        "pairs": (58_481, None, PRECISE),
        "a relay": (63_581, None, PRECISE),
    },
    "releases-processed": {
        "pairs": (610_479, 15, GAP),
    },
    "renewal-delta": {
        "pairs, two crashes": (122_297, 21, GAP),
    },
    "renewal-later": {
        "pairs, two crashes": (60_811, 19, GAP),
    },
    "suspicion": {
        "a relay": (121_604, None, PRECISE),
        "sliding windows": (351_879, None, PRECISE),
        "pairs": (104_924, None, PRECISE),
        "two operators in a node": (164_711, None, PRECISE),
        "no crash": (401, None, PRECISE),
    },
    "deposes-nobody": {
        "a relay, two crashes": (103_549, 14, GAP),
        "pairs, two crashes": (117_007, 15, GAP),
    },
    "permanent": {
        "a relay": (2_205, None, PRECISE),
        "pairs": (1_611, None, PRECISE),
        "no crash": (401, None, PRECISE),
    },
    "any": {
        "a relay, two crashes": (821_669, 6, GAP),
        "pairs, two crashes": (776_592, 7, GAP),
    },
    "forwards-sent": {
        "a union": (467_159, 16, GAP),
    },
    "forwards-all": {
        "a union": (624_047, 14, GAP),
    },
    "alone-silent": {
        "a union": (12_496, 10, GAP),
        "a relay": (1_459, 8, GAP),
    },
}
