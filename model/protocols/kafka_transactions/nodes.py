"""The nodes of Kafka's transactions: the deployment, who takes which step, gauges.

Rule of this file: no step itself; worker.py, coordinator.py and partitions.py have these.

Theory of operation (Apache Kafka, KIP-98, KIP-447 and KIP-890):

1. The input is a log: it sends events again from a place on.  A worker consumes them, feeds its
   operator, and produces the results in a transaction.
2. To commit, the worker sends its place in the input to the group, which takes it into the same
   transaction.  Then the worker asks the transaction coordinator for the commit.
3. The coordinator logs the outcome, writes a marker to the partition of the results and one to that
   of the places, and logs that both are written.  It raises the epoch of the producer.
4. A coordinator that crashes between these writes the markers when it restarts.
5. The partition, the group and the coordinator refuse requests with an old epoch.
6. A worker that is lost has a successor.  It asks for an epoch, which aborts the transaction of the
   worker; then it asks for the committed place.  The worker may be alive (a false suspicion).
7. In scopes that grant early time-outs, the coordinator aborts slow transactions (patient timers).
   The worker learns of that from its next request, and begins again from the committed place.
8. Readers see committed results, up to the first result of an open transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from model.boxes.box import Box
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import (
    Deployment,
    Input,
    NodeName,
    Observation,
    Role,
    Scope,
    Site,
    Step,
)
from model.costs import Amount, Gauges, Memory
from model.errors import Invalid, Refused
from model.parts import contents, deploy_graph, open_windows
from model.protocols.kafka_transactions.coordinator import (
    EXPIRE,
    coordinate,
    first_log,
    recover_log,
)
from model.protocols.kafka_transactions.design import KafkaDesign
from model.protocols.kafka_transactions.messages import (
    GroupState,
    InputPlace,
    ResultPartition,
    State,
    TransactionLog,
    WorkerState,
)
from model.protocols.kafka_transactions.partitions import group, keep
from model.protocols.kafka_transactions.worker import (
    COMMIT,
    COORDINATOR,
    GROUP,
    SUCCESSOR,
    begin,
    take_over,
    work,
)
from model.queues import QueueState, log_source

TIMERS = {
    COMMIT: "From the first event of a transaction to its commit.",
    EXPIRE: "From the end of a transaction to the time-out of the next one.",
}


class KafkaConfig(NamedTuple):
    """The knowledge of a site.  worker: the operator of the graph.  timed: do transactions have a
    time-out in this scope?"""

    design: KafkaDesign
    worker: NodeName
    timed: bool


def deploy(design: KafkaDesign, scope: Scope) -> Deployment:
    """The deployment: the graph's source, operator and sink, a successor of the operator, and two
    coordinators.  Raises Invalid for a graph with other than one operator."""
    graph = scope.graph
    if len(graph.nodes) != 3 or len(graph.edges) != 2:
        names = " ".join(name for name, _ in graph.nodes)
        raise Refused("kafka-transactions", [f"{names}; give one operator between source and sink"])
    source, name, sink = graph.order()
    for extra in {COORDINATOR, GROUP, SUCCESSOR} & {source, name, sink}:
        raise Invalid(f"kafka-transactions: a node has the name {extra!r}, which is taken")
    config = KafkaConfig(design, name, timed=scope.early > 0)
    first, worker, last = deploy_graph(graph, config=lambda _: config).sites
    spec = CepBox(worker.spec) if isinstance(worker.spec, Operator) else worker.spec
    if not isinstance(spec, Box) or spec.edges not in (None, 1):
        raise Invalid(f"kafka-transactions: {name} is a {type(spec).__name__} of several inputs")
    pair = (name, SUCCESSOR)
    sites = (
        first._replace(succs=pair),
        *(worker._replace(name=one, spec=spec) for one in pair),
        Site(COORDINATOR, Role.OPERATOR, None, pair, (sink, GROUP), config),
        Site(GROUP, Role.OPERATOR, spec, (*pair, COORDINATOR), (), config),
        last,
    )
    ends = tuple(
        ends
        for one in pair
        for other in (source, COORDINATOR, GROUP)
        for ends in ((one, other), (other, one))
    )
    results = ((name, sink), (SUCCESSOR, sink), (COORDINATOR, sink), (COORDINATOR, GROUP))
    return Deployment(
        sites,
        (*ends, *results, pair),
        frozenset({*pair, COORDINATOR}),
        watched=frozenset({pair}),
        returning=frozenset({SUCCESSOR, COORDINATOR}),
        prompt=frozenset({sink, GROUP}),
        patient=frozenset({EXPIRE}),
        runs={SUCCESSOR: (name,)},
    )


def boot(site: Site) -> State:
    if site.role is Role.SOURCE:
        return QueueState()
    if site.role is Role.SINK:
        return ResultPartition()
    if site.name == COORDINATOR:
        return first_log(site)
    return GroupState(InputPlace(0, site.spec.begin(1))) if site.name == GROUP else begin(site)


def recover(site: Site, durable: TransactionLog | None) -> Step:
    """A restarted successor takes over, whoever works; the coordinator has its log."""
    return recover_log(site, durable) if site.name == COORDINATOR else take_over(site, begin(site))


def step(site: Site, state: State, input_: Input) -> Step:
    match state, input_:
        case WorkerState(), _:
            return work(site, state, input_)
        case TransactionLog(), _:
            return coordinate(site, state, input_)
        case ResultPartition(), _:
            return keep(site, state, input_)
        case GroupState(), _:
            return group(site, state, input_)
        case QueueState(), _:
            return log_source(site, state, input_)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


# --- display ---------------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    """The gauges of a node.  progress: the transaction and the place in the input."""
    match state:
        case QueueState(place, _, kept):
            return Gauges(len(kept), None, place)
        case WorkerState(box=box, tag=tag, held=held):
            return Gauges(len(held), open_windows(box), (*tag, state.place))
        case _:
            return Gauges()


def memory(_site: Site, state: State) -> Memory:
    """The logs of brokers are on disks."""
    match state:
        case QueueState(kept=kept):
            return Memory(Amount(len(kept)))
        case WorkerState(box=box, held=held):
            return Memory(Amount(len(held)), state=contents(box))
        case _:
            return Memory()


def needed(scope: Scope, seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: nothing, since everything is committed."""
    return {name: 0 for name, _ in (*scope.inputs, *seen.states)}
