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
        "windows that close together": (1_812_778, None, PRECISE),
        "two paths": (36_041, None, PRECISE),
        "no crash": (1_543, None, PRECISE),
        "no crash, a filter": (2_670, None, PRECISE),
        "no crash, sliding windows": (7_700, None, PRECISE),
        "a relay, two crashes": (367_131, None, PRECISE),
        "pairs, two crashes": (417_482, None, PRECISE),
        "sliding windows, two crashes": (1_512_008, None, PRECISE),
    },
    "arbitrary": {
        "a relay": (22_558, None, PRECISE),
        "pairs": (39_970, None, PRECISE),
        "a union": (410_747, None, PRECISE),
        "pairs of a union": (6_192_585, None, PRECISE),
    },
    "rollback": {
        "a relay": (20_507, None, REPEATING),
        "a filter": (27_531, None, REPEATING),
        "sliding windows": (94_073, None, REPEATING),
        "pairs": (20_909, None, REPEATING),
        "windows from the first tuple": (2_353_300, None, REPEATING),
        "pairs of a union": (7_870_502, None, DIVERGENT),
    },
    "rollback-again": {
        "a relay, two crashes": (365_727, None, REPEATING),
        "sliding windows, two crashes": (1_448_651, None, REPEATING),
        "pairs, two crashes": (323_930, None, REPEATING),
    },
    "rollback-any": {
        "a relay, two crashes": (None, 12, GAP),
        "a pair, two crashes": (None, 15, GAP),
        "sliding windows, two crashes": (None, 15, GAP),
    },
    "rollback-suspicion": {
        "a relay": (465_341, None, REPEATING),
        "pairs": (333_011, None, REPEATING),
        "sliding windows": (1_889_580, None, REPEATING),
    },
    "published": {
        "a relay": (35_913, None, REPEATING),
        "a filter": (44_204, None, REPEATING),
        "sliding windows": (168_575, None, REPEATING),
        "pairs": (24_499, None, REPEATING),
        "windows from the first tuple": (7_646_137, None, REPEATING),
        "pairs of a union": (16_738_103, None, DIVERGENT),
    },
    "published-again": {
        "a relay, two crashes": (511_452, None, REPEATING),
        "sliding windows, two crashes": (2_516_583, 21, GAP),
        "a pair, two crashes": (69_008, 21, GAP),
    },
    "published-any": {
        "a relay, two crashes": (None, 10, GAP),
        "pairs, two crashes": (None, 11, GAP),
        "sliding windows, two crashes": (None, 11, GAP),
    },
    "published-suspicion": {
        "a relay": (461_230, None, REPEATING),
        "pairs": (437_683, None, REPEATING),
        "sliding windows": (2_099_895, None, REPEATING),
    },
    "published-precise": {
        "a relay": (491_324, 8, REPEATING),
    },
    "renewal-new": {
        "a relay, two crashes": (578_562, 25, GAP),
        "pairs, two crashes": (None, 19, PRECISE),
    },
    "renewal-kept": {
        "a relay, two crashes": (843_907, 31, GAP),
        "pairs, two crashes": (1_809_815, 22, GAP),
    },
    "joins-at-once": {
        "a relay, two crashes": (985_506, 36, GAP),
    },
    "late-taken": {
        "a relay": (None, 8, REPEATING),
    },
    "none-greater": {
        "windows that close together": (1_964_872, 25, DIVERGENT),
        "two paths": (39_273, 21, DIVERGENT),
    },
    "any-lower": {
        "a union": (584_941, 18, GAP),
    },
    "serves-high": {
        "a relay": (20_507, None, REPEATING),
        "pairs of a union": (7_905_094, None, DIVERGENT),
    },
    "determinants-sent": {
        "a union": (508_096, 11, GAP),
    },
    "determinants-none": {
        "a union": (439_033, 10, GAP),
    },
    "suspicion": {
        "a relay": (392_878, None, PRECISE),
        "pairs": (384_203, None, PRECISE),
    },
    "deposes-nobody": {
        "a tuple, two crashes": (12_490, 19, GAP),
    },
    "any": {
        "a relay, two crashes": (None, 10, GAP),
    },
}
