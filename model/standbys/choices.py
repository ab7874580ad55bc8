"""The choices that all families of process pairs have.

Rule of this file: a choice is in every reading that the paper's words allow; each family's Design
has those that it makes.
Hwang et al., Sections 2, 5 and 6: cited at each choice.
"""

from __future__ import annotations

from enum import Enum


class LateTuples(Enum):
    """What a consumer does with the tuples of a dead producer that come after those of the new
    one.  The paper has no word about the order of messages at a takeover."""

    TAKEN = "it takes them as well"
    REFUSED = "it has closed that connection"


class Again(Enum):
    """Whether a new producer sends what its consumer has received.  6: it must "ask downstream
    neighbors for the identifiers of the last tuples they received and then discard all tuples
    preceding the ones identified"."""

    ALL = "it sends all that it has"
    FROM = "it asks, and sends the tuple identified and all after it"
    AFTER = "it asks, and sends what comes after the tuple identified"


class Newest(Enum):
    """The high watermark of an output.  5.3: "the identifier of the most recent tuple that
    contributed to the production of O[v]"."""

    MADE_OF = "the most recent tuple that the output was made of"
    PROCESSED = "the most recent tuple processed, which made it come out"


class Determinants(Enum):
    """When an output leaves.  6: "the primary cannot send tuples downstream until the secondary
    receives all determinants involved in generating these tuples"."""

    NONE = "at once: no determinants are logged"
    SENT = "when its determinants have been sent"
    STORED = "when the secondary has its determinants"


class Alone(Enum):
    """The tuples that a primary without a secondary forwards, if others wait for the secondary.
    6: "can only forward checkpointed tuples"; "cannot send tuples downstream until the secondary
    receives all determinants".  No word on a secondary that is lost."""

    NOTHING = "nothing: it waits for a secondary"
    ALL = "every tuple at once"


class Deposes(Enum):
    """Whether a secondary that takes over informs the primary, which may be up.  No word: Section 2
    has no false suspicions."""

    NO = "it does not: the primary goes on"
    YES = "it does: the primary becomes its secondary"


class NodeReturns(Enum):
    """Whether a crashed node comes back.  2: "once a failed node comes back to life, it assumes the
    role of the secondary"."""

    YES = "it does, as the new secondary"
    NEVER = "a primary never does, and no secondary crashes"
    NO_SECONDARY = "a primary does, as the new secondary; a secondary never does"


class SourceLog(Enum):
    """Whether a source keeps the tuples that it has sent.  5.1: "each upstream primary node
    preserves output tuples in its output queues until they are safely stored"; 7.5: the first nodes
    use passive standby, "since other approaches impose extra requirements on stream sources"."""

    KEPT = "it keeps each tuple until no reader needs it"
    NONE = "it sends each tuple once, and keeps none"
