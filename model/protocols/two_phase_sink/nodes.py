"""The nodes of a two-phase-commit sink: the deployment, who takes which step, gauges.

Rule of this file: no step itself; job.py and broker.py have these.

Theory of operation (Apache Flink, TwoPhaseCommitSinkFunction and its successors):

1. The source is a log: it sends events again from a place on, and keeps them until a checkpoint has
   them.  Source and external system do not crash.
2. A job reads events, feeds its operator, and writes the results into the open transaction of the
   external system.
3. A checkpoint begins with a pre-commit: the job begins the next transaction and asks whether the
   last one has all its results.
4. The answer completes the checkpoint: place, operator and transaction are durable.  Then the job
   commits the transaction.
5. A restored job names the transaction of its checkpoint.  The external system raises the epoch of
   the job, commits up to this transaction and aborts all others; the job reads on in a new epoch.
6. Readers see committed results, up to the first transaction that has not ended.
7. In scopes that grant early time-outs, transactions have time-outs (patient timers).  A
   transaction that is aborted so is noticed at the next pre-commit, and the job fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from model.boxes.box import Box
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import (
    Deployment,
    Input,
    Link,
    NodeName,
    Observation,
    Role,
    Scope,
    Site,
    Step,
)
from model.costs import Amount, Gauges, Memory
from model.errors import Invalid, refuse
from model.graph import Graph
from model.parts import contents, deploy_graph, open_windows
from model.protocols.two_phase_sink.broker import EXPIRE, SinkConfig, take
from model.protocols.two_phase_sink.design import SavepointRule, TwoPhaseDesign
from model.protocols.two_phase_sink.job import (
    CHECKPOINT,
    SAVEPOINT,
    begin,
    restore,
    resume,
    work,
)
from model.protocols.two_phase_sink.messages import (
    BrokerState,
    JobCheckpoint,
    RestoringJob,
    RunningJob,
    State,
    WriterEntry,
)
from model.queues import QueueState, log_source

TIMERS = {
    CHECKPOINT: "From the first event after a checkpoint to the next checkpoint.",
    SAVEPOINT: "From the start of the job to the savepoint that a user asks for.",
    EXPIRE: "From the first result of a transaction to its time-out.",
}


def deploy(design: TwoPhaseDesign, scope: Scope) -> Deployment:
    """The deployment: each source with a job, and an external system.  Raises Invalid for any other
    graph."""
    _check_graph(scope.graph)
    config = SinkConfig(design, timed=scope.early > 0)
    deployed = deploy_graph(scope.graph, replies=True, config=lambda _: config)
    asks = (SAVEPOINT,) if design.savepoints is not SavepointRule.NEVER else ()
    sites = tuple(_placed(site, asks) for site in deployed.sites)
    sinks = frozenset(site.name for site in sites if site.role is Role.SINK)
    links = {ends: Link(unordered=True) for ends in scope.graph.edges if ends[1] in sinks}
    return deployed._replace(
        sites=sites,
        prompt=frozenset() if design.late else sinks,
        patient=frozenset({EXPIRE}),
        links=links if design.late else {},
    )


def _check_graph(graph: Graph) -> None:
    """Raise Refused unless each operator stands alone between a source and a sink."""
    refuse("two-phase-sink", _objections(graph))


def _objections(graph: Graph) -> Iterator[str]:
    sources = {name for name, spec in graph.nodes if not graph.preds(name)}
    sinks = {name for name, _ in graph.nodes if not graph.succs(name)}
    for name, _ in graph.nodes:
        alone = len(graph.preds(name)) == len(graph.succs(name)) == 1
        ends = {*graph.preds(name)} <= sources and {*graph.succs(name)} <= sinks
        if name in sources | sinks and not {*graph.succs(name)} & sinks:
            continue
        if not (alone and ends):
            yield f"{name}: a job is an operator between source and sink"


def _placed(site: Site, asks: tuple[str, ...]) -> Site:
    """The site, with its operator as a box; asks: the timers of a job from its start."""
    if site.role is not Role.OPERATOR:
        return site
    spec = CepBox(site.spec) if isinstance(site.spec, Operator) else site.spec
    if not isinstance(spec, Box) or spec.edges not in (None, 1):
        raise Invalid(f"two-phase-sink: {site.name} is a {type(spec).__name__} of several inputs")
    return site._replace(spec=spec, timers=asks)


def boot(site: Site) -> State:
    if site.role is Role.SINK:
        return BrokerState((WriterEntry(),) * len(site.preds))
    return QueueState() if site.role is Role.SOURCE else begin(site)


def recover(site: Site, durable: JobCheckpoint | None) -> Step:
    return restore(site, durable)


def step(site: Site, state: State, input_: Input) -> Step:
    match state, input_:
        case RunningJob(), _:
            return work(site, state, input_)
        case RestoringJob(), _:
            return resume(site, state, input_)
        case BrokerState(), _:
            return take(site, state, input_)
        case QueueState(), _:
            return log_source(site, state, input_)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


# --- display ---------------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    """The gauges of a node.  progress: the place in the input."""
    match state:
        case QueueState(place, _, kept):
            return Gauges(len(kept), None, place)
        case RunningJob(inlet, box):
            return Gauges(None, open_windows(box), inlet.place)
        case RestoringJob(JobCheckpoint(place, box)):
            return Gauges(None, open_windows(box), place)
        case _:
            return Gauges()


def memory(_site: Site, state: State) -> Memory:
    """Checkpoints, and the transactions of the external system, are on disks."""
    match state:
        case QueueState(kept=kept):
            return Memory(Amount(len(kept)))
        case RunningJob(box=box, pending=pending):
            return Memory(savepoints=Amount(0, int(pending is not None)), state=contents(box))
        case RestoringJob(checkpoint):
            return Memory(state=contents(checkpoint.box))
        case _:
            return Memory()


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that sources keep at rest: nothing, since a checkpoint has everything."""
    return {name: 0 for name, _ in scope.inputs}
