"""The setting of Hwang et al., Section 7: parameters, protocols, query networks, readings.

Rule of this file: values of Table 5, and a named choice for each point that the paper leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from model.results.experiment import Parameter

SOURCE = "Hwang et al., ICDE 2005, Section 7"
RATE = 1000.0
"""Input tuples a second."""
DETECT_MS, REDIRECT_MS, DELAY_MS = 250.0, 40.0, 5.0
TUPLE_BYTES, ID_BYTES = 50, 8
BYTES_A_MS = 16e6 / 8 / 1000
FILTER_MS = 0.010
"""The processing of a tuple by a filter."""
FRONT_MS = FILTER_MS + TUPLE_BYTES / BYTES_A_MS
"""A filter's work, and the receipt of the tuple that it passes on."""
INTERVAL_MS = 50.0
INTERVALS_MS = (25.0, 50.0, 100.0, 150.0, 200.0)
RUNS = 25
MINUTE = 60_000
"""Input tuples of a run."""


class StudiedProtocol(Enum):
    AMNESIA = "amnesia"
    PASSIVE = "passive standby"
    ACTIVE = "active standby"
    UPSTREAM = "upstream backup"


class TupleWork(Enum):
    """The cost of a tuple in an aggregate.  Table 5: "(Proc. Cost of Filter) * Window * Advance",
    100 us by default; the product is 10 ms.  7.1: it "consumes 10 % of a node's processing
    capacity", which is the quotient Window / Advance."""

    OPEN = "a filter's cost for each window that is open"
    STEADY = "a filter's cost for each window that is open in normal operation"


class Phases(Enum):
    """When nodes acknowledge.  Nothing is said."""

    OWN = "each node at moments of its own"
    SAME = "all nodes at the same moments"


class Receives(Enum):
    """How a recovering node takes replayed tuples.  Nothing is said."""

    FIRST = "it receives a tuple, and then processes it"
    BESIDE = "it processes a tuple while it receives the next one"


class Answers(Enum):
    """When a primary of active standby reports to its secondary which outputs downstream has.  5.3:
    when acknowledgements arrive, it "determines" this, and adds it to "the queue-trimming
    message"."""

    PERIODIC = "with its next message, one an interval"
    AT_ONCE = "when the acknowledgement arrives"


class InFront(Enum):
    """The way of a replayed tuple to a union or an aggregate.  Nothing is said; in Figure 5 a
    filter stands in front of a union.

    By Tables 6 to 8 such a tuple takes 35 us more than its receipt and its windows, in passive
    standby and in upstream backup, and a tuple that a filter takes alone does not.  35 us are a
    filter's work and one more receipt.  Table 5 has no price of a union.
    """

    NOTHING = "it is received once"
    FILTER = "a filter receives it, and passes it on"


@dataclass(frozen=True, slots=True)
class QueryNetwork:
    """The query network of a node.

    inputs: streams, which share the rate.  aggregates: one after the other; 0: a filter or union
    alone, which passes every tuple on.  window, advance: of the first aggregate in tuples, of the
    others in as much time.
    """

    name: str
    inputs: int = 1
    aggregates: int = 0
    window: int = 100
    advance: int = 10

    def windows(self, at: int) -> tuple[int, int]:
        """Window and advance of an aggregate in tuples of its own input.  Raises ValueError where
        they are no whole numbers."""
        if at == 0:
            return self.window, self.advance
        if self.window % self.advance:
            raise ValueError(f"window {self.window}: give a multiple of {self.advance}")
        return self.window // self.advance, 1


@dataclass(frozen=True, slots=True)
class HwangSetting:
    """A point: the kind of recovery, and how often nodes acknowledge or checkpoint."""

    protocol: StudiedProtocol
    network: QueryNetwork
    interval_ms: float = INTERVAL_MS
    precise: bool = False
    work: TupleWork = TupleWork.OPEN
    phases: Phases = Phases.SAME
    receives: Receives = Receives.FIRST
    answers: Answers = Answers.PERIODIC
    in_front: InFront = InFront.FILTER

    @property
    def in_front_ms(self) -> float:
        """The milliseconds that a replayed tuple takes before the operator has it."""
        network = self.network
        filtered = network.aggregates > 0 or network.inputs > 1
        return FRONT_MS if filtered and self.in_front is InFront.FILTER else 0.0


FILTER = QueryNetwork("repeatable")
AGGREGATE = QueryNetwork("convergent-capable", aggregates=1)
UNION = QueryNetwork("non-deterministic", inputs=2)
READINGS: Mapping[str, Callable[[HwangSetting], HwangSetting]] = {
    "simulated": lambda setting: setting,
    "nodes acknowledge at own moments": lambda setting: replace(setting, phases=Phases.OWN),
    "tuples are received beside": lambda setting: replace(setting, receives=Receives.BESIDE),
    "work as in normal operation": lambda setting: replace(setting, work=TupleWork.STEADY),
    "primaries report at once": lambda setting: replace(setting, answers=Answers.AT_ONCE),
    "nothing in front": lambda setting: replace(setting, in_front=InFront.NOTHING),
}
"""How the numbers are found: each reading differs from the first one in one choice."""


PARAMETERS = (
    Parameter("tuples a second", RATE, "Table 5"),
    Parameter(
        "detection, redirection, delay", [DETECT_MS, REDIRECT_MS, DELAY_MS], "Table 5, in ms"
    ),
    Parameter("tuple, identifier", [TUPLE_BYTES, ID_BYTES], "Table 5, in bytes"),
    Parameter("bandwidth", "16 Mbps", "Table 5, for each link"),
    Parameter("work of a filter", FILTER_MS, "Table 5, ms a tuple; an aggregate: for each window"),
    Parameter(
        "a replayed tuple in front of a union or an aggregate",
        "a filter's work and a receipt, 35 us",
        "Table 6: upstream backup, convergent-capable; Figure 5 has such a filter",
    ),
    Parameter("arrivals", "evenly spaced", "not given"),
    Parameter("crash", "at any moment of the second half", "7: a minute or more a run"),
)
