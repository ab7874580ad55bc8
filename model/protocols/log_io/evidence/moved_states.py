"""Evidence about the global state of replicas that come and go away (7.1, 7.2).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.evidence import Mutant
from model.patches import Change, Reading
from model.protocols.log_io.design import UP, LogIoDesign, Scaling
from model.protocols.log_io.evidence import replicas
from model.protocols.log_io.evidence.build import GAP, build
from model.protocols.log_io.quantities import ADDED, MOVED

OPERATORS = "model.protocols.log_io.scaling.operators"
STAYS = Change(OPERATORS, 'key = replicas.key if site.spec.moves_state else ""', 'key = ""')
STAYS_DOWN = Reading(
    'Algorithm 13, step 1.c: "(1) update all events of" the set "and (2) store the state of DP in '
    'STATE"; no word on the state of the replica',
    (STAYS,),
)
STAYS_UP = Reading(
    "Algorithm 12, step 3, with the move of Algorithm 13, 1.c; no word on the state of the replica",
    (STAYS,),
)

VARIANTS = (
    build(
        "scale-down-without-state",
        LogIoDesign(scaling=Scaling()),
        (replicas.A_LIST.fails(957, 17, GAP),),
        "The events of a key move, and the state that the replica has made of earlier ones goes "
        "away with it: an output is lost, also without a crash.",
        (MOVED,),
        readings=(STAYS_DOWN,),
    ),
    build(
        "scale-up-without-state",
        LogIoDesign(scaling=Scaling(UP, in_turn=True)),
        (replicas.A_LIST.fails(692, 19, GAP),),
        "The new replica begins without the state that the old one has of the key: an output is "
        "lost, also without a crash.",
        (ADDED, MOVED),
        readings=(STAYS_UP,),
    ),
)
LOG = "model.protocols.log_io.scaling.log"
KEYED = "model.protocols.log_io.scaling.keyed"
MUTANTS = (
    Mutant(
        "an input that has updated a state updates it again at another replica",
        LOG,
        "counted = tuple(new for number, new in numbers.items() if number <= last)",
        "counted = ()",
        "scale-up: counted by key",
    ),
    Mutant(
        "an input that has updated a state triggers at another replica",
        KEYED,
        "return self.gather(state, item, key)._replace(silent=True)",
        "return self.gather(state, item, key)",
        "scale-up: counted apart",
    ),
    Mutant(
        "a state that moves is not stored by its new replica",
        KEYED,
        "return _with(state, item.body.part or KeyPart(key[0], self.logic.begin(1)))",
        "return state",
        "scale-up: a list",
    ),
    Mutant(
        "a dispatcher that is asked twice moves a state twice",
        OPERATORS,
        "once = scaling.in_turn or site.spec.moves_state",
        "once = scaling.in_turn",
        "scale-down: a list and dispatch fails",
    ),
)
